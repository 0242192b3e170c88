//! What went wrong in a stream, counted: a count and one sample of each kind, never a line a record.

use std::collections::HashSet;
use std::fmt::Write;
use std::hash::{DefaultHasher, Hasher};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

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

/// Counts the troubles of one worker's records; those of a record that is rolled back are taken back with it.
#[derive(Debug, Default)]
pub struct Tally {
    stream: Arc<StreamTally>,
    record: [u64; Trouble::ALL.len()],
    /// How each looked the first time.
    samples: [String; Trouble::ALL.len()],
    /// The stream has a sample of it.
    has_sample: [bool; Trouble::ALL.len()],
    touched: bool,
    left_out: LeftOut,
}

/// Counts the troubles of a stream, of all its workers together.
///
/// It is locked where a record had one, and once a packet.
#[derive(Debug, Default)]
pub(crate) struct StreamTally(Mutex<Counts>);

#[derive(Debug, Default)]
struct Counts {
    kept: [Count; Trouble::ALL.len()],
    /// How often each had happened when it was said last.
    said: [u64; Trouble::ALL.len()],
    /// Turned out to be none.
    is_none: [bool; Trouble::ALL.len()],
    left_out: HashSet<u64>,
}

/// Knows the fields that a worker leaves out, by their names' hashes.
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
    /// Counts into what `stream` has counted so far.
    pub(crate) fn of(stream: Arc<StreamTally>) -> Self {
        Self {
            stream,
            ..Self::default()
        }
    }

    /// Gives what is counted for the stream.
    pub(crate) fn stream(&self) -> &Arc<StreamTally> {
        &self.stream
    }

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
        if !self.has_sample[i] && self.record[i] == 0 {
            self.samples[i].clear();
            sample(&mut self.samples[i]);
            shorten(&mut self.samples[i]);
        }
        self.record[i] += 1;
        self.touched = true;
    }

    pub(crate) fn commit(&mut self) {
        if !std::mem::take(&mut self.touched) {
            return;
        }
        let mut counts = self.stream.lock();
        // Another worker may have left out the same field.
        let left_out = &mut self.record[Trouble::LeftOut as usize];
        *left_out = counts.leave_out(&self.left_out.record);
        self.left_out.kept.extend(self.left_out.record.drain());
        for (i, times) in self.record.iter_mut().enumerate() {
            let times = std::mem::take(times);
            if times > 0 && !counts.is_none[i] {
                counts.kept[i].add(times, &mut self.samples[i]);
                self.has_sample[i] = true;
            }
        }
    }

    /// Says no more of a `trouble` that turned out to be none.
    pub(crate) fn forget(&mut self, trouble: Trouble) {
        self.record[trouble as usize] = 0;
        let mut counts = self.stream.lock();
        counts.is_none[trouble as usize] = true;
        counts.kept[trouble as usize].times = 0;
    }

    pub(crate) fn roll_back(&mut self) {
        self.record = Default::default();
        self.left_out.record.clear();
        self.touched = false;
    }
}

impl StreamTally {
    /// Gives what is new, or has happened ten times as often since it was given; fields that are left out are given one by one,
    /// as they are few.
    pub(crate) fn news(&self) -> Vec<(Trouble, Count)> {
        let counts = &mut *self.lock();
        let mut news = Vec::new();
        for ((trouble, count), said) in Trouble::ALL
            .into_iter()
            .zip(&counts.kept)
            .zip(&mut counts.said)
        {
            let due = match trouble {
                Trouble::LeftOut => *said + 1,
                _ => said.saturating_mul(10).max(1),
            };
            if count.times >= due {
                *said = count.times;
                news.push((trouble, count.clone()));
            }
        }
        news
    }

    fn lock(&self) -> MutexGuard<'_, Counts> {
        // Whatever a panic in here left half done is a count.
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Counts {
    /// Takes hashes of names; tells how many are new.
    fn leave_out(&mut self, names: &HashSet<u64>) -> u64 {
        let before = self.left_out.len();
        let room = MAX_LEFT_OUT.saturating_sub(before);
        self.left_out.extend(names.iter().take(room));
        (self.left_out.len() - before) as u64
    }
}

impl Count {
    fn add(&mut self, times: u64, sample: &mut String) {
        if self.times == 0 {
            std::mem::swap(&mut self.sample, sample);
        }
        self.times += times;
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn workers_count_together() {
        let mut one = Tally::default();
        let mut other = Tally::of(Arc::clone(one.stream()));
        let news = |tally: &Tally| -> Vec<(Trouble, u64, String)> {
            let news = tally.stream().news().into_iter();
            news.map(|(trouble, count)| (trouble, count.times, count.sample))
                .collect()
        };
        one.count(Trouble::Misfit, |text| text.push('a'));
        one.commit();
        other.count(Trouble::Misfit, |text| text.push('b'));
        other.count(Trouble::LeftOut, |text| text.push_str("field"));
        other.commit();
        let first = (Trouble::Misfit, 2, "a".to_owned());
        assert_eq!(
            news(&one),
            [first, (Trouble::LeftOut, 1, "field".to_owned())]
        );
        assert_eq!(news(&other), [], "said already");
        one.count(Trouble::LeftOut, |text| text.push_str("field"));
        one.commit();
        assert_eq!(news(&one), [], "the other has left it out already");
        other.count(Trouble::LeftOut, |text| text.push_str("second"));
        other.commit();
        assert_eq!(news(&one), [(Trouble::LeftOut, 2, "field".to_owned())]);
        for _ in 0..18 {
            other.count(Trouble::Misfit, |_| ());
            other.commit();
        }
        assert_eq!(news(&one), [(Trouble::Misfit, 20, "a".to_owned())]);
    }

    #[test]
    fn a_record_that_is_taken_back_counts_for_nothing() {
        let mut tally = Tally::default();
        tally.count(Trouble::Misfit, |text| text.push_str("bad"));
        tally.roll_back();
        tally.commit();
        tally.count(Trouble::Misfit, |text| text.push_str("good"));
        tally.commit();
        let news = tally.stream().news();
        let [(Trouble::Misfit, count)] = &news[..] else {
            panic!("{news:?}");
        };
        assert_eq!((count.times, count.sample.as_str()), (1, "good"));
    }

    #[test]
    fn what_turned_out_to_be_none_is_none_for_all() {
        let mut one = Tally::default();
        let mut other = Tally::of(Arc::clone(one.stream()));
        for tally in [&mut one, &mut other] {
            tally.count(Trouble::FilteredOut, |text| text.push_str("cpu"));
        }
        one.forget(Trouble::FilteredOut);
        one.commit();
        other.commit();
        assert!(one.stream().news().is_empty());
    }
}
