//! A real registry: Apicurio, by its own API and by Confluent's.

use std::io::{Read, Write};
use std::net::TcpStream;

use real_kafka::Registry as RealRegistry;

use super::*;

/// Sends JSON, and gives the answer's; again where a busy registry hangs up without a word.
fn post(url: &str, body: &Value) -> Value {
    let (authority, path) = url
        .strip_prefix("http://")
        .unwrap()
        .split_once('/')
        .unwrap();
    let body = body.to_string();
    let request = format!(
        "POST /{path} HTTP/1.0\r\nHost: {authority}\r\nContent-Type: application/json\r\nContent-Length: {}\r\n\r\n{body}",
        body.len()
    );
    let answer = (0..3).map(|_| {
        let mut stream = TcpStream::connect(authority).unwrap();
        stream.write_all(request.as_bytes()).unwrap();
        let mut answer = String::new();
        stream.read_to_string(&mut answer).unwrap();
        answer
    });
    let answer = answer
        .into_iter()
        .find(|answer| !answer.is_empty())
        .unwrap();
    let (head, body) = answer.split_once("\r\n\r\n").unwrap();
    assert!(head.contains(" 200 "), "{url}: {answer}");
    serde_json::from_str(body).unwrap()
}

/// Registers by Confluent's API; gives the id.
fn register(
    registry: &RealRegistry,
    subject: &str,
    kind: &str,
    text: &str,
    references: &Value,
) -> u32 {
    let url = format!("{}/subjects/{subject}/versions", registry.confluent());
    let answer = post(
        &url,
        &json!({ "schema": text, "schemaType": kind, "references": references }),
    );
    u32::try_from(answer["id"].as_u64().unwrap()).unwrap()
}

/// Registers by Apicurio's API; gives global and content id.
fn create(
    registry: &RealRegistry,
    artifact: &str,
    kind: &str,
    text: &str,
    references: &Value,
) -> (u64, u64) {
    let url = format!("{}/groups/default/artifacts", registry.apicurio());
    let content =
        json!({ "content": text, "contentType": "application/json", "references": references });
    let answer = post(
        &url,
        &json!({ "artifactId": artifact, "artifactType": kind, "firstVersion": { "content": content } }),
    );
    let version = &answer["version"];
    (
        version["globalId"].as_u64().unwrap(),
        version["contentId"].as_u64().unwrap(),
    )
}

const INNER: &str =
    r#"{"type":"record","name":"Inner","namespace":"acme","fields":[{"name":"n","type":"int"}]}"#;
const OUTER: &str = r#"{"type":"record","name":"Outer","namespace":"acme","fields":[{"name":"inner","type":"acme.Inner"}]}"#;
const OBJECT: &str = r#"{"$schema":"http://json-schema.org/draft-07/schema#","type":"object"}"#;
const MESSAGE: &str = "syntax = \"proto3\";\npackage acme;\nmessage Event {\n  int32 n = 1;\n}\n";

#[tokio::test]
async fn by_the_api_of_confluent() {
    let real = RealRegistry::shared();
    let registry = client(
        json!({ "schemaRegistryUrl": real.confluent(), "schemaRegistryTimeout": 5000 }),
        &[],
    );
    registry.check().await.unwrap();
    register(real, "real-inner", "AVRO", INNER, &json!([]));
    let references = json!([{ "name": "acme.Inner", "subject": "real-inner", "version": 1 }]);
    let outer = register(real, "real-outer", "AVRO", OUTER, &references);
    let event = register(real, "real%2Fevent", "PROTOBUF", MESSAGE, &json!([]));
    let object = register(real, "real-object", "JSON", OBJECT, &json!([]));
    for (id, kind, part, references) in [
        (SchemaId::Id(outer), SchemaKind::Avro, "Outer", 1),
        (latest("real-outer"), SchemaKind::Avro, "Outer", 1),
        (
            SchemaId::Id(event),
            SchemaKind::Protobuf,
            "message Event",
            0,
        ),
        (
            latest("real/event"),
            SchemaKind::Protobuf,
            "message Event",
            0,
        ),
        (SchemaId::Id(object), SchemaKind::Json, "object", 0),
    ] {
        let found = ask(&registry, id.clone()).await.unwrap();
        assert_eq!(
            (found.kind, found.references.len()),
            (kind, references),
            "{id}"
        );
        assert!(found.text.contains(part), "{id}: {}", found.text);
    }
    for id in [SchemaId::Id(999_999), latest("real-nothing")] {
        let error = ask(&registry, id).await.unwrap_err();
        assert!(
            matches!(
                error.cause,
                Cause::NotFound {
                    by_registry: true,
                    ..
                }
            ),
            "{error:?}"
        );
    }
}

#[tokio::test]
async fn by_its_own_api() {
    let real = RealRegistry::shared();
    let registry = client(
        json!({ "schemaRegistryUrl": real.apicurio(), "schemaRegistryType": "apicurio", "schemaRegistryTimeout": 5000 }),
        &[],
    );
    registry.check().await.unwrap();
    create(real, "own-inner", "AVRO", INNER, &json!([]));
    let references = json!([{ "name": "acme.Inner", "groupId": "default", "artifactId": "own-inner", "version": "1" }]);
    let (global, content) = create(real, "own-outer", "AVRO", OUTER, &references);
    let (event, _) = create(real, "own-event", "PROTOBUF", MESSAGE, &json!([]));
    let (object, _) = create(real, "own-object", "JSON", OBJECT, &json!([]));
    let number = |kind, id| SchemaId::Apicurio { kind, id };
    for (id, kind, part, references) in [
        (
            number(ApicurioId::Global, global),
            SchemaKind::Avro,
            "Outer",
            1,
        ),
        (
            number(ApicurioId::Content, content),
            SchemaKind::Avro,
            "Outer",
            1,
        ),
        (
            SchemaId::Id(u32::try_from(content).unwrap()),
            SchemaKind::Avro,
            "Outer",
            1,
        ),
        (latest("own-outer"), SchemaKind::Avro, "Outer", 1),
        (
            number(ApicurioId::Global, event),
            SchemaKind::Protobuf,
            "message Event",
            0,
        ),
        (
            number(ApicurioId::Global, object),
            SchemaKind::Json,
            "object",
            0,
        ),
    ] {
        let found = ask(&registry, id.clone()).await.unwrap();
        assert_eq!(
            (found.kind, found.references.len()),
            (kind, references),
            "{id}"
        );
        assert!(found.text.contains(part), "{id}: {}", found.text);
    }
    for id in [number(ApicurioId::Global, 999_999), latest("own-nothing")] {
        let error = ask(&registry, id).await.unwrap_err();
        assert!(
            matches!(
                error.cause,
                Cause::NotFound {
                    by_registry: true,
                    ..
                }
            ),
            "{error:?}"
        );
    }
    // By the address of the other API too: a record may name its schema by Apicurio's ids all the same.
    let other = client(json!({ "schemaRegistryUrl": real.confluent() }), &[]);
    let found = ask(&other, number(ApicurioId::Global, global))
        .await
        .unwrap();
    assert!(found.text.contains("Outer"));
}
