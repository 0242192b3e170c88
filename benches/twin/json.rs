//! JSON the plain way: a tree, then a map.

use std::collections::BTreeMap;

use serde_json::{Map, Value, json};

/// Decodes one record into its cells; `None` where it is no JSON.
pub(crate) fn cells(value: &[u8]) -> Option<BTreeMap<String, Value>> {
    let mut fields = BTreeMap::new();
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

/// The path segments that flattening keeps.
const MAX_DEPTH: usize = 5;
