//! What lines before began with: a producer writes the same series and fields again and again.
//!
//! A line that begins as a known one did is not read up to its first field: its bytes are compared
//! (`benches/workflow.rs`, `lineprotocol`). The twin is the grammar, which a miss goes through.

use super::parse::{Span, Tag};
use crate::decode::gap::Gap;

/// Knows the series of the lines before.
#[derive(Debug, Default)]
pub(super) struct Known {
    pub(super) series: Vec<Series>,
    /// The place of the series of the line before.
    last: usize,
    /// The one that is forgotten next.
    oldest: usize,
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
    /// The key of each field, with its `=`.
    keys: Vec<Gap<u8>>,
}

impl Known {
    /// Finds the series that `rest` begins with: the one that came after the last one before, or the last one again.
    #[inline]
    pub(super) fn find(&mut self, rest: &[u8]) -> Option<usize> {
        let next = if self.last + 1 < self.series.len() {
            self.last + 1
        } else {
            0
        };
        for place in [next, self.last] {
            let series = self.series.get(place)?;
            if rest.starts_with(&series.written) {
                self.last = place;
                return Some(place);
            }
        }
        None
    }

    /// Turns to a series that was read: `written` begins at byte `at`. Gives its place.
    pub(super) fn add(
        &mut self,
        written: &[u8],
        at: u32,
        measurement: Span,
        tags: &[Tag],
    ) -> usize {
        let known = |series: &Series| *series.written == *written;
        self.last = self.series.iter().position(known).unwrap_or_else(|| {
            let series = Series {
                written: written.into(),
                measurement: measurement.within(at),
                tags: tags
                    .iter()
                    .map(|tag| Tag {
                        key: tag.key.within(at),
                        value: tag.value.within(at),
                    })
                    .collect(),
                keys: Vec::new(),
            };
            if self.series.len() < MAX_SERIES {
                self.series.push(series);
                return self.series.len() - 1;
            }
            let place = self.oldest;
            self.oldest = (place + 1) % MAX_SERIES;
            self.series[place] = series;
            place
        });
        self.last
    }

    /// Gives what the key of a series' field is expected to be; `None` where there are too many.
    #[inline]
    pub(super) fn gap(&mut self, series: usize, place: usize) -> Option<&mut Gap<u8>> {
        let keys = &mut self.series.get_mut(series)?.keys;
        if place == keys.len() && place < MAX_KEYS {
            keys.push(Gap::none(0));
        }
        keys.get_mut(place)
    }
}

/// How many series are known at once.
const MAX_SERIES: usize = 64;
/// How many fields of each.
const MAX_KEYS: usize = 64;
