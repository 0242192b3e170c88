//! Google's own types that show as something else than an object.

use std::io::Write;

use super::plan::Type;
use super::wire::{Cursor, Fault, Wire};
use crate::columns::time;

/// Is what `Timestamp` and `Duration` hold.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(super) struct Span {
    pub(super) seconds: i64,
    pub(super) nanos: i32,
}

impl Span {
    /// Gives the nanoseconds since 1970; `None` outside of the years 1677 to 2262.
    pub(super) fn since_1970(self) -> Option<i64> {
        let nanos = i128::from(self.seconds) * i128::from(NANOS_PER_S) + i128::from(self.nanos);
        i64::try_from(nanos).ok()
    }
}

/// Reads a `Timestamp` or a `Duration`.
#[inline]
pub(super) fn seconds_and_nanos(
    group: Option<u32>,
    cursor: &mut Cursor<'_>,
) -> Result<Span, Fault> {
    let mut span = Span::default();
    fields(group, cursor, |number, wire, cursor| {
        if !matches!(number, 1 | 2) {
            return cursor.skip(number, wire);
        }
        Type::Int64.expect(number, wire, cursor.pos)?;
        let value = cursor.varint("seconds and nanoseconds")?;
        if number == 1 {
            span.seconds = value as i64;
        } else {
            span.nanos = value as i32;
        }
        Ok(())
    })?;
    Ok(span)
}

/// Reads an `Any`: its type URL and its bytes.
pub(super) fn any<'a>(
    group: Option<u32>,
    cursor: &mut Cursor<'a>,
) -> Result<(&'a [u8], &'a [u8]), Fault> {
    let (mut url, mut value) = (&[][..], &[][..]);
    fields(group, cursor, |number, wire, cursor| {
        if !matches!(number, 1 | 2) {
            return cursor.skip(number, wire);
        }
        Type::Bytes.expect(number, wire, cursor.pos)?;
        let bytes = cursor.bytes("a length of bytes")?;
        if number == 1 {
            url = bytes;
        } else {
            value = bytes;
        }
        Ok(())
    })?;
    Ok((url, value))
}

/// Appends the text of a `FieldMask`, as JSON has it: paths in lower camel case, with commas between them.
pub(super) fn show_field_mask(
    group: Option<u32>,
    cursor: &mut Cursor<'_>,
    out: &mut Vec<u8>,
) -> Result<(), Fault> {
    let start = out.len();
    fields(group, cursor, |number, wire, cursor| {
        if number != 1 {
            return cursor.skip(number, wire);
        }
        Type::Text.expect(number, wire, cursor.pos)?;
        let path = cursor.bytes("a path's length")?;
        if out.len() > start {
            out.push(b',');
        }
        let mut is_upper = false;
        for &byte in path {
            match byte {
                b'_' => is_upper = true,
                _ if std::mem::take(&mut is_upper) => out.push(byte.to_ascii_uppercase()),
                _ => out.push(byte),
            }
        }
        Ok(())
    })
}

/// Reads the fields of a message, to the end of the cursor or of its group.
#[inline]
fn fields<'a>(
    group: Option<u32>,
    cursor: &mut Cursor<'a>,
    mut field: impl FnMut(u32, Wire, &mut Cursor<'a>) -> Result<(), Fault>,
) -> Result<(), Fault> {
    while group.is_some() || !cursor.is_at_end() {
        match cursor.tag()? {
            (number, Wire::GroupEnd) if group == Some(number) => return Ok(()),
            (number, wire) => field(number, wire, cursor)?,
        }
    }
    Ok(())
}

/// Appends an instant as RFC 3339.
pub(super) fn show_timestamp(span: Span, out: &mut Vec<u8>) {
    let seconds = i128::from(span.seconds) + i128::from(span.nanos.div_euclid(NANOS_PER_S as i32));
    let nanos = i64::from(span.nanos.rem_euclid(NANOS_PER_S as i32));
    let Ok(seconds) = i64::try_from(seconds) else {
        return;
    };
    time::show_date(seconds.div_euclid(SECONDS_PER_DAY), out);
    out.push(b'T');
    let of_day = seconds.rem_euclid(SECONDS_PER_DAY);
    let (unit, part) = match nanos {
        0 => (1, 0),
        nanos if nanos % 1_000_000 == 0 => (1_000, nanos / 1_000_000),
        nanos if nanos % 1_000 == 0 => (1_000_000, nanos / 1_000),
        nanos => (NANOS_PER_S, nanos),
    };
    time::show_clock(of_day * unit + part, unit, out);
    out.push(b'Z');
}

/// Appends the seconds of a duration, as a decimal number.
pub(super) fn show_duration(span: Span, out: &mut Vec<u8>) {
    let nanos = i128::from(span.seconds) * i128::from(NANOS_PER_S) + i128::from(span.nanos);
    let sign = if nanos < 0 { "-" } else { "" };
    let (seconds, part) = (
        nanos.unsigned_abs() / 1_000_000_000,
        nanos.unsigned_abs() % 1_000_000_000,
    );
    let _ = write!(out, "{sign}{seconds}");
    if part != 0 {
        let _ = write!(out, ".{part:09}");
        let zeros = out.iter().rev().take_while(|&&byte| byte == b'0').count();
        out.truncate(out.len() - zeros);
    }
}

const NANOS_PER_S: i64 = 1_000_000_000;
const SECONDS_PER_DAY: i64 = 86_400;
