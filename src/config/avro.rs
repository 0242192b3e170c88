//! How Avro is read: the schemas of a query, parsed once, and how bytes show.

use std::fmt;
use std::sync::Arc;

use apache_avro::Schema;

use super::{BytesAs, Framing, SchemaSource, SubjectSelection};
use crate::schema::shortened;

/// Says how Avro records are read.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct AvroOptions {
    /// Where the writer schema comes from.
    pub source: SchemaSource<AvroSchema>,
    pub framing: Framing,
    /// What a record is read by that names no schema; of use with a registry only.
    pub subject: SubjectSelection,
    /// What records are resolved to, by Avro's rules for schemas that evolve.
    pub reader: Option<AvroSchema>,
    pub bytes_as: BytesAs,
}

/// Is a schema that was parsed, with the text it came from.
#[derive(Clone)]
pub struct AvroSchema {
    text: Arc<str>,
    parsed: Arc<Schema>,
}

impl AvroSchema {
    /// Parses a schema; the error says what is wrong with it.
    pub fn parse(text: &str) -> Result<Self, String> {
        if text.len() > MAX_SCHEMA_BYTES {
            return Err(format!(
                "it has {} KiB, and at most {} KiB are read",
                text.len() / 1024,
                MAX_SCHEMA_BYTES / 1024
            ));
        }
        let parsed = Schema::parse_str(text).map_err(|error| shortened(error.to_string()))?;
        Ok(Self {
            text: text.into(),
            parsed: Arc::new(parsed),
        })
    }

    pub fn text(&self) -> &Arc<str> {
        &self.text
    }

    pub(crate) fn parsed(&self) -> &Schema {
        &self.parsed
    }

    /// Gives the full name of a record, an enum or a fixed.
    pub fn name(&self) -> Option<String> {
        self.parsed.name().map(|name| name.fullname(None))
    }
}

impl PartialEq for AvroSchema {
    fn eq(&self, other: &Self) -> bool {
        self.text == other.text
    }
}

impl Eq for AvroSchema {}

impl fmt::Debug for AvroSchema {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("AvroSchema").field(&self.text).finish()
    }
}

const MAX_SCHEMA_BYTES: usize = 1 << 20;
