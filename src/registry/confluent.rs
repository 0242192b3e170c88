//! Confluent's API, which Karapace, Redpanda and Apicurio's `/apis/ccompat` speak too.

use std::fmt::Display;

use serde::Deserialize;
use serde_json::Value;

use super::errors::Cause;
use super::http::{Answer, Http, as_given, escaped};
use super::references::{Found, Link, Place};
use crate::schema::{SchemaId, SchemaKind};

/// Is a schema as the API gives it, by id or by subject and version.
#[derive(Deserialize)]
struct Body {
    #[serde(rename = "schema")]
    text: String,
    /// Is left out where it is Avro.
    #[serde(default, rename = "schemaType")]
    kind: Option<String>,
    #[serde(default)]
    references: Option<Vec<Reference>>,
}

#[derive(Deserialize)]
struct Reference {
    name: String,
    subject: String,
    version: i64,
}

/// Gets a schema by its id. A registry looks for `subject` in all of its contexts, since each has ids of its own.
pub(super) async fn by_id(http: &Http, id: u32, subject: Option<&str>) -> Result<Found, Cause> {
    let plain = format!("/schemas/ids/{id}");
    let path = match subject {
        Some(subject) => format!("{plain}?fetchMaxId=false&subject={}", escaped(subject)),
        None => plain.clone(),
    };
    schema(&get_even_deleted(http, &path, &plain).await?, None)
}

/// Gets a schema by its GUID.
pub(super) async fn by_guid(http: &Http, id: &SchemaId) -> Result<Found, Cause> {
    let SchemaId::Guid(bytes) = id else {
        return Err(Cause::NoGuids);
    };
    let path = format!("/schemas/guids/{}", Guid(bytes));
    schema(&http.get(as_given, &path).await?, None)
}

/// Gets the newest version of a subject; where all are deleted, the newest of these.
pub(super) async fn latest(http: &Http, subject: &str) -> Result<Found, Cause> {
    let path = version_path(subject, "latest");
    schema(
        &get_even_deleted(http, &path, &path).await?,
        context(subject),
    )
}

/// Gets one version of a subject, deleted or not.
pub(super) async fn version(http: &Http, subject: &str, version: i64) -> Result<Found, Cause> {
    let path = version_path(subject, version) + "?deleted=true";
    schema(&http.get(as_given, &path).await?, context(subject))
}

/// Asks for a subject that is not there: a 404 of the registry's own is what a good one answers.
pub(super) async fn check(http: &Http) -> Result<(), Cause> {
    match http.get(as_given, &version_path(PROBED, "latest")).await {
        Ok(answer) => answer.json::<serde_json::Map<String, Value>>().map(|_| ()),
        Err(Cause::NotFound {
            by_registry: true, ..
        }) => Ok(()),
        Err(cause) => Err(cause),
    }
}

const PROBED: &str = "_test_connectivity_subject_";

fn version_path(subject: &str, version: impl Display) -> String {
    format!("/subjects/{}/versions/{version}", escaped(subject))
}

/// Gets `path`; where there is nothing, `plain` with deleted schemas: records outlive their subjects.
async fn get_even_deleted(http: &Http, path: &str, plain: &str) -> Result<Answer, Cause> {
    match http.get(as_given, path).await {
        Err(
            cause @ Cause::NotFound {
                by_registry: true, ..
            },
        ) => {
            let deleted = http.get(as_given, &format!("{plain}?deleted=true")).await;
            // The first answer names what was asked for.
            deleted.map_err(|other| {
                if matches!(other, Cause::NotFound { .. }) {
                    cause
                } else {
                    other
                }
            })
        }
        answer => answer,
    }
}

/// Reads a schema; references without a context are of the `context` of the schema that has them.
fn schema(answer: &Answer, context: Option<&str>) -> Result<Found, Cause> {
    let body: Body = answer.json()?;
    let kind = match body.kind.as_deref().map(str::to_ascii_uppercase).as_deref() {
        None | Some("" | "AVRO") => SchemaKind::Avro,
        Some("PROTOBUF") => SchemaKind::Protobuf,
        Some("JSON") => SchemaKind::Json,
        Some(other) => {
            return Err(Cause::Kind {
                found: other.chars().take(40).collect(),
            });
        }
    };
    let links = body
        .references
        .unwrap_or_default()
        .into_iter()
        .map(|reference| Link {
            name: reference.name,
            place: Place::Subject {
                subject: match context {
                    Some(context) if !reference.subject.starts_with(":.") => {
                        format!("{context}{}", reference.subject)
                    }
                    _ => reference.subject,
                },
                version: reference.version,
            },
        });
    Ok(Found {
        kind,
        text: body.text,
        links: links.collect(),
    })
}

/// Gives the context of a subject such as `:.ctx:name`, with both of its colons.
fn context(subject: &str) -> Option<&str> {
    let rest = subject.strip_prefix(":.")?;
    let end = rest.find(':')?;
    Some(&subject[..end + 3])
}

/// Shows a GUID as the API writes it.
struct Guid<'a>(&'a [u8; 16]);

impl Display for Guid<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        for (i, byte) in self.0.iter().enumerate() {
            let dash = if matches!(i, 4 | 6 | 8 | 10) { "-" } else { "" };
            write!(f, "{dash}{byte:02x}")?;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn contexts() {
        for (subject, want) in [
            ("t-value", None),
            (":.ctx:t-value", Some(":.ctx:")),
            (":.a.b:t", Some(":.a.b:")),
            (":.:t", Some(":.:")),
            (":.ctx", None),
            ("a:.ctx:t", None),
        ] {
            assert_eq!(context(subject), want, "{subject}");
        }
    }
}
