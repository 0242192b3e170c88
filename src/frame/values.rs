//! A frame's cells as JSON, column by column.

use super::buffer::{Buffer, Room, put};
use super::number::{Integers, float, unsigned};
use crate::columns::plain::plain_len;
use crate::columns::{
    COORDINATES, Cells, Column, ColumnSet, Coordinates, Place, Text, time::NANOS_PER_MS,
};

/// Writes the array of columns, the list of values that JSON has no number for, and what milliseconds leave of times.
pub(super) fn write(set: &ColumnSet, out: &mut Buffer) {
    let mut entities = Entities::default();
    let known = set.view().order.iter().map(|&id| &set.columns[id as usize]);
    let columns = known.chain(set.view().error.then_some(&set.error));
    out.extend(b"[");
    let (mut count, flat) = (COORDINATES.len(), set.is_flat());
    write_places(&set.places, flat, out);
    for column in columns {
        out.extend(b",[");
        if flat || column.by_row {
            write_column(column, set.rows, |_| 1, count, &mut entities, out);
        } else {
            let rows = |place: usize| set.places[place].rows as usize;
            write_column(column, set.rows, rows, count, &mut entities, out);
        }
        out.replace_last(b',', b']');
        count += 1;
    }
    out.push(b']');
    entities.write(count, out);
    write_nanos(&set.places, count, out);
}

/// Writes the columns `time`, `partition` and `offset`.
fn write_places(places: &[Place], flat: bool, out: &mut Buffer) {
    let rows = |run: &[Place]| {
        if flat {
            run.len()
        } else {
            run.iter().map(|place| place.rows as usize).sum()
        }
    };
    out.extend(b"[");
    // A division costs as much as the rest of a cell, but rows of one moment share their time.
    write_runs(
        places,
        rows,
        |at| at.time,
        |whole, time, room| whole.write(millis(time), room),
        out,
    );
    out.extend(b",[");
    let number = |whole: &mut Integers, number: Option<i64>, room: &mut Room| match number {
        Some(number) => whole.write(number, room),
        None => null(room),
    };
    write_runs(places, rows, |at| at.partition.map(i64::from), number, out);
    out.extend(b",[");
    write_runs(places, rows, |at| at.offset, number, out);
}

/// Writes a part of the rows' coordinates, and closes the list. Rows of a record, of a partition or of a moment share it.
fn write_runs<T: Copy + PartialEq>(
    places: &[Place],
    rows: impl Fn(&[Place]) -> usize,
    part: impl Fn(&Coordinates) -> T,
    write: impl Fn(&mut Integers, T, &mut Room) -> usize,
    out: &mut Buffer,
) {
    let mut whole = Integers::default();
    for run in places.chunk_by(|a, b| part(&a.at) == part(&b.at)) {
        out.cells(rows(run), |room| write(&mut whole, part(&run[0].at), room));
    }
    out.replace_last(b',', b']');
}

/// Writes the cells of a column of `rows` rows, each with a comma behind it; `each` tells how many rows show one of its cells.
///
/// The type is asked once a column and not once a cell, and where every cell holds a value no bit is looked at
/// (`benches/workflow.rs`, `json_100fields`).
fn write_column(
    column: &Column,
    rows: usize,
    each: impl Fn(usize) -> usize + Copy,
    index: usize,
    entities: &mut Entities,
    out: &mut Buffer,
) {
    let mut whole = Integers::default();
    match &column.cells {
        Cells::Float(values) => cells(column, values, each, out, |i, value, room| {
            if value.is_finite() {
                return float(value, &mut whole, room);
            }
            let row = (0..i).map(each).sum();
            (row..row + each(i)).for_each(|row| entities.add(index, row, value));
            null(room)
        }),
        Cells::Integer(values) => cells(column, values, each, out, |_, value, room| {
            whole.write(value, room)
        }),
        Cells::Unsigned(values) => cells(column, values, each, out, |_, value, room| {
            unsigned(value, room)
        }),
        Cells::Boolean(values) => cells(column, values, each, out, |_, value, room| {
            let (text, len) = if value {
                (b"true,   ", 5)
            } else {
                (b"false,  ", 6)
            };
            room[..8].copy_from_slice(text);
            len
        }),
        Cells::Time(values) => cells(column, values, each, out, |_, value, room| {
            whole.write(millis(value), room)
        }),
        Cells::Text(text) if text.verbatim && column.validity.nulls() == 0 => {
            write_texts(text, each, out);
        }
        Cells::Text(text) => {
            for (i, cell) in text.iter().enumerate() {
                let start = out.len();
                if column.validity.is_valid(i) {
                    out.push(b'"');
                    escape(cell, out);
                    out.extend(b"\",");
                } else {
                    out.cell(null);
                }
                out.repeat(out.len() - start, each(i) - 1);
            }
        }
    }
    let written: usize = (0..column.len()).map(each).sum();
    out.cells(rows - written, null);
}

/// Writes the cells that a column has: its values, and null for the others.
#[inline]
fn cells<T: Copy>(
    column: &Column,
    values: &[T],
    each: impl Fn(usize) -> usize,
    out: &mut Buffer,
    mut cell: impl FnMut(usize, T, &mut Room) -> usize,
) {
    let all = column.validity.nulls() == 0;
    for (i, &value) in values.iter().enumerate() {
        out.cells(each(i), |room| {
            if all || column.validity.is_valid(i) {
                cell(i, value, room)
            } else {
                null(room)
            }
        });
    }
}

fn null(room: &mut Room) -> usize {
    room[..5].copy_from_slice(b"null,");
    5
}

/// Writes texts that need no escape.
///
/// Most are short: what stands behind one in the column is copied too, and written over (`benches/workflow.rs`,
/// `json_20fields`).
fn write_texts(text: &Text, each: impl Fn(usize) -> usize, out: &mut Buffer) {
    for (i, ends) in text.offsets.windows(2).enumerate() {
        let (start, len) = (ends[0] as usize, (ends[1] - ends[0]) as usize);
        let rest = &text.bytes[start..];
        if len <= 16
            && let Some(chunk) = rest.first_chunk::<16>()
        {
            out.cells(each(i), |room| {
                room[1..17].copy_from_slice(chunk);
                quote(len, room)
            });
        } else if len <= 64
            && let Some(chunk) = rest.first_chunk::<64>()
        {
            out.cells(each(i), |room| {
                room[1..65].copy_from_slice(chunk);
                quote(len, room)
            });
        } else {
            out.push(b'"');
            out.extend(&rest[..len]);
            out.extend(b"\",");
            out.repeat(len + 3, each(i) - 1);
        }
    }
}

/// Puts the quotes of a text of `len` bytes, and a comma; gives what they take together.
#[inline]
fn quote(len: usize, room: &mut Room) -> usize {
    room[0] = b'"';
    room[len + 1..len + 3].copy_from_slice(b"\",");
    len + 3
}

fn millis(nanos: i64) -> i64 {
    nanos.div_euclid(NANOS_PER_MS)
}

/// Copies UTF-8 and escapes what JSON's strings do not take.
#[expect(
    clippy::inline_always,
    reason = "two loops call it for each cell, and a call costs a fifth of it"
)]
#[inline(always)]
fn escape(cell: &[u8], out: &mut Buffer) {
    let mut rest = cell;
    loop {
        let plain = plain_len(rest);
        match plain {
            0..=32 => out.cell(|room| put(&rest[..plain], room)),
            _ => out.extend(&rest[..plain]),
        }
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
                out.extend(&[b'\\', b'u', b'0', b'0', hex(byte >> 4), hex(byte & 15)]);
                continue;
            }
            _ => {
                out.push(byte);
                continue;
            }
        };
        out.extend(&[b'\\', code]);
    }
}

/// Is where NaN and the infinities stand: column, row and value.
#[derive(Debug, Default)]
struct Entities(Vec<(usize, usize, f64)>);

impl Entities {
    fn add(&mut self, column: usize, row: usize, value: f64) {
        self.0.push((column, row, value));
    }

    fn write(&self, columns: usize, out: &mut Buffer) {
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
        out.extend(b",\"entities\":");
        out.extend(&serde_json::to_vec(&lists).expect("lists are JSON"));
    }
}

/// Writes the nanoseconds past the millisecond of the rows' times, where there are some.
///
/// Only of theirs: the reader of Grafana's Go SDK fails on those of a column that may hold null, and the browser takes none in
/// a stream.
fn write_nanos(places: &[Place], columns: usize, out: &mut Buffer) {
    let rest = |place: &Place| place.at.time.rem_euclid(NANOS_PER_MS);
    if places.iter().all(|place| rest(place) == 0) {
        return;
    }
    let mut whole = Integers::default();
    out.extend(b",\"nanos\":[[");
    for place in places {
        out.cells(place.rows as usize, |room| whole.write(rest(place), room));
    }
    out.replace_last(b',', b']');
    (1..columns).for_each(|_| out.cell(|room| put(b",null", room)));
    out.push(b']');
}
