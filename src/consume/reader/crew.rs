//! Decodes the partitions of one stream on several threads, where no budget holds the stream back.
//!
//! The reader polls and hands each record to the thread of its partition, so the order in a partition is kept; each thread has
//! columns and packets of its own over the stream's one schema, and hands its packets to the host itself. `make bench-e2e` has
//! one partition, which takes the reader's own thread alone, beside several.

use std::mem;
use std::sync::mpsc::{Receiver, RecvTimeoutError, SyncSender, TryRecvError, sync_channel};
use std::thread::{self, Scope, ScopedJoinHandle};
use std::time::{Duration, Instant};

use rdkafka::message::{BorrowedMessage, Message};
use tracing::debug;

use super::outbox::Outbox;
use super::packets::{Sender, guarded};
use super::worker::Worker;
use crate::config::StreamSpec;
use crate::consume::clients::Client;
use crate::consume::clock::{RecordClock, now};
use crate::consume::schemas::{ANSWER_POLL, SchemaClient, Waiting};
use crate::consume::start::Progress;
use crate::drill;
use crate::pipeline::Pipeline;

/// Is what all threads of a crew share.
#[derive(Clone, Copy)]
pub(super) struct Job<'c> {
    pub(super) client: &'c Client,
    pub(super) spec: &'c StreamSpec,
    pub(super) schemas: &'c SchemaClient,
    pub(super) packets: &'c Sender,
}

/// Is the threads that decode; dropping it lets them end.
pub(super) struct Crew<'s, 'c> {
    members: Vec<Member<'s, 'c>>,
    /// One of them ended: nobody takes packets any more.
    has_ended: bool,
}

struct Member<'s, 'c> {
    group: Group<'c>,
    bytes: usize,
    groups: SyncSender<Group<'c>>,
    thread: ScopedJoinHandle<'s, Vec<(i32, i64)>>,
}

/// Is records that are handed over together: waking a thread costs as much as decoding some of them.
type Group<'c> = Vec<BorrowedMessage<'c>>;

impl<'s, 'c: 's> Crew<'s, 'c> {
    /// Starts the threads for `partitions`; `None` where one is enough.
    pub(super) fn start(
        scope: &'s Scope<'s, 'c>,
        job: Job<'c>,
        pipeline: &Pipeline,
        partitions: usize,
    ) -> Option<Self> {
        let processors = thread::available_parallelism().map_or(1, usize::from);
        let count = pipeline.workers(partitions, processors);
        if count < 2 {
            return None;
        }
        let mut members = Vec::with_capacity(count);
        for _ in 0..count {
            let pipeline = pipeline.sibling();
            let (groups, received) = sync_channel(GROUPS_WAITING);
            let thread = thread::Builder::new()
                .name("kafka-decoder".to_owned())
                .spawn_scoped(scope, move || job.run(pipeline, &received));
            match thread {
                Ok(thread) => members.push(Member {
                    group: Vec::new(),
                    bytes: 0,
                    groups,
                    thread,
                }),
                Err(error) => debug!(%error, "no thread for a stream's partitions"),
            }
        }
        (!members.is_empty()).then_some(Self {
            members,
            has_ended: false,
        })
    }

    /// Gives a record to the thread of its partition; waits where that is busy.
    pub(super) fn give(&mut self, message: BorrowedMessage<'c>) {
        let at = message.partition() as usize % self.members.len();
        let member = &mut self.members[at];
        member.bytes += message.payload_len();
        member.group.push(message);
        if member.group.len() >= GROUP_RECORDS || member.bytes >= GROUP_BYTES {
            self.has_ended |= !member.send();
        }
    }

    /// Hands over every record that was given.
    pub(super) fn flush(&mut self) {
        for member in &mut self.members {
            self.has_ended |= !member.group.is_empty() && !member.send();
        }
    }

    /// Tells whether a thread ended by itself.
    pub(super) fn has_ended(&self) -> bool {
        self.has_ended
    }

    /// Waits until every record that was given is decoded, and its packets are handed over. Records that wait for a schema are
    /// dropped, and `progress` goes on with them.
    pub(super) fn finish(mut self, progress: &mut Progress) {
        self.flush();
        // Before any is waited for, all are told that nothing more comes.
        let threads: Vec<_> = self
            .members
            .into_iter()
            .map(|member| member.thread)
            .collect();
        // One that panicked has said so, which ends the stream.
        let left = threads.into_iter().filter_map(|thread| thread.join().ok());
        for (partition, offset) in left.flatten() {
            progress.put_back(partition, offset);
        }
    }
}

impl Member<'_, '_> {
    /// Hands over the group; tells whether the thread takes it.
    fn send(&mut self) -> bool {
        self.bytes = 0;
        self.groups.send(mem::take(&mut self.group)).is_ok()
    }
}

impl<'c> Job<'c> {
    /// Makes the worker that fills `pipeline`.
    pub(super) fn worker<'p>(self, pipeline: &'p mut Pipeline) -> Worker<'c, 'p> {
        Worker {
            spec: self.spec,
            pipeline,
            waiting: Waiting::new(self.client, &self.spec.topic, self.schemas),
            packets: self.packets,
            outbox: Outbox::default(),
        }
    }

    fn run(self, mut pipeline: Pipeline, groups: &Receiver<Group<'_>>) -> Vec<(i32, i64)> {
        guarded(self.packets, || self.work(&mut pipeline, groups)).unwrap_or_default()
    }

    /// Decodes the records of `groups` until there will be none, or nobody takes packets.
    fn work(self, pipeline: &mut Pipeline, groups: &Receiver<Group<'_>>) -> Vec<(i32, i64)> {
        let mut clock = RecordClock::default();
        let mut worker = self.worker(pipeline);
        let mut time = now();
        let mut is_drained = true;
        loop {
            let received = if is_drained {
                if !worker.send() {
                    return Vec::new();
                }
                worker.wait(groups, time.monotonic)
            } else {
                groups.try_recv().map_err(|error| match error {
                    TryRecvError::Empty => RecvTimeoutError::Timeout,
                    TryRecvError::Disconnected => RecvTimeoutError::Disconnected,
                })
            };
            time = clock.read();
            is_drained = match received {
                Ok(group) => {
                    for message in group {
                        drill::at("decoder");
                        time = clock.next(time, message.payload_len());
                        worker.arrived(&message, time);
                        if !worker.deliver(time) {
                            return Vec::new();
                        }
                    }
                    false
                }
                Err(RecvTimeoutError::Timeout) => true,
                Err(RecvTimeoutError::Disconnected) => break,
            };
            while worker.resumed(clock.read()).is_some() {
                if !worker.deliver(clock.read()) {
                    return Vec::new();
                }
            }
            worker.collect(time);
        }
        worker.finish()
    }
}

impl Worker<'_, '_> {
    /// Waits for the next group, or until something else is due.
    fn wait<'g>(
        &self,
        groups: &Receiver<Group<'g>>,
        now: Instant,
    ) -> Result<Group<'g>, RecvTimeoutError> {
        let answer = (!self.waiting.is_empty()).then(|| now + ANSWER_POLL);
        let due = self.pipeline.next_flush().into_iter().chain(answer).min();
        match due {
            Some(due) => groups.recv_timeout(due.saturating_duration_since(now)),
            None => groups.recv().map_err(|_| RecvTimeoutError::Disconnected),
        }
    }

    /// Hands over what is decoded; returns where partitions go on whose records still wait.
    fn finish(mut self) -> Vec<(i32, i64)> {
        loop {
            // Whatever waits is due by then.
            let mut time = now();
            time.monotonic += Duration::from_secs(1);
            self.collect(time);
            if self.pipeline.pending_rows() == 0 {
                break;
            }
        }
        self.send();
        let left = self.waiting.first();
        self.waiting.clear();
        left
    }
}

const GROUP_RECORDS: usize = 256;
const GROUP_BYTES: usize = 128 << 10;
/// Groups that wait for a thread, behind the one that it decodes and before the one that is collected for it.
const GROUPS_WAITING: usize = 1;
