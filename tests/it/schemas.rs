//! Records whose schemas a registry has: each by its own, and nobody waits who need not.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use anyhow::Result;
use odd_registry::{Book, Entry, Server};
use real_kafka::{Kafka, Record};
use serde_json::{Value, json};

use super::support::{Host, query};

const A: &str = r#"{"type":"record","name":"R","fields":[{"name":"a","type":"int"}]}"#;
const A_AND_B: &str = r#"{"type":"record","name":"R","fields":[{"name":"a","type":"int"},{"name":"b","type":"string"}]}"#;
const GUID: &str = "01234567-89ab-cdef-0123-456789abcdef";

fn book(topic: &str) -> Book {
    let subject = format!("{topic}-value");
    let second = Entry {
        subject: subject.clone(),
        version: 2,
        id: 2,
        guid: GUID.to_owned(),
        text: A_AND_B.to_owned(),
        ..Entry::default()
    };
    let key = format!("{topic}-key");
    Book::default()
        .schema(&subject, 1, A)
        .entry(second)
        .schema(&key, 3, r#""string""#)
}

/// Frames a body as Confluent's serializers do.
fn framed(id: u8, body: &[u8]) -> Vec<u8> {
    [&[0, 0, 0, 0, id], body].concat()
}

async fn host(registry: &Server) -> Result<Host> {
    Host::on(
        Kafka::shared(),
        json!({ "schemaRegistryUrl": registry.url() }),
    )
    .await
}

fn avro(topic: &str, keys: &Value) -> Value {
    let mut model = query(topic, json!({ "messageFormat": "avro" }));
    for (key, value) in keys.as_object().into_iter().flatten() {
        model[key] = value.clone();
    }
    model
}

/// A15; keys, headers and raw records beside.
#[tokio::test]
async fn each_record_by_its_own_schema() -> Result<()> {
    let topic = "schemas-mixed";
    let book = book(topic);
    let registry = Server::start(move |request| book.answer(request))?;
    let (kafka, host) = (Kafka::shared(), host(&registry).await?);
    kafka.create_topic(topic, 1)?;
    let guid = b"\x01\x01\x23\x45\x67\x89\xab\xcd\xef\x01\x23\x45\x67\x89\xab\xcd\xef";
    let headers = [("__value_schema_id", Some(&guid[..]))];
    let key = framed(3, b"\x02k");
    let (one, two) = (framed(1, b"\x02"), framed(2, b"\x04\x02x"));
    kafka.produce(
        topic,
        &[
            Record::value(&one).keyed(&key),
            Record::value(&two),
            Record::value(b"\x06\x02y").with_headers(&headers),
            Record::value(b"\x08\x02z"),
        ],
    )?;
    // The end of a transaction is an offset without a record.
    let producer = kafka.transactional(topic)?;
    producer.begin()?;
    producer.send(topic, Record::value(&one))?;
    producer.commit()?;
    kafka.wait_for_end_offset(topic, 0, 6)?;

    let asked = Instant::now();
    let (answer, mut run) = host
        .watch(avro(topic, &json!({ "keyFormat": "avro" })))
        .await?;
    assert!(
        asked.elapsed() < Duration::from_secs(4),
        "the end was not seen"
    );
    assert_eq!(
        answer.column("a"),
        [json!(1), json!(2), json!(3), json!(4), json!(1)]
    );
    assert_eq!(
        answer.column("b"),
        [json!(null), json!("x"), json!("y"), json!("z"), json!(null)]
    );
    assert_eq!(answer.column("key")[0], "k");
    kafka.produce(topic, &[Record::value(&two), Record::value(&one)])?;
    run.until_records(2).await?;
    assert_eq!(run.column("a"), [json!(2), json!(1)]);
    Ok(())
}

/// S01: 500 records, one question; and the next good record is shown.
#[tokio::test]
async fn an_unknown_schema_is_an_error_row_a_record() -> Result<()> {
    let topic = "schemas-unknown";
    let book = book(topic);
    let registry = Server::start(move |request| book.answer(request))?;
    let (kafka, host) = (Kafka::shared(), host(&registry).await?);
    kafka.create_topic(topic, 1)?;
    let (unknown, good) = (framed(99, b"\x02"), framed(1, b"\x02"));
    let mut records = vec![Record::value(&unknown); 500];
    records.push(Record::value(&good));
    kafka.produce(topic, &records)?;
    let (answer, mut run) = host.watch(avro(topic, &json!({}))).await?;
    assert_eq!(answer.count(), 501, "{:?}", answer.rows.last());
    let error = answer.rows[0].error().unwrap_or_default();
    for part in ["id 99", "404"] {
        assert!(error.contains(part), "{error}");
    }
    assert_eq!(answer.rows[500].cell("a"), 1);
    kafka.produce(topic, &[Record::value(&unknown), Record::value(&good)])?;
    run.until_records(2).await?;
    assert!(
        run.rows[0]
            .error()
            .is_some_and(|error| error.contains("404"))
    );
    let asked = registry.requests();
    let asked: Vec<_> = asked
        .iter()
        .filter(|request| request.path().ends_with("/99"))
        .collect();
    assert!(asked.len() <= 2, "{} questions", asked.len());
    Ok(())
}

#[tokio::test]
async fn without_a_registry_the_row_says_so() -> Result<()> {
    let (kafka, host) = (Kafka::shared(), Host::shared().await?);
    let topic = "schemas-none";
    kafka.create_topic(topic, 1)?;
    kafka.produce(topic, &[Record::value(&framed(7, b"\x02"))])?;
    let answer = host.query(avro(topic, &json!({}))).await?;
    let error = answer.rows[0].error().unwrap_or_default();
    for part in ["id 7", "schemaRegistryUrl"] {
        assert!(error.contains(part), "{error}");
    }
    Ok(())
}

/// A slow answer delays the partition that needs it, in its order; the others go on.
#[tokio::test]
async fn only_the_partition_of_the_record_waits() -> Result<()> {
    let topic = "schemas-slow";
    let book = book(topic);
    let registry = Server::start(move |request| {
        let delay = Duration::from_secs(if request.path().ends_with("/2") { 3 } else { 0 });
        book.answer(request).after(delay)
    })?;
    let (kafka, host) = (Kafka::shared(), host(&registry).await?);
    kafka.create_topic(topic, 2)?;
    let (_, mut run) = host.watch(avro(topic, &json!({}))).await?;
    let (one, two) = (framed(1, b"\x02"), framed(2, b"\x04\x02x"));
    let slow: Vec<_> = (0..50)
        .map(|n| Record::value(if n % 3 == 0 { &two } else { &one }).to(1))
        .collect();
    kafka.produce(topic, &slow)?;
    kafka.wait_for_end_offset(topic, 1, 50)?;
    let asked = Instant::now();
    kafka.produce(topic, &[Record::value(&one); 20])?;
    run.until("partition 0", |seen| seen.offsets(0).len() == 20)
        .await?;
    assert!(
        asked.elapsed() < Duration::from_secs(2),
        "partition 0 waited"
    );
    assert_eq!(run.offsets(1), Vec::<i64>::new());
    run.until("partition 1", |seen| seen.offsets(1).len() == 50)
        .await?;
    assert_eq!(run.offsets(1), (0..50).collect::<Vec<_>>());
    assert!(run.records().all(|row| row.error().is_none()));

    // An answer that takes longer than a query may: what waited comes with the stream.
    let answer = host.query(avro(topic, &json!({ "partition": 0 }))).await?;
    assert_eq!(answer.count(), 20);
    Ok(())
}

/// What a bounded query cannot wait for is the stream's first.
#[tokio::test]
async fn what_waits_when_time_is_up_comes_with_the_stream() -> Result<()> {
    let topic = "schemas-late";
    let book = book(topic);
    let registry = Server::start(move |request| {
        let delay = Duration::from_secs(if request.path().ends_with("/2") { 8 } else { 0 });
        book.answer(request).after(delay)
    })?;
    let settings = json!({ "schemaRegistryUrl": registry.url(), "schemaRegistryTimeout": 20_000 });
    let (kafka, host) = (Kafka::shared(), Host::on(Kafka::shared(), settings).await?);
    kafka.create_topic(topic, 1)?;
    let (one, two) = (framed(1, b"\x02"), framed(2, b"\x04\x02x"));
    kafka.produce(topic, &[&one, &two, &one].map(Record::value))?;
    let (answer, mut run) = host.watch(avro(topic, &json!({}))).await?;
    assert_eq!(answer.offsets(0), [0]);
    run.until_records(2).await?;
    assert_eq!(run.offsets(0), [1, 2]);
    assert_eq!(run.column("b"), [json!("x"), json!(null)]);
    Ok(())
}

/// A registry that never answers holds up no panel that is closed; one that is gone takes no schema along.
#[tokio::test]
async fn a_registry_that_hangs_or_goes() -> Result<()> {
    let topic = "schemas-gone";
    let book = book(topic);
    let gone = Arc::new(AtomicBool::new(false));
    let is_gone = Arc::clone(&gone);
    let registry = Server::start(move |request| {
        let hangs = is_gone.load(Ordering::Relaxed);
        let delay = Duration::from_secs(if hangs { 3_600 } else { 0 });
        book.answer(request).after(delay)
    })?;
    let (kafka, host) = (Kafka::shared(), host(&registry).await?);
    kafka.create_topic(topic, 1)?;
    let (one, two) = (framed(1, b"\x02"), framed(2, b"\x04\x02x"));
    kafka.produce(topic, &[Record::value(&one)])?;
    let (answer, mut run) = host.watch(avro(topic, &json!({}))).await?;
    assert_eq!(answer.column("a"), [1]);
    gone.store(true, Ordering::Relaxed);
    kafka.produce(topic, &[Record::value(&one)])?;
    run.until_records(1).await?;
    assert_eq!(run.column("a"), [1], "a schema that is known");
    let other = host
        .query(avro(topic, &json!({ "bytesAs": "hex" })))
        .await?;
    assert_eq!(
        other.column("a"),
        [1, 1],
        "a schema that another stream knows"
    );

    kafka.produce(topic, &[Record::value(&two)])?;
    run.linger(Duration::from_millis(500)).await?;
    assert_eq!(run.count(), 1, "the record waits");
    drop(run);
    let readers = || -> Result<usize> {
        let tasks = std::fs::read_dir(format!("/proc/{}/task", host.plugin.pid()))?;
        let names = tasks.map(|task| std::fs::read_to_string(task?.path().join("comm")));
        Ok(names
            .filter_map(Result::ok)
            .filter(|name| name.trim() == "kafka-reader")
            .count())
    };
    let dropped = Instant::now();
    while readers()? > 0 {
        assert!(
            dropped.elapsed() < Duration::from_secs(3),
            "the reader waits for the registry"
        );
        tokio::time::sleep(Duration::from_millis(20)).await;
    }
    Ok(())
}
