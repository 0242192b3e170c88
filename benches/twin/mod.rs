//! The plain way to the same packets: a tree, an ordered map and a sort a record, a frame of values. Nothing here is clever,
//! so that tests can hold the core against it and benches say what the core's tricks are worth.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::{Map, Value, json};

/// The path segments that flattening keeps.
const MAX_DEPTH: usize = 5;

/// Decodes one record into its fields by dotted path; `None` where it is no JSON.
pub(crate) fn decode(format: &str, value: &[u8]) -> Option<BTreeMap<String, Value>> {
    let mut fields = BTreeMap::new();
    if format == "plaintext" {
        fields.insert("message".to_owned(), json!(String::from_utf8_lossy(value)));
        return Some(fields);
    }
    match serde_json::from_slice(value).ok()? {
        Value::Object(object) => flatten(&object, "", 1, &mut fields),
        other => {
            fields.insert("value".to_owned(), other);
        }
    }
    Some(fields)
}

fn flatten(
    object: &Map<String, Value>,
    path: &str,
    depth: usize,
    fields: &mut BTreeMap<String, Value>,
) {
    for (key, value) in object {
        let odd = key.is_empty() || key.contains(['.', '[', ']', '"']);
        let path = match (odd, path) {
            (true, path) => format!("{path}[{}]", json!(key)),
            (false, "") => key.clone(),
            (false, path) => format!("{path}.{key}"),
        };
        match value {
            Value::Object(inner) if depth < MAX_DEPTH => flatten(inner, &path, depth + 1, fields),
            Value::Object(_) | Value::Array(_) => {
                drop(fields.insert(path, json!(value.to_string())));
            }
            Value::Null => drop(fields.remove(&path)),
            Value::Number(number) => drop(fields.insert(path, json!(number.as_f64()))),
            _ => drop(fields.insert(path, value.clone())),
        }
    }
}

/// Makes one frame's JSON of records that were decoded, all with the same time and offset.
pub(crate) fn packet(
    topic: &str,
    time: i64,
    offset: i64,
    records: &[BTreeMap<String, Value>],
) -> Vec<u8> {
    let names: BTreeSet<&String> = records.iter().flat_map(BTreeMap::keys).collect();
    let mut fields = vec![
        json!({ "name": "time", "type": "time", "typeInfo": { "frame": "time.Time" } }),
        json!({ "name": "partition", "type": "number", "typeInfo": { "frame": "int32", "nullable": true } }),
        json!({ "name": "offset", "type": "number", "typeInfo": { "frame": "int64", "nullable": true } }),
    ];
    let mut columns = vec![
        json!(vec![time; records.len()]),
        json!(vec![0; records.len()]),
        json!(vec![offset; records.len()]),
    ];
    for name in names {
        let cells: Vec<Value> = records
            .iter()
            .map(|fields| fields.get(name).cloned().unwrap_or_default())
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
