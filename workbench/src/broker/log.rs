//! The records of one partition.

use std::collections::VecDeque;

use bytes::{Bytes, BytesMut};

use super::batch::{Batch, NotABatch};
use super::store::Retention;

/// Batches in offset order, the oldest dropped when there are too many.
#[derive(Debug, Default)]
pub(super) struct Log {
    batches: VecDeque<Batch>,
    start: i64,
    end: i64,
    bytes: usize,
    records: usize,
}

/// An offset that the log does not hold and never will.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct OutOfRange;

/// An offset found by time, with the record's timestamp.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Found {
    pub(super) offset: i64,
    pub(super) timestamp: i64,
}

impl Log {
    /// The first offset that is kept.
    pub(super) fn start(&self) -> i64 {
        self.start
    }

    /// The offset of the next record: the high watermark.
    pub(super) fn end(&self) -> i64 {
        self.end
    }

    /// Appends all batches of `bytes` and returns the first one's base offset.
    pub(super) fn append(
        &mut self,
        mut bytes: Bytes,
        retention: Retention,
    ) -> Result<i64, NotABatch> {
        let base = self.end;
        let mut batches = Vec::new();
        let mut next = base;
        while !bytes.is_empty() {
            let batch = Batch::take(&mut bytes, next)?;
            next = batch.last_offset + 1;
            batches.push(batch);
        }
        for batch in batches {
            self.bytes += batch.bytes.len();
            self.records += batch.records;
            self.batches.push_back(batch);
        }
        self.end = next;
        self.trim(retention);
        Ok(base)
    }

    /// Reads whole batches from the one that holds `offset` on. At least one where there is any,
    /// even when it is over `max_bytes`.
    pub(super) fn read(&self, offset: i64, max_bytes: usize) -> Result<Bytes, OutOfRange> {
        if offset < self.start || offset > self.end {
            return Err(OutOfRange);
        }
        let first = self
            .batches
            .partition_point(|batch| batch.last_offset < offset);
        let mut size = 0;
        let taken: Vec<&Batch> = self
            .batches
            .range(first..)
            .take_while(|batch| {
                size += batch.bytes.len();
                size <= max_bytes || size == batch.bytes.len()
            })
            .collect();
        if let [one] = taken.as_slice() {
            return Ok(one.bytes.clone());
        }
        let mut bytes = BytesMut::with_capacity(taken.iter().map(|batch| batch.bytes.len()).sum());
        for batch in taken {
            bytes.extend_from_slice(&batch.bytes);
        }
        Ok(bytes.freeze())
    }

    /// Finds the first record whose timestamp is `timestamp` or later.
    pub(super) fn at_or_after(&self, timestamp: i64) -> Option<Found> {
        self.batches
            .iter()
            .filter(|batch| batch.max_timestamp >= timestamp)
            .find_map(|batch| first_in(batch, timestamp))
    }

    /// Finds the record with the latest timestamp, the first one of several.
    pub(super) fn latest_timestamp(&self) -> Option<Found> {
        let latest = self.batches.iter().map(|batch| batch.max_timestamp).max()?;
        self.at_or_after(latest)
    }

    /// Drops whole batches from the old end.
    fn trim(&mut self, retention: Retention) {
        while self.bytes > retention.bytes || self.records > retention.records {
            // The newest batch stays, however large it is.
            if self.batches.len() < 2 {
                return;
            }
            if let Some(batch) = self.batches.pop_front() {
                self.bytes -= batch.bytes.len();
                self.records -= batch.records;
                self.start = batch.last_offset + 1;
            }
        }
    }
}

fn first_in(batch: &Batch, timestamp: i64) -> Option<Found> {
    let records = batch.decode();
    let record = records
        .iter()
        .find(|record| record.timestamp >= timestamp)?;
    Some(Found {
        offset: record.offset,
        timestamp: record.timestamp,
    })
}

#[cfg(test)]
mod tests {
    use kafka_protocol::records::Compression;

    use super::super::batch::tests::encode;
    use super::*;

    const ALL: Retention = Retention {
        bytes: usize::MAX,
        records: usize::MAX,
    };

    fn log(batches: &[&[i64]]) -> Log {
        let mut log = Log::default();
        for timestamps in batches {
            log.append(encode(timestamps, Compression::None), ALL)
                .expect("appended");
        }
        log
    }

    /// The base offsets of the batches in `bytes`.
    fn bases(mut bytes: Bytes) -> Vec<i64> {
        let mut bases = Vec::new();
        while !bytes.is_empty() {
            let base = i64::from_be_bytes(bytes[..8].try_into().expect("8 bytes"));
            Batch::take(&mut bytes, base).expect("a batch");
            bases.push(base);
        }
        bases
    }

    #[test]
    fn reads() {
        let log = log(&[&[1, 2], &[3], &[4, 5, 6]]);
        assert_eq!((log.start(), log.end()), (0, 6));
        let one = log.read(2, 1).expect("a batch").len();
        for (offset, max_bytes, expected) in [
            (0, usize::MAX, Some(&[0, 2, 3][..])),
            (1, usize::MAX, Some(&[0, 2, 3])),
            (2, usize::MAX, Some(&[2, 3])),
            (5, usize::MAX, Some(&[3])),
            (6, usize::MAX, Some(&[])),
            (7, usize::MAX, None),
            (-1, usize::MAX, None),
            (2, 1, Some(&[2])),
            (2, one, Some(&[2])),
        ] {
            let got = log.read(offset, max_bytes).ok().map(bases);
            assert_eq!(got.as_deref(), expected, "{offset} {max_bytes}");
        }
    }

    #[test]
    fn times() {
        let log = log(&[&[10, 30, 20], &[15, 25], &[30]]);
        for (timestamp, expected) in [
            (0, Some((0, 10))),
            (11, Some((1, 30))),
            (30, Some((1, 30))),
            (31, None),
        ] {
            let found = log
                .at_or_after(timestamp)
                .map(|found| (found.offset, found.timestamp));
            assert_eq!(found, expected, "{timestamp}");
        }
        assert_eq!(
            log.latest_timestamp(),
            Some(Found {
                offset: 1,
                timestamp: 30
            })
        );
        assert_eq!(Log::default().latest_timestamp(), None);
    }

    #[test]
    fn retention() {
        let size = encode(&[1, 2], Compression::None).len();
        for (retention, start) in [
            (ALL, 0),
            (
                Retention {
                    bytes: 3 * size,
                    records: usize::MAX,
                },
                4,
            ),
            (
                Retention {
                    bytes: usize::MAX,
                    records: 5,
                },
                6,
            ),
            (
                Retention {
                    bytes: 1,
                    records: 1,
                },
                8,
            ),
        ] {
            let mut log = Log::default();
            for _ in 0..5 {
                log.append(encode(&[1, 2], Compression::None), retention)
                    .expect("appended");
            }
            assert_eq!((log.start(), log.end()), (start, 10), "{retention:?}");
            assert_eq!(log.read(log.start(), 1).map(bases), Ok(vec![start]));
            assert_eq!(log.read(log.start() - 1, 1), Err(OutOfRange));
        }
    }

    #[test]
    fn a_bad_batch_appends_nothing() {
        let mut log = Log::default();
        let good = encode(&[1], Compression::None);
        let bytes = [good.clone(), good.slice(..30)].concat().into();
        assert_eq!(log.append(bytes, ALL), Err(NotABatch));
        assert_eq!((log.start(), log.end()), (0, 0));
    }
}
