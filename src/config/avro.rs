//! How Avro values are read: the schema, parsed once, and how bytes show.

use std::fmt;
use std::sync::Arc;

use apache_avro::Schema;
use serde::{Deserialize, Serialize};

/// Says how Avro records are read.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct AvroOptions {
    /// The writer schema, as text in the query.
    pub schema: AvroSchema,
    pub framing: Framing,
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
        let parsed = Schema::parse_str(text).map_err(|error| error.to_string())?;
        Ok(Self {
            text: text.into(),
            parsed: Arc::new(parsed),
        })
    }

    pub fn text(&self) -> &str {
        &self.text
    }

    pub(crate) fn parsed(&self) -> &Schema {
        &self.parsed
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

/// Says how a record names its schema.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub enum Framing {
    /// What the record shows: raw if that uses every byte, else Confluent's if that does.
    #[default]
    Auto,
    None,
    Confluent,
    /// The id stands in a header, the value is the body alone.
    ConfluentHeader,
    Apicurio,
    Glue,
}

/// Says how bytes and fixed show.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum BytesAs {
    #[default]
    Base64,
    Text,
    Hex,
}

const MAX_SCHEMA_BYTES: usize = 1 << 20;
