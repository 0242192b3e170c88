//! A plan over bytes: values into columns, or passed over.

use super::Binding;
use super::compile::{Op, Plan, Scope};
use super::cursor::{AvroError, Cursor, MAX_TEXT};
use super::scalar::Scalar;
use super::types::{Type, TypeId};
use crate::columns::{ColumnId, Group, Kind, RowWriter, Trouble};
use crate::config::BytesAs;
use crate::decode::text::quote_from;

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
    Avro(AvroError),
    /// A column is needed that is not there.
    NewColumn,
}

impl From<AvroError> for Stop {
    fn from(error: AvroError) -> Self {
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
                Op::Leaf(of, leaf) => self.leaf(
                    *of,
                    &scope.leaves[*leaf].path,
                    binding.columns[*leaf],
                    cursor,
                    row,
                )?,
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
                        row.trouble(Trouble::LeftOut, |sample| {
                            sample.push_str(&of.path);
                        });
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
        column: Option<ColumnId>,
        cursor: &mut Cursor<'_>,
        row: &mut RowWriter<'_>,
    ) -> Result<(), Stop> {
        let Some(id) = column else {
            self.skip(of, cursor)?;
            row.trouble(Trouble::LeftOut, |sample| sample.push_str(path));
            return Ok(());
        };
        let plan = self.plan;
        if let Some(scalar) = Scalar::read(&plan.types[of], cursor)? {
            self.scalar(scalar, id, path, row);
        } else {
            self.scratch.clear();
            self.json(of, cursor)?;
            row.text(id, self.scratch, false);
        }
        Ok(())
    }

    fn scalar(&mut self, scalar: Scalar<'_>, id: ColumnId, path: &str, row: &mut RowWriter<'_>) {
        let kind = row.kind(id);
        match scalar {
            Scalar::Null => return row.null(id),
            Scalar::Boolean(value) => return row.boolean(id, value),
            Scalar::Integer(value) => {
                if kind != Kind::Text && value.unsigned_abs() > MAX_EXACT {
                    row.trouble(Trouble::Imprecise, |sample| sample.push_str(path));
                }
                return row.integer(id, value);
            }
            Scalar::Date(_) | Scalar::Instant(..) if kind == Kind::Time => {
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
            Scalar::Single(value) => row.float(id, value.into(), self.scratch),
            Scalar::Double(value) => row.float(id, value, self.scratch),
            Scalar::Decimal(..) => {
                let text = std::str::from_utf8(self.scratch).unwrap_or_default();
                let value: f64 = text.parse().unwrap_or_default();
                if value.is_infinite() && kind != Kind::Text {
                    row.null(id);
                    return row.trouble(Trouble::OutOfRange, |sample| sample.push_str(path));
                }
                row.float(id, value, self.scratch);
            }
            _ => super::super::write_text(id, self.scratch, row, path),
        }
    }

    /// Appends a value as compact JSON.
    fn json(&mut self, of: TypeId, cursor: &mut Cursor<'_>) -> Result<(), AvroError> {
        if self.scratch.len() > MAX_TEXT {
            return Err(AvroError::Long { at: cursor.pos });
        }
        let plan = self.plan;
        if let Some(scalar) = Scalar::read(&plan.types[of], cursor)? {
            if scalar.is_bare() {
                scalar.show(self.bytes_as, self.scratch);
            } else {
                let start = self.scratch.len();
                scalar.show(self.bytes_as, self.scratch);
                quote_from(self.scratch, start, self.spare);
            }
            return Ok(());
        }
        if let Type::Union(branches) = &plan.types[of] {
            let branch = cursor.index(branches.len(), "the number of a union's branch")?;
            return self.json(branches[branch], cursor);
        }
        if let Type::Default(bytes, of) = &plan.types[of] {
            return self.json(*of, &mut Cursor::new(bytes, 0));
        }
        cursor.enter()?;
        match &plan.types[of] {
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
        let start = self.scratch.len();
        self.scratch.extend_from_slice(name);
        quote_from(self.scratch, start, self.spare);
        self.scratch.push(b':');
    }

    /// Reads blocks of items, with commas between them.
    fn items(
        &mut self,
        cursor: &mut Cursor<'_>,
        free: bool,
        mut item: impl FnMut(&mut Self, &mut Cursor<'_>) -> Result<(), AvroError>,
    ) -> Result<(), AvroError> {
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

    fn skip(&self, of: TypeId, cursor: &mut Cursor<'_>) -> Result<(), AvroError> {
        self.plan.skip(of, cursor)
    }
}

impl Plan {
    /// Passes over a value, and makes sure that it is one.
    pub(super) fn skip(&self, of: TypeId, cursor: &mut Cursor<'_>) -> Result<(), AvroError> {
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

/// From here on two whole numbers may have one float64: 2^53.
const MAX_EXACT: u64 = 1 << 53;
