//! Transactions and compaction: offsets without a record.

use std::time::Duration;

use anyhow::Result;
use real_kafka::{Kafka, Producer, Record};
use serde_json::{Value, json};

use super::support::{Host, query};

/// Sends `values` to partition 0 and ends their transaction.
fn transaction(
    producer: &Producer,
    topic: &str,
    values: std::ops::Range<i64>,
    commit: bool,
) -> Result<()> {
    producer.begin()?;
    for n in values {
        producer.send(topic, Record::value(&format!(r#"{{"n":{n}}}"#)))?;
    }
    if commit {
        producer.commit()
    } else {
        producer.abort()
    }
}

#[tokio::test]
async fn aborted_records_show_only_where_asked_for() -> Result<()> {
    let (kafka, host) = (Kafka::shared(), Host::shared().await?);
    let topic = "transactions-aborted";
    kafka.create_topic(topic, 1)?;
    let producer = kafka.transactional("aborted")?;
    transaction(&producer, topic, 0..3, true)?;
    transaction(&producer, topic, 4..7, false)?;
    kafka.wait_for_end_offset(topic, 0, 8)?;

    let committed = query(topic, json!({}));
    let uncommitted = query(topic, json!({"isolationLevel": "readUncommitted"}));
    let (answer, mut run) = host.watch(committed).await?;
    assert_eq!(answer.offsets(0), [0, 1, 2]);
    let (answer, mut other) = host.watch(uncommitted).await?;
    assert_eq!(answer.offsets(0), [0, 1, 2, 4, 5, 6]);

    // A fetch that holds nothing but aborted records (K05), then committed ones.
    transaction(&producer, topic, 8..20, false)?;
    transaction(&producer, topic, 21..23, true)?;
    run.until_records(2).await?;
    other.until_records(14).await?;
    assert_eq!(run.offsets(0), [21, 22]);
    assert_eq!(other.offsets(0), (8..20).chain(21..23).collect::<Vec<_>>());
    for row in run.records().chain(other.records()) {
        assert_eq!(
            row.cell("n"),
            row.cell("offset"),
            "control records are never shown"
        );
    }
    Ok(())
}

#[tokio::test]
async fn an_open_transaction_waits_for_its_end() -> Result<()> {
    let (kafka, host) = (Kafka::shared(), Host::shared().await?);
    let topic = "transactions-open";
    kafka.create_topic(topic, 1)?;
    let producer = kafka.transactional("open")?;
    producer.begin()?;
    producer.send(topic, Record::value(r#"{"n":0}"#))?;
    producer.flush()?;
    // Behind it, a record without a transaction.
    kafka.produce(topic, &[Record::value(r#"{"n":1}"#)])?;

    let (answer, mut run) = host.watch(query(topic, json!({}))).await?;
    assert_eq!(answer.offsets(0), Vec::<i64>::new());
    let uncommitted = query(topic, json!({"isolationLevel": "readUncommitted"}));
    assert_eq!(host.query(uncommitted).await?.offsets(0), [0, 1]);
    run.linger(Duration::from_millis(700)).await?;
    assert_eq!(run.offsets(0), Vec::<i64>::new());
    producer.commit()?;
    run.until_records(2).await?;
    assert_eq!(run.offsets(0), [0, 1]);
    Ok(())
}

/// cases.md K07: an aborted transaction that wrote nothing to a partition hides nothing there.
#[tokio::test]
async fn an_aborted_transaction_elsewhere() -> Result<()> {
    let (kafka, host) = (Kafka::shared(), Host::shared().await?);
    let topic = "transactions-elsewhere";
    kafka.create_topic(topic, 2)?;
    let producer = kafka.transactional("elsewhere")?;
    for round in 0..3 {
        producer.begin()?;
        producer.send(topic, Record::value(r#"{"aborted":true}"#).to(1))?;
        producer.abort()?;
        producer.begin()?;
        producer.send(topic, Record::value(&format!(r#"{{"round":{round}}}"#)))?;
        producer.commit()?;
    }
    kafka.wait_for_end_offset(topic, 0, 6)?;
    let answer = host.query(query(topic, json!({}))).await?;
    assert_eq!(answer.offsets(0), [0, 2, 4]);
    assert_eq!(answer.offsets(1), Vec::<i64>::new());
    Ok(())
}

#[tokio::test]
async fn last_n_over_aborted_records() -> Result<()> {
    let (kafka, host) = (Kafka::shared(), Host::shared().await?);
    let topic = "transactions-last";
    kafka.create_topic(topic, 1)?;
    let producer = kafka.transactional("last")?;
    transaction(&producer, topic, 0..10, true)?;
    for _ in 0..20 {
        transaction(&producer, topic, 0..20, false)?;
    }
    kafka.wait_for_end_offset(topic, 0, 11 + 20 * 21)?;
    for (n, expected) in [(5, 5..10), (10, 0..10), (1_000, 0..10)] {
        let (answer, mut run) = host
            .watch(query(
                topic,
                json!({"autoOffsetReset": "lastN", "lastN": n}),
            ))
            .await?;
        assert_eq!(
            answer.offsets(0),
            expected.collect::<Vec<_>>(),
            "the last {n}"
        );
        run.linger(Duration::from_millis(300)).await?;
        assert_eq!(run.offsets(0), Vec::<i64>::new(), "the last {n}");
    }
    Ok(())
}

/// cases.md K09: a compacted topic with gaps.
#[tokio::test]
async fn last_n_over_compacted_records() -> Result<()> {
    let (kafka, host) = (Kafka::shared(), Host::shared().await?);
    let topic = "transactions-compacted";
    let settings = [
        ("cleanup.policy", "compact"),
        ("segment.ms", "1000"),
        ("min.cleanable.dirty.ratio", "0.01"),
        ("max.compaction.lag.ms", "1000"),
    ];
    kafka.create_topic_with(topic, 1, &settings)?;
    // Two keys that stay, then one key five hundred times: offsets 0, 1 and the last of them survive.
    let producer = kafka.producer()?;
    for n in 0..502 {
        let key = ["first", "second"].get(n).unwrap_or(&"other");
        producer.send(topic, Record::value(&format!(r#"{{"n":{n}}}"#)).keyed(key))?;
    }
    producer.flush()?;
    // The active segment is never compacted: one more record, later, closes it.
    tokio::time::sleep(Duration::from_millis(1_200)).await;
    kafka.produce(topic, &[Record::value(r#"{"n":502}"#).keyed("third")])?;
    let compacted = async {
        loop {
            let offsets = host.query(query(topic, json!({}))).await?.offsets(0);
            if offsets == [0, 1, 501, 502] {
                return anyhow::Ok(());
            }
            tokio::time::sleep(Duration::from_millis(200)).await;
        }
    };
    tokio::time::timeout(Duration::from_secs(40), compacted)
        .await
        .expect("Kafka compacts, and all of it is shown")?;

    for (n, expected) in [
        (1, vec![502]),
        (3, vec![1, 501, 502]),
        (4, vec![0, 1, 501, 502]),
        (9, vec![0, 1, 501, 502]),
    ] {
        let answer = host
            .query(query(
                topic,
                json!({"autoOffsetReset": "lastN", "lastN": n}),
            ))
            .await?;
        assert_eq!(answer.offsets(0), expected, "the last {n}");
    }
    Ok(())
}

/// Retention took the records below a cursor: the run goes on at the first one left, and says so.
#[tokio::test]
async fn a_cursor_below_the_first_record() -> Result<()> {
    let (kafka, host) = (Kafka::shared(), Host::shared().await?);
    let topic = "transactions-retention";
    kafka.create_topic(topic, 1)?;
    kafka.produce(topic, &[Record::value(r#"{"n":1}"#); 10])?;
    let answer = host
        .query(query(
            topic,
            json!({"autoOffsetReset": "lastN", "lastN": 3}),
        ))
        .await?;
    assert_eq!(answer.offsets(0), [7, 8, 9]);
    kafka.produce(topic, &[Record::value(r#"{"n":2}"#); 10])?;
    kafka.delete_records(topic, 0, 15)?;
    let mut run = host.run(answer.live()?).await?;
    run.until_records(5).await?;
    assert_eq!(run.offsets(0), (15..20).collect::<Vec<_>>());
    assert!(
        !run.notices.is_empty() || !run.troubles().is_empty(),
        "records that are gone are said to be"
    );
    assert_eq!(run.column("n"), vec![Value::from(2); 5]);
    Ok(())
}
