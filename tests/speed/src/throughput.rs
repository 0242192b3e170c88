//! A backlog, read to its end: records a second, CPU a record, and memory, beside a bare consumer in the same rounds.
//!
//! Each is measured from when its process is asked to open the stream or the consumer until all records are there.

use std::path::Path;
use std::time::Duration;

use anyhow::{Context, Result};
use real_kafka::Kafka;
use tokio::runtime::Runtime;

use crate::bare::{Readers, Setup};
use crate::live::{self, Channel};
use crate::process::{Measured, Watch};
use crate::topic::Topic;

const ROUNDS: usize = 5;
/// A fixture, over how many partitions, and what part of the records: one of line protocol makes 50 rows.
const TOPICS: [(&str, u64, u64); 5] = [
    (PACED, 1, 1),
    ("json_20fields", 4, 1),
    ("avro", 1, 1),
    ("lineprotocol", 1, 10),
    ("lineprotocol", 4, 10),
];
/// The fixture that is read with pacing, too.
const PACED: &str = "json_20fields";
/// How long a paced run is watched.
const WATCHED: Duration = Duration::from_secs(10);

/// Prints a table of one stream over one partition and over some.
pub(crate) fn print(binary: &Path, kafka: &Kafka, count: u64, runtime: &Runtime) -> Result<()> {
    let [names, lines] = Measured::HEAD;
    println!("| fixture | partitions | reader | {names}\n|---|--:|---|{lines}");
    for (fixture, partitions, part) in TOPICS {
        let topic = Topic::filled(kafka, fixture, partitions, count / part)?;
        let (mut yardstick, mut defaults) = (Vec::new(), Vec::new());
        let (mut free, mut paced) = (Vec::new(), Vec::new());
        for round in 1..=ROUNDS {
            eprintln!("{}, round {round} of {ROUNDS}", topic.name);
            yardstick.push(bare(kafka, &topic, Setup::Fast)?);
            if partitions == 1 && part == 1 {
                defaults.push(bare(kafka, &topic, Setup::Defaults)?);
            }
            free.push(runtime.block_on(all(binary, kafka, &topic))?);
            if (fixture, partitions) == (PACED, 1) {
                paced.push(runtime.block_on(shown(binary, kafka, &topic))?);
            }
        }
        for (reader, rounds) in [
            ("bare librdkafka consumer, its defaults", defaults),
            ("bare librdkafka consumer", yardstick),
            ("RunStream, `pacing: false`", free),
            ("RunStream, paced", paced),
        ] {
            if !rounds.is_empty() {
                let cells = Measured::cells(&rounds);
                println!("| {fixture} | {partitions} | {reader} | {cells} |");
            }
        }
        kafka.delete_topic(&topic.name)?;
    }
    Ok(())
}

/// Reads the topic by a consumer that throws each record away.
fn bare(kafka: &Kafka, topic: &Topic, setup: Setup) -> Result<Measured> {
    let mut reader = Readers::start(kafka, topic, 1, setup)?;
    let watch = Watch::start(reader.pid())?;
    reader.open()?;
    let records = reader.wait()?;
    watch.end(records)
}

/// Runs the topic without pacing to its last record.
async fn all(binary: &Path, kafka: &Kafka, topic: &Topic) -> Result<Measured> {
    let plugin = live::start(binary).await?;
    let channel = Channel::ask(&plugin, kafka, &topic.name, &topic.keys, false).await?;
    let records = topic.records - channel.first;
    let watch = Watch::start(plugin.pid())?;
    let mut packets = channel.run(&plugin).await?;
    live::read(&mut packets, records * topic.rows).await?;
    let measured = watch.end(records)?;
    plugin.shutdown().await;
    Ok(measured)
}

/// Runs the topic with pacing, for as long as is watched.
async fn shown(binary: &Path, kafka: &Kafka, topic: &Topic) -> Result<Measured> {
    let plugin = live::start(binary).await?;
    let channel = Channel::ask(&plugin, kafka, &topic.name, &topic.keys, true).await?;
    let watch = Watch::start(plugin.pid())?;
    let mut packets = channel.run(&plugin).await?;
    let mut rows = 0;
    while watch.elapsed() < WATCHED {
        rows += live::count_rows(&packets.next().await?.context("the run ended")?)?;
    }
    let measured = watch.end(rows / topic.rows)?;
    plugin.shutdown().await;
    Ok(measured)
}
