//! The plain way to the same packets: a tree, an ordered map and a sort a record, a frame of values. Nothing here is clever,
//! so that tests can hold the core against it and benches say what the core's tricks are worth.

mod avro;
mod json;
mod line_protocol;
mod protobuf;

use std::collections::{BTreeMap, BTreeSet};

use apache_avro::reader::datum::GenericDatumReader;
use prost_reflect::MessageDescriptor;
use serde_json::{Value, json};

/// Is one row: its time in milliseconds, and its cells by column.
#[derive(Debug)]
pub(crate) struct Row {
    pub(crate) time: i64,
    pub(crate) cells: BTreeMap<String, Value>,
}

/// Decodes the records of one query.
pub(crate) enum Twin {
    Plaintext,
    Json,
    LineProtocol,
    Protobuf(MessageDescriptor),
    Avro(GenericDatumReader<'static>),
}

impl Twin {
    /// Makes the twin for `query`.
    pub(crate) fn new(query: &Value) -> Self {
        match query["messageFormat"].as_str() {
            Some("plaintext") => Self::Plaintext,
            Some("lineprotocol") => Self::LineProtocol,
            Some("protobuf") => {
                let message =
                    protobuf::message(query).expect("fixtures have schemas that are right");
                Self::Protobuf(message)
            }
            Some("avro") => Self::Avro(avro::reader(
                query["avroSchema"].as_str().unwrap_or_default(),
            )),
            _ => Self::Json,
        }
    }

    /// Decodes one record, which has come at `time`, into rows; `None` where it is not of its format.
    pub(crate) fn decode(&self, value: &[u8], time: i64) -> Option<Vec<Row>> {
        let cells = match self {
            Self::LineProtocol => return line_protocol::rows(value, time),
            Self::Plaintext => {
                [("message".to_owned(), json!(String::from_utf8_lossy(value)))].into()
            }
            Self::Json => json::cells(value)?,
            Self::Protobuf(message) => protobuf::cells(message, value)?,
            Self::Avro(reader) => avro::fields(reader, value)?,
        };
        Some(vec![Row { time, cells }])
    }
}

/// Makes one frame's JSON of rows, all with the same offset.
pub(crate) fn packet(topic: &str, offset: i64, rows: &[Row]) -> Vec<u8> {
    let names: BTreeSet<&String> = rows.iter().flat_map(|row| row.cells.keys()).collect();
    let mut fields = vec![
        json!({ "name": "time", "type": "time", "typeInfo": { "frame": "time.Time" } }),
        json!({ "name": "partition", "type": "number", "typeInfo": { "frame": "int32", "nullable": true } }),
        json!({ "name": "offset", "type": "number", "typeInfo": { "frame": "int64", "nullable": true } }),
    ];
    let mut columns = vec![
        json!(rows.iter().map(|row| row.time).collect::<Vec<_>>()),
        json!(vec![0; rows.len()]),
        json!(vec![offset; rows.len()]),
    ];
    for name in names {
        let cells: Vec<Value> = rows
            .iter()
            .map(|row| row.cells.get(name).cloned().unwrap_or_default())
            .collect();
        let (kind, frame) = match cells.iter().find(|cell| !cell.is_null()) {
            Some(Value::Bool(_)) => ("boolean", "bool"),
            Some(Value::Number(_)) => ("number", "float64"),
            _ => ("string", "string"),
        };
        fields.push(
            json!({ "name": name, "type": kind, "typeInfo": { "frame": frame, "nullable": true } }),
        );
        columns.push(json!(cells));
    }
    let frame = json!({
        "schema": { "name": topic, "meta": { "custom": {} }, "fields": fields },
        "data": { "values": columns },
    });
    serde_json::to_vec(&frame).expect("a frame is JSON")
}
