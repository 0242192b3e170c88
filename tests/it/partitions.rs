//! Several partitions of one stream without a budget: decoded on several threads, each partition in its order.

use std::fs;
use std::time::Duration;

use anyhow::Result;
use odd_registry::{Book, Server};
use real_kafka::{Kafka, Record};
use serde_json::json;

use super::support::{Host, query};

const PARTITIONS: i32 = 4;
/// Whatever the machine has.
const WORKERS: (&str, &str) = ("KAFKA_DS_PERF_STREAM_WORKERS", "3");

/// Counts the plugin's threads that decode partitions.
fn decoders(host: &Host) -> Result<usize> {
    let mut count = 0;
    for task in fs::read_dir(format!("/proc/{}/task", host.plugin.pid()))? {
        // A thread may end meanwhile.
        let name = fs::read_to_string(task?.path().join("comm")).unwrap_or_default();
        count += usize::from(name.trim_end() == "kafka-decoder");
    }
    Ok(count)
}

/// Every partition brings columns, types and faults of its own at the same time.
#[tokio::test(flavor = "multi_thread")]
async fn partitions_are_decoded_side_by_side_on_one_schema() -> Result<()> {
    const EACH: i64 = 5_000;
    let kafka = Kafka::shared();
    let host = Host::with_env(kafka, json!({}), &[WORKERS]).await?;
    kafka.create_topic("partitions-many", PARTITIONS)?;
    let (_, mut free) = host
        .watch(query("partitions-many", json!({"pacing": false})))
        .await?;
    let (_, mut paced) = host
        .watch(query("partitions-many", json!({"everyRecord": true})))
        .await?;
    let producer = kafka.producer()?;
    for n in 0..EACH {
        for partition in 0..PARTITIONS {
            let value = match n % 1_000 {
                999 => "{".to_owned(),
                // Each partition has columns that the others lack, and new ones come all the time.
                n => json!({
                    "n": n,
                    "shared": partition,
                    format!("of_{partition}_{}", n / 200): n,
                })
                .to_string(),
            };
            producer.send("partitions-many", Record::value(&value).to(partition))?;
        }
    }
    producer.flush()?;
    let all = (EACH * i64::from(PARTITIONS)) as usize;
    free.until_records(all).await?;
    // A paced stream has none.
    assert_eq!(decoders(&host)?, 3);
    for partition in 0..i64::from(PARTITIONS) {
        assert_eq!(
            free.offsets(partition),
            (0..EACH).collect::<Vec<_>>(),
            "{partition}"
        );
    }
    for row in free.records() {
        let Some((partition, offset)) = row.place() else {
            continue;
        };
        let n = offset % 1_000;
        if n == 999 {
            assert!(row.error().is_some(), "{row:?}");
            continue;
        }
        let own = format!("of_{partition}_{}", n / 200);
        assert_eq!(
            (row.cell("n"), row.cell("shared"), row.cell(&own)),
            (json!(n), json!(partition), json!(n)),
        );
        let others = row.0.keys().filter(|name| name.starts_with("of_"));
        assert_eq!(others.count(), 1, "{row:?}");
    }
    let bad = EACH / 1_000 * i64::from(PARTITIONS);
    // All threads count together: 1, then from 10 on.
    let counts: Vec<&str> = free
        .notices
        .iter()
        .filter_map(|(_, text)| text.strip_prefix("Records that could not be decoded: "))
        .filter_map(|text| text.split_once('.'))
        .map(|(count, _)| count)
        .collect();
    assert!(
        counts.len() <= 3
            && counts
                .iter()
                .all(|count| count.parse::<i64>().is_ok_and(|count| count <= bad)),
        "{counts:?}"
    );
    paced
        .within(Duration::from_mins(1), "every record", |rows| {
            rows.count() == all
        })
        .await?;
    drop(free);
    tokio::time::sleep(Duration::from_millis(2_500)).await;
    assert_eq!(decoders(&host)?, 0, "they end with their stream");
    Ok(())
}

/// A schema that is late holds up its own partition only, and partitions that come meanwhile lose and double nothing.
#[tokio::test(flavor = "multi_thread")]
async fn a_late_schema_and_new_partitions_lose_nothing() -> Result<()> {
    const EACH: i64 = 500;
    let topic = "partitions-late";
    let schema = r#"{"type":"record","name":"R","fields":[{"name":"n","type":"long"}]}"#;
    let book = Book::default()
        .schema("partitions-late-value", 1, schema)
        .schema("partitions-late-other-value", 2, schema);
    let registry = Server::start(move |request| {
        let delay = if request.path().contains("ids/2") {
            4
        } else {
            0
        };
        book.answer(request).after(Duration::from_secs(delay))
    })?;
    let kafka = Kafka::shared();
    let settings = json!({"schemaRegistryUrl": registry.url(), "metadataInterval": 1000});
    let host = Host::with_env(kafka, settings, &[WORKERS]).await?;
    kafka.create_topic(topic, 2)?;
    let model = query(topic, json!({"messageFormat": "avro", "pacing": false}));
    let (_, mut run) = host.watch(model).await?;
    let value = |id: u8| [0, 0, 0, 0, id, 2];
    let producer = kafka.producer()?;
    for n in 0..EACH {
        let first = value(if n == 10 { 2 } else { 1 });
        producer.send(topic, Record::value(&first[..]).to(0))?;
        producer.send(topic, Record::value(&value(1)[..]).to(1))?;
    }
    producer.flush()?;
    run.until("what need not wait", |rows| {
        (rows.offsets(0).len(), rows.offsets(1).len()) == (10, EACH as usize)
    })
    .await?;
    assert_eq!(
        run.offsets(0),
        (0..10).collect::<Vec<_>>(),
        "in their order"
    );
    kafka.grow_topic(topic, 5)?;
    // The other one does not know the new partitions.
    let producer = kafka.producer()?;
    for _ in 0..EACH {
        for partition in 0..5 {
            producer.send(topic, Record::value(&value(1)[..]).to(partition))?;
        }
    }
    producer.flush()?;
    run.until_records((EACH * 7) as usize).await?;
    run.linger(Duration::from_millis(500)).await?;
    for (partition, count) in [(0, 2), (1, 2), (2, 1), (3, 1), (4, 1)] {
        assert_eq!(
            run.offsets(partition),
            (0..EACH * count).collect::<Vec<_>>(),
            "{partition}"
        );
    }
    assert!(
        run.records()
            .all(|row| row.error().is_none() && row.cell("n") == json!(1))
    );
    Ok(())
}

/// Rows of the old topic do not travel under the new one's id.
#[tokio::test(flavor = "multi_thread")]
async fn a_recreated_topic_of_many_partitions_is_read_from_its_start() -> Result<()> {
    let topic = "partitions-recreated";
    let kafka = Kafka::shared();
    let host = Host::with_env(kafka, json!({"metadataInterval": 1000}), &[WORKERS]).await?;
    kafka.create_topic(topic, PARTITIONS)?;
    let (_, mut run) = host.watch(query(topic, json!({"pacing": false}))).await?;
    for of in ["old", "new"] {
        if of == "new" {
            kafka.delete_topic(topic)?;
            kafka.create_topic(topic, PARTITIONS)?;
            run.forget();
        }
        let value = json!({ "of": of }).to_string();
        let records: Vec<_> = (0..100)
            .map(|n| Record::value(&value).to(n % PARTITIONS))
            .collect();
        kafka.produce(topic, &records)?;
        run.until_records(100).await?;
        for partition in 0..i64::from(PARTITIONS) {
            assert_eq!(run.offsets(partition), (0..25).collect::<Vec<_>>());
        }
        assert!(run.column("of").iter().all(|of_row| of_row == of));
        let with_rows = run.of_topic.values().filter(|&&count| count > 0);
        assert_eq!(with_rows.count(), 1, "{:?}", run.of_topic);
    }
    Ok(())
}
