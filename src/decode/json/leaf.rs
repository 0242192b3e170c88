//! A value of JSON into the cell of its column.

use super::JsonDecoder;
use super::scan::{Cursor, JsonError, Number, Str, unescape};
use super::tree::{Leaf, NodeId};
use crate::columns::{ColumnId, Kind, RowWriter, Trouble};

impl JsonDecoder {
    /// Reads a value into the column of its path.
    #[expect(
        clippy::inline_always,
        reason = "a call saves and restores six registers, as much as a number takes"
    )]
    #[inline(always)]
    pub(super) fn leaf(
        &mut self,
        cursor: &mut Cursor<'_>,
        node: NodeId,
        row: &mut RowWriter<'_>,
    ) -> Result<(), JsonError> {
        match cursor.peek() {
            Some(b'"') => {
                let text = cursor.string()?;
                self.text(node, text, row);
            }
            Some(b'-' | b'0'..=b'9') => {
                let number = cursor.number()?;
                self.number(node, number, row);
            }
            Some(byte @ (b't' | b'f')) => {
                let value = byte == b't';
                cursor.word(if value { b"true" } else { b"false" })?;
                if let Some(id) = self.column(node, Kind::Boolean, row) {
                    row.boolean(id, value);
                }
            }
            Some(b'n') => {
                cursor.word(b"null")?;
                if let Leaf::Column(id) = self.tree.leaf(node) {
                    row.null(id);
                }
            }
            Some(b'{' | b'[') => {
                let mut text = std::mem::take(&mut self.scratch);
                text.clear();
                // What is left out stands at no depth of its own.
                let depth = self.tree.depth(node).min(self.max_depth);
                let read = cursor.compact(depth, &mut text);
                if read.is_ok() {
                    self.utf8(node, &text, row, false, true);
                }
                self.scratch = text;
                read?;
            }
            _ => return cursor.expected("a value"),
        }
        Ok(())
    }

    #[inline]
    fn text(&mut self, node: NodeId, text: Str<'_>, row: &mut RowWriter<'_>) {
        if text.ascii && !text.escaped {
            if let Some(id) = self.column(node, Kind::Text, row) {
                row.text(id, text.body, true);
            }
            return;
        }
        if !text.escaped {
            return self.utf8(node, text.body, row, true, true);
        }
        let mut scratch = std::mem::take(&mut self.scratch);
        scratch.clear();
        let whole = unescape(text.body, &mut scratch);
        self.utf8(node, &scratch, row, false, whole);
        self.scratch = scratch;
    }

    /// Writes a text that may not be UTF-8: what is not becomes U+FFFD, and is counted; so it has become already where the text
    /// is not `whole`.
    fn utf8(
        &mut self,
        node: NodeId,
        bytes: &[u8],
        row: &mut RowWriter<'_>,
        verbatim: bool,
        whole: bool,
    ) {
        let Some(id) = self.column(node, Kind::Text, row) else {
            return;
        };
        // The check of the whole is many bytes at a time, the repair is not.
        let valid = std::str::from_utf8(bytes).is_ok();
        if valid {
            row.text(id, bytes, verbatim);
        } else {
            row.text(id, String::from_utf8_lossy(bytes).as_bytes(), verbatim);
        }
        if !valid || !whole {
            row.trouble(Trouble::InvalidUtf8, |sample| {
                sample.push_str(self.tree.path(node));
            });
        }
    }

    #[inline]
    fn number(&mut self, node: NodeId, number: Number<'_>, row: &mut RowWriter<'_>) {
        let Some(id) = self.column(node, Kind::Float, row) else {
            return;
        };
        if number.value.abs() < MAX_EXACT || row.kind(id) == Kind::Text {
            return row.float(id, number.value, number.text);
        }
        self.huge(node, id, number, row);
    }

    /// Writes a number of which a float64 may not hold all digits, or that is none at all.
    #[cold]
    fn huge(&self, node: NodeId, id: ColumnId, number: Number<'_>, row: &mut RowWriter<'_>) {
        let path = |sample: &mut String| sample.push_str(self.tree.path(node));
        if number.value.is_infinite() {
            row.null(id);
            return row.trouble(Trouble::OutOfRange, path);
        }
        row.float(id, number.value, number.text);
        if number.whole && row.kind(id) == Kind::Float {
            row.trouble(Trouble::Imprecise, path);
        }
    }

    #[inline]
    fn column(&mut self, node: NodeId, kind: Kind, row: &mut RowWriter<'_>) -> Option<ColumnId> {
        if let Leaf::Column(id) = self.tree.leaf(node) {
            return Some(id);
        }
        self.find_column(node, kind, row)
    }

    #[cold]
    fn find_column(
        &mut self,
        node: NodeId,
        kind: Kind,
        row: &mut RowWriter<'_>,
    ) -> Option<ColumnId> {
        if self.tree.leaf(node) == Leaf::Unknown {
            let found = row.column(self.group, self.tree.path(node), kind);
            let leaf = found.map_or(Leaf::LeftOut, Leaf::Column);
            self.tree.set_leaf(node, leaf);
            if found.is_some() {
                return found;
            }
        }
        row.trouble(Trouble::LeftOut, |sample| {
            sample.push_str(self.tree.path(node));
        });
        None
    }
}

/// From here on two whole numbers may have one float64: 2^53.
const MAX_EXACT: f64 = 9_007_199_254_740_992.0;
