//! From produce to packet: the time until a host has a record, beside the time until a bare consumer has it.

use std::path::Path;
use std::sync::Arc;
use std::thread;
use std::time::{Duration, Instant};

use anyhow::{Context, Result, ensure};
use real_kafka::{Kafka, Record};
use serde_json::{Value, json};

use crate::live::Channel;
use crate::{bare, live};

/// Records before the first that is measured.
const UNMEASURED: usize = 2;

/// Is one row of the table.
#[derive(Clone, Copy)]
struct Case {
    /// Records a second.
    rate: u64,
    records: usize,
    pacing: bool,
}

impl Case {
    const fn new(rate: u64, records: usize, pacing: bool) -> Self {
        Self {
            rate,
            records,
            pacing,
        }
    }
}

/// A paced channel carries the first two rates.
const SLOW: [Case; 2] = [Case::new(10, 2_000, false), Case::new(10, 2_000, true)];
const FAST: [Case; 3] = [
    Case::new(1_000, 2_000, false),
    Case::new(50_000, 100_000, false),
    Case::new(1_000, 2_000, true),
];

pub(crate) async fn print(binary: &Path, kafka: &Kafka) -> Result<()> {
    println!(
        "| records a second | pacing | records | p50 | p99 | bare p50 | bare p99 | added p50 | added p99 |\n|--:|---|--:|--:|--:|--:|--:|--:|--:|"
    );
    // Ten a second take minutes and leave the machine idle, so both at once, each with a topic and a plugin of its own.
    let [free, paced] = SLOW.map(|case| case.row(binary, kafka));
    let (free, paced) = tokio::try_join!(free, paced)?;
    println!("{free}\n{paced}");
    for case in FAST {
        println!("{}", case.row(binary, kafka).await?);
    }
    Ok(())
}

impl Case {
    /// Measures it, as a row of the table.
    async fn row(self, binary: &Path, kafka: &Kafka) -> Result<String> {
        let Self {
            rate,
            records,
            pacing,
        } = self;
        eprintln!("{rate} a second, pacing {pacing}");
        let seen = measure(binary, kafka, self).await?;
        let shown = seen.each(|[sent, shown, _]| shown - sent);
        let bare = seen.each(|[sent, _, bare]| bare - sent);
        // Of one record each: both had the same broker in the same moment.
        let added = seen.each(|[_, shown, bare]| shown - bare);
        Ok(format!(
            "| {rate} | {pacing} | {records} | {shown} | {bare} | {added} |"
        ))
    }
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

async fn measure(binary: &Path, kafka: &Kafka, case: Case) -> Result<Seen> {
    let Case {
        rate,
        records: count,
        pacing,
    } = case;
    let topic = format!("latency-{rate}-{pacing}");
    kafka.create_topic(&topic, 1)?;
    let value = json!({"sensor": "s-1", "value": 21.5}).to_string();
    kafka.produce(&topic, &[Record::value(&value)])?;
    let plugin = live::start(binary).await?;
    let keys = json!({"messageFormat": "json", "everyRecord": true});
    let channel = Channel::ask(&plugin, kafka, &topic, &keys, pacing).await?;
    ensure!(
        channel.first == 1,
        "the answer had {} records",
        channel.first
    );
    let mut packets = channel.run(&plugin).await?;
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
