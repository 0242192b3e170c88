//! `speed PLUGIN [throughput|streams|idle|latency] [RECORDS]` measures the plugin end to end: records of a real Kafka to packets at a
//! host that speaks Grafana's protocol; beside it, in the same rounds, bare librdkafka consumers. Prints tables for
//! `docs/performance.md`. Without RECORDS it is 2,000,000.
//!
//! CPU is that of the measured process alone, user and system; the host, the broker and the plugin share the machine, so
//! records a second say less than CPU a record.

mod bare;
#[path = "../../../benches/corpus/mod.rs"]
mod corpus;
mod idle;
mod latency;
mod live;
mod process;
mod streams;
mod throughput;
mod topic;

use std::path::PathBuf;

use anyhow::{Context, Result, bail};
use real_kafka::Kafka;

fn main() -> Result<()> {
    let mut words = std::env::args().skip(1);
    let first = words.next();
    let first = first.context("usage: speed PLUGIN [throughput|streams|idle|latency] [RECORDS]")?;
    match first.as_str() {
        bare::READ => return bare::read(words),
        bare::WAIT => return bare::wait(words),
        _ => {}
    }
    let plugin = PathBuf::from(first);
    let what = words.next().unwrap_or_else(|| "throughput".to_owned());
    let count: u64 = words.next().map_or(Ok(2_000_000), |count| count.parse())?;
    let kafka = Kafka::start()?;
    let runtime = tokio::runtime::Runtime::new()?;
    match what.as_str() {
        "throughput" => throughput::print(&plugin, &kafka, count, &runtime),
        "streams" => streams::print(&plugin, &kafka, count, &runtime),
        "idle" => runtime.block_on(idle::print(&plugin, &kafka)),
        "latency" => runtime.block_on(latency::print(&plugin, &kafka)),
        _ => bail!("`{what}` is none of throughput, streams, idle, latency"),
    }
}

fn median(values: impl Iterator<Item = f64>) -> f64 {
    let mut values: Vec<f64> = values.collect();
    values.sort_by(f64::total_cmp);
    values[values.len() / 2]
}
