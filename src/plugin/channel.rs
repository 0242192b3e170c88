//! Who may open a live channel, and the columns of those that are open.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, Weak};

use thiserror::Error;

use crate::columns::StreamSchema;
use crate::config::{QueryError, StreamSpec, Subscription, TopicName, TopicPolicy, path};

/// Says why a channel is not opened.
#[derive(Debug, Error, PartialEq, Eq)]
pub(super) enum Refusal {
    #[error("the subscription's data is no query of this data source: {0}")]
    Query(#[from] QueryError),
    #[error("the channel's path does not belong to the subscription's data")]
    Path,
    #[error(transparent)]
    Topic(#[from] Denied),
}

/// Says that an administrator keeps a topic from this data source.
#[derive(Debug, Error, PartialEq, Eq)]
#[error(
    "topic {0} is not allowed in this data source: its settings limit the topics (`topicAllow`, `topicDeny`); ask its \
     administrator"
)]
pub(super) struct Denied(pub(super) TopicName);

/// Reads the data of a subscription and checks that `wanted` is its path and that its topic may be read.
///
/// The check of the path keeps a viewer from attaching another query to a channel that others watch.
pub(super) fn admit(
    policy: &TopicPolicy,
    wanted: &str,
    data: &[u8],
) -> Result<StreamSpec, Refusal> {
    let Subscription { spec } = Subscription::parse(data)?;
    if path(&spec) != wanted {
        return Err(Refusal::Path);
    }
    permit(policy, &spec.topic)?;
    Ok(spec)
}

/// Checks that an administrator lets a topic through.
pub(super) fn permit(policy: &TopicPolicy, topic: &TopicName) -> Result<(), Denied> {
    if policy.permits(topic.as_str()) {
        Ok(())
    } else {
        Err(Denied(topic.clone()))
    }
}

/// Holds the columns of what runs now, by the stream's key: packets and answers of one query then agree.
#[derive(Debug, Default)]
pub(super) struct Schemas(Mutex<HashMap<String, Weak<StreamSchema>>>);

impl Schemas {
    /// Gives the columns of a key; new ones where nothing of it runs.
    pub(super) fn of(&self, key: String) -> Arc<StreamSchema> {
        let mut known = self.known();
        if let Some(schema) = known.get(&key).and_then(Weak::upgrade) {
            return schema;
        }
        known.retain(|_, schema| schema.strong_count() > 0);
        let schema = Arc::new(StreamSchema::new());
        known.insert(key, Arc::downgrade(&schema));
        schema
    }

    fn known(&self) -> MutexGuard<'_, HashMap<String, Weak<StreamSchema>>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::config::{PanelQuery, Settings, data};

    fn policy() -> TopicPolicy {
        let settings = json!({ "bootstrapServers": "a:1", "topicAllow": ["orders*"], "topicDeny": ["orders.secret"] });
        Settings::parse(settings.to_string().as_bytes(), &HashMap::new())
            .unwrap()
            .topics
    }

    #[test]
    fn who_gets_in() {
        let spec = |query: serde_json::Value| {
            PanelQuery::parse(query.to_string().as_bytes())
                .unwrap()
                .spec
        };
        let orders = spec(json!({ "topicName": "orders" }));
        let earliest = spec(json!({ "topicName": "orders", "autoOffsetReset": "earliest" }));
        let secret = spec(json!({ "topicName": "orders.secret" }));
        let others = spec(json!({ "topicName": "payments" }));
        let denied = |spec: &StreamSpec| Err(Refusal::Topic(Denied(spec.topic.clone())));
        for (under, sent, want) in [
            (path(&orders), data(&orders), Ok(orders.clone())),
            (path(&earliest), data(&earliest), Ok(earliest.clone())),
            // Another query under a path that is known.
            (path(&orders), data(&earliest), Err(Refusal::Path)),
            (String::new(), data(&orders), Err(Refusal::Path)),
            (path(&secret), data(&secret), denied(&secret)),
            (path(&others), data(&others), denied(&others)),
        ] {
            let got = admit(&policy(), &under, sent.to_string().as_bytes());
            assert_eq!(got, want, "{under} {sent}");
        }
        for sent in ["", "null", "[]", "{}", r#"{"topicName":""}"#] {
            let got = admit(&policy(), &path(&orders), sent.as_bytes());
            assert!(matches!(got, Err(Refusal::Query(_))), "{sent:?} {got:?}");
        }
    }

    #[test]
    fn columns_are_shared_while_something_runs() {
        let schemas = Schemas::default();
        let first = schemas.of("a".into());
        assert!(Arc::ptr_eq(&first, &schemas.of("a".into())));
        assert!(!Arc::ptr_eq(&first, &schemas.of("b".into())));
        drop(first);
        schemas.of("c".into());
        assert_eq!(schemas.known().len(), 1, "what has ended is forgotten");
    }
}
