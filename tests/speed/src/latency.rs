//! From produce to packet: the time until a host has a record, beside the time until a bare consumer has it.

use std::path::Path;
use std::sync::Arc;
use std::thread;
use std::time::{Duration, Instant};

use anyhow::{Context, Result, ensure};
use real_kafka::{Kafka, Record};
use serde_json::{Value, json};

use crate::{bare, live};

/// Records a second, and how many.
const RATES: [(u64, usize); 3] = [(10, 300), (1_000, 2_000), (50_000, 100_000)];

pub(crate) async fn print(binary: &Path, kafka: &Kafka) -> Result<()> {
    println!(
        "| records a second | pacing | records | p50 | p99 | bare p50 | bare p99 | added p50 | added p99 |\n|--:|---|--:|--:|--:|--:|--:|--:|--:|"
    );
    for pacing in [false, true] {
        for (rate, count) in RATES {
            eprintln!("{rate} a second, pacing {pacing}");
            let [ours, bare] = measure(binary, kafka, rate, count, pacing).await?;
            let (p50, p99) = (percentile(&ours, 50), percentile(&ours, 99));
            let (bare50, bare99) = (percentile(&bare, 50), percentile(&bare, 99));
            println!(
                "| {rate} | {pacing} | {count} | {p50:.1} ms | {p99:.1} ms | {bare50:.1} ms | {bare99:.1} ms | {:.1} ms | {:.1} ms |",
                p50 - bare50,
                p99 - bare99
            );
        }
    }
    Ok(())
}

/// Gives the latencies of the plugin's host and of a bare consumer, sorted.
async fn measure(
    binary: &Path,
    kafka: &Kafka,
    rate: u64,
    count: usize,
    pacing: bool,
) -> Result<[Vec<Duration>; 2]> {
    let topic = format!("latency-{rate}-{pacing}");
    kafka.create_topic(&topic, 1)?;
    let value = json!({"sensor": "s-1", "value": 21.5}).to_string();
    kafka.produce(&topic, &[Record::value(&value)])?;
    let plugin = live::start(binary).await?;
    let keys = json!({"messageFormat": "json", "everyRecord": true});
    let (first, mut packets) = live::run(&plugin, kafka, &topic, &keys, pacing).await?;
    ensure!(first == 1, "the answer had {first} records");
    let (bootstrap, name) = (kafka.bootstrap(), topic.clone());
    let bare = thread::spawn(move || bare::arrivals(&bootstrap, &name, count + 1));
    // Both are at the end before the first record comes.
    tokio::time::sleep(Duration::from_secs(2)).await;

    let producer = Arc::new(kafka.producer_with(&[("linger.ms", "0")])?);
    let sending = {
        let producer = Arc::clone(&producer);
        thread::spawn(move || -> Result<Vec<Instant>> {
            let begin = Instant::now();
            let mut sent = Vec::with_capacity(count);
            for n in 0..count {
                let due = begin + Duration::from_secs_f64(n as f64 / rate as f64);
                // A sleep of less than a millisecond is never that short: what is due by then goes together.
                if let wait @ 1.. = due.saturating_duration_since(Instant::now()).as_millis() {
                    thread::sleep(Duration::from_millis(wait as u64));
                }
                sent.push(Instant::now());
                producer.send(&topic, Record::value(&value))?;
            }
            producer.flush()?;
            Ok(sent)
        })
    };
    let mut ours = vec![None; count];
    let mut left = count;
    while left > 0 {
        let packet = packets.next().await?.context("the run ended")?;
        let now = Instant::now();
        let packet: Value = serde_json::from_slice(&packet)?;
        let offsets = packet["data"]["values"][2].as_array();
        for offset in offsets.into_iter().flatten().filter_map(Value::as_u64) {
            let seen = ours
                .get_mut(offset as usize - 1)
                .context("no such record")?;
            left -= usize::from(seen.replace(now).is_none());
        }
    }
    plugin.shutdown().await;
    let sent = sending.join().expect("the producer does not panic")?;
    let arrived = bare.join().expect("the consumer does not panic")?;
    let since = |seen: &mut dyn Iterator<Item = Instant>| {
        let took = seen
            .zip(&sent)
            .map(|(seen, sent)| seen.saturating_duration_since(*sent));
        let mut took: Vec<Duration> = took.collect();
        took.sort();
        took
    };
    Ok([
        since(&mut ours.into_iter().flatten()),
        since(&mut arrived.into_iter().skip(1)),
    ])
}

/// Gives a percentile in milliseconds.
fn percentile(sorted: &[Duration], percent: usize) -> f64 {
    sorted[(sorted.len() - 1) * percent / 100].as_secs_f64() * 1e3
}
