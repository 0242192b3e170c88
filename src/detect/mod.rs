//! Which format a topic's records have: proposals with their reasons, from a few records and what the registry knows.
//!
//! Each format that the bytes allow is tried with the pipeline that would read the topic (`trial`); `bytes` tells what they look
//! like before that, and `words` says why. Nothing here reads a topic or asks a registry: what is missing is named.

mod bytes;
mod trial;
mod words;

use std::collections::HashMap;
use std::sync::Arc;

use serde_json::{Map, Value, json};

use crate::config::{FlattenLimits, TopicName};
use crate::record::Now;
use crate::schema::{Need, Role, SchemaFault, SchemaText};
use bytes::Naming;
pub use trial::Table;
use trial::Trial;

/// Is one record, kept.
#[derive(Debug, Clone, Default)]
pub struct Sample {
    pub partition: i32,
    pub offset: i64,
    /// Milliseconds since 1970.
    pub timestamp: Option<i64>,
    pub key: Option<Vec<u8>>,
    pub value: Option<Vec<u8>>,
    pub headers: Vec<(Vec<u8>, Option<Vec<u8>>)>,
}

impl Sample {
    fn half(&self, role: Role) -> Option<&[u8]> {
        match role {
            Role::Key => self.key.as_deref(),
            Role::Value => self.value.as_deref(),
        }
    }
}

/// Is what the registry said of one schema.
pub type Answer = Result<Arc<SchemaText>, SchemaFault>;

/// Is what the registry said of the schemas that samples name.
pub type Answers = HashMap<Need, Answer>;

/// Is what is known of a topic.
#[derive(Debug)]
pub struct Topic<'a> {
    pub name: &'a TopicName,
    pub samples: &'a [Sample],
    pub limits: FlattenLimits,
    pub has_registry: bool,
    pub answers: &'a Answers,
    pub now: Now,
}

/// Is a format that fits, the query's keys that read it, and why.
#[derive(Debug, Clone, PartialEq)]
pub struct Proposal {
    /// As the query writes it.
    pub format: &'static str,
    pub query: Map<String, Value>,
    pub why: String,
    /// Formats that fit less well; they have none themselves.
    pub alternatives: Vec<Proposal>,
}

/// Is what was found.
#[derive(Debug, PartialEq)]
pub struct Found {
    /// `None` where no format fits.
    pub value: Option<Proposal>,
    pub key: Option<Proposal>,
    /// The first rows, as the proposals show them.
    pub table: Option<Table>,
    /// The first bytes of some values, where no format fits.
    pub hex: Vec<String>,
    /// Schemas to ask the registry for, and to look again.
    pub missing: Vec<Need>,
}

/// The rows of [`Found::table`].
const PREVIEW_ROWS: usize = 5;
/// The values of [`Found::hex`].
const HEX_VALUES: usize = 3;

/// Proposes a format for values and one for keys.
pub fn detect(topic: &Topic<'_>) -> Found {
    let mut search = Search {
        topic,
        missing: Vec::new(),
    };
    let (value, key) = if topic.samples.is_empty() {
        (None, None)
    } else {
        (search.value(), Some(search.key()))
    };
    let table = value.as_ref().and_then(|value| {
        let mut query = value.query.clone();
        query.extend(key.iter().flat_map(|key| key.query.clone()));
        let trial = search.try_on(&query, topic.samples.iter())?;
        Some(trial.table(PREVIEW_ROWS))
    });
    let is_unread = table.is_none() || value.as_ref().is_some_and(is_guess);
    let values = topic
        .samples
        .iter()
        .filter_map(|sample| sample.value.as_deref())
        .filter(|_| is_unread);
    Found {
        hex: values.take(HEX_VALUES).map(bytes::hex).collect(),
        value,
        key,
        table: table.filter(|_| !is_unread),
        missing: search.missing,
    }
}

/// Tells a proposal that no record has confirmed: its schemas are not there.
fn is_guess(proposal: &Proposal) -> bool {
    proposal.why.contains(words::GUESS)
}

/// Is a format that may fit.
struct Candidate {
    format: &'static str,
    query: Map<String, Value>,
    trial: Trial,
}

struct Search<'a> {
    topic: &'a Topic<'a>,
    missing: Vec<Need>,
}

impl Search<'_> {
    fn value(&mut self) -> Option<Proposal> {
        const ROLE: Role = Role::Value;
        let samples = self.topic.samples;
        let values: Vec<&[u8]> = samples
            .iter()
            .filter_map(|sample| sample.half(ROLE))
            .collect();
        if values.is_empty() {
            let why = words::tombstones(samples.len());
            return Some(proposal(
                "json",
                keys(json!({ "messageFormat": "json" })),
                why,
            ));
        }
        let naming = bytes::naming(samples, ROLE);
        let is_text = values.iter().all(|value| bytes::is_text(value));
        let mut fitting = Vec::new();
        self.consider(&mut fitting, "json", json!({ "messageFormat": "json" }));
        if self.topic.has_registry && naming.may_be_registry() {
            for (format, query) in registry_formats(ROLE) {
                self.consider(&mut fitting, format, query);
            }
        }
        if is_text {
            self.consider(
                &mut fitting,
                "lineprotocol",
                json!({ "messageFormat": "lineprotocol" }),
            );
        } else if self.topic.has_registry && !naming.may_be_registry() && !is_whole(&fitting) {
            for (format, query) in registry_formats(ROLE) {
                self.consider(&mut fitting, format, with(query, "framing", "none"));
            }
        }
        if is_text {
            self.consider(
                &mut fitting,
                "plaintext",
                json!({ "messageFormat": "plaintext" }),
            );
        }
        // Plain text fits every text, so it is proposed where nothing else does.
        let best = fitting
            .iter()
            .position(|candidate| candidate.trial.is_whole() && candidate.format != "plaintext");
        let best = best.or_else(|| most(&fitting));
        let Some(best) = best else {
            return self.guess(&naming, &values, ROLE);
        };
        let first = fitting.remove(best);
        let describe = |candidate: &Candidate| {
            let why = words::fits(
                candidate.format,
                &candidate.trial,
                &naming,
                self.topic.answers,
                ROLE,
            );
            proposal(candidate.format, candidate.query.clone(), why)
        };
        Some(Proposal {
            alternatives: fitting.iter().map(describe).collect(),
            ..describe(&first)
        })
    }

    fn key(&mut self) -> Proposal {
        const ROLE: Role = Role::Key;
        let samples = self.topic.samples;
        let found: Vec<&[u8]> = samples
            .iter()
            .filter_map(|sample| sample.half(ROLE))
            .collect();
        let plain = |format: &'static str, why: String| {
            proposal(format, keys(json!({ "keyFormat": format })), why)
        };
        if found.is_empty() {
            return plain("none", "no record has a key".to_owned());
        }
        let naming = bytes::naming(samples, ROLE);
        if self.topic.has_registry && naming.may_be_registry() {
            let mut fitting = Vec::new();
            for (format, query) in registry_formats(ROLE) {
                self.consider(&mut fitting, format, query);
            }
            if let Some(best) = most(&fitting) {
                let Candidate {
                    format,
                    query,
                    trial,
                } = fitting.swap_remove(best);
                let why = words::fits(format, &trial, &naming, self.topic.answers, ROLE);
                return proposal(format, with_keys_only(query), why);
            }
        }
        let is_text = found.iter().all(|key| bytes::is_text(key));
        if is_text && found.iter().all(|key| bytes::is_json_object(key)) {
            return Proposal {
                alternatives: vec![plain("string", "every key is text".to_owned())],
                ..plain("json", "every key is a JSON object".to_owned())
            };
        }
        if is_text {
            return plain("string", "every key is text".to_owned());
        }
        if let Some(guess) = self.guess(&naming, &found, ROLE) {
            return guess;
        }
        plain("base64", "some keys are no text".to_owned())
    }

    /// Says what values that name a schema may be, where nobody can be asked for it.
    fn guess(&self, naming: &Naming, found: &[&[u8]], role: Role) -> Option<Proposal> {
        if naming.is_none() {
            return None;
        }
        let bodies = || found.iter().filter_map(|value| naming.body(value));
        let is_protobuf = bodies().next().is_some() && bodies().all(bytes::may_be_protobuf);
        let [avro, protobuf] = registry_formats(role);
        let (format, mut query) = if is_protobuf { protobuf } else { avro };
        if *naming == Naming::Glue {
            query = with(query, "framing", "glue");
            query = with(
                query,
                if is_protobuf {
                    "protobufSchemaSource"
                } else {
                    "avroSchemaSource"
                },
                "inlineSchema",
            );
        }
        let why = words::guess(
            format,
            naming,
            self.topic.has_registry,
            self.topic.answers,
            role,
        );
        Some(proposal(format, with_keys_only_of(query, role), why))
    }

    /// Tries a format, and keeps it where it reads at least half of the records.
    fn consider(&mut self, fitting: &mut Vec<Candidate>, format: &'static str, query: Value) {
        let query = keys(query);
        let role = if query.contains_key("keyFormat") {
            Role::Key
        } else {
            Role::Value
        };
        let samples = self
            .topic
            .samples
            .iter()
            .filter(|sample| sample.half(role).is_some());
        if let Some(trial) = self.try_on(&query, samples)
            && trial.read() * 2 >= trial.tried()
        {
            fitting.push(Candidate {
                format,
                query,
                trial,
            });
        }
    }

    fn try_on<'s>(
        &mut self,
        query: &Map<String, Value>,
        samples: impl Iterator<Item = &'s Sample>,
    ) -> Option<Trial> {
        let trial = Trial::run(self.topic, query, samples)?;
        for need in trial.needs() {
            if !self.topic.answers.contains_key(need) && !self.missing.contains(need) {
                self.missing.push(need.clone());
            }
        }
        Some(trial)
    }
}

/// Gives the formats whose schemas a registry has: Avro, then Protobuf.
fn registry_formats(role: Role) -> [(&'static str, Value); 2] {
    let source = "schemaRegistry";
    match role {
        Role::Value => [
            ("avro", json!({ "messageFormat": "avro", "avroSchemaSource": source })),
            ("protobuf", json!({ "messageFormat": "protobuf", "protobufSchemaSource": source })),
        ],
        // A key is tried beside a value that fits any bytes.
        Role::Key => ["avro", "protobuf"].map(|format| {
            let query = json!({ "keyFormat": format, "keySchemaSource": source, "messageFormat": "plaintext" });
            (format, query)
        }),
    }
}

fn most(fitting: &[Candidate]) -> Option<usize> {
    let is_special = |candidate: &Candidate| candidate.format != "plaintext";
    let best = |wanted: &dyn Fn(&Candidate) -> bool| {
        // Of several that read as many, the first.
        let candidates = fitting
            .iter()
            .enumerate()
            .filter(|(_, candidate)| wanted(candidate))
            .rev();
        candidates
            .max_by_key(|(_, candidate)| candidate.trial.read())
            .map(|(i, _)| i)
    };
    best(&is_special).or_else(|| best(&|_| true))
}

fn is_whole(fitting: &[Candidate]) -> bool {
    fitting.iter().any(|candidate| candidate.trial.is_whole())
}

fn proposal(format: &'static str, query: Map<String, Value>, why: String) -> Proposal {
    Proposal {
        format,
        query,
        why,
        alternatives: Vec::new(),
    }
}

fn keys(query: Value) -> Map<String, Value> {
    match query {
        Value::Object(keys) => keys,
        _ => Map::new(),
    }
}

fn with(mut query: Value, key: &str, value: &str) -> Value {
    query[key] = value.into();
    query
}

fn with_keys_only(mut query: Map<String, Value>) -> Map<String, Value> {
    query.remove("messageFormat");
    query
}

fn with_keys_only_of(query: Value, role: Role) -> Map<String, Value> {
    match role {
        Role::Key => with_keys_only(keys(query)),
        Role::Value => keys(query),
    }
}

#[cfg(test)]
mod tests;
