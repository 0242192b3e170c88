//! A frame's cells as JSON, column by column.

use crate::columns::plain::plain_len;
use crate::columns::{Cells, Column, ColumnSet, time::NANOS_PER_MS};

/// Writes the array of columns, the list of values that JSON has no number for, and what milliseconds leave of times.
pub(super) fn write(set: &ColumnSet, out: &mut Vec<u8>) {
    let mut entities = Entities::default();
    let known = set.view().order.iter().map(|&id| &set.columns[id as usize]);
    let columns = [&set.partition, &set.offset]
        .into_iter()
        .chain(known)
        .chain(set.view().error.then_some(&set.error));
    out.push(b'[');
    sequence(set.time.iter(), out, |_, &nanos, out| {
        integer(millis(nanos), out);
    });
    close(out);
    for (i, column) in columns.enumerate() {
        out.push(b',');
        write_column(column, set.rows, i + 1, &mut entities, out);
    }
    out.push(b']');
    let count = set.view().order.len() + 3 + usize::from(set.view().error);
    entities.write(count, out);
    write_nanos(&set.time, count, out);
}

/// Writes one column.
///
/// The type is asked once a column and not once a cell, and where every cell holds a value no bit is looked at
/// (`benches/workflow.rs`, `json_100fields`).
fn write_column(
    column: &Column,
    rows: usize,
    index: usize,
    entities: &mut Entities,
    out: &mut Vec<u8>,
) {
    match &column.cells {
        Cells::Float(values) => cells(column, values.iter(), rows, out, |row, &value, out| {
            if value.is_finite() {
                float(value, out);
            } else {
                entities.add(index, row, value);
                out.extend_from_slice(NULL);
            }
        }),
        Cells::Integer(values) => cells(column, values.iter(), rows, out, |_, &v, out| {
            integer(v, out);
        }),
        Cells::Unsigned(values) => cells(column, values.iter(), rows, out, |_, &value, out| {
            out.extend_from_slice(itoa::Buffer::new().format(value).as_bytes());
        }),
        Cells::Boolean(values) => cells(column, values.iter(), rows, out, |_, &value, out| {
            out.extend_from_slice(if value { b"true" } else { b"false" });
        }),
        Cells::Text(text) if text.verbatim => {
            cells(column, text.iter(), rows, out, |_, cell, out| {
                out.push(b'"');
                append(cell, out);
                out.push(b'"');
            });
        }
        Cells::Text(text) => cells(column, text.iter(), rows, out, |_, cell, out| {
            out.push(b'"');
            escape(cell, out);
            out.push(b'"');
        }),
        Cells::Time(values) => cells(column, values.iter(), rows, out, |_, &value, out| {
            integer(millis(value), out);
        }),
    }
}

/// Writes a column's cells: its values, and null for the others.
#[inline]
fn cells<T>(
    column: &Column,
    values: impl Iterator<Item = T>,
    rows: usize,
    out: &mut Vec<u8>,
    mut cell: impl FnMut(usize, T, &mut Vec<u8>),
) {
    if column.validity.nulls() == 0 {
        sequence(values, out, cell);
    } else {
        sequence(values, out, |row, value, out| {
            if column.validity.is_valid(row) {
                cell(row, value, out);
            } else {
                out.extend_from_slice(NULL);
            }
        });
    }
    for _ in column.len()..rows {
        out.extend_from_slice(b"null,");
    }
    close(out);
}

/// Opens an array and writes its items, each with a comma behind it.
#[inline]
fn sequence<T>(
    values: impl Iterator<Item = T>,
    out: &mut Vec<u8>,
    mut item: impl FnMut(usize, T, &mut Vec<u8>),
) {
    out.push(b'[');
    for (row, value) in values.enumerate() {
        item(row, value, out);
        out.push(b',');
    }
}

/// Ends an array: where the last comma stands.
fn close(out: &mut Vec<u8>) {
    match out.last_mut() {
        Some(last) if *last == b',' => *last = b']',
        _ => out.push(b']'),
    }
}

const NULL: &[u8] = b"null";

fn millis(nanos: i64) -> i64 {
    nanos.div_euclid(NANOS_PER_MS)
}

fn integer(value: i64, out: &mut Vec<u8>) {
    append(itoa::Buffer::new().format(value).as_bytes(), out);
}

/// Appends a few bytes.
///
/// Numbers and most texts are short: two copies of a fixed size, which may overlap, cost half of a call of `memcpy`
/// (`benches/workflow.rs`, `json_20fields`); the twin is `out.extend_from_slice(bytes)`.
#[inline]
fn append(bytes: &[u8], out: &mut Vec<u8>) {
    let start = out.len();
    match bytes.len() {
        8..=16 => {
            out.extend_from_slice(&bytes[..8]);
            out.truncate(start + bytes.len() - 8);
            out.extend_from_slice(&bytes[bytes.len() - 8..]);
        }
        4..8 => {
            out.extend_from_slice(&bytes[..4]);
            out.truncate(start + bytes.len() - 4);
            out.extend_from_slice(&bytes[bytes.len() - 4..]);
        }
        0..4 => bytes.iter().for_each(|&byte| out.push(byte)),
        _ => out.extend_from_slice(bytes),
    }
}

/// Writes the shortest text that reads back as `value`; whole numbers without a point.
#[expect(
    clippy::float_cmp,
    reason = "a whole number is the same before and after, or it is none"
)]
fn float(value: f64, out: &mut Vec<u8>) {
    let whole = value as i64;
    if whole as f64 == value
        && whole.unsigned_abs() < 1 << 53
        && !(whole == 0 && value.is_sign_negative())
    {
        return integer(whole, out);
    }
    out.extend_from_slice(zmij::Buffer::new().format_finite(value).as_bytes());
}

/// Copies UTF-8 and escapes what JSON's strings do not take.
fn escape(cell: &[u8], out: &mut Vec<u8>) {
    let mut rest = cell;
    loop {
        let plain = plain_len(rest);
        out.extend_from_slice(&rest[..plain]);
        let Some(&byte) = rest.get(plain) else {
            return;
        };
        rest = &rest[plain + 1..];
        let code = match byte {
            b'"' | b'\\' => byte,
            b'\n' => b'n',
            b'\r' => b'r',
            b'\t' => b't',
            0x08 => b'b',
            0x0c => b'f',
            0..=0x1f => {
                let hex = |digit: u8| b"0123456789abcdef"[usize::from(digit)];
                out.extend_from_slice(&[b'\\', b'u', b'0', b'0', hex(byte >> 4), hex(byte & 15)]);
                continue;
            }
            _ => {
                out.push(byte);
                continue;
            }
        };
        out.extend_from_slice(&[b'\\', code]);
    }
}

/// Is where NaN and the infinities stand: column, row and value.
#[derive(Debug, Default)]
struct Entities(Vec<(usize, usize, f64)>);

impl Entities {
    fn add(&mut self, column: usize, row: usize, value: f64) {
        self.0.push((column, row, value));
    }

    fn write(&self, columns: usize, out: &mut Vec<u8>) {
        if self.0.is_empty() {
            return;
        }
        let rows = |column: usize, is: fn(f64) -> bool| -> Vec<usize> {
            self.0
                .iter()
                .filter(|(c, _, value)| *c == column && is(*value))
                .map(|(_, row, _)| *row)
                .collect()
        };
        let lists: Vec<_> = (0..columns)
            .map(|column| {
                self.0.iter().any(|(c, ..)| *c == column).then(|| {
                    serde_json::json!({
                        "NaN": rows(column, f64::is_nan),
                        "Inf": rows(column, |v| v == f64::INFINITY),
                        "NegInf": rows(column, |v| v == f64::NEG_INFINITY),
                    })
                })
            })
            .collect();
        out.extend_from_slice(b",\"entities\":");
        serde_json::to_writer(out, &lists).expect("lists are JSON");
    }
}

/// Writes the nanoseconds past the millisecond of the rows' times, where there are some.
///
/// Only of theirs: the reader of Grafana's Go SDK fails on those of a column that may hold null, and the browser takes none in
/// a stream.
fn write_nanos(times: &[i64], columns: usize, out: &mut Vec<u8>) {
    let rest = |nanos: i64| nanos.rem_euclid(NANOS_PER_MS);
    if times.iter().all(|&nanos| rest(nanos) == 0) {
        return;
    }
    out.extend_from_slice(b",\"nanos\":[");
    sequence(times.iter(), out, |_, &nanos, out| {
        integer(rest(nanos), out);
    });
    close(out);
    (1..columns).for_each(|_| out.extend_from_slice(b",null"));
    out.push(b']');
}

#[cfg(test)]
mod tests {
    use super::append;

    #[test]
    fn short_copies_are_whole() {
        let bytes: Vec<u8> = (b'a'..=b'z').collect();
        for len in 0..=bytes.len() {
            let mut out = b"before".to_vec();
            append(&bytes[..len], &mut out);
            assert_eq!(out, [b"before", &bytes[..len]].concat(), "{len}");
        }
    }
}
