//! The yardstick: a librdkafka consumer that throws every record away, in a process of its own.

use std::process::Command;
use std::time::{Duration, Instant};

use anyhow::{Context, Result, bail, ensure};
use rdkafka::consumer::{BaseConsumer, Consumer};
use rdkafka::{ClientConfig, Message, Offset, TopicPartitionList};
use real_kafka::Kafka;

use crate::{Measured, process};

/// The first argument of the child process.
pub(crate) const WORD: &str = "--bare";

/// Reads `count` records and returns what it cost.
pub(crate) fn measure(kafka: &Kafka, topic: &str, count: u64) -> Result<Measured> {
    let output = Command::new(std::env::current_exe()?)
        .args([WORD, &kafka.bootstrap(), topic, &count.to_string()])
        .output()?;
    let text = String::from_utf8(output.stdout)?;
    ensure!(
        output.status.success(),
        "the bare consumer failed: {}",
        String::from_utf8_lossy(&output.stderr)
    );
    let mut numbers = text.split_whitespace().map(str::parse::<u64>);
    let mut next = || {
        numbers
            .next()
            .context("too few numbers")?
            .context("not a number")
    };
    let micros = Duration::from_micros;
    Ok(Measured {
        records: next()?,
        took: micros(next()?),
        cpu: micros(next()?),
        peak: next()?,
    })
}

/// Is the child process: prints records, microseconds of time and of CPU, and peak bytes.
pub(crate) fn child(mut words: impl Iterator<Item = String>) -> Result<()> {
    let mut word = || words.next().context("too few arguments");
    let (bootstrap, topic, count) = (word()?, word()?, word()?.parse::<u64>()?);
    let mut config = ClientConfig::new();
    config
        .set("bootstrap.servers", bootstrap)
        .set("group.id", "bare")
        .set("enable.auto.commit", "false");
    // Else it sleeps for a second whenever its queue is full.
    config.set("fetch.queue.backoff.ms", "5");
    let consumer: BaseConsumer = config.create()?;
    let mut start = TopicPartitionList::new();
    start.add_partition_offset(&topic, 0, Offset::Beginning)?;
    let begin = Instant::now();
    consumer.assign(&start)?;
    let (mut records, mut bytes) = (0, 0);
    while records < count {
        match consumer.poll(Duration::from_secs(30)) {
            Some(record) => bytes += record?.payload().map_or(0, <[u8]>::len),
            None => bail!("nothing came for 30 s"),
        }
        records += 1;
    }
    let (took, pid) = (begin.elapsed(), std::process::id());
    ensure!(bytes > 0, "empty records");
    println!(
        "{records} {} {} {}",
        took.as_micros(),
        process::cpu(pid)?.as_micros(),
        process::memory(pid)?.0
    );
    // Closing the consumer is not measured, and nothing needs it.
    std::process::exit(0)
}
