//! Writes what the rows of one place do not share: the columns of [`Group::Field`](super::Group::Field), one by one.

use super::{ColumnId, QUOTE_BYTES, RowWriter};
use crate::columns::Cells;

/// Writes cells of the rows of one place, which share those that the row already holds.
#[derive(Debug)]
pub struct FieldWriter<'w, 'a> {
    row: &'w mut RowWriter<'a>,
    rows: usize,
}

impl<'a> RowWriter<'a> {
    /// Makes the row `rows` rows, of which each has fields of its own.
    pub(crate) fn fields(&mut self, rows: usize) -> FieldWriter<'_, 'a> {
        let bytes = self.set.bytes - self.start.bytes;
        self.set.bytes = self.start.bytes + bytes * rows;
        self.set.filled *= rows;
        FieldWriter { row: self, rows }
    }
}

impl<'a> FieldWriter<'_, 'a> {
    /// Calls `write` for each row.
    pub(crate) fn each(&mut self, mut write: impl FnMut(usize, &mut RowWriter<'a>)) {
        let place = self.row.row;
        for i in 0..self.rows {
            self.row.row = self.row.start.rows + i;
            write(i, self.row);
        }
        self.row.row = place;
    }

    /// Writes a text of each row; they stand one after another in `bytes`, and need no escape in JSON.
    pub(crate) fn texts(&mut self, id: ColumnId, bytes: &[u8], ends: &[i32]) {
        let set = &mut *self.row.set;
        let column = set.cell(id, self.row.start.rows);
        if let Cells::Text(text) = &mut column.cells {
            text.extend(bytes, ends);
            column.pushed_all(ends.len());
            set.bytes += bytes.len() + ends.len() * QUOTE_BYTES;
            set.filled += ends.len();
            return;
        }
        let mut start = 0;
        self.each(|i, row| {
            let end = ends[i] as usize;
            row.text(id, &bytes[start..end], true);
            start = end;
        });
    }

    /// Writes a number of each row, whose texts have `digits` bytes together. `false` is that nothing was written: the column is of
    /// another type.
    pub(crate) fn floats(&mut self, id: ColumnId, numbers: &[f64], digits: usize) -> bool {
        let set = &mut *self.row.set;
        let column = set.cell(id, self.row.start.rows);
        let Cells::Float(values) = &mut column.cells else {
            return false;
        };
        values.extend_from_slice(numbers);
        column.pushed_all(numbers.len());
        set.bytes += digits + numbers.len();
        set.filled += numbers.len();
        true
    }
}
