//! JSON as nobody should write it, against the plain twin: keys missing and in any order, space anywhere, escapes, depth.

use std::fmt::Write as _;

use proptest::collection::vec;
use proptest::prelude::*;
use serde_json::{Map, Value, json};
use streamscope::perf::PerfFlags;
use streamscope::pipeline::{Pipeline, Step};

use crate::support::{Clock, TIME, pipeline, record};
use crate::twin::{self, Twin};

/// A value whose type goes by its key, so that no column has two.
fn object(depth: u32) -> BoxedStrategy<Value> {
    let key = |kind: &'static str| {
        prop::sample::select(vec!["a", "b", "long_name", "x.y", "", "q\"", "ü", "[0]"])
            .prop_map(move |name| format!("{name}{kind}"))
    };
    let number = prop_oneof![
        any::<f64>()
            .prop_filter("JSON has no other numbers", |n| n.is_finite())
            .prop_map(|n| json!(n)),
        (-(1_i64 << 53) + 1..1 << 53).prop_map(|n| json!(n)),
        Just(json!(0)),
    ];
    let text = prop_oneof![
        "[ -~]{0,12}",
        "\\PC{0,6}",
        Just("line\nbreak\ttab \"quote\" \\".to_owned())
    ]
    .prop_map(|t| json!(t));
    let array = vec(
        prop_oneof![number.clone(), text.clone(), Just(Value::Null)],
        0..4,
    )
    .prop_map(Value::Array);
    let mut fields = vec![
        (key("n"), number.boxed()).boxed(),
        (key("t"), text.boxed()).boxed(),
        (key("b"), any::<bool>().prop_map(|b| json!(b)).boxed()).boxed(),
        (key("l"), array.boxed()).boxed(),
        (key("n"), Just(Value::Null).boxed()).boxed(),
    ];
    if depth > 0 {
        fields.push((key("o"), object(depth - 1)).boxed());
    }
    vec(prop::strategy::Union::new(fields), 0..7)
        .prop_map(|pairs| Value::Object(pairs.into_iter().collect::<Map<_, _>>()))
        .boxed()
}

/// Writes JSON with what `noise` says: space between tokens, escapes where none is needed, members in another order.
fn write(value: &Value, noise: &mut impl Iterator<Item = u8>, out: &mut String) {
    let space = |out: &mut String, noise: &mut dyn Iterator<Item = u8>| {
        out.push_str(["", "", "", " ", "\n\t", "  "][usize::from(noise.next().unwrap_or(0)) % 6]);
    };
    space(out, noise);
    match value {
        Value::Object(object) => {
            out.push('{');
            let mut members: Vec<_> = object.iter().collect();
            let turn = usize::from(noise.next().unwrap_or(0)) % members.len().max(1);
            members.rotate_left(turn);
            for (i, (key, value)) in members.into_iter().enumerate() {
                out.push_str(if i > 0 { "," } else { "" });
                space(out, noise);
                write_text(key, noise, out);
                space(out, noise);
                out.push(':');
                write(value, noise, out);
                space(out, noise);
            }
            space(out, noise);
            out.push('}');
        }
        Value::String(text) => write_text(text, noise, out),
        other => out.push_str(&other.to_string()),
    }
    space(out, noise);
}

fn write_text(text: &str, noise: &mut impl Iterator<Item = u8>, out: &mut String) {
    out.push('"');
    for unit in text.chars() {
        let plain = !matches!(unit, '"' | '\\' | '\0'..='\x1f');
        if plain && noise.next().unwrap_or(0) > 20 {
            out.push(unit);
        } else {
            for half in unit.encode_utf16(&mut [0; 2]) {
                write!(out, "\\u{half:04x}").unwrap();
            }
        }
    }
    out.push('"');
}

/// Gives all rows by column name, whatever packets they came in.
fn rows(pipeline: &mut Pipeline, values: &[String], batch: usize) -> Map<String, Value> {
    let (mut clock, mut columns, mut count) = (Clock::new(), Map::new(), 0);
    for (i, chunk) in values.chunks(batch).enumerate() {
        for (k, value) in chunk.iter().enumerate() {
            assert_eq!(
                pipeline.push(&record(value.as_bytes(), (i * batch + k) as i64), clock.0),
                Step::Rows(1),
                "{value}"
            );
        }
        add(
            &clock.flush(pipeline).unwrap().json,
            chunk.len(),
            &mut count,
            &mut columns,
        );
    }
    columns
}

fn add(packet: &[u8], rows: usize, count: &mut usize, columns: &mut Map<String, Value>) {
    let frame: Value = serde_json::from_slice(packet).expect("a packet is JSON");
    let fields = frame["schema"]["fields"].as_array().unwrap();
    for (field, cells) in fields
        .iter()
        .zip(frame["data"]["values"].as_array().unwrap())
    {
        let name = field["name"].as_str().unwrap();
        let column = columns
            .entry(name)
            .or_insert_with(|| json!(vec![Value::Null; *count]));
        column
            .as_array_mut()
            .unwrap()
            .extend(cells.as_array().unwrap().iter().cloned().map(as_float));
    }
    *count += rows;
}

/// JSON writes one number in two ways: 1 and 1.0.
fn as_float(value: Value) -> Value {
    value.as_f64().map_or(value, |number| {
        json!(if number == 0.0 { 0.0 } else { number })
    })
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 300, ..ProptestConfig::default() })]

    #[test]
    fn the_core_gives_what_the_twin_gives(records in vec((object(3), vec(any::<u8>(), 0..400)), 1..12)) {
        let mut texts = Vec::new();
        for (value, noise) in &records {
            let mut text = String::new();
            write(value, &mut noise.iter().copied(), &mut text);
            texts.push(text);
        }
        let twin = Twin::new(&json!({}));
        let decoded: Vec<_> = texts.iter().map(|text| twin.decode(text.as_bytes(), TIME).expect("it is JSON")).collect();
        let (mut want, mut count) = (Map::new(), 0);
        for (offset, fields) in decoded.iter().enumerate() {
            add(&twin::packet("t", offset as i64, fields), 1, &mut count, &mut want);
            for column in want.values_mut() {
                let cells = column.as_array_mut().unwrap();
                cells.resize(count, Value::Null);
            }
        }
        for batch in [1, 3, 100] {
            let mut got = rows(&mut pipeline(&json!({}), PerfFlags::default()), &texts, batch);
            // The core keeps a column's null cells where the twin has no column yet, or none any more.
            for column in got.values_mut() {
                column.as_array_mut().unwrap().resize(count, Value::Null);
            }
            prop_assert_eq!(&got, &want, "batches of {} of {:?}", batch, &texts);
        }
    }
}
