//! `CallResource`: what the query editor asks while somebody types.
//!
//! `topics?search=&limit=&internal=`, `partitions?topic=` `detect?topic=&partition=` and `validate-schema-registry` with GET,
//! `validate-avro-schema` and `validate-protobuf-schema` with POST; answers are JSON.

mod detect;
mod validate;

use std::collections::HashMap;
use std::sync::Arc;

use grafana_plugin_sdk::pluginv2::resource_server::Resource;
use grafana_plugin_sdk::pluginv2::{CallResourceRequest, CallResourceResponse, StringList};
use serde_json::{Value, json};
use tokio_stream::{Once, once};
use tonic::{Request, Response, Status};

use super::instance::{Instance, Instances};
use crate::config::TopicName;
use crate::consume::errors::KafkaError;
use crate::consume::topics::search;
use crate::drill;

const DEFAULT_LIMIT: usize = 5;
const MAX_LIMIT: usize = 1000;

const BAD_REQUEST: u16 = 400;
const FORBIDDEN: u16 = 403;
const NOT_FOUND: u16 = 404;
const FAILED: u16 = 500;

/// Answers `CallResource`.
pub(super) struct Resources {
    instances: Arc<Instances>,
}

impl Resources {
    /// Serves the data sources of `instances`.
    pub(super) fn new(instances: Arc<Instances>) -> Self {
        Self { instances }
    }
}

#[tonic::async_trait]
impl Resource for Resources {
    type CallResourceStream = Once<Result<CallResourceResponse, Status>>;

    async fn call_resource(
        &self,
        request: Request<CallResourceRequest>,
    ) -> Result<Response<Self::CallResourceStream>, Status> {
        drill::at("CallResource");
        let request = request.into_inner();
        let (code, body) = match Call::of(&request) {
            Some(call) => match self.instances.of(request.plugin_context.as_ref()) {
                Ok(instance) => call.answer(&instance, &request.body).await,
                Err(error) => (FAILED, json!({ "error": error.to_string() })),
            },
            None => (NOT_FOUND, json!({ "error": "Not found" })),
        };
        Ok(Response::new(once(Ok(as_json(code, &body)))))
    }
}

/// Is one of the calls that there are.
#[derive(Debug, PartialEq, Eq)]
enum Call {
    Topics {
        search: String,
        limit: usize,
        internal: bool,
    },
    Partitions {
        topic: String,
    },
    Detect {
        topic: String,
        partition: String,
    },
    ValidateRegistry,
    ValidateAvro,
    ValidateProtobuf,
}

type Answer = Result<Value, (u16, String)>;

impl Call {
    fn of(request: &CallResourceRequest) -> Option<Self> {
        let parameters = parameters(&request.url);
        let text = |name: &str| parameters.get(name).cloned().unwrap_or_default();
        match (request.method.as_str(), request.path.trim_matches('/')) {
            ("GET", "topics") => {
                let limit = text("limit")
                    .parse()
                    .ok()
                    .filter(|&limit| limit > 0)
                    .unwrap_or(DEFAULT_LIMIT);
                // `prefix` is the Go plugin's name for it.
                let search = Some(text("search"))
                    .filter(|text| !text.is_empty())
                    .unwrap_or_else(|| text("prefix"));
                let internal = matches!(text("internal").as_str(), "true" | "1");
                Some(Self::Topics {
                    search: search.trim().to_owned(),
                    limit: limit.min(MAX_LIMIT),
                    internal,
                })
            }
            ("GET", "partitions") => Some(Self::Partitions {
                topic: text("topic"),
            }),
            ("GET", "detect") => Some(Self::Detect {
                topic: text("topic"),
                partition: text("partition"),
            }),
            ("GET", "validate-schema-registry") => Some(Self::ValidateRegistry),
            ("POST", "validate-avro-schema") => Some(Self::ValidateAvro),
            ("POST", "validate-protobuf-schema") => Some(Self::ValidateProtobuf),
            _ => None,
        }
    }

    /// Gives the status and the body.
    async fn answer(self, instance: &Arc<Instance>, body: &[u8]) -> (u16, Value) {
        let answer = match self {
            Self::ValidateRegistry => return validate::registry(&instance.registry).await,
            Self::ValidateAvro => return validate::avro(body).await,
            Self::ValidateProtobuf => return validate::protobuf(body).await,
            Self::Detect { topic, partition } => detect::answer(instance, &topic, &partition).await,
            Self::Topics {
                search,
                limit,
                internal,
            } => topics(instance, &search, limit, internal).await,
            Self::Partitions { topic } => partitions(instance, &topic).await,
        };
        match answer {
            Ok(body) => (200, body),
            Err((code, text)) => (code, json!({ "error": text })),
        }
    }
}

async fn topics(instance: &Instance, text: &str, limit: usize, internal: bool) -> Answer {
    let cluster = instance
        .clients
        .cluster(instance.clients.timeout())
        .await
        .map_err(|error| (FAILED, format!("Failed to get topics: {error}")))?;
    let policy = &instance.settings.topics;
    let topics = search(&cluster.topics, policy, text, internal, limit);
    Ok(json!({ "topics": topics, "prefix": text, "limit": limit }))
}

async fn partitions(instance: &Instance, topic: &str) -> Answer {
    let topic = permitted(instance, topic)?;
    let partitions = instance
        .clients
        .partitions(&topic)
        .await
        .map_err(|error| match error {
            KafkaError::UnknownTopic(_) => (NOT_FOUND, error.to_string()),
            KafkaError::Forbidden(_) => (FORBIDDEN, error.to_string()),
            error => (FAILED, format!("Failed to get partitions: {error}")),
        })?;
    Ok(json!({ "partitions": partitions, "topic": topic.as_str() }))
}

/// Reads a topic's name, and tells whether the data source may show it.
fn permitted(instance: &Instance, topic: &str) -> Result<TopicName, (u16, String)> {
    if topic.trim().is_empty() {
        return Err((BAD_REQUEST, "topic parameter is required".to_owned()));
    }
    let topic = TopicName::parse(topic).map_err(|error| (BAD_REQUEST, error.to_string()))?;
    if !instance.settings.topics.permits(topic.as_str()) {
        return Err((
            FORBIDDEN,
            format!("topic {topic} is not among those that this data source may show"),
        ));
    }
    Ok(topic)
}

/// Reads the query part of a URL; of a name that comes twice the last value stands.
fn parameters(url: &str) -> HashMap<String, String> {
    let query = url.split_once('?').map_or("", |(_, query)| query);
    let query = query.split_once('#').map_or(query, |(query, _)| query);
    form_urlencoded::parse(query.as_bytes())
        .into_owned()
        .collect()
}

fn as_json(code: u16, body: &Value) -> CallResourceResponse {
    let content_type = StringList {
        values: vec!["application/json".to_owned()],
    };
    CallResourceResponse {
        code: i32::from(code),
        headers: HashMap::from([("Content-Type".to_owned(), content_type)]),
        body: body.to_string().into_bytes().into(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn call(method: &str, url: &str) -> Option<Call> {
        let path = url.split('?').next().unwrap_or_default().to_owned();
        Call::of(&CallResourceRequest {
            method: method.into(),
            path,
            url: url.into(),
            ..Default::default()
        })
    }

    #[test]
    fn calls() {
        let topics = |search: &str, limit, internal| {
            Some(Call::Topics {
                search: search.into(),
                limit,
                internal,
            })
        };
        for (method, url, want) in [
            ("GET", "topics", topics("", 5, false)),
            (
                "GET",
                "/topics?search=Ord&limit=20",
                topics("Ord", 20, false),
            ),
            ("GET", "topics?prefix=ord&limit=0", topics("ord", 5, false)),
            (
                "GET",
                "topics?prefix=a&search=b&limit=-1&internal=true",
                topics("b", 5, true),
            ),
            (
                "GET",
                "topics?limit=100000&search=%20a%2Eb+",
                topics("a.b", 1000, false),
            ),
            (
                "GET",
                "topics?limit=many&internal=false&&x",
                topics("", 5, false),
            ),
            (
                "GET",
                "partitions?topic=orders%2ev1",
                Some(Call::Partitions {
                    topic: "orders.v1".into(),
                }),
            ),
            (
                "GET",
                "partitions",
                Some(Call::Partitions {
                    topic: String::new(),
                }),
            ),
            (
                "GET",
                "validate-schema-registry",
                Some(Call::ValidateRegistry),
            ),
            ("POST", "validate-avro-schema", Some(Call::ValidateAvro)),
            (
                "POST",
                "validate-protobuf-schema",
                Some(Call::ValidateProtobuf),
            ),
            (
                "GET",
                "detect?topic=a%20b&partition=3",
                Some(Call::Detect {
                    topic: "a b".into(),
                    partition: "3".into(),
                }),
            ),
            ("GET", "validate-avro-schema", None),
            ("POST", "validate-schema-registry", None),
            ("POST", "topics", None),
            ("GET", "brokers", None),
            ("GET", "topics/x", None),
        ] {
            assert_eq!(call(method, url), want, "{method} {url}");
        }
    }

    #[test]
    fn percent_codes() {
        for (text, want) in [
            ("a%20b", "a b"),
            ("%", "%"),
            ("%4", "%4"),
            ("%zz", "%zz"),
            ("%C3%A9", "é"),
            ("%ff", "\u{fffd}"),
        ] {
            let parameters = parameters(&format!("topics?search={text}"));
            assert_eq!(parameters["search"], want, "{text}");
        }
    }
}
