//! When rows become a packet: 32 rows, 128 KiB or 5 ms, and behind that the budget of what a browser can take.

mod slot;

use std::sync::Arc;
use std::time::{Duration, Instant};

use self::slot::Share;
pub use self::slot::SlotBudget;

/// Says when a batch is worth a packet.
#[derive(Debug, Clone, Copy)]
pub struct FlushPolicy {
    pub rows: usize,
    pub age: Duration,
}

impl FlushPolicy {
    /// 32 rows or 5 ms, whichever comes first; a full packet leaves in any case.
    pub const MICRO_BATCH: Self = Self {
        rows: 32,
        age: Duration::from_millis(5),
    };
    /// One packet a record.
    pub const EACH_RECORD: Self = Self {
        rows: 1,
        age: Duration::ZERO,
    };
}

/// The most rows of one packet, but for those of one record.
pub const MAX_PACKET_ROWS: usize = 1_000;
/// The most bytes of one packet, but for the rows of one record.
pub const MAX_PACKET_BYTES: usize = 128 * 1024;
/// What the rows of one record may take; one that is larger is an error row.
pub const MAX_RECORD_BYTES: usize = 512 * 1024;
/// The time between two packets of a channel, once its burst is spent.
const SLOT: Duration = Duration::from_millis(100);
/// How many packets a quiet channel may send at once.
const BURST: u32 = 2;

/// Holds a channel to its budget.
#[derive(Debug)]
pub struct Pacer {
    share: Option<Share>,
    /// When the next packet may leave at a steady pace; it may lag behind now by the burst.
    next: Option<Instant>,
    /// Until when the budget is known to be spent.
    blocked: Option<Instant>,
}

impl Pacer {
    /// Holds to 10 packets a second, and to a share of `budget`.
    pub fn new(budget: Arc<SlotBudget>) -> Self {
        Self {
            share: Some(Share::new(budget)),
            next: None,
            blocked: None,
        }
    }

    /// Lets every packet leave at once.
    pub fn off() -> Self {
        Self {
            share: None,
            next: None,
            blocked: None,
        }
    }

    /// Takes the budget of one packet of about `bytes`, if there is some at `now`.
    fn take(&mut self, bytes: usize, now: Instant) -> bool {
        let Some(share) = &mut self.share else {
            return true;
        };
        let earliest = self.next.unwrap_or(now);
        if earliest > now {
            self.blocked = Some(earliest);
            return false;
        }
        if let Err(next_slot) = share.take(bytes, now) {
            self.blocked = Some(next_slot);
            return false;
        }
        let floor = now.checked_sub(SLOT * (BURST - 1)).unwrap_or(now);
        self.next = Some(earliest.max(floor) + SLOT);
        self.blocked = None;
        true
    }
}

/// Decides when the rows at hand become a packet.
#[derive(Debug)]
pub struct Batch {
    policy: FlushPolicy,
    pacer: Pacer,
    /// When the first waiting row, or notice, came.
    since: Option<Instant>,
}

impl Batch {
    /// Makes an empty batch.
    pub fn new(policy: FlushPolicy, pacer: Pacer) -> Self {
        Self {
            policy,
            pacer,
            since: None,
        }
    }

    /// Tells whether a channel's budget holds it back.
    pub fn is_paced(&self) -> bool {
        self.pacer.share.is_some()
    }

    /// Notes that something waits.
    pub fn touch(&mut self, now: Instant) {
        self.since.get_or_insert(now);
    }

    /// Tells whether more rows may be added, or whether the reader must wait for the channel.
    pub fn has_room(&self, rows: usize, bytes: usize) -> bool {
        rows < MAX_PACKET_ROWS && bytes < MAX_PACKET_BYTES
    }

    /// Tells whether what waits is to leave now, and takes its budget if so: `bytes` of rows, and `fixed` bytes beside them.
    pub fn leave(&mut self, rows: usize, bytes: usize, fixed: usize, now: Instant) -> bool {
        let Some(since) = self.since else {
            return false;
        };
        let due = rows >= self.policy.rows
            || bytes >= MAX_PACKET_BYTES
            || now.saturating_duration_since(since) >= self.policy.age;
        if !due || !self.pacer.take(bytes + fixed, now) {
            return false;
        }
        self.since = None;
        true
    }

    /// Tells when to ask again; `None` where nothing waits.
    pub fn next_flush(&self) -> Option<Instant> {
        let due = self.since? + self.policy.age;
        Some(self.pacer.blocked.map_or(due, |blocked| blocked.max(due)))
    }

    /// Forgets what waits.
    pub fn clear(&mut self) {
        self.since = None;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_batch_leaves_by_rows_bytes_or_age() {
        let start = Instant::now();
        for (rows, bytes, age, want) in [
            (1, 10, 0, false),
            (31, 10, 4, false),
            (32, 10, 0, true),
            (1, MAX_PACKET_BYTES, 0, true),
            (1, 10, 5, true),
            (0, 0, 5, true),
        ] {
            let mut batch = Batch::new(FlushPolicy::MICRO_BATCH, Pacer::off());
            batch.touch(start);
            assert_eq!(
                batch.leave(rows, bytes, 100, start + Duration::from_millis(age)),
                want,
                "{rows} rows, {bytes} bytes, {age} ms"
            );
        }
    }

    #[test]
    fn ten_packets_a_second_with_a_burst_of_two() {
        let start = Instant::now();
        let mut pacer = Pacer::new(Arc::new(SlotBudget::new(1 << 20)));
        let sent: Vec<u64> = (0..1000)
            .step_by(10)
            .filter(|&ms| {
                pacer.take(
                    100,
                    start + Duration::from_secs(5) + Duration::from_millis(ms),
                )
            })
            .collect();
        assert_eq!(sent, [0, 100, 200, 300, 400, 500, 600, 700, 800, 900]);
        // After a pause two leave together.
        let later = start + Duration::from_secs(20);
        assert!(pacer.take(100, later) && pacer.take(100, later) && !pacer.take(100, later));
        assert_eq!(pacer.blocked, Some(later + SLOT));
    }
}
