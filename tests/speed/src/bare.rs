//! The yardstick: librdkafka consumers that throw every record away, most of them in a process of their own.

use std::io::{BufRead, BufReader, Read, Write, stdin};
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};
use std::sync::mpsc;
use std::thread;
use std::time::{Duration, Instant};

use anyhow::{Context, Result, ensure};
use rdkafka::consumer::{BaseConsumer, Consumer};
use rdkafka::{ClientConfig, Message, Offset, TopicPartitionList};
use real_kafka::Kafka;

use crate::topic::Topic;

/// The first argument of a child process that reads.
pub(crate) const READ: &str = "--bare";
/// The first argument of a child process that waits.
pub(crate) const WAIT: &str = "--quiet";

/// Says how a consumer that reads is set up.
#[derive(Clone, Copy)]
pub(crate) enum Setup {
    /// As librdkafka comes: whenever its queue is full, it fetches nothing for a second.
    Defaults,
    /// As fast as it gets: it looks again after 5 ms.
    Fast,
}

/// Is a process with consumers of which each reads a whole topic; it ends with this.
pub(crate) struct Readers {
    child: Child,
    told: ChildStdin,
    said: BufReader<ChildStdout>,
    /// Of all consumers.
    records: u64,
}

impl Readers {
    /// Starts the process, which is there when this returns; it opens no consumer before `open`.
    pub(crate) fn start(
        kafka: &Kafka,
        topic: &Topic,
        consumers: u64,
        setup: Setup,
    ) -> Result<Self> {
        let mut command = Command::new(std::env::current_exe()?);
        let backoff = setup.backoff_ms();
        command.args([READ, &kafka.bootstrap(), &topic.name, backoff]);
        command.args([topic.partitions, topic.records, consumers].map(|n| n.to_string()));
        command.stdin(Stdio::piped()).stdout(Stdio::piped());
        let mut child = command.spawn()?;
        let (told, said) = (child.stdin.take(), child.stdout.take());
        let mut readers = Self {
            told: told.context("its input is a pipe")?,
            said: BufReader::new(said.context("its output is a pipe")?),
            child,
            records: topic.records * consumers,
        };
        readers.hear(THERE)?;
        Ok(readers)
    }

    pub(crate) fn pid(&self) -> u32 {
        self.child.id()
    }

    /// Lets it open its consumers.
    pub(crate) fn open(&mut self) -> Result<()> {
        Ok(writeln!(self.told)?)
    }

    /// Waits until each has read the topic; gives the records of all. The consumers stay open.
    pub(crate) fn wait(&mut self) -> Result<u64> {
        self.hear(DONE)?;
        Ok(self.records)
    }

    fn hear(&mut self, word: &str) -> Result<()> {
        let mut line = String::new();
        self.said.read_line(&mut line)?;
        ensure!(line.trim_end() == word, "the bare consumers failed");
        Ok(())
    }
}

impl Setup {
    fn backoff_ms(self) -> &'static str {
        match self {
            Self::Defaults => "1000",
            Self::Fast => "5",
        }
    }
}

impl Drop for Readers {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// What the process that reads says when it is there, and when all is read.
const THERE: &str = "there";
const DONE: &str = "done";

/// Is the child process that reads: a thread a consumer.
pub(crate) fn read(mut words: impl Iterator<Item = String>) -> Result<()> {
    let mut word = || words.next().context("too few arguments");
    let (bootstrap, topic, backoff) = (word()?, word()?, word()?);
    let (partitions, count, consumers) = (word()?.parse()?, word()?.parse()?, word()?.parse()?);
    println!("{THERE}");
    // An empty line says that the consumers may be opened.
    stdin().read_line(&mut String::new())?;
    let (sender, ends) = mpsc::channel();
    for _ in 0..consumers {
        let consumer = consumer(&bootstrap, &topic, partitions, &backoff)?;
        let sender = sender.clone();
        thread::spawn(move || {
            if sender.send(take(&consumer, count)).is_ok() {
                // CPU of a thread that has ended is not counted, so it stays.
                loop {
                    thread::park();
                }
            }
        });
    }
    for end in ends.into_iter().take(consumers) {
        end?;
    }
    println!("{DONE}");
    until_alone()
}

/// Waits until the process that started this one ends, or lets it go.
fn until_alone() -> Result<()> {
    stdin().read_to_end(&mut Vec::new())?;
    Ok(())
}

/// Takes `count` records.
fn take(consumer: &BaseConsumer, count: u64) -> Result<()> {
    let mut bytes = 0;
    for _ in 0..count {
        let record = consumer.poll(PATIENCE).context("nothing came for long")??;
        bytes += record.payload().map_or(0, <[u8]>::len);
    }
    ensure!(bytes > 0, "empty records");
    Ok(())
}

/// How long a consumer waits for the next record.
const PATIENCE: Duration = Duration::from_mins(2);

/// Reads `count` records; gives the moment at which each came.
pub(crate) fn arrivals(bootstrap: &str, topic: &str, count: usize) -> Result<Vec<Instant>> {
    let consumer = consumer(bootstrap, topic, 1, Setup::Fast.backoff_ms())?;
    let mut arrived = Vec::with_capacity(count);
    while arrived.len() < count {
        consumer.poll(PATIENCE).context("nothing came for long")??;
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
        command.stdin(Stdio::piped());
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
        let consumer = consumer(&bootstrap, &topic, 1, Setup::Fast.backoff_ms())?;
        thread::spawn(move || {
            loop {
                consumer.poll(Duration::from_secs(1));
            }
        });
    }
    until_alone()
}

/// Makes a consumer that reads the first partitions of a topic from their starts.
fn consumer(
    bootstrap: &str,
    topic: &str,
    partitions: i32,
    backoff_ms: &str,
) -> Result<BaseConsumer> {
    let mut config = ClientConfig::new();
    config
        .set("bootstrap.servers", bootstrap)
        .set("group.id", "bare")
        .set("enable.auto.commit", "false")
        .set("fetch.queue.backoff.ms", backoff_ms);
    let consumer: BaseConsumer = config.create()?;
    let mut start = TopicPartitionList::new();
    for partition in 0..partitions {
        // By its number, as a channel knows it: librdkafka asks where a log begins before it knows the broker, and then again half a
        // second later.
        start.add_partition_offset(topic, partition, Offset::Offset(0))?;
    }
    consumer.assign(&start)?;
    Ok(consumer)
}
