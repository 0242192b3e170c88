//! Reads Avro's binary encoding; no length is believed before the bytes behind it were counted.

use thiserror::Error;

use crate::decode::varint::{MAX_VARINT, varint};
use crate::decode::wire_format::FrameError;
use crate::schema::SchemaFault;

/// Says where a record's bytes and its schema part; `at` counts bytes from the start of the record.
#[derive(Debug, Error, PartialEq, Eq)]
pub enum AvroError {
    #[error("byte {at}: expected {expected}, and the record ends")]
    End { at: usize, expected: &'static str },
    #[error("byte {at}: expected {expected}, found {found}")]
    Value {
        at: usize,
        expected: &'static str,
        found: i64,
    },
    #[error(
        "byte {at}: expected the end of the record, found {left} more bytes: the schema may be another one"
    )]
    Left { at: usize, left: usize },
    #[error("byte {at}: {count} items cannot be in the {left} bytes that are left")]
    Items { at: usize, count: u64, left: usize },
    #[error("byte {at}: the values are nested deeper than {MAX_NESTING}")]
    Deep { at: usize },
    #[error("byte {at}: a list takes more than {} KiB as text", MAX_TEXT / 1024)]
    Long { at: usize },
    #[error("byte {at}: the reader schema has no symbol `{symbol}` and no default for it")]
    Symbol { at: usize, symbol: Box<str> },
    #[error("byte {at}: the reader schema cannot take this: {reason}")]
    Never { at: usize, reason: Box<str> },
    #[error(transparent)]
    Frame(FrameError),
    #[error(transparent)]
    Schema(SchemaFault),
}

/// Is an error on its way out: a pointer, so that what goes right fits into registers.
pub(super) type Fault = Box<AvroError>;

impl From<FrameError> for Fault {
    fn from(error: FrameError) -> Self {
        Self::new(AvroError::Frame(error))
    }
}

impl From<SchemaFault> for Fault {
    fn from(error: SchemaFault) -> Self {
        Self::new(AvroError::Schema(error))
    }
}

#[expect(
    clippy::unnecessary_box_returns,
    reason = "the box is made where it is cold"
)]
impl AvroError {
    #[cold]
    fn end(at: usize, expected: &'static str) -> Fault {
        Fault::new(Self::End { at, expected })
    }

    #[cold]
    fn value(at: usize, expected: &'static str, found: i64) -> Fault {
        Fault::new(Self::Value {
            at,
            expected,
            found,
        })
    }

    #[cold]
    fn items(at: usize, count: u64, left: usize) -> Fault {
        Fault::new(Self::Items { at, count, left })
    }

    #[cold]
    pub(super) fn symbol(at: usize, symbol: &str) -> Fault {
        let symbol = symbol.into();
        Fault::new(Self::Symbol { at, symbol })
    }

    #[cold]
    pub(super) fn never(at: usize, reason: &str) -> Fault {
        let reason = reason.into();
        Fault::new(Self::Never { at, reason })
    }

    /// Says the place of an error within bytes that stand at `by`.
    pub(super) fn moved(mut self, by: usize) -> Self {
        if let Self::End { at, .. } | Self::Value { at, .. } | Self::Left { at, .. } = &mut self {
            *at += by;
        }
        self
    }
}

/// Is a place in one record.
#[derive(Debug)]
pub(super) struct Cursor<'a> {
    /// What was not read yet.
    rest: &'a [u8],
    /// How many bytes the whole has.
    len: usize,
    depth: usize,
    /// How many items that take no bytes may still come.
    free_items: u64,
}

impl<'a> Cursor<'a> {
    /// Begins at byte `pos` of `bytes`.
    pub(super) fn new(bytes: &'a [u8], pos: usize) -> Self {
        Self {
            rest: &bytes[pos..],
            len: bytes.len(),
            depth: 0,
            free_items: MAX_FREE_ITEMS,
        }
    }

    /// Counts the bytes before the next one.
    #[inline]
    pub(super) fn pos(&self) -> usize {
        self.len - self.rest.len()
    }

    #[inline]
    pub(super) fn left(&self) -> usize {
        self.rest.len()
    }

    /// Makes sure that every byte was used.
    #[inline]
    pub(super) fn end(&self) -> Result<(), Fault> {
        match self.left() {
            0 => Ok(()),
            left => Err(Fault::new(AvroError::Left {
                at: self.pos(),
                left,
            })),
        }
    }

    /// Goes one level down.
    pub(super) fn enter(&mut self) -> Result<(), Fault> {
        self.depth += 1;
        if self.depth > MAX_NESTING {
            return Err(Fault::new(AvroError::Deep { at: self.pos() }));
        }
        Ok(())
    }

    pub(super) fn leave(&mut self) {
        self.depth -= 1;
    }

    #[inline]
    pub(super) fn take(&mut self, len: usize, expected: &'static str) -> Result<&'a [u8], Fault> {
        let Some((taken, rest)) = self.rest.split_at_checked(len) else {
            return Err(AvroError::end(self.pos(), expected));
        };
        self.rest = rest;
        Ok(taken)
    }

    #[inline]
    pub(super) fn array<const N: usize>(
        &mut self,
        expected: &'static str,
    ) -> Result<[u8; N], Fault> {
        let Some((taken, rest)) = self.rest.split_first_chunk() else {
            return Err(AvroError::end(self.pos(), expected));
        };
        self.rest = rest;
        Ok(*taken)
    }

    #[inline]
    pub(super) fn boolean(&mut self) -> Result<bool, Fault> {
        let at = self.pos();
        match self.array::<1>("a boolean")? {
            [0] => Ok(false),
            [1] => Ok(true),
            [found] => Err(AvroError::value(at, "a boolean, 0 or 1", found.into())),
        }
    }

    #[inline]
    pub(super) fn double(&mut self) -> Result<f64, Fault> {
        self.array("a double of 8 bytes").map(f64::from_le_bytes)
    }

    /// Reads a zigzag varint. Most have one byte: lengths, branches, symbols, small numbers.
    #[inline]
    pub(super) fn long(&mut self, expected: &'static str) -> Result<i64, Fault> {
        match self.rest {
            [byte @ ..0x80, rest @ ..] => {
                self.rest = rest;
                Ok(unzigzag((*byte).into()))
            }
            _ => self.long_of_more(expected),
        }
    }

    fn long_of_more(&mut self, expected: &'static str) -> Result<i64, Fault> {
        if let Some((value, len)) = varint(self.rest) {
            self.rest = &self.rest[len..];
            return Ok(unzigzag(value));
        }
        if self.left() < MAX_VARINT {
            return Err(AvroError::end(self.pos(), expected));
        }
        let found = i64::from(self.rest[0]);
        Err(AvroError::value(
            self.pos(),
            "a number of at most 64 bits",
            found,
        ))
    }

    #[inline]
    pub(super) fn int(&mut self, expected: &'static str) -> Result<i64, Fault> {
        let at = self.pos();
        let value = self.long(expected)?;
        if i32::try_from(value).is_err() {
            return Err(AvroError::value(at, "a number of at most 32 bits", value));
        }
        Ok(value)
    }

    /// Reads a number below `count`: a union's branch, or an enum's symbol.
    #[inline]
    pub(super) fn index(&mut self, count: usize, expected: &'static str) -> Result<usize, Fault> {
        let at = self.pos();
        let found = self.long(expected)?;
        match usize::try_from(found) {
            Ok(index) if index < count => Ok(index),
            _ => Err(AvroError::value(at, expected, found)),
        }
    }

    /// Reads bytes that stand behind their length.
    #[inline]
    pub(super) fn bytes(&mut self, expected: &'static str) -> Result<&'a [u8], Fault> {
        let at = self.pos();
        let found = self.long(expected)?;
        match usize::try_from(found) {
            Ok(len) if len <= self.left() => self.take(len, expected),
            _ => Err(AvroError::value(at, "a length within the record", found)),
        }
    }

    /// Reads the head of an array's or a map's block: how many items follow, 0 at the end. `free` says that an item may take no
    /// bytes.
    pub(super) fn block(&mut self, free: bool) -> Result<u64, Fault> {
        let at = self.pos();
        let count = self.long("a number of items")?;
        if count < 0 {
            self.long("a block's length")?;
        }
        let (count, left) = (count.unsigned_abs(), self.left());
        if free {
            self.free_items = self
                .free_items
                .checked_sub(count)
                .ok_or_else(|| AvroError::items(at, count, left))?;
        } else if count > left as u64 {
            return Err(AvroError::items(at, count, left));
        }
        Ok(count)
    }
}

fn unzigzag(value: u64) -> i64 {
    (value >> 1) as i64 ^ -((value & 1) as i64)
}

/// How deep arrays, maps and records may stand in each other.
pub(super) const MAX_NESTING: usize = 64;
/// The most that one text of JSON takes.
pub(super) const MAX_TEXT: usize = 512 * 1024;
/// The most items of no bytes in a record.
const MAX_FREE_ITEMS: u64 = 100_000;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn longs() {
        for (bytes, want) in [
            (&b"\0"[..], Some(0)),
            (b"\x01", Some(-1)),
            (b"\x02", Some(1)),
            (b"\xff\xff\xff\xff\xff\xff\xff\xff\xff\x01", Some(i64::MIN)),
            (b"\xfe\xff\xff\xff\xff\xff\xff\xff\xff\x01", Some(i64::MAX)),
            (b"\xff\xff\xff\xff\xff\xff\xff\xff\xff\x02", None),
            (b"\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\x01", None),
            (b"\x80", None),
            (b"", None),
        ] {
            let got = Cursor::new(bytes, 0).long("a number").ok();
            assert_eq!(got, want, "{bytes:?}");
        }
    }
}
