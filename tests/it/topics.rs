//! Topics that grow, go and come back, and topics that must never come to be.

use std::collections::BTreeMap;
use std::time::Duration;

use anyhow::Result;
use real_kafka::{Kafka, Record};
use serde_json::json;

use super::support::{Host, Run, Seen, query};

/// A data source on the shared broker that looks for new partitions and topics once a second.
async fn attentive() -> Result<Host> {
    Host::on(Kafka::shared(), json!({"metadataInterval": 1000})).await
}

#[tokio::test]
async fn new_partitions_are_read_from_their_start() -> Result<()> {
    let (kafka, host) = (Kafka::shared(), attentive().await?);
    kafka.create_topic("topics-grow", 1)?;
    let record = Record::value(r#"{"n":1}"#);
    kafka.produce("topics-grow", &[record])?;
    let (_, mut earliest) = host.watch(query("topics-grow", json!({}))).await?;
    let (_, mut latest) = host
        .watch(query("topics-grow", json!({"autoOffsetReset": "latest"})))
        .await?;
    let (_, mut one) = host
        .watch(query("topics-grow", json!({"partition": 0})))
        .await?;
    started(kafka, "topics-grow", &mut latest).await?;

    kafka.grow_topic("topics-grow", 3)?;
    kafka.produce("topics-grow", &[record.to(1), record.to(2), record.to(2)])?;
    for run in [&mut earliest, &mut latest] {
        run.until("the new partitions", |rows| {
            rows.offsets(1).len() + rows.offsets(2).len() >= 3
        })
        .await?;
        assert_eq!((run.offsets(1), run.offsets(2)), (vec![0], vec![0, 1]));
    }
    kafka.produce("topics-grow", &[record.to(1), record])?;
    earliest
        .until("what follows", |rows| rows.offsets(1).len() == 2)
        .await?;
    one.linger(Duration::from_millis(1_500)).await?;
    assert!(one.offsets(1).is_empty() && one.offsets(2).is_empty() && !one.offsets(0).is_empty());
    Ok(())
}

/// Produces to partition 0 until the run shows a record: it has found its start.
async fn started(kafka: &Kafka, topic: &str, run: &mut Run) -> Result<()> {
    let producer = kafka.producer()?;
    while run.count() == 0 {
        producer.send(topic, Record::value("{}"))?;
        run.linger(Duration::from_millis(50)).await?;
    }
    Ok(())
}

#[tokio::test]
async fn a_recreated_topic_is_read_from_its_start() -> Result<()> {
    let (kafka, host) = (Kafka::shared(), attentive().await?);
    // The new topic is shorter than where the reader stood, or already longer.
    for (name, new) in [("topics-recreate-short", 3), ("topics-recreate-long", 25)] {
        kafka.create_topic(name, 1)?;
        kafka.produce(name, &[Record::value(r#"{"of":"old"}"#); 10])?;
        let (answer, mut run) = host.watch(query(name, json!({}))).await?;
        assert_eq!(answer.offsets(0).len(), 10);
        kafka.produce(name, &[Record::value(r#"{"of":"old"}"#)])?;
        run.until_records(1).await?;
        run.forget();

        kafka.delete_topic(name)?;
        kafka.create_topic(name, 1)?;
        kafka.produce(name, &vec![Record::value(r#"{"of":"new"}"#); new])?;
        run.until_records(new).await?;
        run.linger(Duration::from_millis(500)).await?;
        assert_eq!(
            run.offsets(0),
            (0..new as i64).collect::<Vec<_>>(),
            "{name}"
        );
        assert_eq!(run.column("of"), vec![json!("new"); new], "{name}");
        assert!(
            run.noticed("re-created") || run.noticed("recreated") || run.noticed("created again"),
            "{:?}",
            run.notices
        );
        assert_ne!(
            run.topic_ids.last(),
            answer.topic_ids.last(),
            "{name}: the topic's id"
        );
    }
    Ok(())
}

/// The next regular look is half a minute away: no record of the new topic may travel under the old one's id until then.
#[tokio::test]
async fn a_recreated_topic_is_noticed_at_once() -> Result<()> {
    let (kafka, host) = (Kafka::shared(), Host::shared().await?);
    for (name, new) in [
        ("topics-sudden-short", 3),
        ("topics-sudden-long", 400),
        ("topics-sudden-again", 400),
    ] {
        kafka.create_topic(name, 1)?;
        kafka.produce(name, &[Record::value(r#"{"of":"old"}"#); 10])?;
        let (answer, mut run) = host.watch(query(name, json!({}))).await?;
        kafka.produce(name, &[Record::value(r#"{"of":"old"}"#)])?;
        run.until_records(1).await?;
        run.forget();

        kafka.recreate_topic(name, 1)?;
        kafka.produce(name, &vec![Record::value(r#"{"of":"new"}"#); new])?;
        let all = |rows: &Seen| rows.count() >= new;
        run.within(Duration::from_secs(15), "the new topic", all)
            .await?;
        run.linger(Duration::from_secs(1)).await?;
        assert_eq!(
            run.offsets(0),
            (0..new as i64).collect::<Vec<_>>(),
            "{name}: each record of the new topic once"
        );
        assert_eq!(run.column("of"), vec![json!("new"); new], "{name}");
        assert!(run.noticed("created again"), "{name}: {:?}", run.notices);
        assert_eq!(
            run.of_topic.get(&answer.topic_ids[0]).copied().unwrap_or(0),
            0,
            "{name}: records under the old id"
        );
        assert_eq!(run.troubles(), Vec::<String>::new(), "{name}");
    }
    Ok(())
}

/// A cursor that names another topic id begins at the start.
#[tokio::test]
async fn a_cursor_of_a_deleted_topic() -> Result<()> {
    let (kafka, host) = (Kafka::shared(), attentive().await?);
    kafka.create_topic("topics-cursor", 1)?;
    kafka.produce("topics-cursor", &[Record::value(r#"{"of":"old"}"#); 5])?;
    let answer = host.query(query("topics-cursor", json!({}))).await?;
    kafka.delete_topic("topics-cursor")?;
    kafka.create_topic("topics-cursor", 1)?;
    kafka.produce("topics-cursor", &[Record::value(r#"{"of":"new"}"#); 8])?;
    let mut run = host.run(answer.live()?).await?;
    run.until_records(8).await?;
    assert_eq!(run.offsets(0), (0..8).collect::<Vec<_>>());
    assert!(!run.notices.is_empty());
    Ok(())
}

/// The broker creates a missing topic for any client that asks without care.
#[tokio::test]
async fn a_deleted_topic_stays_deleted_and_is_missed_aloud() -> Result<()> {
    let (kafka, host) = (Kafka::shared(), attentive().await?);
    kafka.create_topic("topics-deleted", 1)?;
    kafka.produce("topics-deleted", &[Record::value(r#"{"of":"old"}"#)])?;
    let (_, mut run) = host.watch(query("topics-deleted", json!({}))).await?;
    kafka.produce("topics-deleted", &[Record::value(r#"{"of":"old"}"#)])?;
    run.until_records(1).await?;
    run.forget();

    kafka.delete_topic("topics-deleted")?;
    run.until("word of the missing topic", |rows| {
        !rows.troubles().is_empty() || !rows.notices.is_empty()
    })
    .await?;
    run.linger(Duration::from_secs(4)).await?;
    host.get("partitions?topic=topics-deleted").await?;
    host.query(query("topics-deleted", json!({}))).await?;
    host.plugin.check_health(&host.source).await?;
    assert_eq!(
        kafka.topic_id("topics-deleted")?,
        None,
        "the topic was created again"
    );
    assert!(
        run.troubles().len() <= 1,
        "once, not once a second: {:?}",
        run.troubles()
    );

    kafka.create_topic("topics-deleted", 1)?;
    kafka.produce("topics-deleted", &[Record::value(r#"{"of":"new"}"#); 2])?;
    run.until_records(2).await?;
    assert_eq!(run.column("of"), [json!("new"), json!("new")]);
    Ok(())
}

/// Whatever is asked of it, the plugin writes nothing: no topic, no group, no offset. Reading makes the broker create
/// `__consumer_offsets`, and that is all.
#[tokio::test]
async fn nothing_is_ever_written() -> Result<()> {
    let kafka = Kafka::start()?;
    kafka.create_topic("only", 2)?;
    kafka.produce("only", &[Record::value(r#"{"n":1}"#); 3])?;
    let host = Host::on(&kafka, json!({"metadataInterval": 1000})).await?;
    let before = (
        kafka.topics()?,
        kafka.groups()?,
        kafka.end_offset("only", 0)?,
    );

    host.plugin.check_health(&host.source).await?;
    for url in [
        "topics",
        "topics?search=missing&internal=true",
        "partitions?topic=only",
        "partitions?topic=missing",
    ] {
        host.get(url).await?;
    }
    for keys in [
        json!({}),
        json!({"autoOffsetReset": "latest"}),
        json!({"autoOffsetReset": "lastN", "lastN": 2}),
    ] {
        let (_, mut run) = host.watch(query("only", keys.clone())).await?;
        run.linger(Duration::from_millis(1_500)).await?;
        for missing in [
            query("missing", keys.clone()),
            query("only", json!({"partition": 9})),
        ] {
            let answer = host.query(missing).await?;
            assert_ne!(answer.error, "");
            assert!(!answer.has_live(), "a query that is wrong has no stream");
        }
    }
    host.plugin.shutdown().await;
    tokio::time::sleep(Duration::from_secs(1)).await;
    let mut topics: BTreeMap<_, _> = kafka.topics()?;
    topics.remove("__consumer_offsets");
    assert_eq!(
        (topics, kafka.groups()?, kafka.end_offset("only", 0)?),
        before
    );
    Ok(())
}
