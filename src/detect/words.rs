//! Why a format is proposed.

use std::panic::{AssertUnwindSafe, catch_unwind};

use serde_json::Value;

use super::Answers;
use super::bytes::Naming;
use super::trial::Trial;
use crate::config::Descriptors;
use crate::schema::{Need, Role, SchemaKind, SchemaText};

/// The most schemas that are named.
const MAX_NAMED: usize = 3;
/// What a proposal says of itself that no record confirms.
pub(super) const GUESS: &str = "is a guess";

/// Says why a format that was tried fits.
pub(super) fn fits(
    format: &str,
    trial: &Trial,
    naming: &Naming,
    answers: &Answers,
    role: Role,
) -> String {
    let one = role.as_str();
    let share = if trial.is_whole() {
        format!("every {one}")
    } else {
        format!("{} of {} {one}s", trial.read(), trial.tried())
    };
    let verb = if trial.read() == 1 || trial.is_whole() {
        "is"
    } else {
        "are"
    };
    match format {
        "json" => match naming {
            Naming::Confluent(id) => {
                format!("5 bytes of Confluent framing, id {id}, and then {share} {verb} JSON")
            }
            _ => format!("{share} {verb} JSON"),
        },
        "lineprotocol" => format!("{share} {verb} InfluxDB line protocol"),
        "plaintext" => format!("{share} {verb} text"),
        _ => {
            let start = match naming {
                Naming::None => format!(
                    "no framing, and the schema of the registry reads {share} to its last byte: "
                ),
                naming => format!("{}, ", framing(naming)),
            };
            let rest = if trial.is_whole() {
                String::new()
            } else {
                format!("; it reads {share}")
            };
            format!("{start}{}{rest}", schemas(trial.needs(), answers))
        }
    }
}

/// Says what stands there, and why nobody can say what it is.
pub(super) fn guess(
    format: &str,
    naming: &Naming,
    has_registry: bool,
    answers: &Answers,
    role: Role,
) -> String {
    let named = match naming {
        Naming::Confluent(id) => format!("{}, id {id}", framing(naming)),
        Naming::Apicurio(id) => format!("{}, id {id}", framing(naming)),
        naming => framing(naming),
    };
    let name = if format == "protobuf" {
        "Protobuf"
    } else {
        "Avro"
    };
    if *naming == Naming::Glue {
        return format!(
            "{named}; {name} {GUESS}: this version asks no Glue registry, so paste the schema"
        );
    }
    if !has_registry {
        return format!(
            "{named}; {name} {GUESS}, since the data source has no schema registry: set its URL in the data source's settings, or paste the schema"
        );
    }
    let of_role = answers.iter().filter(|(need, _)| need.role == role);
    let mut faults: Vec<String> = of_role
        .filter_map(|(_, answer)| answer.as_ref().err().map(ToString::to_string))
        .collect();
    faults.sort();
    match faults.first() {
        Some(fault) => format!("{named}; {name} {GUESS}: {fault}"),
        None => format!("{named}; {name} {GUESS}: the registry's schema does not fit the bytes"),
    }
}

/// Says of records without values what there is to say.
pub(super) fn tombstones(count: usize) -> String {
    match count {
        1 => "the only value is null (a tombstone), so every format shows the same".to_owned(),
        count => {
            format!("all {count} values are null (tombstones), so every format shows the same")
        }
    }
}

fn framing(naming: &Naming) -> String {
    match naming {
        Naming::None => "no framing",
        Naming::Confluent(_) => "5 bytes of Confluent framing",
        Naming::ConfluentHeader => "a header names the schema by its GUID",
        Naming::Apicurio(_) => "9 bytes of Apicurio framing",
        Naming::ApicurioHeader => "a header of Apicurio names the schema",
        Naming::Glue => "18 bytes of AWS Glue framing",
    }
    .to_owned()
}

/// Names schemas: `id 7 is Avro acme.Reading`.
fn schemas(needs: &[Need], answers: &Answers) -> String {
    let known: Vec<String> = needs
        .iter()
        .filter_map(|need| {
            let schema = answers.get(need)?.as_ref().ok()?;
            let name = name(schema)
                .map(|name| format!(" `{name}`"))
                .unwrap_or_default();
            Some(format!("{} is {}{name}", need.id, schema.kind))
        })
        .collect();
    let more = known.len().saturating_sub(MAX_NAMED);
    let text = known[..known.len() - more].join(", ");
    if more > 0 {
        return format!("{text} and {more} more");
    }
    text
}

/// Gives the name that a schema gives itself; of Protobuf's messages, the first.
fn name(schema: &SchemaText) -> Option<String> {
    match schema.kind {
        SchemaKind::Avro => {
            let parsed: Value = serde_json::from_str(&schema.text).ok()?;
            let name = parsed["name"].as_str()?;
            match parsed["namespace"].as_str() {
                Some(namespace) if !namespace.is_empty() && !name.contains('.') => {
                    Some(format!("{namespace}.{name}"))
                }
                _ => Some(name.to_owned()),
            }
        }
        SchemaKind::Protobuf => {
            // The parser is not ours, and the text is anybody's.
            let compile = || Descriptors::compile(&schema.text, &schema.references);
            let compiled = catch_unwind(AssertUnwindSafe(compile)).ok()?.ok()?;
            let message = compiled.messages().first()?.full_name().to_owned();
            Some(message)
        }
        SchemaKind::Json => {
            let parsed: Value = serde_json::from_str(&schema.text).ok()?;
            parsed["title"].as_str().map(ToOwned::to_owned)
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names() {
        for (kind, text, want) in [
            (
                SchemaKind::Avro,
                r#"{"type":"record","name":"R","namespace":"a.b"}"#,
                Some("a.b.R"),
            ),
            (
                SchemaKind::Avro,
                r#"{"type":"record","name":"c.R","namespace":"a.b"}"#,
                Some("c.R"),
            ),
            (
                SchemaKind::Avro,
                r#"{"type":"record","name":"R"}"#,
                Some("R"),
            ),
            (SchemaKind::Avro, "\"string\"", None),
            (
                SchemaKind::Protobuf,
                "syntax = \"proto3\";\npackage acme.v1;\nmessage Reading { int32 a = 1; }",
                Some("acme.v1.Reading"),
            ),
            (SchemaKind::Protobuf, "message A {}", Some("A")),
            (SchemaKind::Protobuf, "CgR0LnByb3Rv", None),
            // As confluent-kafka registers it: descriptors in base64.
            (
                SchemaKind::Protobuf,
                "Cgd0LnByb3RvEgRhY21lIgcKBUV2ZW50",
                Some("acme.Event"),
            ),
            (SchemaKind::Json, r#"{"title":"Order"}"#, Some("Order")),
        ] {
            let schema = SchemaText {
                kind,
                text: text.to_owned(),
                references: Vec::new(),
            };
            assert_eq!(name(&schema).as_deref(), want, "{text}");
        }
    }
}
