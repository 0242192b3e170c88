//! JSON: what is taken is what `serde_json` takes, and it becomes what the plain twin makes of it.
#![no_main]

#[path = "../../benches/twin/json.rs"]
mod twin;

use fuzz::{Shown, Stream, record, records};
use libfuzzer_sys::fuzz_target;
use serde::de::IgnoredAny;
use serde_json::{Deserializer, Value, json};

fuzz_target!(|input: &[u8]| {
    let mut stream = Stream::new(json!({ "messageFormat": "json" })).expect("the query is right");
    for value in records(input) {
        let shown = stream.show(&record(value));
        // Behind a frame stands JSON too, which `serde_json` knows nothing of; JSON itself begins with neither byte.
        if let Some(0 | 3) = value.first() {
            continue;
        }
        same_grammar(value, &shown);
        same_cells(value, &shown);
    }
});

/// Holds what is an error against `serde_json`'s grammar, for one value; several have rules of our own.
fn same_grammar(value: &[u8], shown: &Shown) {
    let error = shown.text("_error");
    let limit = |text: &str| {
        ["nested deeper", "more than 10000", "KiB"]
            .iter()
            .any(|words| text.contains(words))
    };
    if error.is_some_and(limit) {
        return;
    }
    let values: Result<Vec<_>, _> = Deserializer::from_slice(value)
        .into_iter::<IgnoredAny>()
        .collect();
    match values {
        Ok(values) if values.len() == 1 => assert_eq!(error, None),
        Ok(values) if values.is_empty() => assert!(error.is_some(), "nothing is no JSON"),
        Ok(_) => {}
        Err(_) => assert!(error.is_some(), "this is no JSON"),
    }
}

/// Holds the cells against the twin's, where nothing was counted: an object with fields of our names is left aside.
fn same_cells(value: &[u8], shown: &Shown) {
    let object = value.trim_ascii_start().starts_with(b"{");
    let cells = twin::cells(value);
    let Some(fields) = cells.filter(|_| object && shown.notices.is_empty()) else {
        return;
    };
    let ours = |name: &str| ["time", "partition", "offset", "_error"].contains(&name);
    if shown.rows != 1
        || fields
            .keys()
            .any(|name| ours(name) || name.starts_with("value."))
    {
        return;
    }
    for (name, cells) in shown.columns.iter().filter(|(name, _)| !ours(name)) {
        let (got, want) = (&cells[0], fields.get(name).unwrap_or(&Value::Null));
        match (got, want) {
            // A text column takes everything.
            (Value::String(_), Value::Number(_) | Value::Bool(_)) => {}
            (Value::Number(got), Value::Number(want)) => {
                assert_eq!(got.as_f64(), want.as_f64(), "{name}");
            }
            _ => assert_eq!(got, want, "{name}"),
        }
    }
    for (name, want) in &fields {
        assert!(
            want.is_null() || shown.columns.contains_key(name),
            "{name} is missing"
        );
    }
}
