//! Avro's scalars and logical types: read from bytes, shown as a person reads them.

use std::io::Write;

use super::cursor::{AvroError, Cursor, Fault};
use super::decimal;
use super::types::Type;
use crate::columns::time;
use crate::config::BytesAs;
use crate::decode::text::{hex, show_bytes, trim};

/// Is a value that is no list, map, union or record.
#[derive(Debug, Clone, Copy)]
pub(super) enum Scalar<'a> {
    Null,
    Boolean(bool),
    Integer(i64),
    Single(f32),
    Double(f64),
    Text(&'a [u8]),
    Bytes(&'a [u8]),
    /// A big-endian number in two's complement, and how many of its digits stand behind the point.
    Decimal(&'a [u8], i64),
    Uuid(&'a [u8]),
    /// Days since 1970.
    Date(i64),
    /// With how many of its units a second has.
    TimeOfDay(i64, i64),
    Instant(i64, i64),
    WallClock(i64, i64),
    /// Months, days and milliseconds.
    Duration([u32; 3]),
}

impl<'a> Scalar<'a> {
    /// Reads what `of` says; `None` where that is no scalar.
    pub(super) fn read<'b: 'a>(
        of: &'a Type,
        cursor: &mut Cursor<'b>,
    ) -> Result<Option<Self>, Fault> {
        Ok(Some(match of {
            Type::Null => Self::Null,
            Type::Boolean => Self::Boolean(cursor.boolean()?),
            Type::Int => Self::Integer(cursor.int("an int")?),
            Type::Long => Self::Integer(cursor.long("a long")?),
            Type::Float => Self::Single(f32::from_le_bytes(cursor.array("a float of 4 bytes")?)),
            Type::Double => Self::Double(cursor.double()?),
            Type::Bytes => Self::Bytes(cursor.bytes("bytes")?),
            Type::Text => Self::Text(cursor.bytes("a string")?),
            Type::Fixed(size) => Self::Bytes(cursor.take(*size, "a fixed")?),
            Type::Enum(symbols) => {
                let at = cursor.pos();
                let index = cursor.index(symbols.len(), "the number of an enum's symbol")?;
                let symbol = symbols[index].as_ref();
                Self::Text(
                    symbol
                        .map_err(|symbol| AvroError::symbol(at, symbol))?
                        .as_bytes(),
                )
            }
            Type::Decimal(size, scale) => Self::Decimal(sized(*size, "a decimal", cursor)?, *scale),
            Type::BigDecimal => {
                let at = cursor.pos();
                let mut inner = Cursor::new(cursor.bytes("a big-decimal")?, 0);
                let decimal = inner.bytes("an unscaled number").and_then(|unscaled| {
                    let scale = inner.long("a scale")?;
                    inner.end()?;
                    Ok(Self::Decimal(unscaled, scale))
                });
                decimal.map_err(|error| Fault::new(error.moved(at + 1)))?
            }
            Type::VariableDecimal => {
                let scale = cursor.int("a scale")?;
                Self::Decimal(cursor.bytes("an unscaled number")?, scale)
            }
            Type::Uuid(size) => Self::Uuid(sized(*size, "a uuid", cursor)?),
            Type::Date => Self::Date(cursor.int("a date")?),
            Type::TimeMillis => Self::TimeOfDay(cursor.int("a time")?, 1_000),
            Type::TimeMicros => Self::TimeOfDay(cursor.long("a time")?, 1_000_000),
            Type::Timestamp(unit) => Self::Instant(cursor.long("a timestamp")?, *unit),
            Type::LocalTimestamp(unit) => Self::WallClock(cursor.long("a timestamp")?, *unit),
            Type::Duration => {
                let mut parts = [0; 3];
                for part in &mut parts {
                    *part = u32::from_le_bytes(cursor.array("a duration of 12 bytes")?);
                }
                Self::Duration(parts)
            }
            Type::ToFloat(of) => Self::read(of, cursor)?.map_or(Self::Null, Self::to_single),
            Type::ToDouble(of) => Self::read(of, cursor)?.map_or(Self::Null, Self::to_double),
            Type::Never(reason) => return Err(AvroError::never(cursor.pos(), reason)),
            Type::Array(_)
            | Type::Map(_)
            | Type::Union(_)
            | Type::Record(_)
            | Type::Default(..) => return Ok(None),
        }))
    }

    fn to_single(self) -> Self {
        match self {
            Self::Integer(value) => Self::Single(value as f32),
            other => other,
        }
    }

    fn to_double(self) -> Self {
        match self {
            Self::Integer(value) => Self::Double(value as f64),
            Self::Single(value) => Self::Double(value.into()),
            other => other,
        }
    }

    /// Gives an instant's nanoseconds since 1970; `None` where it is none, or outside of the years 1677 to 2262.
    pub(super) fn nanos(self) -> Option<i64> {
        match self {
            Self::Date(days) => days.checked_mul(SECONDS_PER_DAY * NANOS_PER_S),
            Self::Instant(value, unit) => value.checked_mul(NANOS_PER_S / unit),
            _ => None,
        }
    }

    /// Appends the value as text.
    pub(super) fn show(self, bytes_as: BytesAs, out: &mut Vec<u8>) {
        match self {
            Self::Null => out.extend_from_slice(b"null"),
            Self::Boolean(value) => out.extend_from_slice(if value { b"true" } else { b"false" }),
            Self::Integer(value) => {
                out.extend_from_slice(itoa::Buffer::new().format(value).as_bytes());
            }
            Self::Single(value) => out.extend_from_slice(trim(zmij::Buffer::new().format(value))),
            Self::Double(value) => out.extend_from_slice(trim(zmij::Buffer::new().format(value))),
            Self::Text(text) => out.extend_from_slice(text),
            Self::Bytes(bytes) => show_bytes(bytes, bytes_as, out),
            Self::Decimal(unscaled, scale) => decimal::show(unscaled, scale, out),
            Self::Uuid(bytes) => {
                for (i, byte) in bytes.iter().enumerate() {
                    if bytes.len() == 16 && matches!(i, 4 | 6 | 8 | 10) {
                        out.push(b'-');
                    }
                    hex(&[*byte], out);
                }
            }
            Self::Date(days) => time::show_date(days, out),
            Self::TimeOfDay(value, unit) => time::show_clock(value, unit, out),
            Self::Instant(value, unit) => {
                show_wall_clock(value, unit, out);
                out.push(b'Z');
            }
            Self::WallClock(value, unit) => show_wall_clock(value, unit, out),
            Self::Duration([months, days, ms]) => {
                let _ = write!(out, "P{months}M{days}DT{}.{:03}S", ms / 1_000, ms % 1_000);
            }
        }
    }

    /// Tells whether JSON writes the value without quotes.
    pub(super) fn is_bare(self) -> bool {
        match self {
            Self::Null | Self::Boolean(_) | Self::Integer(_) | Self::Decimal(..) => true,
            Self::Single(value) => value.is_finite(),
            Self::Double(value) => value.is_finite(),
            _ => false,
        }
    }
}

fn sized<'a>(
    size: Option<usize>,
    expected: &'static str,
    cursor: &mut Cursor<'a>,
) -> Result<&'a [u8], Fault> {
    match size {
        Some(size) => cursor.take(size, expected),
        None => cursor.bytes(expected),
    }
}

fn show_wall_clock(value: i64, unit: i64, out: &mut Vec<u8>) {
    let day = SECONDS_PER_DAY * unit;
    time::show_date(value.div_euclid(day), out);
    out.push(b'T');
    time::show_clock(value.rem_euclid(day), unit, out);
}

const SECONDS_PER_DAY: i64 = 86_400;
const NANOS_PER_S: i64 = 1_000_000_000;
