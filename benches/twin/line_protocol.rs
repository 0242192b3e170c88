//! Line protocol the plain way: a text that is split, and a map a row.

use serde_json::{Value, json};

use super::Row;

/// Makes a row of each field of each line; `None` where a line is none. Neither names nor strings hold what would be escaped.
pub(super) fn rows(value: &[u8], time: i64) -> Option<Vec<Row>> {
    let mut rows = Vec::new();
    for line in std::str::from_utf8(value).ok()?.lines() {
        let line = line.trim();
        if line.is_empty() || line.starts_with('#') {
            continue;
        }
        let mut parts = line.split(' ');
        let mut names = parts.next()?.split(',');
        let measurement = names.next()?;
        let tags: Vec<(&str, &str)> = names
            .map(|tag| tag.split_once('='))
            .collect::<Option<_>>()?;
        let fields = parts.next()?;
        let time = match parts.next() {
            Some(nanos) => nanos.parse::<i64>().ok()? / 1_000_000,
            None => time,
        };
        for field in fields.split(',') {
            let (key, text) = field.split_once('=')?;
            let (column, value) = scalar(text)?;
            let mut row = Row {
                time,
                cells: [
                    ("_measurement".to_owned(), json!(measurement)),
                    ("_field".to_owned(), json!(key)),
                    (column.to_owned(), value),
                ]
                .into(),
            };
            for (tag, value) in &tags {
                row.cells.insert((*tag).to_owned(), json!(value));
            }
            rows.push(row);
        }
    }
    Some(rows)
}

/// Reads a field's value, and says which column it goes to.
fn scalar(text: &str) -> Option<(&'static str, Value)> {
    let number = |number: f64| ("value", json!(number));
    Some(match text {
        "t" | "T" | "true" | "True" | "TRUE" => number(1.0),
        "f" | "F" | "false" | "False" | "FALSE" => number(0.0),
        _ => {
            if let Some(quoted) = text.strip_prefix('"') {
                ("value_str", json!(quoted.strip_suffix('"')?))
            } else {
                number(text.trim_end_matches(['i', 'u']).parse().ok()?)
            }
        }
    })
}
