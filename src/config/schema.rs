//! Where typed formats have their schemas from, and how their records name them.

use serde::{Deserialize, Serialize};

use super::TopicName;
use crate::schema::{Role, Subject};

/// Says where a schema comes from.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum SchemaSource<S> {
    /// It stands in the query, and is the writer schema of all records.
    Inline(S),
    /// The data source's registry has it; each record says which one.
    Registry,
}

/// Says which subject's newest version a record has that names no schema.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub enum SubjectSelection {
    /// `<topic>-value` or `<topic>-key`.
    #[default]
    Topic,
    /// The full name of the record.
    Record(String),
    /// The topic, a hyphen and the full name of the record.
    TopicRecord(String),
    Explicit(String),
}

impl SubjectSelection {
    /// Gives the subject for one half of the records of `topic`.
    pub fn subject(&self, topic: &TopicName, role: Role) -> Subject {
        let topic = topic.as_str();
        match self {
            Self::Topic => format!("{topic}-{}", role.as_str()).into(),
            Self::Record(name) | Self::Explicit(name) => name.as_str().into(),
            Self::TopicRecord(name) => format!("{topic}-{name}").into(),
        }
    }

    /// Gives the strategy's name in a query, and the text beside it.
    pub(super) fn written(&self) -> (&'static str, &str) {
        match self {
            Self::Topic => ("topic", ""),
            Self::Record(name) => ("record", name),
            Self::TopicRecord(name) => ("topicRecord", name),
            Self::Explicit(subject) => ("explicit", subject),
        }
    }
}

/// Says how a record names its schema.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub enum Framing {
    /// What the record shows: an id in a header, else before the body, else none. With a schema in the query, a value is raw
    /// if that uses every byte, else framed if that does.
    #[default]
    Auto,
    /// The value is the body alone.
    None,
    Confluent,
    /// The id stands in a header, the value is the body alone.
    ConfluentHeader,
    /// In a header, or before the body with 8 bytes.
    Apicurio,
    Glue,
}

/// Says how bytes and fixed show.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum BytesAs {
    #[default]
    Base64,
    Text,
    Hex,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn subjects() {
        let topic = TopicName::parse("t").unwrap();
        for (selection, value, key) in [
            (SubjectSelection::Topic, "t-value", "t-key"),
            (SubjectSelection::Record("a.B".into()), "a.B", "a.B"),
            (
                SubjectSelection::TopicRecord("a.B".into()),
                "t-a.B",
                "t-a.B",
            ),
            (SubjectSelection::Explicit("s".into()), "s", "s"),
        ] {
            let got = [Role::Value, Role::Key].map(|role| selection.subject(&topic, role));
            assert_eq!(got.each_ref().map(|s| &**s), [value, key], "{selection:?}");
        }
    }
}
