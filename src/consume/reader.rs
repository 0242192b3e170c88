//! SHELL: reads one topic for one stream, on a thread of its own, and hands finished packets to the stream's channel.
//!
//! The thread owns its client: it polls, asks and assigns, and nobody else does. A full channel or a spent budget makes it
//! stop taking records, and librdkafka then stops fetching at its queue's limit: memory stays bounded and nothing is lost. It
//! ends only when the channel's other side is dropped. Whatever goes wrong with Kafka is said in the stream, once, and tried
//! again.
//!
//! `packets` is the channel to the host. `worker` turns records into packets, and `crew` does so on more threads where no budget holds the stream back. `watch` looks
//! after the topic and the brokers, `fetched` knows whose records come, `trouble` keeps a fault from being said twice, `pace`
//! finds out whether the channel can keep up, and `words` says it all.

mod crew;
mod fetched;
mod outbox;
mod pace;
mod packets;
mod trouble;
mod watch;
mod words;
mod worker;

use std::io;
use std::mem;
use std::sync::Arc;
use std::thread::{self, Scope};
use std::time::{Duration, Instant};

use rdkafka::error::KafkaResult;
use rdkafka::message::{BorrowedMessage, Message};
use tracing::info;

use super::clients::ClientMaker;
use super::clock::{RecordClock, now};
use super::errors::KafkaError;
use super::look::{Looking, Subject};
use super::schemas::{ANSWER_POLL, SchemaClient};
use super::start::{Progress, Reason};
use crate::config::StreamSpec;
use crate::drill;
use crate::pipeline::{ErrorAt, Pipeline};
use crate::record::Now;

use crew::{Crew, Job};
use fetched::Fetched;
use pace::Pace;
pub use packets::{Packets, Panicked};
use packets::{Sender, channel, guarded};
use trouble::{Failures, Kind, Troubles};
use worker::{Fate, Worker};

/// Is one stream's reader, not yet started.
pub struct Reader {
    pub clients: ClientMaker,
    pub spec: Arc<StreamSpec>,
    pub pipeline: Pipeline,
    pub schemas: SchemaClient,
    /// How often the topic is looked at: for partitions that were added, and whether it is still the same topic.
    pub metadata_interval: Duration,
}

impl Reader {
    /// Starts the thread. Kafka is first asked there: nothing here waits.
    pub fn start(self) -> io::Result<Packets> {
        let (sender, receiver) = channel();
        let work = move || {
            guarded(&sender, || self.read(&sender));
        };
        let thread = thread::Builder::new()
            .name("kafka-reader".to_owned())
            .spawn(work)?;
        Ok(Packets::new(receiver, thread.thread().clone()))
    }

    fn read(self, packets: &Sender) {
        let Self {
            clients,
            spec,
            mut pipeline,
            schemas,
            metadata_interval,
        } = self;
        let subject = Subject::from(&*spec);
        let mut standing = Standing::default();
        info!(topic = spec.topic.as_str(), "stream starts");
        loop {
            let mut client = match clients.make() {
                Ok(client) => client,
                Err(error) if error.is_connection() => {
                    if packets.is_closed() {
                        break;
                    }
                    standing.say_unreachable(&error, &mut pipeline);
                    send_rows(&mut pipeline, packets);
                    thread::park_timeout(MAX_WAIT);
                    continue;
                }
                Err(error) => {
                    pipeline.push_error(ErrorAt::default(), &words::no_client(&error), now());
                    hold(&mut pipeline, packets);
                    break;
                }
            };
            let reader = thread::current();
            client.wake_by(move || reader.unpark());
            let job = Job {
                client: &client,
                spec: &spec,
                schemas: &schemas,
                packets,
            };
            let end = thread::scope(|scope| {
                let run = Run {
                    scope,
                    job,
                    worker: job.worker(&mut pipeline),
                    crew: None,
                    subject: &subject,
                    clients: &clients,
                    metadata_interval,
                    clock: RecordClock::default(),
                    progress: standing.progress.take(),
                    fetched: Fetched::default(),
                    looking: None,
                    next_look: Instant::now(),
                    looked_at: Instant::now(),
                    taken_at: Instant::now(),
                    failures: Failures::default(),
                    troubles: mem::take(&mut standing.troubles),
                    pace: Pace::default(),
                    reason: Reason::Routine,
                    is_assigned: false,
                    is_probing: false,
                    is_drained: false,
                };
                run.read()
            });
            match end {
                End::Cancelled => break,
                End::Anew(left) => {
                    // Rows of an old topic must not travel under the new one's id: its offsets begin anew.
                    send_rows(&mut pipeline, packets);
                    standing = left;
                }
            }
        }
        info!(topic = spec.topic.as_str(), "stream ends");
    }
}

/// Is what one client leaves to the next.
#[derive(Default)]
struct Standing {
    progress: Option<Progress>,
    troubles: Troubles,
}

impl Standing {
    /// Says, once, why there is no client now.
    fn say_unreachable(&mut self, error: &KafkaError, pipeline: &mut Pipeline) {
        let time = now();
        if self.troubles.raise(Kind::from(error), time.monotonic) {
            let text = words::cannot_read(error, self.progress.is_some());
            pipeline.push_error(ErrorAt::default(), &text, time);
        }
    }
}

/// Is a reader at work with one client.
struct Run<'s, 'c> {
    scope: &'s Scope<'s, 'c>,
    job: Job<'c>,
    /// Says what is to be said, and decodes what no crew does.
    worker: Worker<'c, 's>,
    /// Lives from one assignment to the next.
    crew: Option<Crew<'s, 'c>>,
    subject: &'c Subject,
    clients: &'c ClientMaker,
    metadata_interval: Duration,
    clock: RecordClock,
    /// `None` until the first look: nobody knows where the reader begins.
    progress: Option<Progress>,
    fetched: Fetched,
    looking: Option<Looking<'c>>,
    next_look: Instant,
    looked_at: Instant,
    taken_at: Instant,
    failures: Failures,
    troubles: Troubles,
    pace: Pace,
    /// Why the next look is taken.
    reason: Reason,
    is_assigned: bool,
    /// Partitions were assigned again, to see whether the right to read is back.
    is_probing: bool,
    /// The last poll brought nothing: every record that was fetched has been taken.
    is_drained: bool,
}

/// Says why a run with one client ended.
enum End {
    /// Nobody takes packets any more.
    Cancelled,
    /// A new client goes on here, since the log-in was refused, or the topic is another one: it counts leader epochs anew,
    /// which a client that knew the old one's takes for stale answers.
    Anew(Standing),
}

impl<'s, 'c: 's> Run<'s, 'c> {
    fn read(mut self) -> End {
        let mut time = now();
        loop {
            if self.is_cancelled() {
                return End::Cancelled;
            }
            if let Some(end) = self.watch(time) {
                return if self.worker.send() {
                    end
                } else {
                    End::Cancelled
                };
            }
            time = self.take(time);
            let is_idle = self.is_drained || !self.worker.pipeline.has_room();
            if !self.worker.deliver(time) || (is_idle && !self.worker.send()) {
                return End::Cancelled;
            }
        }
    }

    fn is_cancelled(&self) -> bool {
        self.job.packets.is_closed() || self.crew.as_ref().is_some_and(Crew::has_ended)
    }

    /// Takes one record where there is one and room for it; otherwise waits until there is something to do.
    fn take(&mut self, time: Now) -> Now {
        if !self.worker.pipeline.has_room() {
            self.pace.full(time.monotonic);
            thread::park_timeout(self.idle_time(time.monotonic).max(MIN_NAP));
            return now();
        }
        if !self.fetched.is_other() && !self.worker.waiting.is_empty() {
            let time = self.clock.read();
            if let Some(fate) = self.worker.resumed(time) {
                self.took(fate, time);
                return time;
            }
        }
        let waits = self.is_drained;
        let wait = if waits {
            self.idle_time(time.monotonic)
        } else {
            Duration::ZERO
        };
        let polled = self.poll(wait);
        let time = match &polled {
            Some(Ok(record)) if !waits => self.clock.next(time, record.payload_len()),
            _ => self.clock.read(),
        };
        self.is_drained = polled.is_none();
        let client = self.job.client;
        if let Some(id) = client.faults().new_topic_id() {
            let read = self.progress.as_ref().and_then(Progress::topic_id);
            self.fetched.learn(id, read);
            if self.fetched.is_other() {
                self.doubt(time);
            }
        }
        match polled {
            // Offsets of one topic are nothing in the other: who it is has to be known first.
            Some(Ok(_)) if self.fetched.is_other() => self.doubt(time),
            Some(Ok(record)) => self.arrived(record, time),
            Some(Err(error)) => self.fault(&error, time),
            None => self.drained(),
        }
        time
    }

    /// Gives what is there to poll, or what comes within `wait`, if anybody takes packets until then; `None` says that nothing is
    /// there.
    ///
    /// Callbacks do not end the wait: of the faults of a broker that went the first one says less than those that follow at
    /// once. And a poll that ran one may have left records behind it, of whose coming nobody is told again.
    fn poll(&self, wait: Duration) -> Option<KafkaResult<BorrowedMessage<'c>>> {
        let client = self.job.client;
        let mut until = None;
        loop {
            let callbacks = client.faults().callbacks();
            if let polled @ Some(_) = client.poll(Duration::ZERO) {
                return polled;
            }
            if client.faults().callbacks() != callbacks {
                continue;
            }
            if wait.is_zero() || self.job.packets.is_closed() {
                return None;
            }
            let now = Instant::now();
            let until = *until.get_or_insert(now + wait);
            if now >= until {
                return None;
            }
            thread::park_timeout(until - now);
        }
    }

    fn arrived(&mut self, message: BorrowedMessage<'c>, time: Now) {
        drill::at("reader");
        let fate = match &mut self.crew {
            Some(crew) => {
                let (partition, offset) = (message.partition(), message.offset());
                crew.give(message);
                Fate::Taken { partition, offset }
            }
            None => self.worker.arrived(&message, time),
        };
        self.took(fate, time);
    }

    fn took(&mut self, fate: Fate, time: Now) {
        self.taken_at = time.monotonic;
        if let (Fate::Taken { partition, offset }, Some(progress)) = (fate, &mut self.progress) {
            progress.took(partition, offset);
        }
        if !self.troubles.is_empty() {
            self.gets_records(time);
        }
    }

    /// Notes that there is nothing to poll.
    fn drained(&mut self) {
        if let Some(crew) = &mut self.crew {
            crew.flush();
        }
        if self.worker.waiting.is_empty() && self.pace.drained() {
            self.worker.pipeline.notify(words::caught_up());
        }
    }

    /// Gives the time until something is due.
    fn idle_time(&self, now: Instant) -> Duration {
        let look = match &self.looking {
            // Nothing else to do: the look itself waits for its answer.
            Some(_) if !self.is_assigned => now,
            Some(_) => now + LOOK_POLL.max(now.duration_since(self.looked_at)),
            None => self.next_look,
        };
        let mut due = look;
        if let Some(flush) = self.worker.pipeline.next_flush() {
            due = due.min(flush);
        }
        if !self.worker.waiting.is_empty() {
            due = due.min(now + ANSWER_POLL);
        }
        due.saturating_duration_since(now).min(MAX_WAIT)
    }
}

/// Sends the rows that wait, as soon as the channel's budget lets them go.
fn send_rows(pipeline: &mut Pipeline, packets: &Sender) {
    while pipeline.pending_rows() > 0 && !packets.is_closed() {
        match pipeline.poll_packet(now()) {
            Some(packet) => {
                if packets.blocking_send(Ok(vec![packet])).is_err() {
                    return;
                }
            }
            None => thread::sleep(MIN_NAP),
        }
    }
}

/// Sends what the pipeline has, and waits until nobody wants more: what is wrong can only be mended by new settings, which
/// start the stream anew.
fn hold(pipeline: &mut Pipeline, packets: &Sender) {
    send_rows(pipeline, packets);
    while !packets.is_closed() {
        thread::park_timeout(MAX_WAIT);
    }
}

/// The longest wait: records, and a viewer who leaves, end it before. Looking ten times as often costs more than all the rest of a
/// quiet stream (`make bench-e2e WHAT=idle`).
const MAX_WAIT: Duration = Duration::from_secs(1);
/// The shortest wait for room.
const MIN_NAP: Duration = Duration::from_millis(1);
/// How soon a look that is on its way is asked for its answer; later ever less often, since a leader that has nothing to send
/// answers only behind a fetch that waits for records.
const LOOK_POLL: Duration = Duration::from_millis(10);
