//! SHELL: the clock, which the core is told and never reads.

use std::time::{Instant, SystemTime, UNIX_EPOCH};

use crate::record::Now;

/// Reads both clocks.
pub(crate) fn now() -> Now {
    // A wall clock before 1970 is a wrong one: 0 shows that as well as any number.
    let wall = SystemTime::now()
        .duration_since(UNIX_EPOCH)
        .unwrap_or_default();
    Now {
        monotonic: Instant::now(),
        wall_ms: wall.as_millis() as i64,
    }
}

/// Reads the clocks for records that come one after another.
///
/// A reading costs a tenth of what a record of `json_20fields` does (`make bench-e2e`), so it is good for some records: a few
/// microseconds of them.
#[derive(Debug, Default)]
pub(super) struct RecordClock {
    records: usize,
    bytes: usize,
}

impl RecordClock {
    /// Gives the time of the next record, which has `bytes`; `last` is that of the one before it, which nothing had to be waited
    /// for since.
    pub(super) fn next(&mut self, last: Now, bytes: usize) -> Now {
        self.records += 1;
        self.bytes += bytes;
        if self.records < RECORDS && self.bytes < BYTES {
            return last;
        }
        self.read()
    }

    pub(super) fn read(&mut self) -> Now {
        *self = Self::default();
        now()
    }
}

const RECORDS: usize = 16;
const BYTES: usize = 16 << 10;
