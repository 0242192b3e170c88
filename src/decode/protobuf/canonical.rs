//! The slow way: a record's bytes written again as most producers would have.
//!
//! Each field of a message stands in one place then: of a scalar the last value, of a message all its parts as one, of a list
//! all items one after another, of a oneof the last member, of a map one entry a key. What the schema does not know is left
//! out. Every byte is looked at, so a record that comes through is well formed.

use std::collections::{BTreeMap, HashMap, hash_map};

use super::json::{KEY, VALUE};
use super::plan::{Field, Form, MessageId, Plan, Shape, Type};
use super::scalar::Scalar;
use super::wire::{Cursor, Fault, Wire, put_varint};
use crate::config::BytesAs;

/// Appends the message that `parts` are, which must be the bytes of one message in one or more places.
pub(super) fn message(
    plan: &Plan,
    id: MessageId,
    parts: &mut [Cursor<'_>],
    out: &mut Vec<u8>,
) -> Result<(), Fault> {
    let of = &plan.messages[id];
    let mut found: BTreeMap<usize, Vec<Found<'_>>> = BTreeMap::new();
    let mut members: HashMap<usize, usize> = HashMap::new();
    let mut turn = 0;
    for cursor in parts {
        while let Some((place, field, wire)) = of.next(0, None, cursor)? {
            let is_packed =
                wire == Wire::Len && field.shape == Shape::Many && field.of.is_packable();
            if !is_packed {
                field.expect(wire, cursor.pos)?;
            }
            if let Some(oneof) = field.oneof
                && let Some(other) = members.insert(oneof, place)
                && other != place
            {
                found.remove(&other);
            }
            turn += 1;
            let one = Found::read(field, wire, turn, cursor)?;
            found.entry(place).or_default().push(one);
        }
    }
    if of.form == Form::Any {
        return any(plan, &found, out);
    }
    let mut found: Vec<_> = found.into_iter().collect();
    // As they came, so that a list's items show alike whichever way they went.
    found.sort_by_key(|(_, found)| found.first().map(|first| first.turn));
    for (place, mut found) in found {
        let field = &of.fields[place];
        match (field.shape, field.of) {
            (Shape::One, Type::Message(id)) => {
                let mut parts: Vec<_> =
                    found.iter_mut().map(|found| found.cursor.clone()).collect();
                put_message(plan, field.number, field.wire, id, &mut parts, out)?;
            }
            (Shape::One, _) => {
                if let Some(last) = found.last() {
                    last.put(field.number, out);
                }
            }
            (Shape::Many, Type::Message(id)) => {
                for found in &mut found {
                    let parts = std::slice::from_mut(&mut found.cursor);
                    put_message(plan, field.number, field.wire, id, parts, out)?;
                }
            }
            (Shape::Many, _) => {
                for found in found {
                    found.put(field.number, out);
                }
            }
            (Shape::Map(key), _) => entries(plan, field, key, found, out)?,
        }
    }
    Ok(())
}

/// Is one value that was found, without its tag.
struct Found<'a> {
    /// How many were found before it in the message.
    turn: usize,
    wire: Wire,
    /// The value as it stands there.
    raw: &'a [u8],
    /// What is in it, where it has a length or is a group.
    cursor: Cursor<'a>,
}

impl<'a> Found<'a> {
    /// Passes over a value whose tag was read, and looks at each part of it that is no message.
    fn read(
        field: &Field,
        wire: Wire,
        turn: usize,
        cursor: &mut Cursor<'a>,
    ) -> Result<Self, Fault> {
        let start = cursor.pos;
        let mut inner = cursor.clone();
        match wire {
            Wire::Len => {
                inner.enter()?;
                inner.open("a length")?;
                cursor.skip(field.number, wire)?;
            }
            Wire::Group => {
                inner.enter()?;
                inner.until(cursor.skip_group(field.number)?);
            }
            _ => cursor.skip(field.number, wire)?,
        }
        let raw = cursor.since(start);
        if wire == Wire::Len && field.shape == Shape::Many && field.of.is_packable() {
            let mut items = inner.clone();
            while !items.is_at_end() {
                items.skip(field.number, field.wire)?;
            }
        }
        Ok(Self {
            turn,
            wire,
            raw,
            cursor: inner,
        })
    }

    fn put(&self, number: u32, out: &mut Vec<u8>) {
        put_tag(number, self.wire, out);
        out.extend_from_slice(self.raw);
    }
}

fn put_message(
    plan: &Plan,
    number: u32,
    wire: Wire,
    id: MessageId,
    parts: &mut [Cursor<'_>],
    out: &mut Vec<u8>,
) -> Result<(), Fault> {
    put_tag(number, wire, out);
    let mut inner = Vec::new();
    message(plan, id, parts, &mut inner)?;
    if wire == Wire::Len {
        put_varint(inner.len() as u64, out);
    }
    out.append(&mut inner);
    if wire == Wire::Group {
        put_tag(number, Wire::GroupEnd, out);
    }
    Ok(())
}

/// Writes one entry a key, each at its key's first place.
fn entries(
    plan: &Plan,
    field: &Field,
    key: Type,
    found: Vec<Found<'_>>,
    out: &mut Vec<u8>,
) -> Result<(), Fault> {
    let mut entries: Vec<Vec<u8>> = Vec::new();
    let mut places: HashMap<Vec<u8>, usize> = HashMap::new();
    for mut found in found {
        let cursor = &mut found.cursor;
        let (mut name, mut raw_key, mut values) = (None, None, Vec::new());
        while !cursor.is_at_end() {
            let (number, wire) = cursor.tag()?;
            let (start, mut inner) = (cursor.pos, cursor.clone());
            match number {
                KEY => {
                    key.expect(number, wire, start)?;
                    name = Some(Scalar::read(key, &plan.enums, cursor)?);
                    raw_key = Some(cursor.since(start));
                }
                VALUE => {
                    field.of.expect(number, wire, start)?;
                    cursor.skip(number, wire)?;
                    if wire == Wire::Len {
                        inner.open("a length")?;
                        inner.enter()?;
                    }
                    values.push((cursor.since(start), inner));
                }
                _ => cursor.skip(number, wire)?,
            }
        }
        let mut entry = Vec::new();
        if let Some(raw) = raw_key {
            put_tag(KEY, key.wire(), &mut entry);
            entry.extend_from_slice(raw);
        }
        if let Type::Message(id) = field.of {
            if !values.is_empty() {
                let mut parts: Vec<_> = values.into_iter().map(|(_, cursor)| cursor).collect();
                put_message(plan, VALUE, Wire::Len, id, &mut parts, &mut entry)?;
            }
        } else if let Some((raw, _)) = values.last() {
            put_tag(VALUE, field.of.wire(), &mut entry);
            entry.extend_from_slice(raw);
        }
        let mut text = Vec::new();
        let name = name.unwrap_or_else(|| Scalar::default_of(key, &plan.enums));
        name.show(BytesAs::Hex, &mut text);
        match places.entry(text) {
            hash_map::Entry::Occupied(place) => entries[*place.get()] = entry,
            hash_map::Entry::Vacant(place) => {
                place.insert(entries.len());
                entries.push(entry);
            }
        }
    }
    for entry in entries {
        put_tag(field.number, Wire::Len, out);
        put_varint(entry.len() as u64, out);
        out.extend_from_slice(&entry);
    }
    Ok(())
}

/// Writes an `Any`, and what it holds, where that is known.
fn any(
    plan: &Plan,
    found: &BTreeMap<usize, Vec<Found<'_>>>,
    out: &mut Vec<u8>,
) -> Result<(), Fault> {
    let [url, value] = [0, 1].map(|place| found.get(&place).and_then(|found| found.last()));
    if let Some(url) = url {
        url.put(1, out);
    }
    let Some(value) = value else { return Ok(()) };
    if let Some(id) = url.and_then(|url| plan.held(url.cursor.rest())) {
        let mut within = value.cursor.within(value.cursor.rest());
        let parts = std::slice::from_mut(&mut within);
        return put_message(plan, 2, Wire::Len, id, parts, out);
    }
    value.put(2, out);
    Ok(())
}

fn put_tag(number: u32, wire: Wire, out: &mut Vec<u8>) {
    put_varint(u64::from(number) << 3 | wire as u64, out);
}
