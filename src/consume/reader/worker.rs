//! Turns records into packets and hands them over: the part of a reader that each of its threads has.

use rdkafka::message::BorrowedMessage;

use super::outbox::Outbox;
use super::packets::Sender;
use crate::config::StreamSpec;
use crate::consume::message::{headers_read, record};
use crate::consume::schemas::Waiting;
use crate::pipeline::{Pipeline, Step};
use crate::record::{Now, Record};

/// Is a pipeline between Kafka's records and the host's channel.
pub(super) struct Worker<'c, 'p> {
    pub(super) spec: &'c StreamSpec,
    pub(super) pipeline: &'p mut Pipeline,
    /// Records whose schemas are asked for.
    pub(super) waiting: Waiting<'c>,
    pub(super) packets: &'c Sender,
    pub(super) outbox: Outbox,
}

/// Says what became of a record.
#[derive(Debug, Clone, Copy)]
pub(super) enum Fate {
    /// It need not be read again.
    Taken { partition: i32, offset: i64 },
    /// It waits for a schema, or behind one that does.
    Waits,
}

impl Worker<'_, '_> {
    /// Takes a record that came.
    pub(super) fn arrived(&mut self, message: &BorrowedMessage<'_>, time: Now) -> Fate {
        let headers = headers_read(self.spec, message);
        let record = record(self.spec, message, &headers);
        if self.waiting.holds(record.partition) {
            self.waiting.queue(&record);
            return Fate::Waits;
        }
        self.push(&record, time)
    }

    /// Takes the next record that waits no more, if there is one.
    pub(super) fn resumed(&mut self, time: Now) -> Option<Fate> {
        self.waiting.answered(self.pipeline);
        let kept = self.waiting.next()?;
        Some(kept.with(&self.spec.topic, |record| self.push(record, time)))
    }

    fn push(&mut self, record: &Record<'_>, time: Now) -> Fate {
        if let Step::NeedSchema(need) = self.pipeline.push(record, time) {
            self.waiting.hold(record, need);
            return Fate::Waits;
        }
        Fate::Taken {
            partition: record.partition,
            offset: record.offset,
        }
    }

    /// Collects the packets that are due.
    pub(super) fn collect(&mut self, time: Now) {
        while let Some(packet) = self.pipeline.poll_packet(time) {
            self.outbox.add(packet, time.monotonic);
        }
    }

    /// Collects the packets that are due, and hands them over once they are worth it; tells whether anybody takes them.
    pub(super) fn deliver(&mut self, time: Now) -> bool {
        self.collect(time);
        !self.outbox.is_full(time.monotonic) || self.send()
    }

    /// Hands over the packets that are ready; tells whether anybody takes them.
    pub(super) fn send(&mut self) -> bool {
        self.outbox.is_empty() || self.packets.blocking_send(Ok(self.outbox.take())).is_ok()
    }
}
