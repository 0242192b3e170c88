//! A panel's query, from Grafana's JSON to a [`StreamSpec`].

mod formats;

use std::collections::BTreeMap;

use serde::Deserialize;
use serde::de::value::{Error as ChoiceError, StrDeserializer};
use serde_json::{Map, Value};
use thiserror::Error;

use super::lenient::{Keys, Mismatch, kind, mismatch};
use super::{
    Cursor, FieldType, PartitionSelection, StartPosition, StreamSpec, TimeSource, TopicName,
    TopicNameError,
};

/// The most records a partition that `lastN` takes.
pub const MAX_LAST_N: i64 = 1_000_000;
/// What `lastN` is where the query does not say.
const DEFAULT_LAST_N: i64 = 100;

/// Is one target of a panel.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PanelQuery {
    pub spec: StreamSpec,
    pub ref_id: String,
    /// Names the frame and its fields; `{{topic}}`, `{{partition}}`, `{{refid}}` and `{{field}}` stand for themselves.
    pub alias: String,
    /// Where a session that was cut off goes on, instead of the start position.
    pub resume_at: Option<Cursor>,
}

/// Is what a browser sends when it subscribes: the `data` of an earlier answer, unchanged.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Subscription {
    pub spec: StreamSpec,
}

/// Says what is wrong with a query.
#[derive(Debug, Error, PartialEq, Eq)]
pub enum QueryError {
    #[error("the query must be a JSON object, and is {found}")]
    NotAnObject { found: &'static str },
    #[error(transparent)]
    Topic(#[from] TopicNameError),
    #[error("{0}: correct it in the query editor")]
    Type(#[from] Mismatch),
    #[error(
        "`{key}` must be {expected}, and is `{found}`: choose one of these in the query editor"
    )]
    Choice {
        key: &'static str,
        expected: &'static str,
        found: String,
    },
    #[error("invalid partition value: `{found}`; choose `all` or a partition's number")]
    Partition { found: String },
    #[error("`{key}` must have the shape {{\"topicId\": text, \"next\": {{partition: offset}}}}")]
    Cursor { key: &'static str },
    #[error(
        "inline {format} schema selected but no schema provided: paste a valid {format} schema in the query editor"
    )]
    NoSchema { format: &'static str },
    #[error("the {format} schema in `{key}` is not valid: {reason}")]
    Schema {
        format: &'static str,
        key: &'static str,
        reason: String,
    },
    #[error(
        "`framing` cannot be `glue` with a schema registry, since AWS Glue's own registry is not read: choose `Inline Schema` and paste the schema"
    )]
    GlueRegistry,
    #[error("`{key}` cannot be used: {reason}: make it shorter in the query editor")]
    Filter { key: &'static str, reason: String },
    #[error("the Protobuf schema has no message `{name}` (`{key}`); it has {known}")]
    NoMessage {
        key: &'static str,
        name: String,
        known: String,
    },
    #[error(
        "`subjectStrategy` `{strategy}` needs {needs}: write it in `subject` in the query editor"
    )]
    NoSubject {
        strategy: &'static str,
        needs: &'static str,
    },
}

impl PanelQuery {
    /// Reads one query as Grafana sends it; keys that are not of this data source are passed over.
    pub fn parse(json: &[u8]) -> Result<Self, QueryError> {
        let object = parse_object(json)?;
        let keys = Keys::new(&object);
        Ok(Self {
            spec: StreamSpec {
                cursor: None,
                nonce: None,
                ..parse_spec(&keys)?
            },
            ref_id: keys.text("refId")?,
            alias: keys.text("alias")?,
            resume_at: cursor(&keys, "resumeAt")?,
        })
    }
}

impl Subscription {
    /// Reads the data of a subscription.
    pub fn parse(json: &[u8]) -> Result<Self, QueryError> {
        let object = parse_object(json)?;
        Ok(Self {
            spec: parse_spec(&Keys::new(&object))?,
        })
    }
}

fn parse_object(json: &[u8]) -> Result<Map<String, Value>, QueryError> {
    match serde_json::from_slice(json) {
        Ok(Value::Object(object)) => Ok(object),
        Ok(other) => Err(QueryError::NotAnObject {
            found: kind(&other),
        }),
        Err(_) => Err(QueryError::NotAnObject { found: "no JSON" }),
    }
}

fn parse_spec(keys: &Keys<'_>) -> Result<StreamSpec, QueryError> {
    Ok(StreamSpec {
        topic: TopicName::parse(&keys.text("topicName")?)?,
        partition: partition(keys)?,
        start: start(keys)?,
        time: time(keys)?,
        format: formats::value(keys)?,
        key: formats::key(keys)?,
        headers: keys.boolean("headers", false)?,
        field_types: field_types(keys)?,
        pacing: keys.boolean("pacing", true)?,
        every_record: keys.boolean("everyRecord", false)?,
        isolation: choice(
            keys,
            "isolationLevel",
            "`readCommitted` or `readUncommitted`",
        )?,
        cursor: cursor(keys, "cursor")?,
        nonce: Some(keys.text("nonce")?).filter(|nonce| !nonce.is_empty()),
    })
}

fn partition(keys: &Keys<'_>) -> Result<PartitionSelection, QueryError> {
    let text = keys.text("partition")?;
    if text.is_empty() || text.eq_ignore_ascii_case("all") {
        return Ok(PartitionSelection::All);
    }
    // A number may have been written as 1.0 on its way here.
    match text.parse::<f64>() {
        Ok(number) if number.fract() == 0.0 && (0.0..=f64::from(i32::MAX)).contains(&number) => {
            Ok(PartitionSelection::One(number as i32))
        }
        _ => Err(QueryError::Partition { found: text }),
    }
}

fn start(keys: &Keys<'_>) -> Result<StartPosition, QueryError> {
    match keys.text("autoOffsetReset")?.as_str() {
        "" | "latest" => Ok(StartPosition::Latest),
        "earliest" => Ok(StartPosition::Earliest),
        "lastN" => {
            let n = keys
                .integer("lastN")?
                .filter(|&n| n > 0)
                .unwrap_or(DEFAULT_LAST_N);
            Ok(StartPosition::LastN(n.min(MAX_LAST_N) as u32))
        }
        other => Err(QueryError::Choice {
            key: "autoOffsetReset",
            expected: "`latest`, `earliest` or `lastN`",
            found: other.to_owned(),
        }),
    }
}

fn time(keys: &Keys<'_>) -> Result<TimeSource, QueryError> {
    let path = keys.text("timeField")?;
    if !path.is_empty() {
        let unit = choice(
            keys,
            "timeUnit",
            "`auto`, `s`, `ms`, `us`, `ns` or `rfc3339`",
        )?;
        return Ok(TimeSource::Field { path, unit });
    }
    match keys.text("timestampMode")?.as_str() {
        "" | "message" => Ok(TimeSource::Record),
        "now" => Ok(TimeSource::Arrival),
        other => Err(QueryError::Choice {
            key: "timestampMode",
            expected: "`message` or `now`",
            found: other.to_owned(),
        }),
    }
}

/// Reads one of a closed set by its serde names; absent is the default.
fn choice<'de, T: Default + Deserialize<'de>>(
    keys: &Keys<'_>,
    key: &'static str,
    expected: &'static str,
) -> Result<T, QueryError> {
    let found = keys.text(key)?;
    if found.is_empty() {
        return Ok(T::default());
    }
    parse_choice(&found).ok_or(QueryError::Choice {
        key,
        expected,
        found,
    })
}

fn parse_choice<'de, T: Deserialize<'de>>(text: &str) -> Option<T> {
    T::deserialize(StrDeserializer::<ChoiceError>::new(text)).ok()
}

fn field_types(keys: &Keys<'_>) -> Result<BTreeMap<String, FieldType>, QueryError> {
    const KEY: &str = "fieldTypes";
    let object = match keys.value(KEY) {
        None => return Ok(BTreeMap::new()),
        Some(Value::Object(object)) => object,
        Some(other) => {
            return Err(mismatch(KEY, "an object of column names and types", other).into());
        }
    };
    let wrong = |found: &Value| QueryError::Choice {
        key: KEY,
        expected: "`number`, `text`, `boolean` or `time` for each column",
        found: found
            .as_str()
            .map_or_else(|| kind(found).to_owned(), str::to_owned),
    };
    object
        .iter()
        .map(|(column, value)| {
            let field_type = value
                .as_str()
                .and_then(parse_choice)
                .ok_or_else(|| wrong(value))?;
            Ok((column.clone(), field_type))
        })
        .collect()
}

fn cursor(keys: &Keys<'_>, key: &'static str) -> Result<Option<Cursor>, QueryError> {
    keys.value(key)
        .map(|value| Cursor::deserialize(value).map_err(|_| QueryError::Cursor { key }))
        .transpose()
}

#[cfg(test)]
mod tests;
