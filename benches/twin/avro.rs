//! Avro the plain way: a tree of values, and a map of its leaves.

use std::collections::BTreeMap;
use std::io::Cursor;

use apache_avro::Schema;
use apache_avro::reader::datum::GenericDatumReader;
use apache_avro::types::Value as Avro;
use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use serde_json::{Value, json};

/// Decodes a record without framing into its fields by dotted path; `None` where it is not of its schema.
pub(super) fn fields(
    reader: &GenericDatumReader<'_>,
    value: &[u8],
) -> Option<BTreeMap<String, Value>> {
    let mut fields = BTreeMap::new();
    let value = reader.read_value(&mut Cursor::new(value)).ok()?;
    flatten(&value, "", &mut fields);
    Some(fields)
}

/// Makes the reader of a schema, which lives as long as the program does.
pub(super) fn reader(schema: &str) -> GenericDatumReader<'static> {
    let schema = Schema::parse_str(schema).expect("the query's schema is right");
    GenericDatumReader::builder(Box::leak(Box::new(schema)))
        .build()
        .expect("the schema stands alone")
}

fn flatten(value: &Avro, path: &str, fields: &mut BTreeMap<String, Value>) {
    match value {
        Avro::Union(_, value) => flatten(value, path, fields),
        Avro::Record(record) => {
            for (key, value) in record {
                let path = if path.is_empty() {
                    key.clone()
                } else {
                    format!("{path}.{key}")
                };
                flatten(value, &path, fields);
            }
        }
        Avro::Null => {}
        Avro::Array(_) => drop(fields.insert(path.to_owned(), json!(scalar(value).to_string()))),
        other => drop(fields.insert(path.to_owned(), scalar(other))),
    }
}

fn scalar(value: &Avro) -> Value {
    match value {
        Avro::Boolean(value) => json!(value),
        Avro::Int(value) => json!(value),
        Avro::Long(value) => json!(value),
        Avro::Float(value) => json!(value),
        Avro::Double(value) => json!(value),
        Avro::String(text) | Avro::Enum(_, text) => json!(text),
        Avro::Date(days) => json!(i64::from(*days) * 86_400_000),
        Avro::TimestampMillis(ms) => json!(ms),
        Avro::TimestampMicros(us) => json!(us / 1_000),
        Avro::TimeMillis(ms) => json!(format!(
            "{:02}:{:02}:{:02}.{:03}",
            ms / 3_600_000,
            ms / 60_000 % 60,
            ms / 1_000 % 60,
            ms % 1_000
        )),
        Avro::Decimal(decimal) => {
            let bytes: Vec<u8> = decimal.try_into().unwrap_or_default();
            let unscaled = bytes
                .iter()
                .fold(0_i64, |value, byte| value << 8 | i64::from(*byte));
            json!(unscaled as f64 / 100.0)
        }
        Avro::Bytes(bytes) => json!(STANDARD.encode(bytes)),
        Avro::Array(items) => items.iter().map(scalar).collect(),
        Avro::Union(_, value) => scalar(value),
        _ => Value::Null,
    }
}
