//! Columns that keep nothing, in the place of the core's: whatever the reader hands over is looked at, and gone.

use std::hint::black_box;
use std::marker::PhantomData;

pub(crate) use streamscope::columns::{Group, Kind, Trouble};

#[path = "../../src/columns/plain.rs"]
pub(crate) mod plain;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct ColumnId;

/// Stands where the core writes a row.
pub(crate) struct RowWriter<'a>(pub(crate) PhantomData<&'a mut ()>);

#[expect(
    clippy::unnecessary_wraps,
    clippy::unused_self,
    reason = "the core's has the same methods, and something to write to"
)]
impl RowWriter<'_> {
    pub(crate) fn column(&mut self, group: Group, path: &str, kind: Kind) -> Option<ColumnId> {
        black_box((group, path, kind));
        Some(ColumnId)
    }

    pub(crate) fn kind(&self, id: ColumnId) -> Kind {
        black_box(id);
        Kind::Float
    }

    #[inline]
    pub(crate) fn null(&mut self, id: ColumnId) {
        black_box(id);
    }

    #[inline]
    pub(crate) fn boolean(&mut self, _: ColumnId, value: bool) {
        black_box(value);
    }

    #[inline]
    pub(crate) fn float(&mut self, _: ColumnId, value: f64, text: &[u8]) {
        black_box((value, text));
    }

    #[inline]
    pub(crate) fn text(&mut self, _: ColumnId, text: &[u8], verbatim: bool) {
        black_box((text, verbatim));
    }

    pub(crate) fn trouble(&mut self, trouble: Trouble, sample: impl FnOnce(&mut String)) {
        sample(&mut String::new());
        black_box(trouble);
    }
}
