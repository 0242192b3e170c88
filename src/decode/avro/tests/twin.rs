//! Random schemas and values: the plan's row is the one that apache-avro's own values give.

use apache_avro::Schema;
use apache_avro::types::Value as Avro;
use apache_avro::writer::datum::GenericDatumWriter;
use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use proptest::prelude::*;
use serde_json::{Map, Value, json};

use super::show;

/// Gives numbers out of random bytes, zeros when they are used up.
pub(super) struct Dice<'a>(pub(super) std::slice::Iter<'a, u8>);

impl Dice<'_> {
    pub(super) fn roll(&mut self, sides: usize) -> usize {
        usize::from(self.0.next().copied().unwrap_or(0)) % sides
    }

    fn long(&mut self) -> i64 {
        let bits = self.roll(50) as u32;
        let value = (self.roll(256) as i64 + 1) << bits;
        if self.roll(2) == 0 { value } else { -value }
    }

    fn text(&mut self) -> String {
        ["", "x", "grün", "a \"b\"", "line\nend"][self.roll(5)].to_owned()
    }
}

fn schema(dice: &mut Dice<'_>, depth: usize, names: &mut usize) -> Value {
    *names += 1;
    let name = format!("n{names}");
    match dice.roll(if depth == 0 { 10 } else { 15 }) {
        0 => json!("boolean"),
        1 => json!("int"),
        2 => json!("long"),
        3 => json!("double"),
        4 => json!("string"),
        5 => json!("bytes"),
        6 => json!({ "type": "enum", "name": name, "symbols": ["A", "B"] }),
        7 => json!({ "type": "fixed", "name": name, "size": 3 }),
        8 => json!({ "type": "long", "logicalType": "timestamp-micros" }),
        9 => json!(["int", "string", "null"]),
        10 => json!({ "type": "array", "items": schema(dice, depth - 1, names) }),
        11 => json!({ "type": "map", "values": schema(dice, depth - 1, names) }),
        12 => match schema(dice, depth - 1, names) {
            union @ Value::Array(_) => union,
            other => json!(["null", other]),
        },
        _ => record(dice, depth - 1, names),
    }
}

pub(super) fn record(dice: &mut Dice<'_>, depth: usize, names: &mut usize) -> Value {
    *names += 1;
    let name = format!("r{names}");
    let fields: Vec<_> = (0..dice.roll(4))
        .map(|i| json!({ "name": format!("f{i}"), "type": schema(dice, depth, names) }))
        .collect();
    json!({ "type": "record", "name": name, "fields": fields })
}

pub(super) fn value(schema: &Schema, dice: &mut Dice<'_>) -> Avro {
    match schema {
        Schema::Boolean => Avro::Boolean(dice.roll(2) == 1),
        Schema::Int => Avro::Int(dice.long() as i32),
        Schema::Long => Avro::Long(dice.long()),
        Schema::Double => Avro::Double(dice.roll(256) as f64 + 0.5),
        Schema::String => Avro::String(dice.text()),
        Schema::Bytes => Avro::Bytes(dice.text().into_bytes()),
        Schema::Enum(_) => {
            let symbol = dice.roll(2);
            Avro::Enum(symbol as u32, ["A", "B"][symbol].to_owned())
        }
        Schema::Fixed(fixed) => Avro::Fixed(fixed.size, vec![dice.roll(256) as u8; fixed.size]),
        Schema::TimestampMicros => Avro::TimestampMicros(dice.long() >> 8),
        Schema::Union(union) => {
            let branch = dice.roll(union.variants().len());
            let of = value(&union.variants()[branch], dice);
            Avro::Union(branch as u32, Box::new(of))
        }
        Schema::Array(array) => Avro::Array(
            (0..dice.roll(4))
                .map(|_| value(&array.items, dice))
                .collect(),
        ),
        Schema::Map(map) => {
            let keys = ["", "a.b", "ü"].into_iter().take(dice.roll(4));
            Avro::Map(
                keys.map(|key| (key.to_owned(), value(&map.types, dice)))
                    .collect(),
            )
        }
        Schema::Record(record) => {
            let fields = record.fields.iter();
            Avro::Record(
                fields
                    .map(|f| (f.name.clone(), value(&f.schema, dice)))
                    .collect(),
            )
        }
        _ => Avro::Null,
    }
}

/// Names the columns that exist without a record.
pub(super) fn columns(schema: &Schema, path: &str, row: &mut Map<String, Value>) {
    match schema {
        Schema::Record(record) => {
            for field in &record.fields {
                columns(&field.schema, &join(path, &field.name), row);
            }
        }
        Schema::Union(union) => {
            for branch in union.variants() {
                columns(branch, path, row);
            }
        }
        Schema::Null | Schema::Map(_) => {}
        _ => {
            row.insert(path.to_owned(), Value::Null);
        }
    }
}

pub(super) fn cells(of: &Avro, path: &str, text: bool, row: &mut Map<String, Value>) {
    match of {
        Avro::Null => {}
        Avro::Union(branch, of) => {
            // Of the generator's unions, the one that begins with a number holds a text too.
            cells(of, path, *branch == 0, row);
        }
        Avro::Record(fields) => {
            for (name, field) in fields {
                cells(field, &join(path, name), false, row);
            }
        }
        Avro::Map(values) => {
            for (key, value) in values {
                cells(value, &join(path, key), false, row);
            }
        }
        Avro::TimestampMicros(micros) => {
            row.insert(path.to_owned(), json!(micros.div_euclid(1_000)));
        }
        of => {
            let cell = json_of(of);
            row.insert(
                path.to_owned(),
                if text { json!(cell.to_string()) } else { cell },
            );
        }
    }
}

fn json_of(of: &Avro) -> Value {
    match of {
        Avro::Boolean(value) => json!(value),
        Avro::Int(value) => json!(value),
        Avro::Long(value) => json!(value),
        Avro::Double(value) => json!(value),
        Avro::String(text) | Avro::Enum(_, text) => json!(text),
        Avro::Bytes(bytes) | Avro::Fixed(_, bytes) => json!(STANDARD.encode(bytes)),
        Avro::TimestampMicros(micros) => {
            let text = crate::columns::time::to_rfc3339(micros * 1_000);
            let text = String::from_utf8(text).unwrap();
            json!(text.replace("000Z", "Z"))
        }
        Avro::Union(_, of) => json_of(of),
        Avro::Array(items) => items.iter().map(json_of).collect(),
        Avro::Map(values) => values
            .iter()
            .map(|(key, value)| (key.clone(), json_of(value)))
            .collect(),
        Avro::Record(fields) => fields
            .iter()
            .map(|(name, field)| (name.clone(), json_of(field)))
            .collect(),
        _ => Value::Null,
    }
}

fn join(path: &str, key: &str) -> String {
    let mut path = path.to_owned();
    crate::flatten::push_segment(&mut path, key);
    path
}

/// A list's text as JSON, since the order of a map's keys is free.
fn parsed(cell: Value) -> Value {
    match cell.as_str().map(serde_json::from_str::<Value>) {
        Some(Ok(list @ Value::Array(_))) => list,
        _ => cell,
    }
}

/// Takes a column's only cell; one that is null throughout and comes with a map's key may be missing.
pub(super) fn row_of(shown: Value) -> Map<String, Value> {
    let Value::Object(shown) = shown else {
        panic!("columns")
    };
    shown
        .into_iter()
        .map(|(name, mut cells)| (name, parsed(cells[0].take())))
        .collect()
}

proptest! {
    #[test]
    fn plan_and_twin_agree(bytes in prop::collection::vec(any::<u8>(), 0..200)) {
        let mut dice = Dice(bytes.iter());
        let text = record(&mut dice, 3, &mut 0);
        let schema = Schema::parse_str(&text.to_string()).unwrap();
        let value = value(&schema, &mut dice);
        let datum = GenericDatumWriter::builder(&schema).build().unwrap().write_value_to_vec(value.clone()).unwrap();

        let mut want = Map::new();
        columns(&schema, "", &mut want);
        cells(&value, "", false, &mut want);
        let mut got = row_of(show(&text, json!({ "framing": "none" }), &[&datum]));
        got.retain(|name, cell| !cell.is_null() || want.contains_key(name));
        prop_assert_eq!(got, want, "{} {:?}", text, datum);

        // What is cut off is an error, never a panic.
        if let [cut @ .., _] = &datum[..] {
            let got = show(&text, json!({ "framing": "none" }), &[cut]);
            prop_assert!(got.get("_error").is_some(), "{} {:?}", text, cut);
        }
    }

    #[test]
    fn no_bytes_panic(bytes in prop::collection::vec(any::<u8>(), 0..200), noise in prop::collection::vec(any::<u8>(), 0..60)) {
        let text = record(&mut Dice(bytes.iter()), 3, &mut 0);
        let got = show(&text, json!({}), &[&noise]);
        let error = got.get("_error").map(|cells| cells[0].as_str().unwrap_or_default().to_owned());
        prop_assert!(error.is_none_or(|text| text.starts_with("Avro: ")), "{} {:?}", text, noise);
    }
}
