//! A row a field: measurement, field, value and the tags in columns, as the Go plugin shows line protocol.

use std::collections::HashMap;
use std::convert::Infallible;

use super::line::{Field, Line, Span, Value};
use super::{RecordRows, measurement, name, text, write};
use crate::columns::{ColumnId, FieldWriter, Group, Kind, RowWriter, Trouble};

/// Knows the columns of one stream.
#[derive(Debug)]
pub(super) struct Long {
    columns: Option<Columns>,
    tags: TagColumns,
}

#[derive(Debug, Clone, Copy)]
struct Columns {
    measurement: Option<ColumnId>,
    field: Option<ColumnId>,
    value: Option<ColumnId>,
    text: Option<ColumnId>,
}

/// Knows the column of each tag.
///
/// Producers repeat their tags, so the tags of the line before are tried, in order, before the map is
/// (`benches/workflow.rs`, `lineprotocol`).
#[derive(Debug, Default)]
struct TagColumns {
    known: Vec<TagColumn>,
    /// By the key as it is written.
    by_key: HashMap<Box<[u8]>, u32>,
    /// Those of the line before, by place.
    recent: Vec<u32>,
    /// Those of each known series' tags, by place.
    by_series: Vec<Box<[Option<ColumnId>]>>,
    /// Those of a line of another.
    others: Vec<Option<ColumnId>>,
    max: usize,
}

#[derive(Debug)]
struct TagColumn {
    /// As it is written.
    key: Box<[u8]>,
    /// `None` is a column that the field limit leaves out.
    column: Option<ColumnId>,
}

impl Long {
    /// Keeps about `max_fields` tags in mind.
    pub(super) fn new(max_fields: usize) -> Self {
        Self {
            columns: None,
            tags: TagColumns {
                max: 2 * max_fields,
                ..TagColumns::default()
            },
        }
    }

    pub(super) fn forget_columns(&mut self) {
        self.columns = None;
        self.tags.known.clear();
        self.tags.by_key.clear();
        self.tags.recent.clear();
        self.tags.by_series.clear();
    }

    /// Makes the rows of a line, which has a field.
    pub(super) fn line(
        &mut self,
        line: &Line,
        time: Option<i64>,
        value: &[u8],
        scratch: &mut Vec<u8>,
        rows: &mut RecordRows<'_>,
    ) {
        let count = line.fields.len();
        let made = rows.rows_at(time, count, |row| {
            let columns = *self.columns.get_or_insert_with(|| Columns::new(row));
            if let Some(id) = columns.measurement {
                let bytes = measurement(line.measurement, value, scratch);
                write(id, bytes, line.measurement.is_plain(), row, MEASUREMENT);
            }
            let tags = self.tags.of(line, value, scratch, row);
            for (tag, column) in line.tags.iter().zip(tags) {
                if let &Some(id) = column {
                    let plain = tag.value.is_plain();
                    write(id, name(tag.value, value, scratch), plain, row, TAG);
                } else {
                    row.trouble(Trouble::LeftOut, |sample| {
                        sample.push_str(&String::from_utf8_lossy(tag.key.of(value)));
                    });
                }
            }
            columns.write(line, value, scratch, &mut row.fields(count));
            Ok::<_, Infallible>(())
        });
        let Ok(()) = made;
    }
}

impl Columns {
    fn new(row: &mut RowWriter<'_>) -> Self {
        Self {
            measurement: row.column(Group::Line, MEASUREMENT, Kind::Text),
            field: row.column(Group::Field, FIELD, Kind::Text),
            value: row.column(Group::Field, VALUE, Kind::Float),
            text: row.column(Group::Field, TEXT, Kind::Text),
        }
    }

    /// Writes the names and the values of a line's fields.
    ///
    /// The names are most often those of a line before, and the values numbers alone: such columns are written as a whole
    /// (`benches/workflow.rs`, `lineprotocol`). The twin is to write each cell.
    fn write(
        &self,
        line: &Line,
        bytes: &[u8],
        scratch: &mut Vec<u8>,
        rows: &mut FieldWriter<'_, '_>,
    ) {
        match (self.field, line.names()) {
            (Some(id), Some(names)) => rows.texts(id, names.bytes, names.ends),
            (Some(id), None) => rows.each(|i, row| {
                let key = line.fields[i].key;
                write(id, name(key, bytes, scratch), key.is_plain(), row, FIELD);
            }),
            (None, _) => {}
        }
        if let (Some(id), Some((numbers, digits))) = (self.value, line.numbers())
            && rows.floats(id, numbers, digits)
        {
            return;
        }
        rows.each(|i, row| self.write_value(&line.fields[i], bytes, scratch, row));
    }

    /// Writes a number or a boolean into `value`, where float64 holds it, else into `value_str`.
    fn write_value(
        &self,
        field: &Field,
        bytes: &[u8],
        scratch: &mut Vec<u8>,
        row: &mut RowWriter<'_>,
    ) {
        let source = field.source;
        if let Value::Boolean(value) = field.value {
            if let Some(id) = self.value {
                row.float(
                    id,
                    f64::from(u8::from(value)),
                    if value { b"1" } else { b"0" },
                );
            }
            return;
        }
        match (field.value.number(), self.value, self.text) {
            (Some(value), Some(id), _) => row.float(id, value, source.of(bytes)),
            (None, _, Some(id)) => {
                let shown = match field.value {
                    Value::Text => text(source, bytes, scratch),
                    _ => source.of(bytes),
                };
                write(id, shown, source.is_plain(), row, TEXT);
            }
            _ => {}
        }
    }
}

impl TagColumns {
    /// Finds or makes the columns of a line's tags, by place: those of a known series are found once.
    #[inline]
    fn of(
        &mut self,
        line: &Line,
        value: &[u8],
        scratch: &mut Vec<u8>,
        row: &mut RowWriter<'_>,
    ) -> &[Option<ColumnId>] {
        let known = line.series.and_then(|series| self.by_series.get(series));
        if known.is_none_or(|columns| columns.len() < line.tags.len()) {
            return self.find_all(line, value, scratch, row);
        }
        &self.by_series[line.series.unwrap_or_default()]
    }

    fn find_all(
        &mut self,
        line: &Line,
        value: &[u8],
        scratch: &mut Vec<u8>,
        row: &mut RowWriter<'_>,
    ) -> &[Option<ColumnId>] {
        let mut columns = std::mem::take(&mut self.others);
        columns.clear();
        for (place, tag) in line.tags.iter().enumerate() {
            columns.push(self.find(place, tag.key, value, scratch, row));
        }
        self.others = columns;
        if let Some(series) = line.series {
            let known = self.by_series.len().max(series + 1);
            self.by_series.resize_with(known, Box::default);
            self.by_series[series] = self.others.as_slice().into();
        }
        &self.others
    }

    /// Finds or makes the column of the tag at `place` of a line.
    fn find(
        &mut self,
        place: usize,
        key: Span,
        value: &[u8],
        scratch: &mut Vec<u8>,
        row: &mut RowWriter<'_>,
    ) -> Option<ColumnId> {
        let written = key.of(value);
        if let Some(&recent) = self.recent.get(place)
            && let Some(known) = self.known.get(recent as usize)
            && *known.key == *written
        {
            return known.column;
        }
        let index = match self.by_key.get(written) {
            Some(&index) => index,
            None => self.add(written, name(key, value, scratch), row),
        };
        match self.recent.get_mut(place) {
            Some(recent) => *recent = index,
            None => self.recent.push(index),
        }
        self.known.get(index as usize)?.column
    }

    /// Makes a column, and keeps it in mind; those that the field limit leaves out only up to a limit.
    #[cold]
    fn add(&mut self, written: &[u8], key: &[u8], row: &mut RowWriter<'_>) -> u32 {
        let column = row.column(Group::Tag, &String::from_utf8_lossy(key), Kind::Text);
        if column.is_none() && self.known.len() >= self.max {
            return u32::MAX;
        }
        let index = self.known.len() as u32;
        self.by_key.insert(written.into(), index);
        self.known.push(TagColumn {
            key: written.into(),
            column,
        });
        index
    }
}

const MEASUREMENT: &str = "_measurement";
const FIELD: &str = "_field";
const VALUE: &str = "value";
/// Texts, and whole numbers that float64 does not hold.
const TEXT: &str = "value_str";
/// What a notice calls the value of any tag.
const TAG: &str = "a tag";
