//! A plan over bytes: values into columns, or passed over.

use super::compile::{Op, Plan, Scope};
use super::cursor::{AvroError, Cursor, Fault, MAX_TEXT};
use super::scalar::Scalar;
use super::types::{Type, TypeId};
use super::{Binding, left_out};
use crate::columns::{ColumnId, Group, Kind, RowWriter, Trouble};
use crate::config::BytesAs;
use crate::decode::text::{as_written, quote, quote_from};
use crate::decode::write_text;

/// Is what a run needs beside the cursor.
#[derive(Debug)]
pub(super) struct Run<'a> {
    pub(super) plan: &'a Plan,
    /// Whose columns the cells are in: those of keys, or of values.
    pub(super) group: Group,
    pub(super) bytes_as: BytesAs,
    /// A map's new key makes a column; not before the record is known to be good.
    pub(super) may_add: bool,
    /// How many keys of one map get columns.
    pub(super) max_keys: usize,
    /// The text of a cell, as it grows.
    pub(super) scratch: &'a mut Vec<u8>,
    pub(super) spare: &'a mut Vec<u8>,
}

/// Says why a run stopped.
#[derive(Debug)]
pub(super) enum Stop {
    Avro(Fault),
    /// A column is needed that is not there.
    NewColumn,
}

impl From<Fault> for Stop {
    fn from(error: Fault) -> Self {
        Self::Avro(error)
    }
}

impl Run<'_> {
    /// Reads a record that begins at byte `start`; its first one makes the columns.
    pub(super) fn record(
        &mut self,
        bytes: &[u8],
        start: usize,
        binding: &mut Option<Binding>,
        row: &mut RowWriter<'_>,
    ) -> Result<(), Stop> {
        let root = &self.plan.root;
        let binding = binding.get_or_insert_with(|| Binding::of_record(root, self.group, row));
        let mut cursor = Cursor::new(bytes, start);
        self.ops(&root.ops, root, binding, &mut cursor, row)?;
        Ok(cursor.end()?)
    }

    /// Runs the steps of `ops` in `scope`, whose columns `binding` knows.
    pub(super) fn ops(
        &mut self,
        ops: &[Op],
        scope: &Scope,
        binding: &mut Binding,
        cursor: &mut Cursor<'_>,
        row: &mut RowWriter<'_>,
    ) -> Result<(), Stop> {
        for op in ops {
            match op {
                Op::Boolean(leaf) => {
                    let value = cursor.boolean()?;
                    if let Some(id) = binding.column(*leaf, scope, row) {
                        row.boolean(id, value);
                    }
                }
                Op::Int(leaf) => {
                    let value = cursor.int("an int")?;
                    if let Some(id) = binding.column(*leaf, scope, row) {
                        row.integer(id, value);
                    }
                }
                Op::Long(leaf) => {
                    let value = cursor.long("a long")?;
                    if let Some(id) = binding.column(*leaf, scope, row) {
                        write_integer(value, id, &scope.leaves[*leaf].path, row);
                    }
                }
                Op::Double(leaf) => {
                    let value = cursor.double()?;
                    if let Some(id) = binding.column(*leaf, scope, row) {
                        row.double(id, value);
                    }
                }
                Op::Text(leaf) => {
                    let value = cursor.bytes("a string")?;
                    if let Some(id) = binding.column(*leaf, scope, row) {
                        write_text(id, value, row, &scope.leaves[*leaf].path);
                    }
                }
                Op::Leaf(of, leaf) => match binding.column(*leaf, scope, row) {
                    Some(id) => self.leaf(*of, &scope.leaves[*leaf].path, id, cursor, row)?,
                    None => self.skip(*of, cursor)?,
                },
                Op::Union(branches) => {
                    let branch = cursor.index(branches.len(), "the number of a union's branch")?;
                    self.ops(&branches[branch], scope, binding, cursor, row)?;
                }
                Op::Map(map) => self.map(*map, scope, binding, cursor, row)?,
                Op::Skip(of) => self.plan.skip(*of, cursor)?,
                Op::Default(bytes, ops) => {
                    self.ops(ops, scope, binding, &mut Cursor::new(bytes, 0), row)?;
                }
            }
        }
        Ok(())
    }

    fn map(
        &mut self,
        map: usize,
        scope: &Scope,
        binding: &mut Binding,
        cursor: &mut Cursor<'_>,
        row: &mut RowWriter<'_>,
    ) -> Result<(), Stop> {
        let of = &scope.maps[map];
        cursor.enter()?;
        loop {
            let count = cursor.block(false)?;
            if count == 0 {
                break;
            }
            for _ in 0..count {
                let key = cursor.bytes("a map's key")?;
                let known = &mut binding.maps[map];
                if !known.contains_key(key) {
                    if !self.may_add {
                        return Err(Stop::NewColumn);
                    }
                    if known.len() >= self.max_keys {
                        left_out(&of.path, row);
                        self.skip(of.value, cursor)?;
                        continue;
                    }
                    let at = (binding.path.as_str(), of.path.as_str());
                    let values = Binding::of_key(&of.values, self.group, at, key, row);
                    known.insert(key.into(), values);
                }
                let values = known.get_mut(key).expect("it was just put there");
                self.ops(&of.values.ops, &of.values, values, cursor, row)?;
            }
        }
        cursor.leave();
        Ok(())
    }

    fn leaf(
        &mut self,
        of: TypeId,
        path: &str,
        id: ColumnId,
        cursor: &mut Cursor<'_>,
        row: &mut RowWriter<'_>,
    ) -> Result<(), Fault> {
        let of = &self.plan.types[of];
        if let Some(scalar) = Scalar::read(of, cursor)? {
            self.scalar(scalar, id, path, row);
        } else {
            self.scratch.clear();
            self.compound(of, cursor)?;
            row.text(id, self.scratch, false);
        }
        Ok(())
    }

    fn scalar(&mut self, scalar: Scalar<'_>, id: ColumnId, path: &str, row: &mut RowWriter<'_>) {
        match scalar {
            Scalar::Null => return row.null(id),
            Scalar::Boolean(value) => return row.boolean(id, value),
            Scalar::Integer(value) => return write_integer(value, id, path, row),
            Scalar::Single(value) => return row.double(id, as_written(value)),
            Scalar::Double(value) => return row.double(id, value),
            Scalar::Text(text) => return write_text(id, text, row, path),
            Scalar::Date(_) | Scalar::Instant(..) if row.kind(id) == Kind::Time => {
                if let Some(nanos) = scalar.nanos() {
                    return row.time(id, nanos);
                }
                row.null(id);
                return row.trouble(Trouble::Misfit, |sample| {
                    sample.push('`');
                    sample.push_str(path);
                    sample.push_str("` is outside of the years 1677 to 2262");
                });
            }
            _ => {}
        }
        self.scratch.clear();
        scalar.show(self.bytes_as, self.scratch);
        match scalar {
            Scalar::Decimal(..) => {
                let text = std::str::from_utf8(self.scratch).unwrap_or_default();
                let value: f64 = text.parse().unwrap_or_default();
                if value.is_infinite() && row.kind(id) != Kind::Text {
                    row.null(id);
                    return row.trouble(Trouble::OutOfRange, |sample| sample.push_str(path));
                }
                row.float(id, value, self.scratch);
            }
            _ => write_text(id, self.scratch, row, path),
        }
    }

    /// Appends a value as compact JSON.
    fn json(&mut self, of: TypeId, cursor: &mut Cursor<'_>) -> Result<(), Fault> {
        if self.scratch.len() > MAX_TEXT {
            return Err(Fault::new(AvroError::Long { at: cursor.pos() }));
        }
        let of = &self.plan.types[of];
        match Scalar::read(of, cursor)? {
            Some(Scalar::Text(text)) => quote(text, self.scratch),
            Some(scalar) if scalar.is_bare() => scalar.show(self.bytes_as, self.scratch),
            Some(scalar) => {
                let start = self.scratch.len();
                scalar.show(self.bytes_as, self.scratch);
                quote_from(self.scratch, start, self.spare);
            }
            None => self.compound(of, cursor)?,
        }
        Ok(())
    }

    /// Appends what is no scalar as compact JSON.
    fn compound(&mut self, of: &Type, cursor: &mut Cursor<'_>) -> Result<(), Fault> {
        if let Type::Union(branches) = of {
            let branch = cursor.index(branches.len(), "the number of a union's branch")?;
            return self.json(branches[branch], cursor);
        }
        if let Type::Default(bytes, of) = of {
            return self.json(*of, &mut Cursor::new(bytes, 0));
        }
        let plan = self.plan;
        cursor.enter()?;
        match of {
            Type::Record(fields) => {
                let mut before = b'{';
                for field in fields {
                    let Some(name) = &field.name else {
                        self.skip(field.of, cursor)?;
                        continue;
                    };
                    self.scratch.push(std::mem::replace(&mut before, b','));
                    self.name(name.as_bytes());
                    self.json(field.of, cursor)?;
                }
                let end: &[u8] = if before == b'{' { b"{}" } else { b"}" };
                self.scratch.extend_from_slice(end);
            }
            Type::Array(item) => {
                self.scratch.push(b'[');
                self.items(cursor, plan.free[*item], |run, cursor| {
                    run.json(*item, cursor)
                })?;
                self.scratch.push(b']');
            }
            Type::Map(value) => {
                self.scratch.push(b'{');
                self.items(cursor, false, |run, cursor| {
                    run.name(cursor.bytes("a map's key")?);
                    run.json(*value, cursor)
                })?;
                self.scratch.push(b'}');
            }
            _ => {}
        }
        cursor.leave();
        Ok(())
    }

    fn name(&mut self, name: &[u8]) {
        quote(name, self.scratch);
        self.scratch.push(b':');
    }

    /// Reads blocks of items, with commas between them.
    fn items(
        &mut self,
        cursor: &mut Cursor<'_>,
        free: bool,
        mut item: impl FnMut(&mut Self, &mut Cursor<'_>) -> Result<(), Fault>,
    ) -> Result<(), Fault> {
        let mut first = true;
        loop {
            let count = cursor.block(free)?;
            if count == 0 {
                return Ok(());
            }
            for _ in 0..count {
                if !std::mem::take(&mut first) {
                    self.scratch.push(b',');
                }
                item(self, cursor)?;
            }
        }
    }

    fn skip(&self, of: TypeId, cursor: &mut Cursor<'_>) -> Result<(), Fault> {
        self.plan.skip(of, cursor)
    }
}

impl Plan {
    /// Passes over a value, and makes sure that it is one.
    pub(super) fn skip(&self, of: TypeId, cursor: &mut Cursor<'_>) -> Result<(), Fault> {
        if Scalar::read(&self.types[of], cursor)?.is_some() {
            return Ok(());
        }
        if let Type::Union(branches) = &self.types[of] {
            let branch = cursor.index(branches.len(), "the number of a union's branch")?;
            return self.skip(branches[branch], cursor);
        }
        cursor.enter()?;
        match &self.types[of] {
            Type::Record(fields) => {
                for field in fields {
                    self.skip(field.of, cursor)?;
                }
            }
            Type::Array(item) => {
                let free = self.free[*item];
                loop {
                    let count = cursor.block(free)?;
                    if count == 0 {
                        break;
                    }
                    for _ in 0..count {
                        self.skip(*item, cursor)?;
                    }
                }
            }
            Type::Map(value) => loop {
                let count = cursor.block(false)?;
                if count == 0 {
                    break;
                }
                for _ in 0..count {
                    cursor.bytes("a map's key")?;
                    self.skip(*value, cursor)?;
                }
            },
            _ => {}
        }
        cursor.leave();
        Ok(())
    }
}

fn write_integer(value: i64, id: ColumnId, path: &str, row: &mut RowWriter<'_>) {
    if value.unsigned_abs() > MAX_EXACT && row.kind(id) != Kind::Text {
        row.trouble(Trouble::Imprecise, |sample| sample.push_str(path));
    }
    row.integer(id, value);
}

/// From here on two whole numbers may have one float64: 2^53.
const MAX_EXACT: u64 = 1 << 53;
