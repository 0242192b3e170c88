//! The stages joined: a record in, a packet out. Nothing here waits or reads a clock.

mod words;

use std::num::NonZero;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;
use std::time::Instant;

use crate::batch::{
    Batch, FlushPolicy, MAX_PACKET_BYTES, MAX_PACKET_ROWS, MAX_RECORD_BYTES, Pacer,
};
use crate::columns::{
    ColumnSet, Coordinates, Mark, StreamSchema, Tally, Trouble, time::NANOS_PER_MS,
};
use crate::config::{FlattenLimits, KeyFormat, StreamSpec, TimeSource};
use crate::decode::{Decoder, Envelope, RecordRows, SchemaCache};
use crate::frame::{FrameWriter, Notice, Notices, Packet, QueryFrame};
use crate::perf::PerfFlags;
use crate::record::{Now, Record};
use crate::schema::{Need, Role, SchemaFault, SchemaText};

/// Turns the records of one stream into packets, or those of one query into a frame.
#[derive(Debug)]
pub struct Pipeline {
    spec: Arc<StreamSpec>,
    limits: FlattenLimits,
    flags: PerfFlags,
    cache: SchemaCache,
    /// A half of each record is read by a schema.
    has_schemas: bool,
    decoder: Decoder,
    envelope: Envelope,
    set: ColumnSet,
    batch: Batch,
    /// Where the next packet ends, in rows and bytes, if a large record came behind rows that wait.
    cut: Option<(usize, usize)>,
    frame: FrameWriter,
    notices: Notices,
}

/// Says what became of a record.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Step {
    /// It made this many rows; one that cannot be decoded makes one, with `_error`.
    Rows(usize),
    /// It made none: an empty array.
    Skip,
    /// Nothing was written: [`Pipeline::provide_schema`], then push the same record again.
    NeedSchema(Need),
}

/// Says where something went wrong, as far as that is known.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct ErrorAt {
    pub partition: Option<i32>,
    pub offset: Option<i64>,
}

/// Says why a record is shown as an error.
#[derive(Debug)]
struct Fault {
    text: String,
    /// Key and headers are not shown beside it: they may be what is wrong.
    alone: bool,
}

impl Pipeline {
    /// Joins the stages for `spec`. `schema` is the stream's, shared with its other workers; `cache` is the data source's.
    pub fn new(
        spec: Arc<StreamSpec>,
        limits: FlattenLimits,
        schema: Arc<StreamSchema>,
        pacer: Pacer,
        flags: PerfFlags,
        cache: SchemaCache,
    ) -> Self {
        let (policy, pacer) = if flags.disable_stream_microbatch {
            (FlushPolicy::EACH_RECORD, Pacer::off())
        } else {
            (FlushPolicy::MICRO_BATCH, pacer)
        };
        let has_key = spec.key != KeyFormat::None;
        let mut set = ColumnSet::new(schema, limits.max_fields, spec.field_types.clone(), has_key);
        if let TimeSource::Field { path, unit } = &spec.time {
            set.watch_time(path, *unit);
        }
        let decoder = Decoder::new(&spec, limits, &cache);
        let envelope = Envelope::new(&spec, limits, &cache);
        Self {
            has_schemas: decoder.has_schemas() || envelope.has_schemas(),
            decoder,
            envelope,
            set,
            batch: Batch::new(policy, pacer),
            cut: None,
            frame: FrameWriter::new(spec.topic.as_str()),
            notices: Notices::default(),
            spec,
            limits,
            flags,
            cache,
        }
    }

    /// Tells how many workers share a stream of `partitions` on a machine of `processors`, unless the flag says how many. A
    /// channel's budget takes less than one gives, and plain behaviour is one packet after another.
    pub fn workers(&self, partitions: usize, processors: usize) -> usize {
        if self.batch.is_paced() || self.flags.disable_stream_microbatch {
            return 1;
        }
        let most = self.flags.stream_workers.map(NonZero::get);
        most.unwrap_or(processors.min(MAX_WORKERS))
            .min(partitions)
            .max(1)
    }

    /// Makes another worker of the stream, for other partitions: it knows the same columns, counts the same troubles, and has rows
    /// of its own. No budget holds it.
    #[must_use]
    pub fn sibling(&self) -> Self {
        let mut sibling = Self::new(
            Arc::clone(&self.spec),
            self.limits,
            Arc::clone(self.set.schema()),
            Pacer::off(),
            self.flags,
            self.cache.clone(),
        );
        sibling.set.tally = Tally::of(Arc::clone(self.set.tally.stream()));
        sibling.frame = self.frame.clone();
        sibling
    }

    /// Decodes one record into rows. One that cannot be decoded, or made the decoder panic, is a row with `_error`.
    ///
    /// A schema that is not here is asked for before anything is written.
    pub fn push(&mut self, record: &Record<'_>, now: Now) -> Step {
        if self.has_schemas
            && let Err(need) = self.prepare(record, now)
        {
            return Step::NeedSchema(need);
        }
        let mark = self.set.mark();
        let fault = self.decode(record, now, mark);
        if (fault.is_some() || !self.set.publish())
            && let Err(need) = self.settle(record, now, mark, fault)
        {
            return Step::NeedSchema(need);
        }
        self.set.tally.commit();
        let full = self.set.bytes() > MAX_PACKET_BYTES || self.set.rows() > MAX_PACKET_ROWS;
        if full && mark.rows > 0 {
            self.cut.get_or_insert((mark.rows, mark.bytes));
        }
        if self.flags.disable_field_order_cache {
            self.set.sort_columns();
        }
        match self.set.rows() - mark.rows {
            0 => {
                // Nothing to be seen has its reason all the same.
                self.say_troubles();
                Step::Skip
            }
            rows => {
                self.batch.touch(now.monotonic);
                Step::Rows(rows)
            }
        }
    }

    /// Makes the row of a record that has a fault, or reads one again that built on columns of which there are more by now. An
    /// error is a schema that may have a newer version: nothing was written.
    #[cold]
    fn settle(
        &mut self,
        record: &Record<'_>,
        now: Now,
        mark: Mark,
        mut fault: Option<Fault>,
    ) -> Result<(), Need> {
        let is_undecoded = fault.as_ref().is_some_and(|fault| !fault.alone);
        if is_undecoded && let Some(need) = self.decoder.doubt(now) {
            self.take_back(mark);
            return Err(need);
        }
        loop {
            if let Some(fault) = &fault {
                self.take_back(mark);
                self.push_fault(record, now, mark, fault);
            }
            if self.set.publish() {
                return Ok(());
            }
            // Another worker of the stream added columns meanwhile: what this record adds comes on top of them.
            self.take_back(mark);
            if fault.is_none() {
                fault = self.decode(record, now, mark);
            }
        }
    }

    /// Finds the schemas of a record; an error is one that is not here.
    fn prepare(&mut self, record: &Record<'_>, now: Now) -> Result<(), Need> {
        self.envelope.prepare(record, now)?;
        self.decoder.prepare(record, now)
    }

    /// Makes the rows of a record.
    fn decode(&mut self, record: &Record<'_>, now: Now, mark: Mark) -> Option<Fault> {
        let Self {
            decoder,
            envelope,
            set,
            ..
        } = self;
        let decoded = catch_unwind(AssertUnwindSafe(|| {
            decoder.decode(
                record.value,
                &mut RecordRows {
                    set,
                    envelope,
                    record,
                    now,
                },
            )
        }));
        match decoded {
            Ok(Ok(())) if self.set.bytes() - mark.bytes <= MAX_RECORD_BYTES => None,
            Ok(Ok(())) => Some(Fault {
                text: format!(
                    "the record's rows take {} KiB, and a panel takes {} KiB of one record",
                    (self.set.bytes() - mark.bytes) / 1024,
                    MAX_RECORD_BYTES / 1024
                ),
                alone: true,
            }),
            Ok(Err(error)) => Some(Fault {
                text: error.to_string(),
                alone: false,
            }),
            Err(_) => {
                self.decoder = Decoder::new(&self.spec, self.limits, &self.cache);
                self.envelope = Envelope::new(&self.spec, self.limits, &self.cache);
                Some(Fault {
                    text: "this record made the decoder fail, which is a fault of the plugin; it was passed over".to_owned(),
                    alone: true,
                })
            }
        }
    }

    /// Makes the row of a record that cannot be shown: `_error`, and what stands beside the value.
    fn push_fault(&mut self, record: &Record<'_>, now: Now, mark: Mark, fault: &Fault) {
        let (time, _) = self.envelope.record_time(record, now);
        let at = Coordinates {
            time,
            partition: Some(record.partition),
            offset: Some(record.offset),
        };
        if !fault.alone {
            let envelope = &mut self.envelope;
            self.set
                .push_error(at, &fault.text, |row| envelope.write(record, row));
        }
        let large = self.set.bytes() - mark.bytes > MAX_RECORD_BYTES;
        if large {
            self.take_back(mark);
        }
        if large || fault.alone {
            self.set.push_error(at, &fault.text, |_| ());
        }
        self.set.tally.count(Trouble::Undecodable, |sample| {
            sample.push_str(&fault.text);
        });
    }

    /// Takes back the rows and the columns of a record.
    fn take_back(&mut self, mark: Mark) {
        if self.set.take_back(mark) {
            self.decoder.forget_columns();
            self.envelope.forget_columns();
        }
    }

    /// Takes a schema that a record needed, or the reason why there is none: then each record that needs it is a row with that.
    /// After a while such a record needs the schema once more.
    pub fn provide_schema(
        &mut self,
        need: &Need,
        answer: Result<Arc<SchemaText>, SchemaFault>,
        now: Now,
    ) {
        match need.role {
            Role::Key => self.envelope.provide(&need.id, answer, now),
            Role::Value => self.decoder.provide(&need.id, answer, now),
        }
    }

    /// Adds a row of the run's own: what is wrong, and where.
    pub fn push_error(&mut self, at: ErrorAt, text: &str, now: Now) {
        let time = now.wall_ms.saturating_mul(NANOS_PER_MS);
        self.set.push_error(
            Coordinates {
                time,
                partition: at.partition,
                offset: at.offset,
            },
            text,
            |_| (),
        );
        self.batch.touch(now.monotonic);
    }

    /// Adds a notice to the next packet; without rows it makes one of its own.
    pub fn notify(&mut self, notice: Notice) {
        self.notices.push(notice);
    }

    /// Says by which id Kafka knows the topic of the following packets.
    pub fn topic_id(&mut self, id: Option<&str>) {
        self.frame.describe("topicId", id);
    }

    /// Names the run in every packet: a viewer who sees another name knows that the stream was started anew.
    pub fn run_id(&mut self, id: &str) {
        self.frame.describe("run", Some(id));
    }

    /// Tells whether records may be pushed; if not, the channel's budget is spent and the packet that waits is full.
    pub fn has_room(&self) -> bool {
        self.batch.has_room(self.set.rows(), self.set.bytes())
    }

    /// Gives the packet that is due, if one is.
    pub fn poll_packet(&mut self, now: Now) -> Option<Packet> {
        if !self.notices.is_empty() {
            self.batch.touch(now.monotonic);
        }
        let all = (self.set.rows(), self.set.bytes());
        let (rows, bytes) = self.cut.unwrap_or(all);
        let fixed = self.frame.fixed_bytes();
        if !self.batch.leave(rows, bytes, fixed, now.monotonic) {
            return None;
        }
        self.say_troubles();
        let rest = self.cut.take().map(|_| self.set.split_off(rows, bytes));
        let packet = self.frame.write(&self.set, &self.notices.take());
        self.set.clear();
        if let Some(rest) = rest {
            self.set.put_back(rest);
            self.batch.touch(now.monotonic);
        }
        Some(packet)
    }

    /// Tells when [`Pipeline::poll_packet`] may have something next; `None` until a row is pushed. A notice alone is looked at
    /// by the next call.
    pub fn next_flush(&self) -> Option<Instant> {
        self.batch.next_flush()
    }

    /// Counts the rows that wait.
    pub fn pending_rows(&self) -> usize {
        self.set.rows()
    }

    /// Tells about how many bytes they would take in a packet.
    pub fn pending_bytes(&self) -> usize {
        self.set.bytes()
    }

    /// Throws away the rows that wait, and tells how many they were.
    pub fn discard_pending(&mut self) -> usize {
        let rows = self.set.rows();
        self.set.clear();
        self.cut = None;
        if self.notices.is_empty() {
            self.batch.clear();
        }
        rows
    }

    /// Gives everything that was pushed as one frame, in time order.
    pub fn into_frame(mut self) -> QueryFrame {
        self.say_troubles();
        QueryFrame::new(self.set, self.notices.take())
    }

    fn say_troubles(&mut self) {
        for (trouble, count) in self.set.tally.stream().news() {
            self.notices
                .push(Notice::warning(words::describe(trouble, &count)));
        }
    }
}

/// The most workers of a stream, unless the flag says more: one thread fetches for about as many.
const MAX_WORKERS: usize = 8;

#[cfg(test)]
mod tests;
