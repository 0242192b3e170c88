//! Centrifuge's JSON protocol: a command or a reply a line, several lines a frame.

use serde::Deserialize;
use serde_json::value::RawValue;
use serde_json::{Value, json};

/// What a client sends. An empty one is a pong.
#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub(super) struct Command<'a> {
    pub(super) id: u32,
    pub(super) connect: Option<Value>,
    #[serde(borrow)]
    pub(super) subscribe: Option<Subscribe<'a>>,
    pub(super) unsubscribe: Option<OnChannel>,
    pub(super) publish: Option<OnChannel>,
    pub(super) presence: Option<OnChannel>,
}

#[derive(Debug, Deserialize)]
pub(super) struct Subscribe<'a> {
    pub(super) channel: String,
    #[serde(borrow)]
    pub(super) data: Option<&'a RawValue>,
}

#[derive(Debug, Deserialize)]
pub(super) struct OnChannel {
    pub(super) channel: String,
}

/// Why a command is refused; the connection goes on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Refusal {
    Internal,
    AlreadySubscribed,
    NotAvailable,
    BadRequest,
    PermissionDenied,
    NotFound,
}

impl Refusal {
    fn json(self) -> Value {
        // The last three are HTTP's codes, which Grafana passes on.
        let (code, message) = match self {
            Refusal::Internal => {
                return json!({"code": 100, "message": "internal server error", "temporary": true});
            }
            Refusal::AlreadySubscribed => (105, "already subscribed"),
            Refusal::NotAvailable => (108, "not available"),
            Refusal::BadRequest => (400, "Bad Request"),
            Refusal::PermissionDenied => (403, "Forbidden"),
            Refusal::NotFound => (404, "Not Found"),
        };
        json!({"code": code, "message": message})
    }
}

/// Writes a reply to the command `id`.
pub(super) fn reply(id: u32, kind: &str, result: Value) -> String {
    let mut reply = json!({"id": id});
    reply[kind] = result;
    reply.to_string()
}

/// Writes an error reply.
pub(super) fn error(id: u32, refusal: Refusal) -> String {
    json!({"id": id, "error": refusal.json()}).to_string()
}

/// Writes a pushed packet, which is JSON on one line.
pub(super) fn publication(channel: &str, packet: &str) -> String {
    let channel = Value::from(channel);
    format!(r#"{{"push":{{"channel":{channel},"pub":{{"data":{packet}}}}}}}"#)
}

/// Checks that bytes are one JSON value, and gives them on one line.
pub(super) fn one_line(bytes: &[u8]) -> Option<String> {
    let text = std::str::from_utf8(bytes).ok()?;
    serde_json::from_str::<serde::de::IgnoredAny>(text).ok()?;
    Some(text.replace(['\n', '\r'], ""))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn commands() {
        for (text, expected) in [
            ("{}", "pong"),
            (r#"{"id":1,"connect":{}}"#, "connect"),
            (
                r#"{"id":2,"subscribe":{"channel":"c","data":{"a":1},"flag":1}}"#,
                "subscribe",
            ),
            (r#"{"id":3,"unsubscribe":{"channel":"c"}}"#, "unsubscribe"),
            (r#"{"id":4,"publish":{"channel":"c","data":{}}}"#, "publish"),
            (r#"{"id":5,"presence":{"channel":"c"}}"#, "presence"),
        ] {
            let command: Command<'_> = serde_json::from_str(text).expect("a command");
            let kinds = [
                (command.connect.is_some(), "connect"),
                (command.subscribe.is_some(), "subscribe"),
                (command.unsubscribe.is_some(), "unsubscribe"),
                (command.publish.is_some(), "publish"),
                (command.presence.is_some(), "presence"),
                (command.id == 0, "pong"),
            ];
            let found: Vec<_> = kinds
                .iter()
                .filter(|(is, _)| *is)
                .map(|(_, name)| *name)
                .collect();
            assert_eq!(found, [expected], "{text}");
            if let Some(subscribe) = command.subscribe {
                assert_eq!(subscribe.data.map(RawValue::get), Some(r#"{"a":1}"#));
            }
        }
    }

    #[test]
    fn answers() {
        for (text, expected) in [
            (
                reply(1, "unsubscribe", json!({})),
                json!({"id": 1, "unsubscribe": {}}),
            ),
            (
                error(2, Refusal::PermissionDenied),
                json!({"id": 2, "error": {"code": 403, "message": "Forbidden"}}),
            ),
            (
                error(3, Refusal::Internal),
                json!({"id": 3, "error":
                    {"code": 100, "message": "internal server error", "temporary": true}}),
            ),
            (
                publication("1/ds/k/p", "[1,2]"),
                json!({"push": {"channel": "1/ds/k/p", "pub": {"data": [1, 2]}}}),
            ),
        ] {
            assert_eq!(
                serde_json::from_str::<Value>(&text).ok(),
                Some(expected),
                "{text}"
            );
        }
    }

    #[test]
    fn packets() {
        for (bytes, expected) in [
            (&b"{\"a\":\n[1]}"[..], Some("{\"a\":[1]}")),
            (b"3", Some("3")),
            (b"", None),
            (b"{\"a\":", None),
            (b"{} {}", None),
            (b"\"\xff\"", None),
        ] {
            assert_eq!(one_line(bytes).as_deref(), expected, "{bytes:?}");
        }
    }
}
