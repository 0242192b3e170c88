//! The plugin: a process of its own for each measurement.

use std::collections::HashMap;
use std::path::Path;
use std::time::{Duration, Instant};

use anyhow::{Context, Result, ensure};
use real_kafka::{Kafka, Record};
use serde_json::{Value, json};
use workbench::host::proto::TimeRange;
use workbench::host::{DataSource, Options, Packets, Plugin, Query};

use crate::{Measured, process};

/// How long a paced run and an idle process are watched.
const WATCHED: Duration = Duration::from_secs(10);

/// A process that has nothing to do.
pub(crate) struct Idle {
    pub(crate) handshakes: Vec<Duration>,
    pub(crate) shutdowns: Vec<Duration>,
    pub(crate) alone: Load,
    pub(crate) watching: Load,
}

/// What a process used while it was watched.
pub(crate) struct Load {
    cpu: Duration,
    resident: u64,
}

impl Load {
    pub(crate) fn cores(&self) -> f64 {
        self.cpu.as_secs_f64() / WATCHED.as_secs_f64()
    }

    pub(crate) fn mebibytes(&self) -> f64 {
        self.resident as f64 / f64::from(1 << 20)
    }

    async fn of(plugin: &Plugin) -> Result<Load> {
        let before = process::cpu(plugin.pid())?;
        tokio::time::sleep(WATCHED).await;
        Ok(Load {
            cpu: process::cpu(plugin.pid())?.saturating_sub(before),
            resident: process::memory(plugin.pid())?.1,
        })
    }
}

/// Runs the topic without pacing to its last record.
pub(crate) async fn all(binary: &Path, kafka: &Kafka, topic: &str, count: u64) -> Result<Measured> {
    let plugin = start(binary).await?;
    let (first, mut packets) = run(&plugin, kafka, topic, json!({"pacing": false})).await?;
    let (begin, cpu) = (Instant::now(), process::cpu(plugin.pid())?);
    let mut records = 0;
    while records + first < count {
        records += rows(&packets.next().await?.context("the run ended")?)?;
    }
    let took = begin.elapsed();
    let cpu = process::cpu(plugin.pid())?.saturating_sub(cpu);
    ensure!(
        records + first == count,
        "{records} rows after {first}, of {count} records"
    );
    finish(
        plugin,
        Measured {
            records,
            took,
            cpu,
            peak: 0,
        },
    )
    .await
}

/// Runs the topic with pacing, for as long as is watched.
pub(crate) async fn paced(binary: &Path, kafka: &Kafka, topic: &str) -> Result<Measured> {
    let plugin = start(binary).await?;
    let (_, mut packets) = run(&plugin, kafka, topic, json!({})).await?;
    let (begin, cpu) = (Instant::now(), process::cpu(plugin.pid())?);
    let mut records = 0;
    while begin.elapsed() < WATCHED {
        records += rows(&packets.next().await?.context("the run ended")?)?;
    }
    let (took, cpu) = (
        begin.elapsed(),
        process::cpu(plugin.pid())?.saturating_sub(cpu),
    );
    finish(
        plugin,
        Measured {
            records,
            took,
            cpu,
            peak: 0,
        },
    )
    .await
}

/// Starts and ends the process five times, then watches it idle.
pub(crate) async fn idle(binary: &Path, kafka: &Kafka, topic: &str) -> Result<Idle> {
    let quiet = "quiet";
    kafka.create_topic(quiet, 1)?;
    kafka.produce(quiet, &[Record::value("{}")])?;
    let (mut handshakes, mut shutdowns) = (Vec::new(), Vec::new());
    for _ in 0..crate::ROUNDS {
        let begin = Instant::now();
        let plugin = start(binary).await?;
        handshakes.push(begin.elapsed());
        let (_, mut packets) = run(&plugin, kafka, topic, json!({"pacing": false})).await?;
        packets.next().await?;
        let ended = plugin.shutdown().await;
        ensure!(!ended.killed, "the plugin had to be killed");
        shutdowns.push(ended.took);
    }
    let plugin = start(binary).await?;
    let alone = Load::of(&plugin).await?;
    let (_, packets) = run(&plugin, kafka, quiet, json!({})).await?;
    tokio::time::sleep(Duration::from_secs(2)).await;
    let watching = Load::of(&plugin).await?;
    drop(packets);
    plugin.shutdown().await;
    Ok(Idle {
        handshakes,
        shutdowns,
        alone,
        watching,
    })
}

async fn start(binary: &Path) -> Result<Plugin> {
    Ok(Plugin::start(binary, Options::default()).await?)
}

/// Adds the peak, and ends the process.
async fn finish(plugin: Plugin, measured: Measured) -> Result<Measured> {
    let (peak, _) = process::memory(plugin.pid())?;
    plugin.shutdown().await;
    Ok(Measured { peak, ..measured })
}

/// Asks for the first rows and runs the channel behind them, from `earliest`. Returns the first offset that is left.
async fn run(plugin: &Plugin, kafka: &Kafka, topic: &str, keys: Value) -> Result<(u64, Packets)> {
    let source = DataSource::new("speed", json!({"bootstrapServers": kafka.bootstrap()}));
    let mut model =
        json!({"topicName": topic, "autoOffsetReset": "earliest", "messageFormat": "json"});
    if let (Value::Object(model), Value::Object(keys)) = (&mut model, keys) {
        model.extend(keys);
    }
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
    let first = live["data"]["cursor"]["next"]["0"]
        .as_u64()
        .context("no cursor")?;
    let path = live["path"].as_str().context("no path")?;
    Ok((
        first,
        plugin
            .run_stream(&source, path, live["data"].to_string().as_bytes())
            .await?,
    ))
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
fn rows(packet: &[u8]) -> Result<u64> {
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
