//! What one query is answered with: a frame, and what went wrong.

use serde_json::{Map, Value, json};

use super::wire::DataResponse;
use crate::columns::{COORDINATES, ERROR};
use crate::config::{StreamSpec, data, key, path};
use crate::consume::errors::{KafkaError, Stage};
use crate::frame::Notice;

/// Is the answer to one query.
pub(super) struct Answer {
    /// An Arrow file, where there is anything to show or to subscribe to.
    pub(super) frame: Option<Vec<u8>>,
    pub(super) fault: Option<Fault>,
}

/// Says what went wrong, and who is to blame.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Fault {
    text: String,
    /// As HTTP has them.
    status: i32,
    source: Source,
}

/// Is where an error comes from, as Grafana counts it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Source {
    /// This program is wrong.
    Plugin,
    /// Kafka, the settings or the query are.
    Downstream,
}

impl Fault {
    /// Blames a query that cannot be read.
    pub(super) fn query(text: String) -> Self {
        Self {
            text,
            status: BAD_REQUEST,
            source: Source::Downstream,
        }
    }

    /// Blames a query for a topic that is not allowed.
    pub(super) fn denied(text: String) -> Self {
        Self {
            text,
            status: FORBIDDEN,
            source: Source::Downstream,
        }
    }

    /// Blames the data source's settings.
    pub(super) fn settings(text: String) -> Self {
        Self {
            text,
            status: BAD_REQUEST,
            source: Source::Downstream,
        }
    }

    /// Blames this program. What happened is in its log.
    pub(super) fn internal(text: &str) -> Self {
        Self {
            text: text.to_owned(),
            status: INTERNAL,
            source: Source::Plugin,
        }
    }
}

impl From<&KafkaError> for Fault {
    fn from(error: &KafkaError) -> Self {
        let status = match error {
            KafkaError::UnknownTopic(_) | KafkaError::UnknownPartition { .. } => NOT_FOUND,
            KafkaError::Settings { .. } => BAD_REQUEST,
            KafkaError::Timeout(_) => TIMEOUT,
            KafkaError::Busy { .. } => BUSY,
            error if error.stage() == Stage::Authorization => FORBIDDEN,
            _ => BAD_GATEWAY,
        };
        let text = match error {
            KafkaError::UnknownTopic(_) => {
                format!("{error}: choose another one in the query editor, or create it in Kafka")
            }
            error => error.to_string(),
        };
        Self {
            text,
            status,
            source: Source::Downstream,
        }
    }
}

impl From<Fault> for Answer {
    fn from(fault: Fault) -> Self {
        Self {
            frame: None,
            fault: Some(fault),
        }
    }
}

impl From<Answer> for DataResponse {
    fn from(Answer { frame, fault }: Answer) -> Self {
        let mut response = Self {
            frames: frame.into_iter().collect(),
            status: OK,
            ..Self::default()
        };
        if let Some(Fault {
            text,
            status,
            source,
        }) = fault
        {
            response.error = text;
            response.status = status;
            response.error_source.push_str(match source {
                Source::Plugin => "plugin",
                Source::Downstream => "downstream",
            });
        }
        response
    }
}

/// Gives a frame's `meta`: the topic's id, how to subscribe to `live`, and notices.
pub(super) fn meta(topic_id: Option<&str>, live: Option<&StreamSpec>, notices: &[Notice]) -> Value {
    let mut custom = Map::new();
    if let Some(id) = topic_id {
        custom.insert("topicId".to_owned(), json!(id));
    }
    if let Some(spec) = live {
        let live = json!({ "path": path(spec), "data": data(spec), "key": key(spec) });
        custom.insert("live".to_owned(), live);
    }
    json!({ "custom": custom, "notices": notices })
}

/// Gives the display name of a field by the query's alias; none for the columns of ours, which keep their names in a stream too.
pub(super) fn display_name(
    alias: &str,
    topic: &str,
    partition: &str,
    ref_id: &str,
    field: &str,
) -> Option<String> {
    if alias.is_empty() || COORDINATES.contains(&field) || field == ERROR {
        return None;
    }
    let known = [
        ("{{topic}}", topic),
        ("{{partition}}", partition),
        ("{{refid}}", ref_id),
        ("{{field}}", field),
    ];
    let mut name = String::with_capacity(alias.len());
    let mut rest = alias;
    // In one pass: a value that looks like a placeholder stays as it is.
    while let Some(first) = rest.chars().next() {
        let found = known
            .iter()
            .find(|(placeholder, _)| rest.starts_with(placeholder));
        if let Some((placeholder, value)) = found {
            name += value;
            rest = &rest[placeholder.len()..];
        } else {
            name.push(first);
            rest = &rest[first.len_utf8()..];
        }
    }
    Some(name)
}

const OK: i32 = 200;
const BAD_REQUEST: i32 = 400;
const FORBIDDEN: i32 = 403;
const NOT_FOUND: i32 = 404;
const BUSY: i32 = 429;
const INTERNAL: i32 = 500;
const BAD_GATEWAY: i32 = 502;
const TIMEOUT: i32 = 504;
