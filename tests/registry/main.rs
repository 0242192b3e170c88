//! The registry client against a registry of the tests' own: good answers, and those that a good one never gives.

#![expect(clippy::unwrap_used, reason = "a test that cannot go on fails")]

use std::collections::HashMap;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::time::{Duration, Instant};

use odd_registry::{Authority, Book, Entry, Kind, Reply, Request, Server};
use serde_json::{Value, json};
use streamscope::config::{Settings, TopicName};
use streamscope::registry::{Cause, Registry, RegistryError};
use streamscope::schema::{ApicurioId, Role, SchemaId, SchemaKind, SchemaText};

mod apicurio;
mod credentials;
mod failures;
mod names;
mod real;
mod references;
mod trust;

/// Makes the client of a data source with these settings and secrets.
fn client(keys: Value, secrets: &[(&str, &str)]) -> Registry {
    let mut settings = json!({ "bootstrapServers": "a:1", "schemaRegistryTimeout": 1500 });
    let (Value::Object(own), Value::Object(keys)) = (&mut settings, keys) else {
        panic!("objects");
    };
    own.extend(keys);
    let secrets: HashMap<_, _> = secrets
        .iter()
        .map(|&(key, value)| (key.to_owned(), value.to_owned()))
        .collect();
    let settings = Settings::parse(settings.to_string().as_bytes(), &secrets).unwrap();
    Registry::new(&settings.registry)
}

fn at(url: &str) -> Registry {
    client(json!({ "schemaRegistryUrl": url }), &[])
}

/// Asks for a schema as a value of the topic `t` does.
async fn ask(registry: &Registry, id: SchemaId) -> Result<Arc<SchemaText>, RegistryError> {
    registry
        .schema(&id, Role::Value, &TopicName::parse("t").unwrap())
        .await
}

async fn text_of(registry: &Registry, id: SchemaId) -> String {
    ask(registry, id).await.unwrap().text.clone()
}

fn latest(subject: &str) -> SchemaId {
    SchemaId::Latest(subject.into())
}

fn entry(subject: &str, version: i64, id: u32, text: &str) -> Entry {
    Entry {
        subject: subject.into(),
        version,
        id,
        text: text.into(),
        ..Entry::default()
    }
}

fn referring(subject: &str, id: u32, references: &[(&str, &str)]) -> Entry {
    let references = references
        .iter()
        .map(|&(name, subject)| (name.to_owned(), subject.to_owned(), 1));
    Entry {
        references: references.collect(),
        ..entry(subject, 1, id, &format!("text of {subject}"))
    }
}

fn book_server(book: Book) -> Server {
    Server::start(move |request| book.answer(request)).unwrap()
}
