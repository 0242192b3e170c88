//! How Protobuf values are read: the schema, compiled once, and which of its messages.

mod descriptors;
mod editions;
mod source;

use std::fmt;
use std::panic::catch_unwind;
use std::sync::Arc;

pub use descriptors::Descriptors;

use super::{BytesAs, Framing, SchemaSource, SubjectSelection};

/// Says how Protobuf records are read.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ProtobufOptions {
    /// Where the schema comes from.
    pub source: SchemaSource<ProtobufSchema>,
    pub framing: Framing,
    /// What a record is read by that names no schema; of use with a registry only.
    pub subject: SubjectSelection,
    /// The full name of the message that records hold; without it the record's message indexes say which, else it is the
    /// schema's first.
    pub message: Option<String>,
    pub bytes_as: BytesAs,
}

/// Is a schema that was compiled, with the text it came from.
#[derive(Clone)]
pub struct ProtobufSchema {
    text: Arc<str>,
    compiled: Arc<Descriptors>,
}

impl ProtobufSchema {
    /// Compiles a schema that stands alone; the error says what is wrong with it.
    pub fn parse(text: &str) -> Result<Self, String> {
        // The parser is not ours, and the text is anybody's.
        let compiled = catch_unwind(|| Descriptors::compile(text, &[]))
            .unwrap_or_else(|_| Err("it made the parser fail".to_owned()))?;
        // What it needs can come from nowhere else.
        if let Some(reason) = compiled.any_broken() {
            return Err(reason.to_owned());
        }
        if compiled.messages().is_empty() {
            return Err("it has no message".to_owned());
        }
        Ok(Self {
            compiled: Arc::new(compiled),
            text: text.into(),
        })
    }

    /// Names the messages of the schema, for a person to choose from.
    pub fn message_names(&self) -> String {
        self.compiled.message_names()
    }

    pub fn text(&self) -> &str {
        &self.text
    }

    pub(crate) fn compiled(&self) -> &Arc<Descriptors> {
        &self.compiled
    }

    /// Tells whether the schema, or what it imports, has a message of this full name.
    pub fn has_message(&self, name: &str) -> bool {
        self.compiled.by_name(name).is_some()
    }
}

impl PartialEq for ProtobufSchema {
    fn eq(&self, other: &Self) -> bool {
        self.text == other.text
    }
}

impl Eq for ProtobufSchema {}

impl fmt::Debug for ProtobufSchema {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("ProtobufSchema").field(&self.text).finish()
    }
}

#[cfg(test)]
mod tests;
