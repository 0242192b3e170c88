//! Confluent's API over a table of schemas.

use percent_encoding::percent_decode_str;
use serde_json::{Value, json};

use crate::{Reply, Request};

/// Is a schema's language.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Kind {
    #[default]
    Avro,
    Protobuf,
    Json,
}

/// Is one version of one subject.
#[derive(Debug, Clone, Default)]
pub struct Entry {
    /// With its context, as `:.ctx:name`, where it has one.
    pub subject: String,
    pub version: i64,
    pub id: u32,
    pub guid: String,
    pub kind: Kind,
    pub text: String,
    /// Name, subject and version.
    pub references: Vec<(String, String, i64)>,
    /// Is shown only to who asks for deleted schemas.
    pub deleted: bool,
}

/// Is a registry's schemas.
#[derive(Debug, Clone, Default)]
pub struct Book(Vec<Entry>);

impl Book {
    /// Adds the first version of a subject, in Avro.
    #[must_use]
    pub fn schema(self, subject: &str, id: u32, text: &str) -> Self {
        self.entry(Entry {
            subject: subject.to_owned(),
            version: 1,
            id,
            text: text.to_owned(),
            ..Entry::default()
        })
    }

    /// Adds an entry; later ones of a subject are newer.
    #[must_use]
    pub fn entry(mut self, entry: Entry) -> Self {
        self.0.push(entry);
        self
    }

    /// Answers as a registry with these schemas.
    pub fn answer(&self, request: &Request) -> Reply {
        let (path, query) = request
            .target
            .split_once('?')
            .unwrap_or((&request.target, ""));
        let parameter = |name: &str| {
            query
                .split('&')
                .find_map(|pair| pair.strip_prefix(name)?.strip_prefix('='))
        };
        let shown = |entry: &&Entry| !entry.deleted || parameter("deleted") == Some("true");
        let entries = || self.0.iter().filter(shown);
        let segments: Vec<String> = path.trim_matches('/').split('/').map(unescaped).collect();
        let segments: Vec<&str> = segments.iter().map(String::as_str).collect();
        match segments[..] {
            ["subjects"] => {
                Reply::json(200, &entries().map(|entry| entry.subject.clone()).collect())
            }
            ["schemas", "ids", id] => {
                let subject = parameter("subject").map(unescaped);
                let same = |entry: &&Entry| entry.id.to_string() == id;
                // An id of the subject, in whichever context that is; else of the context where none is named.
                let named = subject.and_then(|subject| {
                    entries()
                        .filter(same)
                        .find(|entry| bare(&entry.subject) == bare(&subject))
                });
                let found = named.or_else(|| {
                    entries()
                        .filter(same)
                        .find(|entry| bare(&entry.subject) == entry.subject)
                });
                found.map_or_else(
                    || not_found(40403, "Schema not found"),
                    |entry| Reply::json(200, &entry.schema()),
                )
            }
            ["schemas", "ids", id, "versions"] => {
                let named = entries().filter(|entry| entry.id.to_string() == id);
                let version =
                    |entry: &Entry| json!({ "subject": entry.subject, "version": entry.version });
                Reply::json(200, &named.map(version).collect())
            }
            ["schemas", "guids", guid] => {
                let found = entries().find(|entry| entry.guid == guid);
                found.map_or_else(
                    || not_found(40403, "Schema not found"),
                    |entry| Reply::json(200, &entry.schema()),
                )
            }
            ["subjects", subject, "versions", version] => {
                let of_subject = || entries().filter(|entry| entry.subject == subject);
                let found = match version {
                    "latest" | "-1" => of_subject().max_by_key(|entry| entry.version),
                    version => of_subject().find(|entry| entry.version.to_string() == version),
                };
                match found {
                    Some(entry) => Reply::json(200, &entry.versioned()),
                    None if of_subject().next().is_some() => not_found(40402, "Version not found"),
                    None => not_found(40401, "Subject not found"),
                }
            }
            _ => not_found(404, "HTTP 404 Not Found"),
        }
    }
}

impl Entry {
    fn schema(&self) -> Value {
        let mut schema = json!({ "schema": self.text });
        match self.kind {
            Kind::Avro => {}
            Kind::Protobuf => schema["schemaType"] = json!("PROTOBUF"),
            Kind::Json => schema["schemaType"] = json!("JSON"),
        }
        if !self.references.is_empty() {
            let references = self.references.iter();
            schema["references"] = references.map(|(name, subject, version)| json!({ "name": name, "subject": subject, "version": version })).collect();
        }
        schema
    }

    fn versioned(&self) -> Value {
        let mut schema = self.schema();
        schema["subject"] = json!(self.subject);
        schema["version"] = json!(self.version);
        schema["id"] = json!(self.id);
        schema
    }
}

fn not_found(code: u32, message: &str) -> Reply {
    Reply::json(404, &json!({ "error_code": code, "message": message }))
}

/// Gives a subject without its context.
fn bare(subject: &str) -> &str {
    let context = subject
        .strip_prefix(":.")
        .and_then(|rest| rest.split_once(':'));
    context.map_or(subject, |(_, subject)| subject)
}

fn unescaped(text: &str) -> String {
    percent_decode_str(text).decode_utf8_lossy().into_owned()
}
