//! A record's key.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;

use super::{JsonDecoder, write_text};
use crate::columns::{ColumnId, Group, Kind, RowWriter, Trouble};
use crate::config::{FlattenLimits, KeyFormat};

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
}

impl KeyDecoder {
    pub(super) fn new(format: KeyFormat, limits: FlattenLimits) -> Self {
        let text = |base64| Self::Text {
            base64,
            column: None,
            scratch: String::new(),
        };
        match format {
            KeyFormat::None => Self::None,
            KeyFormat::String => text(false),
            KeyFormat::Base64 => text(true),
            KeyFormat::Json => Self::Json(Box::new(JsonDecoder::for_keys(
                limits.max_depth,
                limits.max_fields,
            ))),
        }
    }

    /// Forgets the columns: those of a record that was taken back are no more.
    pub(super) fn forget_columns(&mut self) {
        match self {
            Self::None => {}
            Self::Text { column, .. } => *column = None,
            Self::Json(json) => json.forget_columns(),
        }
    }

    /// Writes the key's columns; a key that cannot be decoded is counted, and the row goes on without it.
    pub(super) fn write(&mut self, key: Option<&[u8]>, row: &mut RowWriter<'_>) {
        let Some(key) = key else { return };
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
                let columns = row.columns();
                if let Err(error) = json.decode_object(key, row) {
                    if row.take_back(Group::Key, columns) {
                        json.forget_columns();
                    }
                    row.trouble(Trouble::BadKey, |sample| {
                        sample.push_str(&error.to_string());
                    });
                }
            }
        }
    }
}

const KEY: &str = "key";
