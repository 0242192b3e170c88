//! Reads Protobuf's wire format; no length is believed before the bytes behind it were counted.

use thiserror::Error;

use crate::decode::varint::{MAX_VARINT, varint};
use crate::decode::wire_format::FrameError;
use crate::schema::SchemaFault;

/// Says where a record's bytes and its schema part; `at` counts bytes from the start of the record.
#[derive(Debug, Clone, Error, PartialEq, Eq)]
pub enum ProtobufError {
    #[error("byte {at}: expected {expected}, and the record ends")]
    End { at: usize, expected: &'static str },
    #[error("byte {at}: expected {expected} of at most 64 bits, found a longer one")]
    Varint { at: usize, expected: &'static str },
    #[error("byte {at}: expected a field, found {found}, which is no field's tag")]
    Tag { at: usize, found: u64 },
    #[error(
        "byte {at}: field {number} is {found}, and the schema says {expected}: the schema may be another one"
    )]
    WireType {
        at: usize,
        number: u32,
        expected: &'static str,
        found: &'static str,
    },
    #[error("byte {at}: a value of {len} bytes cannot be in the {left} bytes that are left")]
    Length { at: usize, len: u64, left: usize },
    #[error("byte {at}: the end of group {number}, which did not begin")]
    GroupEnd { at: usize, number: u32 },
    #[error("byte {at}: the values are nested deeper than {MAX_NESTING}")]
    Deep { at: usize },
    #[error("byte {at}: a list takes more than {} KiB as text", MAX_TEXT / 1024)]
    Long { at: usize },
    #[error(transparent)]
    Frame(FrameError),
    #[error(transparent)]
    Schema(SchemaFault),
    #[error(
        "the bytes after the schema id are no message indexes: the producer may write none, or another format. Name the message in the query (`protobufMessage`) to read records without them"
    )]
    NoIndexes,
    #[error(
        "the record says that it holds message {path} of its schema, and there is none: the schema may be another one"
    )]
    NoMessage { path: String },
    #[error("the schema has no message `{name}`; it has {known}")]
    NoSuchMessage { name: String, known: String },
    #[error("the message `{name}` cannot be read: {reason}")]
    Unreadable { name: String, reason: String },
}

/// Is an error on its way out: a pointer, so that what goes right fits into registers.
pub(super) type Fault = Box<ProtobufError>;

impl From<FrameError> for Fault {
    fn from(error: FrameError) -> Self {
        Self::new(ProtobufError::Frame(error))
    }
}

impl From<SchemaFault> for Fault {
    fn from(fault: SchemaFault) -> Self {
        Self::new(ProtobufError::Schema(fault))
    }
}

/// Is how a field's bytes are laid out.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Wire {
    Varint,
    Fixed64,
    Len,
    Group,
    GroupEnd,
    Fixed32,
}

impl Wire {
    fn new(bits: u64) -> Option<Self> {
        Some(match bits {
            0 => Self::Varint,
            1 => Self::Fixed64,
            2 => Self::Len,
            3 => Self::Group,
            4 => Self::GroupEnd,
            5 => Self::Fixed32,
            _ => return None,
        })
    }

    /// Names it as an error does.
    pub(super) fn label(self) -> &'static str {
        match self {
            Self::Varint => "a varint",
            Self::Fixed64 => "8 bytes",
            Self::Len => "a length and bytes",
            Self::Group => "a group",
            Self::GroupEnd => "a group's end",
            Self::Fixed32 => "4 bytes",
        }
    }
}

/// Is a place in one record, and where the message ends that it is in.
#[derive(Debug, Clone)]
pub(super) struct Cursor<'a> {
    whole: &'a [u8],
    /// The whole up to the message's end.
    bytes: &'a [u8],
    pub(super) pos: usize,
    depth: usize,
}

impl<'a> Cursor<'a> {
    /// Begins at byte `pos` of `bytes`.
    pub(super) fn new(bytes: &'a [u8], pos: usize) -> Self {
        Self {
            whole: bytes,
            bytes,
            pos,
            depth: 0,
        }
    }

    #[inline]
    pub(super) fn is_at_end(&self) -> bool {
        self.pos >= self.bytes.len()
    }

    pub(super) fn rest(&self) -> &'a [u8] {
        &self.bytes[self.pos..]
    }

    /// Gives what was read since `start`.
    pub(super) fn since(&self, start: usize) -> &'a [u8] {
        &self.bytes[start..self.pos]
    }

    /// Gives the place in a message of its own that `bytes` of this one are.
    pub(super) fn within<'b>(&self, bytes: &'b [u8]) -> Cursor<'b> {
        Cursor {
            depth: self.depth,
            ..Cursor::new(bytes, 0)
        }
    }

    /// Goes into the message of field `number`, whose tag was read: gives its group, if it is one, and what
    /// [`Cursor::finish`] gets behind it.
    #[inline]
    pub(super) fn begin(&mut self, number: u32, wire: Wire) -> Result<(Option<u32>, usize), Fault> {
        self.enter()?;
        Ok(match wire {
            Wire::Group => (Some(number), self.bytes.len()),
            _ => (None, self.open("a message's length")?),
        })
    }

    #[inline]
    pub(super) fn finish(&mut self, end: usize) {
        self.close(end);
        self.depth -= 1;
    }

    /// Ends at `end`, which lies before the end.
    pub(super) fn until(&mut self, end: usize) {
        self.close(end);
    }

    /// Reads the next tag where it is one of field `number`.
    #[inline]
    pub(super) fn next_is(&mut self, number: u32) -> Option<Wire> {
        let start = self.pos;
        if !self.is_at_end()
            && let Ok((next, wire)) = self.tag()
            && next == number
            && wire != Wire::GroupEnd
        {
            return Some(wire);
        }
        self.pos = start;
        None
    }

    /// Goes one level down.
    #[inline]
    pub(super) fn enter(&mut self) -> Result<(), Fault> {
        self.depth += 1;
        if self.depth > MAX_NESTING {
            return Err(ProtobufError::Deep { at: self.pos }.into());
        }
        Ok(())
    }

    #[inline]
    pub(super) fn leave(&mut self) {
        self.depth -= 1;
    }

    /// Reads a length, and ends there until [`Cursor::close`] gets what this gives.
    #[inline]
    pub(super) fn open(&mut self, expected: &'static str) -> Result<usize, Fault> {
        let (end, len) = (self.bytes.len(), self.len(expected)?);
        self.close(self.pos + len);
        Ok(end)
    }

    #[inline]
    pub(super) fn close(&mut self, end: usize) {
        self.bytes = &self.whole[..end];
    }

    /// Reads a field's number and layout.
    #[inline]
    pub(super) fn tag(&mut self) -> Result<(u32, Wire), Fault> {
        let at = self.pos;
        Self::split(self.varint("a field's tag")?, at)
    }

    /// Gives the number and the layout of a tag that stood at `at`.
    #[inline]
    pub(super) fn split(tag: u64, at: usize) -> Result<(u32, Wire), Fault> {
        match (u32::try_from(tag >> 3), Wire::new(tag & 7)) {
            (Ok(number @ 1..=MAX_NUMBER), Some(wire)) => Ok((number, wire)),
            _ => Err(ProtobufError::Tag { at, found: tag }.into()),
        }
    }

    #[inline]
    pub(super) fn varint(&mut self, expected: &'static str) -> Result<u64, Fault> {
        match self.bytes.get(self.pos) {
            Some(&byte) if byte < 0x80 => {
                self.pos += 1;
                Ok(byte.into())
            }
            _ => self.long_varint(expected),
        }
    }

    #[inline(never)]
    fn long_varint(&mut self, expected: &'static str) -> Result<u64, Fault> {
        let rest = self.rest();
        if let Some((value, len)) = varint(rest) {
            self.pos += len;
            return Ok(value);
        }
        let at = self.pos;
        Err(if rest.len() < MAX_VARINT {
            ProtobufError::End { at, expected }
        } else {
            ProtobufError::Varint { at, expected }
        }
        .into())
    }

    #[inline]
    fn len(&mut self, expected: &'static str) -> Result<usize, Fault> {
        let at = self.pos;
        let len = self.varint(expected)?;
        let left = self.bytes.len() - self.pos;
        match usize::try_from(len) {
            Ok(len) if len <= left => Ok(len),
            _ => Err(ProtobufError::Length { at, len, left }.into()),
        }
    }

    /// Reads a length and as many bytes.
    #[inline]
    pub(super) fn bytes(&mut self, expected: &'static str) -> Result<&'a [u8], Fault> {
        let len = self.len(expected)?;
        let start = self.pos;
        self.pos += len;
        Ok(&self.bytes[start..start + len])
    }

    #[inline]
    pub(super) fn array<const N: usize>(
        &mut self,
        expected: &'static str,
    ) -> Result<[u8; N], Fault> {
        let Some(&taken) = self.rest().first_chunk() else {
            return Err(ProtobufError::End {
                at: self.pos,
                expected,
            }
            .into());
        };
        self.pos += N;
        Ok(taken)
    }

    /// Passes over a field whose tag was read.
    pub(super) fn skip(&mut self, number: u32, wire: Wire) -> Result<(), Fault> {
        match wire {
            Wire::Varint => drop(self.varint("a varint")?),
            Wire::Fixed64 => drop(self.array::<8>("8 bytes")?),
            Wire::Fixed32 => drop(self.array::<4>("4 bytes")?),
            Wire::Len => drop(self.bytes("a length")?),
            Wire::Group => drop(self.skip_group(number)?),
            Wire::GroupEnd => {
                return Err(ProtobufError::GroupEnd {
                    at: self.pos,
                    number,
                }
                .into());
            }
        }
        Ok(())
    }

    /// Passes over a group whose tag was read; gives the place of the tag that ends it.
    pub(super) fn skip_group(&mut self, number: u32) -> Result<usize, Fault> {
        self.enter()?;
        loop {
            let at = self.pos;
            match self.tag()? {
                (of, Wire::GroupEnd) if of == number => {
                    self.leave();
                    return Ok(at);
                }
                (number, Wire::GroupEnd) => {
                    return Err(ProtobufError::GroupEnd { at, number }.into());
                }
                (number, wire) => self.skip(number, wire)?,
            }
        }
    }
}

/// Appends a varint.
pub(super) fn put_varint(mut value: u64, out: &mut Vec<u8>) {
    while value >= 0x80 {
        out.push(value as u8 | 0x80);
        value >>= 7;
    }
    out.push(value as u8);
}

/// The largest number of a field.
const MAX_NUMBER: u32 = (1 << 29) - 1;
/// How deep messages nest in a record; the same limit as other readers of Protobuf have.
const MAX_NESTING: usize = 100;
/// The most bytes of a list or a deep message as text.
pub(super) const MAX_TEXT: usize = 512 * 1024;
