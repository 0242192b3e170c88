//! Reads keys of a JSON object as people write them: provisioning files with environment variables make text of numbers and booleans.

use serde_json::{Map, Value};
use thiserror::Error;

/// Reads typed values out of one JSON object and remembers which keys were asked for.
pub(super) struct Keys<'a> {
    object: &'a Map<String, Value>,
}

/// Says that a key does not hold what it should; `found` is a kind of value, never the value.
#[derive(Debug, Error, PartialEq, Eq)]
#[error("`{key}` must be {expected}, and is {found}")]
pub struct Mismatch {
    pub(super) key: String,
    pub(super) expected: &'static str,
    pub(super) found: &'static str,
}

impl<'a> Keys<'a> {
    pub(super) fn new(object: &'a Map<String, Value>) -> Self {
        Self { object }
    }

    /// Gives the value, where `null` counts as absent.
    pub(super) fn value(&self, key: &str) -> Option<&'a Value> {
        self.object.get(key).filter(|v| !v.is_null())
    }

    /// Reads a text, trimmed; absent is empty. Numbers and booleans are taken as they would be written.
    pub(super) fn text(&self, key: &str) -> Result<String, Mismatch> {
        match self.value(key) {
            None => Ok(String::new()),
            Some(Value::String(text)) => Ok(text.trim().to_owned()),
            Some(Value::Number(number)) => Ok(number.to_string()),
            Some(Value::Bool(flag)) => Ok(flag.to_string()),
            Some(other) => Err(mismatch(key, "a text", other)),
        }
    }

    /// Reads a whole number; fractions are rounded, an empty text is absent.
    pub(super) fn integer(&self, key: &str) -> Result<Option<i64>, Mismatch> {
        const EXPECTED: &str = "a whole number";
        let number = match self.value(key) {
            None => return Ok(None),
            Some(Value::Number(number)) => number.as_f64(),
            Some(Value::String(text)) if text.trim().is_empty() => return Ok(None),
            Some(Value::String(text)) => text.trim().parse::<f64>().ok(),
            Some(other) => return Err(mismatch(key, EXPECTED, other)),
        };
        match number {
            Some(number) if number.is_finite() => Ok(Some(number.round() as i64)),
            _ => Err(Mismatch {
                key: key.to_owned(),
                expected: EXPECTED,
                found: "a text that is no number",
            }),
        }
    }

    /// Reads a boolean; absent or an empty text is `default`.
    pub(super) fn boolean(&self, key: &str, default: bool) -> Result<bool, Mismatch> {
        const EXPECTED: &str = "true or false";
        match self.value(key) {
            None => Ok(default),
            Some(Value::Bool(flag)) => Ok(*flag),
            Some(Value::Number(number)) if number.as_i64() == Some(0) => Ok(false),
            Some(Value::Number(number)) if number.as_i64() == Some(1) => Ok(true),
            Some(Value::String(text)) => match text.trim().to_ascii_lowercase().as_str() {
                "" => Ok(default),
                "true" | "t" | "1" | "yes" | "on" => Ok(true),
                "false" | "f" | "0" | "no" | "off" => Ok(false),
                _ => Err(Mismatch {
                    key: key.to_owned(),
                    expected: EXPECTED,
                    found: "another text",
                }),
            },
            Some(other) => Err(mismatch(key, EXPECTED, other)),
        }
    }

    /// Reads a list: an array of texts, or one text with commas. Empty entries are dropped.
    pub(super) fn list(&self, key: &str) -> Result<Vec<String>, Mismatch> {
        const EXPECTED: &str = "a list of texts, or one text with commas";
        let entries: Vec<String> = match self.value(key) {
            None => Vec::new(),
            Some(Value::String(text)) => split_outside_braces(text),
            Some(Value::Array(entries)) => entries
                .iter()
                .map(|entry| {
                    entry
                        .as_str()
                        .map(str::to_owned)
                        .ok_or_else(|| mismatch(key, EXPECTED, entry))
                })
                .collect::<Result<_, _>>()?,
            Some(other) => return Err(mismatch(key, EXPECTED, other)),
        };
        Ok(entries
            .iter()
            .map(|entry| entry.trim().to_owned())
            .filter(|entry| !entry.is_empty())
            .collect())
    }
}

/// Splits at commas, but not at those of a glob's `{a,b}`.
fn split_outside_braces(text: &str) -> Vec<String> {
    let mut depth = 0_u32;
    text.split(|c: char| {
        match c {
            '{' => depth += 1,
            '}' => depth = depth.saturating_sub(1),
            _ => {}
        }
        c == ',' && depth == 0
    })
    .map(str::to_owned)
    .collect()
}

pub(super) fn mismatch(key: &str, expected: &'static str, found: &Value) -> Mismatch {
    Mismatch {
        key: key.to_owned(),
        expected,
        found: kind(found),
    }
}

/// Names the kind of a JSON value.
pub(super) fn kind(value: &Value) -> &'static str {
    match value {
        Value::Null => "null",
        Value::Bool(_) => "a boolean",
        Value::Number(_) => "a number",
        Value::String(_) => "a text",
        Value::Array(_) => "a list",
        Value::Object(_) => "an object",
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn object(value: Value) -> Map<String, Value> {
        match value {
            Value::Object(object) => object,
            _ => panic!("an object"),
        }
    }

    #[test]
    fn integers() {
        for (value, want) in [
            (json!(5), Ok(Some(5))),
            (json!("5"), Ok(Some(5))),
            (json!(" 5 "), Ok(Some(5))),
            (json!(1500.5), Ok(Some(1501))),
            (json!(""), Ok(None)),
            (json!(null), Ok(None)),
            (json!(-1), Ok(Some(-1))),
            (json!("x"), Err("a text that is no number")),
            (json!("1e999"), Err("a text that is no number")),
            (json!(true), Err("a boolean")),
            (json!([1]), Err("a list")),
        ] {
            let object = object(json!({ "k": value }));
            let got = Keys::new(&object).integer("k").map_err(|m| m.found);
            assert_eq!(got, want, "{value}");
        }
    }

    #[test]
    fn booleans() {
        for (value, want) in [
            (json!(true), Ok(true)),
            (json!("true"), Ok(true)),
            (json!("True"), Ok(true)),
            (json!("1"), Ok(true)),
            (json!(1), Ok(true)),
            (json!("false"), Ok(false)),
            (json!(""), Ok(false)),
            (json!(null), Ok(false)),
            (json!("maybe"), Err("another text")),
            (json!({}), Err("an object")),
        ] {
            let object = object(json!({ "k": value }));
            let got = Keys::new(&object).boolean("k", false).map_err(|m| m.found);
            assert_eq!(got, want, "{value}");
        }
    }

    #[test]
    fn lists() {
        for (value, want) in [
            (json!("a, b ,,c"), &["a", "b", "c"][..]),
            (json!("{a,b}-*,c"), &["{a,b}-*", "c"]),
            (json!(["a", " b "]), &["a", "b"]),
            (json!(null), &[]),
        ] {
            let object = object(json!({ "k": value }));
            assert_eq!(Keys::new(&object).list("k").unwrap(), want, "{value}");
        }
    }
}
