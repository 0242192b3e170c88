//! A backlog, read to its end: records a second, CPU a record, and memory, beside a bare consumer in the same rounds.

use std::path::Path;
use std::time::{Duration, Instant};

use anyhow::{Context, Result, ensure};
use real_kafka::Kafka;
use tokio::runtime::Runtime;
use tokio::task::JoinSet;
use workbench::host::Packets;

use crate::topic::Topic;
use crate::{Measured, bare, live, median, process};

const ROUNDS: usize = 5;
/// How long a paced run is watched.
const WATCHED: Duration = Duration::from_secs(10);

/// Prints a table of one stream over one partition.
pub(crate) fn one_stream(
    binary: &Path,
    kafka: &Kafka,
    count: u64,
    runtime: &Runtime,
) -> Result<()> {
    println!(
        "| fixture | reader | records a second | CPU a record | peak memory |\n|---|---|--:|--:|--:|"
    );
    for fixture in ["json_20fields", "avro"] {
        let topic = Topic::of(kafka, fixture, 1, count)?;
        let (mut yardstick, mut free, mut paced) = (Vec::new(), Vec::new(), Vec::new());
        for round in 1..=ROUNDS {
            eprintln!(
                "{fixture} of {} bytes, round {round} of {ROUNDS}",
                topic.bytes
            );
            yardstick.push(bare::measure(kafka, &topic)?);
            free.push(runtime.block_on(all(binary, kafka, &topic, 1))?);
            if fixture == "json_20fields" {
                paced.push(runtime.block_on(shown(binary, kafka, &topic))?);
            }
        }
        print(fixture, "bare librdkafka consumer", &yardstick);
        print(fixture, "RunStream, `pacing: false`", &free);
        if !paced.is_empty() {
            print(fixture, "RunStream, paced", &paced);
        }
    }
    Ok(())
}

/// Prints how cost grows with streams and partitions; each stream reads the whole topic.
pub(crate) fn many_streams(
    binary: &Path,
    kafka: &Kafka,
    count: u64,
    runtime: &Runtime,
) -> Result<()> {
    println!(
        "| fixture | streams, partitions | records a second | CPU a record | peak memory |\n|---|---|--:|--:|--:|"
    );
    for (streams, partitions) in [(1, 1), (10, 1), (100, 1), (1, 100), (10, 100)] {
        // Of all streams together as many; they begin behind the answer's 10,000 rows.
        let topic = Topic::of(kafka, "json_20fields", partitions, count / streams + 10_000)?;
        let mut rounds = Vec::new();
        for round in 1..=3 {
            eprintln!("{streams} streams, {partitions} partitions, round {round} of 3");
            rounds.push(runtime.block_on(all(binary, kafka, &topic, streams))?);
        }
        print(
            "json_20fields",
            &format!("{streams}, {partitions}"),
            &rounds,
        );
        kafka.delete_topic(&topic.name)?;
    }
    Ok(())
}

fn print(fixture: &str, reader: &str, rounds: &[Measured]) {
    let of = |what: fn(&Measured) -> f64| median(rounds.iter().map(what));
    let rate = of(|m| m.records as f64 / m.took.as_secs_f64());
    let cpu = of(|m| m.cpu.as_secs_f64() * 1e6 / m.records as f64);
    let peak = of(|m| m.peak as f64) / f64::from(1 << 20);
    println!("| {fixture} | {reader} | {rate:.0} | {cpu:.2} µs | {peak:.0} MiB |");
}

/// Runs `streams` over the topic without pacing, each to its last record.
async fn all(binary: &Path, kafka: &Kafka, topic: &Topic, streams: u64) -> Result<Measured> {
    let plugin = live::start(binary).await?;
    let mut runs = JoinSet::new();
    let (begin, cpu) = (Instant::now(), process::cpu(plugin.pid())?);
    for _ in 0..streams {
        let (first, packets) = live::run(&plugin, kafka, &topic.name, &topic.keys, false).await?;
        // At once: what nobody takes holds up all that shares its connection.
        runs.spawn(read(packets, topic.records - first));
    }
    let mut records = 0;
    while let Some(run) = runs.join_next().await {
        let (read, _open) = run??;
        records += read;
    }
    let measured = Measured {
        records,
        took: begin.elapsed(),
        cpu: process::cpu(plugin.pid())?.saturating_sub(cpu),
        peak: process::memory(plugin.pid())?.0,
    };
    plugin.shutdown().await;
    Ok(measured)
}

/// Takes packets until they had `count` records; the stream stays open, since threads that end are not counted.
async fn read(mut packets: Packets, count: u64) -> Result<(u64, Packets)> {
    let mut records = 0;
    while records < count {
        records += live::rows(&packets.next().await?.context("the run ended")?)?;
    }
    ensure!(records == count, "{records} rows of {count} records");
    Ok((records, packets))
}

/// Runs the topic with pacing, for as long as is watched.
async fn shown(binary: &Path, kafka: &Kafka, topic: &Topic) -> Result<Measured> {
    let plugin = live::start(binary).await?;
    let (_, mut packets) = live::run(&plugin, kafka, &topic.name, &topic.keys, true).await?;
    let (begin, cpu) = (Instant::now(), process::cpu(plugin.pid())?);
    let mut records = 0;
    while begin.elapsed() < WATCHED {
        records += live::rows(&packets.next().await?.context("the run ended")?)?;
    }
    let measured = Measured {
        records,
        took: begin.elapsed(),
        cpu: process::cpu(plugin.pid())?.saturating_sub(cpu),
        peak: process::memory(plugin.pid())?.0,
    };
    plugin.shutdown().await;
    Ok(measured)
}
