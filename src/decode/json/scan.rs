//! Reads JSON's tokens, straight from bytes.

use thiserror::Error;

use crate::columns::plain::plain_len;

/// Says where a record stops being JSON.
#[derive(Debug, Error, PartialEq, Eq)]
pub enum JsonError {
    #[error("not JSON: expected {expected} at byte {at}, found {}", Found(*found))]
    Syntax {
        expected: &'static str,
        at: usize,
        found: Option<u8>,
    },
    #[error(
        "the value is empty: 0 bytes are not JSON (a tombstone has no value, and makes a row without an error)"
    )]
    Empty,
    #[error("JSON nested deeper than {MAX_NESTING} levels, at byte {at}")]
    TooDeep { at: usize },
    #[error("a JSON array of more than {MAX_ELEMENTS} elements; it would make as many rows")]
    TooManyElements,
}

struct Found(Option<u8>);

impl std::fmt::Display for Found {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self.0 {
            None => f.write_str("the end"),
            Some(byte @ 0x21..=0x7e) => write!(f, "`{}`", byte as char),
            Some(byte) => write!(f, "the byte 0x{byte:02x}"),
        }
    }
}

/// How deep arrays and objects may stand in each other.
pub(crate) const MAX_NESTING: usize = 64;
/// The most rows that one array makes.
pub(crate) const MAX_ELEMENTS: usize = 10_000;

/// Is a place in a record's bytes.
#[derive(Debug, Clone)]
pub(super) struct Cursor<'a> {
    pub(super) bytes: &'a [u8],
    pub(super) pos: usize,
}

/// Is a string's body, between its quotes.
#[derive(Debug, Clone, Copy)]
pub(super) struct Str<'a> {
    pub(super) body: &'a [u8],
    pub(super) escaped: bool,
    pub(super) ascii: bool,
}

/// Is a number: its value and its text.
#[derive(Debug, Clone, Copy)]
pub(super) struct Number<'a> {
    pub(super) value: f64,
    pub(super) text: &'a [u8],
    /// No fraction and no exponent.
    pub(super) whole: bool,
}

impl<'a> Cursor<'a> {
    #[inline]
    pub(super) fn peek(&self) -> Option<u8> {
        self.bytes.get(self.pos).copied()
    }

    #[inline]
    pub(super) fn rest(&self) -> &'a [u8] {
        &self.bytes[self.pos..]
    }

    #[inline]
    pub(super) fn skip_space(&mut self) {
        while let Some(b' ' | b'\n' | b'\t' | b'\r') = self.peek() {
            self.pos += 1;
        }
    }

    pub(super) fn expected<T>(&self, expected: &'static str) -> Result<T, JsonError> {
        Err(JsonError::Syntax {
            expected,
            at: self.pos,
            found: self.peek(),
        })
    }

    /// Takes `byte`, or says that `expected` was expected.
    #[inline]
    pub(super) fn take(&mut self, byte: u8, expected: &'static str) -> Result<(), JsonError> {
        if self.peek() == Some(byte) {
            self.pos += 1;
            return Ok(());
        }
        self.expected(expected)
    }

    /// Takes `true`, `false` or `null`.
    #[inline]
    pub(super) fn word(&mut self, word: &'static [u8]) -> Result<(), JsonError> {
        if self.rest().starts_with(word) {
            self.pos += word.len();
            return Ok(());
        }
        self.expected("a value")
    }

    /// Takes a string; the cursor stands at its first quote.
    #[expect(
        clippy::inline_always,
        reason = "its result is four words, which a call passes through memory"
    )]
    #[inline(always)]
    pub(super) fn string(&mut self) -> Result<Str<'a>, JsonError> {
        self.take(b'"', "a string")?;
        let start = self.pos;
        let (mut escaped, mut ascii) = (false, true);
        loop {
            self.pos += plain_len(self.rest());
            match self.peek() {
                Some(b'"') => break,
                Some(b'\\') => {
                    escaped = true;
                    self.escape()?;
                }
                Some(0x80..) => {
                    ascii = false;
                    self.pos += 1;
                }
                _ => return self.expected("the rest of a string"),
            }
        }
        let body = &self.bytes[start..self.pos];
        self.pos += 1;
        Ok(Str {
            body,
            escaped,
            ascii,
        })
    }

    /// Passes over one escape and checks it.
    fn escape(&mut self) -> Result<(), JsonError> {
        self.pos += 1;
        match self.peek() {
            Some(b'"' | b'\\' | b'/' | b'b' | b'f' | b'n' | b'r' | b't') => self.pos += 1,
            Some(b'u') => {
                self.pos += 1;
                for _ in 0..4 {
                    if !self.peek().is_some_and(|b| b.is_ascii_hexdigit()) {
                        return self.expected("four hexadecimal digits");
                    }
                    self.pos += 1;
                }
            }
            _ => return self.expected("an escape"),
        }
        Ok(())
    }

    /// Takes a number by JSON's grammar; beyond a float64 it is infinite.
    #[expect(
        clippy::inline_always,
        reason = "its result is five words, which a call passes through memory"
    )]
    #[inline(always)]
    pub(super) fn number(&mut self) -> Result<Number<'a>, JsonError> {
        let start = self.pos;
        let negative = self.peek() == Some(b'-');
        self.pos += usize::from(negative);
        let mut mantissa = 0_u64;
        let digits = self.digits(&mut mantissa);
        let first = self.pos - digits;
        if (1..=15).contains(&digits)
            && !matches!(self.peek(), Some(b'.' | b'e' | b'E'))
            && (digits == 1 || self.bytes[first] != b'0')
        {
            // Most numbers are whole, and exact as they are.
            let value = mantissa as i64 as f64;
            return Ok(Number {
                value: if negative { -value } else { value },
                text: &self.bytes[start..self.pos],
                whole: true,
            });
        }
        if digits == 0 {
            return self.expected("a digit");
        }
        if digits > 1 && self.bytes[first] == b'0' {
            self.pos -= digits - 1;
            return self.expected("no digit after a leading zero");
        }
        let (mut whole, mut fraction, mut exponent) = (true, 0, 0_i32);
        if self.peek() == Some(b'.') {
            whole = false;
            self.pos += 1;
            fraction = self.digits(&mut mantissa);
            if fraction == 0 {
                return self.expected("a digit after the point");
            }
        }
        if let Some(b'e' | b'E') = self.peek() {
            whole = false;
            exponent = self.exponent()?;
        }
        let text = &self.bytes[start..self.pos];
        // Clinger's fast path: both numbers are exact, so one rounding is the right one.
        let scale = exponent.saturating_sub(fraction as i32);
        let value = if digits + fraction <= 19 && mantissa <= 1 << 53 && scale.unsigned_abs() <= 22
        {
            let power = POWERS[scale.unsigned_abs() as usize];
            let value = if scale < 0 {
                mantissa as i64 as f64 / power
            } else {
                mantissa as i64 as f64 * power
            };
            if negative { -value } else { value }
        } else {
            slow_float(text)
        };
        Ok(Number { value, text, whole })
    }

    #[inline]
    fn digits(&mut self, mantissa: &mut u64) -> usize {
        let rest = self.rest();
        let mut len = 0;
        while let Some(digit @ b'0'..=b'9') = rest.get(len).copied() {
            *mantissa = mantissa
                .wrapping_mul(10)
                .wrapping_add(u64::from(digit - b'0'));
            len += 1;
        }
        self.pos += len;
        len
    }

    fn exponent(&mut self) -> Result<i32, JsonError> {
        self.pos += 1;
        let negative = self.peek() == Some(b'-');
        if let Some(b'+' | b'-') = self.peek() {
            self.pos += 1;
        }
        let start = self.pos;
        let mut exponent = 0_i32;
        while let Some(digit @ b'0'..=b'9') = self.peek() {
            exponent = exponent
                .saturating_mul(10)
                .saturating_add(i32::from(digit - b'0'));
            self.pos += 1;
        }
        if start == self.pos {
            return self.expected("a digit of the exponent");
        }
        Ok(if negative { -exponent } else { exponent })
    }

    /// Passes over the space behind a value; what follows there must be another value or nothing.
    pub(super) fn between_values(&mut self) -> Result<(), JsonError> {
        let end = self.pos;
        self.skip_space();
        let apart = self.pos > end
            || self.bytes[..end].ends_with(b"}")
            || self.bytes[..end].ends_with(b"]");
        match self.peek() {
            Some(b'{' | b'[' | b'"') | None => Ok(()),
            Some(b'-' | b'0'..=b'9' | b't' | b'f' | b'n') if apart => Ok(()),
            Some(_) => self.expected("another value or the end of the record"),
        }
    }

    /// Takes any value and appends it to `out` without the space between its tokens; `depth` counts what it stands in.
    pub(super) fn compact(&mut self, depth: usize, out: &mut Vec<u8>) -> Result<(), JsonError> {
        // One bit a level: 1 is an object. MAX_NESTING levels fit.
        let (mut objects, mut level) = (0_u64, 0_usize);
        loop {
            self.skip_space();
            let start = self.pos;
            match self.peek() {
                Some(open @ (b'{' | b'[')) => {
                    if depth + level >= MAX_NESTING {
                        return Err(JsonError::TooDeep { at: self.pos });
                    }
                    out.push(open);
                    self.pos += 1;
                    self.skip_space();
                    let object = open == b'{';
                    objects = objects << 1 | u64::from(object);
                    level += 1;
                    if self.peek() != Some(if object { b'}' } else { b']' }) {
                        if object {
                            self.compact_key(out)?;
                        }
                        continue;
                    }
                }
                Some(b'"') => {
                    self.string()?;
                    out.extend_from_slice(&self.bytes[start..self.pos]);
                }
                Some(b'-' | b'0'..=b'9') => out.extend_from_slice(self.number()?.text),
                Some(b't') => self.word_into(b"true", out)?,
                Some(b'f') => self.word_into(b"false", out)?,
                Some(b'n') => self.word_into(b"null", out)?,
                _ => return self.expected("a value"),
            }
            // A value has ended: so may the arrays and objects that it stands in.
            loop {
                if level == 0 {
                    return Ok(());
                }
                self.skip_space();
                let object = objects & 1 == 1;
                match self.peek() {
                    Some(b',') if !matches!(out.last(), Some(b'{' | b'[')) => {
                        out.push(b',');
                        self.pos += 1;
                        if object {
                            self.skip_space();
                            self.compact_key(out)?;
                        }
                        break;
                    }
                    Some(close) if close == if object { b'}' } else { b']' } => {
                        out.push(close);
                        self.pos += 1;
                        objects >>= 1;
                        level -= 1;
                    }
                    _ => return self.expected(if object { "`,` or `}`" } else { "`,` or `]`" }),
                }
            }
        }
    }

    fn compact_key(&mut self, out: &mut Vec<u8>) -> Result<(), JsonError> {
        let start = self.pos;
        self.string()?;
        out.extend_from_slice(&self.bytes[start..self.pos]);
        self.skip_space();
        self.take(b':', "`:`")?;
        out.push(b':');
        Ok(())
    }

    fn word_into(&mut self, word: &'static [u8], out: &mut Vec<u8>) -> Result<(), JsonError> {
        self.word(word)?;
        out.extend_from_slice(word);
        Ok(())
    }
}

#[cold]
fn slow_float(text: &[u8]) -> f64 {
    std::str::from_utf8(text)
        .ok()
        .and_then(|text| text.parse().ok())
        .expect("JSON's numbers are Rust's")
}

const POWERS: [f64; 23] = [
    1e0, 1e1, 1e2, 1e3, 1e4, 1e5, 1e6, 1e7, 1e8, 1e9, 1e10, 1e11, 1e12, 1e13, 1e14, 1e15, 1e16,
    1e17, 1e18, 1e19, 1e20, 1e21, 1e22,
];

/// Appends a string's text with its escapes resolved; half a surrogate pair becomes U+FFFD, and the answer is `false`.
pub(super) fn unescape(body: &[u8], out: &mut Vec<u8>) -> bool {
    let (mut rest, mut whole) = (body, true);
    while let Some(at) = memchr::memchr(b'\\', rest) {
        out.extend_from_slice(&rest[..at]);
        let code = rest[at + 1];
        rest = &rest[at + 2..];
        match code {
            b'b' => out.push(0x08),
            b'f' => out.push(0x0c),
            b'n' => out.push(b'\n'),
            b'r' => out.push(b'\r'),
            b't' => out.push(b'\t'),
            b'u' => {
                let (character, used) = code_point(rest);
                rest = &rest[used..];
                whole &= character.is_some();
                let character = character.unwrap_or(char::REPLACEMENT_CHARACTER);
                out.extend_from_slice(character.encode_utf8(&mut [0; 4]).as_bytes());
            }
            other => out.push(other),
        }
    }
    out.extend_from_slice(rest);
    whole
}

/// Reads what follows `\u`, and the second half of a pair where there is one; gives the bytes used. `None` is half a pair.
fn code_point(rest: &[u8]) -> (Option<char>, usize) {
    let unit = |digits: &[u8]| {
        digits.iter().fold(0, |n, &digit| {
            n << 4 | (digit as char).to_digit(16).unwrap_or_default()
        })
    };
    let first = unit(&rest[..4]);
    if let 0xd800..=0xdbff = first
        && rest[4..].starts_with(b"\\u")
        && let second @ 0xdc00..=0xdfff = unit(&rest[6..10])
    {
        let code = 0x1_0000 + ((first - 0xd800) << 10) + (second - 0xdc00);
        return (char::from_u32(code), 10);
    }
    (char::from_u32(first), 4)
}
