//! SHELL: where the last N records of each partition begin.
//!
//! Offsets do not count records: compaction leaves gaps, transactions put markers between records, and aborted records
//! are never shown. So records are counted, from the end in growing windows, each offset read once.

use std::collections::{BTreeMap, VecDeque};
use std::time::Duration;

use rdkafka::Message;
use rdkafka::consumer::Consumer;
use rdkafka::error::{KafkaError as ClientError, KafkaResult};
use rdkafka::topic_partition_list::{Offset, TopicPartitionList};

use super::clients::Client;
use super::errors::gives_no_records;
use super::start::{Begin, Extent, Look};
use crate::config::TopicName;

/// Finds the start of each partition of `look` that begins a number of records before its end, fewer only where there are
/// no more; tells whether all were counted. Where `go_on` said stop before, some begin too late.
///
/// Nobody else may poll the client meanwhile, and what it had assigned is gone afterwards, unless there is nothing to
/// count. `go_on` is asked at least ten times a second. Fails with what Kafka says where it gives no records.
pub fn count_back(
    client: &Client,
    topic: &TopicName,
    begin: &mut Begin,
    look: &Look,
    mut go_on: impl FnMut() -> bool,
) -> KafkaResult<bool> {
    let wanted = begin.uncounted(look);
    if wanted.is_empty() {
        return Ok(true);
    }
    let mut starts = BTreeMap::new();
    let mut walks = Vec::new();
    for (extent, n) in &wanted {
        let walk = Walk::new(extent, *n);
        if walk.is_over() {
            starts.insert(walk.partition, walk.low);
        } else {
            walks.push(walk);
        }
    }
    let mut is_complete = true;
    while is_complete && !walks.is_empty() {
        is_complete = read_windows(client, topic, &mut walks, &mut go_on)?;
        walks.retain_mut(|walk| match walk.close() {
            Some(start) => {
                starts.insert(walk.partition, start);
                false
            }
            None => true,
        });
    }
    starts.extend(walks.iter().map(|walk| (walk.partition, walk.guess())));
    client.unassign()?;
    begin.counted(starts);
    Ok(is_complete)
}

/// Reads the window of each walk to its end; `false` where `go_on` said stop before.
fn read_windows(
    client: &Client,
    topic: &TopicName,
    walks: &mut [Walk],
    go_on: &mut impl FnMut() -> bool,
) -> KafkaResult<bool> {
    let mut windows = TopicPartitionList::with_capacity(walks.len());
    for walk in &*walks {
        windows.add_partition_offset(topic.as_str(), walk.partition, Offset::Offset(walk.from))?;
    }
    client.assign(&windows)?;
    while walks.iter().any(|walk| !walk.is_read) {
        if !go_on() {
            return Ok(false);
        }
        match client.poll(POLL) {
            Some(Ok(record)) => {
                if let Some(walk) = walks
                    .iter_mut()
                    .find(|walk| walk.partition == record.partition())
                {
                    walk.saw(record.offset());
                }
            }
            Some(Err(ClientError::PartitionEOF(partition))) => {
                if let Some(walk) = walks.iter_mut().find(|walk| walk.partition == partition) {
                    walk.is_read = true;
                }
            }
            Some(Err(error)) if gives_no_records(&error) => return Err(error),
            Some(Err(_)) | None => {}
        }
    }
    Ok(true)
}

/// Is the way back through one partition: the window `from..to` is read, then the one before it.
#[derive(Debug)]
struct Walk {
    partition: i32,
    low: i64,
    high: i64,
    wanted: i64,
    /// Records at or after `to`.
    found: i64,
    from: i64,
    to: i64,
    /// Records of the window, the last `wanted - found` of them.
    seen: Runs,
    is_read: bool,
}

impl Walk {
    fn new(
        &Extent {
            partition,
            low,
            high,
        }: &Extent,
        wanted: i64,
    ) -> Self {
        let from = low.max(high - wanted.saturating_add(FIRST_MARGIN));
        Self {
            partition,
            low,
            high,
            wanted,
            found: 0,
            from,
            to: high,
            seen: Runs::default(),
            is_read: false,
        }
    }

    /// Tells whether the whole partition holds no more offsets than are wanted.
    fn is_over(&self) -> bool {
        self.high - self.low <= self.wanted
    }

    fn saw(&mut self, offset: i64) {
        if offset < self.to {
            self.seen.push(offset);
            self.seen.keep_last(self.wanted - self.found);
        }
        self.is_read |= offset + 1 >= self.to;
    }

    /// Ends a window: gives the start where it is known, and goes back further where it is not.
    fn close(&mut self) -> Option<i64> {
        if !self.is_read {
            return None;
        }
        let missing = self.wanted - self.found;
        if self.seen.count == missing {
            return self.seen.first();
        }
        if self.from == self.low {
            return Some(self.low);
        }
        self.found += self.seen.count;
        let span = self.high - self.from;
        // As many offsets as would hold the missing records if the rest were like this, at least doubling the way.
        let further = match self.found {
            0 => span.saturating_mul(MAX_GROWTH),
            found => span.saturating_mul(self.wanted - found) / found,
        };
        self.to = self.from;
        self.from = self
            .low
            .max(self.from - further.clamp(span, span.saturating_mul(MAX_GROWTH)));
        self.seen = Runs::default();
        self.is_read = false;
        None
    }

    /// Gives the start as far as it is known: by offsets where nothing has been counted.
    fn guess(&self) -> i64 {
        if self.found > 0 { self.to } else { self.from }
    }
}

/// Is a list of ascending offsets, kept as runs: a million of them without a gap are one.
#[derive(Debug, Default)]
struct Runs {
    /// First offset and length.
    runs: VecDeque<(i64, i64)>,
    count: i64,
}

impl Runs {
    fn push(&mut self, offset: i64) {
        match self.runs.back_mut() {
            Some((first, length)) if *first + *length == offset => *length += 1,
            _ => self.runs.push_back((offset, 1)),
        }
        self.count += 1;
    }

    fn keep_last(&mut self, limit: i64) {
        while self.count > limit {
            let Some((first, length)) = self.runs.front_mut() else {
                return;
            };
            let drop = (*length).min(self.count - limit);
            *first += drop;
            *length -= drop;
            self.count -= drop;
            if *length == 0 {
                self.runs.pop_front();
            }
        }
    }

    fn first(&self) -> Option<i64> {
        self.runs.front().map(|&(first, _)| first)
    }
}

/// A stop is noticed within this time.
const POLL: Duration = Duration::from_millis(50);
/// Offsets that the first window has beyond the wanted records: a few markers then cost no second one.
const FIRST_MARGIN: i64 = 100;
/// The most that a window may be larger than all before it together.
const MAX_GROWTH: i64 = 8;

#[cfg(test)]
mod tests {
    use super::*;

    /// Walks over the records of one partition, and counts the windows.
    fn walk(records: &[i64], low: i64, high: i64, n: i64) -> (i64, usize) {
        let mut walk = Walk::new(
            &Extent {
                partition: 0,
                low,
                high,
            },
            n,
        );
        let mut windows = 0;
        while !walk.is_over() || windows > 0 {
            windows += 1;
            let from = walk.from;
            for &offset in records.iter().filter(|&&offset| offset >= from) {
                if walk.is_read {
                    break;
                }
                walk.saw(offset);
            }
            walk.is_read = true;
            if let Some(start) = walk.close() {
                return (start, windows);
            }
        }
        (walk.low, windows)
    }

    #[test]
    fn records_are_counted_and_not_offsets() {
        let dense: Vec<i64> = (0..1000).collect();
        let compacted = [0, 7, 9];
        let every_tenth: Vec<i64> = (0..10_000).step_by(10).collect();
        for (records, low, high, n, start, windows) in [
            (&dense[..], 0, 1000, 10, 990, 1),
            (&dense, 0, 1000, 1000, 0, 0),
            (&dense, 0, 1000, 5000, 0, 0),
            (&dense, 400, 1000, 600, 400, 0),
            (&[], 5, 5, 10, 5, 0),
            (&[], 0, 500, 10, 0, 2),
            // Offsets 0, 7, 9 of 20: what offset arithmetic finds none of.
            (&compacted, 0, 20, 1, 9, 1),
            (&compacted, 0, 20, 2, 7, 1),
            (&compacted, 0, 20, 3, 0, 1),
            (&compacted, 0, 20, 5, 0, 1),
            (&every_tenth, 0, 10_000, 10, 9900, 1),
            (&every_tenth, 0, 10_000, 100, 9000, 2),
            (&every_tenth, 0, 10_000, 999, 10, 3),
            (&every_tenth, 0, 10_000, 1001, 0, 3),
            // The last 9,990 offsets are markers and aborted records.
            (&dense[..10], 0, 10_000, 3, 7, 4),
        ] {
            let (found, count) = walk(records, low, high, n);
            assert_eq!(found, start, "last {n} of {low}..{high}");
            assert!(
                count <= windows,
                "last {n} of {low}..{high} took {count} windows"
            );
        }
    }

    #[test]
    fn runs_keep_the_last() {
        let mut runs = Runs::default();
        for offset in [1, 2, 3, 10, 11, 20] {
            runs.push(offset);
        }
        for (limit, first, stretches) in [(9, 1, 3), (5, 2, 3), (3, 10, 2), (1, 20, 1)] {
            runs.keep_last(limit);
            assert_eq!(
                (runs.first(), runs.runs.len()),
                (Some(first), stretches),
                "{limit}"
            );
            assert_eq!(runs.count, limit.min(6));
        }
    }
}
