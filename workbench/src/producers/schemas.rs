//! The schemas of the demo's topics, as they are registered; and values, as their serializers write them.

use apache_avro::Schema;
use apache_avro::types::Value;
use apache_avro::writer::datum::GenericDatumWriter;
use prost_reflect::prost::Message as _;
use prost_reflect::{DynamicMessage, MessageDescriptor};
use protox::Compiler;
use protox::file::{ChainFileResolver, File, FileResolver, GoogleFileResolver};

use super::{meters, rides, turbines};
use crate::registry::{Ids, Kind, Reference, Registered};

/// What the demo's registry serves; what another schema imports stands before it.
pub const SCHEMAS: &[Registered] = &[
    avro(turbines::KEY_SUBJECT, 1, turbines::KEY),
    avro(turbines::SUBJECT, 1, turbines::FIRST),
    avro(turbines::SUBJECT, 2, turbines::SECOND),
    avro(meters::KEY_SUBJECT, 1, meters::KEY),
    Registered {
        subject: "geo.proto",
        version: 1,
        kind: Kind::Protobuf,
        text: rides::GEO,
        references: &[],
    },
    Registered {
        subject: rides::SUBJECT,
        version: 1,
        kind: Kind::Protobuf,
        text: rides::RIDE,
        references: &[Reference {
            name: "geo.proto",
            subject: "geo.proto",
            version: 1,
        }],
    },
];

const fn avro(subject: &'static str, version: u32, text: &'static str) -> Registered {
    Registered {
        subject,
        version,
        kind: Kind::Avro,
        text,
        references: &[],
    }
}

/// Gives a schema and the id under which it is registered.
fn registered(ids: &Ids, subject: &str, version: u32) -> (u32, &'static str) {
    let mut all = SCHEMAS.iter();
    let schema = all.find(|schema| (schema.subject, schema.version) == (subject, version));
    let id = ids.find(subject, version);
    id.zip(schema.map(|schema| schema.text))
        .expect("all schemas are registered before the first record")
}

/// Writes Avro records of one schema.
pub(super) struct AvroWriter {
    schema: Schema,
    /// The registry's; none writes the body alone.
    id: Option<u32>,
}

impl AvroWriter {
    /// Takes a schema of the registry.
    pub(super) fn registered(ids: &Ids, subject: &str, version: u32) -> AvroWriter {
        let (id, text) = registered(ids, subject, version);
        AvroWriter {
            id: Some(id),
            ..AvroWriter::raw(text)
        }
    }

    /// Takes a schema that no record names.
    pub(super) fn raw(text: &str) -> AvroWriter {
        AvroWriter {
            schema: Schema::parse_str(text).expect("the demo's schemas are valid"),
            id: None,
        }
    }

    /// Writes a record of these fields, in the schema's order.
    pub(super) fn write<const N: usize>(&self, fields: [(&str, Value); N]) -> Vec<u8> {
        let fields = fields.map(|(name, value)| (name.to_owned(), value));
        let writer = GenericDatumWriter::builder(&self.schema).build();
        let body = writer
            .and_then(|writer| writer.write_value_to_vec(Value::Record(fields.to_vec())))
            .expect("the demo's values fit their schemas");
        match self.id {
            Some(id) => framed(id, &[], &body),
            None => body,
        }
    }
}

/// Writes Protobuf messages of the first type in a registered schema.
pub(super) struct ProtobufWriter {
    message: MessageDescriptor,
    id: u32,
}

impl ProtobufWriter {
    /// Takes the first version of a subject and the name of its first message type.
    pub(super) fn registered(ids: &Ids, subject: &str, name: &str) -> ProtobufWriter {
        let mut resolver = ChainFileResolver::new();
        resolver.add(RegisteredFiles);
        resolver.add(GoogleFileResolver::new());
        let mut compiler = Compiler::with_file_resolver(resolver);
        compiler.include_imports(true);
        compiler
            .open_file(subject)
            .expect("the demo's schemas compile");
        let message = compiler.descriptor_pool().get_message_by_name(name);
        ProtobufWriter {
            message: message.expect("the schema has this message"),
            id: registered(ids, subject, 1).0,
        }
    }

    /// Writes a message from its JSON form.
    pub(super) fn write(&self, json: serde_json::Value) -> Vec<u8> {
        let message = DynamicMessage::deserialize(self.message.clone(), json)
            .expect("the demo's messages fit their schemas");
        // A single zero stands for the first message type.
        framed(self.id, &[0], &message.encode_to_vec())
    }
}

/// Confluent's frame: a zero, the schema's id, and for Protobuf where the message type is in the file.
fn framed(id: u32, indexes: &[u8], body: &[u8]) -> Vec<u8> {
    [&[0], &id.to_be_bytes()[..], indexes, body].concat()
}

/// Finds a file by its subject.
struct RegisteredFiles;

impl FileResolver for RegisteredFiles {
    fn open_file(&self, name: &str) -> Result<File, protox::Error> {
        match SCHEMAS.iter().find(|schema| schema.subject == name) {
            Some(schema) => File::from_source(name, schema.text),
            None => Err(protox::Error::file_not_found(name)),
        }
    }
}
