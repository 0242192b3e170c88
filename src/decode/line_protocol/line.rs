//! One line, as places in its record, and what stands there as it is meant.

use super::known::{Known, Names};
use super::parse::{ESCAPE, ODD, is_escaped};

/// Is one line, as places in the record; its memory is used again for the next one.
#[derive(Debug, Default)]
pub(super) struct Line {
    pub(super) measurement: Span,
    pub(super) tags: Vec<Tag>,
    pub(super) fields: Vec<Field>,
    pub(super) timestamp: Option<i64>,
    /// The place of measurement and tags in what is known.
    pub(super) series: Option<usize>,
    /// The first fields' values, as long as they are numbers that float64 holds,
    numbers: Vec<f64>,
    /// and how long their texts are together.
    digits: usize,
    /// Where the names of all its fields are known.
    pub(super) named: Option<usize>,
    /// The order of tags by key, where they are not written in it.
    order: Vec<u32>,
    pub(super) known: Known,
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

impl Value {
    /// Gives the number that it is, where float64 holds it.
    #[inline]
    pub(super) fn number(self) -> Option<f64> {
        match self {
            Self::Float(value) => Some(value),
            Self::Integer(value) => (value.unsigned_abs() < EXACT).then_some(value as f64),
            Self::Unsigned(value) => (value < EXACT).then_some(value as f64),
            Self::Boolean(_) | Self::Text => None,
        }
    }
}

/// Is a place in the record.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Span {
    pub(super) start: u32,
    pub(super) end: u32,
    /// What its bytes have in common: [`ESCAPE`], [`ODD`].
    pub(super) seen: u8,
}

impl Span {
    /// Gives the place in a record of a place in bytes that begin at byte `at` of it.
    pub(super) fn moved(self, at: u32) -> Self {
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

impl Line {
    /// Makes room for another line.
    pub(super) fn clear(&mut self) {
        self.tags.clear();
        self.fields.clear();
        self.numbers.clear();
        self.digits = 0;
    }

    /// Gives the names of the fields, where they are known together: JSON takes them as they are.
    pub(super) fn names(&self) -> Option<Names<'_>> {
        self.known.names(self.named?, self.fields.len())
    }

    /// Gives the fields' values and how long their texts are together, where all are numbers that float64 holds.
    pub(super) fn numbers(&self) -> Option<(&[f64], usize)> {
        let all = self.numbers.len() == self.fields.len();
        all.then_some((&self.numbers, self.digits))
    }

    /// Adds a field.
    #[inline]
    pub(super) fn push(&mut self, field: Field) {
        if self.numbers.len() == self.fields.len()
            && let Some(number) = field.value.number()
        {
            self.numbers.push(number);
            self.digits += field.source.len();
        }
        self.fields.push(field);
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
    pub(super) fn tags_differ(&mut self, bytes: &[u8]) -> bool {
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

/// From here on two whole numbers may have one float64: 2^53.
const EXACT: u64 = 1 << 53;
