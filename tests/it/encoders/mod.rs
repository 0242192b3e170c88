//! What the field's own serializers write, as a panel shows it: each case row by row, in the answer of `QueryData` and in a
//! stream. The writers are in `tests/encoders`; the registry is Apicurio, by Confluent's API.

mod avro;
mod demo;
mod headers;
mod json;
mod lines;
mod protobuf;

use std::collections::BTreeSet;
use std::sync::atomic::{AtomicUsize, Ordering};

use anyhow::Result;
use real_kafka::{Kafka, Registry};
use serde_json::{Value, json};
use tokio::sync::Mutex;

use crate::support::{Host, Seen, query};

/// Lets one register at a time: Apicurio was seen to leave two that evolve schemas at once without an answer.
static REGISTERING: Mutex<()> = Mutex::const_new(());

/// A case that was written into a topic of its own, and the plugin that shows it.
struct Written {
    host: Host,
    format: &'static str,
    case: &'static str,
    topic: String,
    /// What the writer printed.
    said: String,
}

impl Written {
    /// Has a case of `tests/encoders/python/write_<format>.py` written, for a plugin that asks the shared registry.
    async fn case(format: &'static str, case: &'static str) -> Result<Written> {
        let settings = json!({"schemaRegistryUrl": Registry::shared().confluent()});
        Self::case_for(format, case, |_| Ok(settings)).await
    }

    /// Has a case written, for a plugin with the settings that `registry` makes of what the writer printed.
    async fn case_for(
        format: &'static str,
        case: &'static str,
        registry: impl FnOnce(&str) -> Result<Value>,
    ) -> Result<Written> {
        static CASES: AtomicUsize = AtomicUsize::new(0);
        let number = CASES.fetch_add(1, Ordering::Relaxed);
        let topic = format!("encoders-{number}-{format}-{}", case.replace('_', "-"));
        let name = topic.clone();
        // The first one starts a broker and a registry, and may install Python's packages.
        // The records are of a fixed day, which retention would soon remove.
        tokio::task::spawn_blocking(move || {
            Kafka::shared().create_topic_with(&name, 1, &[("retention.ms", "-1")])
        })
        .await??;
        let said = write(format, case, &topic).await?;
        let settings = registry(&said)?;
        Ok(Written {
            host: Host::on(Kafka::shared(), settings).await?,
            format,
            case,
            topic,
            said: said.trim().to_owned(),
        })
    }

    /// Holds what a panel shows to a table: in the answer of a query, then in its stream when the case is written once more.
    ///
    /// The table is JSON lines: the columns' names (ours are left out, but for `_error`, and `time` where a case is about it), then a row's cells. In a cell
    /// `"@2026-01-01T00:00:00Z"` is that time, and `"…words…"` a text that has these words in it.
    async fn shows(&self, keys: Value, table: &str) -> Result<()> {
        let (answer, mut run) = self.host.watch(query(&self.topic, keys)).await?;
        assert_eq!(answer.error, "", "{}", self.topic);
        let table = table_lines(table);
        self.compare("in the answer", &answer, &table);
        let shown = &answer.columns[3..];
        let named = table[0].iter().filter(|column| *column != "time");
        assert!(
            named.eq(shown),
            "{}: the columns' order: {shown:?}",
            self.topic
        );
        write(self.format, self.case, &self.topic).await?;
        run.until_records(table.len() - 1).await?;
        self.compare("in the stream", &run, &table);
        Ok(())
    }

    fn compare(&self, place: &str, seen: &Seen, table: &[Vec<Value>]) {
        let case = format!("{} {}, {place}", self.format, self.case);
        let (columns, rows) = table.split_first().expect("a table has a line of columns");
        let (ours, shown) = seen.columns.split_at(3);
        assert_eq!(ours, ["time", "partition", "offset"], "{case}");
        // In the order of their names, since a stream's packets know them one after another.
        let shown: BTreeSet<&str> = shown.iter().map(String::as_str).collect();
        let named = columns.iter().filter_map(Value::as_str);
        let named: BTreeSet<&str> = named.filter(|column| *column != "time").collect();
        assert_eq!(shown, named, "{case}: columns; {seen:?}");
        assert_eq!(
            seen.records().count(),
            rows.len(),
            "{case}: rows {:?}",
            seen.rows
        );
        for (at, (record, row)) in seen.records().zip(rows).enumerate() {
            assert_eq!(columns.len(), row.len(), "the table's row {at}");
            for (column, expected) in columns.iter().filter_map(Value::as_str).zip(row) {
                let shown = record.cell(column);
                assert!(
                    is(expected, &shown),
                    "{case}: row {at}, {column}: {shown} is not {expected}"
                );
            }
        }
    }
}

fn table_lines(table: &str) -> Vec<Vec<Value>> {
    let lines = table.lines().map(str::trim).filter(|line| !line.is_empty());
    lines
        .map(|line| serde_json::from_str(line).unwrap_or_else(|error| panic!("{line}: {error}")))
        .collect()
}

/// Says whether a cell is what the table says of it.
fn is(expected: &Value, shown: &Value) -> bool {
    let text = expected.as_str().unwrap_or_default();
    if let Some(time) = text.strip_prefix('@') {
        let time = chrono::DateTime::parse_from_rfc3339(time).expect("a time");
        return shown.as_i64() == Some(time.timestamp_millis());
    }
    let words = text
        .strip_prefix('…')
        .and_then(|text| text.strip_suffix('…'));
    match (words, shown.as_str()) {
        (Some(words), Some(shown)) => shown.contains(words),
        _ => expected == shown,
    }
}

async fn write(format: &'static str, case: &'static str, topic: &str) -> Result<String> {
    let _turn = REGISTERING.lock().await;
    let topic = topic.to_owned();
    tokio::task::spawn_blocking(move || encoders::write(format, case, &topic)).await?
}
