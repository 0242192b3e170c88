//! One column's storage, shaped as Arrow shapes it: values, validity bits, string offsets.
//!
//! Plain vectors: they become Arrow arrays by moving, and cost a third of Arrow's own builders.

use super::{Group, Kind};

/// Is one column's cells from the set's first place on.
///
/// A column may hold fewer cells than the set has places: what follows is null. So a row that lacks a field costs nothing.
#[derive(Debug)]
pub struct Column {
    pub(crate) cells: Cells,
    pub(crate) validity: Validity,
    /// It has one cell a row, not one a place.
    pub(crate) by_row: bool,
    /// The number of cells: asked for at each write, so that the type is looked at once a cell.
    len: usize,
}

/// Is a column's values; a null's place holds a filler.
#[derive(Debug)]
pub enum Cells {
    Float(Vec<f64>),
    Integer(Vec<i64>),
    Unsigned(Vec<u64>),
    Boolean(Vec<bool>),
    Text(Text),
    /// Nanoseconds since 1970.
    Time(Vec<i64>),
}

impl Column {
    pub(crate) fn new(group: Group, kind: Kind) -> Self {
        Self {
            cells: Cells::new(kind),
            validity: Validity::default(),
            by_row: group == Group::Field,
            len: 0,
        }
    }

    #[inline]
    pub(crate) fn len(&self) -> usize {
        self.len
    }

    /// Tells whether `row` holds a value.
    pub(crate) fn is_valid(&self, row: usize) -> bool {
        row < self.len() && self.validity.is_valid(row)
    }

    /// Makes `row` the next one to be written: fills up with nulls, or takes back what the row already holds (a key that
    /// stands twice in one object: the last one wins).
    pub(crate) fn align(&mut self, row: usize) {
        if self.len() > row {
            self.truncate(row);
        }
        while self.len() < row {
            self.push_null();
        }
    }

    pub(crate) fn push_null(&mut self) {
        self.validity.push_null(self.len);
        self.cells.push_filler();
        self.len += 1;
    }

    /// Notes that the cell just pushed is a value.
    #[inline]
    pub(crate) fn pushed(&mut self) {
        self.validity.push_valid(self.len);
        self.len += 1;
    }

    /// Notes that the `count` cells just pushed are values.
    pub(crate) fn pushed_all(&mut self, count: usize) {
        if self.validity.nulls() != 0 {
            (self.len..self.len + count).for_each(|cell| self.validity.push_valid(cell));
        }
        self.len += count;
    }

    pub(crate) fn push_text(&mut self, bytes: &[u8], verbatim: bool) {
        if let Cells::Text(text) = &mut self.cells {
            text.push(bytes, verbatim);
            self.pushed();
        }
    }

    /// Follows the schema: an integer column may have become a float column.
    pub(crate) fn become_kind(&mut self, kind: Kind) {
        if kind != Kind::Float {
            return;
        }
        let floats = match &self.cells {
            Cells::Integer(values) => values.iter().map(|&value| value as f64).collect(),
            Cells::Unsigned(values) => values.iter().map(|&value| value as f64).collect(),
            _ => return,
        };
        self.cells = Cells::Float(floats);
    }

    pub(crate) fn truncate(&mut self, rows: usize) {
        if self.len() > rows {
            self.cells.truncate(rows);
            self.validity.truncate(rows);
            self.len = rows;
        }
    }

    /// Takes the cells from `rows` on out.
    pub(crate) fn split_off(&mut self, rows: usize) -> Self {
        let (rows, len) = (rows.min(self.len), self.len);
        let mut validity = Validity::default();
        for row in rows..len {
            if self.validity.is_valid(row) {
                validity.push_valid(row - rows);
            } else {
                validity.push_null(row - rows);
            }
        }
        let cells = self.cells.split_off(rows);
        self.validity.truncate(rows);
        self.len = rows;
        Self {
            cells,
            validity,
            by_row: self.by_row,
            len: len - rows,
        }
    }

    /// Empties the column; its type and its memory stay.
    pub(crate) fn clear(&mut self) {
        self.cells.truncate(0);
        self.validity.truncate(0);
        self.len = 0;
    }
}

impl Cells {
    pub(crate) fn new(kind: Kind) -> Self {
        match kind {
            Kind::Float => Self::Float(Vec::new()),
            Kind::Integer => Self::Integer(Vec::new()),
            Kind::Unsigned => Self::Unsigned(Vec::new()),
            Kind::Boolean => Self::Boolean(Vec::new()),
            Kind::Text => Self::Text(Text::default()),
            Kind::Time => Self::Time(Vec::new()),
        }
    }

    /// Takes a null's place.
    fn push_filler(&mut self) {
        match self {
            Self::Float(values) => values.push(0.0),
            Self::Integer(values) | Self::Time(values) => values.push(0),
            Self::Unsigned(values) => values.push(0),
            Self::Boolean(values) => values.push(false),
            Self::Text(text) => text.push(b"", true),
        }
    }

    fn split_off(&mut self, rows: usize) -> Self {
        match self {
            Self::Float(values) => Self::Float(values.split_off(rows)),
            Self::Integer(values) => Self::Integer(values.split_off(rows)),
            Self::Time(values) => Self::Time(values.split_off(rows)),
            Self::Unsigned(values) => Self::Unsigned(values.split_off(rows)),
            Self::Boolean(values) => Self::Boolean(values.split_off(rows)),
            Self::Text(text) => Self::Text(text.split_off(rows)),
        }
    }

    fn truncate(&mut self, rows: usize) {
        match self {
            Self::Float(values) => values.truncate(rows),
            Self::Integer(values) | Self::Time(values) => values.truncate(rows),
            Self::Unsigned(values) => values.truncate(rows),
            Self::Boolean(values) => values.truncate(rows),
            Self::Text(text) => text.truncate(rows),
        }
    }
}

/// Is the cells of a text column: their UTF-8 bytes one after another, and where each begins.
#[derive(Debug)]
pub struct Text {
    pub(crate) bytes: Vec<u8>,
    /// One more than there are cells; the first is 0.
    pub(crate) offsets: Vec<i32>,
    /// No cell holds a byte that JSON escapes, so cells are copied into a packet as they are.
    pub(crate) verbatim: bool,
}

impl Default for Text {
    fn default() -> Self {
        Self {
            bytes: Vec::new(),
            offsets: vec![0],
            verbatim: true,
        }
    }
}

impl Text {
    pub(crate) fn cell(&self, row: usize) -> &[u8] {
        &self.bytes[self.offsets[row] as usize..self.offsets[row + 1] as usize]
    }

    /// Gives the cells in order.
    pub(crate) fn iter(&self) -> impl Iterator<Item = &[u8]> {
        self.offsets
            .windows(2)
            .map(|ends| &self.bytes[ends[0] as usize..ends[1] as usize])
    }

    /// Adds a cell of UTF-8; `verbatim` says that nothing in it needs an escape in JSON.
    #[inline]
    pub(crate) fn push(&mut self, text: &[u8], verbatim: bool) {
        append(text, &mut self.bytes);
        self.verbatim &= verbatim;
        self.end_cell();
    }

    /// Adds cells of UTF-8 that need no escape in JSON: they stand one after another in `bytes`.
    pub(crate) fn extend(&mut self, bytes: &[u8], ends: &[i32]) {
        let start = self.bytes.len() as i32;
        self.bytes.extend_from_slice(bytes);
        i32::try_from(self.bytes.len()).expect(FULL);
        self.offsets.extend(ends.iter().map(|end| start + end));
    }

    /// Ends a cell whose bytes were appended to `bytes`.
    #[inline]
    pub(crate) fn end_cell(&mut self) {
        let end = i32::try_from(self.bytes.len()).expect(FULL);
        self.offsets.push(end);
    }

    fn split_off(&mut self, rows: usize) -> Self {
        let start = self.offsets[rows];
        let rest = Self {
            bytes: self.bytes.split_off(start as usize),
            offsets: self.offsets[rows..].iter().map(|end| end - start).collect(),
            verbatim: self.verbatim,
        };
        self.offsets.truncate(rows + 1);
        rest
    }

    fn truncate(&mut self, rows: usize) {
        self.offsets.truncate(rows + 1);
        self.bytes.truncate(self.offsets[rows] as usize);
        self.verbatim |= rows == 0;
    }
}

const FULL: &str = "a text column holds less than 2 GiB";

/// Appends a text.
///
/// Most are short: their first and last bytes, which may overlap, and one append of a fixed size cost half of a call of
/// `memcpy` (`benches/workflow.rs`, `json_20fields`); the twin is `out.extend_from_slice(text)`.
#[inline]
fn append(text: &[u8], out: &mut Vec<u8>) {
    match text.len() {
        4..8 => ends::<4, 8>(text, out),
        8..16 => ends::<8, 16>(text, out),
        _ => out.extend_from_slice(text),
    }
}

/// Appends a text of at least `N` and less than `M` bytes, which is twice `N`.
#[inline]
fn ends<const N: usize, const M: usize>(text: &[u8], out: &mut Vec<u8>) {
    if let (Some(first), Some(last)) = (text.first_chunk::<N>(), text.last_chunk::<N>()) {
        let (end, mut cell) = (out.len() + text.len(), [0; M]);
        cell[..N].copy_from_slice(first);
        cell[text.len() - N..][..N].copy_from_slice(last);
        out.extend_from_slice(&cell);
        out.truncate(end);
    }
}

/// Says which rows hold a value. While all do, no bit is stored or looked at.
#[derive(Debug, Default)]
pub struct Validity {
    bits: Vec<u8>,
    nulls: usize,
}

impl Validity {
    pub(crate) fn nulls(&self) -> usize {
        self.nulls
    }

    /// Gives the bits, low bit first, for `rows` rows.
    pub(crate) fn into_bits(mut self, rows: usize) -> Vec<u8> {
        self.bits.truncate(rows.div_ceil(8));
        self.bits
    }

    #[inline]
    pub(crate) fn is_valid(&self, row: usize) -> bool {
        self.nulls == 0 || self.bits[row / 8] >> (row % 8) & 1 == 1
    }

    #[inline]
    pub(crate) fn push_valid(&mut self, row: usize) {
        if self.nulls != 0 {
            self.set(row, true);
        }
    }

    pub(crate) fn push_null(&mut self, row: usize) {
        if self.nulls == 0 {
            self.bits.clear();
            self.bits.resize(row / 8 + 1, 0xff);
        }
        self.set(row, false);
        self.nulls += 1;
    }

    fn set(&mut self, row: usize, valid: bool) {
        if row / 8 == self.bits.len() {
            self.bits.push(0);
        }
        let bit = 1 << (row % 8);
        if valid {
            self.bits[row / 8] |= bit;
        } else {
            self.bits[row / 8] &= !bit;
        }
    }

    fn truncate(&mut self, rows: usize) {
        if self.nulls != 0 {
            self.nulls = (0..rows)
                .filter(|&row| self.bits[row / 8] >> (row % 8) & 1 == 0)
                .count();
            self.bits.truncate(rows.div_ceil(8));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::append;

    #[test]
    fn short_copies_are_whole() {
        let text: Vec<u8> = (1..=100).collect();
        for len in 0..=text.len() {
            let mut out = b"before".to_vec();
            append(&text[..len], &mut out);
            assert_eq!(out, [b"before", &text[..len]].concat(), "{len}");
        }
    }
}
