//! Protobuf: a message of a schema compiled once, run over each record.

mod binding;
mod canonical;
mod compile;
mod framing;
mod json;
mod known;
mod plan;
mod run;
mod scalar;
mod wire;

use std::sync::Arc;

pub use wire::ProtobufError;

use super::by_id::{ById, Cache, Typed};
use super::named::Schemas;
use super::wire_format::{Body, Wire};
use super::{KEY, Target};
use crate::columns::{Group, RowWriter};
use crate::config::{Descriptors, FlattenLimits, ProtobufOptions, SchemaSource, StreamSpec};
use crate::record::Header;
use crate::schema::{Role, SchemaKind, SchemaText};
use binding::{Binding, Place};
use framing::{Choice, Form, Frame};
use plan::{Plan, Slot};
use run::{Room, Run, Stop};
use wire::{Cursor, Fault};

/// Decodes the Protobuf values, or keys, of one stream.
#[derive(Debug)]
pub struct ProtobufDecoder {
    pub(super) schemas: Schemas<Protobuf>,
    reader: Reader,
}

/// Compiles the schemas of one stream.
#[derive(Debug)]
pub(super) struct Protobuf;

impl Typed for Protobuf {
    type Schema = Descriptors;
    type Binding = Messages;
    const KIND: SchemaKind = SchemaKind::Protobuf;

    fn compile(&self, text: &SchemaText) -> Result<Descriptors, String> {
        Descriptors::compile(&text.text, &text.references)
    }

    fn variant(&self) -> Option<Arc<str>> {
        None
    }
}

/// Reads messages into cells: how, and with which memory.
#[derive(Debug)]
struct Reader {
    /// The full name of the message that the query names.
    message: Option<String>,
    max_depth: usize,
    place: Place,
    room: Room,
}

/// Is what one stream knows of a schema's messages.
#[derive(Debug, Default)]
pub(super) struct Messages {
    /// Those that records held.
    bound: Vec<Bound>,
    /// What stood before them.
    heads: Vec<Head>,
    /// The place in `heads` of what the last record began with.
    last: usize,
}

/// Is a record's bytes, and where in them its message is.
#[derive(Debug, Clone, Copy)]
struct Framed<'a> {
    bytes: &'a [u8],
    frame: Frame,
    /// What says which message it is, and then the message; or only the first, if that stands in a header.
    lead: &'a [u8],
}

impl Framed<'_> {
    /// Gives the place where the message begins, behind `len` bytes that say which it is.
    fn body(&self, len: usize) -> usize {
        match self.frame {
            Frame::Header => 0,
            _ => self.bytes.len() - self.lead.len() + len,
        }
    }
}

impl ProtobufDecoder {
    /// Decodes the half of the records that is `role` by `options`.
    pub(super) fn new(
        spec: &StreamSpec,
        role: Role,
        options: &ProtobufOptions,
        limits: FlattenLimits,
        cache: Option<Arc<Cache<Descriptors>>>,
    ) -> Self {
        let mut schemas = ById::new(Protobuf, role, &spec.topic, cache);
        let wire = Wire::new(spec, role, options.framing, &options.subject).of_protobuf();
        let schemas = match &options.source {
            SchemaSource::Registry => Schemas::named(schemas, wire),
            SchemaSource::Inline(schema) => {
                schemas.provide_compiled(schema.text(), Arc::clone(schema.compiled()));
                Schemas::own(schemas, wire)
            }
        };
        let (group, path) = match role {
            Role::Key => (Group::Key, KEY),
            Role::Value => (Group::Value, ""),
        };
        Self {
            schemas,
            reader: Reader {
                message: options.message.clone(),
                max_depth: limits.max_depth,
                place: Place {
                    group,
                    path: path.to_owned(),
                },
                room: Room {
                    bytes_as: options.bytes_as,
                    max_keys: limits.max_fields,
                    scratch: Vec::new(),
                    spare: Vec::new(),
                    seen: Vec::new(),
                    keys: Vec::new(),
                    stamp: 0,
                },
            },
        }
    }

    /// Makes the cells of a record that was prepared.
    pub(super) fn decode(
        &mut self,
        bytes: &[u8],
        headers: &[Header<'_>],
        target: &mut impl Target,
    ) -> Result<(), Fault> {
        let record = if let Some(lead) = self.schemas.wire.header_indexes(headers) {
            let frame = Frame::Header;
            Framed { bytes, frame, lead }
        } else {
            let start = match self.schemas.start()? {
                Some(start) => start,
                None => match self.schemas.wire.body(bytes, headers)? {
                    // No message begins as a frame does: 00 and 03 are no field's tag.
                    (_, Some(Body::At(start))) | (Body::At(start), None) => start,
                    (_, Some(body)) | (body, None) => return self.packed(body, bytes, target),
                },
            };
            let (frame, lead) = (Frame::of_len(start), &bytes[start..]);
            Framed { bytes, frame, lead }
        };
        self.framed(record, target)
    }

    /// Makes the cells of a message that is compressed.
    #[cold]
    fn packed(&mut self, body: Body, bytes: &[u8], target: &mut impl Target) -> Result<(), Fault> {
        let bytes = body.inflated(bytes)?.unwrap_or_default();
        let record = Framed {
            bytes: &bytes,
            frame: Frame::Glue,
            lead: &bytes,
        };
        self.framed(record, target)
    }

    #[inline]
    fn framed(&mut self, record: Framed<'_>, target: &mut impl Target) -> Result<(), Fault> {
        let bound = self.schemas.current()?;
        let (schema, messages) = (&*bound.schema, &mut bound.binding);
        self.reader.decode(schema, messages, record, target)
    }
}

/// Is one message in one stream.
#[derive(Debug)]
struct Bound {
    name: Box<str>,
    plan: Result<Plan, Fault>,
    binding: Option<Binding>,
}

/// Is what a record had before its message: a record that begins alike holds the same.
#[derive(Debug)]
struct Head {
    frame: Frame,
    form: Form,
    bytes: Box<[u8]>,
    bound: usize,
}

impl Reader {
    /// Makes the cells of a record.
    ///
    /// What fitted last is tried first; a record that does not fit it may name its message another way.
    #[inline]
    fn decode(
        &mut self,
        schema: &Descriptors,
        messages: &mut Messages,
        record: Framed<'_>,
        target: &mut impl Target,
    ) -> Result<(), Fault> {
        let mut failed = None;
        if let Some(place) = messages.likely(record) {
            let head = &messages.heads[place];
            let body = record.body(head.bytes.len());
            match self.message(&mut messages.bound[head.bound], record.bytes, body, target) {
                Ok(()) => {
                    messages.last = place;
                    return Ok(());
                }
                Err(error) => failed = Some(error),
            }
        }
        self.decode_other(schema, messages, record, failed, target)
    }

    #[cold]
    fn decode_other(
        &mut self,
        schema: &Descriptors,
        messages: &mut Messages,
        record: Framed<'_>,
        mut failed: Option<Fault>,
        target: &mut impl Target,
    ) -> Result<(), Fault> {
        let forms = record.frame.forms(self.message.is_some());
        let last = messages.heads.get(messages.last).map(|head| head.form);
        let likely = forms.iter().filter(|form| Some(**form) == last);
        let others = forms.iter().filter(|form| Some(**form) != last);
        for &form in likely.chain(others) {
            let Some((choice, len)) = form.read(record.lead) else {
                continue;
            };
            let tried = self.bind(schema, messages, &choice).and_then(|bound| {
                let body = record.body(len);
                self.message(&mut messages.bound[bound], record.bytes, body, target)?;
                Ok(bound)
            });
            match tried {
                Ok(bound) => {
                    messages.remember(record.frame, form, &record.lead[..len], bound);
                    return Ok(());
                }
                Err(error) => {
                    failed.get_or_insert(error);
                }
            }
        }
        // A field's tag is 8 or more; so is the first byte of indexes, if messages nest four deep.
        let names_none = failed
            .as_deref()
            .is_none_or(|fault| matches!(fault, ProtobufError::NoMessage { .. }));
        if names_none && record.lead.first().is_none_or(|&byte| byte >= 8) {
            return Err(ProtobufError::NoIndexes.into());
        }
        Err(failed.unwrap_or_else(|| ProtobufError::NoIndexes.into()))
    }

    /// Finds or compiles the message of `choice`.
    fn bind(
        &self,
        schema: &Descriptors,
        messages: &mut Messages,
        choice: &Choice<'_>,
    ) -> Result<usize, Fault> {
        let found = match (&self.message, choice) {
            (Some(name), _) => schema.by_name(name),
            (None, Choice::Path(path)) => schema.by_path(path),
            (None, Choice::Name(name)) => schema.by_any_name(name),
            (None, Choice::Sorted(place)) => schema.by_order(*place),
            (None, Choice::Default) => schema.by_path(&[0]),
        };
        let message = found.ok_or_else(|| match &self.message {
            Some(name) => ProtobufError::NoSuchMessage {
                name: name.clone(),
                known: schema.message_names(),
            },
            None => ProtobufError::NoMessage {
                path: choice.to_string(),
            },
        })?;
        let known = |bound: &Bound| &*bound.name == message.full_name();
        if let Some(place) = messages.bound.iter().position(known) {
            return Ok(place);
        }
        let plan = Plan::new(schema, &message, self.max_depth);
        messages.bound.push(Bound {
            name: message.full_name().into(),
            plan,
            binding: None,
        });
        Ok(messages.bound.len() - 1)
    }

    /// Makes the cells of a message whose bytes begin at `body`.
    #[inline]
    fn message(
        &mut self,
        bound: &mut Bound,
        bytes: &[u8],
        body: usize,
        target: &mut impl Target,
    ) -> Result<(), Fault> {
        let plan = bound.plan.as_ref().map_err(Fault::clone)?;
        let binding = &mut bound.binding;
        if binding.is_some() {
            match target.attempt(|row| self.run(plan, binding, bytes, body, false, row)) {
                Ok(()) => return Ok(()),
                Err(Stop::Protobuf(error)) => return Err(error),
                Err(Stop::NewColumn | Stop::Again) => {}
            }
        }
        self.message_as_a_whole(bound, bytes, body, target)
    }

    /// Makes the cells of a message that makes columns, or says a thing twice: it is looked at as a whole first.
    #[cold]
    fn message_as_a_whole(
        &mut self,
        bound: &mut Bound,
        bytes: &[u8],
        body: usize,
        target: &mut impl Target,
    ) -> Result<(), Fault> {
        let plan = bound.plan.as_ref().map_err(Fault::clone)?;
        let binding = &mut bound.binding;
        let mut canonical = Vec::new();
        let mut parts = [Cursor::new(bytes, body)];
        canonical::message(plan, ROOT, &mut parts, &mut canonical)?;
        match target.attempt(|row| self.run(plan, binding, &canonical, 0, true, row)) {
            Ok(()) => Ok(()),
            Err(Stop::Protobuf(error)) => Err(error),
            Err(Stop::NewColumn | Stop::Again) => Err(ProtobufError::Unreadable {
                name: bound.name.to_string(),
                reason:
                    "its fields stand in no order that is known, which is a fault of the plugin"
                        .to_owned(),
            }
            .into()),
        }
    }

    /// Writes the cells of a message whose bytes begin at `body`; `may_add` says that a map's new key makes columns.
    #[inline]
    fn run(
        &mut self,
        plan: &Plan,
        binding: &mut Option<Binding>,
        bytes: &[u8],
        body: usize,
        may_add: bool,
        row: &mut RowWriter<'_>,
    ) -> Result<(), Stop> {
        let Slot::Node(root) = &plan.root.slot else {
            return Ok(());
        };
        let Self { place, room, .. } = self;
        let binding = binding.get_or_insert_with(|| Binding::new(&plan.root, place.clone(), row));
        room.seen.clear();
        room.keys.clear();
        room.stamp += 1;
        let mut run = Run {
            plan,
            may_add,
            room,
        };
        let mut cursor = Cursor::new(bytes, body);
        run.message(root, None, &plan.root, binding, &mut cursor, row)
    }
}

impl Messages {
    /// Finds what a record begins with among what others began with: the last one, or one that names its message the same way.
    #[inline]
    fn likely(&self, record: Framed<'_>) -> Option<usize> {
        let last = self.heads.get(self.last)?;
        // Most begin with nothing, and comparing no bytes is slow where `memcmp` reads them under a mask.
        let begins = |head: &Head| {
            head.frame == record.frame
                && (head.bytes.is_empty() || record.lead.starts_with(&head.bytes))
        };
        if begins(last) {
            return Some(self.last);
        }
        self.heads
            .iter()
            .position(|head| head.form == last.form && !head.bytes.is_empty() && begins(head))
    }

    /// Notes what a record began with that was decoded.
    fn remember(&mut self, frame: Frame, form: Form, bytes: &[u8], bound: usize) {
        let known = |head: &Head| (head.frame, head.form, &*head.bytes) == (frame, form, bytes);
        self.last = self.heads.iter().position(known).unwrap_or_else(|| {
            self.heads.truncate(MAX_HEADS - 1);
            self.heads.push(Head {
                frame,
                form,
                bytes: bytes.into(),
                bound,
            });
            self.heads.len() - 1
        });
    }
}

/// The message itself is its plan's first.
const ROOT: usize = 0;
/// So many ways to begin a record are remembered.
const MAX_HEADS: usize = 64;

#[cfg(test)]
mod tests;
