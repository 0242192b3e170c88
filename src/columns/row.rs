//! Writes one row: cells by column, then commit or nothing.

mod fields;

use std::fmt::Write;
use std::sync::Arc;

use super::time;
use super::{
    Cells, ColumnId, ColumnSet, Coordinates, Fit, Group, Kind, Labels, Mark, SchemaField, Trouble,
    fit,
};
pub use fields::FieldWriter;

use crate::config::TimeUnit;

/// Writes the cells of one row, or of those of one line; a cell written twice keeps the later value.
///
/// Each write takes the value's own text in the payload where there is one, so that a number in a text column keeps its digits.
#[derive(Debug)]
pub struct RowWriter<'a> {
    set: &'a mut ColumnSet,
    /// Which cell is written: the place's, or within [`RowWriter::fields`] the row's.
    row: usize,
    start: Mark,
    committed: bool,
}

impl<'a> RowWriter<'a> {
    pub(super) fn new(set: &'a mut ColumnSet) -> Self {
        let (row, start) = (set.places.len(), set.mark());
        Self {
            set,
            row,
            start,
            committed: false,
        }
    }

    /// Finds or makes a column; `None` where the field limit leaves it out.
    pub fn column(&mut self, group: Group, path: &str, kind: Kind) -> Option<ColumnId> {
        self.set.column(group, path, kind, None)
    }

    /// Finds or makes the column of a series; `name` tells it from all others, and `labels` say what its values have in
    /// common. `None` where the field limit leaves it out.
    pub fn series(&mut self, name: &str, kind: Kind, labels: &Arc<Labels>) -> Option<ColumnId> {
        self.set
            .column(Group::Value, name, kind, Some(Arc::clone(labels)))
    }

    /// Gives the type of a column's cells.
    #[inline]
    pub fn kind(&self, id: ColumnId) -> Kind {
        self.set.view().fields[id.0 as usize].kind
    }

    /// Tells whether the row holds a value at `id`.
    pub(crate) fn holds(&self, id: ColumnId) -> bool {
        self.set.columns[id.0 as usize].is_valid(self.row)
    }

    /// Counts the columns, for [`RowWriter::take_back`].
    pub(crate) fn columns(&self) -> usize {
        self.set.columns.len()
    }

    /// Takes back what the row holds in `group`, and its new columns: they are those from `columns` on. Tells whether there
    /// were any.
    pub(crate) fn take_back(&mut self, group: Group, columns: usize) -> bool {
        let set = &mut *self.set;
        let fields = set.draft.view().fields.iter().zip(&mut set.columns);
        for (_, column) in fields.filter(|(field, _)| field.group == group) {
            column.truncate(self.row);
        }
        set.take_back_columns(columns)
    }

    /// Counts a trouble of this record.
    pub fn trouble(&mut self, trouble: Trouble, sample: impl FnOnce(&mut String)) {
        self.set.tally.count(trouble, sample);
    }

    /// Writes a number; `source` is its text.
    #[expect(
        clippy::inline_always,
        reason = "a cell is a few instructions, and a call as many again"
    )]
    #[inline(always)]
    pub fn float(&mut self, id: ColumnId, value: f64, source: &[u8]) {
        self.set.bytes += source.len() + 1;
        self.set.filled += 1;
        let column = self.set.cell(id, self.row);
        if let Cells::Float(values) = &mut column.cells {
            values.push(value);
            column.pushed();
            if self.set.watch.is_some() {
                self.watch(id, source);
            }
        } else {
            self.convert(id, Incoming::Float(value, source));
        }
    }

    /// Writes a whole number of a typed format.
    #[inline]
    pub fn integer(&mut self, id: ColumnId, value: i64) {
        self.set.bytes += NUMBER_BYTES;
        self.set.filled += 1;
        let column = self.set.cell(id, self.row);
        if let Cells::Integer(values) = &mut column.cells {
            values.push(value);
            column.pushed();
        } else {
            self.convert(id, Incoming::Integer(value));
        }
    }

    /// Writes a whole number without a sign, of a typed format.
    #[inline]
    pub fn unsigned(&mut self, id: ColumnId, value: u64) {
        self.set.bytes += NUMBER_BYTES;
        self.set.filled += 1;
        let column = self.set.cell(id, self.row);
        if let Cells::Unsigned(values) = &mut column.cells {
            values.push(value);
            column.pushed();
        } else {
            self.convert(id, Incoming::Unsigned(value));
        }
    }

    /// Writes a float of a typed format; its text is made only where something needs it.
    #[inline]
    pub fn double(&mut self, id: ColumnId, value: f64) {
        self.set.bytes += FLOAT_BYTES;
        self.set.filled += 1;
        let is_watched = self.set.watch.is_some();
        let column = self.set.cell(id, self.row);
        match &mut column.cells {
            Cells::Float(values) if !is_watched => {
                values.push(value);
                column.pushed();
            }
            _ => self.double_with_text(id, value),
        }
    }

    #[cold]
    fn double_with_text(&mut self, id: ColumnId, value: f64) {
        let mut buffer = zmij::Buffer::new();
        let text = buffer.format(value);
        let source = text.strip_suffix(".0").unwrap_or(text).as_bytes();
        let column = self.set.cell(id, self.row);
        if let Cells::Float(values) = &mut column.cells {
            values.push(value);
            column.pushed();
            self.watch(id, source);
        } else {
            self.convert(id, Incoming::Float(value, source));
        }
    }

    /// Writes a boolean.
    #[expect(
        clippy::inline_always,
        reason = "a cell is a few instructions, and a call as many again"
    )]
    #[inline(always)]
    pub fn boolean(&mut self, id: ColumnId, value: bool) {
        self.set.bytes += 6;
        self.set.filled += 1;
        let column = self.set.cell(id, self.row);
        if let Cells::Boolean(values) = &mut column.cells {
            values.push(value);
            column.pushed();
        } else {
            self.convert(id, Incoming::Boolean(value));
        }
    }

    /// Writes a time, in nanoseconds since 1970.
    #[inline]
    pub fn time(&mut self, id: ColumnId, nanos: i64) {
        let column = &mut self.set.columns[id.0 as usize];
        if column.len() != self.row {
            column.align(self.row);
        }
        self.set.filled += 1;
        self.set.bytes += TIME_BYTES;
        if let Cells::Time(values) = &mut column.cells {
            values.push(nanos);
            column.pushed();
        } else {
            self.convert(id, Incoming::Time(nanos));
        }
    }

    /// Writes a text of UTF-8; `verbatim` says that nothing in it needs an escape in JSON.
    #[expect(
        clippy::inline_always,
        reason = "a cell is a few instructions, and a call as many again"
    )]
    #[inline(always)]
    pub fn text(&mut self, id: ColumnId, value: &[u8], verbatim: bool) {
        let escapes = if verbatim { 0 } else { escapes(value) };
        self.set.bytes += value.len() + escapes + QUOTE_BYTES;
        self.set.filled += 1;
        let column = self.set.cell(id, self.row);
        if let Cells::Text(text) = &mut column.cells {
            text.push(value, escapes == 0);
            column.pushed();
        } else {
            self.convert(id, Incoming::Text(value));
        }
    }

    /// Writes null, which also takes back a value that the row already holds there.
    #[inline]
    pub fn null(&mut self, id: ColumnId) {
        self.set.columns[id.0 as usize].align(self.row);
    }

    /// Gives the time that the row holds in the field of [`ColumnSet::watch_time`].
    pub(crate) fn watched_time(&self) -> Option<i64> {
        let watch = self.set.watch.as_ref()?;
        let column = &self.set.columns[watch.column?.0 as usize];
        if !column.is_valid(self.row) {
            return None;
        }
        let number = |text: &str| time::from_number(text, watch.unit);
        match &column.cells {
            Cells::Float(_) => watch.found,
            Cells::Integer(values) => number(itoa::Buffer::new().format(values[self.row])),
            Cells::Unsigned(values) => number(itoa::Buffer::new().format(values[self.row])),
            Cells::Text(text) => time::from_text(str(text.cell(self.row))?, watch.unit),
            Cells::Time(values) => Some(values[self.row]),
            Cells::Boolean(_) => None,
        }
    }

    /// Keeps the exact time that a number's text is, where its column is watched.
    #[cold]
    fn watch(&mut self, id: ColumnId, source: &[u8]) {
        if let Some(watch) = self.set.watch.as_mut().filter(|w| w.column == Some(id)) {
            watch.found = str(source).and_then(|text| time::from_number(text, watch.unit));
        }
    }

    /// Says what is wrong with the row's record.
    pub(super) fn error(&mut self, text: &str) {
        self.set.error.align(self.row);
        self.set.error.push_text(text.as_bytes(), false);
        self.set.bytes += text.len();
    }

    /// Finishes the row, or as many as have fields.
    pub fn commit(mut self, at: Coordinates, rows: usize) {
        self.committed = true;
        self.set.finish_rows(at, rows);
    }

    /// Writes a value that is not of its column's type, by the type-conflict rule.
    #[cold]
    fn convert(&mut self, id: ColumnId, incoming: Incoming<'_>) {
        let index = id.0 as usize;
        let SchemaField { kind, asked, .. } = self.set.view().fields[index];
        match fit(kind, asked, incoming.kind()) {
            Fit::Widen => {
                self.set.draft.widen(index);
                self.set.follow_columns();
                return self.put(index, &incoming);
            }
            Fit::Keep | Fit::Convert if self.put_converted(index, kind, &incoming) => return,
            Fit::Keep | Fit::Convert | Fit::Null => {}
        }
        let name = Arc::clone(&self.set.view().fields[index].name);
        self.trouble(Trouble::Misfit, |sample| {
            let _ = write!(
                sample,
                "`{name}` is a {} column, and got a {}",
                kind.label(),
                incoming.kind().label()
            );
        });
    }

    fn put(&mut self, index: usize, incoming: &Incoming<'_>) {
        let column = &mut self.set.columns[index];
        if let (Cells::Float(values), Some(value)) = (&mut column.cells, incoming.as_float()) {
            values.push(value);
            column.pushed();
        }
    }

    /// Converts into `settled`; tells whether that gave a value.
    fn put_converted(&mut self, index: usize, settled: Kind, incoming: &Incoming<'_>) -> bool {
        let watched = self.set.watch.as_ref();
        let unit = watched
            .filter(|watch| watch.column == Some(ColumnId(index as u32)))
            .map_or(TimeUnit::Auto, |watch| watch.unit);
        let column = &mut self.set.columns[index];
        let written = match (&mut column.cells, settled) {
            (Cells::Float(values), _) => incoming.as_float().map(|value| values.push(value)),
            (Cells::Boolean(values), _) => incoming.as_boolean().map(|value| values.push(value)),
            (Cells::Time(values), _) => incoming.as_time(unit).map(|value| values.push(value)),
            (Cells::Text(text), _) => {
                incoming.with_text(|bytes| text.push(bytes, false));
                Some(())
            }
            _ => None,
        };
        if written.is_some() {
            column.pushed();
        }
        written.is_some()
    }
}

impl Drop for RowWriter<'_> {
    fn drop(&mut self) {
        if !self.committed {
            self.set.take_back_rows(self.start);
        }
    }
}

/// Is a value on its way into a column of another type.
#[derive(Debug, Clone, Copy)]
enum Incoming<'a> {
    Float(f64, &'a [u8]),
    Integer(i64),
    Unsigned(u64),
    Boolean(bool),
    Text(&'a [u8]),
    Time(i64),
}

impl Incoming<'_> {
    fn kind(&self) -> Kind {
        match self {
            Self::Float(..) => Kind::Float,
            Self::Integer(_) => Kind::Integer,
            Self::Unsigned(_) => Kind::Unsigned,
            Self::Boolean(_) => Kind::Boolean,
            Self::Text(_) => Kind::Text,
            Self::Time(_) => Kind::Time,
        }
    }

    fn as_float(&self) -> Option<f64> {
        match self {
            Self::Float(value, _) => Some(*value),
            Self::Integer(value) => Some(*value as f64),
            Self::Unsigned(value) => Some(*value as f64),
            Self::Text(text) => str(text)?
                .trim()
                .parse()
                .ok()
                .filter(|value: &f64| value.is_finite()),
            Self::Boolean(_) | Self::Time(_) => None,
        }
    }

    fn as_boolean(&self) -> Option<bool> {
        match self {
            Self::Boolean(value) => Some(*value),
            Self::Text(b"true") => Some(true),
            Self::Text(b"false") => Some(false),
            _ => None,
        }
    }

    fn as_time(&self, unit: TimeUnit) -> Option<i64> {
        match self {
            Self::Float(_, source) => time::from_number(str(source)?, unit),
            Self::Integer(value) => time::from_number(itoa::Buffer::new().format(*value), unit),
            Self::Unsigned(value) => time::from_number(itoa::Buffer::new().format(*value), unit),
            Self::Text(text) => time::from_text(str(text)?, unit),
            Self::Time(nanos) => Some(*nanos),
            Self::Boolean(_) => None,
        }
    }

    fn with_text(&self, write: impl FnOnce(&[u8])) {
        match self {
            Self::Float(_, source) => write(source),
            Self::Integer(value) => write(itoa::Buffer::new().format(*value).as_bytes()),
            Self::Unsigned(value) => write(itoa::Buffer::new().format(*value).as_bytes()),
            Self::Boolean(value) => write(if *value { b"true" } else { b"false" }),
            Self::Text(text) => write(text),
            Self::Time(nanos) => write(&time::to_rfc3339(*nanos)),
        }
    }
}

fn str(bytes: &[u8]) -> Option<&str> {
    std::str::from_utf8(bytes).ok()
}

/// Tells about how many bytes JSON's escapes add to a text; none where it takes the text as it is.
fn escapes(text: &[u8]) -> usize {
    let added = |&byte: &u8| u32::from(matches!(byte, b'"' | b'\\')) + 5 * u32::from(byte < b' ');
    text.iter().map(added).sum::<u32>() as usize
}

/// What a text takes of a packet beside its bytes: two quotes and a comma.
const QUOTE_BYTES: usize = 3;
/// About what a whole number takes of a packet.
const NUMBER_BYTES: usize = 8;
/// About what a float takes of a packet.
const FLOAT_BYTES: usize = 12;
/// What a time takes of a packet: its milliseconds, and the nanoseconds past them.
const TIME_BYTES: usize = 20;
