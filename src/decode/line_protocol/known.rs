//! What lines before began with: a producer writes the same series and fields again and again.
//!
//! A line that begins as a known one did is not read up to its first field: its bytes are compared
//! (`benches/workflow.rs`, `lineprotocol`). The twin is the grammar, which a miss goes through.
//!
//! What is known stays known, and takes at most [`ROOM`] bytes. Where there are more series than that, the others are read each
//! time, and nothing is allocated for them.

use std::collections::HashMap;

use super::line::{Field, Span, Tag};
use crate::decode::gap::Gap;

/// Knows the series of the lines before.
#[derive(Debug)]
pub(super) struct Known {
    series: Vec<Series>,
    /// By `Series::written`.
    by_written: HashMap<Box<[u8]>, usize>,
    /// The place of the series of the line before.
    last: usize,
    /// Those of one measurement each.
    keys: Vec<Keys>,
    /// By measurement, as it is written.
    by_measurement: HashMap<Box<[u8]>, usize>,
    /// How many bytes more may be kept.
    room: usize,
}

/// Is a measurement with its tags.
#[derive(Debug)]
pub(super) struct Series {
    /// As it is written, with the space behind it.
    pub(super) written: Box<[u8]>,
    /// Within `written`.
    pub(super) measurement: Span,
    /// Within `written`.
    pub(super) tags: Box<[Tag]>,
    /// Where the keys of its fields are known.
    pub(super) keys: Option<usize>,
}

/// Is the keys of the fields of one measurement, by their place in a line.
#[derive(Debug, Default)]
struct Keys {
    /// With their `=`.
    gaps: Vec<Gap<u8>>,
    /// The first of them one after another without it, as far as JSON takes them as they are.
    names: Vec<u8>,
    /// Where each ends in `names`.
    ends: Vec<i32>,
}

/// Is texts of UTF-8 one after another, and where each ends.
#[derive(Debug, Clone, Copy)]
pub(super) struct Names<'a> {
    pub(super) bytes: &'a [u8],
    pub(super) ends: &'a [i32],
}

impl Default for Known {
    fn default() -> Self {
        Self {
            series: Vec::new(),
            by_written: HashMap::new(),
            last: 0,
            keys: Vec::new(),
            by_measurement: HashMap::new(),
            room: ROOM,
        }
    }
}

impl Known {
    /// Finds the series that `rest` begins with: the one that came after the last one before, or the last one again. Gives its
    /// place, too.
    #[inline]
    pub(super) fn find(&mut self, rest: &[u8]) -> Option<(usize, &Series)> {
        let next = if self.last + 1 < self.series.len() {
            self.last + 1
        } else {
            0
        };
        let is = |&place: &usize| {
            let series = self.series.get(place);
            series.is_some_and(|series| rest.starts_with(&series.written))
        };
        self.last = [next, self.last].into_iter().find(is)?;
        Some((self.last, self.series.get(self.last)?))
    }

    /// Takes a series that was read: `record` from byte `at` on is `written`. Tells where the keys of its fields are known.
    pub(super) fn add(
        &mut self,
        record: &[u8],
        at: usize,
        written: &[u8],
        measurement: Span,
        tags: &[Tag],
    ) -> Option<usize> {
        if let Some(&place) = self.by_written.get(written) {
            self.last = place;
            return self.series[place].keys;
        }
        let keys = self.keys_of(measurement.of(record));
        if self.takes(written, size_of_val(tags)) {
            let within = |span: Span| span.within(at as u32);
            self.last = self.series.len();
            self.by_written.insert(written.into(), self.last);
            self.series.push(Series {
                written: written.into(),
                measurement: within(measurement),
                tags: tags
                    .iter()
                    .map(|tag| Tag {
                        key: within(tag.key),
                        value: within(tag.value),
                    })
                    .collect(),
                keys,
            });
        }
        keys
    }

    fn keys_of(&mut self, measurement: &[u8]) -> Option<usize> {
        if let Some(&keys) = self.by_measurement.get(measurement) {
            return Some(keys);
        }
        self.takes(measurement, 0).then(|| {
            self.by_measurement
                .insert(measurement.into(), self.keys.len());
            self.keys.push(Keys::default());
            self.keys.len() - 1
        })
    }

    /// Takes the room for a text and `beside` bytes more; tells whether it is there.
    fn takes(&mut self, text: &[u8], beside: usize) -> bool {
        let size = ENTRY + 2 * text.len() + beside;
        let takes = text.len() <= MAX_WRITTEN && size <= self.room;
        self.room -= if takes { size } else { 0 };
        takes
    }

    /// Gives what the key of the field at `place` is expected to be.
    #[inline]
    pub(super) fn expected(&self, keys: Option<usize>, place: usize) -> Option<&Gap<u8>> {
        self.keys.get(keys?)?.gaps.get(place)
    }

    /// Takes the key of the field at `place`, which is `written` with its `=` and was not expected.
    #[cold]
    pub(super) fn learn(&mut self, keys: Option<usize>, place: usize, written: &[u8], seen: u8) {
        let Some(keys) = keys.and_then(|keys| self.keys.get_mut(keys)) else {
            return;
        };
        if written.len() > MAX_KEY {
            return;
        }
        if place == keys.gaps.len() && self.room >= KEY {
            self.room -= KEY;
            keys.gaps.push(Gap::none(0));
        }
        if let Some(gap) = keys.gaps.get_mut(place) {
            gap.set(written, seen);
            keys.ends.truncate(place);
        }
    }

    /// Tells whether the names of a line's fields are known together; each of its keys was as expected.
    #[inline]
    pub(super) fn are_named(&mut self, keys: usize, record: &[u8], fields: &[Field]) -> bool {
        let Some(keys) = self.keys.get_mut(keys) else {
            return false;
        };
        keys.ends.len() >= fields.len() || keys.name(record, fields)
    }

    /// Gives the names of the first `count` fields, which are known.
    #[inline]
    pub(super) fn names(&self, keys: usize, count: usize) -> Option<Names<'_>> {
        let keys = self.keys.get(keys)?;
        let ends = keys.ends.get(..count)?;
        let bytes = &keys.names[..*ends.last()? as usize];
        Some(Names { bytes, ends })
    }
}

impl Keys {
    /// Adds the names of a line's fields, if JSON takes them all as they are.
    #[cold]
    fn name(&mut self, record: &[u8], fields: &[Field]) -> bool {
        let known = self.ends.last().map_or(0, |&end| end as usize);
        self.names.truncate(known);
        for field in &fields[self.ends.len()..] {
            if !field.key.is_plain() {
                return false;
            }
            self.names.extend_from_slice(field.key.of(record));
            self.ends.push(self.names.len() as i32);
        }
        true
    }
}

/// How many bytes all of it may take.
const ROOM: usize = 512 * 1024;
/// The longest series, or measurement, that is kept.
const MAX_WRITTEN: usize = 1024;
/// The longest key that is kept, with its `=`.
const MAX_KEY: usize = 64;
/// About what a series, or a measurement, takes beside its text, which is kept twice, and its tags.
const ENTRY: usize = 2 * size_of::<Series>();
/// About what a key takes at most: a list doubles when it grows, and the text is kept three times.
const KEY: usize = 2 * size_of::<Gap<u8>>() + 3 * MAX_KEY;
