//! The grammar: a record's bytes, line by line, into places within them. Nothing is copied.
//!
//! <https://docs.influxdata.com/influxdb/v2/reference/syntax/line-protocol/>, and where that is silent what `InfluxDB` does.

mod number;

use thiserror::Error;

use super::known::Known;
use super::line::{Field, Line, Span, Tag, Value};
use crate::decode::gap::word;
use number::plain_number;

/// Walks over the lines of one record.
#[derive(Debug)]
pub(super) struct Parser<'a> {
    bytes: &'a [u8],
    pos: usize,
    /// The number of line ends before `pos`.
    line: u64,
    /// Where the line at `pos` begins.
    line_start: usize,
    /// A string of the line at `pos` holds a line end.
    within: bool,
    /// Where to look for the next line if this one turns out to be bad.
    resume: usize,
}

/// Says what is wrong with a line.
#[derive(Debug, Error, PartialEq, Eq, Clone, Copy)]
#[error("line {line}, byte {byte}: expected {expected}, found {}", Found(*found))]
pub struct LineFault {
    /// The first line is 1, the first byte of a line too.
    line: u64,
    byte: usize,
    expected: &'static str,
    found: Option<u8>,
}

impl<'a> Parser<'a> {
    /// Begins at the start of `bytes`, of which the first 4 GiB are looked at.
    pub(super) fn new(bytes: &'a [u8]) -> Self {
        Self {
            bytes: &bytes[..bytes.len().min(u32::MAX as usize)],
            pos: 0,
            line: 1,
            line_start: 0,
            within: false,
            resume: 0,
        }
    }

    /// Reads the next line into `line`, past empty ones and comments; `None` at the end. After a fault the next call goes on
    /// with the line behind it.
    pub(super) fn next(&mut self, line: &mut Line) -> Option<Result<(), LineFault>> {
        loop {
            self.skip(|byte| matches!(byte, b' ' | b'\t'));
            if self.pos == self.bytes.len() {
                return None;
            }
            if !self.at_line_end() {
                if self.bytes[self.pos] != b'#' {
                    break;
                }
                self.skip(|byte| byte != b'\n');
            }
            self.end_line();
        }
        let read = self.line(line);
        if read.is_err() {
            self.pos = self.resume;
            self.skip(|byte| byte != b'\n');
        }
        self.end_line();
        Some(read)
    }

    fn line(&mut self, line: &mut Line) -> Result<(), LineFault> {
        line.clear();
        let keys = self.series(line)?;
        self.skip(|byte| matches!(byte, b' ' | b'\t'));
        let mut named = keys;
        for place in 0.. {
            let key = if let Some(key) = self.known_key(&line.known, keys, place) {
                key
            } else {
                named = None;
                self.key(&mut line.known, keys, place)?
            };
            let start = self.pos;
            if let Some((number, len)) = plain_number(&self.bytes[start..]) {
                self.pos += len;
                line.push(Field {
                    key,
                    value: Value::Float(number),
                    source: self.span(start, 0),
                });
            } else {
                let (value, source) = self.value()?;
                line.push(Field { key, value, source });
            }
            if !self.take(b',') {
                break;
            }
        }
        line.named = named.filter(|&keys| line.known.are_named(keys, self.bytes, &line.fields));
        line.timestamp = None;
        if self.take(b' ') {
            self.skip(|byte| byte == b' ');
            if !self.is_over() {
                line.timestamp = Some(self.timestamp()?);
                self.skip(|byte| byte == b' ');
            }
        }
        if self.is_over() {
            Ok(())
        } else {
            Err(self.fault(if line.timestamp.is_some() {
                "the line's end after a timestamp"
            } else {
                "`,` and a field, a space and a timestamp, or the line's end"
            }))
        }
    }

    /// Reads measurement and tags, up to the space behind them; tells where the keys of the fields are known.
    fn series(&mut self, line: &mut Line) -> Result<Option<usize>, LineFault> {
        let start = self.pos;
        if let Some((place, series)) = line.known.find(&self.bytes[start..]) {
            line.series = Some(place);
            let moved = |span: Span| span.moved(start as u32);
            line.measurement = moved(series.measurement);
            line.tags.extend(series.tags.iter().map(|tag| Tag {
                key: moved(tag.key),
                value: moved(tag.value),
            }));
            self.pos += series.written.len();
            return Ok(series.keys);
        }
        line.series = None;
        line.measurement = self.name(COMMA | SPACE, "a measurement")?;
        while self.take(b',') {
            let key = self.name(COMMA | SPACE | EQUALS, "a tag's key")?;
            self.expect(b'=', "`=` and a value after a tag's key")?;
            let value = self.name(COMMA | SPACE | EQUALS, "a tag's value")?;
            line.tags.push(Tag { key, value });
        }
        if !line.tags_differ(self.bytes) {
            return Err(self.fault("each tag once"));
        }
        self.expect(b' ', "a space and a field")?;
        let (bytes, written) = (self.bytes, &self.bytes[start..self.pos]);
        Ok(line
            .known
            .add(bytes, start, written, line.measurement, &line.tags))
    }

    /// Passes over a field's key and the `=` behind it, if they are what is expected.
    #[inline]
    fn known_key(&mut self, known: &Known, keys: Option<usize>, place: usize) -> Option<Span> {
        let (start, rest) = (self.pos, &self.bytes[self.pos..]);
        let gap = known.expected(keys, place)?;
        self.pos += gap.begins(word(rest), rest)? - 1;
        let span = self.span(start, gap.next);
        self.pos += 1;
        Some(span)
    }

    /// Reads a field's key and the `=` behind it, which are expected from now on.
    fn key(
        &mut self,
        known: &mut Known,
        keys: Option<usize>,
        place: usize,
    ) -> Result<Span, LineFault> {
        let start = self.pos;
        let key = self.name(COMMA | SPACE | EQUALS, "a field's key")?;
        self.expect(b'=', "`=` and a value after a field's key")?;
        known.learn(keys, place, &self.bytes[start..self.pos], key.seen);
        Ok(key)
    }

    /// Reads a name that ends before the first of `ends` without a backslash before it, or with the line.
    #[inline]
    fn name(&mut self, ends: u8, what: &'static str) -> Result<Span, LineFault> {
        let (start, mut seen) = (self.pos, 0);
        while let Some(&byte) = self.bytes.get(self.pos) {
            let class = CLASSES[usize::from(byte)];
            if class & (ends | LINE_END | ESCAPE) != 0 {
                if class & ESCAPE != 0 {
                    // What a backslash stands before is never an end; at a line's end it stands for itself.
                    let next = self.bytes.get(self.pos + 1).copied();
                    self.pos += usize::from(next.is_some_and(is_escaped));
                } else if class & LINE_END == 0 || self.at_line_end() {
                    break;
                }
            }
            seen |= class;
            self.pos += 1;
        }
        if self.pos == start {
            return Err(self.fault(what));
        }
        Ok(self.span(start, seen))
    }

    fn value(&mut self) -> Result<(Value, Span), LineFault> {
        match self.bytes.get(self.pos) {
            Some(b'"') => self.string(),
            Some(b'0'..=b'9' | b'-' | b'.') => self.number(),
            _ => self.boolean(),
        }
    }

    fn string(&mut self) -> Result<(Value, Span), LineFault> {
        let opened = self.pos;
        self.pos += 1;
        let (start, mut seen) = (self.pos, 0);
        loop {
            let Some(&byte) = self.bytes.get(self.pos) else {
                return Err(self.fault_at(opened, "the string here to end with a quote"));
            };
            let class = CLASSES[usize::from(byte)];
            if byte == b'"' {
                break;
            }
            seen |= class;
            let escapes =
                class & ESCAPE != 0 && matches!(self.bytes.get(self.pos + 1), Some(b'"' | b'\\'));
            self.pos += 1 + usize::from(escapes);
        }
        let span = self.span(start, seen);
        self.within |= seen & LINE_END != 0;
        self.pos += 1;
        if !self.is_over() && !matches!(self.bytes[self.pos], b',' | b' ') {
            return Err(self.fault_at(
                opened,
                "the string here to end before `,`, a space or the line's end",
            ));
        }
        Ok((Value::Text, span))
    }

    fn boolean(&mut self) -> Result<(Value, Span), LineFault> {
        let start = self.pos;
        while !self.is_over() && !matches!(self.bytes[self.pos], b',' | b' ') {
            self.pos += 1;
        }
        let span = self.span(start, 0);
        let value = match span.of(self.bytes) {
            b"t" | b"T" | b"true" | b"True" | b"TRUE" => true,
            b"f" | b"F" | b"false" | b"False" | b"FALSE" => false,
            _ => {
                self.pos = start;
                return Err(self.fault(
                    "a number, a string in quotes, or t, T, true, True, TRUE, f, F, false, False or FALSE",
                ));
            }
        };
        Ok((Value::Boolean(value), span))
    }

    #[inline]
    fn end_value(&mut self, expected: &'static str) -> Result<(), LineFault> {
        match self.bytes.get(self.pos) {
            None | Some(b',' | b' ') => Ok(()),
            _ if self.at_line_end() => Ok(()),
            _ => Err(self.fault(expected)),
        }
    }

    #[inline]
    fn span(&self, start: usize, seen: u8) -> Span {
        Span {
            start: start as u32,
            end: self.pos as u32,
            seen,
        }
    }

    #[inline]
    fn take(&mut self, byte: u8) -> bool {
        let is = self.bytes.get(self.pos).is_some_and(|&next| next == byte);
        self.pos += usize::from(is);
        is
    }

    #[inline]
    fn expect(&mut self, byte: u8, what: &'static str) -> Result<(), LineFault> {
        if self.take(byte) {
            Ok(())
        } else {
            Err(self.fault(what))
        }
    }

    #[inline]
    fn skip(&mut self, over: impl Fn(u8) -> bool) {
        while self.bytes.get(self.pos).is_some_and(|&byte| over(byte)) {
            self.pos += 1;
        }
    }

    /// Tells whether a line ends here: before `\n` or `\r\n`, or at a `\r` that is the record's last byte.
    #[inline]
    fn at_line_end(&self) -> bool {
        match self.bytes.get(self.pos) {
            Some(b'\n') => true,
            Some(b'\r') => matches!(self.bytes.get(self.pos + 1), None | Some(b'\n')),
            _ => false,
        }
    }

    /// Tells whether nothing of the line is left.
    #[inline]
    fn is_over(&self) -> bool {
        self.pos == self.bytes.len() || self.at_line_end()
    }

    /// Passes over the line's end, and counts the lines that it had.
    #[inline]
    fn end_line(&mut self) {
        let _ = self.take(b'\r');
        self.line += u64::from(self.take(b'\n'));
        if std::mem::take(&mut self.within) {
            let line = &self.bytes[self.line_start..self.pos.saturating_sub(1)];
            self.line += memchr::memchr_iter(b'\n', line).count() as u64;
        }
        self.line_start = self.pos;
    }

    /// Says what is wrong here.
    #[cold]
    fn fault(&mut self, expected: &'static str) -> LineFault {
        self.fault_at(self.pos, expected)
    }

    /// Says that what begins at `at` is not as expected here. The line ends at the first line end behind `at`: a string that
    /// does not end takes no other line with it.
    #[cold]
    fn fault_at(&mut self, at: usize, expected: &'static str) -> LineFault {
        self.resume = at;
        let before = &self.bytes[self.line_start..at];
        let last = memchr::memrchr(b'\n', before).map_or(0, |end| end + 1);
        LineFault {
            line: self.line + memchr::memchr_iter(b'\n', before).count() as u64,
            byte: before.len() - last + 1,
            expected,
            found: self.bytes.get(self.pos).copied(),
        }
    }
}

pub(super) fn is_escaped(byte: u8) -> bool {
    matches!(byte, b',' | b' ' | b'=')
}

/// Shows a byte in words.
struct Found(Option<u8>);

impl std::fmt::Display for Found {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self.0 {
            None => write!(f, "the record's end"),
            Some(b'\n' | b'\r') => write!(f, "the line's end"),
            Some(b' ') => write!(f, "a space"),
            Some(byte @ 0x21..=0x7e) => write!(f, "`{}`", char::from(byte)),
            Some(byte) => write!(f, "the byte 0x{byte:02x}"),
        }
    }
}

const COMMA: u8 = 1;
const SPACE: u8 = 2;
const EQUALS: u8 = 4;
const LINE_END: u8 = 8;
/// A backslash.
pub(super) const ESCAPE: u8 = 16;
/// What JSON escapes, and what is no ASCII.
pub(super) const ODD: u8 = 32;

/// What each byte means, so that a name costs one look-up a byte.
const CLASSES: [u8; 256] = {
    let mut classes = [0; 256];
    let mut byte = 0;
    while byte < 256 {
        if byte < 0x20 || byte >= 0x80 {
            classes[byte] = ODD;
        }
        byte += 1;
    }
    classes[b'"' as usize] = ODD;
    classes[b'\\' as usize] = ESCAPE;
    classes[b',' as usize] = COMMA;
    classes[b' ' as usize] = SPACE;
    classes[b'=' as usize] = EQUALS;
    classes[b'\n' as usize] = LINE_END | ODD;
    classes[b'\r' as usize] = LINE_END | ODD;
    classes
};
