//! A message of a schema, compiled: what each field is, and which column it has.

use std::collections::HashMap;

use super::wire::{Cursor, Fault, ProtobufError, Wire};
use crate::columns::Kind;

/// Is one message of a schema, compiled: immutable, names resolved, nothing looked up by name while it runs.
#[derive(Debug)]
pub(super) struct Plan {
    /// The message itself is the first; by [`MessageId`].
    pub(super) messages: Vec<Message>,
    pub(super) enums: Vec<Enum>,
    /// What an `Any` may hold, by full name; empty where the schema has none.
    pub(super) any: HashMap<Box<str>, MessageId>,
    pub(super) root: Scope,
}

pub(super) type MessageId = usize;

/// Is a message: its fields by number.
#[derive(Debug)]
pub(super) struct Message {
    pub(super) form: Form,
    pub(super) fields: Box<[Field]>,
    /// The place in `fields` of each small number, one more than it is; 0 is no field.
    pub(super) places: Box<[u16]>,
    /// How many words the mask of seen fields takes: a bit a field, then a bit a oneof.
    pub(super) words: usize,
    /// The fields that show their default where they are absent, as a mask.
    pub(super) implicit: Box<[u64]>,
}

/// Is one field of a message.
#[derive(Debug)]
pub(super) struct Field {
    pub(super) name: Box<str>,
    pub(super) number: u32,
    pub(super) shape: Shape,
    /// What one value is; of a map, what stands behind a key.
    pub(super) of: Type,
    /// The layout of one value.
    pub(super) wire: Wire,
    /// The tag that producers write, and the layout that it says: a list's is packed where it may be.
    pub(super) tag: u64,
    pub(super) likely: Wire,
    /// The bit of the field's oneof in the mask.
    pub(super) oneof: Option<usize>,
    pub(super) is_implicit: bool,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Shape {
    One,
    Many,
    /// With what its keys are.
    Map(Type),
}

/// Is what one value is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Type {
    Bool,
    Int32,
    Int64,
    Uint32,
    Uint64,
    Sint32,
    Sint64,
    Fixed32,
    Fixed64,
    Sfixed32,
    Sfixed64,
    Float,
    Double,
    Text,
    Bytes,
    Enum(usize),
    /// The enum that stands for JSON's null.
    Null,
    Message(MessageId),
}

/// Says how a message shows where it is no object.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Form {
    Object,
    /// Shows as the one field that it has: the wrappers, `Struct`, `Value` and `ListValue`.
    Transparent,
    Timestamp,
    Duration,
    Any,
    FieldMask,
}

/// Is an enum's names by number.
#[derive(Debug)]
pub(super) struct Enum {
    pub(super) names: Vec<(i32, Box<str>)>,
    /// The numbers are 0, 1, 2 and so on.
    pub(super) is_dense: bool,
}

/// Is what has columns of its own: the record, or the values of a map, whose keys come with the data.
#[derive(Debug)]
pub(super) struct Scope {
    pub(super) leaves: Vec<Leaf>,
    pub(super) maps: Vec<MapScope>,
    pub(super) slot: Slot,
}

/// Is a column: its path within the scope, and its type.
#[derive(Debug)]
pub(super) struct Leaf {
    pub(super) path: String,
    pub(super) kind: Kind,
}

/// Is a map: the path at which it stands, and what its values are.
#[derive(Debug)]
pub(super) struct MapScope {
    pub(super) path: String,
    pub(super) values: Scope,
}

/// Says where a field's value goes.
#[derive(Debug)]
pub(super) enum Slot {
    Leaf(usize),
    /// The message's fields have their own places.
    Node(Node),
    Map(usize),
}

/// Is a message whose fields have columns.
#[derive(Debug)]
pub(super) struct Node {
    pub(super) message: MessageId,
    /// By field.
    pub(super) slots: Box<[Slot]>,
}

impl Plan {
    /// Finds the message that an `Any` of this type URL holds.
    pub(super) fn held(&self, url: &[u8]) -> Option<MessageId> {
        let name = url.rsplit(|&byte| byte == b'/').next()?;
        self.any.get(std::str::from_utf8(name).ok()?).copied()
    }
}

impl Message {
    /// Gives the scalar that the message is a wrapper of.
    pub(super) fn wrapped(&self) -> Option<Type> {
        match (self.form, &*self.fields) {
            (Form::Transparent, [field]) if field.shape == Shape::One => {
                Some(field.of).filter(|of| !matches!(of, Type::Message(_)))
            }
            _ => None,
        }
    }

    /// Reads the next tag that the schema knows: gives the field, its place and the layout; `None` at the message's end, which
    /// is the end of `group`, if it is one.
    ///
    /// Producers write fields by number, so the field at `expected` is tried before the table
    /// (`benches/workflow.rs`, `protobuf_30fields`).
    #[expect(
        clippy::inline_always,
        reason = "a tag is a few instructions, and a call as many again"
    )]
    #[inline(always)]
    pub(super) fn next(
        &self,
        expected: usize,
        group: Option<u32>,
        cursor: &mut Cursor<'_>,
    ) -> Result<Option<(usize, &Field, Wire)>, Fault> {
        if group.is_none() && cursor.is_at_end() {
            return Ok(None);
        }
        let at = cursor.pos;
        let tag = cursor.varint("a field's tag")?;
        match self.fields.get(expected) {
            Some(field) if field.tag == tag => Ok(Some((expected, field, field.likely))),
            _ => self.next_other(tag, at, group, cursor),
        }
    }

    #[inline(never)]
    fn next_other(
        &self,
        mut tag: u64,
        mut at: usize,
        group: Option<u32>,
        cursor: &mut Cursor<'_>,
    ) -> Result<Option<(usize, &Field, Wire)>, Fault> {
        loop {
            let (number, wire) = Cursor::split(tag, at)?;
            if wire == Wire::GroupEnd {
                if group == Some(number) {
                    return Ok(None);
                }
                return Err(ProtobufError::GroupEnd { at, number }.into());
            }
            if let Some(place) = self.find(number) {
                return Ok(Some((place, &self.fields[place], wire)));
            }
            cursor.skip(number, wire)?;
            if group.is_none() && cursor.is_at_end() {
                return Ok(None);
            }
            at = cursor.pos;
            tag = cursor.varint("a field's tag")?;
        }
    }

    /// Finds the place of the field with this number.
    #[inline]
    pub(super) fn find(&self, number: u32) -> Option<usize> {
        match self.places.get(number as usize) {
            Some(&place) => usize::from(place).checked_sub(1),
            None => self
                .fields
                .binary_search_by_key(&number, |field| field.number)
                .ok(),
        }
    }
}

impl Field {
    /// Makes sure that a value, which stands at `at`, is laid out as the schema says.
    #[inline]
    pub(super) fn expect(&self, wire: Wire, at: usize) -> Result<(), Fault> {
        if wire == self.wire {
            return Ok(());
        }
        Err(mismatch(self.number, self.wire, wire, at).into())
    }
}

#[cold]
fn mismatch(number: u32, expected: Wire, found: Wire, at: usize) -> ProtobufError {
    ProtobufError::WireType {
        at,
        number,
        expected: expected.label(),
        found: found.label(),
    }
}

impl Type {
    pub(super) fn expect(self, number: u32, wire: Wire, at: usize) -> Result<(), Fault> {
        if wire == self.wire() {
            return Ok(());
        }
        Err(mismatch(number, self.wire(), wire, at).into())
    }

    pub(super) fn wire(self) -> Wire {
        match self {
            Self::Fixed32 | Self::Sfixed32 | Self::Float => Wire::Fixed32,
            Self::Fixed64 | Self::Sfixed64 | Self::Double => Wire::Fixed64,
            Self::Text | Self::Bytes | Self::Message(_) => Wire::Len,
            _ => Wire::Varint,
        }
    }

    /// Tells whether a list of such values may be packed.
    pub(super) fn is_packable(self) -> bool {
        self.wire() != Wire::Len
    }
}

impl Enum {
    /// Gives the name of `number`; `None` where the schema has none.
    pub(super) fn name(&self, number: i32) -> Option<&str> {
        let place = if self.is_dense {
            number as usize
        } else {
            self.names
                .binary_search_by_key(&number, |(number, _)| *number)
                .ok()?
        };
        self.names.get(place).map(|(_, name)| &**name)
    }
}
