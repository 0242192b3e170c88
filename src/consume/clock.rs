//! SHELL: the clock, which the core is told and never reads.

use std::time::{Instant, SystemTime, UNIX_EPOCH};

use crate::record::Now;

/// Reads both clocks.
pub(super) fn now() -> Now {
    // A wall clock before 1970 is a wrong one: 0 shows that as well as any number.
    let wall = SystemTime::now()
        .duration_since(UNIX_EPOCH)
        .unwrap_or_default();
    Now {
        monotonic: Instant::now(),
        wall_ms: wall.as_millis() as i64,
    }
}
