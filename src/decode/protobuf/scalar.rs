//! Protobuf's scalars: read from bytes, shown as a person reads them.

use super::plan::{Enum, Type};
use super::wire::{Cursor, Fault};
use crate::config::BytesAs;
use crate::decode::text::{quote, show_bytes, trim};

/// Is a value that is no message.
#[derive(Debug, Clone, Copy)]
pub(super) enum Scalar<'a> {
    Null,
    Bool(bool),
    Signed(i64),
    Unsigned(u64),
    Single(f32),
    Double(f64),
    Text(&'a [u8]),
    Bytes(&'a [u8]),
    /// An enum's name.
    Name(&'a str),
    /// The number of an enum, where it has no name for it.
    Number(i32),
}

impl<'a> Scalar<'a> {
    /// Reads what `of` says, which is no message.
    #[inline]
    pub(super) fn read<'b: 'a>(
        of: Type,
        enums: &'a [Enum],
        cursor: &mut Cursor<'b>,
    ) -> Result<Self, Fault> {
        Ok(match of {
            Type::Bool => Self::Bool(cursor.varint("a boolean")? != 0),
            Type::Int32 => Self::Signed((cursor.varint("a number")? as i32).into()),
            Type::Int64 => Self::Signed(cursor.varint("a number")? as i64),
            Type::Uint32 => Self::Signed((cursor.varint("a number")? as u32).into()),
            Type::Uint64 => Self::Unsigned(cursor.varint("a number")?),
            Type::Sint32 => {
                let value = cursor.varint("a number")? as u32;
                Self::Signed(((value >> 1) as i32 ^ -((value & 1) as i32)).into())
            }
            Type::Sint64 => Self::Signed(zigzag(cursor.varint("a number")?)),
            Type::Fixed32 => Self::Signed(u32::from_le_bytes(cursor.array("4 bytes")?).into()),
            Type::Fixed64 => Self::Unsigned(u64::from_le_bytes(cursor.array("8 bytes")?)),
            Type::Sfixed32 => Self::Signed(i32::from_le_bytes(cursor.array("4 bytes")?).into()),
            Type::Sfixed64 => Self::Signed(i64::from_le_bytes(cursor.array("8 bytes")?)),
            Type::Float => Self::Single(f32::from_le_bytes(cursor.array("4 bytes")?)),
            Type::Double => Self::Double(f64::from_le_bytes(cursor.array("8 bytes")?)),
            Type::Text => Self::Text(cursor.bytes("a text's length")?),
            Type::Bytes => Self::Bytes(cursor.bytes("a length of bytes")?),
            Type::Enum(id) => Self::of_enum(&enums[id], cursor.varint("an enum's number")? as i32),
            Type::Null => {
                cursor.varint("an enum's number")?;
                Self::Null
            }
            Type::Message(_) => Self::Bytes(cursor.bytes("a message's length")?),
        })
    }

    /// Gives what an absent field of `of` is.
    pub(super) fn default_of(of: Type, enums: &'a [Enum]) -> Self {
        match of {
            Type::Bool => Self::Bool(false),
            Type::Uint64 | Type::Fixed64 => Self::Unsigned(0),
            Type::Float => Self::Single(0.0),
            Type::Double => Self::Double(0.0),
            Type::Text => Self::Text(b""),
            Type::Bytes => Self::Bytes(b""),
            Type::Enum(id) => Self::of_enum(&enums[id], 0),
            Type::Null | Type::Message(_) => Self::Null,
            _ => Self::Signed(0),
        }
    }

    fn of_enum(names: &'a Enum, number: i32) -> Self {
        names.name(number).map_or(Self::Number(number), Self::Name)
    }

    /// Appends the value as text.
    pub(super) fn show(self, bytes_as: BytesAs, out: &mut Vec<u8>) {
        match self {
            Self::Null => out.extend_from_slice(b"null"),
            Self::Bool(value) => out.extend_from_slice(if value { b"true" } else { b"false" }),
            Self::Signed(value) => {
                out.extend_from_slice(itoa::Buffer::new().format(value).as_bytes());
            }
            Self::Unsigned(value) => {
                out.extend_from_slice(itoa::Buffer::new().format(value).as_bytes());
            }
            Self::Number(value) => {
                out.extend_from_slice(itoa::Buffer::new().format(value).as_bytes());
            }
            Self::Single(value) => out.extend_from_slice(trim(zmij::Buffer::new().format(value))),
            Self::Double(value) => out.extend_from_slice(trim(zmij::Buffer::new().format(value))),
            Self::Text(text) => out.extend_from_slice(text),
            Self::Bytes(bytes) => show_bytes(bytes, bytes_as, out),
            Self::Name(name) => out.extend_from_slice(name.as_bytes()),
        }
    }

    /// Appends the value as JSON.
    pub(super) fn show_json(self, bytes_as: BytesAs, out: &mut Vec<u8>) {
        let is_bare = match self {
            Self::Single(value) => value.is_finite(),
            Self::Double(value) => value.is_finite(),
            Self::Text(text) => return quote(text, out),
            Self::Bytes(bytes) if bytes_as == BytesAs::Text => return quote(bytes, out),
            Self::Bytes(_) | Self::Name(_) => false,
            _ => true,
        };
        if !is_bare {
            out.push(b'"');
        }
        self.show(bytes_as, out);
        if !is_bare {
            out.push(b'"');
        }
    }
}

/// Gives the number that a zigzag varint stands for.
pub(super) fn zigzag(value: u64) -> i64 {
    (value >> 1) as i64 ^ -((value & 1) as i64)
}
