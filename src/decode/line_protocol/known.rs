//! What lines before began with: a producer writes the same series and fields again and again.
//!
//! A line that begins as a known one did is not read up to its first field: its bytes are compared
//! (`benches/workflow.rs`, `lineprotocol`). The twin is the grammar, which a miss goes through.
//!
//! What is known stays known, and takes at most [`ROOM`] bytes. Where there are more series than that, the others are read each
//! time, and nothing is allocated for them.

use std::collections::HashMap;

use super::parse::{Span, Tag};
use crate::decode::gap::Gap;

/// Knows the series of the lines before.
#[derive(Debug)]
pub(super) struct Known {
    series: Vec<Series>,
    /// By `Series::written`.
    by_written: HashMap<Box<[u8]>, usize>,
    /// The place of the series of the line before.
    last: usize,
    /// The keys of the fields of one measurement each, with their `=`.
    keys: Vec<Vec<Gap<u8>>>,
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
    /// For [`Known::gap`].
    pub(super) keys: Option<usize>,
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
    /// Finds the series that `rest` begins with: the one that came after the last one before, or the last one again.
    #[inline]
    pub(super) fn find(&mut self, rest: &[u8]) -> Option<&Series> {
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
        self.series.get(self.last)
    }

    /// Takes a series that was read: `record` from byte `at` on is `written`. Gives what [`Known::gap`] asks for.
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
            self.keys.push(Vec::new());
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

    /// Gives what the key of the field at `place` is expected to be; `None` where it is too much to keep.
    #[inline]
    pub(super) fn gap(&mut self, keys: Option<usize>, place: usize) -> Option<&mut Gap<u8>> {
        let keys = self.keys.get_mut(keys?)?;
        if place == keys.len() && self.room >= KEY {
            self.room -= KEY;
            keys.push(Gap::none(0));
        }
        keys.get_mut(place)
    }
}

/// How many bytes all of it may take.
const ROOM: usize = 512 * 1024;
/// The longest series, or measurement, that is kept.
const MAX_WRITTEN: usize = 1024;
/// The longest key that is kept, with its `=`.
pub(super) const MAX_KEY: usize = 64;
/// About what a series, or a measurement, takes beside its text, which is kept twice, and its tags.
const ENTRY: usize = 2 * size_of::<Series>();
/// About what a key takes at most: a list doubles when it grows.
const KEY: usize = 2 * size_of::<Gap<u8>>() + MAX_KEY;
