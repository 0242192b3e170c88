//! JSON, read once, straight into columns.
//!
//! A record is a line of leaves: scalars, arrays, and objects at the depth limit. Between two leaves stands a *gap*: the raw
//! bytes such as `,"name":` or `},"b":{"c":`. Producers repeat themselves, so each leaf remembers the gaps that followed it
//! and where they led; comparing one of them finds the next column without reading a key. Where none fits, the gap is read
//! by JSON's grammar, and learned. `benches/workflow.rs`: `json_20fields` always hits, `json_shuffled` seldom
//! does, and the plain twin (`benches/twin`) reads a tree.

mod scan;
mod tree;

pub use scan::JsonError;
use scan::{Cursor, MAX_ELEMENTS, MAX_NESTING, Number, Str, unescape};
use tree::{END, Leaf, NodeId, ROOT, SCALAR, Tree};

use super::RecordRows;
use crate::columns::{ColumnId, Group, Kind, RowWriter, Trouble};

/// Decodes JSON values of one stream, and knows the shapes that it has seen.
#[derive(Debug)]
pub struct JsonDecoder {
    tree: Tree,
    group: Group,
    max_depth: usize,
    /// The record is known to be good, so it may make columns.
    may_add: bool,
    /// Where a value's text is put together when it does not stand in the record as it is.
    scratch: Vec<u8>,
}

/// Is where the grammar stands between two leaves.
#[derive(Debug, Clone, Copy)]
enum At {
    /// Before the value of a node.
    Value(NodeId),
    /// Before a key of an object.
    Key(NodeId),
    /// Behind a value in an object.
    After(NodeId),
    /// Behind an object's end.
    Closed(NodeId),
}

impl JsonDecoder {
    /// Makes a decoder whose columns are called by their path in the value.
    pub fn for_values(max_depth: usize, max_fields: usize) -> Self {
        Self::new(Group::Value, "", max_depth, max_fields)
    }

    /// Makes a decoder whose columns are called `key.<path>`.
    pub fn for_keys(max_depth: usize, max_fields: usize) -> Self {
        Self::new(Group::Key, "key", max_depth, max_fields)
    }

    fn new(group: Group, root: &str, max_depth: usize, max_fields: usize) -> Self {
        let tree = Tree::new(root, max_fields);
        Self {
            tree,
            group,
            max_depth,
            may_add: false,
            scratch: Vec::new(),
        }
    }

    /// Makes the rows of one record: one for each value, and for each element of an array that is a value.
    pub fn decode(&mut self, bytes: &[u8], rows: &mut RecordRows<'_>) -> Result<(), JsonError> {
        let mark = rows.mark();
        match self.whole(|decoder| decoder.values(bytes, rows)) {
            Err(Stop::NewColumn) => {
                rows.roll_back_to(mark);
                self.after_check(bytes, |decoder| decoder.values(bytes, rows))
            }
            done => done.map_err(Stop::into_error),
        }
    }

    /// Reads one object into `row`; anything else is an error.
    pub(super) fn decode_object(
        &mut self,
        bytes: &[u8],
        row: &mut RowWriter<'_>,
    ) -> Result<(), JsonError> {
        match self.whole(|decoder| decoder.object(bytes, row)) {
            Err(Stop::NewColumn) => self.after_check(bytes, |decoder| decoder.object(bytes, row)),
            done => done.map_err(Stop::into_error),
        }
    }

    /// Reads what makes no column: a record that turns out to be bad leaves no trace in the stream's schema.
    fn whole(&mut self, read: impl FnOnce(&mut Self) -> Result<(), Stop>) -> Result<(), Stop> {
        self.may_add = false;
        read(self)
    }

    /// Reads again, and makes columns, once all of `bytes` is known to be JSON.
    #[cold]
    fn after_check(
        &mut self,
        bytes: &[u8],
        read: impl FnOnce(&mut Self) -> Result<(), Stop>,
    ) -> Result<(), JsonError> {
        let mut cursor = Cursor { bytes, pos: 0 };
        cursor.skip_space();
        while cursor.peek().is_some() {
            self.scratch.clear();
            cursor.compact(0, &mut self.scratch)?;
            cursor.between_values()?;
        }
        self.may_add = true;
        read(self).map_err(Stop::into_error)
    }

    fn values(&mut self, bytes: &[u8], rows: &mut RecordRows<'_>) -> Result<(), Stop> {
        let mut cursor = Cursor { bytes, pos: 0 };
        cursor.skip_space();
        if cursor.peek().is_none() {
            return Ok(cursor.expected("a JSON value")?);
        }
        while let Some(byte) = cursor.peek() {
            match byte {
                b'[' => self.elements(&mut cursor, rows)?,
                _ => rows.row(|row| self.value(&mut cursor, row))?,
            }
            cursor.between_values()?;
        }
        Ok(())
    }

    fn object(&mut self, bytes: &[u8], row: &mut RowWriter<'_>) -> Result<(), Stop> {
        let mut cursor = Cursor { bytes, pos: 0 };
        cursor.skip_space();
        if cursor.peek() != Some(b'{') {
            return Ok(cursor.expected("an object")?);
        }
        self.value(&mut cursor, row)?;
        cursor.skip_space();
        if cursor.peek().is_some() {
            Ok(cursor.expected("the end of the object")?)
        } else {
            Ok(())
        }
    }

    fn elements(&mut self, cursor: &mut Cursor<'_>, rows: &mut RecordRows<'_>) -> Result<(), Stop> {
        cursor.pos += 1;
        cursor.skip_space();
        if cursor.peek() == Some(b']') {
            cursor.pos += 1;
            return Ok(());
        }
        for _ in 0..MAX_ELEMENTS {
            cursor.skip_space();
            rows.row(|row| self.value(cursor, row))?;
            cursor.skip_space();
            match cursor.peek() {
                Some(b',') => cursor.pos += 1,
                Some(b']') => {
                    cursor.pos += 1;
                    return Ok(());
                }
                _ => return Ok(cursor.expected("`,` or `]`")?),
            }
        }
        Err(JsonError::TooManyElements.into())
    }

    /// Reads one value: an object's fields are columns, anything else is the column `value`.
    fn value(&mut self, cursor: &mut Cursor<'_>, row: &mut RowWriter<'_>) -> Result<(), Stop> {
        if cursor.peek() != Some(b'{') {
            return self.leaf(cursor, SCALAR, row);
        }
        let (mut previous, mut at) = (ROOT, At::Value(ROOT));
        loop {
            let (mut next, mut object) = match self.predicted(cursor, previous) {
                Some(next) => (
                    next,
                    if next == END {
                        ROOT
                    } else {
                        self.tree.parent(next)
                    },
                ),
                None => self.walk_and_learn(cursor, previous, at)?,
            };
            cursor.skip_space();
            if next != END && self.is_object_to_enter(cursor, next) {
                // The gap was right, and yet an object stands where a leaf stood before.
                (next, object) = self.walk(cursor, At::Value(next))?;
            }
            if next == END {
                return Ok(());
            }
            self.leaf(cursor, next, row)?;
            (previous, at) = (next, At::After(object));
        }
    }

    #[inline]
    fn predicted(&mut self, cursor: &mut Cursor<'_>, previous: NodeId) -> Option<NodeId> {
        let (next, len) = self.tree.predict(previous, cursor.rest())?;
        cursor.pos += len;
        Some(next)
    }

    fn walk_and_learn(
        &mut self,
        cursor: &mut Cursor<'_>,
        previous: NodeId,
        at: At,
    ) -> Result<(NodeId, NodeId), JsonError> {
        let start = cursor.pos;
        let (next, object) = self.walk(cursor, at)?;
        self.tree
            .learn(previous, &cursor.bytes[start..cursor.pos], next);
        Ok((next, object))
    }

    /// Goes on by the grammar to the next leaf's value, or behind the end of the whole object; gives the leaf and the object
    /// that it stands in.
    fn walk(&mut self, cursor: &mut Cursor<'_>, mut at: At) -> Result<(NodeId, NodeId), JsonError> {
        let mut inside = ROOT;
        loop {
            cursor.skip_space();
            at = match at {
                At::Value(node) if self.is_object_to_enter(cursor, node) => {
                    cursor.pos += 1;
                    cursor.skip_space();
                    if cursor.peek() == Some(b'}') {
                        cursor.pos += 1;
                        At::Closed(node)
                    } else {
                        At::Key(node)
                    }
                }
                At::Value(node) => return Ok((node, inside)),
                At::Key(object) => {
                    inside = object;
                    let key = cursor.string()?;
                    cursor.skip_space();
                    cursor.take(b':', "`:`")?;
                    At::Value(self.child(object, key))
                }
                At::After(object) => match cursor.peek() {
                    Some(b',') => {
                        cursor.pos += 1;
                        At::Key(object)
                    }
                    Some(b'}') => {
                        cursor.pos += 1;
                        At::Closed(object)
                    }
                    _ => return cursor.expected("`,` or `}`"),
                },
                At::Closed(ROOT) => return Ok((END, ROOT)),
                At::Closed(object) => At::After(self.tree.parent(object)),
            };
        }
    }

    #[inline]
    fn is_object_to_enter(&self, cursor: &Cursor<'_>, node: NodeId) -> bool {
        cursor.peek() == Some(b'{') && self.tree.depth(node) < self.max_depth
    }

    fn child(&mut self, object: NodeId, key: Str<'_>) -> NodeId {
        if key.ascii && !key.escaped {
            return self.tree.child(object, key.body);
        }
        self.scratch.clear();
        unescape(key.body, &mut self.scratch);
        let key = String::from_utf8_lossy(&self.scratch);
        self.tree.child(object, key.as_bytes())
    }

    /// Reads a value into the column of its path.
    fn leaf(
        &mut self,
        cursor: &mut Cursor<'_>,
        node: NodeId,
        row: &mut RowWriter<'_>,
    ) -> Result<(), Stop> {
        match cursor.peek() {
            Some(b'"') => {
                let text = cursor.string()?;
                self.text(node, text, row)?;
            }
            Some(b'-' | b'0'..=b'9') => {
                let number = cursor.number()?;
                self.number(node, number, row)?;
            }
            Some(byte @ (b't' | b'f')) => {
                let value = byte == b't';
                cursor.word(if value { b"true" } else { b"false" })?;
                if let Some(id) = self.column(node, Kind::Boolean, row)? {
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
                let read = match cursor.compact(depth, &mut text) {
                    Ok(()) => self.utf8(node, &text, row, false),
                    Err(error) => Err(error.into()),
                };
                self.scratch = text;
                read?;
            }
            _ => return Ok(cursor.expected("a value")?),
        }
        Ok(())
    }

    #[inline]
    fn text(&mut self, node: NodeId, text: Str<'_>, row: &mut RowWriter<'_>) -> Result<(), Stop> {
        if text.ascii && !text.escaped {
            if let Some(id) = self.column(node, Kind::Text, row)? {
                row.text(id, text.body, true);
            }
            return Ok(());
        }
        if !text.escaped {
            return self.utf8(node, text.body, row, true);
        }
        let mut scratch = std::mem::take(&mut self.scratch);
        scratch.clear();
        unescape(text.body, &mut scratch);
        let written = self.utf8(node, &scratch, row, false);
        self.scratch = scratch;
        written
    }

    /// Writes a text that may not be UTF-8: what is not becomes U+FFFD, and is counted.
    fn utf8(
        &mut self,
        node: NodeId,
        bytes: &[u8],
        row: &mut RowWriter<'_>,
        verbatim: bool,
    ) -> Result<(), Stop> {
        let Some(id) = self.column(node, Kind::Text, row)? else {
            return Ok(());
        };
        if std::str::from_utf8(bytes).is_ok() {
            row.text(id, bytes, verbatim);
            return Ok(());
        }
        row.text(id, String::from_utf8_lossy(bytes).as_bytes(), verbatim);
        row.trouble(Trouble::InvalidUtf8, |sample| {
            sample.push_str(self.tree.path(node));
        });
        Ok(())
    }

    #[inline]
    fn number(
        &mut self,
        node: NodeId,
        number: Number<'_>,
        row: &mut RowWriter<'_>,
    ) -> Result<(), Stop> {
        let Some(id) = self.column(node, Kind::Float, row)? else {
            return Ok(());
        };
        if number.value.abs() < MAX_EXACT || row.kind(id) == Kind::Text {
            row.float(id, number.value, number.text);
            return Ok(());
        }
        self.huge(node, id, number, row);
        Ok(())
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
    fn column(
        &mut self,
        node: NodeId,
        kind: Kind,
        row: &mut RowWriter<'_>,
    ) -> Result<Option<ColumnId>, Stop> {
        if let Leaf::Column(id) = self.tree.leaf(node) {
            return Ok(Some(id));
        }
        self.find_column(node, kind, row)
    }

    #[cold]
    fn find_column(
        &mut self,
        node: NodeId,
        kind: Kind,
        row: &mut RowWriter<'_>,
    ) -> Result<Option<ColumnId>, Stop> {
        match self.tree.leaf(node) {
            Leaf::Column(id) => Ok(Some(id)),
            Leaf::Unknown if !self.may_add => Err(Stop::NewColumn),
            Leaf::Unknown => {
                let found = row.column(self.group, self.tree.path(node), kind);
                self.tree
                    .set_leaf(node, found.map_or(Leaf::LeftOut, Leaf::Column));
                self.find_column(node, kind, row)
            }
            Leaf::LeftOut => {
                row.trouble(Trouble::LeftOut, |sample| {
                    sample.push_str(self.tree.path(node));
                });
                Ok(None)
            }
        }
    }
}

/// Says why reading stopped.
#[derive(Debug)]
enum Stop {
    Json(JsonError),
    /// A column is needed that is not there, and the record is not known to be good.
    NewColumn,
}

impl Stop {
    fn into_error(self) -> JsonError {
        match self {
            Self::Json(error) => error,
            Self::NewColumn => unreachable!("columns may be added"),
        }
    }
}

impl From<JsonError> for Stop {
    fn from(error: JsonError) -> Self {
        Self::Json(error)
    }
}

/// From here on two whole numbers may have one float64: 2^53.
const MAX_EXACT: f64 = 9_007_199_254_740_992.0;
const _: () = assert!(MAX_NESTING <= 64, "`Cursor::compact` keeps a bit a level");
