//! Apicurio's own API, version 3.

use hyper::header::HeaderName;
use serde::Deserialize;
use serde_json::Value;

use super::errors::Cause;
use super::http::{Answer, Http, escaped};
use super::references::{Found, Link, Place};
use crate::schema::{ApicurioId, SchemaKind};

const ARTIFACT_TYPE: HeaderName = HeaderName::from_static("x-registry-artifacttype");
const OWN_BASE: &str = "/apis/registry/v3";
/// The group of artifacts that have none.
const DEFAULT_GROUP: &str = "default";
const LATEST: &str = "branch=latest";

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Reference {
    #[serde(default)]
    group_id: Option<String>,
    artifact_id: String,
    #[serde(default)]
    version: Option<String>,
    name: String,
}

/// Gets a schema by one of Apicurio's ids.
pub(super) async fn by_id(http: &Http, kind: ApicurioId, id: u64) -> Result<Found, Cause> {
    let kind = match kind {
        ApicurioId::Global => "globalIds",
        ApicurioId::Content => "contentIds",
    };
    let path = format!("/ids/{kind}/{id}");
    let answer = http
        .get(rebase, &format!("{path}?returnArtifactType=true"))
        .await?;
    found(http, &answer, &path).await
}

/// Gets a schema by an id of four bytes, as Confluent's framing has it: Apicurio's serializers write content ids there, older
/// ones global ids.
pub(super) async fn by_short_id(http: &Http, id: u32) -> Result<Found, Cause> {
    match by_id(http, ApicurioId::Content, id.into()).await {
        Err(
            cause @ Cause::NotFound {
                by_registry: true, ..
            },
        ) => {
            let global = by_id(http, ApicurioId::Global, id.into()).await;
            global.map_err(|other| {
                if matches!(other, Cause::NotFound { .. }) {
                    cause
                } else {
                    other
                }
            })
        }
        found => found,
    }
}

/// Gets the newest version of an artifact without a group: Apicurio's word for a subject.
pub(super) async fn latest(http: &Http, subject: &str) -> Result<Found, Cause> {
    version(http, DEFAULT_GROUP, subject, LATEST).await
}

/// Gets one version of an artifact.
pub(super) async fn version(
    http: &Http,
    group: &str,
    artifact: &str,
    version: &str,
) -> Result<Found, Cause> {
    let path = format!(
        "/groups/{}/artifacts/{}/versions/{}",
        escaped(group),
        escaped(artifact),
        escaped(version)
    );
    let answer = http.get(rebase, &format!("{path}/content")).await?;
    found(http, &answer, &path).await
}

/// Asks the registry who it is.
pub(super) async fn check(http: &Http) -> Result<(), Cause> {
    let answer = http.get(rebase, "/system/info").await?;
    answer.json::<serde_json::Map<String, Value>>().map(|_| ())
}

/// Reads a schema, and asks what it builds on.
async fn found(http: &Http, answer: &Answer, path: &str) -> Result<Found, Cause> {
    let text = String::from_utf8(answer.body.to_vec()).map_err(|_| Cause::Unreadable {
        at: answer.at.clone(),
        why: "it is no UTF-8".to_owned(),
    })?;
    let kind = match answer.header(&ARTIFACT_TYPE).as_str() {
        "" => guess(&text),
        "avro" => SchemaKind::Avro,
        "protobuf" => SchemaKind::Protobuf,
        "json" => SchemaKind::Json,
        other => {
            return Err(Cause::Kind {
                found: other.chars().take(40).collect(),
            });
        }
    };
    let references: Vec<Reference> = match kind {
        SchemaKind::Json => Vec::new(),
        _ => http
            .get(rebase, &format!("{path}/references"))
            .await?
            .json()?,
    };
    let links = references.into_iter().map(|reference| Link {
        name: reference.name,
        place: Place::Artifact {
            group: reference
                .group_id
                .unwrap_or_else(|| DEFAULT_GROUP.to_owned()),
            artifact: reference.artifact_id,
            version: reference.version.unwrap_or_else(|| LATEST.to_owned()),
        },
    });
    Ok(Found {
        kind,
        text,
        links: links.collect(),
    })
}

/// Tells the language of a schema that came without its type.
fn guess(text: &str) -> SchemaKind {
    match serde_json::from_str::<Value>(text) {
        Ok(Value::Object(object))
            if object.contains_key("$schema") || object.contains_key("properties") =>
        {
            SchemaKind::Json
        }
        Ok(_) => SchemaKind::Avro,
        Err(_) => SchemaKind::Protobuf,
    }
}

/// Gives the base of Apicurio's own API, beside that of any of its APIs.
fn rebase(base: &str) -> String {
    let root = base
        .find("/apis/ccompat/")
        .or_else(|| base.find("/apis/registry/"))
        .map_or(base, |at| &base[..at]);
    format!("{root}{OWN_BASE}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bases() {
        for (base, want) in [
            ("", "/apis/registry/v3"),
            ("/apis/registry/v3", "/apis/registry/v3"),
            ("/apis/registry/v2", "/apis/registry/v3"),
            ("/apis/ccompat/v7", "/apis/registry/v3"),
            ("/proxy/apis/ccompat/v7", "/proxy/apis/registry/v3"),
            ("/proxy", "/proxy/apis/registry/v3"),
        ] {
            assert_eq!(rebase(base), want, "{base}");
        }
    }

    #[test]
    fn languages() {
        for (text, want) in [
            (
                r#"{"type":"record","name":"R","fields":[]}"#,
                SchemaKind::Avro,
            ),
            (r#""string""#, SchemaKind::Avro),
            (r#"["null","int"]"#, SchemaKind::Avro),
            (r#"{"$schema":"x"}"#, SchemaKind::Json),
            (r#"{"type":"object","properties":{}}"#, SchemaKind::Json),
            ("syntax = \"proto3\";", SchemaKind::Protobuf),
            ("CgR0LnByb3Rv", SchemaKind::Protobuf),
        ] {
            assert_eq!(guess(text), want, "{text}");
        }
    }
}
