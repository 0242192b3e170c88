//! What is read: a fixture of the benches, over and over.

use anyhow::{Context, Result};
use real_kafka::{Kafka, Record};
use serde_json::Value;

use crate::corpus;

/// Is a topic that is there, and how a panel reads it.
pub(crate) struct Topic {
    pub(crate) name: String,
    /// The keys of a query that say the format.
    pub(crate) keys: Value,
    pub(crate) records: u64,
    /// Of one record.
    pub(crate) bytes: usize,
}

impl Topic {
    /// Produces `records` of a fixture into a new topic, in turn into its partitions.
    pub(crate) fn of(kafka: &Kafka, fixture: &str, partitions: u64, records: u64) -> Result<Self> {
        let fixtures = corpus::fixtures();
        let fixture = fixtures.into_iter().find(|known| known.name == fixture);
        let fixture = fixture.context("no such fixture")?;
        let topic = Self {
            name: format!("{}-{partitions}-{records}", fixture.name),
            keys: fixture.query,
            records,
            bytes: fixture.values[0].len(),
        };
        kafka.create_topic(&topic.name, partitions as i32)?;
        // Large batches, as a busy topic has them.
        let producer = kafka.producer_with(&[("linger.ms", "20"), ("batch.size", "262144")])?;
        for (value, n) in fixture.values.iter().cycle().zip(0..records) {
            let partition = (n % partitions) as i32;
            producer.send(&topic.name, Record::value(value).to(partition))?;
        }
        producer.flush()?;
        Ok(topic)
    }
}
