//! The name of a stream: a digest of everything that makes its packets what they are.
//!
//! A browser subscribes with `data` under `path`. The plugin computes the path again from the data, so nobody
//! attaches another query to a path that others watch. Both are computed here and nowhere else.

use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use serde_json::{Value, json};
use sha2::{Digest, Sha256};

use super::{
    AvroSchema, KeyFormat, PartitionSelection, ProtobufSchema, SchemaSource, StartPosition,
    StreamSpec, SubjectSelection, TimeSource, ValueFormat,
};

/// Gives the subscribe data: the query with its defaults, flat, in the keys that queries are written in.
pub fn data(spec: &StreamSpec) -> Value {
    let mut data = json!({
        "topicName": spec.topic.as_str(),
        "partition": match spec.partition {
            PartitionSelection::All => json!("all"),
            PartitionSelection::One(partition) => json!(partition),
        },
        "headers": spec.headers,
        "fieldTypes": spec.field_types,
        "pacing": spec.pacing,
        "everyRecord": spec.every_record,
        "isolationLevel": spec.isolation,
    });
    match &spec.format {
        ValueFormat::Json => data["messageFormat"] = json!("json"),
        ValueFormat::Plaintext => data["messageFormat"] = json!("plaintext"),
        ValueFormat::LineProtocol(lines) => {
            data["messageFormat"] = json!("lineprotocol");
            data["lineProtocolLayout"] = json!(lines.layout);
            data["lineProtocolTimestampPrecision"] = json!(lines.precision);
            data["lineProtocolMeasurements"] = json!(lines.measurements.text());
            data["lineProtocolFields"] = json!(lines.fields.text());
            data["lineProtocolTags"] = json!(lines.tags.text());
        }
        ValueFormat::Avro(avro) => {
            data["messageFormat"] = json!("avro");
            source(&mut data, avro_text(&avro.source), AVRO_KEYS);
            data["framing"] = json!(avro.framing);
            data["bytesAs"] = json!(avro.bytes_as);
            if avro.source == SchemaSource::Registry {
                subject(&mut data, &avro.subject);
            }
            if let Some(reader) = &avro.reader {
                data["avroReaderSchema"] = json!(**reader.text());
            }
        }
        ValueFormat::Protobuf(protobuf) => {
            data["messageFormat"] = json!("protobuf");
            source(&mut data, protobuf_text(&protobuf.source), PROTOBUF_KEYS);
            if let Some(message) = &protobuf.message {
                data["protobufMessage"] = json!(message);
            }
            data["framing"] = json!(protobuf.framing);
            data["bytesAs"] = json!(protobuf.bytes_as);
            if protobuf.source == SchemaSource::Registry {
                subject(&mut data, &protobuf.subject);
            }
        }
    }
    match &spec.key {
        KeyFormat::None => data["keyFormat"] = json!("none"),
        KeyFormat::String => data["keyFormat"] = json!("string"),
        KeyFormat::Json => data["keyFormat"] = json!("json"),
        KeyFormat::Base64 => data["keyFormat"] = json!("base64"),
        KeyFormat::Avro(avro) => {
            data["keyFormat"] = json!("avro");
            source(&mut data, avro_text(&avro.source), KEY_KEYS);
            data["bytesAs"] = json!(avro.bytes_as);
        }
        KeyFormat::Protobuf(protobuf) => {
            data["keyFormat"] = json!("protobuf");
            source(&mut data, protobuf_text(&protobuf.source), KEY_KEYS);
            if let Some(message) = &protobuf.message {
                data["keyProtobufMessage"] = json!(message);
            }
            data["bytesAs"] = json!(protobuf.bytes_as);
        }
    }
    match spec.start {
        StartPosition::Latest => data["autoOffsetReset"] = json!("latest"),
        StartPosition::Earliest => data["autoOffsetReset"] = json!("earliest"),
        StartPosition::LastN(n) => {
            data["autoOffsetReset"] = json!("lastN");
            data["lastN"] = json!(n);
        }
    }
    match &spec.time {
        TimeSource::Record => data["timestampMode"] = json!("message"),
        TimeSource::Arrival => data["timestampMode"] = json!("now"),
        TimeSource::Field { path, unit } => {
            data["timeField"] = json!(path);
            data["timeUnit"] = json!(unit);
        }
    }
    if let Some(cursor) = &spec.cursor {
        data["cursor"] = json!(cursor);
    }
    if let Some(nonce) = &spec.nonce {
        data["nonce"] = json!(nonce);
    }
    data
}

/// Writes where a schema comes from, in the query's keys for source and text; `None` is the registry.
fn source(data: &mut Value, schema: Option<&str>, [key, text]: [&str; 2]) {
    match schema {
        Some(schema) => {
            data[key] = json!("inlineSchema");
            data[text] = json!(schema);
        }
        None => data[key] = json!("schemaRegistry"),
    }
}

fn avro_text(source: &SchemaSource<AvroSchema>) -> Option<&str> {
    match source {
        SchemaSource::Inline(schema) => Some(schema.text()),
        SchemaSource::Registry => None,
    }
}

fn protobuf_text(source: &SchemaSource<ProtobufSchema>) -> Option<&str> {
    match source {
        SchemaSource::Inline(schema) => Some(schema.text()),
        SchemaSource::Registry => None,
    }
}

fn subject(data: &mut Value, selection: &SubjectSelection) {
    let (strategy, text) = selection.written();
    data["subjectStrategy"] = json!(strategy);
    data["subject"] = json!(text);
}

/// Gives the channel's path: 43 characters that Grafana's channel ids take.
pub fn path(spec: &StreamSpec) -> String {
    digest(&data(spec))
}

/// Gives what stays the same when a viewer asks again: the path of the spec without cursor and nonce.
pub fn key(spec: &StreamSpec) -> String {
    path(&StreamSpec {
        cursor: None,
        nonce: None,
        ..spec.clone()
    })
}

const PROTOBUF_KEYS: [&str; 2] = ["protobufSchemaSource", "protobufSchema"];
const AVRO_KEYS: [&str; 2] = ["avroSchemaSource", "avroSchema"];
const KEY_KEYS: [&str; 2] = ["keySchemaSource", "keySchema"];

fn digest(data: &Value) -> String {
    URL_SAFE_NO_PAD.encode(Sha256::digest(data.to_string()))
}

#[cfg(test)]
mod tests {
    use std::collections::HashSet;

    use super::*;
    use crate::config::{Cursor, PanelQuery, Subscription};

    fn spec(query: &Value) -> StreamSpec {
        PanelQuery::parse(query.to_string().as_bytes())
            .unwrap()
            .spec
    }

    /// Each query differs from the first in one thing that changes packets.
    #[test]
    fn every_difference_makes_another_path() {
        let queries = [
            json!({ "topicName": "t" }),
            json!({ "topicName": "u" }),
            json!({ "topicName": "t", "partition": 0 }),
            json!({ "topicName": "t", "partition": 1 }),
            json!({ "topicName": "t", "autoOffsetReset": "earliest" }),
            json!({ "topicName": "t", "autoOffsetReset": "lastN" }),
            json!({ "topicName": "t", "autoOffsetReset": "lastN", "lastN": 7 }),
            json!({ "topicName": "t", "timestampMode": "now" }),
            json!({ "topicName": "t", "timeField": "at" }),
            json!({ "topicName": "t", "timeField": "at", "timeUnit": "s" }),
            json!({ "topicName": "t", "messageFormat": "plaintext" }),
            json!({ "topicName": "t", "messageFormat": "avro", "avroSchemaSource": "inlineSchema", "avroSchema": "\"int\"" }),
            json!({ "topicName": "t", "messageFormat": "avro", "avroSchemaSource": "inlineSchema", "avroSchema": "\"long\"" }),
            json!({ "topicName": "t", "messageFormat": "avro", "avroSchemaSource": "inlineSchema", "avroSchema": "\"int\"", "framing": "none" }),
            json!({ "topicName": "t", "messageFormat": "avro", "avroSchemaSource": "inlineSchema", "avroSchema": "\"int\"", "bytesAs": "hex" }),
            json!({ "topicName": "t", "messageFormat": "avro" }),
            json!({ "topicName": "t", "messageFormat": "avro", "subjectStrategy": "explicit", "subject": "s" }),
            json!({ "topicName": "t", "messageFormat": "avro", "subjectStrategy": "record", "subject": "s" }),
            json!({ "topicName": "t", "messageFormat": "avro", "avroReaderSchema": "\"long\"" }),
            json!({ "topicName": "t", "keyFormat": "avro" }),
            json!({ "topicName": "t", "keyFormat": "avro", "keySchemaSource": "inlineSchema", "keySchema": "\"int\"" }),
            json!({ "topicName": "t", "messageFormat": "lineprotocol" }),
            json!({ "topicName": "t", "messageFormat": "lineprotocol", "lineProtocolLayout": "wide" }),
            json!({ "topicName": "t", "messageFormat": "lineprotocol", "lineProtocolTimestampPrecision": "ms" }),
            json!({ "topicName": "t", "messageFormat": "lineprotocol", "lineProtocolMeasurements": "a" }),
            json!({ "topicName": "t", "messageFormat": "lineprotocol", "lineProtocolFields": "a" }),
            json!({ "topicName": "t", "messageFormat": "lineprotocol", "lineProtocolTags": "a=b" }),
            json!({ "topicName": "t", "messageFormat": "protobuf" }),
            json!({ "topicName": "t", "messageFormat": "protobuf", "protobufMessage": "B" }),
            json!({ "topicName": "t", "messageFormat": "protobuf", "protobufMessage": "B", "subjectStrategy": "record" }),
            json!({ "topicName": "t", "messageFormat": "protobuf", "protobufSchemaSource": "inlineSchema", "protobufSchema": "message A {} message B {}" }),
            json!({ "topicName": "t", "messageFormat": "protobuf", "protobufSchemaSource": "inlineSchema", "protobufSchema": "message B {} message A {}" }),
            json!({ "topicName": "t", "messageFormat": "protobuf", "protobufSchemaSource": "inlineSchema", "protobufSchema": "message A {} message B {}", "protobufMessage": "B" }),
            json!({ "topicName": "t", "messageFormat": "protobuf", "protobufSchemaSource": "inlineSchema", "protobufSchema": "message A {} message B {}", "framing": "none" }),
            json!({ "topicName": "t", "messageFormat": "protobuf", "protobufSchemaSource": "inlineSchema", "protobufSchema": "message A {} message B {}", "bytesAs": "hex" }),
            json!({ "topicName": "t", "keyFormat": "protobuf" }),
            json!({ "topicName": "t", "keyFormat": "protobuf", "keyProtobufMessage": "B" }),
            json!({ "topicName": "t", "keyFormat": "protobuf", "keySchemaSource": "inlineSchema", "keySchema": "message A {}" }),
            json!({ "topicName": "t", "keyFormat": "string" }),
            json!({ "topicName": "t", "headers": true }),
            json!({ "topicName": "t", "fieldTypes": { "a": "text" } }),
            json!({ "topicName": "t", "fieldTypes": { "a": "number" } }),
            json!({ "topicName": "t", "pacing": false }),
            json!({ "topicName": "t", "everyRecord": true }),
            json!({ "topicName": "t", "isolationLevel": "readUncommitted" }),
        ];
        let paths: HashSet<_> = queries.iter().map(|query| path(&spec(query))).collect();
        assert_eq!(paths.len(), queries.len());
        for path in paths {
            assert!(
                path.chars()
                    .all(|c| c.is_ascii_alphanumeric() || c == '-' || c == '_'),
                "{path}"
            );
        }
    }

    #[test]
    fn what_only_the_panel_shows_makes_no_other_path() {
        let plain = spec(&json!({ "topicName": "t" }));
        for query in [
            json!({ "topicName": "t", "refId": "B", "alias": "x", "recordColumns": "never" }),
            json!({ "topicName": " t ", "partition": "all", "autoOffsetReset": "latest", "lastN": 9 }),
        ] {
            assert_eq!(path(&spec(&query)), path(&plain), "{query}");
        }
    }

    #[test]
    fn the_key_passes_over_cursor_and_nonce_and_the_path_does_not() {
        let plain = spec(&json!({ "topicName": "t", "autoOffsetReset": "earliest" }));
        let cursor = Cursor {
            topic_id: Some("id".into()),
            next: [(0, 5), (10, 7)].into(),
        };
        let run = StreamSpec {
            cursor: Some(cursor),
            nonce: Some("n".into()),
            ..plain.clone()
        };
        assert_eq!(key(&run), key(&plain));
        assert_ne!(path(&run), path(&plain));
    }

    #[test]
    fn data_reads_back_as_the_same_spec() {
        for query in [
            json!({ "topicName": "t", "messageFormat": "avro", "keyFormat": "avro", "bytesAs": "hex", "framing": "confluent",
                "subjectStrategy": "topicRecord", "avroReaderSchema": "{\"type\":\"record\",\"name\":\"a.R\",\"fields\":[]}" }),
            json!({ "topicName": "t", "keyFormat": "avro", "keySchemaSource": "inlineSchema", "keySchema": "\"int\"" }),
        ] {
            let spec = spec(&query);
            let back = Subscription::parse(data(&spec).to_string().as_bytes()).unwrap();
            assert_eq!(back.spec, spec, "{query}");
        }
        let query = json!({ "topicName": "t", "partition": "3", "autoOffsetReset": "lastN", "lastN": "5",
            "timeField": "a.b", "timeUnit": "rfc3339", "keyFormat": "json", "headers": "true",
            "fieldTypes": { "x": "time" }, "pacing": "false", "everyRecord": true, "isolationLevel": "readUncommitted" });
        let mut spec = spec(&query);
        spec.cursor = Some(Cursor {
            topic_id: None,
            next: [(2, 1), (10, 2)].into(),
        });
        spec.nonce = Some("n".into());
        let back = Subscription::parse(data(&spec).to_string().as_bytes())
            .unwrap()
            .spec;
        assert_eq!(back, spec);
        assert_eq!(path(&back), path(&spec));
    }
}
