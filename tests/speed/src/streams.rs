//! How cost grows with streams and partitions: each stream reads a whole topic, beside as many bare consumers in the same rounds.
//!
//! The records stand in a transaction that is still open when the readers open, so that each waits before the first of them; its
//! commit lets all go at once. From there until the last record of the last reader is measured: what opening costs is not.

use std::path::Path;
use std::time::Duration;

use anyhow::{Result, ensure};
use real_kafka::{Kafka, Producer};
use tokio::runtime::Runtime;
use tokio::task::JoinSet;

use crate::bare::{Readers, Setup};
use crate::live::{self, Channel};
use crate::process::{Measured, Watch};
use crate::topic::{BUSY, Topic};

const FIXTURE: &str = "json_20fields";
const ROUNDS: usize = 3;
/// How long readers come to rest at the open transaction.
const REST: Duration = Duration::from_secs(2);

/// Prints a table of some streams over some partitions; all streams together read `count` records.
pub(crate) fn print(binary: &Path, kafka: &Kafka, count: u64, runtime: &Runtime) -> Result<()> {
    let [names, lines] = Measured::HEAD;
    println!("| streams | partitions | reader | {names}\n|--:|--:|---|{lines}");
    for partitions in [1, 100] {
        for streams in [1, 10, 100] {
            let (mut yardstick, mut ours) = (Vec::new(), Vec::new());
            for round in 1..=ROUNDS {
                eprintln!("{streams} over {partitions}, round {round} of {ROUNDS}");
                let held = |reader| {
                    let name = format!("{reader}-{streams}-{partitions}-{round}");
                    Held::new(kafka, name, partitions, count / streams)
                };
                yardstick.push(held("bare")?.bare(kafka, streams)?);
                ours.push(runtime.block_on(held("streams")?.run(binary, kafka, streams))?);
            }
            for (reader, rounds) in [
                ("bare librdkafka consumers", yardstick),
                ("RunStream, `pacing: false`", ours),
            ] {
                let cells = Measured::cells(&rounds);
                println!("| {streams} | {partitions} | {reader} | {cells} |");
            }
        }
    }
    Ok(())
}

/// Is a topic whose records are in an open transaction.
struct Held {
    topic: Topic,
    producer: Producer,
}

impl Held {
    fn new(kafka: &Kafka, name: String, partitions: u64, records: u64) -> Result<Self> {
        let topic = Topic::create(kafka, name, FIXTURE, partitions, records)?;
        // Opening a hundred streams takes a while.
        let patient = [("transaction.timeout.ms", "600000")];
        let properties = [&BUSY[..], &patient].concat();
        let producer = kafka.transactional_with(&topic.name, &properties)?;
        producer.begin()?;
        topic.fill(&producer)?;
        Ok(Self { topic, producer })
    }

    /// Reads the topic by consumers that throw each record away.
    fn bare(self, kafka: &Kafka, consumers: u64) -> Result<Measured> {
        let mut readers = Readers::start(kafka, &self.topic, consumers, Setup::Fast)?;
        readers.open()?;
        std::thread::sleep(REST);
        let watch = Watch::start(readers.pid())?;
        self.producer.commit()?;
        let records = readers.wait()?;
        let measured = watch.end(records)?;
        drop(readers);
        kafka.delete_topic(&self.topic.name)?;
        Ok(measured)
    }

    /// Runs streams over the topic.
    async fn run(self, binary: &Path, kafka: &Kafka, streams: u64) -> Result<Measured> {
        let (topic, records) = (&self.topic, self.topic.records);
        let plugin = live::start(binary).await?;
        let mut runs = JoinSet::new();
        for _ in 0..streams {
            let channel = Channel::ask(&plugin, kafka, &topic.name, &topic.keys, false).await?;
            ensure!(channel.first == 0, "the answer had records");
            let mut packets = channel.run(&plugin).await?;
            let rows = records * topic.rows;
            runs.spawn(async move { live::read(&mut packets, rows).await.map(|()| packets) });
        }
        tokio::time::sleep(REST).await;
        let watch = Watch::start(plugin.pid())?;
        self.producer.commit()?;
        // They stay open: threads that end are not counted.
        let mut open = Vec::new();
        while let Some(run) = runs.join_next().await {
            open.push(run??);
        }
        let measured = watch.end(records * streams)?;
        drop(open);
        plugin.shutdown().await;
        kafka.delete_topic(&topic.name)?;
        Ok(measured)
    }
}
