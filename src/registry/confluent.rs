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

#[derive(Deserialize)]
struct SubjectVersion {
    subject: String,
}

/// Gets a schema by its id. A registry looks for `subject` in all of its contexts, since each has ids of its own.
pub(super) async fn by_id(http: &Http, id: u32, subject: Option<&str>) -> Result<Found, Cause> {
    let plain = format!("/schemas/ids/{id}");
    let path = match subject {
        Some(subject) => format!("{plain}?fetchMaxId=false&subject={}", escaped(subject)),
        None => plain.clone(),
    };
    let mut found = schema(&get_even_deleted(http, &path, &plain).await?)?;
    if let Some(subject) = subject.filter(|_| !found.links.is_empty())
        && let Some(named) = where_named(http, &plain, subject).await
    {
        qualify(&mut found, &named);
    }
    Ok(found)
}

/// Asks in which context a schema is that `subject` has; its references are in the same one. What is told nothing is as if there
/// were no contexts.
async fn where_named(http: &Http, plain: &str, subject: &str) -> Option<String> {
    let path = format!("{plain}/versions?subject={}&deleted=true", escaped(subject));
    let versions: Vec<SubjectVersion> = http.get(as_given, &path).await.ok()?.json().ok()?;
    let names = versions.into_iter().map(|version| version.subject);
    let mut names: Vec<String> = names.collect();
    // A registry looks in the context without a name first.
    names.sort_by_key(|known| context(known).is_some());
    names.into_iter().find(|known| {
        let context = context(known).unwrap_or_default();
        &known[context.len()..] == subject
    })
}

/// Gets a schema by its GUID.
pub(super) async fn by_guid(http: &Http, id: &SchemaId) -> Result<Found, Cause> {
    let SchemaId::Guid(bytes) = id else {
        return Err(Cause::NoGuids);
    };
    let path = format!("/schemas/guids/{}", Guid(bytes));
    schema(&http.get(as_given, &path).await?)
}

/// Gets the newest version of a subject; where all are deleted, the newest of these.
pub(super) async fn latest(http: &Http, subject: &str) -> Result<Found, Cause> {
    let path = version_path(subject, "latest");
    let mut found = schema(&get_even_deleted(http, &path, &path).await?)?;
    qualify(&mut found, subject);
    Ok(found)
}

/// Gets one version of a subject, deleted or not.
pub(super) async fn version(http: &Http, subject: &str, version: i64) -> Result<Found, Cause> {
    let path = version_path(subject, version) + "?deleted=true";
    let mut found = schema(&http.get(as_given, &path).await?)?;
    qualify(&mut found, subject);
    Ok(found)
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

/// Puts references that name no context into that of `subject`, which has them.
fn qualify(found: &mut Found, subject: &str) {
    let Some(context) = context(subject) else {
        return;
    };
    for link in &mut found.links {
        if let Place::Subject { subject, .. } = &mut link.place
            && !subject.starts_with(":.")
        {
            subject.insert_str(0, context);
        }
    }
}

/// Reads a schema.
fn schema(answer: &Answer) -> Result<Found, Cause> {
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
                subject: reference.subject,
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
