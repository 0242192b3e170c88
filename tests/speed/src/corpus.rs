//! The records: JSON objects of 20 fields, flat, their names always in one order, as a producer writes them.

use std::fmt::Write as _;

use anyhow::Result;
use real_kafka::{Kafka, Record};

/// Produces `count` records into one partition of a new topic; returns their bytes.
pub(crate) fn produce(kafka: &Kafka, topic: &str, count: u64) -> Result<u64> {
    kafka.create_topic(topic, 1)?;
    // Large batches, as a busy topic has them.
    let producer = kafka.producer_with(&[("linger.ms", "20"), ("batch.size", "262144")])?;
    let (mut value, mut bytes) = (String::new(), 0);
    for n in 0..count {
        value.clear();
        write(&mut value, n);
        bytes += value.len() as u64;
        producer.send(topic, Record::value(&value))?;
    }
    producer.flush()?;
    Ok(bytes)
}

/// Eight floats, five integers, five texts, two booleans; each value varies.
fn write(value: &mut String, n: u64) {
    let part =
        |k: u64, modulus: u64| n.wrapping_mul(2_654_435_761).wrapping_add(k * 40_503) % modulus;
    for k in 0..20 {
        let name = if k == 0 { '{' } else { ',' };
        // Writing to a String cannot fail.
        let _ = match k {
            0..8 => write!(
                value,
                "{name}\"f{k:02}\":{}.{:03}",
                part(k, 900),
                part(k + 1, 999) + 1
            ),
            8..13 => write!(value, "{name}\"i{k:02}\":{}", part(k, 1_000_000)),
            13..18 => write!(value, "{name}\"s{k:02}\":\"value-{:04}\"", part(k, 5_000)),
            _ => write!(value, "{name}\"b{k:02}\":{}", part(k, 2) == 0),
        };
    }
    value.push('}');
}
