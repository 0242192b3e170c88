//! SHELL: reads a bounded stretch of a topic, for one answer.

use std::time::{Duration, Instant};

use rdkafka::consumer::Consumer;
use rdkafka::error::{KafkaError as ClientError, KafkaResult};
use rdkafka::message::{BorrowedMessage, Message};
use rdkafka::topic_partition_list::{Offset, TopicPartitionList};

use super::clients::Client;
use super::clock::now;
use super::errors::{KafkaError, gives_no_records};
use super::last::count_back;
use super::look::{Subject, explain, explain_read, look};
use super::message::{headers_read, record};
use super::schemas::{ANSWER_POLL, SchemaClient, Waiting};
use super::start::{Begin, Change, Look, Progress};
use crate::config::{Cursor, StartPosition, StreamSpec};
use crate::pipeline::{Pipeline, Step};
use crate::record::Record;

/// Says how much one answer may take.
#[derive(Clone, Copy)]
pub struct Limits<'a> {
    pub rows: usize,
    /// Bytes of keys and values.
    pub bytes: usize,
    /// How long records are counted and read.
    pub time: Duration,
    /// How long Kafka may take to say what there is.
    pub look: Duration,
    /// Tells whether anybody still waits for the answer.
    pub is_wanted: &'a dyn Fn() -> bool,
}

/// Says why a scan stopped.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Stop {
    /// At the end of what was there when it began.
    End,
    Rows,
    Bytes,
    Time,
}

/// Is what a scan did; the rows are in the pipeline.
#[derive(Debug)]
pub struct Scanned {
    /// Where it stopped: a stream goes on there.
    pub cursor: Cursor,
    pub changes: Vec<Change>,
    pub stop: Stop,
    /// False where time was up before the last N records were counted.
    pub is_counted: bool,
    /// Partitions that could not be read, since they have no leader.
    pub closed: Vec<i32>,
}

/// Reads from the start position, or from `resume_at`, up to what is there now, within `limits`. Blocks.
///
/// Nobody else may poll the client.
pub fn scan(
    client: &Client,
    bootstrap: &[String],
    spec: &StreamSpec,
    resume_at: Option<&Cursor>,
    pipeline: &mut Pipeline,
    schemas: &SchemaClient,
    limits: &Limits<'_>,
) -> Result<Scanned, KafkaError> {
    let subject = Subject::from(spec);
    let look = look(client, &subject, bootstrap, limits.look)?;
    if let (true, Some(&(_, code))) = (look.extents.is_empty(), look.closed.first()) {
        return Err(explain(client, &subject.topic, code, limits.look));
    }
    let deadline = Instant::now() + limits.time;
    let failed = |error: ClientError| explain_read(client, &subject.topic, &error, limits.time);
    let mut begin = match (resume_at, spec.start) {
        (Some(cursor), _) => Begin::At(cursor.clone()),
        (None, StartPosition::Latest) => Begin::Newest,
        (None, StartPosition::Earliest) => Begin::Oldest,
        (None, StartPosition::LastN(n)) => Begin::last(n, &look),
    };
    // Half of the time for counting, half for reading.
    let until = Instant::now() + limits.time / 2;
    let is_counted = count_back(client, &subject.topic, &mut begin, &look, || {
        Instant::now() < until && (limits.is_wanted)()
    })
    .map_err(failed)?;
    let (mut progress, changes) = Progress::begin(begin, &look);
    let mut reading = Reading {
        client,
        spec,
        pipeline,
        waiting: Waiting::new(client, &spec.topic, schemas),
        ended: Vec::new(),
        progress: &mut progress,
        limits,
        deadline,
        rows: 0,
        bytes: 0,
    };
    let stop = reading.read(&look).map_err(failed)?;
    let closed = look
        .closed
        .iter()
        .map(|&(partition, _)| partition)
        .collect();
    Ok(Scanned {
        cursor: progress.cursor(),
        changes,
        stop,
        is_counted,
        closed,
    })
}

/// Is a scan that has its start.
struct Reading<'a> {
    client: &'a Client,
    spec: &'a StreamSpec,
    pipeline: &'a mut Pipeline,
    /// Records whose schemas are asked for. Those that still wait when time is up stay for the stream.
    waiting: Waiting<'a>,
    /// Partitions whose end was seen while records of them waited.
    ended: Vec<i32>,
    progress: &'a mut Progress,
    limits: &'a Limits<'a>,
    deadline: Instant,
    rows: usize,
    bytes: usize,
}

impl Reading<'_> {
    fn read(&mut self, look: &Look) -> KafkaResult<Stop> {
        let mut ends = Ends::new(look, self.progress);
        let mut partitions = TopicPartitionList::with_capacity(ends.0.len());
        for &(partition, _) in &ends.0 {
            let next = self
                .progress
                .of(partition)
                .map_or(Offset::Beginning, Offset::Offset);
            partitions.add_partition_offset(self.spec.topic.as_str(), partition, next)?;
        }
        if ends.0.is_empty() {
            return Ok(Stop::End);
        }
        self.client.assign(&partitions)?;
        while !ends.0.is_empty() {
            if let Some(stop) = self.spent() {
                return Ok(stop);
            }
            self.waiting.answered(self.pipeline);
            if let Some(record) = self.waiting.next() {
                record.with(&self.spec.topic, |record| self.push(record, &mut ends));
                self.close_ended(&mut ends);
                continue;
            }
            let wait = if self.waiting.is_empty() {
                POLL
            } else {
                ANSWER_POLL
            };
            match self.client.poll(wait) {
                Some(Ok(record)) => self.arrived(&record, &mut ends),
                // What waits is still to come.
                Some(Err(ClientError::PartitionEOF(partition))) => {
                    if self.waiting.holds(partition) {
                        self.ended.push(partition);
                    } else {
                        self.reached(&mut ends, partition);
                    }
                }
                Some(Err(error)) if gives_no_records(&error) => return Err(error),
                Some(Err(_)) | None => {}
            }
        }
        Ok(Stop::End)
    }

    fn spent(&self) -> Option<Stop> {
        if self.rows >= self.limits.rows {
            Some(Stop::Rows)
        } else if self.bytes.max(self.pipeline.pending_bytes()) >= self.limits.bytes {
            Some(Stop::Bytes)
        } else if Instant::now() >= self.deadline || !(self.limits.is_wanted)() {
            Some(Stop::Time)
        } else {
            None
        }
    }

    fn arrived(&mut self, message: &BorrowedMessage<'_>, ends: &mut Ends) {
        let (partition, offset) = (message.partition(), message.offset());
        match ends.of(partition) {
            // Read ahead by librdkafka; it stays for the stream.
            Some(end) if offset >= end && !self.waiting.holds(partition) => {
                return self.reached(ends, partition);
            }
            Some(_) => {}
            None => return,
        }
        let headers = headers_read(self.spec, message);
        let record = record(self.spec, message, &headers);
        if self.waiting.holds(partition) {
            self.waiting.queue(&record);
        } else {
            self.push(&record, ends);
        }
    }

    fn push(&mut self, record: &Record<'_>, ends: &mut Ends) {
        let (partition, offset) = (record.partition, record.offset);
        let Some(end) = ends.of(partition) else {
            return;
        };
        if offset >= end {
            return self.reached(ends, partition);
        }
        match self.pipeline.push(record, now()) {
            Step::Rows(rows) => self.rows += rows,
            Step::Skip => {}
            Step::NeedSchema(need) => return self.waiting.hold(record, need),
        }
        self.bytes += [record.key, record.value]
            .into_iter()
            .flatten()
            .map(<[u8]>::len)
            .sum::<usize>();
        self.progress.took(partition, offset);
        if offset + 1 >= end {
            self.reached(ends, partition);
        }
    }

    /// Closes the partitions that ended while their last records waited.
    fn close_ended(&mut self, ends: &mut Ends) {
        let is_done = |partition: &mut i32| !self.waiting.holds(*partition);
        for partition in self.ended.extract_if(.., is_done).collect::<Vec<_>>() {
            self.reached(ends, partition);
        }
    }

    /// Notes that a partition has been read up to where it ended when the scan began.
    fn reached(&mut self, ends: &mut Ends, partition: i32) {
        if let Some(end) = ends.close(partition) {
            self.progress.reached(partition, end);
        }
    }
}

/// Lists the partitions that are still being read, and their ends.
struct Ends(Vec<(i32, i64)>);

impl Ends {
    fn new(look: &Look, progress: &Progress) -> Self {
        let is_open = |partition, high| progress.of(partition).is_some_and(|next| next < high);
        let ends = look
            .extents
            .iter()
            .map(|extent| (extent.partition, extent.high));
        Self(
            ends.filter(|&(partition, high)| is_open(partition, high))
                .collect(),
        )
    }

    fn of(&self, partition: i32) -> Option<i64> {
        self.place(partition).map(|at| self.0[at].1)
    }

    fn close(&mut self, partition: i32) -> Option<i64> {
        self.place(partition).map(|at| self.0.remove(at).1)
    }

    fn place(&self, partition: i32) -> Option<usize> {
        self.0
            .binary_search_by_key(&partition, |&(open, _)| open)
            .ok()
    }
}

/// How long one wait for a record takes; time that is up is noticed after it.
const POLL: Duration = Duration::from_millis(50);
