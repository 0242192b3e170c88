//! Reads Avro's binary encoding; no length is believed before the bytes behind it were counted.

use thiserror::Error;

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
    Frame(#[from] FrameError),
    #[error(transparent)]
    Schema(#[from] SchemaFault),
}

impl AvroError {
    #[cold]
    pub(super) fn symbol(at: usize, symbol: &str) -> Self {
        let symbol = symbol.into();
        Self::Symbol { at, symbol }
    }

    #[cold]
    pub(super) fn never(at: usize, reason: &str) -> Self {
        let reason = reason.into();
        Self::Never { at, reason }
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
    bytes: &'a [u8],
    pub(super) pos: usize,
    depth: usize,
    /// How many items that take no bytes may still come.
    free_items: u64,
}

impl<'a> Cursor<'a> {
    /// Begins at byte `pos` of `bytes`.
    pub(super) fn new(bytes: &'a [u8], pos: usize) -> Self {
        Self {
            bytes,
            pos,
            depth: 0,
            free_items: MAX_FREE_ITEMS,
        }
    }

    pub(super) fn left(&self) -> usize {
        self.bytes.len() - self.pos
    }

    /// Makes sure that every byte was used.
    pub(super) fn end(&self) -> Result<(), AvroError> {
        match self.left() {
            0 => Ok(()),
            left => Err(AvroError::Left { at: self.pos, left }),
        }
    }

    /// Goes one level down.
    pub(super) fn enter(&mut self) -> Result<(), AvroError> {
        self.depth += 1;
        if self.depth > MAX_NESTING {
            return Err(AvroError::Deep { at: self.pos });
        }
        Ok(())
    }

    pub(super) fn leave(&mut self) {
        self.depth -= 1;
    }

    pub(super) fn take(
        &mut self,
        len: usize,
        expected: &'static str,
    ) -> Result<&'a [u8], AvroError> {
        let Some(taken) = self.bytes[self.pos..].get(..len) else {
            return Err(AvroError::End {
                at: self.pos,
                expected,
            });
        };
        self.pos += len;
        Ok(taken)
    }

    pub(super) fn array<const N: usize>(
        &mut self,
        expected: &'static str,
    ) -> Result<[u8; N], AvroError> {
        let taken = self.take(N, expected)?;
        Ok(taken.try_into().expect("N bytes were taken"))
    }

    pub(super) fn boolean(&mut self) -> Result<bool, AvroError> {
        let at = self.pos;
        match self.array::<1>("a boolean")? {
            [0] => Ok(false),
            [1] => Ok(true),
            [found] => Err(AvroError::Value {
                at,
                expected: "a boolean, 0 or 1",
                found: found.into(),
            }),
        }
    }

    /// Reads a zigzag varint.
    #[inline]
    pub(super) fn long(&mut self, expected: &'static str) -> Result<i64, AvroError> {
        let at = self.pos;
        let mut value = 0_u64;
        for (i, &byte) in self.bytes[at..].iter().take(MAX_VARINT).enumerate() {
            value |= u64::from(byte & 0x7f) << (7 * i);
            if byte & 0x80 == 0 {
                if i == MAX_VARINT - 1 && byte > 1 {
                    break;
                }
                self.pos = at + i + 1;
                return Ok((value >> 1) as i64 ^ -((value & 1) as i64));
            }
        }
        if self.left() < MAX_VARINT {
            return Err(AvroError::End { at, expected });
        }
        Err(AvroError::Value {
            at,
            expected: "a number of at most 64 bits",
            found: i64::from(self.bytes[at]),
        })
    }

    pub(super) fn int(&mut self, expected: &'static str) -> Result<i64, AvroError> {
        let at = self.pos;
        let value = self.long(expected)?;
        if i32::try_from(value).is_err() {
            return Err(AvroError::Value {
                at,
                expected: "a number of at most 32 bits",
                found: value,
            });
        }
        Ok(value)
    }

    /// Reads a number below `count`: a union's branch, or an enum's symbol.
    pub(super) fn index(
        &mut self,
        count: usize,
        expected: &'static str,
    ) -> Result<usize, AvroError> {
        let at = self.pos;
        let found = self.long(expected)?;
        usize::try_from(found)
            .ok()
            .filter(|&index| index < count)
            .ok_or(AvroError::Value {
                at,
                expected,
                found,
            })
    }

    /// Reads bytes that stand behind their length.
    #[inline]
    pub(super) fn bytes(&mut self, expected: &'static str) -> Result<&'a [u8], AvroError> {
        let at = self.pos;
        let found = self.long(expected)?;
        let len = usize::try_from(found)
            .ok()
            .filter(|&len| len <= self.left())
            .ok_or(AvroError::Value {
                at,
                expected: "a length within the record",
                found,
            })?;
        self.take(len, expected)
    }

    /// Reads the head of an array's or a map's block: how many items follow, 0 at the end. `free` says that an item may take no
    /// bytes.
    pub(super) fn block(&mut self, free: bool) -> Result<u64, AvroError> {
        let at = self.pos;
        let count = self.long("a number of items")?;
        if count < 0 {
            self.long("a block's length")?;
        }
        let (count, left) = (count.unsigned_abs(), self.left());
        if free {
            self.free_items =
                self.free_items
                    .checked_sub(count)
                    .ok_or(AvroError::Items { at, count, left })?;
        } else if count > left as u64 {
            return Err(AvroError::Items { at, count, left });
        }
        Ok(count)
    }
}

/// The bytes of the longest varint.
const MAX_VARINT: usize = 10;
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
