//! Schemas under subjects: a registry in this process that serves them, and their registration in another one. Both speak
//! Confluent's API.

mod register;
mod serve;

use std::collections::BTreeMap;

use serde::Serialize;

pub use register::register;
pub use serve::Registry;

/// A schema to register.
#[derive(Clone, Copy, Debug)]
pub struct Registered {
    pub subject: &'static str,
    pub version: u32,
    pub kind: Kind,
    pub text: &'static str,
    /// What it imports, registered before it.
    pub references: &'static [Reference],
}

/// What a schema is written in.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    Avro,
    Protobuf,
}

/// What a schema imports: by which name, and where it is registered.
#[derive(Clone, Copy, Debug, Serialize)]
pub struct Reference {
    pub name: &'static str,
    pub subject: &'static str,
    pub version: u32,
}

/// The ids of registered schemas.
#[derive(Clone, Debug, Default)]
pub struct Ids(BTreeMap<(&'static str, u32), u32>);

impl Ids {
    /// Numbers the schemas from 1 on, as the registry in this process does.
    pub fn of(schemas: &[Registered]) -> Ids {
        let keys = schemas
            .iter()
            .map(|schema| (schema.subject, schema.version));
        Ids(keys.zip(1..).collect())
    }

    /// Gives a schema's id, where it is registered.
    pub fn find(&self, subject: &str, version: u32) -> Option<u32> {
        self.0.get(&(subject, version)).copied()
    }
}
