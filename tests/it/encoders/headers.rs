//! Ids in headers: GUIDs, with message indexes behind them, and Apicurio's numbers.

use anyhow::Result;
use odd_registry::{Book, Entry, Kind, Server};
use real_kafka::Registry;
use serde_json::{Value, json};

use super::Written;

/// Has a case written, and a registry know the schemas that its writer printed.
async fn written(case: &'static str) -> Result<(Written, Server)> {
    let mut known = None;
    let written = Written::case_for("headers", case, |said| {
        let schemas: Vec<Value> = serde_json::from_str(said)?;
        let book = schemas
            .iter()
            .zip(1..)
            .fold(Book::default(), |book, (schema, id)| {
                book.entry(Entry {
                    id,
                    guid: text(&schema["guid"]),
                    kind: match schema["type"].as_str() {
                        Some("PROTOBUF") => Kind::Protobuf,
                        Some("JSON") => Kind::Json,
                        _ => Kind::Avro,
                    },
                    text: text(&schema["schema"]),
                    ..Entry::default()
                })
            });
        let server = known.insert(Server::start(move |request| book.answer(request))?);
        Ok(json!({"schemaRegistryUrl": server.url()}))
    });
    let written = written.await?;
    Ok((written, known.expect("it was started")))
}

fn text(value: &Value) -> String {
    value.as_str().unwrap_or_default().to_owned()
}

#[tokio::test]
async fn avro() -> Result<()> {
    let table = r#"
        ["key", "a", "b"]
        [0, 0, null]
        [1, 1, "b1"]
        [2, 2, null]
    "#;
    let (written, _registry) = written("avro").await?;
    let query = json!({
        "messageFormat": "avro", "avroSchemaSource": "schemaRegistry", "keyFormat": "avro", "keySchemaSource": "schemaRegistry",
    });
    written.shows(query, table).await
}

#[tokio::test]
async fn protobuf() -> Result<()> {
    let table = r#"
        ["label", "n"]
        [null, 5]
        ["deep", null]
    "#;
    let (written, _registry) = written("protobuf").await?;
    let query = json!({"messageFormat": "protobuf", "protobufSchemaSource": "schemaRegistry"});
    written.shows(query, table).await
}

#[tokio::test]
async fn json_schema() -> Result<()> {
    let table = r#"
        ["a"]
        [5]
    "#;
    let (written, _registry) = written("json_schema").await?;
    written.shows(json!({"messageFormat": "json"}), table).await
}

#[tokio::test]
async fn apicurio() -> Result<()> {
    let table = r#"
        ["a", "b"]
        [0, null]
        [1, "b1"]
    "#;
    let settings = json!({"schemaRegistryType": "apicurio", "schemaRegistryUrl": Registry::shared().apicurio()});
    let written = Written::case_for("headers", "apicurio", |_| Ok(settings)).await?;
    let query = json!({"messageFormat": "avro", "avroSchemaSource": "schemaRegistry"});
    written.shows(query, table).await
}
