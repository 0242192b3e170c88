//! From a record's bytes to rows.

mod avro;
mod headers;
mod json;
mod key;
mod wire_format;

use thiserror::Error;

pub use avro::{AvroDecoder, AvroError};
pub use json::{JsonDecoder, JsonError};

use crate::columns::plain::plain_len;
use crate::columns::{ColumnId, ColumnSet, Coordinates, Group, Kind, RowWriter, Trouble, time};
use crate::config::{FlattenLimits, StreamSpec, TimeSource, ValueFormat};
use crate::record::{Now, Record};
use headers::HeaderColumns;
use key::KeyDecoder;

/// Decodes the values of one stream; the set of formats is closed.
#[derive(Debug)]
pub enum Decoder {
    Json(Box<JsonDecoder>),
    Plaintext(Plaintext),
    Avro(Box<AvroDecoder>),
}

/// Says why a record could not be decoded.
#[derive(Debug, Error, PartialEq, Eq)]
pub enum DecodeError {
    #[error(transparent)]
    Json(#[from] JsonError),
    #[error("Avro: {0}")]
    Avro(#[from] AvroError),
}

impl Decoder {
    /// Makes the decoder that `spec` asks for.
    pub fn new(spec: &StreamSpec, limits: FlattenLimits) -> Self {
        match &spec.format {
            ValueFormat::Json => Self::Json(Box::new(JsonDecoder::for_values(
                limits.max_depth,
                limits.max_fields,
            ))),
            ValueFormat::Plaintext => Self::Plaintext(Plaintext::default()),
            ValueFormat::Avro(options) => Self::Avro(Box::new(AvroDecoder::new(options, limits))),
        }
    }

    /// Forgets the columns: those of a record that was taken back are no more.
    pub fn forget_columns(&mut self) {
        match self {
            Self::Json(json) => json.forget_columns(),
            Self::Plaintext(plaintext) => plaintext.column = None,
            Self::Avro(avro) => avro.forget_columns(),
        }
    }

    /// Makes the rows of a record. A tombstone is a row without value columns. An empty value is what its format makes of 0
    /// bytes: a text without characters, and in JSON an error.
    pub fn decode(
        &mut self,
        value: Option<&[u8]>,
        rows: &mut RecordRows<'_>,
    ) -> Result<(), DecodeError> {
        match (self, value) {
            (_, None) => rows.row(|_| Ok(())),
            (Self::Json(json), Some(value)) => Ok(json.decode(value, rows)?),
            (Self::Avro(avro), Some(value)) => Ok(avro.decode(value, rows)?),
            (Self::Plaintext(plaintext), Some(value)) => rows.row(|row| {
                plaintext.write(value, row);
                Ok(())
            }),
        }
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
    pub fn new(spec: &StreamSpec, limits: FlattenLimits) -> Self {
        Self {
            key: KeyDecoder::new(spec.key, limits),
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

    pub(crate) fn write(&mut self, record: &Record<'_>, row: &mut RowWriter<'_>) {
        self.key.write(record.key, row);
        if let Some(headers) = &mut self.headers {
            headers.write(record.headers, row);
        }
    }

    /// Gives a row's time, in nanoseconds since 1970.
    fn time(&self, record: &Record<'_>, now: Now, row: &mut RowWriter<'_>) -> i64 {
        if let TimeSource::Field { path, .. } = &self.time {
            if let Some(found) = row.watched_time() {
                return found;
            }
            row.trouble(Trouble::NoTimeField, |sample| sample.push_str(path));
        }
        let (time, trouble) = self.record_time(record, now);
        match trouble {
            Some(Trouble::OutOfWindow) => row.trouble(Trouble::OutOfWindow, |sample| {
                sample.push_str(&record.timestamp.unwrap_or_default().to_string());
            }),
            Some(trouble) => row.trouble(trouble, |_| ()),
            None => {}
        }
        time
    }

    /// Gives the time of a record without a look at its payload, and what was wrong with its timestamp.
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
        let mut row = self.set.begin_row();
        self.envelope.write(self.record, &mut row);
        write(&mut row)?;
        let time = self.envelope.time(self.record, self.now, &mut row);
        let (partition, offset) = (Some(self.record.partition), Some(self.record.offset));
        row.commit(Coordinates {
            time,
            partition,
            offset,
        });
        Ok(())
    }
}
