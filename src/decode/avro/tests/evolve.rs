//! Random schemas that evolve: a plan's row is the one that apache-avro's own resolution gives.

use apache_avro::Schema;
use apache_avro::reader::datum::GenericDatumReader;
use apache_avro::writer::datum::GenericDatumWriter;
use proptest::prelude::*;
use serde_json::{Map, Value, json};

use super::show;
use super::twin::{Dice, cells, columns, record, row_of, value};

/// Makes a reader's schema of a writer's.
fn evolved(schema: &Value, dice: &mut Dice<'_>) -> Value {
    let pick = |of: &[&str], dice: &mut Dice<'_>| json!(of[dice.roll(of.len())]);
    let reader = match schema {
        Value::String(primitive) => match primitive.as_str() {
            "int" => pick(&["int", "long", "double"], dice),
            "long" => pick(&["long", "double"], dice),
            "string" | "bytes" => pick(&["string", "bytes"], dice),
            other => json!(other),
        },
        Value::Array(branches) => {
            // The generator's unions with null first: what comes after it may change.
            return match &branches[..] {
                [null, other] if null == "null" && !other.is_array() => {
                    json!(["null", unwrapped(evolved(other, dice))])
                }
                _ => schema.clone(),
            };
        }
        other => match other["type"].as_str() {
            Some("enum") => {
                let symbols = [json!(["A", "B"]), json!(["B", "A"]), json!(["B"])];
                let mut reader = other.clone();
                reader["symbols"] = symbols[dice.roll(3)].clone();
                reader["default"] = json!("B");
                reader
            }
            Some("array") => json!({ "type": "array", "items": evolved(&other["items"], dice) }),
            Some("map") => json!({ "type": "map", "values": evolved(&other["values"], dice) }),
            Some("record") => evolved_record(other, dice),
            _ => other.clone(),
        },
    };
    if dice.roll(4) == 0 {
        json!(["null", reader])
    } else {
        reader
    }
}

fn evolved_record(writer: &Value, dice: &mut Dice<'_>) -> Value {
    let mut fields = Vec::new();
    for field in writer["fields"].as_array().unwrap() {
        if dice.roll(4) > 0 {
            let place = dice.roll(fields.len() + 1);
            let of = evolved(&field["type"], dice);
            fields.insert(place, json!({ "name": field["name"], "type": of }));
        }
    }
    let added = [
        json!({ "name": "n", "type": "long", "default": 7 }),
        json!({ "name": "n", "type": ["null", "string"], "default": null }),
        json!({ "name": "n", "type": { "type": "array", "items": "string" }, "default": ["x"] }),
        json!({ "name": "n", "type": "string", "default": "new" }),
    ];
    fields.extend(added.into_iter().nth(dice.roll(6)));
    json!({ "type": "record", "name": writer["name"], "fields": fields })
}

/// A union in a union is none.
fn unwrapped(schema: Value) -> Value {
    match schema {
        Value::Array(mut branches) if branches.len() == 2 => branches.remove(1),
        other => other,
    }
}

/// Makes floats of all numbers: `1` and `1.0` are one.
fn as_floats(value: Value) -> Value {
    match value {
        Value::Number(number) => json!(number.as_f64()),
        Value::Array(items) => items.into_iter().map(as_floats).collect(),
        Value::Object(entries) => entries
            .into_iter()
            .map(|(key, value)| (key, as_floats(value)))
            .collect(),
        other => other,
    }
}

proptest! {
    #[test]
    fn plan_and_twin_agree(bytes in prop::collection::vec(any::<u8>(), 0..200)) {
        let mut dice = Dice(bytes.iter());
        let writer = record(&mut dice, 3, &mut 0);
        let reader = evolved_record(&writer, &mut dice);
        let (from, to) = (Schema::parse_str(&writer.to_string()).unwrap(), Schema::parse_str(&reader.to_string()).unwrap());
        let value = value(&from, &mut dice);
        let datum = GenericDatumWriter::builder(&from).build().unwrap().write_value_to_vec(value).unwrap();

        let twin = GenericDatumReader::builder(&from).reader_schema(&to).build().unwrap();
        let want = twin.read_value(&mut &datum[..]);
        let query = json!({ "framing": "none", "avroReaderSchema": reader.to_string() });
        let got = show(&writer, query, &[&datum]);
        let Ok(want) = want else {
            prop_assert!(got.get("_error").is_some(), "{} as {}: {:?} {}", writer, reader, want, got);
            return Ok(());
        };
        let mut row = Map::new();
        columns(&to, "", &mut row);
        cells(&want, "", false, &mut row);
        let mut got = row_of(got);
        got.retain(|name, cell| !cell.is_null() || row.contains_key(name));
        let [got, row] = [got, row].map(|row| as_floats(row.into()));
        prop_assert_eq!(got, row, "{} as {}, {:?}", writer, reader, datum);
    }
}
