//! Detect: what the last records of a topic are, with the rights of a query.

use std::time::{Duration, Instant};

use anyhow::Result;
use odd_registry::{Book, Entry, Kind, Reply, Server};
use real_kafka::{Kafka, Operation, Record, Resource};
use serde_json::{Value, json};

use super::support::{Host, query};

const READING: &str = r#"{"type":"record","name":"Reading","namespace":"acme","fields":[{"name":"a","type":"int"},{"name":"b","type":"string"}]}"#;

fn registry() -> Result<Server> {
    let book = Book::default()
        .schema("detect-avro-value", 7, READING)
        .entry(Entry {
            subject: "detect-protobuf-value".into(),
            version: 1,
            id: 8,
            kind: Kind::Protobuf,
            text: "syntax = \"proto3\"; package acme; message Event { int32 n = 1; }".into(),
            ..Entry::default()
        });
    Server::start(move |request| book.answer(request))
}

#[tokio::test]
async fn proposals_read_the_topic() -> Result<()> {
    let (kafka, registry) = (Kafka::shared(), registry()?);
    let host = Host::on(kafka, json!({ "schemaRegistryUrl": registry.url() })).await?;
    let avro: &[u8] = b"\0\0\0\0\x07\x02\x04hi";
    let protobuf: &[u8] = b"\0\0\0\0\x08\0\x08\x05";
    for (topic, key, value, format, key_format, why, column) in [
        (
            "detect-avro",
            &b"k"[..],
            avro,
            "avro",
            "string",
            "5 bytes of Confluent framing, id 7 is Avro `acme.Reading`",
            ("b", json!("hi")),
        ),
        (
            "detect-protobuf",
            b"\0\0\0\0\x07\x02\x04hi",
            protobuf,
            "protobuf",
            "avro",
            "5 bytes of Confluent framing, id 8 is Protobuf `acme.Event`",
            ("n", json!(5)),
        ),
        (
            "detect-json",
            b"\xff",
            br#"{"n":5}"#,
            "json",
            "base64",
            "every value is JSON",
            ("n", json!(5)),
        ),
        (
            "detect-lines",
            br#"{"id":1}"#,
            b"m,t=x v=1.5",
            "lineprotocol",
            "json",
            "every value is InfluxDB line protocol",
            ("value", json!(1.5)),
        ),
        (
            "detect-text",
            b"k",
            b"hello",
            "plaintext",
            "string",
            "every value is text",
            ("message", json!("hello")),
        ),
    ] {
        kafka.create_topic(topic, 3)?;
        let records: Vec<_> = (0..30)
            .map(|n| Record::value(value).keyed(key).to(n % 3))
            .collect();
        kafka.produce(topic, &records)?;
        let answer = host
            .get(&format!("detect?topic={topic}&partition=all"))
            .await?;
        let body = answer.json();
        assert_eq!(answer.status, 200, "{topic}: {body}");
        assert_eq!(
            (&body["topic"], &body["records"]),
            (&json!(topic), &json!(20)),
            "{topic}"
        );
        assert_eq!(
            (&body["value"]["format"], &body["key"]["format"]),
            (&json!(format), &json!(key_format)),
            "{topic}: {body}"
        );
        assert_eq!(body["value"]["why"], json!(why), "{topic}");
        assert_eq!(
            body["rows"]["rows"].as_array().map(Vec::len),
            Some(5),
            "{topic}: {body}"
        );

        // What is proposed reads the topic as the preview shows it.
        let mut keys = body["value"]["query"].clone();
        if let (Value::Object(keys), Some(more)) = (&mut keys, body["key"]["query"].as_object()) {
            keys.extend(more.clone());
        }
        let rows = host.query(query(topic, keys)).await?;
        assert_eq!(
            (rows.count(), &rows.column(column.0)[0]),
            (30, &column.1),
            "{topic}: {:?}",
            rows.rows.first()
        );
        let shown = body["rows"]["columns"]
            .as_array()
            .cloned()
            .unwrap_or_default();
        assert!(shown.contains(&json!(column.0)), "{topic}: {shown:?}");
    }
    let one = host
        .get("detect?topic=detect-json&partition=2")
        .await?
        .json();
    assert_eq!(one["records"], json!(10));
    Ok(())
}

#[tokio::test]
async fn what_nobody_can_read_is_shown_as_bytes() -> Result<()> {
    let kafka = Kafka::shared();
    let host = Host::shared().await?;
    for (topic, records, format, hex) in [
        (
            "detect-bytes",
            vec![Record::value(b"\xff\x00\x01")],
            json!(null),
            json!(["ff 00 01 |...| 3 bytes"]),
        ),
        (
            "detect-unnamed",
            vec![Record::value(b"\0\0\0\0\x07\x02\x04hi")],
            json!("avro"),
            json!(["00 00 00 00 07 02 04 68 69 |.......hi| 9 bytes"]),
        ),
        ("detect-empty", vec![], json!(null), json!(null)),
    ] {
        kafka.create_topic(topic, 1)?;
        kafka.produce(topic, &records)?;
        let body = host.get(&format!("detect?topic={topic}")).await?.json();
        assert_eq!(
            (&body["records"], &body["value"]["format"], &body["hex"]),
            (&json!(records.len()), &format, &hex),
            "{topic}: {body}"
        );
        assert_eq!(body["rows"], json!(null), "{topic}");
    }
    Ok(())
}

#[tokio::test]
async fn a_look_has_the_rights_of_a_query() -> Result<()> {
    let kafka = Kafka::shared();
    kafka.create_topic("detect-rights", 1)?;
    kafka.produce("detect-rights", &[Record::value("{}")])?;
    let host = Host::on(kafka, json!({ "topicAllow": "other-*, detect-missing" })).await?;
    for (url, status) in [
        ("detect?topic=detect-rights", 403),
        ("detect?topic=detect-missing", 404),
        ("detect", 400),
        ("detect?topic=other-x&partition=many", 400),
    ] {
        let answer = host.get(url).await?;
        assert_eq!(answer.status, status, "{url}: {}", answer.json());
        assert!(
            answer.json()["error"]
                .as_str()
                .is_some_and(|text| !text.is_empty()),
            "{url}"
        );
    }
    let bob = Host::as_bob(kafka).await?;
    kafka.allow("bob", Operation::Describe, Resource::Topic("detect-rights"))?;
    let answer = bob.get("detect?topic=detect-rights").await?;
    let body = answer.json();
    let error = body["error"].as_str().unwrap_or_default();
    assert!(
        answer.status == 403 && error.contains("right Read on it"),
        "{} {body}",
        answer.status
    );
    Ok(())
}

#[tokio::test]
async fn a_slow_registry_does_not_hold_the_answer() -> Result<()> {
    let slow = Server::start(|_| Reply::json(200, &json!({})).after(Duration::from_mins(1)))?;
    let kafka = Kafka::shared();
    kafka.create_topic("detect-slow", 1)?;
    kafka.produce("detect-slow", &[Record::value(b"\0\0\0\0\x07\x02\x04hi")])?;
    let host = Host::on(
        kafka,
        json!({ "schemaRegistryUrl": slow.url(), "schemaRegistryTimeout": 500 }),
    )
    .await?;
    let start = Instant::now();
    let body = host.get("detect?topic=detect-slow").await?.json();
    assert!(start.elapsed() < Duration::from_secs(8));
    let why = body["value"]["why"].as_str().unwrap_or_default();
    assert!(
        why.contains("is a guess") && why.contains("no answer within 500 ms"),
        "{body}"
    );
    Ok(())
}
