//! A frame's cells as JSON, column by column.

use crate::columns::{Cells, Column, ColumnSet, Text, time::NANOS_PER_MS};

/// Writes the array of columns, and the list of values that JSON has no number for.
pub(super) fn write(set: &ColumnSet, out: &mut Vec<u8>) {
    let mut entities = Entities::default();
    out.push(b'[');
    cells(set.rows, out, |row, out| {
        integer(set.time[row].div_euclid(NANOS_PER_MS), out);
    });
    let known = set.view.order.iter().map(|&id| &set.columns[id as usize]);
    let columns = [&set.partition, &set.offset]
        .into_iter()
        .chain(known)
        .chain(set.view.error.then_some(&set.error));
    for (i, column) in columns.enumerate() {
        out.push(b',');
        write_column(column, set.rows, i + 1, &mut entities, out);
    }
    out.push(b']');
    entities.write(set.view.order.len() + 3 + usize::from(set.view.error), out);
}

fn write_column(
    column: &Column,
    rows: usize,
    index: usize,
    entities: &mut Entities,
    out: &mut Vec<u8>,
) {
    let len = column.len().min(rows);
    let value = |row: usize, out: &mut Vec<u8>| match &column.cells {
        Cells::Float(values) if values[row].is_finite() => float(values[row], out),
        Cells::Float(values) => {
            entities.add(index, row, values[row]);
            out.extend_from_slice(NULL);
        }
        Cells::Integer(values) => integer(values[row], out),
        Cells::Unsigned(values) => {
            out.extend_from_slice(itoa::Buffer::new().format(values[row]).as_bytes());
        }
        Cells::Boolean(values) => {
            out.extend_from_slice(if values[row] { b"true" } else { b"false" });
        }
        Cells::Text(text) => write_text(text, row, out),
        Cells::Time(values) => integer(values[row].div_euclid(NANOS_PER_MS), out),
        Cells::Undecided => out.extend_from_slice(NULL),
    };
    let mut value = value;
    cells(rows, out, |row, out| {
        if row < len && column.validity.is_valid(row) {
            value(row, out);
        } else {
            out.extend_from_slice(NULL);
        }
    });
}

#[inline]
fn cells(rows: usize, out: &mut Vec<u8>, mut cell: impl FnMut(usize, &mut Vec<u8>)) {
    out.push(b'[');
    for row in 0..rows {
        if row > 0 {
            out.push(b',');
        }
        cell(row, out);
    }
    out.push(b']');
}

const NULL: &[u8] = b"null";

fn integer(value: i64, out: &mut Vec<u8>) {
    out.extend_from_slice(itoa::Buffer::new().format(value).as_bytes());
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

fn write_text(text: &Text, row: usize, out: &mut Vec<u8>) {
    let cell = text.cell(row);
    out.push(b'"');
    if text.verbatim {
        out.extend_from_slice(cell);
    } else {
        escape(cell, out);
    }
    out.push(b'"');
}

/// Copies UTF-8 and escapes what JSON's strings do not take.
fn escape(cell: &[u8], out: &mut Vec<u8>) {
    let mut start = 0;
    for (i, &byte) in cell.iter().enumerate() {
        let code = match byte {
            b'"' | b'\\' => byte,
            b'\n' => b'n',
            b'\r' => b'r',
            b'\t' => b't',
            0x08 => b'b',
            0x0c => b'f',
            0..=0x1f => b'u',
            _ => continue,
        };
        out.extend_from_slice(&cell[start..i]);
        start = i + 1;
        out.extend_from_slice(&[b'\\', code]);
        if code == b'u' {
            const HEX: &[u8; 16] = b"0123456789abcdef";
            out.extend_from_slice(&[
                b'0',
                b'0',
                HEX[usize::from(byte >> 4)],
                HEX[usize::from(byte & 15)],
            ]);
        }
    }
    out.extend_from_slice(&cell[start..]);
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
