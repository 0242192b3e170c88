use std::time::Instant;

use super::*;
use crate::schema::{SchemaId, SchemaKind};

const READING: &str = r#"{"type":"record","name":"Reading","namespace":"acme","fields":[{"name":"a","type":"int"},{"name":"b","type":"string"}]}"#;

fn samples(values: &[&[u8]]) -> Vec<Sample> {
    keyed(
        &values
            .iter()
            .map(|&value| (None, Some(value)))
            .collect::<Vec<_>>(),
    )
}

const MESSAGE: &str = "syntax = \"proto3\"; package acme; message Event { int32 a = 1; }";

/// Key and value.
type Halves<'a> = (Option<&'a [u8]>, Option<&'a [u8]>);

fn keyed(records: &[Halves<'_>]) -> Vec<Sample> {
    let sample = |(offset, (key, value)): (usize, &Halves<'_>)| Sample {
        offset: offset as i64,
        timestamp: Some(1_700_000_000_000),
        key: key.map(<[u8]>::to_vec),
        value: value.map(<[u8]>::to_vec),
        ..Sample::default()
    };
    records.iter().enumerate().map(sample).collect()
}

fn schema(kind: SchemaKind, text: &str) -> SchemaText {
    SchemaText {
        kind,
        text: text.to_owned(),
        references: Vec::new(),
    }
}

fn need(id: SchemaId, role: Role) -> Need {
    Need { id, role }
}

fn answers(known: &[(SchemaId, Role, Answer)]) -> Answers {
    known
        .iter()
        .map(|(id, role, answer)| (need(id.clone(), *role), answer.clone()))
        .collect()
}

/// Looks, with a registry that has an Avro schema for id 7 and for the subject `t-value`, and nothing for id 99.
fn look(samples: &[Sample], has_registry: bool) -> Found {
    let known = |kind, text| Ok(Arc::new(schema(kind, text)));
    let fault = || Err(SchemaFault::new("id 99 is 404"));
    let answers = answers(&[
        (
            SchemaId::Id(7),
            Role::Value,
            known(SchemaKind::Avro, READING),
        ),
        (
            SchemaId::Id(7),
            Role::Key,
            known(SchemaKind::Avro, "\"string\""),
        ),
        (
            SchemaId::Id(8),
            Role::Value,
            known(SchemaKind::Protobuf, MESSAGE),
        ),
        (SchemaId::Id(99), Role::Value, fault()),
        (
            SchemaId::Latest("t-value".into()),
            Role::Value,
            known(SchemaKind::Avro, READING),
        ),
    ]);
    look_with(samples, has_registry, &answers)
}

fn look_with(samples: &[Sample], has_registry: bool, answers: &Answers) -> Found {
    detect(&Topic {
        name: &TopicName::parse("t").unwrap(),
        samples,
        limits: FlattenLimits::default(),
        has_registry,
        answers,
        now: Now {
            monotonic: Instant::now(),
            wall_ms: 1_700_000_000_000,
        },
    })
}

#[test]
fn values() {
    let json = json!({ "messageFormat": "json" });
    let registry = json!({ "messageFormat": "avro", "avroSchemaSource": "schemaRegistry" });
    let raw =
        json!({ "messageFormat": "avro", "avroSchemaSource": "schemaRegistry", "framing": "none" });
    let glue =
        json!({ "messageFormat": "avro", "avroSchemaSource": "inlineSchema", "framing": "glue" });
    let lines = json!({ "messageFormat": "lineprotocol" });
    let plain = json!({ "messageFormat": "plaintext" });
    let protobuf = json!({ "messageFormat": "protobuf", "protobufSchemaSource": "schemaRegistry" });
    let message: &[u8] = b"\0\0\0\0\x08\0\x08\x01";
    let framed: &[u8] = b"\0\0\0\0\x07\x02\x04hi";
    for (values, has_registry, want, why, alternatives) in [
        (
            &[&br#"{"a":1}"#[..], b"[]"][..],
            true,
            Some(&json),
            "every value is JSON",
            &["plaintext"][..],
        ),
        (
            &[b"21.5"],
            false,
            Some(&json),
            "every value is JSON",
            &["plaintext"],
        ),
        (
            &[br#"{"a":1}"#, b"5", b"nope"],
            false,
            Some(&json),
            "2 of 3 values are JSON",
            &["plaintext"],
        ),
        (
            &[b"\0\0\0\0\x09{\"a\":1}"],
            false,
            Some(&json),
            "5 bytes of Confluent framing, id 9, and then every value is JSON",
            &[],
        ),
        (
            &[framed, framed],
            true,
            Some(&registry),
            "5 bytes of Confluent framing, id 7 is Avro `acme.Reading`",
            &[],
        ),
        (
            &[framed, framed, framed, b"\0\0\0\0\x63\x02"],
            true,
            Some(&registry),
            "id 7 is Avro `acme.Reading`; it reads 3 of 4 values",
            &[],
        ),
        (
            &[message],
            true,
            Some(&protobuf),
            "5 bytes of Confluent framing, id 8 is Protobuf `acme.Event`",
            &[],
        ),
        (
            &[message],
            false,
            Some(&protobuf),
            "id 8; Protobuf is a guess",
            &[],
        ),
        (
            &[b"\x02\x04hi"],
            true,
            Some(&raw),
            "no framing, and the schema of the registry reads every value to its last byte: subject t-value, latest version is Avro `acme.Reading`",
            &[],
        ),
        (
            &[framed],
            false,
            Some(&registry),
            "id 7; Avro is a guess, since the data source has no schema registry",
            &[],
        ),
        (
            &[b"\0\0\0\0\x63\x02"],
            true,
            Some(&registry),
            "id 99; Avro is a guess: id 99 is 404",
            &[],
        ),
        (
            &[b"\x03\x000123456789abcdef\x02\x04hi"],
            true,
            Some(&glue),
            "18 bytes of AWS Glue framing; Avro is a guess",
            &[],
        ),
        (
            &[b"m,t=a v=1 1700000000000000000\nm v=2i"],
            true,
            Some(&lines),
            "every value is InfluxDB line protocol",
            &["plaintext"],
        ),
        (
            &["hello, wörld".as_bytes(), b"again"],
            true,
            Some(&plain),
            "every value is text",
            &[],
        ),
        (&[b"\xff\xfe\xfd"], true, None, "", &[]),
        (&[b"\xff\xfe\xfd"], false, None, "", &[]),
    ] {
        let found = look(&samples(values), has_registry);
        let shown = format!("{values:?} registry {has_registry}: {found:?}");
        assert!(found.missing.is_empty(), "{shown}");
        let Some(want) = want else {
            assert_eq!((found.value, found.hex.len()), (None, 1), "{shown}");
            continue;
        };
        let value = found.value.unwrap_or_else(|| panic!("{shown}"));
        assert_eq!(Value::Object(value.query), *want, "{shown}");
        assert!(value.why.contains(why), "{shown}");
        let others: Vec<_> = value
            .alternatives
            .iter()
            .map(|other| other.format)
            .collect();
        assert_eq!(others, alternatives, "{shown}");
        let is_guess = value.why.contains(words::GUESS);
        assert_eq!(
            (found.table.is_none(), found.hex.is_empty()),
            (is_guess, !is_guess),
            "{shown}"
        );
    }
}

#[test]
fn keys_of_every_kind() {
    for (keys, has_registry, want, why) in [
        (&[None, None][..], true, "none", "no record has a key"),
        (
            &[Some(&b"order-1"[..]), None],
            true,
            "string",
            "every key is text",
        ),
        (
            &[Some(br#"{"id":1}"#)],
            true,
            "json",
            "every key is a JSON object",
        ),
        (&[Some(b"17")], true, "string", "every key is text"),
        (
            &[Some(b"\0\0\0\0\x07\x04hi")],
            true,
            "avro",
            "5 bytes of Confluent framing, id 7 is Avro",
        ),
        (&[Some(b"\0\0\0\0\x07\x04hi")], false, "avro", "is a guess"),
        (
            &[Some(b"\xff\x00")],
            true,
            "base64",
            "some keys are no text",
        ),
    ] {
        let records: Vec<_> = keys.iter().map(|&key| (key, Some(&b"{}"[..]))).collect();
        let key = look(&keyed(&records), has_registry).key.unwrap();
        assert_eq!(key.format, want, "{keys:?}: {key:?}");
        assert!(key.why.contains(why), "{keys:?}: {key:?}");
        assert_eq!(key.query["keyFormat"], want);
        assert!(!key.query.contains_key("messageFormat"), "{key:?}");
    }
}

#[test]
fn what_is_missing_is_named_and_what_is_there_is_shown() {
    let records = keyed(&[(Some(b"k1"), Some(b"\0\0\0\0\x07\x02\x04hi")), (None, None)]);
    let missing = look_with(&records, true, &Answers::new());
    assert_eq!(missing.missing, [need(SchemaId::Id(7), Role::Value)]);
    let table = look(&records, true).table.unwrap();
    assert_eq!(
        table.columns,
        ["time", "partition", "offset", "key", "a", "b"]
    );
    let row = |cells: [Option<&str>; 6]| cells.map(|cell| cell.map(ToOwned::to_owned)).to_vec();
    let time = Some("2023-11-14T22:13:20Z");
    assert_eq!(
        table.rows,
        [
            row([
                time,
                Some("0"),
                Some("0"),
                Some("k1"),
                Some("1"),
                Some("hi")
            ]),
            row([time, Some("0"), Some("1"), None, None, None]),
        ]
    );
}

#[test]
fn previews_are_short() {
    let long = format!(
        "[{}]",
        vec![format!("{{\"a\":\"{}\"}}", "ä".repeat(300)); 9].join(",")
    );
    let table = look(&samples(&[long.as_bytes(), b"{}"]), false)
        .table
        .unwrap();
    assert_eq!(table.rows.len(), PREVIEW_ROWS);
    assert_eq!(
        table.rows[0][3].as_ref().map(|cell| cell.chars().count()),
        Some(201)
    );
}

#[test]
fn topics_without_values() {
    let empty = look(&[], true);
    assert_eq!((empty.value, empty.key, empty.table), (None, None, None));
    let tombstones = look(&keyed(&[(Some(b"k"), None), (Some(b"l"), None)]), true);
    let value = tombstones.value.unwrap();
    assert_eq!(
        (value.format, value.why.as_str()),
        (
            "json",
            "all 2 values are null (tombstones), so every format shows the same"
        )
    );
    assert!(tombstones.table.is_some());
}
