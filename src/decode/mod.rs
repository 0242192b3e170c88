//! From a record's bytes to rows.

mod avro;
mod by_id;
mod gap;
mod headers;
mod json;
mod key;
mod line_protocol;
mod named;
mod protobuf;
mod text;
mod varint;
mod wire_format;

use std::fmt::Write;
use std::sync::Arc;

use thiserror::Error;

pub use avro::{AvroDecoder, AvroError};
pub use json::{JsonDecoder, JsonError};
pub use line_protocol::{LineDecoder, LineError, LineFault};
pub use protobuf::{ProtobufDecoder, ProtobufError};

use crate::columns::plain::plain_len;
use crate::columns::{ColumnId, ColumnSet, Coordinates, Group, Kind, RowWriter, Trouble, time};
use crate::config::{Descriptors, FlattenLimits, StreamSpec, TimeSource, ValueFormat};
use crate::perf::PerfFlags;
use crate::record::{Now, Record};
use crate::schema::{Need, Role, SchemaFault, SchemaId, SchemaText};
use headers::HeaderColumns;
use key::KeyDecoder;
use wire_format::FrameError;

/// Keeps the compiled schemas of one data source. Each clone is the same cache.
#[derive(Debug, Clone)]
pub struct SchemaCache {
    /// `None`: the flag turns it off.
    avro: Option<Arc<by_id::Cache<avro::Plan>>>,
    protobuf: Option<Arc<by_id::Cache<Descriptors>>>,
}

impl SchemaCache {
    /// Makes the caches that `flags` leave on, in their sizes.
    pub fn new(flags: &PerfFlags) -> Self {
        let avro = by_id::Cache::new(flags.avro_codec_cache_max_entries);
        let protobuf = by_id::Cache::new(flags.protobuf_schema_cache_max_entries);
        Self {
            avro: (!flags.disable_avro_codec_cache).then(|| Arc::new(avro)),
            protobuf: (!flags.disable_protobuf_schema_cache).then(|| Arc::new(protobuf)),
        }
    }
}

/// Decodes the values of one stream; the set of formats is closed.
#[derive(Debug)]
pub enum Decoder {
    Json(Box<JsonDecoder>),
    Plaintext(Plaintext),
    Avro(Box<AvroDecoder>),
    LineProtocol(Box<LineDecoder>),
    Protobuf(Box<ProtobufDecoder>),
}

/// Says why a record could not be decoded.
#[derive(Debug, Error, PartialEq, Eq)]
pub enum DecodeError {
    #[error(transparent)]
    Json(#[from] JsonError),
    #[error("JSON in a schema's frame: {0}")]
    Frame(#[from] FrameError),
    #[error("Avro: {0}")]
    Avro(#[from] Box<AvroError>),
    #[error("line protocol: {0}")]
    LineProtocol(#[from] LineError),
    #[error("Protobuf: {0}")]
    Protobuf(#[from] Box<ProtobufError>),
}

impl Decoder {
    /// Makes the decoder that `spec` asks for.
    pub fn new(spec: &StreamSpec, limits: FlattenLimits, cache: &SchemaCache) -> Self {
        match &spec.format {
            ValueFormat::Json => Self::Json(Box::new(JsonDecoder::for_values(
                limits.max_depth,
                limits.max_fields,
            ))),
            ValueFormat::Plaintext => Self::Plaintext(Plaintext::default()),
            ValueFormat::Avro(options) => Self::Avro(Box::new(AvroDecoder::new(
                spec,
                Role::Value,
                options,
                limits,
                cache.avro.clone(),
            ))),
            ValueFormat::LineProtocol(options) => {
                Self::LineProtocol(Box::new(LineDecoder::new(options, limits)))
            }
            ValueFormat::Protobuf(options) => Self::Protobuf(Box::new(ProtobufDecoder::new(
                spec,
                Role::Value,
                options,
                limits,
                cache.protobuf.clone(),
            ))),
        }
    }

    /// Forgets the columns: those of a record that was taken back are no more.
    pub fn forget_columns(&mut self) {
        match self {
            Self::Json(json) => json.forget_columns(),
            Self::Plaintext(plaintext) => plaintext.column = None,
            Self::Avro(avro) => avro.schemas.forget_columns(),
            Self::LineProtocol(lines) => lines.forget_columns(),
            Self::Protobuf(protobuf) => protobuf.schemas.forget_columns(),
        }
    }

    /// Tells whether [`Decoder::prepare`] has something to find: records name their schemas.
    pub fn has_schemas(&self) -> bool {
        match self {
            Self::Avro(avro) => avro.schemas.are_named(),
            Self::Protobuf(protobuf) => protobuf.schemas.are_named(),
            Self::Json(_) | Self::Plaintext(_) | Self::LineProtocol(_) => false,
        }
    }

    /// Finds the schema of a record, before it is decoded; an error is one that is not here.
    #[inline]
    pub fn prepare(&mut self, record: &Record<'_>, now: Now) -> Result<(), Need> {
        let (headers, now) = (record.headers, now.monotonic);
        let prepared = match (self, record.value) {
            (Self::Avro(avro), Some(value)) => avro.schemas.prepare(value, headers, now),
            (Self::Protobuf(protobuf), Some(value)) => {
                protobuf.schemas.prepare(value, headers, now)
            }
            _ => Ok(()),
        };
        prepared.map_err(|id| Need {
            id,
            role: Role::Value,
        })
    }

    /// Takes the schema of `id`, or the reason why there is none.
    pub fn provide(
        &mut self,
        id: &SchemaId,
        answer: Result<Arc<SchemaText>, SchemaFault>,
        now: Now,
    ) {
        match self {
            Self::Avro(avro) => avro.schemas.provide(id, answer, now.monotonic),
            Self::Protobuf(protobuf) => protobuf.schemas.provide(id, answer, now.monotonic),
            Self::Json(_) | Self::Plaintext(_) | Self::LineProtocol(_) => {}
        }
    }

    /// Gives the schema to ask for again after a record that could not be decoded: there may be a newer one.
    pub fn doubt(&self, now: Now) -> Option<Need> {
        let id = match self {
            Self::Avro(avro) => avro.schemas.doubt(now.monotonic)?,
            Self::Protobuf(protobuf) => protobuf.schemas.doubt(now.monotonic)?,
            Self::Json(_) | Self::Plaintext(_) | Self::LineProtocol(_) => return None,
        };
        Some(Need {
            id,
            role: Role::Value,
        })
    }

    /// Makes the rows of a record that was prepared. A tombstone is a row without value columns. An empty value is
    /// what its format makes of 0 bytes: a text without characters, no line, and in JSON an error.
    pub fn decode(
        &mut self,
        value: Option<&[u8]>,
        rows: &mut RecordRows<'_>,
    ) -> Result<(), DecodeError> {
        match (self, value) {
            (_, None) => rows.row(|_| Ok(())),
            (Self::Json(json), Some(value)) => {
                Ok(json.decode(&wire_format::without_frame(value)?, rows)?)
            }
            (Self::Avro(avro), Some(value)) => {
                let headers = rows.record.headers;
                Ok(avro.decode(value, headers, rows)?)
            }
            (Self::LineProtocol(lines), Some(value)) => Ok(lines.decode(value, rows)?),
            (Self::Protobuf(protobuf), Some(value)) => {
                let headers = rows.record.headers;
                Ok(protobuf.decode(value, headers, rows)?)
            }
            (Self::Plaintext(plaintext), Some(value)) => rows.row(|row| {
                plaintext.write(value, row);
                Ok(())
            }),
        }
    }
}

/// Tells whether the schemas of a query fit together, before any record is read; the error says what to do.
pub fn check(spec: &StreamSpec) -> Result<(), String> {
    match &spec.format {
        ValueFormat::Avro(options) => avro::check(options)
            .map_err(|reason| format!("{reason}: correct one of the two in the query editor")),
        _ => Ok(()),
    }
}

/// Is where the cells of one record go.
trait Target {
    /// Writes cells; an error leaves no trace of them.
    fn attempt<E>(
        &mut self,
        write: impl FnOnce(&mut RowWriter<'_>) -> Result<(), E>,
    ) -> Result<(), E>;
}

impl Target for RecordRows<'_> {
    #[inline]
    fn attempt<E>(
        &mut self,
        write: impl FnOnce(&mut RowWriter<'_>) -> Result<(), E>,
    ) -> Result<(), E> {
        self.row(write)
    }
}

/// Decodes a value as one text, in the column `message`.
#[derive(Debug, Default)]
pub struct Plaintext {
    column: Option<ColumnId>,
}

impl Plaintext {
    fn write(&mut self, value: &[u8], row: &mut RowWriter<'_>) {
        self.column = self
            .column
            .or_else(|| row.column(Group::Value, MESSAGE, Kind::Text));
        if let Some(id) = self.column {
            write_text(id, value, row, MESSAGE);
        }
    }
}

const MESSAGE: &str = "message";
/// The column of keys, or where their columns' names begin.
const KEY: &str = "key";

/// Writes bytes as a text; what is no UTF-8 becomes U+FFFD, and is counted.
fn write_text(id: ColumnId, bytes: &[u8], row: &mut RowWriter<'_>, name: &str) {
    if plain_len(bytes) == bytes.len() {
        row.text(id, bytes, true);
    } else if std::str::from_utf8(bytes).is_ok() {
        row.text(id, bytes, false);
    } else {
        row.text(id, String::from_utf8_lossy(bytes).as_bytes(), false);
        row.trouble(Trouble::InvalidUtf8, |sample| sample.push_str(name));
    }
}

/// Decodes what stands beside the value: key, headers and time; the same in each row of a record.
#[derive(Debug)]
pub struct Envelope {
    key: KeyDecoder,
    headers: Option<HeaderColumns>,
    time: TimeSource,
}

impl Envelope {
    /// Makes what `spec` asks for.
    pub fn new(spec: &StreamSpec, limits: FlattenLimits, cache: &SchemaCache) -> Self {
        Self {
            key: KeyDecoder::new(spec, limits, cache),
            headers: spec.headers.then(HeaderColumns::default),
            time: spec.time.clone(),
        }
    }

    /// Forgets the columns: those of a record that was taken back are no more.
    pub fn forget_columns(&mut self) {
        self.key.forget_columns();
        if let Some(headers) = &mut self.headers {
            headers.forget_columns();
        }
    }

    /// Tells whether [`Envelope::prepare`] has something to find.
    pub fn has_schemas(&self) -> bool {
        self.key.has_schemas()
    }

    /// Finds the schema of a record's key; an error is one that is not here.
    #[inline]
    pub fn prepare(&mut self, record: &Record<'_>, now: Now) -> Result<(), Need> {
        self.key.prepare(record, now)
    }

    /// Takes the schema of a key's `id`, or the reason why there is none.
    pub fn provide(
        &mut self,
        id: &SchemaId,
        answer: Result<Arc<SchemaText>, SchemaFault>,
        now: Now,
    ) {
        self.key.provide(id, answer, now);
    }

    #[inline]
    pub(crate) fn write(&mut self, record: &Record<'_>, row: &mut RowWriter<'_>) {
        if self.headers.is_some() || !matches!(self.key, KeyDecoder::None) {
            self.write_all(record, row);
        }
    }

    fn write_all(&mut self, record: &Record<'_>, row: &mut RowWriter<'_>) {
        self.key.write(record, row);
        if let Some(headers) = &mut self.headers {
            headers.write(record.headers, row);
        }
    }

    /// Gives a row's time, in nanoseconds since 1970; `own` is the time that the row itself says, not the record.
    #[inline]
    fn time(
        &self,
        record: &Record<'_>,
        now: Now,
        own: Option<i64>,
        row: &mut RowWriter<'_>,
    ) -> i64 {
        let sent = record.timestamp.filter(|&ms| ms >= 0);
        match (&self.time, own, sent.and_then(time::from_ms)) {
            (TimeSource::Record, None, Some(time)) => time,
            _ => self.other_time(record, now, own, row),
        }
    }

    #[inline(never)]
    fn other_time(
        &self,
        record: &Record<'_>,
        now: Now,
        own: Option<i64>,
        row: &mut RowWriter<'_>,
    ) -> i64 {
        if let TimeSource::Field { path, .. } = &self.time {
            if let Some(found) = row.watched_time() {
                return found;
            }
            row.trouble(Trouble::NoTimeField, |sample| sample.push_str(path));
        }
        if let Some(own) = own.filter(|_| self.time != TimeSource::Arrival) {
            return own;
        }
        let (time, trouble) = self.record_time(record, now);
        match trouble {
            Some(Trouble::OutOfWindow) => row.trouble(Trouble::OutOfWindow, |sample| {
                let _ = write!(sample, "{} ms", record.timestamp.unwrap_or_default());
            }),
            Some(trouble) => row.trouble(trouble, |_| ()),
            None => {}
        }
        time
    }

    /// Gives the time of a record without a look at its payload, and what was wrong with its timestamp.
    #[inline]
    pub(crate) fn record_time(&self, record: &Record<'_>, now: Now) -> (i64, Option<Trouble>) {
        let arrival = now.wall_ms.saturating_mul(time::NANOS_PER_MS);
        if self.time == TimeSource::Arrival {
            return (arrival, None);
        }
        // Kafka writes -1 where there is none.
        match record.timestamp.filter(|&ms| ms >= 0).map(time::from_ms) {
            Some(Some(time)) => (time, None),
            Some(None) => (arrival, Some(Trouble::OutOfWindow)),
            None => (arrival, Some(Trouble::NoTimestamp)),
        }
    }
}

/// Makes the rows of one record: each has the record's coordinates, key and headers.
#[derive(Debug)]
pub struct RecordRows<'a> {
    pub(crate) set: &'a mut ColumnSet,
    pub(crate) envelope: &'a mut Envelope,
    pub(crate) record: &'a Record<'a>,
    pub(crate) now: Now,
}

impl RecordRows<'_> {
    /// Makes a row of what `write` writes; an error leaves no trace of it.
    #[inline]
    pub fn row<E>(
        &mut self,
        write: impl FnOnce(&mut RowWriter<'_>) -> Result<(), E>,
    ) -> Result<(), E> {
        self.row_at(None, write)
    }

    /// Makes a row that says its time itself, in nanoseconds since 1970.
    #[inline]
    pub fn row_at<E>(
        &mut self,
        own: Option<i64>,
        write: impl FnOnce(&mut RowWriter<'_>) -> Result<(), E>,
    ) -> Result<(), E> {
        self.rows_at(own, 1, write)
    }

    /// Makes `rows` rows of one time; where they are not one, `write` writes their fields, too.
    #[inline]
    fn rows_at<E>(
        &mut self,
        own: Option<i64>,
        rows: usize,
        write: impl FnOnce(&mut RowWriter<'_>) -> Result<(), E>,
    ) -> Result<(), E> {
        let mut row = self.set.begin_row();
        self.envelope.write(self.record, &mut row);
        write(&mut row)?;
        let time = self.envelope.time(self.record, self.now, own, &mut row);
        let (partition, offset) = (Some(self.record.partition), Some(self.record.offset));
        let at = Coordinates {
            time,
            partition,
            offset,
        };
        row.commit(at, rows);
        Ok(())
    }

    /// Makes a row that says what is wrong with a part of the record.
    pub(crate) fn error(&mut self, text: &str) {
        let (time, _) = self.envelope.record_time(self.record, self.now);
        let (partition, offset) = (Some(self.record.partition), Some(self.record.offset));
        let at = Coordinates {
            time,
            partition,
            offset,
        };
        self.set
            .push_error(at, text, |row| self.envelope.write(self.record, row));
    }

    /// Counts a trouble of the record.
    pub(crate) fn trouble(&mut self, trouble: Trouble, sample: impl FnOnce(&mut String)) {
        self.set.tally.count(trouble, sample);
    }

    /// Gives the time of the record's arrival, in nanoseconds since 1970.
    pub(crate) fn arrival(&self) -> i64 {
        self.now.wall_ms.saturating_mul(time::NANOS_PER_MS)
    }
}
