//! What is read: a fixture of the benches, over and over.

use anyhow::{Context, Result};
use real_kafka::{Kafka, Producer, Record};
use serde_json::Value;

use crate::corpus;

/// Is a topic that is there, and how a panel reads it.
pub(crate) struct Topic {
    pub(crate) name: String,
    /// The keys of a query that say the format.
    pub(crate) keys: Value,
    pub(crate) partitions: u64,
    /// In all partitions together.
    pub(crate) records: u64,
    /// That each record makes.
    pub(crate) rows: u64,
    values: Vec<Vec<u8>>,
}

/// Large batches, as a busy topic has them.
pub(crate) const BUSY: [(&str, &str); 2] = [("linger.ms", "20"), ("batch.size", "262144")];

impl Topic {
    /// Creates an empty topic, for `records` of a fixture.
    pub(crate) fn create(
        kafka: &Kafka,
        name: String,
        fixture: &str,
        partitions: u64,
        records: u64,
    ) -> Result<Self> {
        let fixtures = corpus::fixtures();
        let fixture = fixtures.into_iter().find(|known| known.name == fixture);
        let fixture = fixture.context("no such fixture")?;
        kafka.create_topic(&name, partitions as i32)?;
        Ok(Self {
            name,
            keys: fixture.query,
            partitions,
            records,
            // Ten lines of five fields.
            rows: if fixture.name == "lineprotocol" {
                50
            } else {
                1
            },
            values: fixture.values,
        })
    }

    /// Creates a topic and produces its records.
    pub(crate) fn filled(
        kafka: &Kafka,
        fixture: &str,
        partitions: u64,
        records: u64,
    ) -> Result<Self> {
        let name = format!("{fixture}-{partitions}");
        let topic = Self::create(kafka, name, fixture, partitions, records)?;
        topic.fill(&kafka.producer_with(&BUSY)?)?;
        Ok(topic)
    }

    /// Produces the records, in turn into the partitions.
    pub(crate) fn fill(&self, producer: &Producer) -> Result<()> {
        for (value, n) in self.values.iter().cycle().zip(0..self.records) {
            let partition = (n % self.partitions) as i32;
            producer.send(&self.name, Record::value(value).to(partition))?;
        }
        producer.flush()
    }
}
