//! Protobuf whose records name their schemas, and the benches' records against the plain twin.

use std::sync::Arc;

use serde_json::{Map, Value, json};
use streamscope::frame::Packet;
use streamscope::perf::PerfFlags;
use streamscope::pipeline::Step;
use streamscope::record::{Header, Record};
use streamscope::schema::{Reference, Role, SchemaId, SchemaKind, SchemaText};

use crate::corpus;
use crate::support::{Clock, TIME, pipeline, record};
use crate::twin::Twin;

const ORDER: &str = "syntax = 'proto3'; package shop; import 'money.proto'; \
    message Order { string id = 1; Money total = 2; message Line { int32 count = 1; } } \
    message Refund { string order = 1; }";
const MONEY: &str = "syntax = 'proto3'; package shop; message Money { int64 units = 1; }";

fn text(text: &str) -> SchemaText {
    SchemaText {
        kind: SchemaKind::Protobuf,
        text: text.to_owned(),
        references: vec![Reference {
            name: "money.proto".to_owned(),
            text: MONEY.to_owned(),
        }],
    }
}

fn cells(packet: &Packet) -> Map<String, Value> {
    let frame: Value = serde_json::from_slice(&packet.json).unwrap();
    let names = frame["schema"]["fields"].as_array().unwrap();
    let values = frame["data"]["values"].as_array().unwrap();
    names
        .iter()
        .zip(values)
        .map(|(field, cells)| (field["name"].as_str().unwrap().to_owned(), cells.clone()))
        .filter(|(name, _)| !["time", "partition", "offset"].contains(&name.as_str()))
        .collect()
}

/// Pushes the records, and gives a registry's answer to each that needs a schema: what `schemas` has for its id.
fn show(
    query: &Value,
    flags: PerfFlags,
    schemas: &[(SchemaId, SchemaText)],
    records: &[Record<'_>],
) -> (Value, Vec<String>) {
    let (mut pipeline, mut clock) = (pipeline(query, flags), Clock::new());
    let mut asked = Vec::new();
    for record in records {
        while let Step::NeedSchema(need) = pipeline.push(record, clock.0) {
            assert!(asked.len() < 20, "{asked:?}");
            asked.push(format!("{} {}", need.role.as_str(), need.id));
            let found = schemas.iter().find(|(id, _)| *id == need.id);
            let answer = Arc::new(found.expect("the schema is there").1.clone());
            pipeline.provide_schema(&need, Ok(answer), clock.0);
        }
    }
    (cells(&clock.flush(&mut pipeline).unwrap()).into(), asked)
}

#[test]
fn each_record_by_its_schema_and_its_message() {
    let newer = ORDER.replace("string order = 1;", "string order = 1; bool done = 2;");
    let schemas = [
        (SchemaId::Id(1), text(ORDER)),
        (SchemaId::Id(2), text(&newer)),
    ];
    let values = [
        &b"\0\0\0\0\x01\0\x0a\x01a\x12\x02\x08\x05"[..],
        b"\0\0\0\0\x01\x02\x02\x0a\x01b",
        b"\0\0\0\0\x02\x02\x02\x0a\x01c\x10\x01",
        b"\0\0\0\0\x01\x04\0\0\x08\x03",
        b"\0\0\0\0\x01\x0a\x01a",
        b"\0\0\0\0\x02\0\x0a\x01d",
    ];
    let records: Vec<_> = values.iter().map(|value| record(value, 0)).collect();
    let no_indexes = "Protobuf: the bytes after the schema id are no message indexes: the producer may write none, or another format. Name the message in the query (`protobufMessage`) to read records without them";
    let want = json!({
        "id": ["a", null, null, null, null, "d"],
        "total.units": [5, null, null, null, null, null],
        "order": [null, "b", "c", null, null, null],
        "done": [null, null, true, null, null, null],
        "count": [null, null, null, 3, null, null],
        "_error": [null, null, null, null, no_indexes, null],
    });
    let uncached = PerfFlags {
        disable_protobuf_schema_cache: true,
        ..PerfFlags::default()
    };
    for flags in [PerfFlags::default(), uncached] {
        let query = json!({ "messageFormat": "protobuf" });
        let (got, asked) = show(&query, flags, &schemas, &records);
        assert_eq!(got, want);
        assert_eq!(asked, ["value id 1", "value id 2"]);
    }
}

#[test]
fn the_query_names_the_message() {
    let schemas = [(SchemaId::Id(1), text(ORDER))];
    for (message, value, want) in [
        (
            "shop.Refund",
            &b"\0\0\0\0\x01\x0a\x01a"[..],
            json!({ "order": ["a"] }),
        ),
        (
            "shop.Refund",
            b"\0\0\0\0\x01\x02\x02\x0a\x01a",
            json!({ "order": ["a"] }),
        ),
        (
            ".shop.Money",
            b"\0\0\0\0\x01\x08\x05",
            json!({ "units": [5] }),
        ),
        (
            "shop.Bill",
            b"\0\0\0\0\x01\0\x08\x05",
            json!({ "_error": ["Protobuf: the schema has no message `shop.Bill`; it has `shop.Order`, `shop.Order.Line`, `shop.Refund`"] }),
        ),
    ] {
        let query = json!({ "messageFormat": "protobuf", "protobufMessage": message });
        let (got, _) = show(&query, PerfFlags::default(), &schemas, &[record(value, 0)]);
        assert_eq!(got, want, "{message} {value:?}");
    }
}

#[test]
fn ids_elsewhere() {
    let schemas = [
        (SchemaId::Guid([7; 16]), text(ORDER)),
        (SchemaId::Latest("t-value".into()), text(ORDER)),
        (
            SchemaId::Apicurio {
                kind: streamscope::schema::ApicurioId::Global,
                id: 9,
            },
            text(ORDER),
        ),
    ];
    let confluent = |indexes: &[u8]| [&[1][..], &[7; 16], indexes].concat();
    let (first, second) = (confluent(b"\0"), confluent(b"\x02\x02"));
    let bare = confluent(b"");
    let header = |name: &'static [u8], value| Header {
        name,
        value: Some(value),
    };
    for (framing, headers, value, want) in [
        (
            "auto",
            vec![header(b"__value_schema_id", &first)],
            &b"\x0a\x01a"[..],
            json!({ "id": ["a"], "total.units": [null] }),
        ),
        (
            "auto",
            vec![header(b"__value_schema_id", &second)],
            b"\x0a\x01a",
            json!({ "order": ["a"] }),
        ),
        (
            "confluentHeader",
            vec![header(b"__value_schema_id", &second)],
            b"",
            json!({ "order": [""] }),
        ),
        (
            "confluentHeader",
            vec![header(b"__value_schema_id", &bare)],
            b"\x0a\x01a",
            json!({ "id": ["a"], "total.units": [null] }),
        ),
        (
            "none",
            vec![],
            b"\x0a\x01a",
            json!({ "id": ["a"], "total.units": [null] }),
        ),
        (
            "auto",
            vec![],
            b"\x0a\x01a",
            json!({ "id": ["a"], "total.units": [null] }),
        ),
        (
            "apicurio",
            vec![header(b"apicurio.value.globalId", b"\0\0\0\0\0\0\0\x09")],
            b"\x0a\x01a",
            json!({ "id": ["a"], "total.units": [null] }),
        ),
        (
            "apicurio",
            vec![],
            b"\0\0\0\0\0\0\0\0\x09\x08\x0a\x06Refund\x0a\x01a",
            json!({ "order": ["a"] }),
        ),
    ] {
        let record = Record {
            headers: &headers,
            ..record(value, 0)
        };
        let query = json!({ "messageFormat": "protobuf", "framing": framing });
        let (got, _) = show(&query, PerfFlags::default(), &schemas, &[record]);
        assert_eq!(got, want, "{framing} {headers:?} {value:?}");
    }
}

/// A Protobuf key beside a JSON value, and the other way round.
#[test]
fn keys_have_schemas_of_their_own() {
    let schemas = [(SchemaId::Id(1), text(ORDER))];
    let key = |key| Record {
        key: Some(key),
        ..record(br#"{"a":1}"#, 0)
    };
    let from_registry = json!({ "keyFormat": "protobuf" });
    let inline = json!({ "keyFormat": "protobuf", "keySchemaSource": "inlineSchema", "keySchema": "message K { map<string, int32> m = 1; optional int32 n = 2; }" });
    for (query, bytes, want) in [
        (
            &from_registry,
            &b"\0\0\0\0\x01\x02\x02\x0a\x01k"[..],
            json!({ "key.order": ["k"], "a": [1] }),
        ),
        (&inline, b"\x10\x05", json!({ "key.n": [5], "a": [1] })),
        (
            &inline,
            b"\0\0\0\0\x09\0\x10\x06\x0a\x05\x0a\x01x\x10\x07",
            json!({ "key.n": [6], "key.m.x": [7], "a": [1] }),
        ),
        // A key that cannot be decoded leaves no trace.
        (
            &inline,
            b"\x0a\x05\x0a\x01x\x10\x07\x10",
            json!({ "a": [1] }),
        ),
        (&inline, b"", json!({ "key.n": [null], "a": [1] })),
    ] {
        let (got, asked) = show(query, PerfFlags::default(), &schemas, &[key(bytes)]);
        assert_eq!(got, want, "{query} {bytes:?}");
        assert!(
            asked
                .iter()
                .all(|asked| asked.starts_with(Role::Key.as_str())),
            "{asked:?}"
        );
    }
}

/// What the plain twin makes of the benches' records, whose every column is in the first.
#[test]
fn the_core_gives_what_the_twin_gives() {
    for fixture in corpus::fixtures()
        .into_iter()
        .filter(|of| of.name.starts_with("protobuf"))
    {
        let twin = Twin::new(&fixture.query);
        let records: Vec<_> = fixture
            .values
            .iter()
            .map(|value| record(value, 0))
            .collect();
        let (got, _) = show(&fixture.query, PerfFlags::default(), &[], &records);
        for (i, value) in fixture.values.iter().enumerate() {
            let row = twin.decode(value, TIME).expect("it is Protobuf").remove(0);
            for (name, cells) in got.as_object().unwrap() {
                let want = row.cells.get(name).cloned().unwrap_or_default();
                let (got, want) = (plain(&cells[i]), plain(&want));
                assert_eq!(got, want, "{} {i} {name}", fixture.name);
            }
            let unknown = row.cells.keys().find(|name| got.get(name).is_none());
            assert_eq!(unknown, None, "{} {i}", fixture.name);
        }
    }
}

/// A whole float is the same number with and without its point.
fn plain(cell: &Value) -> Value {
    match cell.as_f64() {
        Some(number) => json!(number),
        None => cell.clone(),
    }
}
