//! What all live channels of a data source may send together, and whose turn it is.
//!
//! Grafana gives no back-pressure, so a data source has so many bytes a tenth of a second. Channels that want more than that
//! take turns by what they have had and want (fair queueing by virtual time, which counts bytes): a channel that sends little
//! is first, those that send much get equal shares.

use std::sync::{Arc, Mutex, PoisonError};
use std::time::Instant;

use super::SLOT;

/// Is what all live channels of a data source together may send in one slot of a tenth of a second.
///
/// It is behind a lock, in the core: the channels' threads meet here once a packet, ten times a second each, and the queue
/// must be one.
#[derive(Debug)]
pub struct SlotBudget {
    bytes: usize,
    slots: Mutex<Slots>,
}

#[derive(Debug, Default)]
struct Slots {
    /// When the first slot began.
    start: Option<Instant>,
    /// Which slot it is now, and the bytes taken in it.
    number: u64,
    taken: usize,
    /// How far virtual time has come: where a channel begins that had nothing to send.
    reached: u64,
    waiting: Vec<Waiting>,
    channels: u64,
}

/// Is a channel whose packet did not fit.
#[derive(Debug)]
struct Waiting {
    channel: u64,
    /// Where its packet begins, in virtual time.
    begin: u64,
    bytes: usize,
    /// The slot in which it asked last. One that does not come back has nothing to send any more.
    asked: u64,
}

impl Waiting {
    /// Orders those that wait: by where their packets end.
    fn turn(&self) -> (u64, u64) {
        (self.begin.saturating_add(self.bytes as u64), self.channel)
    }
}

impl SlotBudget {
    /// Allows `bytes` a slot.
    pub fn new(bytes: usize) -> Self {
        Self {
            bytes,
            slots: Mutex::default(),
        }
    }
}

/// Is one channel's part in a budget.
#[derive(Debug)]
pub(super) struct Share {
    budget: Arc<SlotBudget>,
    channel: u64,
    /// Where its last packet ends, in virtual time.
    end: u64,
}

impl Share {
    pub(super) fn new(budget: Arc<SlotBudget>) -> Self {
        let channel = {
            let mut slots = budget.slots.lock().unwrap_or_else(PoisonError::into_inner);
            slots.channels += 1;
            slots.channels
        };
        Self {
            budget,
            channel,
            end: 0,
        }
    }

    /// Takes `bytes` of the slot at `now`, and otherwise tells when the next slot begins; the channel then waits in the queue,
    /// and what it wants is kept for it. What is larger than a slot gets one for itself.
    pub(super) fn take(&mut self, bytes: usize, now: Instant) -> Result<(), Instant> {
        let Self {
            budget,
            channel,
            end,
        } = self;
        let mut slots = budget.slots.lock().unwrap_or_else(PoisonError::into_inner);
        let next_slot = slots.advance(now);
        let known = slots
            .waiting
            .iter()
            .position(|other| other.channel == *channel);
        let mine = Waiting {
            channel: *channel,
            begin: match known {
                Some(at) => slots.waiting.remove(at).begin,
                None => slots.reached.max(*end),
            },
            bytes,
            asked: slots.number,
        };
        let others = slots.waiting.iter();
        let ahead: usize = others
            .filter(|other| other.turn() < mine.turn())
            .map(|other| other.bytes)
            .sum();
        let before = slots.taken.saturating_add(ahead);
        if before > 0 && before.saturating_add(bytes) > budget.bytes {
            slots.waiting.push(mine);
            return Err(next_slot);
        }
        slots.taken = slots.taken.saturating_add(bytes);
        slots.reached = slots.reached.max(mine.begin);
        *end = mine.begin.saturating_add(bytes as u64);
        Ok(())
    }
}

impl Slots {
    /// Begins the slot that `now` is in, and tells when the next one begins.
    fn advance(&mut self, now: Instant) -> Instant {
        let start = *self.start.get_or_insert(now);
        let elapsed = now.saturating_duration_since(start).as_millis();
        let number = (elapsed / SLOT.as_millis()) as u64;
        // Another thread may have read the clock a moment later and come first.
        if number > self.number {
            self.number = number;
            self.taken = 0;
            self.waiting.retain(|other| other.asked + 1 >= number);
        }
        start + SLOT * (number as u32).saturating_add(1)
    }
}

#[cfg(test)]
mod tests;
