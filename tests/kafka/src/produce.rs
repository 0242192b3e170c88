//! Producing, with librdkafka in the test's process.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread;
use std::time::Duration;

use anyhow::{Result, anyhow, ensure};
use rdkafka::ClientConfig;
use rdkafka::ClientContext;
use rdkafka::error::{KafkaError, RDKafkaErrorCode};
use rdkafka::message::{Header, OwnedHeaders};
use rdkafka::producer::{
    BaseRecord, DeliveryResult, Producer as _, ProducerContext, ThreadedProducer,
};

use crate::Kafka;

const PATIENCE: Duration = Duration::from_secs(30);

/// A record to produce; what is not set is absent, not empty.
#[derive(Clone, Copy, Debug, Default)]
pub struct Record<'a> {
    pub partition: i32,
    /// Milliseconds since 1970; now, where absent.
    pub timestamp: Option<i64>,
    pub key: Option<&'a [u8]>,
    pub value: Option<&'a [u8]>,
    pub headers: &'a [(&'a str, Option<&'a [u8]>)],
}

impl<'a> Record<'a> {
    pub fn value(value: &'a (impl AsRef<[u8]> + ?Sized)) -> Self {
        Record {
            value: Some(value.as_ref()),
            ..Record::default()
        }
    }

    #[must_use]
    pub fn to(self, partition: i32) -> Self {
        Record { partition, ..self }
    }

    #[must_use]
    pub fn at(self, timestamp: i64) -> Self {
        Record {
            timestamp: Some(timestamp),
            ..self
        }
    }

    #[must_use]
    pub fn keyed(self, key: &'a (impl AsRef<[u8]> + ?Sized)) -> Self {
        Record {
            key: Some(key.as_ref()),
            ..self
        }
    }

    #[must_use]
    pub fn with_headers(self, headers: &'a [(&'a str, Option<&'a [u8]>)]) -> Self {
        Record { headers, ..self }
    }
}

/// An idempotent producer on the plaintext listener.
pub struct Producer {
    inner: ThreadedProducer<Deliveries>,
    failed: Arc<AtomicUsize>,
}

impl Kafka {
    pub fn producer(&self) -> Result<Producer> {
        self.producer_with(&[])
    }

    /// A producer with librdkafka properties on top, such as `compression.type`.
    pub fn producer_with(&self, properties: &[(&str, &str)]) -> Result<Producer> {
        let mut config = ClientConfig::new();
        config
            .set("bootstrap.servers", self.bootstrap())
            .set("enable.idempotence", "true")
            .set("linger.ms", "1");
        // Nothing that a test writes may go missing where the broker is killed in between.
        config
            .set("message.timeout.ms", "120000")
            .set("message.max.bytes", "33554432");
        for (key, value) in properties {
            config.set(*key, *value);
        }
        let failed = Arc::new(AtomicUsize::new(0));
        let inner = config.create_with_context(Deliveries {
            failed: Arc::clone(&failed),
        })?;
        Ok(Producer { inner, failed })
    }

    /// A producer whose records travel in transactions: `begin`, `send`, then `commit` or `abort`.
    pub fn transactional(&self, id: &str) -> Result<Producer> {
        self.transactional_with(id, &[])
    }

    /// As `transactional`, with properties of librdkafka.
    pub fn transactional_with(&self, id: &str, properties: &[(&str, &str)]) -> Result<Producer> {
        let own = [("transactional.id", id), ("message.timeout.ms", "60000")];
        let producer = self.producer_with(&[&own[..], properties].concat())?;
        producer.inner.init_transactions(PATIENCE)?;
        Ok(producer)
    }

    /// Produces the records in their order and waits until the broker has them.
    pub fn produce(&self, topic: &str, records: &[Record<'_>]) -> Result<()> {
        let producer = self.producer()?;
        for record in records {
            producer.send(topic, *record)?;
        }
        producer.flush()
    }
}

impl Producer {
    /// Queues a record; waits where the queue is full.
    pub fn send(&self, topic: &str, record: Record<'_>) -> Result<()> {
        let mut next: BaseRecord<'_, [u8], [u8]> =
            BaseRecord::to(topic).partition(record.partition);
        next.key = record.key;
        next.payload = record.value;
        next.timestamp = record.timestamp;
        if !record.headers.is_empty() {
            let headers = record
                .headers
                .iter()
                .fold(OwnedHeaders::new(), |headers, &(key, value)| {
                    headers.insert(Header { key, value })
                });
            next = next.headers(headers);
        }
        loop {
            match self.inner.send(next) {
                Ok(()) => return Ok(()),
                Err((KafkaError::MessageProduction(RDKafkaErrorCode::QueueFull), back)) => {
                    next = back;
                    thread::sleep(Duration::from_millis(5));
                }
                Err((error, _)) => return Err(anyhow!("producing to {topic}: {error}")),
            }
        }
    }

    /// Waits until the broker has all that was sent; an error where it refused a record.
    pub fn flush(&self) -> Result<()> {
        self.inner.flush(Duration::from_mins(2))?;
        let failed = self.failed.load(Ordering::Relaxed);
        ensure!(failed == 0, "the broker did not take {failed} records");
        Ok(())
    }

    pub fn begin(&self) -> Result<()> {
        Ok(self.inner.begin_transaction()?)
    }

    pub fn commit(&self) -> Result<()> {
        Ok(self.inner.commit_transaction(PATIENCE)?)
    }

    /// Aborts the transaction; its records are in the log by then. The markers that end a transaction come a moment
    /// later than this and `commit`: see `Kafka::wait_for_end_offset`.
    pub fn abort(&self) -> Result<()> {
        self.flush()?;
        Ok(self.inner.abort_transaction(PATIENCE)?)
    }
}

/// Counts the records that the broker refused.
struct Deliveries {
    failed: Arc<AtomicUsize>,
}

impl ClientContext for Deliveries {}

impl ProducerContext for Deliveries {
    type DeliveryOpaque = ();

    fn delivery(&self, delivery: &DeliveryResult<'_>, (): ()) {
        if delivery.is_err() {
            self.failed.fetch_add(1, Ordering::Relaxed);
        }
    }
}
