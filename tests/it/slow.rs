//! A reader that does not keep up: bounded memory, nothing lost; and the channel's budget.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use anyhow::Result;
use odd_registry::{Book, Server};
use real_kafka::{Kafka, Record};
use serde_json::json;

use super::support::{Host, query};

const MIB: u64 = 1024 * 1024;

#[tokio::test]
async fn a_stalled_reader_takes_bounded_memory() -> Result<()> {
    let (kafka, host) = (Kafka::shared(), Host::shared().await?);
    kafka.create_topic("slow-stalled", 4)?;
    // 160 MiB, in four partitions
    let value = format!(r#"{{"text":"{}"}}"#, "x".repeat(4_000));
    let producer = kafka.producer()?;
    for n in 0..40_000 {
        producer.send("slow-stalled", Record::value(&value).to(n % 4))?;
    }
    producer.flush()?;
    let (answer, mut run) = host
        .watch(query("slow-stalled", json!({"pacing": false})))
        .await?;
    let first = answer.count();
    tokio::time::sleep(Duration::from_secs(4)).await;
    let (_, peak) = host.memory()?;
    assert!(peak < 160 * MIB, "{} MiB at the peak", peak / MIB);
    // Nobody read a packet so far: all of it is still to come.
    run.until_records(40_000 - first).await?;
    for partition in 0..4 {
        let mut offsets = answer.offsets(partition);
        offsets.extend(run.offsets(partition));
        assert_eq!(
            offsets,
            (0..10_000).collect::<Vec<_>>(),
            "partition {partition}"
        );
    }
    let (_, peak) = host.memory()?;
    assert!(peak < 160 * MIB, "{} MiB at the peak", peak / MIB);
    Ok(())
}

/// Grafana gives no back-pressure: the budget keeps its queues short, and nothing is lost where nothing may be.
#[tokio::test]
async fn the_budget_of_a_channel() -> Result<()> {
    let (kafka, host) = (Kafka::shared(), Host::shared().await?);
    kafka.create_topic("slow-budget", 1)?;
    let producer = kafka.producer()?;
    for n in 0..40_000 {
        producer.send(
            "slow-budget",
            Record::value(&format!(r#"{{"n":{n},"text":"abcdefghij"}}"#)),
        )?;
    }
    producer.flush()?;
    let (answer, mut run) = host.watch(query("slow-budget", json!({}))).await?;
    let (first, start) = (answer.count(), Instant::now());
    run.within(Duration::from_secs(30), "ten thousand records", |rows| {
        rows.count() >= 10_000
    })
    .await?;
    let (packets, slots) = (
        run.sizes.len() as u128,
        start.elapsed().as_millis() / 100 + 1,
    );
    // Ten packets a second, and a burst of two.
    assert!(packets <= slots + 3, "{packets} packets in {slots} slots");
    assert!(
        run.sizes.iter().all(|rows| *rows <= 1_000),
        "{:?}",
        run.sizes.iter().max()
    );
    assert!(run.largest <= 192 * 1024, "{} bytes", run.largest);
    run.until_records(40_000 - first).await?;
    assert_eq!(run.offsets(0), (first as i64..40_000).collect::<Vec<_>>());
    Ok(())
}

/// A `latest` stream that cannot keep up goes on from the newest records and says how many it passed over; one that
/// must show every record does not.
#[tokio::test(flavor = "multi_thread")]
async fn latest_skips_aloud_and_every_record_does_not() -> Result<()> {
    let (kafka, host) = (Kafka::shared(), Host::shared().await?);
    kafka.create_topic("slow-latest", 1)?;
    let model = |keys| query("slow-latest", keys);
    let (_, mut skipping) = host
        .watch(model(json!({"autoOffsetReset": "latest"})))
        .await?;
    let (_, mut complete) = host
        .watch(model(
            json!({"autoOffsetReset": "latest", "everyRecord": true}),
        ))
        .await?;
    let producer = kafka.producer()?;
    while skipping.count() == 0 || complete.count() == 0 {
        producer.send("slow-latest", Record::value("{}"))?;
        skipping.linger(Duration::from_millis(50)).await?;
        complete.linger(Duration::from_millis(50)).await?;
    }
    // About 60,000 records a second, six times the budget, for longer than the five seconds that it waits.
    let sending = std::thread::spawn(move || -> Result<()> {
        for _ in 0..900 {
            for n in 0..600 {
                producer.send("slow-latest", Record::value(&format!(r#"{{"n":{n}}}"#)))?;
            }
            std::thread::sleep(Duration::from_millis(10));
        }
        producer.flush()
    });
    let passed =
        |rows: &super::support::Seen| rows.noticed("passed over") || rows.noticed("skipped");
    skipping
        .until("word of what was passed over", passed)
        .await?;
    complete.linger(Duration::from_secs(1)).await?;
    sending.join().expect("the producer does not panic")?;
    let end = kafka.end_offset("slow-latest", 0)?;
    skipping
        .until("the newest record", |rows| {
            rows.last_place() == Some((0, end - 1))
        })
        .await?;
    let offsets = skipping.offsets(0);
    assert!(
        offsets.windows(2).all(|pair| pair[0] < pair[1]),
        "in order, none twice"
    );
    complete.linger(Duration::from_secs(1)).await?;
    let offsets = complete.offsets(0);
    assert!(
        offsets.windows(2).all(|pair| pair[0] + 1 == pair[1]),
        "no gap where every record is asked for"
    );
    Ok(())
}

/// A backlog behind a record whose schema is late: its partition is paused, so little of it is held meanwhile; and Shutdown
/// waits for no registry.
#[tokio::test]
async fn a_backlog_behind_a_late_schema_takes_bounded_memory() -> Result<()> {
    const COUNT: i64 = 20_000;
    let schema = r#"{"type":"record","name":"R","fields":[{"name":"n","type":"string"}]}"#;
    let book = Book::default().schema("slow-schema-value", 5, schema);
    let has_ended = Arc::new(AtomicBool::new(false));
    let ended = Arc::clone(&has_ended);
    let registry = Server::start(move |request| {
        // Each question is answered 2 s after it came, and not at all at the end of the test.
        let delay = if ended.load(Ordering::Relaxed) {
            3_600
        } else {
            2
        };
        book.answer(request).after(Duration::from_secs(delay))
    })?;
    let kafka = Kafka::shared();
    let settings = json!({"schemaRegistryUrl": registry.url()});
    let host = Host::on(kafka, settings.clone()).await?;
    kafka.create_topic("slow-schema", 1)?;
    let model = query(
        "slow-schema",
        json!({"messageFormat": "avro", "autoOffsetReset": "latest", "everyRecord": true, "pacing": false}),
    );
    let (_, mut run) = host.watch(model.clone()).await?;
    run.linger(Duration::from_secs(2)).await?;
    // 4,000 letters: 80 MiB in all.
    let value = [b"\0\0\0\0\x05\xc0\x3e", &[b'x'; 4_000][..]].concat();
    let producer = kafka.producer()?;
    for _ in 0..COUNT {
        producer.send("slow-schema", Record::value(&value))?;
    }
    producer.flush()?;
    run.until_records(COUNT as usize).await?;
    assert_eq!(run.offsets(0), (0..COUNT).collect::<Vec<_>>());
    assert!(run.records().all(|row| row.error().is_none()));
    let (_, peak) = host.memory()?;
    assert!(peak < 160 * MIB, "{} MiB at the peak", peak / MIB);

    has_ended.store(true, Ordering::Relaxed);
    let other = Host::on(kafka, settings).await?;
    let (_, mut waiting) = other.watch(model).await?;
    waiting.linger(Duration::from_secs(1)).await?;
    producer.send("slow-schema", Record::value(&value))?;
    producer.flush()?;
    waiting.linger(Duration::from_secs(1)).await?;
    assert_eq!(waiting.count(), 0, "its schema is not here");
    let start = Instant::now();
    other.plugin.shutdown().await;
    assert!(
        start.elapsed() < Duration::from_millis(500),
        "{:?}",
        start.elapsed()
    );
    Ok(())
}

/// All panels of a data source share what it may send: those that want more than there is leave a quiet one its part.
#[tokio::test(flavor = "multi_thread")]
async fn busy_panels_leave_room_for_a_quiet_one() -> Result<()> {
    let (kafka, host) = (Kafka::shared(), Host::shared().await?);
    kafka.create_topic("slow-busy", 1)?;
    kafka.create_topic("slow-quiet", 1)?;
    let value = format!(r#"{{"text":"{}"}}"#, "x".repeat(1_000));
    let producer = kafka.producer()?;
    for _ in 0..20_000 {
        producer.send("slow-busy", Record::value(&value))?;
    }
    producer.flush()?;
    let (_, mut quiet) = host
        .watch(query("slow-quiet", json!({"autoOffsetReset": "latest"})))
        .await?;
    let mut busy = Vec::new();
    for n in 0..8 {
        // A column type that nobody has makes it a stream of its own.
        let own = json!({"fieldTypes": {format!("none{n}"): "text"}});
        let (_, mut run) = host.watch(query("slow-busy", own)).await?;
        busy.push(tokio::spawn(async move {
            run.linger(Duration::from_secs(6)).await?;
            Ok::<_, anyhow::Error>(run.count())
        }));
    }
    let mut slowest = Duration::ZERO;
    for n in 1..=10 {
        let sent = Instant::now();
        producer.send("slow-quiet", Record::value("{}"))?;
        producer.flush()?;
        quiet.until_records(n).await?;
        slowest = slowest.max(sent.elapsed());
        tokio::time::sleep(Duration::from_millis(200)).await;
    }
    assert!(slowest < Duration::from_secs(1), "{slowest:?}");
    let mut counts = Vec::new();
    for run in busy {
        counts.push(run.await??);
    }
    // 512 KiB a slot: each of the eight has a turn every second slot.
    let (least, most) = (counts.iter().min(), counts.iter().max());
    assert!(
        least
            .zip(most)
            .is_some_and(|(least, most)| most < &(least * 2)),
        "{counts:?}"
    );
    Ok(())
}

/// What librdkafka says beside records, at every look, holds none of them up.
#[tokio::test(flavor = "multi_thread")]
async fn a_quiet_topic_shows_each_record_at_once() -> Result<()> {
    let kafka = Kafka::shared();
    let host = Host::on(kafka, json!({"metadataInterval": 1000})).await?;
    kafka.create_topic("slow-steady", 1)?;
    let (_, mut run) = host
        .watch(query("slow-steady", json!({"pacing": false})))
        .await?;
    let producer = kafka.producer()?;
    let mut slowest = Duration::ZERO;
    for n in 1..=200 {
        tokio::time::sleep(Duration::from_millis(20)).await;
        let sent = Instant::now();
        producer.send("slow-steady", Record::value("{}"))?;
        producer.flush()?;
        run.until_records(n).await?;
        if n > 1 {
            slowest = slowest.max(sent.elapsed());
        }
    }
    assert!(slowest < Duration::from_millis(300), "{slowest:?}");
    Ok(())
}
