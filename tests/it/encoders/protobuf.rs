//! Protobuf, by protoc and Confluent's serializer, which registers schemas as descriptors in base64.

use anyhow::Result;
use serde_json::{Value, json};

use super::Written;

fn registry() -> Value {
    json!({"messageFormat": "protobuf", "protobufSchemaSource": "schemaRegistry"})
}

/// Imports and well-known types; a field that is absent is null where its kind can tell, a zero that is present is a zero.
#[tokio::test]
async fn readings() -> Result<()> {
    let table = r#"
        ["any", "at.lat", "at.lon", "blob", "checked", "code", "codes.-7", "device", "error", "fixed", "large", "limits.plain.high", "limits[\"a.b\"].high", "maybe", "measured", "more", "samples", "signed", "single", "state", "tags", "took"]
        ["{\"@type\":\"type.googleapis.com/acme.Other\",\"z\":\"inside\"}", 51.5, -0.125, "AP8=", false, 404, "minus", "d1", null, 1, 9007199254740991, 1.5, 0, 2.5, "@2026-01-01T12:00:00.25Z", "{\"list\":[\"x\",null,1.5]}", "[1,-1,300]", -9007199254740991, 0.5, "RUNNING", "[\"a\",\"\"]", 1.5]
        [null, null, null, "", null, null, null, "", null, 0, 0, null, null, null, null, null, "[]", 0, 0, "UNKNOWN", "[]", null]
        [null, 0, 0, "", true, null, null, "", "", 0, 0, null, null, 0, "@1970-01-01T00:00:00Z", null, "[]", 0, 0, "7", "[]", 0]
    "#;
    let written = Written::case("protobuf", "readings").await?;
    written.shows(registry(), table).await
}

/// The record says which message of its file it is: the second, one inside another, one inside that.
#[tokio::test]
async fn message_indexes() -> Result<()> {
    let table = r#"
        ["label", "n", "z"]
        [null, null, "second"]
        ["nested", null, null]
        [null, 5, null]
    "#;
    let written = Written::case("protobuf", "indexes").await?;
    written.shows(registry(), table).await
}

#[tokio::test]
async fn message_indexes_of_old_clients() -> Result<()> {
    let table = r#"
        ["label", "n", "z"]
        [null, null, "second"]
        ["nested", null, null]
        [null, 5, null]
    "#;
    let written = Written::case("protobuf", "indexes_of_old_clients").await?;
    written.shows(registry(), table).await
}

#[tokio::test]
async fn proto2() -> Result<()> {
    let table = r#"
        ["currency", "customer.name", "id", "kind", "loose", "packed"]
        ["SEK", "Ada", 1, "WHOLESALE", "[3,4]", "[1,2]"]
        [null, null, 2, null, "[]", "[]"]
    "#;
    let written = Written::case("protobuf", "legacy").await?;
    written.shows(registry(), table).await
}

#[tokio::test]
async fn evolved() -> Result<()> {
    let table = r#"
        ["a", "b"]
        [0, null]
        [1, "x"]
        [2, null]
        [3, "x"]
    "#;
    let written = Written::case("protobuf", "evolved").await?;
    written.shows(registry(), table).await
}

#[tokio::test]
async fn a_key_in_protobuf_and_a_value_in_json() -> Result<()> {
    let table = r#"
        ["key.id", "key.site", "n"]
        [0, "north", 0]
        [1, "south", 1]
    "#;
    let written = Written::case("protobuf", "keys").await?;
    let keys = json!({"messageFormat": "json", "keyFormat": "protobuf", "keySchemaSource": "schemaRegistry"});
    written.shows(keys, table).await
}

/// Without a frame, by a descriptor or by the schema's source in the query.
#[tokio::test]
async fn bodies_with_an_inline_schema() -> Result<()> {
    let table = r#"
        ["id", "site"]
        [-1, "x"]
        [0, "x"]
    "#;
    let written = Written::case("protobuf", "bodies").await?;
    let source = include_str!("../../encoders/python/protos/key.proto");
    for schema in [written.said.as_str(), source] {
        let keys = json!({"messageFormat": "protobuf", "protobufSchemaSource": "inlineSchema", "protobufSchema": schema});
        let answer = written
            .host
            .query(crate::support::query(&written.topic, keys))
            .await?;
        assert_eq!(answer.error, "", "{schema}");
        written.compare("in the answer", &answer, &super::table_lines(table));
    }
    Ok(())
}
