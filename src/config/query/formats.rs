//! How values and keys are read: format, schema source, framing and subject.

use super::{QueryError, choice};
use crate::config::lenient::Keys;
use crate::config::{
    AvroOptions, AvroSchema, BytesAs, Framing, KeyFormat, LineProtocolOptions, NameFilter,
    ProtobufOptions, ProtobufSchema, SchemaSource, SubjectSelection, TagFilter, ValueFormat,
};

/// Reads the format of values.
pub(super) fn value(keys: &Keys<'_>) -> Result<ValueFormat, QueryError> {
    match keys.text("messageFormat")?.as_str() {
        "" | "json" => Ok(ValueFormat::Json),
        "plaintext" => Ok(ValueFormat::Plaintext),
        "avro" => Ok(ValueFormat::Avro(avro(keys)?)),
        "protobuf" => Ok(ValueFormat::Protobuf(protobuf(keys)?)),
        "lineprotocol" => Ok(ValueFormat::LineProtocol(lines(keys)?)),
        other => Err(QueryError::Choice {
            key: "messageFormat",
            expected: "`json`, `plaintext`, `avro`, `protobuf` or `lineprotocol`",
            found: other.to_owned(),
        }),
    }
}

/// Reads the format of keys. Framing and subject are what serializers do by default.
pub(super) fn key(keys: &Keys<'_>) -> Result<KeyFormat, QueryError> {
    match keys.text("keyFormat")?.as_str() {
        "" | "none" => Ok(KeyFormat::None),
        "string" => Ok(KeyFormat::String),
        "json" => Ok(KeyFormat::Json),
        "base64" => Ok(KeyFormat::Base64),
        "avro" => Ok(KeyFormat::Avro(AvroOptions {
            source: source(keys, AVRO, KEY_SCHEMA, AvroSchema::parse)?,
            framing: Framing::Auto,
            subject: SubjectSelection::Topic,
            reader: None,
            bytes_as: bytes_as(keys)?,
        })),
        "protobuf" => {
            let source = source(keys, PROTOBUF, KEY_SCHEMA, ProtobufSchema::parse)?;
            Ok(KeyFormat::Protobuf(ProtobufOptions {
                message: message(keys, "keyProtobufMessage", &source)?,
                source,
                framing: Framing::Auto,
                subject: SubjectSelection::Topic,
                bytes_as: bytes_as(keys)?,
            }))
        }
        other => Err(QueryError::Choice {
            key: "keyFormat",
            expected: "`none`, `string`, `json`, `base64`, `avro` or `protobuf`",
            found: other.to_owned(),
        }),
    }
}

fn avro(keys: &Keys<'_>) -> Result<AvroOptions, QueryError> {
    const READER: &str = "avroReaderSchema";
    let source = source(
        keys,
        AVRO,
        ["avroSchemaSource", "avroSchema"],
        AvroSchema::parse,
    )?;
    let reader = Some(keys.text(READER)?)
        .filter(|text| !text.is_empty())
        .map(|text| parse(AVRO, READER, &text, AvroSchema::parse))
        .transpose()?;
    let is_registry = source == SchemaSource::Registry;
    let name = reader.as_ref().and_then(AvroSchema::name);
    Ok(AvroOptions {
        framing: framing(keys, is_registry)?,
        subject: subject(keys, is_registry, name)?,
        bytes_as: bytes_as(keys)?,
        source,
        reader,
    })
}

fn lines(keys: &Keys<'_>) -> Result<LineProtocolOptions, QueryError> {
    Ok(LineProtocolOptions {
        layout: choice(keys, "lineProtocolLayout", "`long` or `wide`")?,
        precision: choice(
            keys,
            "lineProtocolTimestampPrecision",
            "`auto`, `ns`, `us`, `ms` or `s`",
        )?,
        measurements: filter(keys, "lineProtocolMeasurements", NameFilter::parse)?,
        fields: filter(keys, "lineProtocolFields", NameFilter::parse)?,
        tags: filter(keys, "lineProtocolTags", TagFilter::parse)?,
    })
}

fn filter<F>(
    keys: &Keys<'_>,
    key: &'static str,
    parser: impl Fn(&str) -> Result<F, String>,
) -> Result<F, QueryError> {
    parser(&keys.text(key)?).map_err(|reason| QueryError::Filter { key, reason })
}

fn protobuf(keys: &Keys<'_>) -> Result<ProtobufOptions, QueryError> {
    let source = source(
        keys,
        PROTOBUF,
        ["protobufSchemaSource", "protobufSchema"],
        ProtobufSchema::parse,
    )?;
    let is_registry = source == SchemaSource::Registry;
    let message = message(keys, "protobufMessage", &source)?;
    Ok(ProtobufOptions {
        framing: framing(keys, is_registry)?,
        subject: subject(keys, is_registry, message.clone())?,
        bytes_as: bytes_as(keys)?,
        source,
        message,
    })
}

/// Reads the full name of a message, with or without a dot before it. A schema in the query must have it.
fn message(
    keys: &Keys<'_>,
    key: &'static str,
    source: &SchemaSource<ProtobufSchema>,
) -> Result<Option<String>, QueryError> {
    let text = keys.text(key)?;
    let name = text.strip_prefix('.').unwrap_or(&text);
    if name.is_empty() {
        return Ok(None);
    }
    if let SchemaSource::Inline(schema) = source
        && !schema.has_message(name)
    {
        return Err(QueryError::NoMessage {
            key,
            name: name.to_owned(),
            known: schema.message_names(),
        });
    }
    Ok(Some(name.to_owned()))
}

/// Reads where a schema comes from, by the keys of source and text.
pub(super) fn source<S>(
    keys: &Keys<'_>,
    format: &'static str,
    [source, text]: [&'static str; 2],
    parser: impl Fn(&str) -> Result<S, String>,
) -> Result<SchemaSource<S>, QueryError> {
    match keys.text(source)?.as_str() {
        "" | "schemaRegistry" => Ok(SchemaSource::Registry),
        "inlineSchema" => match keys.text(text)?.as_str() {
            "" => Err(QueryError::NoSchema { format }),
            schema => parse(format, text, schema, parser).map(SchemaSource::Inline),
        },
        other => Err(QueryError::Choice {
            key: source,
            expected: "`inlineSchema` or `schemaRegistry`",
            found: other.to_owned(),
        }),
    }
}

fn parse<S>(
    format: &'static str,
    key: &'static str,
    text: &str,
    parser: impl Fn(&str) -> Result<S, String>,
) -> Result<S, QueryError> {
    parser(text).map_err(|reason| QueryError::Schema {
        format,
        key,
        reason,
    })
}

/// Reads how values name their schema.
pub(super) fn framing(keys: &Keys<'_>, is_registry: bool) -> Result<Framing, QueryError> {
    let framing = choice(
        keys,
        "framing",
        "`auto`, `none`, `confluent`, `confluentHeader`, `apicurio` or `glue`",
    )?;
    if is_registry && framing == Framing::Glue {
        return Err(QueryError::GlueRegistry);
    }
    Ok(framing)
}

/// Reads the subject of values that name no schema; without a registry there is none. `name` is the record's, where the query
/// has it elsewhere.
pub(super) fn subject(
    keys: &Keys<'_>,
    is_registry: bool,
    name: Option<String>,
) -> Result<SubjectSelection, QueryError> {
    const KEY: &str = "subjectStrategy";
    let (strategy, text) = (keys.text(KEY)?, keys.text("subject")?);
    let text = Some(text).filter(|text| !text.is_empty());
    let named = |strategy| {
        text.clone().or(name).ok_or(QueryError::NoSubject {
            strategy,
            needs: "the record's full name",
        })
    };
    match strategy.as_str() {
        _ if !is_registry => Ok(SubjectSelection::Topic),
        "" | "topic" => Ok(SubjectSelection::Topic),
        "record" => named("record").map(SubjectSelection::Record),
        "topicRecord" => named("topicRecord").map(SubjectSelection::TopicRecord),
        "explicit" => text
            .map(SubjectSelection::Explicit)
            .ok_or(QueryError::NoSubject {
                strategy: "explicit",
                needs: "a subject",
            }),
        _ => Err(QueryError::Choice {
            key: KEY,
            expected: "`topic`, `record`, `topicRecord` or `explicit`",
            found: strategy,
        }),
    }
}

/// Reads how bytes show, in keys and values alike.
pub(super) fn bytes_as(keys: &Keys<'_>) -> Result<BytesAs, QueryError> {
    choice(keys, "bytesAs", "`base64`, `text` or `hex`")
}

const AVRO: &str = "Avro";
const PROTOBUF: &str = "Protobuf";
/// The keys of source and text of a key's schema.
const KEY_SCHEMA: [&str; 2] = ["keySchemaSource", "keySchema"];
