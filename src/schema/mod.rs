//! Schemas as records name them and registries give them. Nothing here knows a registry's address or a wire format.

mod lru;

use std::fmt;
use std::sync::Arc;

use thiserror::Error;

pub use lru::Lru;

/// Is the name under which a registry keeps the versions of one schema.
pub type Subject = Arc<str>;

/// Says which half of a record a schema is for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Role {
    Key,
    Value,
}

impl Role {
    /// Gives `key` or `value`, as subjects end in it.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Key => "key",
            Self::Value => "value",
        }
    }
}

/// Is what a record, or its query, names a schema by.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub enum SchemaId {
    /// A number of Confluent's API, which never gets another schema.
    Id(u32),
    /// The id of Confluent's header form.
    Guid([u8; 16]),
    /// A number of Apicurio's own API.
    Apicurio { kind: ApicurioId, id: u64 },
    /// The newest version of a subject: another one tomorrow.
    Latest(Subject),
}

/// Says what an id of Apicurio counts.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum ApicurioId {
    /// Versions of artifacts.
    Global,
    /// Contents, whichever versions have them.
    Content,
}

impl fmt::Display for SchemaId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Id(id) => write!(f, "id {id}"),
            Self::Guid(bytes) => {
                f.write_str("GUID ")?;
                for (i, byte) in bytes.iter().enumerate() {
                    let dash = if matches!(i, 4 | 6 | 8 | 10) { "-" } else { "" };
                    write!(f, "{dash}{byte:02x}")?;
                }
                Ok(())
            }
            Self::Apicurio {
                kind: ApicurioId::Global,
                id,
            } => write!(f, "global id {id}"),
            Self::Apicurio {
                kind: ApicurioId::Content,
                id,
            } => write!(f, "content id {id}"),
            Self::Latest(subject) => write!(f, "subject {subject}, latest version"),
        }
    }
}

/// Is a schema that a record waits for.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct Need {
    pub id: SchemaId,
    /// A registry with contexts finds an id by the subject of the record's half.
    pub role: Role,
}

/// Says in which language a schema is written.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum SchemaKind {
    Avro,
    Protobuf,
    Json,
}

impl fmt::Display for SchemaKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Avro => "Avro",
            Self::Protobuf => "Protobuf",
            Self::Json => "JSON Schema",
        })
    }
}

/// Is a schema as a registry gives it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SchemaText {
    pub kind: SchemaKind,
    pub text: String,
    /// What it builds on, to any depth: dependencies first, each once.
    pub references: Vec<Reference>,
}

/// Is a schema that another one builds on.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Reference {
    /// The name that the other one calls it by: a full name, or a file.
    pub name: String,
    pub text: String,
}

/// Says why there is no schema, for the `_error` of each record that needs it: which one, what the registry answered and what
/// to do.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
#[error("{0}")]
pub struct SchemaFault(Arc<str>);

impl SchemaFault {
    /// Takes the text that people read.
    pub fn new(text: impl Into<Arc<str>>) -> Self {
        Self(text.into())
    }
}

/// Shortens what a parser says: it may repeat the schema, and stands in a row for each record.
pub(crate) fn shortened(mut reason: String) -> String {
    if reason.len() > MAX_REASON {
        reason.truncate(reason.floor_char_boundary(MAX_REASON));
        reason.push('…');
    }
    reason
}

/// The most bytes of a reason.
const MAX_REASON: usize = 500;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ids_as_people_read_them() {
        let guid = *b"\x01\x23\x45\x67\x89\xab\xcd\xef\x01\x23\x45\x67\x89\xab\xcd\xef";
        for (id, want) in [
            (SchemaId::Id(7), "id 7"),
            (
                SchemaId::Guid(guid),
                "GUID 01234567-89ab-cdef-0123-456789abcdef",
            ),
            (
                SchemaId::Apicurio {
                    kind: ApicurioId::Content,
                    id: 9,
                },
                "content id 9",
            ),
            (
                SchemaId::Latest("t-value".into()),
                "subject t-value, latest version",
            ),
        ] {
            assert_eq!(id.to_string(), want);
        }
    }

    #[test]
    fn reasons() {
        for (reason, want) in [
            ("short".to_owned(), "short".to_owned()),
            ("ü".repeat(300), "ü".repeat(250) + "…"),
            (
                "x".to_owned() + &"ü".repeat(300),
                "x".to_owned() + &"ü".repeat(249) + "…",
            ),
        ] {
            assert_eq!(shortened(reason.clone()), want, "{reason}");
        }
    }
}
