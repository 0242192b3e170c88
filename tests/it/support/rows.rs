//! Seen as tests read them, from packets and from Arrow alike.

use std::collections::BTreeMap;

use serde_json::Value;

/// One row: its columns that are not null.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Row(pub(crate) BTreeMap<String, Value>);

impl Row {
    /// Returns a cell, `Null` where there is none.
    pub(crate) fn cell(&self, name: &str) -> Value {
        self.0.get(name).cloned().unwrap_or_default()
    }

    /// Returns partition and offset; `None` for the run's own rows.
    pub(crate) fn place(&self) -> Option<(i64, i64)> {
        Some((
            self.cell("partition").as_i64()?,
            self.cell("offset").as_i64()?,
        ))
    }

    /// Returns the text of `_error`.
    pub(crate) fn error(&self) -> Option<String> {
        self.cell("_error").as_str().map(ToOwned::to_owned)
    }
}

/// What came, in the order in which it came.
#[derive(Clone, Debug, Default)]
pub(crate) struct Seen {
    pub(crate) rows: Vec<Row>,
    /// Column names, as first seen.
    pub(crate) columns: Vec<String>,
    /// Severity and text.
    pub(crate) notices: Vec<(String, String)>,
    pub(crate) topic_ids: Vec<String>,
    /// How many records came under each topic id.
    pub(crate) of_topic: BTreeMap<String, usize>,
    count: usize,
}

impl Seen {
    /// Returns how many rows stand for a record.
    pub(crate) fn count(&self) -> usize {
        self.count
    }

    /// Returns the place of the last row that stands for a record.
    pub(crate) fn last_place(&self) -> Option<(i64, i64)> {
        self.rows.iter().rev().find_map(Row::place)
    }

    /// Returns the rows that stand for a record.
    pub(crate) fn records(&self) -> impl Iterator<Item = &Row> {
        self.rows.iter().filter(|row| row.place().is_some())
    }

    /// Returns the offsets of one partition, in the order in which they came.
    pub(crate) fn offsets(&self, partition: i64) -> Vec<i64> {
        self.records()
            .filter_map(Row::place)
            .filter(|place| place.0 == partition)
            .map(|place| place.1)
            .collect()
    }

    /// Returns one column of the rows that stand for a record.
    pub(crate) fn column(&self, name: &str) -> Vec<Value> {
        self.records().map(|row| row.cell(name)).collect()
    }

    /// Returns the `_error` texts of the run itself.
    pub(crate) fn troubles(&self) -> Vec<String> {
        self.rows
            .iter()
            .filter(|row| row.cell("offset").is_null())
            .filter_map(Row::error)
            .collect()
    }

    /// Says whether a notice holds `text`, in any case.
    pub(crate) fn noticed(&self, text: &str) -> bool {
        self.notices
            .iter()
            .any(|notice| notice.1.to_lowercase().contains(text))
    }

    /// Reads `meta`, after the columns of its packet: the notices and the topic's id.
    pub(crate) fn take_meta(&mut self, meta: &Value) {
        for notice in meta["notices"].as_array().into_iter().flatten() {
            let text = |key: &str| notice[key].as_str().unwrap_or_default().to_owned();
            self.notices.push((text("severity"), text("text")));
        }
        if let Some(id) = meta["custom"]["topicId"].as_str() {
            let known: usize = self.of_topic.values().sum();
            *self.of_topic.entry(id.to_owned()).or_default() += self.count - known;
            if self.topic_ids.last().is_none_or(|last| last != id) {
                self.topic_ids.push(id.to_owned());
            }
        }
    }

    /// Adds rows from columns of equal length.
    pub(crate) fn take_columns(&mut self, columns: &[(String, Vec<Value>)]) {
        let count = columns.first().map_or(0, |column| column.1.len());
        for (name, values) in columns {
            assert_eq!(
                values.len(),
                count,
                "column {name} is longer or shorter than the first"
            );
            if !self.columns.contains(name) {
                self.columns.push(name.clone());
            }
        }
        for row in 0..count {
            let cells = columns.iter().filter(|(_, values)| !values[row].is_null());
            let row = Row(cells
                .map(|(name, values)| (name.clone(), values[row].clone()))
                .collect());
            self.count += usize::from(row.place().is_some());
            self.rows.push(row);
        }
    }
}
