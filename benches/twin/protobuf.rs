//! Protobuf the plain way: prost-reflect's message, and a walk over it.

use std::collections::BTreeMap;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use prost_reflect::{
    DescriptorPool, DynamicMessage, Kind, MapKey, MessageDescriptor, ReflectMessage, Value as Of,
};
use protox::file::File;
use serde_json::{Value, json};

/// The path segments that flattening keeps.
const MAX_DEPTH: usize = 5;

/// Compiles the query's schema, which imports nothing but Google's own files; gives the message that the query names, or the
/// first.
pub(super) fn message(query: &Value) -> Option<MessageDescriptor> {
    let file = File::from_source("schema.proto", query["protobufSchema"].as_str()?).ok()?;
    let mut pool = DescriptorPool::global();
    pool.add_file_descriptor_proto(file.file_descriptor_proto().clone())
        .ok()?;
    match query["protobufMessage"].as_str() {
        Some(name) => pool.get_message_by_name(name),
        None => pool.get_file_by_name("schema.proto")?.messages().next(),
    }
}

/// Decodes one record into its fields by dotted path; `None` where it is no such message.
pub(super) fn cells(of: &MessageDescriptor, value: &[u8]) -> Option<BTreeMap<String, Value>> {
    let message = DynamicMessage::decode(of.clone(), value).ok()?;
    let mut cells = BTreeMap::new();
    flatten(&message, "", 1, &mut cells);
    Some(cells)
}

fn flatten(
    message: &DynamicMessage,
    path: &str,
    depth: usize,
    cells: &mut BTreeMap<String, Value>,
) {
    for field in message.descriptor().fields() {
        if field.supports_presence() && !message.has_field(&field) {
            continue;
        }
        let path = join(path, field.name());
        match &*message.get_field(&field) {
            Of::Message(inner) if depth < MAX_DEPTH && !is_time(inner) => {
                flatten(inner, &path, depth + 1, cells);
            }
            Of::Map(entries) if depth < MAX_DEPTH => {
                for (key, value) in entries {
                    cells.insert(join(&path, &text(key)), json_of(value, &field.kind()));
                }
            }
            list @ Of::List(_) => {
                let list = json_of(list, &field.kind());
                cells.insert(path, json!(list.to_string()));
            }
            value => drop(cells.insert(path, json_of(value, &field.kind()))),
        }
    }
}

fn join(path: &str, name: &str) -> String {
    if path.is_empty() {
        name.to_owned()
    } else {
        format!("{path}.{name}")
    }
}

fn is_time(message: &DynamicMessage) -> bool {
    message.descriptor().full_name() == "google.protobuf.Timestamp"
}

fn text(key: &MapKey) -> String {
    match key {
        MapKey::String(key) => key.clone(),
        other => format!("{other:?}"),
    }
}

fn json_of(value: &Of, kind: &Kind) -> Value {
    match value {
        Of::Bool(value) => json!(value),
        Of::I32(value) => json!(value),
        Of::I64(value) => json!(value),
        Of::U32(value) => json!(value),
        Of::U64(value) => json!(value),
        Of::F32(value) => json!(value),
        Of::F64(value) => json!(value),
        Of::String(text) => json!(text),
        Of::Bytes(bytes) => json!(STANDARD.encode(bytes)),
        Of::EnumNumber(number) => match kind {
            Kind::Enum(of) => of
                .get_value(*number)
                .map_or_else(|| json!(number.to_string()), |of| json!(of.name())),
            _ => json!(number),
        },
        Of::List(items) => items.iter().map(|item| json_of(item, kind)).collect(),
        Of::Map(entries) => entries
            .iter()
            .map(|(key, value)| (text(key), json_of(value, kind)))
            .collect(),
        Of::Message(message) if is_time(message) => {
            let seconds = message.get_field_by_number(1).and_then(|of| of.as_i64());
            let nanos = message.get_field_by_number(2).and_then(|of| of.as_i32());
            json!(seconds.unwrap_or(0) * 1_000 + i64::from(nanos.unwrap_or(0)) / 1_000_000)
        }
        Of::Message(message) => message
            .fields()
            .map(|(field, value)| (field.name().to_owned(), json_of(value, &field.kind())))
            .collect(),
    }
}
