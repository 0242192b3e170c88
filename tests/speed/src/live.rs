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

/// Is a channel behind the answer to a query, from `earliest`, before it runs.
pub(crate) struct Channel {
    source: DataSource,
    path: String,
    data: String,
    /// How many records the answer had.
    pub(crate) first: u64,
}

impl Channel {
    /// Asks for the first rows.
    pub(crate) async fn ask(
        plugin: &Plugin,
        kafka: &Kafka,
        topic: &str,
        keys: &Value,
        pacing: bool,
    ) -> Result<Self> {
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
        Ok(Self {
            source,
            path: live["path"].as_str().context("no path")?.to_owned(),
            data: live["data"].to_string(),
            first: next.values().filter_map(Value::as_u64).sum(),
        })
    }

    /// Runs it, behind what the answer had. Somebody takes its packets at once: what nobody takes holds up all that shares
    /// its connection.
    pub(crate) async fn run(&self, plugin: &Plugin) -> Result<Packets> {
        let data = self.data.as_bytes();
        Ok(plugin.run_stream(&self.source, &self.path, data).await?)
    }
}

/// Takes packets until they had `rows`.
pub(crate) async fn read(packets: &mut Packets, rows: u64) -> Result<()> {
    let mut taken = 0;
    while taken < rows {
        taken += count_rows(&packets.next().await?.context("the run ended")?)?;
    }
    ensure!(taken == rows, "{taken} rows came, {rows} were expected");
    Ok(())
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
pub(crate) fn count_rows(packet: &[u8]) -> Result<u64> {
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
