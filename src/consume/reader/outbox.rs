//! Packets on their way to the host.

use std::mem;
use std::time::{Duration, Instant};

use crate::frame::Packet;

/// Collects packets while more records are at hand, and hands them over together.
///
/// A hand-over wakes a thread of the host's side, which costs as much as decoding a packet does (`make bench-e2e`); the twin is to
/// hand over each one.
#[derive(Debug, Default)]
pub(super) struct Outbox {
    packets: Vec<Packet>,
    bytes: usize,
    since: Option<Instant>,
}

impl Outbox {
    pub(super) fn add(&mut self, packet: Packet, now: Instant) {
        self.bytes += packet.json.len();
        self.since.get_or_insert(now);
        self.packets.push(packet);
    }

    /// Tells whether packets should wait no longer, even if more records are at hand.
    #[inline]
    pub(super) fn is_full(&self, now: Instant) -> bool {
        self.since.is_some_and(|since| {
            self.packets.len() >= PACKETS
                || self.bytes >= BYTES
                || now.saturating_duration_since(since) >= AGE
        })
    }

    pub(super) fn is_empty(&self) -> bool {
        self.packets.is_empty()
    }

    pub(super) fn take(&mut self) -> Vec<Packet> {
        self.bytes = 0;
        self.since = None;
        mem::take(&mut self.packets)
    }
}

const PACKETS: usize = 16;
const BYTES: usize = 256 << 10;
const AGE: Duration = Duration::from_millis(1);
