//! Random schemas and messages: the plan's row is the one that prost-reflect's own messages give.

use std::fmt::Write;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use proptest::prelude::*;
use prost_reflect::prost::Message as _;
use prost_reflect::{
    DynamicMessage, FieldDescriptor, Kind, MapKey, MessageDescriptor, ReflectMessage, Value as Of,
};
use serde_json::{Map, Value, json};

use super::show;
use crate::config::ProtobufSchema;

/// Gives numbers out of random bytes, zeros when they are used up.
struct Dice<'a>(std::slice::Iter<'a, u8>);

impl Dice<'_> {
    fn roll(&mut self, sides: usize) -> usize {
        usize::from(self.0.next().copied().unwrap_or(0)) % sides
    }

    fn long(&mut self) -> i64 {
        let bits = self.roll(50) as u32;
        let value = (self.roll(256) as i64) << bits;
        if self.roll(2) == 0 { value } else { -value }
    }

    fn text(&mut self) -> String {
        ["", "x", "grün", "a \"b\"", "line\nend"][self.roll(5)].to_owned()
    }
}

const SCALARS: [&str; 16] = [
    "bool", "int32", "int64", "uint32", "uint64", "sint32", "sint64", "fixed32", "fixed64",
    "sfixed32", "sfixed64", "float", "double", "string", "bytes", "Kind",
];
const KNOWN: [&str; 9] = [
    "Timestamp",
    "Duration",
    "Int64Value",
    "StringValue",
    "DoubleValue",
    "Value",
    "Struct",
    "ListValue",
    "Empty",
];

/// Writes a schema: `M`, whose fields may be of it too, and messages nested in it.
fn schema(dice: &mut Dice<'_>) -> String {
    let is_proto3 = dice.roll(2) == 0;
    let mut text = format!("syntax = 'proto{}';", if is_proto3 { 3 } else { 2 });
    for file in ["timestamp", "duration", "wrappers", "struct", "empty"] {
        let _ = write!(text, "import 'google/protobuf/{file}.proto';");
    }
    text.push_str("enum Kind { NONE = 0; ONE = 1; MINUS = -1; }");
    message(dice, "M", is_proto3, 2, &mut text);
    text
}

fn message(dice: &mut Dice<'_>, name: &str, is_proto3: bool, depth: usize, out: &mut String) {
    let _ = write!(out, "message {name} {{");
    let nested: Vec<String> = (0..if depth == 0 { 0 } else { dice.roll(3) })
        .map(|i| format!("{name}{i}"))
        .collect();
    for nested in &nested {
        message(dice, nested, is_proto3, depth - 1, out);
    }
    let mut number = 0;
    for _ in 0..dice.roll(8) {
        number += 1 + dice.roll(9) * dice.roll(40) * dice.roll(12);
        let of = match dice.roll(8) {
            0 => format!("google.protobuf.{}", KNOWN[dice.roll(KNOWN.len())]),
            1 if !nested.is_empty() => nested[dice.roll(nested.len())].clone(),
            // Once, since each doubles the columns at every level.
            2 if !out.contains("M f") && !out.contains("M a") && !out.contains("M>") => {
                "M".to_owned()
            }
            _ => SCALARS[dice.roll(SCALARS.len())].to_owned(),
        };
        let explicit = if is_proto3 { "" } else { "optional" };
        let _ = match dice.roll(8) {
            0 | 1 => write!(out, "repeated {of} f{number} = {number};"),
            2 => {
                let key = ["string", "int64", "bool", "fixed32"][dice.roll(4)];
                write!(out, "map<{key}, {of}> f{number} = {number};")
            }
            3 => {
                let other = number + 1;
                number = other + 1;
                write!(
                    out,
                    "oneof o{number} {{ {of} f{other} = {other}; int32 f{number} = {number}; string g{number} = {}; }}",
                    other - 1
                )
            }
            4 => write!(out, "optional {of} f{number} = {number};"),
            5 if !is_proto3 => write!(
                out,
                "repeated group G{number} = {number} {{ optional {of} a = {number}; }}"
            ),
            6 if !is_proto3 => {
                write!(
                    out,
                    "optional group G{number} = {number} {{ repeated {of} a = 1; }}"
                )
            }
            _ => write!(out, "{explicit} {of} f{number} = {number};"),
        };
    }
    out.push('}');
}

fn fill(of: &MessageDescriptor, dice: &mut Dice<'_>, depth: usize) -> DynamicMessage {
    let mut message = DynamicMessage::new(of.clone());
    if of.full_name() == "google.protobuf.Timestamp" || of.full_name() == "google.protobuf.Duration"
    {
        message.set_field_by_name("seconds", Of::I64(dice.long() >> 32));
        message.set_field_by_name("nanos", Of::I32(dice.roll(256) as i32 * 1_000_000));
        return message;
    }
    for field in of.fields() {
        if dice.roll(3) == 0 || depth == 0 {
            continue;
        }
        let count = dice.roll(4);
        let value = if field.is_map() {
            let Kind::Message(entry) = field.kind() else {
                continue;
            };
            let key = entry.map_entry_key_field().kind();
            let of = entry.map_entry_value_field().kind();
            let entries = (0..count).map(|i| {
                let key = match key {
                    Kind::String => MapKey::String(["", "a.b", "ü", "k"][i].to_owned()),
                    Kind::Bool => MapKey::Bool(i % 2 == 0),
                    Kind::Fixed32 => MapKey::U32(i as u32),
                    _ => MapKey::I64(i as i64 - 1),
                };
                (key, value(&of, dice, depth - 1))
            });
            Of::Map(entries.collect())
        } else if field.is_list() {
            Of::List(
                (0..count)
                    .map(|_| value(&field.kind(), dice, depth - 1))
                    .collect(),
            )
        } else {
            value(&field.kind(), dice, depth - 1)
        };
        message.set_field(&field, value);
    }
    message
}

fn value(kind: &Kind, dice: &mut Dice<'_>, depth: usize) -> Of {
    match kind {
        Kind::Bool => Of::Bool(dice.roll(2) == 1),
        Kind::Int32 | Kind::Sint32 | Kind::Sfixed32 => Of::I32(dice.long() as i32),
        Kind::Int64 | Kind::Sint64 | Kind::Sfixed64 => Of::I64(dice.long()),
        Kind::Uint32 | Kind::Fixed32 => Of::U32(dice.long() as u32),
        Kind::Uint64 | Kind::Fixed64 => Of::U64(dice.long() as u64),
        Kind::Float => Of::F32(dice.roll(256) as f32 / 10.0),
        Kind::Double => Of::F64(dice.roll(256) as f64 / 10.0),
        Kind::String => Of::String(dice.text()),
        Kind::Bytes => Of::Bytes(dice.text().into_bytes().into()),
        Kind::Enum(of) if of.full_name() == "google.protobuf.NullValue" => Of::EnumNumber(0),
        Kind::Enum(_) => Of::EnumNumber(dice.roll(4) as i32 - 1),
        Kind::Message(of) => Of::Message(fill(of, dice, depth)),
    }
}

/// Writes the fields of a message again in a random order, and some of them twice.
fn shuffle(bytes: &[u8], dice: &mut Dice<'_>) -> Vec<u8> {
    let mut cursor = super::super::wire::Cursor::new(bytes, 0);
    let mut fields = Vec::new();
    while !cursor.is_at_end() {
        let start = cursor.pos;
        let (number, wire) = cursor.tag().unwrap();
        cursor.skip(number, wire).unwrap();
        fields.push(cursor.since(start));
    }
    for i in 0..fields.len() {
        let other = dice.roll(fields.len());
        fields.swap(i, other);
        if dice.roll(8) == 1 {
            fields.push(fields[i]);
        }
    }
    fields.concat()
}

/// Names the columns that exist without a record.
fn columns(of: &MessageDescriptor, path: &str, depth: usize, row: &mut Map<String, Value>) {
    for field in of.fields() {
        let path = join(path, field.name());
        match field.kind() {
            Kind::Message(inner)
                if !field.is_list() && !field.is_map() && is_node(&inner, depth) =>
            {
                columns(&inner, &path, depth + 1, row);
            }
            _ if field.is_map() && depth < MAX_DEPTH => {}
            _ => {
                row.insert(path, Value::Null);
            }
        }
    }
}

/// Tells whether a message that is `depth` segments deep has columns of its own.
fn is_node(of: &MessageDescriptor, depth: usize) -> bool {
    depth < MAX_DEPTH && of.fields().len() > 0 && !of.full_name().starts_with("google.protobuf.")
}

fn cells(message: &DynamicMessage, path: &str, depth: usize, row: &mut Map<String, Value>) {
    for field in message.descriptor().fields() {
        if field.supports_presence() && !message.has_field(&field) {
            continue;
        }
        let path = join(path, field.name());
        let value = message.get_field(&field);
        match (&*value, map_value(&field)) {
            (Of::Map(entries), Some(of)) if depth < MAX_DEPTH => {
                for (key, value) in entries {
                    cell(value, &of, &join(&path, &key_text(key)), depth + 1, row);
                }
            }
            (Of::Map(_) | Of::List(_), _) => {
                let text = json_of(&value, &field.kind(), map_value(&field).as_ref());
                row.insert(path, json!(text.to_string()));
            }
            (value, _) => cell(value, &field.kind(), &path, depth, row),
        }
    }
}

fn cell(value: &Of, kind: &Kind, path: &str, depth: usize, row: &mut Map<String, Value>) {
    let shown = match (value, kind) {
        (Of::Message(message), Kind::Message(of)) if is_node(of, depth) => {
            columns(of, path, depth + 1, row);
            return cells(message, path, depth + 1, row);
        }
        (Of::Message(message), Kind::Message(of)) => match of.name() {
            "Timestamp" => {
                let (seconds, nanos) = span(message);
                json!(seconds * 1_000 + i64::from(nanos) / 1_000_000)
            }
            "Duration" | "Int64Value" | "StringValue" | "DoubleValue" => json_of(value, kind, None),
            _ => match json_of(value, kind, None) {
                Value::Null => Value::Null,
                value => json!(value.to_string()),
            },
        },
        (Of::EnumNumber(_), _) => match json_of(value, kind, None) {
            Value::Number(number) => json!(number.to_string()),
            other => other,
        },
        _ => json_of(value, kind, None),
    };
    row.insert(path.to_owned(), shown);
}

fn span(message: &DynamicMessage) -> (i64, i32) {
    let field = |name: &str| message.get_field_by_name(name).unwrap().into_owned();
    (
        field("seconds").as_i64().unwrap(),
        field("nanos").as_i32().unwrap(),
    )
}

fn map_value(field: &FieldDescriptor) -> Option<Kind> {
    match field.kind() {
        Kind::Message(entry) if field.is_map() => Some(entry.map_entry_value_field().kind()),
        _ => None,
    }
}

fn key_text(key: &MapKey) -> String {
    match key {
        MapKey::Bool(key) => key.to_string(),
        MapKey::I64(key) => key.to_string(),
        MapKey::U32(key) => key.to_string(),
        MapKey::String(key) => key.clone(),
        other => format!("{other:?}"),
    }
}

fn json_of(value: &Of, kind: &Kind, of_map: Option<&Kind>) -> Value {
    match value {
        Of::Bool(value) => json!(value),
        Of::I32(value) => json!(value),
        Of::I64(value) => json!(value),
        Of::U32(value) => json!(value),
        Of::U64(value) => json!(value),
        Of::F32(value) => number(&value.to_string()),
        Of::F64(value) => number(&value.to_string()),
        Of::String(text) => json!(text),
        Of::Bytes(bytes) => json!(STANDARD.encode(bytes)),
        Of::EnumNumber(number) => match kind {
            Kind::Enum(of) if of.name() == "NullValue" => Value::Null,
            Kind::Enum(of) => of
                .get_value(*number)
                .map_or(json!(number), |of| json!(of.name())),
            _ => Value::Null,
        },
        Of::List(items) => items.iter().map(|item| json_of(item, kind, None)).collect(),
        Of::Map(entries) => entries
            .iter()
            .map(|(key, value)| (key_text(key), json_of(value, of_map.unwrap_or(kind), None)))
            .collect(),
        Of::Message(message) => json_of_message(message),
    }
}

/// A whole float is written without a point.
fn number(text: &str) -> Value {
    serde_json::from_str(text).unwrap()
}

fn json_of_message(message: &DynamicMessage) -> Value {
    let of = message.descriptor();
    let fields = of
        .fields()
        .filter(|field| !field.supports_presence() || message.has_field(field));
    let mut fields = fields.map(|field| {
        let value = message.get_field(&field);
        (
            field.name().to_owned(),
            json_of(&value, &field.kind(), map_value(&field).as_ref()),
        )
    });
    match of.full_name() {
        "google.protobuf.Timestamp" => {
            let (seconds, nanos) = span(message);
            let text = crate::columns::time::to_rfc3339(seconds * 1_000_000_000 + i64::from(nanos));
            let text = String::from_utf8(text).unwrap();
            json!(text.replace("000000Z", "Z").replace(".000Z", "Z"))
        }
        "google.protobuf.Duration" => {
            let (seconds, nanos) = span(message);
            let all = i128::from(seconds) * 1_000_000_000 + i128::from(nanos);
            let (sign, all) = (if all < 0 { "-" } else { "" }, all.unsigned_abs());
            let text = format!("{sign}{}.{:09}", all / 1_000_000_000, all % 1_000_000_000);
            number(text.trim_end_matches('0').trim_end_matches('.'))
        }
        name if name.starts_with("google.protobuf.") && of.name() != "Empty" => {
            fields.next().map_or(Value::Null, |(_, value)| value)
        }
        _ => fields.collect(),
    }
}

fn join(path: &str, key: &str) -> String {
    let mut path = path.to_owned();
    crate::flatten::push_segment(&mut path, key);
    path
}

/// A text of JSON as JSON, since the order of a map's keys is free.
fn parsed(cell: Value) -> Value {
    match cell.as_str().map(serde_json::from_str::<Value>) {
        Some(Ok(list @ (Value::Array(_) | Value::Object(_)))) => list,
        _ => cell,
    }
}

/// Takes each column's only cell.
fn row_of(shown: Value) -> Map<String, Value> {
    let Value::Object(shown) = shown else {
        panic!("columns")
    };
    shown
        .into_iter()
        .map(|(name, mut cells)| (name, parsed(cells[0].take())))
        .collect()
}

const MAX_DEPTH: usize = 5;

proptest! {
    #[test]
    fn plan_and_twin_agree(bytes in prop::collection::vec(any::<u8>(), 0..300)) {
        let mut dice = Dice(bytes.iter());
        let text = schema(&mut dice);
        let schema = ProtobufSchema::parse(&text).expect(&text);
        let of = schema.compiled().by_name("M").unwrap();
        let mut value = Vec::new();
        for _ in 0..=dice.roll(2) {
            value.extend(fill(&of, &mut dice, 3).encode_to_vec());
        }
        if dice.roll(2) == 1 {
            value = shuffle(&value, &mut dice);
        }
        let message = DynamicMessage::decode(of.clone(), &value[..]).unwrap();

        let mut want = Map::new();
        columns(&of, "", 1, &mut want);
        cells(&message, "", 1, &mut want);
        let want: Map<_, _> = want.into_iter().map(|(name, cell)| (name, parsed(cell))).collect();
        let got = row_of(show(&text, json!({ "framing": "none" }), &[&value]));
        let names = got.keys().chain(want.keys()).filter(|&name| got.get(name) != want.get(name));
        let differs: Vec<_> = names.map(|name| (name, got.get(name), want.get(name))).collect();
        prop_assert!(differs.is_empty(), "{:?} {} {:02x?}", differs, text, value);

        // What is cut off is an error, or the record that a producer of fewer fields would have written; never a panic.
        let step = 1 + value.len() / 6;
        for len in (0..value.len()).step_by(step) {
            let got = show(&text, json!({ "framing": "none" }), &[&value[..len]]);
            let is_right = DynamicMessage::decode(of.clone(), &value[..len]).is_ok();
            prop_assert_eq!(got.get("_error").is_none(), is_right, "{} {:02x?}", text, &value[..len]);
        }
    }

    #[test]
    fn no_bytes_panic(bytes in prop::collection::vec(any::<u8>(), 0..200), noise in prop::collection::vec(any::<u8>(), 0..60)) {
        let text = schema(&mut Dice(bytes.iter()));
        let keys = [json!({}), json!({ "framing": "confluent" }), json!({ "framing": "apicurio", "protobufMessage": "M" })];
        let keys = keys[noise.len() % 3].clone();
        let got = show(&text, keys, &[&noise]);
        let error = got.get("_error").map(|cells| cells[0].as_str().unwrap_or_default().to_owned());
        prop_assert!(error.is_none_or(|text| text.starts_with("Protobuf: ")), "{} {:?}", text, noise);
    }
}
