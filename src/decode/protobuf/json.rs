//! Values as compact JSON: lists, maps, what nests too deep, and the types that have no other shape.

use super::known;
use super::plan::{Enum, Field, Form, MessageId, Shape, Type};
use super::run::{Run, Stop};
use super::scalar::Scalar;
use super::wire::{Cursor, MAX_TEXT, ProtobufError, Wire};
use crate::decode::text::{quote, quote_from};

impl Run<'_> {
    /// Appends one value of field `number`, whose tag was read, and was right.
    fn value(
        &mut self,
        of: Type,
        number: u32,
        wire: Wire,
        cursor: &mut Cursor<'_>,
    ) -> Result<(), Stop> {
        if self.room.scratch.len() > MAX_TEXT {
            return Err(Stop::Protobuf(
                ProtobufError::Long { at: cursor.pos }.into(),
            ));
        }
        let Type::Message(id) = of else {
            let scalar = Scalar::read(of, &self.plan.enums, cursor)?;
            scalar.show_json(self.room.bytes_as, &mut self.room.scratch);
            return Ok(());
        };
        let (group, end) = cursor.begin(number, wire)?;
        self.json(id, group, cursor)?;
        cursor.finish(end);
        Ok(())
    }

    /// Appends all values of a list that stand together, the first of which has its tag read.
    pub(super) fn list(
        &mut self,
        field: &Field,
        mut wire: Wire,
        cursor: &mut Cursor<'_>,
    ) -> Result<(), Stop> {
        self.room.scratch.push(b'[');
        let mut is_first = true;
        loop {
            if wire == Wire::Len && field.of.is_packable() && field.wire != Wire::Group {
                let end = cursor.open("the length of a packed list")?;
                while !cursor.is_at_end() {
                    self.comma(&mut is_first);
                    self.value(field.of, field.number, field.wire, cursor)?;
                }
                cursor.close(end);
            } else {
                field.expect(wire, cursor.pos)?;
                self.comma(&mut is_first);
                self.value(field.of, field.number, wire, cursor)?;
            }
            match cursor.next_is(field.number) {
                Some(next) => wire = next,
                None => break,
            }
        }
        self.room.scratch.push(b']');
        Ok(())
    }

    /// Appends all entries of a map that stand together, the first of which has its tag read.
    pub(super) fn object_of_map(
        &mut self,
        field: &Field,
        key: Type,
        mut wire: Wire,
        cursor: &mut Cursor<'_>,
    ) -> Result<(), Stop> {
        self.room.scratch.push(b'{');
        let first_key = self.room.keys.len();
        let mut is_first = true;
        loop {
            field.expect(wire, cursor.pos)?;
            self.comma(&mut is_first);
            let end = cursor.open("the length of a map's entry")?;
            let entry = Entry::read(field, key, &self.plan.enums, cursor)?;
            let start = self.room.scratch.len();
            match entry.key {
                Scalar::Text(text) => quote(text, &mut self.room.scratch),
                key => {
                    self.room.scratch.push(b'"');
                    key.show(self.room.bytes_as, &mut self.room.scratch);
                    self.room.scratch.push(b'"');
                }
            }
            self.key(first_key, start)?;
            self.room.scratch.push(b':');
            match entry.value {
                Some(value) => {
                    let after = std::mem::replace(&mut cursor.pos, value);
                    self.value(field.of, VALUE, field.of.wire(), cursor)?;
                    cursor.pos = after;
                }
                None => self.absent(field.of)?,
            }
            cursor.close(end);
            match cursor.next_is(field.number) {
                Some(next) => wire = next,
                None => break,
            }
        }
        self.sort_keys(first_key)?;
        self.room.keys.truncate(first_key);
        self.room.scratch.push(b'}');
        Ok(())
    }

    /// Notes the key that begins at `start`; one that is there already is for the slow way.
    fn key(&mut self, first: usize, start: usize) -> Result<(), Stop> {
        let (scratch, key) = (&*self.room.scratch, (start, self.room.scratch.len()));
        let known = &self.room.keys[first..];
        let is = |&(from, to): &(usize, usize)| scratch[from..to] == scratch[key.0..key.1];
        if known.len() < FEW_KEYS && known.iter().any(is) {
            return Err(Stop::Again);
        }
        self.room.keys.push(key);
        Ok(())
    }

    /// Finds a key that is there twice among many.
    fn sort_keys(&mut self, first: usize) -> Result<(), Stop> {
        let (scratch, keys) = (&*self.room.scratch, &mut self.room.keys[first..]);
        if keys.len() <= FEW_KEYS {
            return Ok(());
        }
        let text = |&(from, to): &(usize, usize)| &scratch[from..to];
        keys.sort_unstable_by(|a, b| text(a).cmp(text(b)));
        if keys.windows(2).any(|pair| text(&pair[0]) == text(&pair[1])) {
            return Err(Stop::Again);
        }
        Ok(())
    }

    /// Appends what an absent value of `of` is, where something must stand: a map's key without a value.
    fn absent(&mut self, of: Type) -> Result<(), Stop> {
        match of {
            Type::Message(id) => self.json(id, None, &mut Cursor::new(&[], 0)),
            of => {
                Scalar::default_of(of, &self.plan.enums)
                    .show_json(self.room.bytes_as, &mut self.room.scratch);
                Ok(())
            }
        }
    }

    /// Appends a message, to the end of the cursor or of its group.
    pub(super) fn json(
        &mut self,
        id: MessageId,
        group: Option<u32>,
        cursor: &mut Cursor<'_>,
    ) -> Result<(), Stop> {
        match self.plan.messages[id].form {
            Form::Object => {
                self.room.scratch.push(b'{');
                self.fields(id, group, cursor, &mut true)?;
                self.room.scratch.push(b'}');
            }
            Form::Transparent => {
                let start = self.room.scratch.len();
                self.fields(id, group, cursor, &mut true)?;
                if self.room.scratch.len() == start {
                    self.room.scratch.extend_from_slice(b"null");
                }
            }
            Form::Timestamp => {
                let instant = known::seconds_and_nanos(group, cursor)?;
                self.room.scratch.push(b'"');
                known::show_timestamp(instant, &mut self.room.scratch);
                self.room.scratch.push(b'"');
            }
            Form::Duration => {
                let duration = known::seconds_and_nanos(group, cursor)?;
                known::show_duration(duration, &mut self.room.scratch);
            }
            Form::FieldMask => {
                let start = self.room.scratch.len();
                known::show_field_mask(group, cursor, &mut self.room.scratch)?;
                quote_from(&mut self.room.scratch, start, &mut self.room.spare);
            }
            Form::Any => self.any(group, cursor)?,
        }
        Ok(())
    }

    fn any(&mut self, group: Option<u32>, cursor: &mut Cursor<'_>) -> Result<(), Stop> {
        let (url, value) = known::any(group, cursor)?;
        self.room.scratch.extend_from_slice(br#"{"@type":"#);
        quote(url, &mut self.room.scratch);
        if let Some(id) = self.plan.held(url) {
            // The bytes within are a message of their own, whose places are not the record's.
            cursor.enter()?;
            let mut within = cursor.within(value);
            if self.plan.messages[id].form == Form::Object {
                self.fields(id, None, &mut within, &mut false)?;
            } else {
                self.room.scratch.extend_from_slice(br#","value":"#);
                self.json(id, None, &mut within)?;
            }
            cursor.leave();
        } else if !value.is_empty() {
            self.room.scratch.extend_from_slice(br#","value":"#);
            Scalar::Bytes(value).show_json(self.room.bytes_as, &mut self.room.scratch);
        }
        self.room.scratch.push(b'}');
        Ok(())
    }

    /// Appends the fields of a message, with their names where it is an object.
    fn fields(
        &mut self,
        id: MessageId,
        group: Option<u32>,
        cursor: &mut Cursor<'_>,
        is_first: &mut bool,
    ) -> Result<(), Stop> {
        let plan = self.plan;
        let message = &plan.messages[id];
        let is_object = message.form == Form::Object;
        let mut seen = self.begin(message);
        let mut next = 0;
        while let Some((place, field, wire)) = message.next(next, group, cursor)? {
            next = place + 1;
            self.mark(&mut seen, place, field)?;
            if is_object {
                self.name(&field.name, is_first);
            }
            match field.shape {
                Shape::One => {
                    field.expect(wire, cursor.pos)?;
                    self.value(field.of, field.number, wire, cursor)?;
                }
                Shape::Many => self.list(field, wire, cursor)?,
                Shape::Map(key) => self.object_of_map(field, key, wire, cursor)?,
            }
        }
        for word in 0..message.words {
            let mut absent = message.implicit[word] & !self.word(&seen, word);
            while absent != 0 {
                let field = &message.fields[word * 64 + absent.trailing_zeros() as usize];
                absent &= absent - 1;
                if is_object {
                    self.name(&field.name, is_first);
                }
                self.default_json(field);
            }
        }
        self.end(&seen);
        Ok(())
    }

    /// Appends what an absent field without presence shows.
    pub(super) fn default_json(&mut self, field: &Field) {
        match field.shape {
            Shape::One => {
                Scalar::default_of(field.of, &self.plan.enums)
                    .show_json(self.room.bytes_as, &mut self.room.scratch);
            }
            Shape::Many => self.room.scratch.extend_from_slice(b"[]"),
            Shape::Map(_) => self.room.scratch.extend_from_slice(b"{}"),
        }
    }

    fn name(&mut self, name: &str, is_first: &mut bool) {
        self.comma(is_first);
        self.room.scratch.push(b'"');
        self.room.scratch.extend_from_slice(name.as_bytes());
        self.room.scratch.extend_from_slice(b"\":");
    }

    fn comma(&mut self, is_first: &mut bool) {
        if !std::mem::take(is_first) {
            self.room.scratch.push(b',');
        }
    }
}

/// Is a map's entry: its key, and where its value begins.
#[derive(Debug)]
pub(super) struct Entry<'a> {
    pub(super) key: Scalar<'a>,
    pub(super) value: Option<usize>,
}

impl<'a> Entry<'a> {
    /// Reads the entry that `cursor` is at the start of, to its end.
    pub(super) fn read<'b: 'a>(
        field: &Field,
        key: Type,
        enums: &'a [Enum],
        cursor: &mut Cursor<'b>,
    ) -> Result<Self, Stop> {
        let mut entry = Self {
            key: Scalar::default_of(key, enums),
            value: None,
        };
        while !cursor.is_at_end() {
            match cursor.tag()? {
                (KEY, wire) => {
                    key.expect(KEY, wire, cursor.pos)?;
                    entry.key = Scalar::read(key, enums, cursor)?;
                }
                (VALUE, wire) => {
                    field.of.expect(VALUE, wire, cursor.pos)?;
                    // Two messages are one: that is for the slow way.
                    if entry.value.is_some() && matches!(field.of, Type::Message(_)) {
                        return Err(Stop::Again);
                    }
                    entry.value = Some(cursor.pos);
                    cursor.skip(VALUE, wire)?;
                }
                (number, wire) => cursor.skip(number, wire)?,
            }
        }
        Ok(entry)
    }
}

/// The numbers of an entry's fields.
pub(super) const KEY: u32 = 1;
pub(super) const VALUE: u32 = 2;
/// Up to so many keys each is held against those before it.
const FEW_KEYS: usize = 16;
