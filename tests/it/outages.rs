//! A broker that dies and comes back. These tests have brokers of their own.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicI64, Ordering};
use std::thread;
use std::time::Duration;

use anyhow::Result;
use real_kafka::{Kafka, Record};
use serde_json::{Value, json};

use super::support::{Host, Seen, query};

/// Produces records `{"n": 0}`, `{"n": 1}` … to partition 0 until told to stop; outages only delay it.
struct Ticker {
    stop: Arc<AtomicBool>,
    sent: Arc<AtomicI64>,
    thread: thread::JoinHandle<Result<()>>,
}

impl Ticker {
    fn start(kafka: &Kafka, topic: &'static str) -> Result<Ticker> {
        let (stop, sent, producer) = (
            Arc::<AtomicBool>::default(),
            Arc::<AtomicI64>::default(),
            kafka.producer()?,
        );
        let thread = thread::spawn({
            let (stop, sent) = (stop.clone(), sent.clone());
            move || {
                while !stop.load(Ordering::Relaxed) {
                    let n = sent.fetch_add(1, Ordering::Relaxed);
                    producer.send(topic, Record::value(&format!(r#"{{"n":{n}}}"#)))?;
                    thread::sleep(Duration::from_millis(5));
                }
                producer.flush()
            }
        });
        Ok(Ticker { stop, sent, thread })
    }

    /// Returns how many records the broker has.
    fn stop(self) -> Result<i64> {
        self.stop.store(true, Ordering::Relaxed);
        self.thread.join().expect("the producer does not panic")?;
        Ok(self.sent.load(Ordering::Relaxed))
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_killed_broker_loses_nothing_and_shows_nothing_twice() -> Result<()> {
    let kafka = Kafka::start()?;
    kafka.create_topic("killed", 1)?;
    let host = Host::on(&kafka, json!({})).await?;
    let (_, mut earliest) = host.watch(query("killed", json!({}))).await?;
    let latest = json!({"autoOffsetReset": "latest", "everyRecord": true});
    let (_, mut latest) = host.watch(query("killed", latest)).await?;
    let ticker = Ticker::start(&kafka, "killed")?;
    earliest.until_records(100).await?;
    latest.until_records(50).await?;

    for round in 0..2 {
        let troubles = earliest.troubles().len();
        kafka.kill()?;
        for run in [&mut earliest, &mut latest] {
            run.until("an _error row of the outage", |rows| {
                rows.troubles().len() > troubles
            })
            .await?;
        }
        // Once an outage, not once a second.
        earliest.linger(Duration::from_secs(3)).await?;
        latest.linger(Duration::from_millis(100)).await?;
        for run in [&earliest, &latest] {
            assert_eq!(
                run.troubles().len(),
                troubles + 1,
                "round {round}: {:?}",
                run.troubles()
            );
        }
        let count = earliest.count();
        kafka.restart()?;
        for run in [&mut earliest, &mut latest] {
            let said = |rows: &Seen| {
                rows.notices
                    .iter()
                    .filter(|notice| notice.1.contains("again"))
                    .count()
            };
            run.until("word of the return", |rows| said(rows) > round)
                .await?;
        }
        earliest.until_records(count + 100).await?;
        latest.until_records(latest.count() + 100).await?;
    }
    let sent = ticker.stop()?;
    earliest
        .until("the last record", |rows| {
            rows.last_place() == Some((0, sent - 1))
        })
        .await?;
    latest
        .until("the last record", |rows| {
            rows.last_place() == Some((0, sent - 1))
        })
        .await?;

    assert_eq!(earliest.offsets(0), (0..sent).collect::<Vec<_>>());
    assert_eq!(
        earliest.column("n"),
        (0..sent).map(Value::from).collect::<Vec<_>>()
    );
    let offsets = latest.offsets(0);
    assert_eq!(offsets, (offsets[0]..sent).collect::<Vec<_>>());
    let address = kafka.bootstrap();
    for trouble in earliest.troubles() {
        assert!(trouble.contains(&address), "which broker? {trouble}");
    }
    Ok(())
}

/// A wall display that is opened while Kafka is down comes to life by itself.
#[tokio::test(flavor = "multi_thread")]
async fn a_run_that_begins_without_kafka_finds_its_start_itself() -> Result<()> {
    let kafka = Kafka::start()?;
    kafka.create_topic("down", 1)?;
    let records: Vec<String> = (0..10).map(|n| format!(r#"{{"n":{n}}}"#)).collect();
    kafka.produce(
        "down",
        &records.iter().map(Record::value).collect::<Vec<_>>(),
    )?;
    let host = Host::on(&kafka, json!({"timeout": 2000})).await?;
    kafka.kill()?;

    let mut runs = Vec::new();
    for (keys, expected) in [
        (json!({}), Some(0..11)),
        (json!({"autoOffsetReset": "lastN", "lastN": 3}), Some(8..11)),
        (json!({"autoOffsetReset": "latest"}), None),
    ] {
        let answer = host.query(query("down", keys)).await?;
        assert!(
            answer.error.contains(&kafka.bootstrap()),
            "which broker? {}",
            answer.error
        );
        assert_eq!(answer.error_source, "downstream");
        assert_eq!(answer.rows.len(), 0);
        let live = answer.live()?;
        assert!(live.data["cursor"].is_null(), "{}", live.data);
        runs.push((host.run(live).await?, expected));
    }
    for (run, _) in &mut runs {
        run.until("an _error row", |rows| rows.troubles().len() == 1)
            .await?;
    }
    kafka.restart()?;
    let producer = kafka.producer()?;
    producer.send("down", Record::value(r#"{"n":10}"#))?;
    producer.flush()?;
    for (run, expected) in &mut runs {
        if let Some(offsets) = expected {
            run.until("the last record", |rows| {
                rows.last_place() == Some((0, offsets.end - 1))
            })
            .await?;
            let shown = run.offsets(0);
            let expected: Vec<_> = offsets.clone().collect();
            assert!(
                shown.ends_with(&expected) && shown.len() <= expected.len() + 1,
                "{shown:?}"
            );
        } else {
            // It may find the end before or after the record above.
            producer.send("down", Record::value(r#"{"n":11}"#))?;
            for _ in 0..300 {
                if run.count() > 0 {
                    break;
                }
                producer.send("down", Record::value(r#"{"n":12}"#))?;
                run.linger(Duration::from_millis(200)).await?;
            }
            assert!(
                run.offsets(0).first().is_some_and(|offset| *offset >= 10),
                "{:?}",
                run.offsets(0)
            );
        }
    }
    Ok(())
}

/// A connection that is cut (the broker stops in order, for an upgrade) is no different.
#[tokio::test(flavor = "multi_thread")]
async fn a_restarted_broker() -> Result<()> {
    let kafka = Kafka::start()?;
    kafka.create_topic("restarted", 1)?;
    let host = Host::on(&kafka, json!({})).await?;
    let (_, mut run) = host.watch(query("restarted", json!({}))).await?;
    let ticker = Ticker::start(&kafka, "restarted")?;
    run.until_records(50).await?;
    kafka.stop()?;
    run.linger(Duration::from_secs(2)).await?;
    kafka.restart()?;
    let count = run.count();
    run.until_records(count + 50).await?;
    let sent = ticker.stop()?;
    run.until("the last record", |rows| {
        rows.last_place() == Some((0, sent - 1))
    })
    .await?;
    assert_eq!(run.offsets(0), (0..sent).collect::<Vec<_>>());
    let health = host.plugin.check_health(&host.source).await?;
    assert_eq!(
        health.status,
        workbench::host::proto::HealthStatus::Ok,
        "{}",
        health.message
    );
    Ok(())
}

/// The leader dies, another node leads on: the reader follows (K17).
#[tokio::test(flavor = "multi_thread")]
async fn a_leader_that_moves() -> Result<()> {
    let kafka = Kafka::start()?;
    let second = kafka.join()?;
    kafka.create_replicated_topic("moved", &[2, 1])?;
    let host = Host::on(&kafka, json!({})).await?;
    let (_, mut run) = host.watch(query("moved", json!({}))).await?;
    let ticker = Ticker::start(&kafka, "moved")?;
    run.until_records(100).await?;
    second.kill()?;
    let count = run.count();
    run.until_records(count + 300).await?;
    let answer = host
        .query(query(
            "moved",
            json!({"autoOffsetReset": "lastN", "lastN": 3}),
        ))
        .await?;
    assert_eq!((answer.error.as_str(), answer.offsets(0).len()), ("", 3));
    let health = host.plugin.check_health(&host.source).await?;
    assert_eq!(
        health.status,
        workbench::host::proto::HealthStatus::Ok,
        "{}",
        health.message
    );

    second.restart()?;
    let sent = ticker.stop()?;
    run.until("the last record", |rows| {
        rows.last_place() == Some((0, sent - 1))
    })
    .await?;
    assert_eq!(run.offsets(0), (0..sent).collect::<Vec<_>>());
    assert_eq!(
        run.column("n"),
        (0..sent).map(Value::from).collect::<Vec<_>>()
    );
    Ok(())
}

/// A partition that no broker leads while a panel opens is read from its own last records once one does.
#[tokio::test(flavor = "multi_thread")]
async fn the_last_records_of_a_partition_without_leader() -> Result<()> {
    let kafka = Kafka::start()?;
    let second = kafka.join()?;
    kafka.create_topic("closed", 4)?;
    let records: Vec<_> = (0..80)
        .map(|n| Record::value(r#"{"n":1}"#).to(n % 4))
        .collect();
    kafka.produce("closed", &records)?;
    let host = Host::on(&kafka, json!({})).await?;
    second.kill()?;
    let led: Vec<i64> = loop {
        let led = (0..4).filter(|&partition| kafka.end_offset("closed", partition).is_ok());
        let led: Vec<i64> = led.map(i64::from).collect();
        if !led.is_empty() && led.len() < 4 {
            break led;
        }
        tokio::time::sleep(Duration::from_millis(100)).await;
    };
    let model = query("closed", json!({"autoOffsetReset": "lastN", "lastN": 3}));
    let answer = loop {
        let answer = host.query(model.clone()).await?;
        if answer.count() > 0 {
            break answer;
        }
    };
    assert!(answer.noticed("no broker leads"), "{:?}", answer.notices);
    let mut run = host.run(answer.live()?).await?;

    second.restart()?;
    run.until_records((4 - led.len()) * 3).await?;
    kafka.produce("closed", &records[..4])?;
    run.until_records((4 - led.len()) * 3 + 4).await?;
    for partition in 0..4 {
        let (answered, followed) = (answer.offsets(partition), run.offsets(partition));
        assert_eq!(
            answered.is_empty(),
            !led.contains(&partition),
            "{partition}: {answered:?}"
        );
        let shown = [answered, followed].concat();
        assert_eq!(shown, (17..21).collect::<Vec<_>>(), "{partition}");
    }
    Ok(())
}
