//! Avro: a writer schema compiled once, run over each record.

mod compile;
mod cursor;
mod decimal;
mod defaults;
mod resolve;
mod run;
mod scalar;
mod types;

use std::collections::HashMap;
use std::sync::Arc;

pub(super) use compile::Plan;
pub use cursor::AvroError;

use super::by_id::{self, Bound, ById, Cache, Typed};
use super::named::Schemas;
use super::wire_format::{Body, Wire};
use super::{KEY, Target};
use crate::columns::{ColumnId, Group, RowWriter, Trouble};
use crate::config::{AvroOptions, AvroSchema, BytesAs, FlattenLimits, SchemaSource, StreamSpec};
use crate::flatten::push_segment;
use crate::record::Header;
use crate::schema::{Role, SchemaKind, SchemaText};
use compile::Scope;
use cursor::{Cursor, Fault};
use run::{Run, Stop};

/// Decodes the Avro values, or keys, of one stream.
#[derive(Debug)]
pub struct AvroDecoder {
    pub(super) schemas: Schemas<Avro>,
    group: Group,
    bytes_as: BytesAs,
    max_keys: usize,
    /// With [`crate::config::Framing::Auto`] and the query's own schema: the last record that fitted was framed.
    framed: bool,
    scratch: Vec<u8>,
    spare: Vec<u8>,
}

/// Compiles the schemas of one stream.
#[derive(Debug)]
pub(super) struct Avro {
    max_depth: usize,
    reader: Option<AvroSchema>,
}

impl Typed for Avro {
    type Schema = Plan;
    type Binding = Option<Binding>;
    const KIND: SchemaKind = SchemaKind::Avro;

    fn compile(&self, text: &SchemaText) -> Result<Plan, String> {
        let reader = self.reader.as_ref().map(AvroSchema::parsed);
        Plan::parse(text, reader, self.max_depth)
    }

    fn variant(&self) -> Option<Arc<str>> {
        self.reader.as_ref().map(|reader| Arc::clone(reader.text()))
    }
}

/// Knows the columns of a scope in one stream.
#[derive(Debug)]
pub(super) struct Binding {
    /// Where the scope's paths begin.
    path: String,
    /// By leaf; `None` is a column that the field limit leaves out.
    columns: Vec<Option<ColumnId>>,
    /// By map, then by key.
    maps: Vec<HashMap<Box<[u8]>, Binding>>,
}

impl AvroDecoder {
    /// Decodes the half of the records that is `role` by `options`.
    pub(super) fn new(
        spec: &StreamSpec,
        role: Role,
        options: &AvroOptions,
        limits: FlattenLimits,
        cache: Option<Arc<Cache<Plan>>>,
    ) -> Self {
        let typed = Avro {
            max_depth: limits.max_depth,
            reader: options.reader.clone(),
        };
        let mut schemas = ById::new(typed, role, &spec.topic, cache);
        let wire = Wire::new(spec, role, options.framing, &options.subject);
        let schemas = match &options.source {
            SchemaSource::Registry => Schemas::named(schemas, wire),
            SchemaSource::Inline(schema) => {
                schemas.provide_own(schema.text());
                Schemas::own(schemas, wire)
            }
        };
        Self {
            schemas,
            group: match role {
                Role::Key => Group::Key,
                Role::Value => Group::Value,
            },
            bytes_as: options.bytes_as,
            max_keys: limits.max_fields,
            framed: false,
            scratch: Vec::new(),
            spare: Vec::new(),
        }
    }

    /// Makes the cells of a record that was prepared.
    pub(super) fn decode(
        &mut self,
        bytes: &[u8],
        headers: &[Header<'_>],
        target: &mut impl Target,
    ) -> Result<(), Fault> {
        if let Some(start) = self.schemas.start()? {
            return self.body(bytes, start, target);
        }
        let (body, other) = self.schemas.wire.body(bytes, headers)?;
        let Some(other) = other else {
            return self.unpacked(body, bytes, target);
        };
        // A record that begins like a frame may be raw all the same: what uses every byte is right, and what fitted last is
        // tried first.
        let (first, second) = if self.framed {
            (other, body)
        } else {
            (body, other)
        };
        let Err(error) = self.unpacked(first, bytes, target) else {
            return Ok(());
        };
        match self.unpacked(second, bytes, target) {
            Ok(()) => {
                self.framed = second == other;
                Ok(())
            }
            // What a record that begins like a frame lacks is better said of the frame.
            Err(later) => Err(if self.framed { error } else { later }),
        }
    }

    fn unpacked(
        &mut self,
        body: Body,
        bytes: &[u8],
        target: &mut impl Target,
    ) -> Result<(), Fault> {
        match (body, body.inflated(bytes)?) {
            (_, Some(unpacked)) => self.body(&unpacked, 0, target),
            (Body::At(start) | Body::Zlib(start), None) => self.body(bytes, start, target),
        }
    }

    fn body(&mut self, bytes: &[u8], start: usize, target: &mut impl Target) -> Result<(), Fault> {
        let Bound { schema, binding } = self.schemas.current()?;
        let plan: &Plan = schema;
        let mut run = Run {
            plan,
            group: self.group,
            bytes_as: self.bytes_as,
            may_add: false,
            max_keys: self.max_keys,
            scratch: &mut self.scratch,
            spare: &mut self.spare,
        };
        match target.attempt(|row| run.record(bytes, start, binding, row)) {
            Ok(()) => Ok(()),
            Err(Stop::Avro(error)) => Err(error),
            Err(Stop::NewColumn) => {
                let mut cursor = Cursor::new(bytes, start);
                plan.skip(plan.own, &mut cursor)?;
                cursor.end()?;
                run.may_add = true;
                match target.attempt(|row| run.record(bytes, start, binding, row)) {
                    Err(Stop::Avro(error)) => Err(error),
                    Ok(()) | Err(Stop::NewColumn) => Ok(()),
                }
            }
        }
    }
}

/// Tells whether the query's own schema resolves to its reader schema.
pub(super) fn check(options: &AvroOptions) -> Result<(), String> {
    let (SchemaSource::Inline(schema), Some(reader)) = (&options.source, &options.reader) else {
        return Ok(());
    };
    let text = SchemaText {
        kind: SchemaKind::Avro,
        text: schema.text().to_string(),
        references: Vec::new(),
    };
    let typed = Avro {
        max_depth: FlattenLimits::default().max_depth,
        reader: Some(reader.clone()),
    };
    by_id::compile(&typed, &text).map(drop)
}

impl Binding {
    /// Makes the columns of a whole record.
    fn of_record(scope: &Scope, group: Group, row: &mut RowWriter<'_>) -> Self {
        let path = if group == Group::Key { KEY } else { "" };
        Self::new(scope, group, path.to_owned(), row)
    }

    /// Gives the column of a leaf; one that the field limit leaves out is counted.
    #[expect(
        clippy::inline_always,
        reason = "a leaf is a few instructions, and a call as many again"
    )]
    #[inline(always)]
    fn column(&self, leaf: usize, scope: &Scope, row: &mut RowWriter<'_>) -> Option<ColumnId> {
        let column = self.columns[leaf];
        if column.is_none() {
            left_out(&scope.leaves[leaf].path, row);
        }
        column
    }

    /// Makes the columns of `scope`, whose paths begin with `path`.
    fn new(scope: &Scope, group: Group, path: String, row: &mut RowWriter<'_>) -> Self {
        let columns = scope.leaves.iter().map(|leaf| {
            let mut name = join(&path, &leaf.path);
            if name.is_empty() {
                name.push_str(VALUE);
            }
            row.column(group, &name, leaf.kind)
        });
        Self {
            columns: columns.collect(),
            maps: scope.maps.iter().map(|_| HashMap::new()).collect(),
            path,
        }
    }

    /// Makes the columns of a map's `key`; the map stands at `map` within the scope at `path`.
    fn of_key(
        values: &Scope,
        group: Group,
        (path, map): (&str, &str),
        key: &[u8],
        row: &mut RowWriter<'_>,
    ) -> Self {
        let mut path = join(path, map);
        push_segment(&mut path, &String::from_utf8_lossy(key));
        Self::new(values, group, path, row)
    }
}

#[cold]
fn left_out(path: &str, row: &mut RowWriter<'_>) {
    row.trouble(Trouble::LeftOut, |sample| sample.push_str(path));
}

fn join(path: &str, within: &str) -> String {
    let dot = if path.is_empty() || within.is_empty() || within.starts_with('[') {
        ""
    } else {
        "."
    };
    format!("{path}{dot}{within}")
}

/// The column of a schema that is one scalar.
const VALUE: &str = "value";

#[cfg(test)]
mod tests;
