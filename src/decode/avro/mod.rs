//! Avro: a writer schema compiled once, run over each record.

mod compile;
mod cursor;
mod decimal;
mod run;
mod scalar;

use std::collections::HashMap;
use std::sync::Arc;

pub use cursor::AvroError;

use super::{RecordRows, wire_format};
use crate::columns::{ColumnId, Group, RowWriter};
use crate::config::{AvroOptions, BytesAs, FlattenLimits, Framing};
use crate::flatten::push_segment;
use compile::{Plan, Scope};
use cursor::Cursor;
use run::{Run, Stop};

/// Decodes the Avro values of one stream.
#[derive(Debug)]
pub struct AvroDecoder {
    plan: Arc<Plan>,
    binding: Option<Binding>,
    framing: Framing,
    bytes_as: BytesAs,
    max_keys: usize,
    /// With [`Framing::Auto`]: the last record that fitted was framed.
    framed: bool,
    scratch: Vec<u8>,
    spare: Vec<u8>,
}

/// Knows the columns of a scope in one stream.
#[derive(Debug)]
struct Binding {
    /// Where the scope's paths begin.
    path: String,
    /// By leaf; `None` is a column that the field limit leaves out.
    columns: Vec<Option<ColumnId>>,
    /// By map, then by key.
    maps: Vec<HashMap<Box<[u8]>, Binding>>,
}

impl AvroDecoder {
    /// Compiles the schema of `options`.
    pub fn new(options: &AvroOptions, limits: FlattenLimits) -> Self {
        Self {
            plan: Arc::new(Plan::new(options.schema.parsed(), limits.max_depth)),
            binding: None,
            framing: options.framing,
            bytes_as: options.bytes_as,
            max_keys: limits.max_fields,
            framed: false,
            scratch: Vec::new(),
            spare: Vec::new(),
        }
    }

    /// Forgets the columns: those of a record that was taken back are no more.
    pub fn forget_columns(&mut self) {
        self.binding = None;
    }

    /// Makes the row of a record.
    pub fn decode(&mut self, value: &[u8], rows: &mut RecordRows<'_>) -> Result<(), AvroError> {
        let body = wire_format::body(self.framing, value);
        if self.framing != Framing::Auto {
            let start = body.ok_or(AvroError::Frame {
                expected: wire_format::expected(self.framing),
                found: "other bytes",
            })?;
            return self.body(value, start, rows);
        }
        let Some(start) = body else {
            return self.body(value, 0, rows);
        };
        // A record that begins like a frame may be raw all the same: what uses every byte is right, and what fitted last is
        // tried first.
        let (first, second) = if self.framed { (start, 0) } else { (0, start) };
        let Err(error) = self.body(value, first, rows) else {
            return Ok(());
        };
        match self.body(value, second, rows) {
            Ok(()) => {
                self.framed = second != 0;
                Ok(())
            }
            // What a record that begins like a frame lacks is better said of the frame.
            Err(other) => Err(if first == 0 { other } else { error }),
        }
    }

    fn body(
        &mut self,
        value: &[u8],
        start: usize,
        rows: &mut RecordRows<'_>,
    ) -> Result<(), AvroError> {
        match rows.row(|row| self.run(value, start, false, row)) {
            Ok(()) => Ok(()),
            Err(Stop::Avro(error)) => Err(error),
            Err(Stop::NewColumn) => {
                let mut cursor = Cursor::new(value, start);
                self.plan.skip(ROOT, &mut cursor)?;
                cursor.end()?;
                match rows.row(|row| self.run(value, start, true, row)) {
                    Err(Stop::Avro(error)) => Err(error),
                    Ok(()) | Err(Stop::NewColumn) => Ok(()),
                }
            }
        }
    }

    fn run(
        &mut self,
        value: &[u8],
        start: usize,
        may_add: bool,
        row: &mut RowWriter<'_>,
    ) -> Result<(), Stop> {
        let plan = Arc::clone(&self.plan);
        let binding = self
            .binding
            .get_or_insert_with(|| Binding::new(&plan.root, String::new(), row));
        let mut run = Run {
            plan: &plan,
            bytes_as: self.bytes_as,
            may_add,
            max_keys: self.max_keys,
            scratch: &mut self.scratch,
            spare: &mut self.spare,
        };
        let mut cursor = Cursor::new(value, start);
        run.ops(&plan.root.ops, &plan.root, binding, &mut cursor, row)?;
        Ok(cursor.end()?)
    }
}

impl Binding {
    /// Makes the columns of `scope`, whose paths begin with `path`.
    fn new(scope: &Scope, path: String, row: &mut RowWriter<'_>) -> Self {
        let columns = scope.leaves.iter().map(|leaf| {
            let mut name = join(&path, &leaf.path);
            if name.is_empty() {
                name.push_str(VALUE);
            }
            row.column(Group::Value, &name, leaf.kind)
        });
        Self {
            columns: columns.collect(),
            maps: scope.maps.iter().map(|_| HashMap::new()).collect(),
            path,
        }
    }

    /// Makes the columns of a map's `key`; the map stands at `map` within the scope at `path`.
    fn of_key(values: &Scope, path: &str, map: &str, key: &[u8], row: &mut RowWriter<'_>) -> Self {
        let mut path = join(path, map);
        push_segment(&mut path, &String::from_utf8_lossy(key));
        Self::new(values, path, row)
    }
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
/// The schema's own type is the plan's first.
const ROOT: usize = 0;

#[cfg(test)]
mod tests;
