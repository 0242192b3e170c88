//! `speed PLUGIN [RECORDS]` measures the plugin end to end: records of a real Kafka, from `earliest`, to packets at a host
//! that speaks Grafana's protocol; beside it, in the same rounds, a bare librdkafka consumer. Prints a table for
//! `docs/performance.md`. Without RECORDS it is 2,000,000.
//!
//! CPU is that of the measured process alone, user and system; the host, the broker and the plugin share the machine, so
//! records a second say less than CPU a record.

mod bare;
#[path = "../../../benches/corpus/mod.rs"]
#[expect(dead_code, reason = "the benches use all of it")]
mod corpus;
mod live;
mod process;
mod topic;

use std::path::PathBuf;
use std::time::Duration;

use anyhow::{Context, Result};
use real_kafka::{KAFKA_VERSION, Kafka};

const ROUNDS: usize = 5;
const TOPIC: &str = "json-20fields";

/// What one reader did.
#[derive(Clone, Copy, Debug)]
struct Measured {
    records: u64,
    took: Duration,
    cpu: Duration,
    /// Peak memory in bytes.
    peak: u64,
}

fn main() -> Result<()> {
    let mut words = std::env::args().skip(1);
    let first = words.next().context("usage: speed PLUGIN [RECORDS]")?;
    if first == bare::WORD {
        return bare::child(words);
    }
    let plugin = PathBuf::from(first);
    let count: u64 = words.next().map_or(Ok(2_000_000), |count| count.parse())?;

    let kafka = Kafka::start()?;
    let bytes = topic::produce(&kafka, TOPIC, count)?;
    eprintln!("{count} records of {bytes} bytes are in Kafka {KAFKA_VERSION}");
    let runtime = tokio::runtime::Runtime::new()?;
    let (mut bare, mut free, mut paced) = (Vec::new(), Vec::new(), Vec::new());
    for round in 1..=ROUNDS {
        eprintln!("round {round} of {ROUNDS}");
        bare.push(bare::measure(&kafka, TOPIC, count)?);
        free.push(runtime.block_on(live::all(&plugin, &kafka, TOPIC, count))?);
        paced.push(runtime.block_on(live::paced(&plugin, &kafka, TOPIC))?);
    }
    let idle = runtime.block_on(live::idle(&plugin, &kafka, TOPIC))?;

    println!("| reader | records a second | CPU a record | peak memory |\n|---|--:|--:|--:|");
    for (name, rounds) in [
        ("bare librdkafka consumer", bare),
        ("RunStream, no pacing", free),
        ("RunStream, paced", paced),
    ] {
        let per_second = median(
            rounds
                .iter()
                .map(|m| m.records as f64 / m.took.as_secs_f64()),
        );
        let cpu = median(
            rounds
                .iter()
                .map(|m| m.cpu.as_secs_f64() * 1e6 / m.records as f64),
        );
        let peak = median(rounds.iter().map(|m| m.peak as f64)) / f64::from(1 << 20);
        println!("| {name} | {per_second:.0} | {cpu:.2} µs | {peak:.0} MiB |");
    }
    println!("\n| process | |\n|---|--:|");
    println!(
        "| start to handshake | {:.1} ms |",
        median(idle.handshakes.iter().map(Duration::as_secs_f64)) * 1e3
    );
    println!(
        "| shutdown, mid-stream | {:.1} ms |",
        median(idle.shutdowns.iter().map(Duration::as_secs_f64)) * 1e3
    );
    println!(
        "| idle, no stream | {:.2}% of a core, {:.0} MiB |",
        idle.alone.cores() * 100.0,
        idle.alone.mebibytes()
    );
    println!(
        "| idle, one stream | {:.2}% of a core, {:.0} MiB |",
        idle.watching.cores() * 100.0,
        idle.watching.mebibytes()
    );
    Ok(())
}

fn median(values: impl Iterator<Item = f64>) -> f64 {
    let mut values: Vec<f64> = values.collect();
    values.sort_by(f64::total_cmp);
    values[values.len() / 2]
}
