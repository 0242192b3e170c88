//! JSON, read once, straight into columns.
//!
//! A record is a line of leaves: scalars, arrays, and objects at the depth limit. Between two leaves stands a *gap*: the raw
//! bytes such as `,"name":` or `},"b":{"c":`. Producers repeat themselves, so each leaf remembers the gaps that followed it
//! and where they led; comparing one of them finds the next column without reading a key. Where none fits, the gap is read
//! by JSON's grammar, and learned. `benches/workflow.rs`: `json_20fields` always hits, `json_shuffled` seldom
//! does, and the plain twin (`benches/twin`) reads a tree.

mod leaf;
mod scan;
mod tree;

use std::borrow::Cow;

pub use scan::JsonError;
use scan::{Cursor, MAX_ELEMENTS, MAX_NESTING, Str, unescape};
use tree::{END, LEFT_OUT, NodeId, ROOT, SCALAR, Tree};

use super::RecordRows;
use crate::columns::{Group, RowWriter, Trouble};

/// Decodes JSON values of one stream, and knows the shapes that it has seen.
#[derive(Debug)]
pub struct JsonDecoder {
    tree: Tree,
    group: Group,
    max_depth: usize,
    /// Half a character, or none, stood in a key of the gap that was read last.
    odd_key: bool,
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
            odd_key: false,
            scratch: Vec::new(),
        }
    }

    /// Forgets the columns, and by what they were found: those of a record that was taken back are no more.
    pub fn forget_columns(&mut self) {
        self.tree.clear();
    }

    /// Makes the rows of one record: one for each value, and for each element of an array that is a value.
    pub fn decode(&mut self, bytes: &[u8], rows: &mut RecordRows<'_>) -> Result<(), JsonError> {
        let mut cursor = Cursor { bytes, pos: 0 };
        cursor.skip_space();
        if bytes.is_empty() {
            return Err(JsonError::Empty);
        }
        if cursor.peek().is_none() {
            return cursor.expected("a JSON value");
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

    /// Reads one object into `row`; anything else is an error.
    pub(super) fn decode_object(
        &mut self,
        bytes: &[u8],
        row: &mut RowWriter<'_>,
    ) -> Result<(), JsonError> {
        let mut cursor = Cursor { bytes, pos: 0 };
        cursor.skip_space();
        if cursor.peek() != Some(b'{') {
            return cursor.expected("an object");
        }
        self.value(&mut cursor, row)?;
        cursor.skip_space();
        if cursor.peek().is_some() {
            return cursor.expected("the end of the object");
        }
        Ok(())
    }

    fn elements(
        &mut self,
        cursor: &mut Cursor<'_>,
        rows: &mut RecordRows<'_>,
    ) -> Result<(), JsonError> {
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
                _ => return cursor.expected("`,` or `]`"),
            }
        }
        Err(JsonError::TooManyElements)
    }

    /// Reads one value: an object's fields are columns, anything else is the column `value`.
    fn value(&mut self, cursor: &mut Cursor<'_>, row: &mut RowWriter<'_>) -> Result<(), JsonError> {
        if cursor.peek() != Some(b'{') {
            return self.leaf(cursor, SCALAR, row);
        }
        let (mut previous, mut inside) = (ROOT, ROOT);
        loop {
            let mut next = if let Some((next, len)) = self.tree.predict(previous, cursor.rest()) {
                cursor.pos += len;
                next
            } else {
                let next;
                (next, inside) = self.walk_and_learn(cursor, previous, inside, row)?;
                next
            };
            if next != END {
                cursor.skip_space();
                if self.is_object_to_enter(cursor, next) {
                    // The gap was right, and yet an object stands where a leaf stood before.
                    (next, inside) = self.walk(cursor, At::Value(next))?;
                }
            }
            if next == END {
                return Ok(());
            }
            self.leaf(cursor, next, row)?;
            previous = next;
        }
    }

    /// Goes on from behind the leaf `previous`, and remembers what came; `inside` is the object of a leaf past the limit, which
    /// has no place of its own.
    fn walk_and_learn(
        &mut self,
        cursor: &mut Cursor<'_>,
        previous: NodeId,
        inside: NodeId,
        row: &mut RowWriter<'_>,
    ) -> Result<(NodeId, NodeId), JsonError> {
        let start = cursor.pos;
        let at = match previous {
            ROOT => At::Value(ROOT),
            LEFT_OUT => At::After(inside),
            leaf => At::After(self.tree.parent(leaf)),
        };
        self.odd_key = false;
        let (next, object) = self.walk(cursor, at)?;
        if self.odd_key {
            // It is not learned, so that each one is counted.
            row.trouble(Trouble::InvalidUtf8, |sample| {
                sample.push_str(self.tree.path(if next == END { object } else { next }));
            });
            return Ok((next, object));
        }
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
        let whole = unescape(key.body, &mut self.scratch);
        let key = String::from_utf8_lossy(&self.scratch);
        self.odd_key |= !whole || matches!(key, Cow::Owned(_));
        self.tree.child(object, key.as_bytes())
    }
}

const _: () = assert!(MAX_NESTING <= 64, "`Cursor::compact` keeps a bit a level");
