//! What went wrong in a stream, counted: a count and one sample of each kind, never a line a record.

use std::collections::HashSet;
use std::fmt::Write;
use std::hash::{DefaultHasher, Hasher};

/// Is a kind of trouble that a stream counts and goes on.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Trouble {
    /// A record could not be decoded.
    Undecodable,
    /// A line of a record could not be decoded.
    BadLine,
    /// A key could not be decoded.
    BadKey,
    /// A value did not have its column's type.
    Misfit,
    /// A number is outside what a float64 holds.
    OutOfRange,
    /// A whole number beyond 2^53 lost its last digits.
    Imprecise,
    /// Bytes in a text were no UTF-8.
    InvalidUtf8,
    /// A field came after the field limit was reached: counted once a field, not once a value.
    LeftOut,
    /// A record carries no timestamp.
    NoTimestamp,
    /// A record lacks the time field, or it holds no time.
    NoTimeField,
    /// A time is outside of what Grafana can show (1677 to 2262).
    OutOfWindow,
    /// An entry of a filter is not what it should be.
    OddFilter,
    /// The filters left out a line, and nothing has passed them yet.
    FilteredOut,
}

/// Counts troubles; those of a record that is rolled back are taken back with it.
#[derive(Debug, Default)]
pub struct Tally {
    kept: [Count; Trouble::ALL.len()],
    record: [u64; Trouble::ALL.len()],
    touched: bool,
    left_out: LeftOut,
}

/// Knows the fields that are left out by their names' hashes.
#[derive(Debug, Default)]
struct LeftOut {
    kept: HashSet<u64>,
    record: HashSet<u64>,
    name: String,
}

/// Is how often something happened, and how it looked the first time.
#[derive(Debug, Default, Clone)]
pub struct Count {
    pub times: u64,
    pub sample: String,
}

impl Trouble {
    pub(crate) const ALL: [Self; 13] = [
        Self::Undecodable,
        Self::BadLine,
        Self::BadKey,
        Self::Misfit,
        Self::OutOfRange,
        Self::Imprecise,
        Self::InvalidUtf8,
        Self::LeftOut,
        Self::NoTimestamp,
        Self::NoTimeField,
        Self::OutOfWindow,
        Self::OddFilter,
        Self::FilteredOut,
    ];
}

impl Tally {
    /// Counts one `trouble` of the record being read; `sample` is asked for the first time only. Of [`Trouble::LeftOut`] it is
    /// the field's name, and asked for each time.
    pub(crate) fn count(&mut self, trouble: Trouble, sample: impl FnOnce(&mut String)) {
        if trouble != Trouble::LeftOut {
            return self.add(trouble, sample);
        }
        let mut name = std::mem::take(&mut self.left_out.name);
        name.clear();
        sample(&mut name);
        if self.left_out.is_new(&name) {
            self.add(trouble, |sample| sample.push_str(&name));
        }
        self.left_out.name = name;
    }

    fn add(&mut self, trouble: Trouble, sample: impl FnOnce(&mut String)) {
        let i = trouble as usize;
        if self.kept[i].times == 0 && self.record[i] == 0 {
            self.kept[i].sample.clear();
            sample(&mut self.kept[i].sample);
            shorten(&mut self.kept[i].sample);
        }
        self.record[i] += 1;
        self.touched = true;
    }

    pub(crate) fn commit(&mut self) {
        if self.touched {
            for (kept, record) in self.kept.iter_mut().zip(&mut self.record) {
                kept.times += std::mem::take(record);
            }
            self.left_out.kept.extend(self.left_out.record.drain());
            self.touched = false;
        }
    }

    /// Says no more of a `trouble` that turned out to be none.
    pub(crate) fn forget(&mut self, trouble: Trouble) {
        self.kept[trouble as usize].times = 0;
        self.record[trouble as usize] = 0;
    }

    pub(crate) fn roll_back(&mut self) {
        self.record = Default::default();
        self.left_out.record.clear();
        self.touched = false;
    }

    /// Gives what was counted so far, by kind.
    pub(crate) fn kept(&self) -> impl Iterator<Item = (Trouble, &Count)> {
        Trouble::ALL.into_iter().zip(&self.kept)
    }
}

impl LeftOut {
    /// Tells whether `name` is left out for the first time. Past a few thousand names none is new any more.
    fn is_new(&mut self, name: &str) -> bool {
        let mut hasher = DefaultHasher::new();
        hasher.write(name.as_bytes());
        let hash = hasher.finish();
        self.kept.len() + self.record.len() < MAX_LEFT_OUT
            && !self.kept.contains(&hash)
            && self.record.insert(hash)
    }
}

/// Keeps a sample to one readable line.
fn shorten(sample: &mut String) {
    if let Some((cut, _)) = sample.char_indices().nth(MAX_SAMPLE) {
        sample.truncate(cut);
        write!(sample, "…").expect("a String takes what it is given");
    }
}

const MAX_SAMPLE: usize = 200;
/// How many fields that are left out are counted: more than a decoder remembers.
const MAX_LEFT_OUT: usize = 10_000;
