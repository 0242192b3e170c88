//! Defaults of a reader's fields, as bytes: a plan reads them as it reads a record.

use apache_avro::Schema;
use apache_avro::schema::{DecimalSchema, InnerDecimalSchema, RecordField, UuidSchema};
use serde_json::Value;

use super::resolve::Definitions;

/// Encodes the default of `field`; the error says what it lacks.
pub(super) fn of(field: &RecordField, definitions: &Definitions<'_>) -> Result<Vec<u8>, String> {
    let Some(default) = &field.default else {
        return Err(format!(
            "the writer has no field `{}`, and the reader no default for it",
            field.name
        ));
    };
    let mut encoder = Encoder {
        definitions,
        out: Vec::new(),
        steps: 0,
        depth: 0,
    };
    encoder
        .value(&field.schema, default)
        .map_err(|reason| format!("the default of `{}` {reason}", field.name))?;
    Ok(encoder.out)
}

struct Encoder<'a> {
    definitions: &'a Definitions<'a>,
    out: Vec<u8>,
    steps: usize,
    depth: usize,
}

impl<'a> Encoder<'a> {
    fn value(&mut self, schema: &'a Schema, value: &Value) -> Result<(), &'static str> {
        self.steps += 1;
        if self.steps > MAX_STEPS || self.out.len() > MAX_BYTES || self.depth > MAX_DEPTH {
            return Err("is too large");
        }
        self.depth += 1;
        let encoded = self.of_type(schema, value);
        self.depth -= 1;
        encoded
    }

    fn of_type(&mut self, schema: &'a Schema, value: &Value) -> Result<(), &'static str> {
        let schema = self.definitions.of(schema).map_err(|_| "has no type")?;
        match (schema, value) {
            (Schema::Null, Value::Null) => {}
            (Schema::Boolean, Value::Bool(value)) => self.out.push(u8::from(*value)),
            (Schema::Float, value) => {
                let value = float(value)? as f32;
                self.out.extend_from_slice(&value.to_le_bytes());
            }
            (Schema::Double, value) => self.out.extend_from_slice(&float(value)?.to_le_bytes()),
            (Schema::String | Schema::Uuid(UuidSchema::String), Value::String(text)) => {
                self.bytes(text.as_bytes());
            }
            (Schema::Enum(of), Value::String(symbol)) => {
                let index = of.symbols.iter().position(|known| known == symbol);
                self.long(index.ok_or("is no symbol of its enum")? as i64);
            }
            (Schema::Array(array), Value::Array(items)) => {
                self.block(items.len());
                for item in items {
                    self.value(&array.items, item)?;
                }
                self.long(0);
            }
            (Schema::Map(map), Value::Object(entries)) => {
                self.block(entries.len());
                for (key, value) in entries {
                    self.bytes(key.as_bytes());
                    self.value(&map.types, value)?;
                }
                self.long(0);
            }
            (Schema::Record(record), Value::Object(object)) => {
                for field in &record.fields {
                    let value = object.get(&field.name).or(field.default.as_ref());
                    self.value(&field.schema, value.ok_or("lacks a field")?)?;
                }
            }
            (Schema::Union(union), value) => {
                // The first branch by the specification before 1.12, and any since then.
                let start = self.out.len();
                for (i, branch) in union.variants().iter().enumerate() {
                    self.long(i as i64);
                    match self.value(branch, value) {
                        Ok(()) => return Ok(()),
                        Err(_) => self.out.truncate(start),
                    }
                }
                return Err("fits no branch of its union");
            }
            (schema, Value::String(text)) => {
                let bytes: Option<Vec<u8>> =
                    text.chars().map(|char| u8::try_from(char).ok()).collect();
                let bytes = bytes.ok_or("is not of its field's type")?;
                match size(schema)? {
                    None => self.bytes(&bytes),
                    Some(size) if size == bytes.len() => self.out.extend_from_slice(&bytes),
                    Some(_) => return Err("has another size than its fixed"),
                }
            }
            (schema, Value::Number(number)) => {
                let value = number.as_i64().ok_or("is not of its field's type")?;
                if !is_integer(schema, value) {
                    return Err("is not of its field's type");
                }
                self.long(value);
            }
            _ => return Err("is not of its field's type"),
        }
        Ok(())
    }

    /// Begins the only block of a list or a map; one that is empty has none.
    fn block(&mut self, count: usize) {
        if count > 0 {
            self.long(count as i64);
        }
    }

    fn bytes(&mut self, bytes: &[u8]) {
        self.long(bytes.len() as i64);
        self.out.extend_from_slice(bytes);
    }

    /// Writes a zigzag varint.
    fn long(&mut self, value: i64) {
        let mut left = ((value << 1) ^ (value >> 63)) as u64;
        while left >= 0x80 {
            self.out.push(left as u8 | 0x80);
            left >>= 7;
        }
        self.out.push(left as u8);
    }
}

fn float(value: &Value) -> Result<f64, &'static str> {
    match value {
        Value::Number(number) => number.as_f64().ok_or("is no number"),
        // As Java writes them.
        Value::String(text) => match text.as_str() {
            "NaN" => Ok(f64::NAN),
            "Infinity" => Ok(f64::INFINITY),
            "-Infinity" => Ok(f64::NEG_INFINITY),
            _ => Err("is no number"),
        },
        _ => Err("is no number"),
    }
}

fn is_integer(schema: &Schema, value: i64) -> bool {
    match schema {
        Schema::Int | Schema::Date | Schema::TimeMillis => i32::try_from(value).is_ok(),
        Schema::Long
        | Schema::TimeMicros
        | Schema::TimestampMillis
        | Schema::TimestampMicros
        | Schema::TimestampNanos
        | Schema::LocalTimestampMillis
        | Schema::LocalTimestampMicros
        | Schema::LocalTimestampNanos => true,
        _ => false,
    }
}

/// Gives the size of a fixed, `None` for bytes.
fn size(schema: &Schema) -> Result<Option<usize>, &'static str> {
    match schema {
        Schema::Bytes
        | Schema::BigDecimal
        | Schema::Uuid(UuidSchema::Bytes)
        | Schema::Decimal(DecimalSchema {
            inner: InnerDecimalSchema::Bytes,
            ..
        }) => Ok(None),
        Schema::Fixed(fixed)
        | Schema::Duration(fixed)
        | Schema::Uuid(UuidSchema::Fixed(fixed))
        | Schema::Decimal(DecimalSchema {
            inner: InnerDecimalSchema::Fixed(fixed),
            ..
        }) => Ok(Some(fixed.size)),
        _ => Err("is not of its field's type"),
    }
}

/// How much one default may take.
const MAX_STEPS: usize = 10_000;
const MAX_BYTES: usize = 64 * 1024;
const MAX_DEPTH: usize = 64;
