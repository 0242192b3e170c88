//! Whether a schema, or the registry, is as it should be: the buttons of the editors.
//!
//! `status` is 1 where all is well and 2 where not, as Grafana counts health.

use std::sync::LazyLock;
use std::time::Duration;

use serde::Deserialize;
use serde_json::{Value, json};
use tokio::sync::Semaphore;
use tokio::task::spawn_blocking;
use tokio::time::timeout;

use super::BAD_REQUEST;
use crate::config::{AvroSchema, ProtobufSchema};
use crate::registry::{Cause, Registry};

/// The most bytes of a request's body: a schema of 1 MiB in JSON.
const MAX_BODY: usize = (1 << 20) + 64 * 1024;
/// How long a schema may take to compile before the answer is that it takes too long.
const COMPILE_LIMIT: Duration = Duration::from_secs(5);

/// How many schemas compile at the same time; what goes on after its time keeps its place.
static COMPILING: LazyLock<Semaphore> = LazyLock::new(|| Semaphore::new(2));

type Verdict = (u16, Value);

/// Asks the registry that the settings name.
pub(super) async fn registry(registry: &Registry) -> Verdict {
    match registry.check().await {
        Ok(()) => good("Schema registry is accessible"),
        Err(error) => bad(&match error.cause {
            Cause::NotConfigured => {
                "Schema registry URL is not configured: set it above, then save and try again"
                    .to_owned()
            }
            Cause::Settings(fault) => fault.to_string(),
            cause => format!("Cannot connect to schema registry: {cause}"),
        }),
    }
}

/// Compiles the Avro schema of a request.
pub(super) async fn avro(body: &[u8]) -> Verdict {
    compile(body, COMPILE_LIMIT, |text| {
        let schema = AvroSchema::parse(text).map_err(|reason| {
            match serde_json::from_str::<Value>(text) {
                Ok(_) => format!("Invalid Avro schema: {reason}"),
                Err(error) => format!("Invalid JSON format: {error}"),
            }
        })?;
        Ok(match schema.name() {
            Some(name) => format!("Schema is valid: `{name}`"),
            None => VALID.to_owned(),
        })
    })
    .await
}

/// Compiles the Protobuf schema of a request.
pub(super) async fn protobuf(body: &[u8]) -> Verdict {
    compile(body, COMPILE_LIMIT, |text| {
        let schema = ProtobufSchema::parse(text)
            .map_err(|reason| format!("Invalid Protobuf schema: {reason}"))?;
        Ok(format!("Schema is valid: {}", schema.message_names()))
    })
    .await
}

const VALID: &str = "Schema is valid";

#[derive(Deserialize)]
struct Body {
    #[serde(default)]
    schema: Option<String>,
}

/// Runs `check` on the schema of a request, on a thread and within its time.
async fn compile(
    body: &[u8],
    limit: Duration,
    check: fn(&str) -> Result<String, String>,
) -> Verdict {
    if body.len() > MAX_BODY {
        return bad(&format!(
            "the schema has {} KiB, and at most {} KiB are read",
            body.len() / 1024,
            (1 << 20) / 1024
        ));
    }
    let Ok(Body { schema }) = serde_json::from_slice(body) else {
        return (
            BAD_REQUEST,
            json!({ "error": "Invalid JSON in request body: it must be {\"schema\": text}" }),
        );
    };
    let schema = schema.unwrap_or_default();
    if schema.trim().is_empty() {
        return bad("Schema cannot be empty");
    }
    let work = async move {
        let permit = COMPILING.acquire().await;
        spawn_blocking(move || {
            let _permit = permit;
            check(&schema)
        })
        .await
    };
    match timeout(limit, work).await {
        Ok(Ok(Ok(message))) => good(&message),
        Ok(Ok(Err(message))) => bad(&message),
        Ok(Err(_)) => bad(
            "this schema made the compiler fail, which is a fault of the plugin; records with it cannot be read",
        ),
        Err(_) => bad(&format!(
            "the schema takes longer than {} ms to compile: records with it cannot be read",
            limit.as_millis()
        )),
    }
}

fn good(message: &str) -> Verdict {
    (200, json!({ "status": 1, "message": message }))
}

fn bad(message: &str) -> Verdict {
    (BAD_REQUEST, json!({ "status": 2, "message": message }))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn request(schema: &str) -> Vec<u8> {
        json!({ "schema": schema }).to_string().into_bytes()
    }

    #[tokio::test]
    async fn avro_schemas() {
        for (schema, status, says) in [
            (
                r#"{"type":"record","name":"R","namespace":"a.b","fields":[]}"#,
                1,
                "Schema is valid: `a.b.R`",
            ),
            // A27: what is no object is a schema too.
            ("\"string\"", 1, VALID),
            (r#"["null","string"]"#, 1, VALID),
            ("  ", 2, "Schema cannot be empty"),
            ("{", 2, "Invalid JSON format: "),
            (r#"{"name":"R"}"#, 2, "Invalid Avro schema: "),
            (
                r#"{"type":"record","fields":[]}"#,
                2,
                "Invalid Avro schema: ",
            ),
            (
                r#"{"type":"record","name":"R"}"#,
                2,
                "Invalid Avro schema: ",
            ),
            // A25
            (
                r#"{"type":"record","name":"1bad","fields":[]}"#,
                2,
                "Invalid Avro schema: ",
            ),
            (
                r#"{"type":"record","name":"R","fields":[{"name":"a","type":"nope"}]}"#,
                2,
                "nope",
            ),
        ] {
            let (code, answer) = avro(&request(schema)).await;
            assert_eq!(code, if status == 1 { 200 } else { 400 }, "{schema}");
            assert_eq!(answer["status"], status, "{schema}");
            let message = answer["message"].as_str().unwrap();
            assert!(message.contains(says), "{schema}: {message}");
        }
    }

    #[tokio::test]
    async fn protobuf_schemas() {
        for (schema, status, says) in [
            (
                "syntax = \"proto3\"; package a.b; message R { int32 x = 1; }",
                1,
                "a.b.R",
            ),
            // P11
            (
                "syntax = \"proto3\"; import \"google/protobuf/timestamp.proto\"; message R { google.protobuf.Timestamp at = 1; }",
                1,
                "R",
            ),
            ("", 2, "Schema cannot be empty"),
            ("message R {", 2, "Invalid Protobuf schema: "),
            ("syntax = \"proto3\"; message R { Nope x = 1; }", 2, "Nope"),
            // P25
            ("edition = \"2023\"; message A {}", 1, "`A`"),
            ("edition = \"2024\"; message A {}", 2, "edition"),
        ] {
            let (code, answer) = protobuf(&request(schema)).await;
            assert_eq!(
                (code, &answer["status"]),
                (if status == 1 { 200 } else { 400 }, &json!(status)),
                "{schema}: {answer}"
            );
            let message = answer["message"].as_str().unwrap();
            assert!(message.contains(says), "{schema}: {message}");
        }
    }

    #[tokio::test]
    async fn bodies() {
        for body in [&b""[..], b"5", b"x", br#"{"schema":5}"#] {
            let (code, answer) = avro(body).await;
            assert_eq!(code, 400);
            assert!(
                answer["error"]
                    .as_str()
                    .unwrap()
                    .starts_with("Invalid JSON in request body"),
                "{answer}"
            );
        }
        assert_eq!(avro(b"{}").await.1["message"], "Schema cannot be empty");
        let (_, answer) = avro(&request(&" ".repeat(MAX_BODY))).await;
        assert!(
            answer["message"].as_str().unwrap().contains("1024 KiB"),
            "{answer}"
        );
    }

    #[tokio::test]
    async fn what_takes_too_long_or_panics() {
        let slow = |_: &str| {
            std::thread::sleep(Duration::from_millis(300));
            Ok(String::new())
        };
        let (_, answer) = compile(&request("x"), Duration::from_millis(100), slow).await;
        assert!(
            answer["message"]
                .as_str()
                .unwrap()
                .contains("longer than 100 ms"),
            "{answer}"
        );
        let (_, answer) = compile(&request("x"), COMPILE_LIMIT, |_| panic!("a test's own")).await;
        assert!(
            answer["message"]
                .as_str()
                .unwrap()
                .contains("fault of the plugin"),
            "{answer}"
        );
    }
}
