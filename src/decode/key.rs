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
                if let Err(error) = json.decode_object(key, row) {
                    row.take_back(Group::Key);
                    row.trouble(Trouble::BadKey, |sample| {
                        sample.push_str(&error.to_string());
                    });
                }
            }
        }
    }
}

const KEY: &str = "key";
