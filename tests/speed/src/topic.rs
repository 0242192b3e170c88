//! The topic that is read: the benches' `json_20fields`, over and over, in one partition.

use anyhow::{Context, Result};
use real_kafka::{Kafka, Record};

use crate::corpus;

/// Produces `count` records into a new topic; returns the bytes of one.
pub(crate) fn produce(kafka: &Kafka, topic: &str, count: u64) -> Result<usize> {
    let fixtures = corpus::fixtures();
    let values = &fixtures
        .iter()
        .find(|fixture| fixture.name == "json_20fields")
        .context("no such fixture")?
        .values;
    kafka.create_topic(topic, 1)?;
    // Large batches, as a busy topic has them.
    let producer = kafka.producer_with(&[("linger.ms", "20"), ("batch.size", "262144")])?;
    for value in values.iter().cycle().take(count as usize) {
        producer.send(topic, Record::value(value))?;
    }
    producer.flush()?;
    Ok(values[0].len())
}
