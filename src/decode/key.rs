//! A record's key.

use std::sync::Arc;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;

use super::{
    AvroDecoder, JsonDecoder, KEY, ProtobufDecoder, SchemaCache, Target, wire_format, write_text,
};
use crate::columns::{ColumnId, Group, Kind, RowWriter, Trouble};
use crate::config::{FlattenLimits, KeyFormat, StreamSpec};
use crate::record::{Now, Record};
use crate::schema::{Need, Role, SchemaFault, SchemaId, SchemaText};

/// Decodes the keys of one stream. A record without a key has null there.
#[derive(Debug)]
pub(super) enum KeyDecoder {
    None,
    Text {
        base64: bool,
        column: Option<ColumnId>,
        scratch: String,
    },
    Json(Box<JsonDecoder>),
    Avro(Box<AvroDecoder>),
    Protobuf(Box<ProtobufDecoder>),
}

/// Is where a key's cells go: in a row that its value has too.
struct KeyCells<'a, 'r>(&'a mut RowWriter<'r>);

impl Target for KeyCells<'_, '_> {
    fn attempt<E>(
        &mut self,
        write: impl FnOnce(&mut RowWriter<'_>) -> Result<(), E>,
    ) -> Result<(), E> {
        write(self.0).inspect_err(|_| {
            self.0.take_back(Group::Key, self.0.columns());
        })
    }
}

impl KeyDecoder {
    pub(super) fn new(spec: &StreamSpec, limits: FlattenLimits, cache: &SchemaCache) -> Self {
        let text = |base64| Self::Text {
            base64,
            column: None,
            scratch: String::new(),
        };
        match &spec.key {
            KeyFormat::None => Self::None,
            KeyFormat::String => text(false),
            KeyFormat::Base64 => text(true),
            KeyFormat::Json => Self::Json(Box::new(JsonDecoder::for_keys(
                limits.max_depth,
                limits.max_fields,
            ))),
            KeyFormat::Avro(options) => Self::Avro(Box::new(AvroDecoder::new(
                spec,
                Role::Key,
                options,
                limits,
                cache.avro.clone(),
            ))),
            KeyFormat::Protobuf(options) => Self::Protobuf(Box::new(ProtobufDecoder::new(
                spec,
                Role::Key,
                options,
                limits,
                cache.protobuf.clone(),
            ))),
        }
    }

    pub(super) fn has_schemas(&self) -> bool {
        match self {
            Self::Avro(avro) => avro.schemas.are_named(),
            Self::Protobuf(protobuf) => protobuf.schemas.are_named(),
            Self::None | Self::Text { .. } | Self::Json(_) => false,
        }
    }

    /// Finds the schema of a record's key; an error is one that is not here.
    #[inline]
    pub(super) fn prepare(&mut self, record: &Record<'_>, now: Now) -> Result<(), Need> {
        let (headers, now) = (record.headers, now.monotonic);
        let prepared = match (self, record.key) {
            (Self::Avro(avro), Some(key)) => avro.schemas.prepare(key, headers, now),
            (Self::Protobuf(protobuf), Some(key)) => protobuf.schemas.prepare(key, headers, now),
            _ => Ok(()),
        };
        prepared.map_err(|id| Need {
            id,
            role: Role::Key,
        })
    }

    pub(super) fn provide(
        &mut self,
        id: &SchemaId,
        answer: Result<Arc<SchemaText>, SchemaFault>,
        now: Now,
    ) {
        match self {
            Self::Avro(avro) => avro.schemas.provide(id, answer, now.monotonic),
            Self::Protobuf(protobuf) => protobuf.schemas.provide(id, answer, now.monotonic),
            Self::None | Self::Text { .. } | Self::Json(_) => {}
        }
    }

    /// Forgets the columns: those of a record that was taken back are no more.
    pub(super) fn forget_columns(&mut self) {
        match self {
            Self::None => {}
            Self::Text { column, .. } => *column = None,
            Self::Json(json) => json.forget_columns(),
            Self::Avro(avro) => avro.schemas.forget_columns(),
            Self::Protobuf(protobuf) => protobuf.schemas.forget_columns(),
        }
    }

    /// Writes the key's columns; a key that cannot be decoded is counted, and the row goes on without it.
    pub(super) fn write(&mut self, record: &Record<'_>, row: &mut RowWriter<'_>) {
        let Some(key) = record.key else { return };
        match self {
            Self::None => {}
            Self::Text {
                base64,
                column,
                scratch,
            } => {
                *column = column.or_else(|| row.column(Group::Key, KEY, Kind::Text));
                let Some(id) = *column else { return };
                if *base64 {
                    scratch.clear();
                    STANDARD.encode_string(key, scratch);
                    row.text(id, scratch.as_bytes(), true);
                } else {
                    write_text(id, key, row, KEY);
                }
            }
            Self::Json(json) => {
                let key = match wire_format::without_frame(key) {
                    Ok(key) => key,
                    Err(error) => return count(&error, row),
                };
                let columns = row.columns();
                if let Err(error) = json.decode_object(&key, row) {
                    if row.take_back(Group::Key, columns) {
                        json.forget_columns();
                    }
                    count(&error, row);
                }
            }
            Self::Avro(avro) => {
                let columns = row.columns();
                if let Err(error) = avro.decode(key, record.headers, &mut KeyCells(row)) {
                    if row.take_back(Group::Key, columns) {
                        avro.schemas.forget_columns();
                    }
                    count(&error, row);
                }
            }
            Self::Protobuf(protobuf) => {
                let columns = row.columns();
                if let Err(error) = protobuf.decode(key, record.headers, &mut KeyCells(row)) {
                    if row.take_back(Group::Key, columns) {
                        protobuf.schemas.forget_columns();
                    }
                    count(&error, row);
                }
            }
        }
    }
}

fn count(error: &impl ToString, row: &mut RowWriter<'_>) {
    row.trouble(Trouble::BadKey, |sample| {
        sample.push_str(&error.to_string());
    });
}
