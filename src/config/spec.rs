//! What one stream reads and how it is shown: everything that makes two streams different.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use super::{AvroOptions, Cursor, Framing, LineProtocolOptions, ProtobufOptions, TopicName};

/// Is a query with its defaults, without what only changes how a panel shows it (refId, alias, `recordColumns`).
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct StreamSpec {
    pub topic: TopicName,
    pub partition: PartitionSelection,
    pub start: StartPosition,
    pub time: TimeSource,
    pub format: ValueFormat,
    pub key: KeyFormat,
    /// One text column a header name, `header.<name>`.
    pub headers: bool,
    /// Fixed column types, by column name.
    pub field_types: BTreeMap<String, FieldType>,
    /// The channel's budget: what a browser can show, at most.
    pub pacing: bool,
    /// A `latest` stream never skips forward.
    pub every_record: bool,
    pub isolation: IsolationLevel,
    /// Where the answer to the query stopped, so that the stream goes on there.
    pub cursor: Option<Cursor>,
    /// Keeps two runs with the same cursor apart, since a viewer who joins a run gets nothing from before.
    pub nonce: Option<String>,
}

impl StreamSpec {
    /// Tells whether the headers of records are of use: as columns, or since a schema's id may stand there.
    pub fn reads_headers(&self) -> bool {
        let by_id = [self.value_framing(), self.key_framing()]
            .into_iter()
            .flatten()
            .any(|framing| {
                matches!(
                    framing,
                    Framing::Auto | Framing::ConfluentHeader | Framing::Apicurio
                )
            });
        self.headers || by_id
    }

    fn value_framing(&self) -> Option<Framing> {
        match &self.format {
            ValueFormat::Avro(avro) => Some(avro.framing),
            ValueFormat::Protobuf(protobuf) => Some(protobuf.framing),
            ValueFormat::Json | ValueFormat::Plaintext | ValueFormat::LineProtocol(_) => None,
        }
    }

    fn key_framing(&self) -> Option<Framing> {
        match &self.key {
            KeyFormat::Avro(avro) => Some(avro.framing),
            KeyFormat::Protobuf(protobuf) => Some(protobuf.framing),
            KeyFormat::None | KeyFormat::String | KeyFormat::Json | KeyFormat::Base64 => None,
        }
    }
}

/// Says which partitions are read.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum PartitionSelection {
    All,
    One(i32),
}

/// Says where reading starts.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum StartPosition {
    /// Only records that arrive from now on.
    Latest,
    /// The first record that Kafka still has.
    Earliest,
    /// The last N records of each partition.
    LastN(u32),
}

/// Says where a row's time comes from.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum TimeSource {
    /// The record's timestamp.
    Record,
    /// The moment at which the plugin received the record.
    Arrival,
    /// A field of the payload, by its dotted path.
    Field { path: String, unit: TimeUnit },
}

/// Says what a number in the time field counts.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum TimeUnit {
    /// By magnitude; text is read as RFC 3339.
    #[default]
    Auto,
    S,
    Ms,
    Us,
    Ns,
    Rfc3339,
}

/// Says how values are decoded.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ValueFormat {
    Json,
    Plaintext,
    Avro(AvroOptions),
    LineProtocol(LineProtocolOptions),
    Protobuf(ProtobufOptions),
}

/// Says how keys are decoded.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum KeyFormat {
    /// No key column.
    None,
    /// One text column `key`.
    String,
    /// An object's fields, as columns `key.<path>`.
    Json,
    /// One text column `key` of standard base64.
    Base64,
    /// A record's fields, as columns `key.<path>`; anything else as one column `key`.
    Avro(AvroOptions),
    /// A message's fields, as columns `key.<path>`.
    Protobuf(ProtobufOptions),
}

/// Is one of the four types that Grafana tells apart in a stream.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum FieldType {
    Number,
    Text,
    Boolean,
    Time,
}

/// Says whether records of aborted and open transactions are shown.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub enum IsolationLevel {
    #[default]
    ReadCommitted,
    ReadUncommitted,
}
