//! From descriptors to a plan.

use std::collections::HashMap;

use prost_reflect::{EnumDescriptor, FieldDescriptor, MessageDescriptor};

use super::plan::{
    Enum, Field, Form, Leaf, MapScope, Message, MessageId, Node, Plan, Scope, Shape, Slot, Type,
};
use super::wire::{Fault, ProtobufError, Wire};
use crate::columns::Kind;
use crate::config::Descriptors;
use crate::flatten::push_segment;

impl Plan {
    /// Compiles `message`; paths have at most `max_depth` segments.
    pub(super) fn new(
        schema: &Descriptors,
        message: &MessageDescriptor,
        max_depth: usize,
    ) -> Result<Self, Fault> {
        let mut types = Types::new(schema);
        types.message(message);
        types.finish()?;
        // Its own fields are what is asked for, whatever it shows as within another.
        types.messages[0].form = Form::Object;
        let mut compiler = Compiler {
            messages: &types.messages,
            max_depth,
            budget: MAX_SLOTS,
        };
        let mut root = Scope::new();
        root.slot = Slot::Node(compiler.node(&mut root, 0, &mut String::new(), 0));
        Ok(Self {
            root,
            messages: types.messages,
            enums: types.enums,
            any: types.any,
        })
    }
}

/// Collects the messages and enums that one message reaches.
struct Types<'a> {
    schema: &'a Descriptors,
    messages: Vec<Message>,
    enums: Vec<Enum>,
    any: HashMap<Box<str>, MessageId>,
    /// Descriptors of messages whose fields are still to be looked at.
    waiting: Vec<(MessageId, MessageDescriptor)>,
    message_ids: HashMap<String, MessageId>,
    enum_ids: HashMap<String, usize>,
}

impl<'a> Types<'a> {
    fn new(schema: &'a Descriptors) -> Self {
        Self {
            schema,
            messages: Vec::new(),
            enums: Vec::new(),
            any: HashMap::new(),
            waiting: Vec::new(),
            message_ids: HashMap::new(),
            enum_ids: HashMap::new(),
        }
    }

    fn message(&mut self, message: &MessageDescriptor) -> MessageId {
        if let Some(&id) = self.message_ids.get(message.full_name()) {
            return id;
        }
        let id = self.messages.len();
        self.messages
            .push(Message::new(Form::Object, Vec::new(), 0));
        self.message_ids.insert(message.full_name().to_owned(), id);
        self.waiting.push((id, message.clone()));
        id
    }

    /// Compiles what the message reaches, then what an `Any` in it may hold: that is no reason to fail.
    fn finish(&mut self) -> Result<(), Fault> {
        let mut broken = None;
        self.fill(&mut broken);
        if let Some((name, reason)) = broken {
            return Err(ProtobufError::Unreadable { name, reason }.into());
        }
        if self
            .messages
            .iter()
            .any(|message| message.form == Form::Any)
        {
            let schema = self.schema;
            for message in schema.all_messages() {
                if schema.broken(message.full_name()).is_none() {
                    let id = self.message(&message);
                    self.any.insert(message.full_name().into(), id);
                }
            }
            self.fill(&mut None);
        }
        Ok(())
    }

    fn fill(&mut self, broken: &mut Option<(String, String)>) {
        while let Some((id, message)) = self.waiting.pop() {
            if let Some(reason) = self.schema.broken(message.full_name()) {
                *broken = Some((message.full_name().to_owned(), reason.to_owned()));
            }
            // Nothing that compiles sources writes such descriptors, but whoever else does may.
            if let Some(field) = message.fields().find(is_map_of_nothing) {
                let reason = format!(
                    "the entries of its map `{}` have no key or no value",
                    field.name()
                );
                *broken = Some((message.full_name().to_owned(), reason));
                continue;
            }
            let fields = message.fields().map(|field| self.field(&field)).collect();
            let oneofs = message.oneofs().len();
            self.messages[id] = Message::new(form(message.full_name()), fields, oneofs);
        }
    }

    fn field(&mut self, field: &FieldDescriptor) -> Field {
        let (shape, of) = match field.kind() {
            prost_reflect::Kind::Message(entry) if field.is_map() => {
                let key = self.kind(&entry.map_entry_key_field().kind());
                let value = self.kind(&entry.map_entry_value_field().kind());
                (Shape::Map(key), value)
            }
            kind if field.is_list() => (Shape::Many, self.kind(&kind)),
            kind => (Shape::One, self.kind(&kind)),
        };
        let wire = match shape {
            Shape::Map(_) => Wire::Len,
            _ if field.is_group() => Wire::Group,
            _ => of.wire(),
        };
        let likely = match shape {
            Shape::Many if of.is_packable() && !field.is_group() => Wire::Len,
            _ => wire,
        };
        let oneof = field
            .containing_oneof()
            .filter(|oneof| !oneof.is_synthetic());
        Field {
            name: field.name().into(),
            number: field.number(),
            shape,
            of,
            wire,
            tag: u64::from(field.number()) << 3 | likely as u64,
            likely,
            // A oneof's path ends with its place in the message.
            oneof: oneof.and_then(|oneof| oneof.path().last().map(|&place| place as usize)),
            is_implicit: !field.supports_presence() && !field.is_required(),
        }
    }

    fn kind(&mut self, kind: &prost_reflect::Kind) -> Type {
        use prost_reflect::Kind;
        match kind {
            Kind::Bool => Type::Bool,
            Kind::Int32 => Type::Int32,
            Kind::Int64 => Type::Int64,
            Kind::Uint32 => Type::Uint32,
            Kind::Uint64 => Type::Uint64,
            Kind::Sint32 => Type::Sint32,
            Kind::Sint64 => Type::Sint64,
            Kind::Fixed32 => Type::Fixed32,
            Kind::Fixed64 => Type::Fixed64,
            Kind::Sfixed32 => Type::Sfixed32,
            Kind::Sfixed64 => Type::Sfixed64,
            Kind::Float => Type::Float,
            Kind::Double => Type::Double,
            Kind::String => Type::Text,
            Kind::Bytes => Type::Bytes,
            Kind::Enum(of) if of.full_name() == "google.protobuf.NullValue" => Type::Null,
            Kind::Enum(of) => Type::Enum(self.enumeration(of)),
            Kind::Message(message) => Type::Message(self.message(message)),
        }
    }

    fn enumeration(&mut self, of: &EnumDescriptor) -> usize {
        if let Some(&id) = self.enum_ids.get(of.full_name()) {
            return id;
        }
        let id = self.enums.len();
        self.enums.push(Enum::new(of));
        self.enum_ids.insert(of.full_name().to_owned(), id);
        id
    }
}

impl Message {
    fn new(form: Form, mut fields: Vec<Field>, oneofs: usize) -> Self {
        fields.sort_by_key(|field| field.number);
        let count = fields.len();
        let words = (count + oneofs).div_ceil(64);
        let mut implicit = vec![0; words];
        let mut places = Vec::new();
        for (i, field) in fields.iter_mut().enumerate() {
            field.oneof = field.oneof.map(|oneof| count + oneof);
            if field.is_implicit {
                implicit[i / 64] |= 1 << (i % 64);
            }
            let number = field.number as usize;
            if number < MAX_PLACES {
                places.resize(number + 1, 0);
                places[number] = i as u16 + 1;
            }
        }
        Self {
            form,
            fields: fields.into(),
            places: places.into(),
            words,
            implicit: implicit.into(),
        }
    }
}

impl Enum {
    fn new(of: &EnumDescriptor) -> Self {
        let values = of
            .values()
            .map(|value| (value.number(), value.name().into()));
        let mut names: Vec<(i32, Box<str>)> = values.collect();
        // Of two names for one number the first is its name.
        names.sort_by_key(|(number, _)| *number);
        names.dedup_by_key(|(number, _)| *number);
        let is_dense = names.iter().zip(0..).all(|((number, _), i)| *number == i);
        Self { names, is_dense }
    }
}

fn form(name: &str) -> Form {
    match name.strip_prefix("google.protobuf.") {
        Some("Timestamp") => Form::Timestamp,
        Some("Duration") => Form::Duration,
        Some(
            "DoubleValue" | "FloatValue" | "Int64Value" | "UInt64Value" | "Int32Value"
            | "UInt32Value" | "BoolValue" | "StringValue" | "BytesValue" | "Struct" | "Value"
            | "ListValue",
        ) => Form::Transparent,
        Some("Any") => Form::Any,
        Some("FieldMask") => Form::FieldMask,
        _ => Form::Object,
    }
}

struct Compiler<'a> {
    messages: &'a [Message],
    max_depth: usize,
    /// How many places may still be made: what lies beyond is JSON.
    budget: usize,
}

impl Compiler<'_> {
    /// Gives each field of `message` its place; the message stands at `path`, which has `depth` segments.
    fn node(
        &mut self,
        scope: &mut Scope,
        message: MessageId,
        path: &mut String,
        depth: usize,
    ) -> Node {
        let messages = self.messages;
        let slots = messages[message].fields.iter().map(|field| {
            let end = path.len();
            push_segment(path, &field.name);
            let slot = self.field(scope, field, path, depth + 1);
            path.truncate(end);
            slot
        });
        Node {
            message,
            slots: slots.collect(),
        }
    }

    fn field(&mut self, scope: &mut Scope, field: &Field, path: &mut String, depth: usize) -> Slot {
        self.budget = self.budget.saturating_sub(1);
        match field.shape {
            Shape::One => self.one(scope, field.of, path, depth),
            Shape::Map(_) if depth < self.max_depth && self.budget > 0 => {
                let mut values = Scope::new();
                values.slot = self.one(&mut values, field.of, &mut String::new(), depth + 1);
                scope.maps.push(MapScope {
                    path: path.clone(),
                    values,
                });
                Slot::Map(scope.maps.len() - 1)
            }
            Shape::Many | Shape::Map(_) => scope.leaf(path, Kind::Text),
        }
    }

    fn one(&mut self, scope: &mut Scope, of: Type, path: &mut String, depth: usize) -> Slot {
        if let Type::Message(id) = of {
            let message = &self.messages[id];
            let is_node = message.form == Form::Object && !message.fields.is_empty();
            if is_node && depth < self.max_depth && self.budget > 0 {
                return Slot::Node(self.node(scope, id, path, depth));
            }
        }
        scope.leaf(path, self.kind(of))
    }

    fn kind(&self, of: Type) -> Kind {
        match of {
            Type::Bool => Kind::Boolean,
            Type::Int32
            | Type::Int64
            | Type::Uint32
            | Type::Sint32
            | Type::Sint64
            | Type::Fixed32
            | Type::Sfixed32
            | Type::Sfixed64 => Kind::Integer,
            Type::Uint64 | Type::Fixed64 => Kind::Unsigned,
            Type::Float | Type::Double => Kind::Float,
            Type::Text | Type::Bytes | Type::Enum(_) | Type::Null => Kind::Text,
            Type::Message(id) => match (self.messages[id].form, self.messages[id].wrapped()) {
                (Form::Timestamp, _) => Kind::Time,
                (Form::Duration, _) => Kind::Float,
                (_, Some(of)) => self.kind(of),
                _ => Kind::Text,
            },
        }
    }
}

/// Tells whether a field is a map whose entries lack a key or a value.
fn is_map_of_nothing(field: &FieldDescriptor) -> bool {
    match field.kind() {
        prost_reflect::Kind::Message(entry) if field.is_map() => {
            entry.get_field(1).is_none() || entry.get_field(2).is_none()
        }
        _ => false,
    }
}

impl Scope {
    fn new() -> Self {
        Self {
            leaves: Vec::new(),
            maps: Vec::new(),
            slot: Slot::Leaf(0),
        }
    }

    fn leaf(&mut self, path: &str, kind: Kind) -> Slot {
        self.leaves.push(Leaf {
            path: path.to_owned(),
            kind,
        });
        Slot::Leaf(self.leaves.len() - 1)
    }
}

/// The most places of a plan: a schema that names itself many times over would have more than there is memory for.
const MAX_SLOTS: usize = 10_000;
/// Numbers below it are looked up in a table.
const MAX_PLACES: usize = 1024;
