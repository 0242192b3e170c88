//! From produce to packet: the time until a host has a record, beside the time until a bare consumer has it.

use std::path::Path;
use std::sync::Arc;
use std::thread;
use std::time::{Duration, Instant};

use anyhow::{Context, Result, ensure};
use real_kafka::{Kafka, Record};
use serde_json::{Value, json};

use crate::{bare, live};

/// Records before the first that is measured.
const UNMEASURED: usize = 2;
/// Records a second, and how many; a paced channel carries the first two.
const RATES: [(u64, usize); 3] = [(10, 300), (1_000, 2_000), (50_000, 100_000)];

pub(crate) async fn print(binary: &Path, kafka: &Kafka) -> Result<()> {
    println!(
        "| records a second | pacing | records | p50 | p99 | bare p50 | bare p99 | added p50 | added p99 |\n|--:|---|--:|--:|--:|--:|--:|--:|--:|"
    );
    for (pacing, rates) in [(false, &RATES[..]), (true, &RATES[..2])] {
        for &(rate, count) in rates {
            eprintln!("{rate} a second, pacing {pacing}");
            let seen = measure(binary, kafka, rate, count, pacing).await?;
            let shown = seen.each(|[sent, shown, _]| shown - sent);
            let bare = seen.each(|[sent, _, bare]| bare - sent);
            // Of one record each: both had the same broker in the same moment.
            let added = seen.each(|[_, shown, bare]| shown - bare);
            println!("| {rate} | {pacing} | {count} | {shown} | {bare} | {added} |");
        }
    }
    Ok(())
}

/// Is when each record was sent, and when the plugin's host and a bare consumer had it, in milliseconds.
struct Seen(Vec<[f64; 3]>);

impl Seen {
    /// Gives the median and the 99th percentile of something, as cells of a table.
    fn each(&self, what: fn([f64; 3]) -> f64) -> String {
        let mut values: Vec<f64> = self.0.iter().copied().map(what).collect();
        values.sort_by(f64::total_cmp);
        let at = |percent: usize| values[(values.len() - 1) * percent / 100];
        format!("{:.1} ms | {:.1} ms", at(50), at(99))
    }
}

async fn measure(
    binary: &Path,
    kafka: &Kafka,
    rate: u64,
    count: usize,
    pacing: bool,
) -> Result<Seen> {
    let topic = format!("latency-{rate}-{pacing}");
    kafka.create_topic(&topic, 1)?;
    let value = json!({"sensor": "s-1", "value": 21.5}).to_string();
    kafka.produce(&topic, &[Record::value(&value)])?;
    let plugin = live::start(binary).await?;
    let keys = json!({"messageFormat": "json", "everyRecord": true});
    let (first, mut packets) = live::run(&plugin, kafka, &topic, &keys, pacing).await?;
    ensure!(first == 1, "the answer had {first} records");
    let (bootstrap, name) = (kafka.bootstrap(), topic.clone());
    let bare = thread::spawn(move || bare::arrivals(&bootstrap, &name, count + UNMEASURED));
    // Both are at the end before the first record comes.
    tokio::time::sleep(Duration::from_secs(2)).await;

    let producer = Arc::new(kafka.producer_with(&[("linger.ms", "0")])?);
    // The first record waits for the producer's connection and id.
    producer.send(&topic, Record::value(&value))?;
    producer.flush()?;
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
            let place = (offset as usize).checked_sub(UNMEASURED);
            let Some(seen) = place.and_then(|place| ours.get_mut(place)) else {
                continue;
            };
            left -= usize::from(seen.replace(now).is_none());
        }
    }
    plugin.shutdown().await;
    let sent = sending.join().expect("the producer does not panic")?;
    let arrived = bare.join().expect("the consumer does not panic")?;
    let begin = sent[0];
    let ms = |at: Instant| at.saturating_duration_since(begin).as_secs_f64() * 1e3;
    let shown = ours.into_iter().flatten();
    let arrived = arrived.into_iter().skip(UNMEASURED);
    let all = sent.iter().zip(shown).zip(arrived);
    Ok(Seen(
        all.map(|((sent, shown), bare)| [ms(*sent), ms(shown), ms(bare)])
            .collect(),
    ))
}
