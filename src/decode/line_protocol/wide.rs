//! A row a moment, and a column for each measurement, tag set and field: what a time series panel draws as it is.

use std::collections::HashMap;
use std::convert::Infallible;
use std::fmt::Write as _;
use std::sync::Arc;

use super::line::{Field, Line, Span, Tag, Value};
use super::{RecordRows, measurement, name, text, write};
use crate::columns::{ColumnId, Kind, Labels, RowWriter, Trouble};

/// Knows the series of one stream, and holds the cells of a record until its lines of one time are together.
#[derive(Debug)]
pub(super) struct Wide {
    known: Vec<Series>,
    /// By measurement and tags as they are written.
    by_key: HashMap<Box<[u8]>, u32>,
    max: usize,
    /// The series of the line before: the one after it is likely to be next.
    last: usize,
    cells: Vec<Cell>,
}

/// Is a measurement with its tags.
#[derive(Debug)]
struct Series {
    /// As it is written.
    key: Box<[u8]>,
    measurement: String,
    /// By key, so that the same tags in another order are the same series.
    labels: Arc<Labels>,
    fields: Vec<FieldColumn>,
    /// By the field's key as it is written.
    by_key: HashMap<Box<[u8]>, u32>,
}

#[derive(Debug)]
struct FieldColumn {
    /// As it is written.
    key: Box<[u8]>,
    column: Known,
}

/// Says what is known of a field's column.
#[derive(Debug, Clone, Copy)]
enum Known {
    /// Nothing: no row has been written.
    New,
    Column(ColumnId),
    /// The field limit leaves it out.
    LeftOut,
}

/// Is a value on its way into a row.
#[derive(Debug, Clone, Copy)]
struct Cell {
    /// `None` is the record's.
    time: Option<i64>,
    /// Its place in the record: of two values of one series and time the later one counts.
    place: u32,
    series: u32,
    column: u32,
    field: Field,
}

impl Wide {
    /// Keeps about `max_fields` series in mind.
    pub(super) fn new(max_fields: usize) -> Self {
        Self {
            known: Vec::new(),
            by_key: HashMap::new(),
            max: 2 * max_fields,
            last: 0,
            cells: Vec::new(),
        }
    }

    pub(super) fn forget_columns(&mut self) {
        self.known.clear();
        self.by_key.clear();
        self.last = 0;
    }

    /// Takes the values of a line.
    pub(super) fn line(
        &mut self,
        line: &Line,
        time: Option<i64>,
        value: &[u8],
        scratch: &mut Vec<u8>,
        rows: &mut RecordRows<'_>,
    ) {
        let series = self.find(line, value, scratch);
        for (place, field) in line.fields.iter().enumerate() {
            let column = series.and_then(|series| {
                let column = self.known[series].find(place, field.key.of(value), self.max)?;
                Some((series, column))
            });
            let Some((series, column)) = column else {
                rows.trouble(Trouble::LeftOut, |sample| {
                    for part in [line.series(), field.key] {
                        sample.push_str(&String::from_utf8_lossy(part.of(value)));
                        sample.push(' ');
                    }
                });
                continue;
            };
            self.cells.push(Cell {
                time,
                place: self.cells.len() as u32,
                series: series as u32,
                column,
                field: *field,
            });
        }
    }

    /// Makes a row of each time of a record, in the order of time.
    pub(super) fn finish(
        &mut self,
        value: &[u8],
        scratch: &mut Vec<u8>,
        rows: &mut RecordRows<'_>,
    ) {
        let Self { known, cells, .. } = self;
        let order = |cell: &Cell| (cell.time, cell.place);
        if !cells.is_sorted_by_key(order) {
            cells.sort_unstable_by_key(order);
        }
        for moment in cells.chunk_by(|a, b| a.time == b.time) {
            let made = rows.row_at(moment[0].time, |row| {
                for cell in moment {
                    known[cell.series as usize].write(cell, value, scratch, row);
                }
                Ok::<_, Infallible>(())
            });
            let Ok(()) = made;
        }
        cells.clear();
    }

    /// Drops what a record that failed left behind.
    pub(super) fn begin(&mut self) {
        self.cells.clear();
    }

    /// Finds or adds the series of a line; `None` where there are too many.
    fn find(&mut self, line: &Line, value: &[u8], scratch: &mut Vec<u8>) -> Option<usize> {
        let written = line.series().of(value);
        let next = self.last + 1;
        for likely in [if next < self.known.len() { next } else { 0 }, self.last] {
            if self
                .known
                .get(likely)
                .is_some_and(|series| *series.key == *written)
            {
                self.last = likely;
                return Some(likely);
            }
        }
        if let Some(&index) = self.by_key.get(written) {
            self.last = index as usize;
            return Some(self.last);
        }
        if self.known.len() >= self.max {
            return None;
        }
        self.last = self.known.len();
        self.by_key.insert(written.into(), self.last as u32);
        self.known.push(Series::new(written, line, value, scratch));
        Some(self.last)
    }
}

impl Series {
    #[cold]
    fn new(written: &[u8], line: &Line, value: &[u8], scratch: &mut Vec<u8>) -> Self {
        let mut shown =
            |span: Span| -> Box<str> { String::from_utf8_lossy(name(span, value, scratch)).into() };
        let mut labels: Vec<_> = line
            .tags
            .iter()
            .map(|Tag { key, value }| (shown(*key), shown(*value)))
            .collect();
        labels.sort_unstable();
        let measurement = measurement(line.measurement, value, scratch);
        Self {
            key: written.into(),
            measurement: String::from_utf8_lossy(measurement).into_owned(),
            labels: labels.into(),
            fields: Vec::new(),
            by_key: HashMap::new(),
        }
    }

    /// Finds or adds the field at `place` of a line; `None` where there are more than `max`. Producers repeat their fields, so
    /// its place is looked at first.
    fn find(&mut self, place: usize, key: &[u8], max: usize) -> Option<u32> {
        let is = |field: &FieldColumn| *field.key == *key;
        if self.fields.get(place).is_some_and(is) {
            return Some(place as u32);
        }
        if let Some(&index) = self.by_key.get(key) {
            return Some(index);
        }
        if self.fields.len() >= max {
            return None;
        }
        let index = self.fields.len() as u32;
        self.by_key.insert(key.into(), index);
        self.fields.push(FieldColumn {
            key: key.into(),
            column: Known::New,
        });
        Some(index)
    }

    fn write(&mut self, cell: &Cell, value: &[u8], scratch: &mut Vec<u8>, row: &mut RowWriter<'_>) {
        let Cell { column, field, .. } = cell;
        let index = *column as usize;
        if let Known::New = self.fields[index].column {
            let key = String::from_utf8_lossy(name(field.key, value, scratch));
            let column = row.series(&self.name(&key), kind(field.value), &self.labels);
            self.fields[index].column = column.map_or(Known::LeftOut, Known::Column);
        }
        let Known::Column(id) = self.fields[index].column else {
            row.trouble(Trouble::LeftOut, |sample| {
                sample.push_str(&self.name(&String::from_utf8_lossy(field.key.of(value))));
            });
            return;
        };
        let source = field.source.of(value);
        let exact = |magnitude: u64, row: &mut RowWriter<'_>| {
            if magnitude > EXACT && row.kind(id) != Kind::Text {
                row.trouble(Trouble::Imprecise, |sample| {
                    sample.push_str(&String::from_utf8_lossy(source));
                });
            }
        };
        match field.value {
            Value::Float(value) => row.float(id, value, source),
            Value::Integer(value) => {
                exact(value.unsigned_abs(), row);
                row.integer(id, value);
            }
            Value::Unsigned(value) => {
                exact(value, row);
                row.unsigned(id, value);
            }
            Value::Boolean(value) => row.boolean(id, value),
            Value::Text => {
                let shown = text(field.source, value, scratch);
                write(id, shown, field.source.is_plain(), row, &self.measurement);
            }
        }
    }

    /// Names the column of a field: `cpu.usage{host=a}`; two that differ never have the same name.
    fn name(&self, field: &str) -> String {
        let mut name = String::new();
        push_segment(&mut name, &self.measurement);
        push_segment(&mut name, field);
        for (i, (key, value)) in self.labels.iter().enumerate() {
            name.push(if i == 0 { '{' } else { ',' });
            push_label(&mut name, key);
            name.push('=');
            push_label(&mut name, value);
        }
        if !self.labels.is_empty() {
            name.push('}');
        }
        name
    }
}

/// Appends a measurement or a field, as flattening does, and with braces quoted, too.
fn push_segment(name: &mut String, segment: &str) {
    if segment.contains(['.', '[', ']', '{', '}', '"']) {
        let _ = write!(name, "[{}]", serde_json::Value::from(segment));
        return;
    }
    if !name.is_empty() {
        name.push('.');
    }
    name.push_str(segment);
}

/// Appends a tag's key or value, quoted where it would read as something else.
fn push_label(name: &mut String, text: &str) {
    if text.contains([',', '=', '{', '}', '"']) {
        let _ = write!(name, "{}", serde_json::Value::from(text));
    } else {
        name.push_str(text);
    }
}

/// Gives the kind of a column whose first value this is.
fn kind(value: Value) -> Kind {
    match value {
        Value::Float(_) => Kind::Float,
        Value::Integer(_) => Kind::Integer,
        Value::Unsigned(_) => Kind::Unsigned,
        Value::Boolean(_) => Kind::Boolean,
        Value::Text => Kind::Text,
    }
}

/// From here on two whole numbers may have one float64: 2^53.
const EXACT: u64 = 1 << 53;
