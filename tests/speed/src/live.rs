//! The plugin, in a process of its own, as a host has it.

use std::collections::HashMap;
use std::path::Path;

use anyhow::{Context, Result, ensure};
use real_kafka::Kafka;
use serde_json::{Value, json};
use workbench::host::proto::TimeRange;
use workbench::host::{DataSource, Options, Packets, Plugin, Query};

pub(crate) async fn start(binary: &Path) -> Result<Plugin> {
    Ok(Plugin::start(binary, Options::default()).await?)
}

/// Asks for the first rows and runs the channel behind them, from `earliest`. Returns how many records the answer had.
pub(crate) async fn run(
    plugin: &Plugin,
    kafka: &Kafka,
    topic: &str,
    keys: &Value,
    pacing: bool,
) -> Result<(u64, Packets)> {
    let source = DataSource::new("speed", json!({"bootstrapServers": kafka.bootstrap()}));
    let mut model = keys.clone();
    model["topicName"] = json!(topic);
    model["autoOffsetReset"] = json!("earliest");
    model["pacing"] = json!(pacing);
    let range = TimeRange {
        from_epoch_ms: 0,
        to_epoch_ms: 4_000_000_000_000,
    };
    let mut answer = plugin
        .query_data(&source, range, &[Query::new("A", model)], HashMap::new())
        .await?;
    let response = answer.responses.remove("A").context("no answer")?;
    ensure!(response.error.is_empty(), "QueryData: {}", response.error);
    let live =
        live(response.frames.first().context("no frame")?).context("no live in the frame")?;
    let next = live["data"]["cursor"]["next"]
        .as_object()
        .context("no cursor")?;
    let first = next.values().filter_map(Value::as_u64).sum();
    let path = live["path"].as_str().context("no path")?;
    let packets = plugin
        .run_stream(&source, path, live["data"].to_string().as_bytes())
        .await?;
    Ok((first, packets))
}

/// Finds `meta.custom.live` in an Arrow file without decoding it: its schema holds the JSON as it is.
fn live(frame: &[u8]) -> Option<Value> {
    let key = br#""live":"#;
    let at = frame.windows(key.len()).position(|window| window == key)?;
    serde_json::Deserializer::from_slice(&frame[at + key.len()..])
        .into_iter()
        .next()?
        .ok()
}

/// Counts a packet's rows: the values of its first column, which are numbers.
pub(crate) fn rows(packet: &[u8]) -> Result<u64> {
    let key = br#""values":[["#;
    let at = packet
        .windows(key.len())
        .position(|window| window == key)
        .context("no values")?
        + key.len();
    let end = packet[at..]
        .iter()
        .position(|byte| *byte == b']')
        .context("no end")?
        + at;
    let column = &packet[at..end];
    Ok(if column.is_empty() {
        0
    } else {
        column.split(|byte| *byte == b',').count() as u64
    })
}
