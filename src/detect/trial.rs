//! One format, tried on the samples with the pipeline that would read them.

use std::collections::HashSet;
use std::sync::Arc;
use std::time::Duration;

use serde_json::{Map, Value};

use super::{Sample, Topic};
use crate::batch::Pacer;
use crate::columns::{ERROR, StreamSchema, time};
use crate::config::PanelQuery;
use crate::decode::SchemaCache;
use crate::perf::PerfFlags;
use crate::pipeline::{Pipeline, Step};
use crate::record::{Header, Now, Record};
use crate::schema::{Need, SchemaFault};

/// Is what became of the samples in one format.
#[derive(Debug)]
pub(super) struct Trial {
    tried: usize,
    needs: Vec<Need>,
    packets: Vec<Value>,
}

/// Is rows as texts.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Table {
    pub columns: Vec<String>,
    /// A cell for each column; `None` is null.
    pub rows: Vec<Vec<Option<String>>>,
}

/// The most characters of a cell that are shown.
const MAX_CELL: usize = 200;
/// How often one record may need a schema: key, value, and once more where a newer one may fit.
const MAX_NEEDS: usize = 4;

impl Trial {
    /// Reads the samples by the keys of a query; `None` where this version has no such format.
    pub(super) fn run<'s>(
        topic: &Topic<'_>,
        query: &Map<String, Value>,
        samples: impl Iterator<Item = &'s Sample>,
    ) -> Option<Self> {
        let mut query = query.clone();
        query.insert("topicName".to_owned(), topic.name.as_str().into());
        let spec = Arc::new(
            PanelQuery::parse(Value::Object(query).to_string().as_bytes())
                .ok()?
                .spec,
        );
        let flags = PerfFlags::default();
        let (schema, cache) = (Arc::new(StreamSchema::new()), SchemaCache::new(&flags));
        let mut pipeline = Pipeline::new(spec, topic.limits, schema, Pacer::off(), flags, cache);
        let mut trial = Self {
            tried: 0,
            needs: Vec::new(),
            packets: Vec::new(),
        };
        // By then every row is due.
        let later = Now {
            monotonic: topic.now.monotonic + Duration::from_secs(1),
            ..topic.now
        };
        for sample in samples {
            trial.tried += 1;
            trial.push(topic, &mut pipeline, sample);
            while let Some(packet) = pipeline.poll_packet(later) {
                trial
                    .packets
                    .push(serde_json::from_slice(&packet.json).ok()?);
            }
        }
        Some(trial)
    }

    fn push(&mut self, topic: &Topic<'_>, pipeline: &mut Pipeline, sample: &Sample) {
        let headers: Vec<Header<'_>> = sample
            .headers
            .iter()
            .map(|(name, value)| Header {
                name,
                value: value.as_deref(),
            })
            .collect();
        let record = Record {
            topic: topic.name.as_str(),
            partition: sample.partition,
            offset: sample.offset,
            timestamp: sample.timestamp,
            key: sample.key.as_deref(),
            value: sample.value.as_deref(),
            headers: &headers,
        };
        for _ in 0..MAX_NEEDS {
            let Step::NeedSchema(need) = pipeline.push(&record, topic.now) else {
                return;
            };
            let answer = topic.answers.get(&need).cloned();
            let answer =
                answer.unwrap_or_else(|| Err(SchemaFault::new("the registry was not asked")));
            pipeline.provide_schema(&need, answer, topic.now);
            if !self.needs.contains(&need) {
                self.needs.push(need);
            }
        }
    }

    /// Counts the records.
    pub(super) fn tried(&self) -> usize {
        self.tried
    }

    /// Counts the records that made no `_error`.
    pub(super) fn read(&self) -> usize {
        let mut faulty = HashSet::new();
        for packet in &self.packets {
            let [partitions, offsets, errors] =
                ["partition", "offset", ERROR].map(|name| column(packet, name));
            for (row, _) in errors
                .iter()
                .enumerate()
                .filter(|(_, error)| !error.is_null())
            {
                faulty.insert((
                    partitions.get(row).map(ToString::to_string),
                    offsets.get(row).map(ToString::to_string),
                ));
            }
        }
        self.tried.saturating_sub(faulty.len())
    }

    /// Tells whether every record was read.
    pub(super) fn is_whole(&self) -> bool {
        self.read() == self.tried
    }

    /// Gives the schemas that records named.
    pub(super) fn needs(&self) -> &[Need] {
        &self.needs
    }

    /// Gives the first rows.
    pub(super) fn table(&self, most: usize) -> Table {
        let mut columns: Vec<(String, bool)> = Vec::new();
        for field in self.packets.iter().rev().flat_map(fields) {
            let name = field["name"].as_str().unwrap_or_default();
            if !columns.iter().any(|(known, _)| known == name) {
                columns.push((name.to_owned(), field["type"] == "time"));
            }
        }
        let mut rows = Vec::new();
        for packet in &self.packets {
            let count = column(packet, "time").len();
            for row in 0..count.min(most - rows.len()) {
                let cell = |(name, is_time): &(String, bool)| {
                    shown(column(packet, name).get(row)?, *is_time)
                };
                rows.push(columns.iter().map(cell).collect());
            }
        }
        Table {
            columns: columns.into_iter().map(|(name, _)| name).collect(),
            rows,
        }
    }
}

fn fields(packet: &Value) -> &[Value] {
    packet["schema"]["fields"]
        .as_array()
        .map_or(&[], Vec::as_slice)
}

fn column<'p>(packet: &'p Value, name: &str) -> &'p [Value] {
    let place = fields(packet)
        .iter()
        .position(|field| field["name"] == name);
    let values = place.and_then(|place| packet["data"]["values"][place].as_array());
    values.map_or(&[], Vec::as_slice)
}

fn shown(cell: &Value, is_time: bool) -> Option<String> {
    let text = match cell {
        Value::Null => return None,
        Value::String(text) => text.clone(),
        Value::Number(ms) if is_time => {
            let nanos = ms.as_i64().and_then(time::from_ms)?;
            let text = String::from_utf8_lossy(&time::to_rfc3339(nanos)).into_owned();
            let seconds = text.trim_end_matches('Z').trim_end_matches('0');
            format!("{}Z", seconds.trim_end_matches('.'))
        }
        other => other.to_string(),
    };
    match text.char_indices().nth(MAX_CELL) {
        Some((end, _)) => Some(format!("{}…", &text[..end])),
        None => Some(text),
    }
}
