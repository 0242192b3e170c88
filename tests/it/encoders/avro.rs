//! Avro, by Confluent's serializer and by fastavro.

use anyhow::Result;
use serde_json::{Value, json};

use super::Written;

fn registry() -> Value {
    json!({"messageFormat": "avro", "avroSchemaSource": "schemaRegistry"})
}

/// Two versions of a schema in one topic: each record is read with the one that it was written with.
#[tokio::test]
async fn evolved() -> Result<()> {
    let table = r#"
        ["a", "b"]
        [0, null]
        [1, "b1"]
        [2, null]
        [3, "b3"]
    "#;
    let written = Written::case("avro", "evolved").await?;
    written.shows(registry(), table).await
}

/// The same topic read as one schema of the reader's own: a field renamed, one left out, one with a default.
#[tokio::test]
async fn evolved_for_a_reader() -> Result<()> {
    let table = r#"
        ["b", "count", "more"]
        ["none", 0, true]
        ["b1", 1, true]
        ["none", 2, true]
        ["b3", 3, true]
    "#;
    let reader = json!({"type": "record", "name": "Reading", "fields": [
        {"name": "count", "aliases": ["a"], "type": "long"},
        {"name": "b", "type": "string", "default": "none"},
        {"name": "more", "type": "boolean", "default": true},
    ]});
    let written = Written::case("avro", "evolved").await?;
    let mut keys = registry();
    keys["avroReaderSchema"] = json!(reader.to_string());
    written.shows(keys, table).await
}

#[tokio::test]
async fn references_between_subjects() -> Result<()> {
    let table = r#"
        ["start.at.x", "start.at.y", "start.name", "stop.at.x", "stop.at.y", "stop.name"]
        [1.5, -2, "home", null, null, null]
        [1.5, -2, "home", 0.25, 8, "sea"]
    "#;
    let written = Written::case("avro", "references").await?;
    written.shows(registry(), table).await
}

#[tokio::test]
async fn logical_types() -> Result<()> {
    let written = Written::case("avro", "logical").await?;
    written.shows(registry(), LOGICAL).await
}

#[tokio::test]
async fn logical_types_with_an_inline_schema() -> Result<()> {
    let written = Written::case("avro", "logical_raw").await?;
    let schema = json!({"avroSchemaSource": "inlineSchema", "avroSchema": written.said, "messageFormat": "avro"});
    written.shows(schema, LOGICAL).await
}

const LOGICAL: &str = r#"
    ["at_ms", "at_us", "clock_ms", "clock_us", "day", "id", "maybe", "price", "rate", "wall_ms", "wall_us"]
    ["@2026-03-29T01:30:15.123Z", "@2026-03-29T01:30:15.123Z", "23:59:59.999", "01:02:03.000004", "@2026-03-29T00:00:00Z", "6f9619ff-8b86-d011-b42d-00cf4fc964ff", null, -123.45, 0.0001, "2026-03-29T01:30:15.123", "2026-03-29T01:30:15.123456"]
    ["@1969-12-31T23:59:59.999Z", "@1969-12-31T23:59:59.999Z", "00:00:00.000", "00:00:00.000000", "@1969-12-31T00:00:00Z", "6f9619ff-8b86-d011-b42d-00cf4fc964ff", "@2026-03-29T01:30:15.123Z", 99999999.99, -99999999.9999, "1969-12-31T23:59:59.999", "1969-12-31T23:59:59.999999"]
"#;

/// Every type of the specification; a union's branch is the one that was written, whatever its value looks like.
#[tokio::test]
async fn shapes() -> Result<()> {
    let table = r#"
        ["blob", "by_name.plain.n", "by_name[\"\"].n", "by_name[\"a.b\"].n", "double", "either", "large", "list", "on", "shape.r", "shape.side", "single", "small", "suit", "tag", "text"]
        ["AP8=", 1, 3, 2, -1e300, null, 9007199254740991, "[1,2,3]", true, 1, null, 0.5, -2147483648, "SPADES", "YWJj", "Malmö 🫖"]
        ["AP8=", null, null, null, -1e300, "x", 9007199254740991, "[]", false, null, 2, 0.5, -2147483648, "SPADES", "YWJj", "Malmö 🫖"]
        ["AP8=", null, null, null, -1e300, "5", 9007199254740991, "[]", false, null, 2, 0.5, -2147483648, "HEARTS", "YWJj", "Malmö 🫖"]
    "#;
    let written = Written::case("avro", "shapes").await?;
    written.shows(registry(), table).await
}

/// A type that holds itself: its columns end at the data source's depth.
#[tokio::test]
async fn recursive() -> Result<()> {
    let table = r#"
        ["label", "next.label", "next.next.label", "next.next.next.label", "next.next.next.next.label", "next.next.next.next.next"]
        ["a", "b", "c", null, null, null]
    "#;
    let written = Written::case("avro", "recursive").await?;
    written.shows(registry(), table).await
}

/// Five bytes, all of them frame.
#[tokio::test]
async fn no_fields() -> Result<()> {
    let written = Written::case("avro", "empty").await?;
    written.shows(registry(), "[]\n[]\n[]").await
}

#[tokio::test]
async fn keys() -> Result<()> {
    let table = r#"
        ["key.id", "key.site", "celsius"]
        [0, "north", 20.5]
        [1, "south", 21.5]
        [0, "north", null]
    "#;
    let written = Written::case("avro", "keys").await?;
    let mut keys = registry();
    keys["keyFormat"] = json!("avro");
    written.shows(keys, table).await
}

#[tokio::test]
async fn a_key_in_avro_and_a_value_in_json() -> Result<()> {
    let table = r#"
        ["key", "n"]
        [7, 7]
        [-7, -7]
    "#;
    let written = Written::case("avro", "key_of_json").await?;
    let keys =
        json!({"messageFormat": "json", "keyFormat": "avro", "keySchemaSource": "schemaRegistry"});
    written.shows(keys, table).await
}

/// Subjects named after the record, and after topic and record: a framed record names its schema by id, whatever its subject.
#[tokio::test]
async fn subject_strategies_of_framed_records() -> Result<()> {
    let table = r#"
        ["at", "code"]
        [5, null]
        [null, 3]
    "#;
    let written = Written::case("avro", "strategies").await?;
    written.shows(registry(), table).await
}

/// Bodies without a frame are read by the latest schema of the subject that the query names.
#[tokio::test]
async fn subject_strategies_of_raw_records() -> Result<()> {
    let table = r#"
        ["v"]
        [1]
        [-1]
    "#;
    let written = Written::case("avro", "raw_of_subjects").await?;
    let (topic, record) = (&written.topic, &written.said);
    for strategy in [
        json!({}),
        json!({"subjectStrategy": "record", "subject": record}),
        json!({"subjectStrategy": "topicRecord", "subject": record}),
        json!({"subjectStrategy": "explicit", "subject": format!("{topic}-explicit")}),
    ] {
        let mut keys = registry();
        keys["framing"] = json!("none");
        for (key, value) in strategy.as_object().into_iter().flatten() {
            keys[key] = value.clone();
        }
        let answer = written
            .host
            .query(crate::support::query(topic, keys))
            .await?;
        assert_eq!(answer.error, "", "{strategy}");
        written.compare(&strategy.to_string(), &answer, &super::table_lines(table));
    }
    Ok(())
}

/// Good records around bad ones: each bad one is a row that says what is wrong, with the id where it has one.
#[tokio::test]
async fn bad_records() -> Result<()> {
    let table = r#"
        ["a", "_error"]
        ["first", null]
        [null, "…id 2147483647…"]
        [null, "…Avro…"]
        [null, "…Avro…"]
        [null, null]
        ["last", null]
    "#;
    let written = Written::case("avro", "mixed_with_garbage").await?;
    written.shows(registry(), table).await
}
