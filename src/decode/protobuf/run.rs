//! A plan over bytes, straight into columns.
//!
//! This is the fast way: it takes each field of a message once, a list's items and a map's entries one after another, as
//! all producers write them. What is allowed beside that (a message in two parts, a list in two places, two members of a
//! oneof, a map's key twice) stops it, and goes through [`super::canonical`] first.

use super::binding::Binding;
use super::json::{Entry, VALUE};
use super::known;
use super::plan::{Field, Form, Leaf, Message, Node, Plan, Scope, Shape, Slot, Type};
use super::scalar::Scalar;
use super::wire::{Cursor, Fault, Wire};
use crate::columns::{ColumnId, Kind, RowWriter, Trouble};
use crate::config::BytesAs;
use crate::decode::text::as_written;
use crate::decode::write_text;

/// Is what a run needs beside the cursor.
#[derive(Debug)]
pub(super) struct Run<'a> {
    pub(super) plan: &'a Plan,
    /// A map's new key makes a column; not before the record is known to be good.
    pub(super) may_add: bool,
    pub(super) room: &'a mut Room,
}

/// Is what all runs of a stream share: how they show values, and memory.
#[derive(Debug)]
pub(super) struct Room {
    pub(super) bytes_as: BytesAs,
    /// How many keys of one map get columns.
    pub(super) max_keys: usize,
    /// Tells this run's keys of a map from those of earlier ones.
    pub(super) stamp: u64,
    /// The text of a cell, as it grows.
    pub(super) scratch: Vec<u8>,
    pub(super) spare: Vec<u8>,
    /// What the messages that are open have more of [`Seen`].
    pub(super) seen: Vec<u64>,
    /// Where the keys of each map that is open stand in `scratch`.
    pub(super) keys: Vec<(usize, usize)>,
}

/// Marks what was seen of a message that is open: a bit a field, then a bit a oneof.
#[derive(Debug)]
pub(super) struct Seen {
    /// The first 64 bits, which most messages do with.
    first: u64,
    /// Where the others stand in [`Room::seen`].
    rest: usize,
}

/// Says why a run stopped.
#[derive(Debug)]
pub(super) enum Stop {
    Protobuf(Fault),
    /// A column is needed that is not there.
    NewColumn,
    /// A field comes again where it is allowed and nobody does it.
    Again,
}

impl From<Fault> for Stop {
    fn from(error: Fault) -> Self {
        Self::Protobuf(error)
    }
}

impl Run<'_> {
    /// Reads a message into the columns of `scope`, to the end of the cursor or of its group.
    pub(super) fn message(
        &mut self,
        node: &Node,
        group: Option<u32>,
        scope: &Scope,
        binding: &mut Binding,
        cursor: &mut Cursor<'_>,
        row: &mut RowWriter<'_>,
    ) -> Result<(), Stop> {
        let plan = self.plan;
        let message = &plan.messages[node.message];
        let mut seen = self.begin(message);
        let mut next = 0;
        while let Some((place, field, wire)) = message.next(next, group, cursor)? {
            next = place + 1;
            self.mark(&mut seen, place, field)?;
            match &node.slots[place] {
                Slot::Leaf(leaf) if field.shape == Shape::One => {
                    field.expect(wire, cursor.pos)?;
                    self.one(
                        field,
                        field.number,
                        wire,
                        *leaf,
                        scope,
                        binding,
                        cursor,
                        row,
                    )?;
                }
                Slot::Leaf(leaf) => {
                    self.list_or_map(field, wire, *leaf, scope, binding, cursor, row)?;
                }
                Slot::Node(inner) => {
                    field.expect(wire, cursor.pos)?;
                    let (group, end) = cursor.begin(field.number, wire)?;
                    self.message(inner, group, scope, binding, cursor, row)?;
                    cursor.finish(end);
                }
                Slot::Map(map) => self.map(field, wire, *map, scope, binding, cursor, row)?,
            }
        }
        for (i, implicit) in message.implicit.iter().enumerate() {
            let mut absent = implicit & !self.word(&seen, i);
            while absent != 0 {
                let place = i * 64 + absent.trailing_zeros() as usize;
                absent &= absent - 1;
                if let Slot::Leaf(leaf) = node.slots[place] {
                    self.default(&message.fields[place], leaf, scope, binding, row);
                }
            }
        }
        self.end(&seen);
        Ok(())
    }

    /// Begins to note what is seen of a message.
    #[inline]
    pub(super) fn begin(&mut self, message: &Message) -> Seen {
        let rest = self.room.seen.len();
        if message.words > 1 {
            self.room.seen.resize(rest + message.words - 1, 0);
        }
        Seen { first: 0, rest }
    }

    /// Notes that a field, and its oneof, were seen.
    #[inline]
    pub(super) fn mark(
        &mut self,
        seen: &mut Seen,
        place: usize,
        field: &Field,
    ) -> Result<(), Stop> {
        self.mark_bit(seen, place)?;
        match field.oneof {
            None => Ok(()),
            Some(oneof) => self.mark_bit(seen, oneof),
        }
    }

    #[inline]
    fn mark_bit(&mut self, seen: &mut Seen, bit: usize) -> Result<(), Stop> {
        let word = match (bit / 64).checked_sub(1) {
            None => &mut seen.first,
            Some(word) => &mut self.room.seen[seen.rest + word],
        };
        let before = *word;
        *word |= 1 << (bit % 64);
        if before == *word {
            return Err(Stop::Again);
        }
        Ok(())
    }

    /// Gives one word of the mask of what was seen.
    #[inline]
    pub(super) fn word(&self, seen: &Seen, word: usize) -> u64 {
        match word.checked_sub(1) {
            None => seen.first,
            Some(word) => self.room.seen[seen.rest + word],
        }
    }

    #[inline]
    pub(super) fn end(&mut self, seen: &Seen) {
        self.room.seen.truncate(seen.rest);
    }

    #[expect(clippy::too_many_arguments, reason = "a field's place, in and out")]
    fn map(
        &mut self,
        field: &Field,
        mut wire: Wire,
        map: usize,
        scope: &Scope,
        binding: &mut Binding,
        cursor: &mut Cursor<'_>,
        row: &mut RowWriter<'_>,
    ) -> Result<(), Stop> {
        let Shape::Map(key) = field.shape else {
            return Ok(());
        };
        let (plan, of) = (self.plan, &scope.maps[map]);
        loop {
            field.expect(wire, cursor.pos)?;
            let end = cursor.open("the length of a map's entry")?;
            let entry = Entry::read(field, key, &plan.enums, cursor)?;
            let mut digits = itoa::Buffer::new();
            let name = match entry.key {
                Scalar::Text(text) => text,
                Scalar::Signed(value) => digits.format(value).as_bytes(),
                Scalar::Unsigned(value) => digits.format(value).as_bytes(),
                Scalar::Bool(true) => b"true",
                _ => b"false",
            };
            let known = &mut binding.maps[map];
            let mut place = known.place(name);
            if place.is_none() && !self.may_add {
                return Err(Stop::NewColumn);
            }
            if place.is_none() && known.len() < self.room.max_keys {
                let values = binding.at.of_key(&of.values, &of.path, name, row);
                place = Some(known.add(name, values));
            }
            if let Some(place) = place {
                let keyed = known.turn_to(place);
                if std::mem::replace(&mut keyed.stamp, self.room.stamp) == self.room.stamp {
                    return Err(Stop::Again);
                }
                let values = &mut keyed.values;
                match entry.value {
                    Some(value) => {
                        let after = std::mem::replace(&mut cursor.pos, value);
                        self.map_value(field, &of.values, values, cursor, row)?;
                        cursor.pos = after;
                    }
                    None => self.absent_value(field, &of.values, values, row)?,
                }
            } else {
                row.trouble(Trouble::LeftOut, |sample| sample.push_str(&of.path));
            }
            cursor.close(end);
            match cursor.next_is(field.number) {
                Some(next) => wire = next,
                None => return Ok(()),
            }
        }
    }

    fn map_value(
        &mut self,
        field: &Field,
        values: &Scope,
        binding: &mut Binding,
        cursor: &mut Cursor<'_>,
        row: &mut RowWriter<'_>,
    ) -> Result<(), Stop> {
        match &values.slot {
            Slot::Node(node) => {
                let (group, end) = cursor.begin(VALUE, Wire::Len)?;
                self.message(node, group, values, binding, cursor, row)?;
                cursor.finish(end);
            }
            Slot::Leaf(leaf) => {
                let wire = field.of.wire();
                self.one(field, VALUE, wire, *leaf, values, binding, cursor, row)?;
            }
            Slot::Map(_) => {}
        }
        Ok(())
    }

    /// Writes what a map's key without a value has: the default, or an empty message.
    fn absent_value(
        &mut self,
        field: &Field,
        values: &Scope,
        binding: &mut Binding,
        row: &mut RowWriter<'_>,
    ) -> Result<(), Stop> {
        match (&values.slot, field.of) {
            (Slot::Leaf(leaf), of) if !matches!(of, Type::Message(_)) => {
                let scalar = Scalar::default_of(of, &self.plan.enums);
                if let Some(id) = binding.columns[*leaf] {
                    self.scalar(scalar, id, &values.leaves[*leaf], row);
                }
                Ok(())
            }
            // A length of zero: the message without a field.
            _ => self.map_value(field, values, binding, &mut Cursor::new(&[0], 0), row),
        }
    }

    /// Reads a list or a map into one column.
    #[expect(clippy::too_many_arguments, reason = "a field's place, in and out")]
    fn list_or_map(
        &mut self,
        field: &Field,
        wire: Wire,
        leaf: usize,
        scope: &Scope,
        binding: &Binding,
        cursor: &mut Cursor<'_>,
        row: &mut RowWriter<'_>,
    ) -> Result<(), Stop> {
        self.room.scratch.clear();
        match field.shape {
            Shape::Map(key) => self.object_of_map(field, key, wire, cursor)?,
            _ => self.list(field, wire, cursor)?,
        }
        match binding.columns[leaf] {
            Some(id) => row.text(id, &self.room.scratch, false),
            None => left_out(&scope.leaves[leaf], row),
        }
        Ok(())
    }

    /// Reads one value, which has the tag of field `number`, into a column.
    ///
    /// The types that most fields have go straight through (`benches/workflow.rs`, `protobuf`); [`Run::scalar`] is their twin.
    #[expect(clippy::too_many_arguments, reason = "a field's place, in and out")]
    #[expect(
        clippy::inline_always,
        reason = "a leaf is a few instructions, and a call as many again"
    )]
    #[inline(always)]
    fn one(
        &mut self,
        field: &Field,
        number: u32,
        wire: Wire,
        leaf: usize,
        scope: &Scope,
        binding: &Binding,
        cursor: &mut Cursor<'_>,
        row: &mut RowWriter<'_>,
    ) -> Result<(), Stop> {
        let (leaf, column) = (&scope.leaves[leaf], binding.columns[leaf]);
        let Some(id) = column else {
            cursor.skip(number, wire)?;
            left_out(leaf, row);
            return Ok(());
        };
        match field.of {
            Type::Text => write_text(id, cursor.bytes("a text's length")?, row, &leaf.path),
            Type::Int64 => signed(cursor.varint("a number")? as i64, id, leaf, row),
            Type::Double => row.double(id, f64::from_le_bytes(cursor.array("8 bytes")?)),
            Type::Bool => row.boolean(id, cursor.varint("a boolean")? != 0),
            of => self.other(of, number, wire, id, leaf, cursor, row)?,
        }
        Ok(())
    }

    #[expect(clippy::too_many_arguments, reason = "a field's place, in and out")]
    #[inline(never)]
    fn other(
        &mut self,
        of: Type,
        number: u32,
        wire: Wire,
        id: ColumnId,
        leaf: &Leaf,
        cursor: &mut Cursor<'_>,
        row: &mut RowWriter<'_>,
    ) -> Result<(), Stop> {
        if let Type::Message(message) = of {
            let (group, end) = cursor.begin(number, wire)?;
            self.known(message, group, id, leaf, cursor, row)?;
            cursor.finish(end);
        } else {
            let scalar = Scalar::read(of, &self.plan.enums, cursor)?;
            self.scalar(scalar, id, leaf, row);
        }
        Ok(())
    }

    /// Reads a message that has one column.
    fn known(
        &mut self,
        message: usize,
        group: Option<u32>,
        id: ColumnId,
        leaf: &Leaf,
        cursor: &mut Cursor<'_>,
        row: &mut RowWriter<'_>,
    ) -> Result<(), Stop> {
        let plan = self.plan;
        let of = &plan.messages[message];
        self.room.scratch.clear();
        match of.form {
            Form::Timestamp => {
                let instant = known::seconds_and_nanos(group, cursor)?;
                match instant.since_1970() {
                    Some(nanos) => row.time(id, nanos),
                    None if row.kind(id) == Kind::Text => {
                        known::show_timestamp(instant, &mut self.room.scratch);
                        row.text(id, &self.room.scratch, true);
                    }
                    None => row.trouble(Trouble::Misfit, |sample| {
                        sample.push('`');
                        sample.push_str(&leaf.path);
                        sample.push_str("` is outside of the years 1677 to 2262");
                    }),
                }
            }
            Form::Duration => {
                let duration = known::seconds_and_nanos(group, cursor)?;
                known::show_duration(duration, &mut self.room.scratch);
                let text = std::str::from_utf8(&self.room.scratch).unwrap_or_default();
                row.float(id, text.parse().unwrap_or_default(), &self.room.scratch);
            }
            Form::FieldMask => {
                known::show_field_mask(group, cursor, &mut self.room.scratch)?;
                write_text(id, &self.room.scratch, row, &leaf.path);
            }
            _ => {
                let Some(wrapped) = of.wrapped() else {
                    self.json(message, group, cursor)?;
                    // Of `Value`, whose null is JSON's.
                    if self.room.scratch != b"null" {
                        row.text(id, &self.room.scratch, false);
                    }
                    return Ok(());
                };
                let mut scalar = Scalar::default_of(wrapped, &plan.enums);
                while let Some((_, field, wire)) = of.next(0, group, cursor)? {
                    field.expect(wire, cursor.pos)?;
                    scalar = Scalar::read(wrapped, &plan.enums, cursor)?;
                }
                self.scalar(scalar, id, leaf, row);
            }
        }
        Ok(())
    }

    fn scalar(&mut self, scalar: Scalar<'_>, id: ColumnId, leaf: &Leaf, row: &mut RowWriter<'_>) {
        match scalar {
            Scalar::Null => {}
            Scalar::Bool(value) => row.boolean(id, value),
            Scalar::Signed(value) => signed(value, id, leaf, row),
            Scalar::Unsigned(value) => {
                if value > MAX_EXACT {
                    imprecise(id, leaf, row);
                }
                row.unsigned(id, value);
            }
            Scalar::Double(value) => row.double(id, value),
            Scalar::Single(value) => row.double(id, as_written(value)),
            Scalar::Text(text) => write_text(id, text, row, &leaf.path),
            Scalar::Name(name) => row.text(id, name.as_bytes(), true),
            Scalar::Number(_) | Scalar::Bytes(_) => {
                self.room.scratch.clear();
                scalar.show(self.room.bytes_as, &mut self.room.scratch);
                write_text(id, &self.room.scratch, row, &leaf.path);
            }
        }
    }

    /// Writes what an absent field without presence shows.
    #[cold]
    fn default(
        &mut self,
        field: &Field,
        leaf: usize,
        scope: &Scope,
        binding: &Binding,
        row: &mut RowWriter<'_>,
    ) {
        let Some(id) = binding.columns[leaf] else {
            return;
        };
        if field.shape == Shape::One {
            let scalar = Scalar::default_of(field.of, &self.plan.enums);
            return self.scalar(scalar, id, &scope.leaves[leaf], row);
        }
        self.room.scratch.clear();
        self.default_json(field);
        row.text(id, &self.room.scratch, true);
    }
}

#[inline]
fn signed(value: i64, id: ColumnId, leaf: &Leaf, row: &mut RowWriter<'_>) {
    if value.unsigned_abs() > MAX_EXACT {
        imprecise(id, leaf, row);
    }
    row.integer(id, value);
}

#[cold]
fn imprecise(id: ColumnId, leaf: &Leaf, row: &mut RowWriter<'_>) {
    if row.kind(id) != Kind::Text {
        row.trouble(Trouble::Imprecise, |sample| sample.push_str(&leaf.path));
    }
}

#[cold]
fn left_out(leaf: &Leaf, row: &mut RowWriter<'_>) {
    row.trouble(Trouble::LeftOut, |sample| sample.push_str(&leaf.path));
}

/// From here on two whole numbers may have one float64: 2^53.
const MAX_EXACT: u64 = 1 << 53;
