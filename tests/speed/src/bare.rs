//! The yardstick: librdkafka consumers that throw every record away, most of them in a process of their own.

use std::process::{Child, Command};
use std::thread;
use std::time::{Duration, Instant};

use anyhow::{Context, Result, bail, ensure};
use rdkafka::consumer::{BaseConsumer, Consumer};
use rdkafka::{ClientConfig, Message, Offset, TopicPartitionList};
use real_kafka::Kafka;

use crate::topic::Topic;
use crate::{Measured, process};

/// The first argument of a child process that reads.
pub(crate) const READ: &str = "--bare";
/// The first argument of a child process that waits.
pub(crate) const WAIT: &str = "--quiet";

/// Reads a topic of one partition and returns what it cost.
pub(crate) fn measure(kafka: &Kafka, topic: &Topic) -> Result<Measured> {
    let output = Command::new(std::env::current_exe()?)
        .args([
            READ,
            &kafka.bootstrap(),
            &topic.name,
            &topic.records.to_string(),
        ])
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

/// Is the child process that reads: prints records, microseconds of time and of CPU, and peak bytes.
pub(crate) fn read(mut words: impl Iterator<Item = String>) -> Result<()> {
    let mut word = || words.next().context("too few arguments");
    let (bootstrap, topic, count) = (word()?, word()?, word()?.parse::<u64>()?);
    let begin = Instant::now();
    let consumer = consumer(&bootstrap, &topic)?;
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

/// Reads `count` records; gives the moment at which each came.
pub(crate) fn arrivals(bootstrap: &str, topic: &str, count: usize) -> Result<Vec<Instant>> {
    let consumer = consumer(bootstrap, topic)?;
    let mut arrived = Vec::with_capacity(count);
    while arrived.len() < count {
        let record = consumer.poll(Duration::from_secs(30));
        record.context("nothing came for 30 s")??;
        arrived.push(Instant::now());
    }
    Ok(arrived)
}

/// Is a process with consumers that get nothing; it ends with this.
pub(crate) struct Quiet(Child);

impl Quiet {
    pub(crate) fn start(kafka: &Kafka, topic: &str, consumers: usize) -> Result<Self> {
        let mut command = Command::new(std::env::current_exe()?);
        command.args([WAIT, &kafka.bootstrap(), topic, &consumers.to_string()]);
        Ok(Self(command.spawn()?))
    }

    pub(crate) fn pid(&self) -> u32 {
        self.0.id()
    }
}

impl Drop for Quiet {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

/// Is the child process that waits: a thread a consumer, as the plugin has a thread a stream.
pub(crate) fn wait(mut words: impl Iterator<Item = String>) -> Result<()> {
    let mut word = || words.next().context("too few arguments");
    let (bootstrap, topic, count) = (word()?, word()?, word()?.parse::<usize>()?);
    for _ in 0..count {
        let consumer = consumer(&bootstrap, &topic)?;
        thread::spawn(move || {
            loop {
                consumer.poll(Duration::from_secs(1));
            }
        });
    }
    loop {
        thread::park();
    }
}

/// Makes a consumer that reads partition 0 from its start.
fn consumer(bootstrap: &str, topic: &str) -> Result<BaseConsumer> {
    let mut config = ClientConfig::new();
    config
        .set("bootstrap.servers", bootstrap)
        .set("group.id", "bare")
        .set("enable.auto.commit", "false");
    // Else it sleeps for a second whenever its queue is full.
    config.set("fetch.queue.backoff.ms", "5");
    let consumer: BaseConsumer = config.create()?;
    let mut start = TopicPartitionList::new();
    start.add_partition_offset(topic, 0, Offset::Beginning)?;
    consumer.assign(&start)?;
    Ok(consumer)
}
