//! The grammar: a record's bytes, line by line, into places within them. Nothing is copied.
//!
//! <https://docs.influxdata.com/influxdb/v2/reference/syntax/line-protocol/>, and where that is silent what `InfluxDB` does.

use thiserror::Error;

use super::known::{Known, Names};
use crate::decode::gap::word;

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

/// Is one line, as places in the record; its memory is used again for the next one.
#[derive(Debug, Default)]
pub(super) struct Line {
    pub(super) measurement: Span,
    pub(super) tags: Vec<Tag>,
    pub(super) fields: Vec<Field>,
    pub(super) timestamp: Option<i64>,
    /// The place of measurement and tags in what is known.
    pub(super) series: Option<usize>,
    /// The first fields' values, as long as they are floats,
    numbers: Vec<f64>,
    /// and how long their texts are together.
    digits: usize,
    /// Where the names of all its fields are known.
    named: Option<usize>,
    /// The order of tags by key, where they are not written in it.
    order: Vec<u32>,
    known: Known,
}

#[derive(Debug, Clone, Copy)]
pub(super) struct Tag {
    pub(super) key: Span,
    pub(super) value: Span,
}

#[derive(Debug, Clone, Copy)]
pub(super) struct Field {
    pub(super) key: Span,
    pub(super) value: Value,
    /// What stands for the value: of a string what is between the quotes, of a whole number its digits.
    pub(super) source: Span,
}

#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) enum Value {
    Float(f64),
    Integer(i64),
    Unsigned(u64),
    Boolean(bool),
    Text,
}

/// Is a place in the record.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Span {
    start: u32,
    end: u32,
    /// What its bytes have in common: [`ESCAPE`], [`ODD`].
    seen: u8,
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

impl Span {
    /// Gives the place in a record of a place in bytes that begin at byte `at` of it.
    fn moved(self, at: u32) -> Self {
        Self {
            start: self.start + at,
            end: self.end + at,
            ..self
        }
    }

    /// Gives the place in bytes that begin at byte `at` of the record.
    pub(super) fn within(self, at: u32) -> Self {
        Self {
            start: self.start - at,
            end: self.end - at,
            ..self
        }
    }

    pub(super) fn len(self) -> usize {
        (self.end - self.start) as usize
    }

    pub(super) fn of<'a>(&self, bytes: &'a [u8]) -> &'a [u8] {
        &bytes[self.start as usize..self.end as usize]
    }

    /// Tells whether it may hold a backslash that is not to be shown.
    pub(super) fn has_escape(&self) -> bool {
        self.seen & ESCAPE != 0
    }

    /// Tells whether JSON takes its bytes as they are.
    pub(super) fn is_plain(&self) -> bool {
        self.seen & (ESCAPE | ODD) == 0
    }
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
        line.tags.clear();
        line.fields.clear();
        line.numbers.clear();
        line.digits = 0;
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
                line.number(key, number, self.span(start, 0));
            } else {
                match self.value()? {
                    (Value::Float(number), source) => line.number(key, number, source),
                    (value, source) => line.fields.push(Field { key, value, source }),
                }
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

    /// Reads a number: whole with `i` or `u` behind it, else a float. Neither NaN and infinity nor hexadecimal digits are one.
    #[inline]
    fn number(&mut self) -> Result<(Value, Span), LineFault> {
        let start = self.pos;
        let negative = self.take(b'-');
        let mut mantissa = 0_u64;
        let whole = self.digits(&mut mantissa);
        let mut fraction = 0;
        let point = self.take(b'.');
        if point {
            fraction = self.digits(&mut mantissa);
        }
        if whole + fraction == 0 {
            return Err(self.fault("a digit"));
        }
        let mut exponent = false;
        match self.bytes.get(self.pos) {
            Some(b'i') if !point => return self.integer(start),
            Some(b'u') if !point && !negative => return self.unsigned(start),
            Some(b'e' | b'E') => {
                exponent = true;
                self.pos += 1;
                let _ = self.take(b'-') || self.take(b'+');
                if self.digits(&mut 0) == 0 {
                    return Err(self.fault("a digit of an exponent"));
                }
            }
            _ => {}
        }
        let span = self.span(start, 0);
        let exact = exact(mantissa, whole + fraction, fraction).filter(|_| !exponent);
        let value = if let Some(value) = exact {
            if negative { -value } else { value }
        } else {
            let text = std::str::from_utf8(span.of(self.bytes)).unwrap_or_default();
            match text.parse::<f64>() {
                Ok(value) if value.is_finite() => value,
                _ => {
                    self.pos = start;
                    return Err(self.fault("a number below 1.8e308"));
                }
            }
        };
        self.end_value(
            "a number's end: `,`, a space or the line's end, or `i` or `u` after a whole number",
        )?;
        Ok((Value::Float(value), span))
    }

    #[inline]
    fn digits(&mut self, value: &mut u64) -> usize {
        let (rest, mut len) = (&self.bytes[self.pos..], 0);
        while let Some(digit) = rest.get(len).map(|byte| byte.wrapping_sub(b'0'))
            && digit < 10
        {
            *value = value.wrapping_mul(10).wrapping_add(u64::from(digit));
            len += 1;
        }
        self.pos += len;
        len
    }

    /// Reads digits eight at a time: a timestamp has 10 to 19 (`benches/workflow.rs`, `lineprotocol`). The twin is `digits`.
    fn many_digits(&mut self, value: &mut u64) -> usize {
        let start = self.pos;
        while let Some(&chunk) = self.bytes[self.pos..].first_chunk()
            && let Some(eight) = eight_digits(chunk)
        {
            *value = value.wrapping_mul(100_000_000).wrapping_add(eight);
            self.pos += 8;
        }
        self.digits(value);
        self.pos - start
    }

    fn integer(&mut self, start: usize) -> Result<(Value, Span), LineFault> {
        let (value, span) = self.whole(
            start,
            "a whole number from -9223372036854775808 to 9223372036854775807",
        )?;
        Ok((Value::Integer(value), span))
    }

    fn unsigned(&mut self, start: usize) -> Result<(Value, Span), LineFault> {
        let (value, span) = self.whole(start, "a whole number up to 18446744073709551615")?;
        Ok((Value::Unsigned(value), span))
    }

    /// Reads the digits from `start` to here, and passes over the letter.
    fn whole<T: std::str::FromStr>(
        &mut self,
        start: usize,
        range: &'static str,
    ) -> Result<(T, Span), LineFault> {
        let span = self.span(start, 0);
        let text = std::str::from_utf8(span.of(self.bytes)).unwrap_or_default();
        let Ok(value) = text.parse() else {
            self.pos = start;
            return Err(self.fault(range));
        };
        self.pos += 1;
        self.end_value("`,`, a space or the line's end after a whole number")?;
        Ok((value, span))
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

    fn timestamp(&mut self) -> Result<i64, LineFault> {
        const EXPECTED: &str = "a timestamp, a whole number in 64 bits";
        let start = self.pos;
        let negative = self.take(b'-');
        let mut digits = 0_u64;
        match (self.many_digits(&mut digits), i64::try_from(digits)) {
            (0, _) => Err(self.fault(EXPECTED)),
            (1..=19, Ok(value)) => Ok(if negative { -value } else { value }),
            _ => {
                let span = self.span(start, 0);
                let text = std::str::from_utf8(span.of(self.bytes)).unwrap_or_default();
                text.parse().map_err(|_| {
                    self.pos = start;
                    self.fault(EXPECTED)
                })
            }
        }
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

impl Line {
    /// Gives the names of the fields, where they are known together: JSON takes them as they are.
    pub(super) fn names(&self) -> Option<Names<'_>> {
        self.known.names(self.named?, self.fields.len())
    }

    /// Gives the fields' values and how long their texts are together, where all are floats.
    pub(super) fn numbers(&self) -> Option<(&[f64], usize)> {
        let all = self.numbers.len() == self.fields.len();
        all.then_some((&self.numbers, self.digits))
    }

    #[inline]
    fn number(&mut self, key: Span, number: f64, source: Span) {
        if self.numbers.len() == self.fields.len() {
            self.numbers.push(number);
            self.digits += source.len();
        }
        let value = Value::Float(number);
        self.fields.push(Field { key, value, source });
    }

    /// Leaves out the fields that are not to be kept.
    pub(super) fn retain_fields(&mut self, keep: impl FnMut(&Field) -> bool) {
        let all = self.fields.len();
        self.fields.retain(keep);
        if self.fields.len() < all {
            self.named = None;
            self.numbers.clear();
        }
    }

    /// Gives the place of measurement and tags.
    pub(super) fn series(&self) -> Span {
        Span {
            end: self
                .tags
                .last()
                .map_or(self.measurement.end, |tag| tag.value.end),
            ..self.measurement
        }
    }

    /// Tells whether each tag's key stands once. Most clients sort them, which is asked first.
    fn tags_differ(&mut self, bytes: &[u8]) -> bool {
        let sorted = |a: &Tag, b: &Tag| a.key.of(bytes) < b.key.of(bytes);
        if self.tags.is_sorted_by(sorted) {
            return true;
        }
        let Self { tags, order, .. } = self;
        let key = |&i: &u32| tags[i as usize].key.of(bytes);
        order.clear();
        order.extend(0..tags.len() as u32);
        order.sort_unstable_by(|a, b| key(a).cmp(key(b)));
        order.windows(2).all(|pair| key(&pair[0]) != key(&pair[1]))
    }
}

/// Reads what most numbers are: digits with a point or none, up to a comma, a space or a line's end; gives the bytes that they take.
///
/// The twin is [`Parser::number`], which reads whatever this does not (`benches/workflow.rs`, `lineprotocol`).
#[inline]
fn plain_number(rest: &[u8]) -> Option<(f64, usize)> {
    let (mut mantissa, mut point, mut len) = (0_u64, None, 0);
    loop {
        let byte = *rest.get(len)?;
        let digit = byte.wrapping_sub(b'0');
        if digit < 10 {
            mantissa = mantissa.wrapping_mul(10).wrapping_add(u64::from(digit));
        } else if byte == b'.' && point.is_none() {
            point = Some(len);
        } else if matches!(byte, b',' | b' ' | b'\n') {
            break;
        } else {
            return None;
        }
        len += 1;
    }
    let fraction = point.map_or(0, |point| len - point - 1);
    let digits = len - usize::from(point.is_some());
    let value = exact(mantissa, digits, fraction)?;
    Some((value, len))
}

/// Gives the number of that many digits, of which `fraction` stand behind the point, if its parts are exact: then one rounding is
/// the right one.
#[inline]
fn exact(mantissa: u64, digits: usize, fraction: usize) -> Option<f64> {
    if !(1..=18).contains(&digits) || mantissa > 1 << 53 {
        return None;
    }
    // A division takes as long as the rest of a number.
    Some(match fraction {
        0 => mantissa as f64,
        _ => mantissa as f64 / POWERS[fraction],
    })
}

/// Gives the number that eight digits are.
#[inline]
fn eight_digits(chunk: [u8; 8]) -> Option<u64> {
    const EACH: u64 = 0x0101_0101_0101_0101;
    let digits = u64::from_le_bytes(chunk) ^ (EACH * u64::from(b'0'));
    // Of a digit the upper half is empty, also with 6 more.
    if (digits | digits.wrapping_add(EACH * 6)) & (EACH * 0xf0) != 0 {
        return None;
    }
    // The first digit is the lowest byte: two become a number, then four, then all.
    let pairs = (digits * 10 + (digits >> 8)) & 0x00ff_00ff_00ff_00ff;
    let fours = (pairs * 100 + (pairs >> 16)) & 0x0000_ffff_0000_ffff;
    Some((fours * 10_000 + (fours >> 32)) & 0xffff_ffff)
}

/// Appends a name to `out` as it is meant: without the backslashes that stand before a comma, a space or `=`.
pub(super) fn unescape_name(name: &[u8], out: &mut Vec<u8>) {
    unescape(name, is_escaped, out);
}

/// Appends a measurement to `out` as it is meant: without the backslashes that stand before a comma or a space.
pub(super) fn unescape_measurement(name: &[u8], out: &mut Vec<u8>) {
    unescape(name, |byte| matches!(byte, b',' | b' '), out);
}

/// Appends what stands between quotes to `out` as it is meant: without the backslashes before a quote or a backslash.
pub(super) fn unescape_text(text: &[u8], out: &mut Vec<u8>) {
    unescape(text, |byte| matches!(byte, b'"' | b'\\'), out);
}

fn unescape(mut rest: &[u8], escaped: impl Fn(u8) -> bool, out: &mut Vec<u8>) {
    while let Some(at) = memchr::memchr(b'\\', rest) {
        out.extend_from_slice(&rest[..at]);
        let next = rest.get(at + 1).copied().filter(|&byte| escaped(byte));
        out.push(next.unwrap_or(b'\\'));
        rest = &rest[at + 1 + usize::from(next.is_some())..];
    }
    out.extend_from_slice(rest);
}

fn is_escaped(byte: u8) -> bool {
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
const ESCAPE: u8 = 16;
/// What JSON escapes, and what is no ASCII.
const ODD: u8 = 32;

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

/// Powers of ten that a float64 holds exactly.
const POWERS: [f64; 19] = [
    1e0, 1e1, 1e2, 1e3, 1e4, 1e5, 1e6, 1e7, 1e8, 1e9, 1e10, 1e11, 1e12, 1e13, 1e14, 1e15, 1e16,
    1e17, 1e18,
];
