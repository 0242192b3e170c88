//! A record's headers: one text column a name, `header.<name>`.

use std::borrow::Cow;
use std::collections::HashMap;
use std::fmt::Write;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;

use crate::columns::{ColumnId, Group, Kind, RowWriter};
use crate::record::Header;

/// Knows the columns of the header names that a stream has shown.
#[derive(Debug, Default)]
pub(super) struct HeaderColumns {
    columns: HashMap<Box<[u8]>, Option<ColumnId>>,
    text: Vec<u8>,
}

impl HeaderColumns {
    /// Forgets the columns: those of a record that was taken back are no more.
    pub(super) fn forget_columns(&mut self) {
        self.columns.clear();
    }

    /// Writes the headers of one record: text as it is, other bytes as base64, null as null; a name that stands more than
    /// once is a JSON array of its values, in their order.
    pub(super) fn write(&mut self, headers: &[Header<'_>], row: &mut RowWriter<'_>) {
        for (i, header) in headers.iter().enumerate() {
            let Some(id) = self.column(header.name, row) else {
                continue;
            };
            if row.holds(id) {
                // It was joined with the first of its name.
                continue;
            }
            let same = |other: &&Header<'_>| other.name == header.name;
            self.text.clear();
            if headers[i + 1..].iter().any(|other| same(&other)) {
                let values: Vec<_> = headers
                    .iter()
                    .filter(same)
                    .map(|header| header.value.map(as_text))
                    .collect();
                serde_json::to_writer(&mut self.text, &values).expect("texts are JSON");
                row.text(id, &self.text, false);
            } else if let Some(value) = header.value {
                row.text(id, as_text(value).as_bytes(), false);
            }
        }
    }

    fn column(&mut self, name: &[u8], row: &mut RowWriter<'_>) -> Option<ColumnId> {
        if let Some(&known) = self.columns.get(name) {
            return known;
        }
        let mut path = String::from("header.");
        for part in name.utf8_chunks() {
            path.push_str(part.valid());
            // No other name may come to be called so.
            for byte in part.invalid() {
                let _ = write!(path, "\\x{byte:02x}");
            }
        }
        let column = row.column(Group::Header, &path, Kind::Text);
        if self.columns.len() < MAX_NAMES {
            self.columns.insert(name.into(), column);
        }
        column
    }
}

/// Gives text as it is, and other bytes as base64: what is no UTF-8, or holds control characters but tabs and line ends.
fn as_text(value: &[u8]) -> Cow<'_, str> {
    let control = |&byte: &u8| byte < b' ' && !matches!(byte, b'\t' | b'\n' | b'\r');
    match std::str::from_utf8(value) {
        Ok(text) if !value.iter().any(control) => text.into(),
        _ => STANDARD.encode(value).into(),
    }
}

/// How many names are remembered, those past the limit of columns included.
const MAX_NAMES: usize = 1_000;
