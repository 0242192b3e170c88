//! Whole rows: a query's schema, a record's bytes, the packet's cells.

mod twin;

use std::sync::Arc;
use std::time::Instant;

use serde_json::{Map, Value, json};

use crate::batch::Pacer;
use crate::columns::StreamSchema;
use crate::config::{FlattenLimits, PanelQuery};
use crate::decode::SchemaCache;
use crate::perf::PerfFlags;
use crate::pipeline::Pipeline;
use crate::record::{Now, Record};

/// Reads the records with `schema` and further keys of the query; gives column name to cells, without the coordinates.
fn show(schema: &str, keys: Value, records: &[&[u8]]) -> Value {
    let mut columns = columns(schema, keys, records);
    for name in ["time", "partition", "offset"] {
        columns.remove(name);
    }
    columns.into()
}

/// The same, with the coordinates.
fn columns(schema: &str, keys: Value, records: &[&[u8]]) -> Map<String, Value> {
    let mut query = keys;
    query["topicName"] = json!("t");
    query["messageFormat"] = json!("protobuf");
    query["protobufSchemaSource"] = json!("inlineSchema");
    query["protobufSchema"] = json!(schema);
    let query = PanelQuery::parse(query.to_string().as_bytes()).unwrap();
    let mut pipeline = Pipeline::new(
        Arc::new(query.spec),
        FlattenLimits::default(),
        Arc::new(StreamSchema::new()),
        Pacer::off(),
        PerfFlags::default(),
        SchemaCache::new(&PerfFlags::default()),
    );
    let mut now = Now {
        monotonic: Instant::now(),
        wall_ms: 1_700_000_000_000,
    };
    for value in records {
        pipeline.push(
            &Record {
                topic: "t",
                partition: 0,
                offset: 7,
                timestamp: Some(1_600_000_000_000),
                key: None,
                value: Some(value),
                headers: &[],
            },
            now,
        );
    }
    now.monotonic += std::time::Duration::from_millis(5);
    let packet = pipeline.poll_packet(now).expect("a row was pushed");
    let frame: Value = serde_json::from_slice(&packet.json).unwrap();
    let fields = frame["schema"]["fields"].as_array().unwrap();
    fields
        .iter()
        .zip(frame["data"]["values"].as_array().unwrap())
        .map(|(field, cells)| (field["name"].as_str().unwrap().to_owned(), cells.clone()))
        .collect()
}

/// Gives the bytes that a text of hex digits and spaces is; `'…'` stands for itself.
fn hex(text: &str) -> Vec<u8> {
    let mut out = Vec::new();
    for (i, part) in text.split('\'').enumerate() {
        if i % 2 == 1 {
            out.extend_from_slice(part.as_bytes());
            continue;
        }
        let digits: Vec<u8> = part
            .bytes()
            .filter(|b| !b.is_ascii_whitespace())
            .map(|b| (b as char).to_digit(16).unwrap() as u8)
            .collect();
        out.extend(digits.chunks(2).map(|pair| pair[0] << 4 | pair[1]));
    }
    out
}

/// One field `v = 1` of each type.
#[test]
fn scalars() {
    for (of, bytes, want) in [
        ("bool", "08 01", json!(true)),
        ("bool", "08 80 80 01", json!(true)),
        ("int32", "08 ff ff ff ff ff ff ff ff ff 01", json!(-1)),
        ("int32", "08 ff ff ff ff 0f", json!(-1)),
        (
            "int64",
            "08 81 80 80 80 80 80 80 10",
            json!(9_007_199_254_740_993_i64),
        ),
        ("uint32", "08 ff ff ff ff 0f", json!(4_294_967_295_u32)),
        (
            "uint64",
            "08 ff ff ff ff ff ff ff ff ff 01",
            json!(u64::MAX),
        ),
        ("sint32", "08 03", json!(-2)),
        (
            "sint64",
            "08 ff ff ff ff ff ff ff ff ff 01",
            json!(i64::MIN),
        ),
        ("fixed32", "0d ff ff ff ff", json!(u32::MAX)),
        ("fixed64", "09 ff ff ff ff ff ff ff ff", json!(u64::MAX)),
        ("sfixed32", "0d fe ff ff ff", json!(-2)),
        ("sfixed64", "09 fe ff ff ff ff ff ff ff", json!(-2)),
        ("float", "0d cd cc cc 3d", json!(0.1)),
        ("double", "09 00 00 00 00 00 00 f8 3f", json!(1.5)),
        ("string", "0a 04 'gr' c3 bc", json!("grü")),
        ("string", "0a 01 ff", json!("\u{fffd}")),
        ("bytes", "0a 02 00 ff", json!("AP8=")),
        ("E", "08 01", json!("ONE")),
        ("E", "08 07", json!("7")),
        ("E", "08 ff ff ff ff ff ff ff ff ff 01", json!("-1")),
        ("repeated int32", "0a 03 01 02 03", json!("[1,2,3]")),
        ("repeated int32", "08 01 08 02", json!("[1,2]")),
        (
            "repeated int32",
            "08 01 0a 02 02 03 08 04",
            json!("[1,2,3,4]"),
        ),
        ("repeated int32", "0a 00", json!("[]")),
        (
            "repeated string",
            "0a 01 'x' 0a 01 '\"'",
            json!(r#"["x","\""]"#),
        ),
        (
            "repeated double",
            "0a 08 00 00 00 00 00 00 f8 3f",
            json!("[1.5]"),
        ),
        ("repeated E", "0a 02 01 07", json!(r#"["ONE",7]"#)),
        ("repeated bytes", "0a 02 00 ff", json!(r#"["AP8="]"#)),
        ("google.protobuf.Timestamp", "0a 02 08 01", json!(1_000)),
        ("google.protobuf.Timestamp", "0a 00", json!(0)),
        (
            "google.protobuf.Duration",
            "0a 08 08 01 10 80 ca b5 ee 01",
            json!(1.5),
        ),
        (
            "google.protobuf.Duration",
            "0a 0d 10 80 b6 ca 91 fe ff ff ff ff 01 10 00",
            json!(0),
        ),
        ("google.protobuf.Int64Value", "0a 02 08 05", json!(5)),
        ("google.protobuf.Int64Value", "0a 00", json!(0)),
        ("google.protobuf.StringValue", "0a 03 0a 01 'x'", json!("x")),
        ("google.protobuf.BoolValue", "0a 02 08 01", json!(true)),
        (
            "google.protobuf.BytesValue",
            "0a 04 0a 02 00 ff",
            json!("AP8="),
        ),
        (
            "google.protobuf.Struct",
            "0a 17 0a 0a 0a 01 'a' 12 05 1a 03 'b\"c' 0a 09 0a 01 'n' 12 04 32 02 0a 00",
            json!(r#"{"a":"b\"c","n":[null]}"#),
        ),
        ("google.protobuf.Value", "0a 02 20 01", json!("true")),
        ("google.protobuf.Value", "0a 02 08 00", json!(null)),
        ("google.protobuf.Value", "0a 00", json!(null)),
        (
            "google.protobuf.ListValue",
            "0a 06 0a 02 20 01 0a 00",
            json!("[true,null]"),
        ),
        (
            "google.protobuf.FieldMask",
            "0a 08 0a 03 'a_b' 0a 01 'c'",
            json!("aB,c"),
        ),
        ("google.protobuf.Empty", "0a 00", json!("{}")),
        ("google.protobuf.NullValue", "08 00", json!(null)),
    ] {
        let imports = [
            "timestamp",
            "duration",
            "wrappers",
            "struct",
            "field_mask",
            "empty",
        ]
        .map(|name| format!("import 'google/protobuf/{name}.proto';"))
        .join("");
        let schema = format!(
            "syntax = 'proto3'; {imports} message M {{ {of} v = 1; }} enum E {{ ZERO = 0; ONE = 1; }}"
        );
        let got = show(&schema, json!({}), &[&hex(bytes)]);
        assert_eq!(got, json!({ "v": [want] }), "{of} {bytes}");
    }
}

/// Whole messages: schema, records, columns.
#[test]
fn shapes() {
    let proto3 = |body: &str| {
        format!(
            "syntax = 'proto3'; import 'google/protobuf/timestamp.proto'; import 'google/protobuf/any.proto'; {body}"
        )
    };
    let any = "0a 25 0a 1c 'type.googleapis.com/In' 'ner.Of' 12 05 0a 03 'abc'";
    for (name, schema, records, want) in [
        (
            "a group is a nested object",
            "message M { optional group G = 1 { optional int32 a = 2; } repeated group H = 3 { optional int32 b = 1; } }".to_owned(),
            &["0b 10 05 0c", "1b 08 01 1c 1b 1c", ""][..],
            json!({ "g.a": [5, null, null], "h": ["[]", r#"[{"b":1},{}]"#, "[]"] }),
        ),
        (
            "a time that is absent, and one that is zero",
            proto3("message M { google.protobuf.Timestamp at = 1; }"),
            &["", "0a 00", "0a 06 08 01 10 c0 84 3d"],
            json!({ "at": [null, 0, 1_001] }),
        ),
        (
            "a time that no column holds",
            proto3("message M { google.protobuf.Timestamp at = 1; }"),
            &["0a 07 08 ff d1 a5 ff f4 05"],
            json!({ "at": [null] }),
        ),
        (
            "what is implicit shows its default, what is explicit is null",
            proto3("message M { int32 a = 1; optional int32 b = 2; In c = 3; repeated In d = 4; map<string, In> e = 5; message In { string x = 1; bool y = 2; } }"),
            &["", "10 00 1a 00"],
            json!({ "a": [0, 0], "b": [null, 0], "c.x": [null, ""], "c.y": [null, false], "d": ["[]", "[]"] }),
        ),
        (
            "proto2: what is absent is null, whatever its default",
            "message M { optional int32 a = 1 [default = 7]; required string b = 2; repeated int32 c = 3; }".to_owned(),
            &["", "08 00 12 00"],
            json!({ "a": [null, 0], "b": [null, ""], "c": ["[]", "[]"] }),
        ),
        (
            "a map has one column a key; a key that is there twice has its last value",
            proto3("message M { map<string, In> a = 1; map<int64, string> b = 2; message In { int32 x = 1; int32 y = 2; } }"),
            &[
                "0a 09 0a 03 'k.1' 12 02 08 01 0a 02 12 00",
                "0a 09 0a 03 'k.1' 12 02 08 01 0a 09 0a 03 'k.1' 12 02 10 02 12 0d 08 ff ff ff ff ff ff ff ff ff 01 12 00",
            ],
            json!({ r#"a["k.1"].x"#: [1, 0], r#"a["k.1"].y"#: [0, 2], r#"a[""].x"#: [0, null], r#"a[""].y"#: [0, null], "b.-1": [null, ""] }),
        ),
        (
            "a message in two parts is one; a list in two places too",
            proto3("message M { In a = 1; repeated int32 b = 2; message In { int32 x = 1; repeated string y = 2; } }"),
            &["0a 05 08 01 12 01 'p' 10 01 0a 03 12 01 'q' 12 02 02 03"],
            json!({ "a.x": [1], "a.y": [r#"["p","q"]"#], "b": ["[1,2,3]"] }),
        ),
        (
            "of a oneof the last one counts",
            proto3("message M { oneof o { int32 a = 1; string b = 2; In c = 3; } message In { int32 x = 1; int32 y = 2; } }"),
            &["08 01 12 01 'x'", "1a 02 08 01 08 05 1a 02 10 02", "08 00", "1a 02 08 01 1a 02 10 02"],
            json!({ "a": [null, null, 0, null], "b": ["x", null, null, null], "c.x": [null, 0, null, 1], "c.y": [null, 2, null, 2] }),
        ),
        (
            "an Any shows what it holds, where that is known",
            proto3("package Inner; message M { google.protobuf.Any a = 1; } message Of { string x = 1; int32 y = 2; }"),
            &[any, "0a 07 0a 01 'u' 12 02 00 ff", ""],
            json!({ "a": [
                r#"{"@type":"type.googleapis.com/Inner.Of","x":"abc","y":0}"#,
                r#"{"@type":"u","value":"AP8="}"#,
                null,
            ] }),
        ),
        (
            "what nests deeper than five segments is JSON",
            proto3("message M { M m = 1; int32 v = 2; }"),
            &["10 01 0a 16 10 02 0a 12 10 03 0a 0e 10 04 0a 0a 10 05 0a 06 10 06 0a 02 10 07"],
            json!({
                "v": [1], "m.v": [2], "m.m.v": [3], "m.m.m.v": [4], "m.m.m.m.v": [5],
                "m.m.m.m.m": [r#"{"v":6,"m":{"v":7}}"#],
            }),
        ),
        (
            "unknown fields are passed over",
            proto3("message M { int32 a = 1; }"),
            &["92 03 02 'xx' 9b 03 08 01 9c 03 9d 03 00 00 00 00 99 03 00 00 00 00 00 00 00 00 90 03 01 08 05"],
            json!({ "a": [5] }),
        ),
        (
            "two fields of one name by their paths",
            proto3("message M { int32 time = 1; int32 _error = 2; }"),
            &["08 01 10 02"],
            json!({ "value.time": [1], "value._error": [2] }),
        ),
    ] {
        let records: Vec<_> = records.iter().map(|record| hex(record)).collect();
        let records: Vec<_> = records.iter().map(Vec::as_slice).collect();
        let got = show(&schema, json!({ "framing": "none" }), &records);
        assert_eq!(got, want, "{name}");
    }
}

/// What stands between a frame's id and the message.
#[test]
fn framings() {
    let schema = "syntax = 'proto3'; package p; message A { int32 a = 1; message In { int32 i = 1; } map<string, int32> m = 2; message Two { int32 t = 1; } } message B { int32 b = 1; }";
    let a = |cells: Value| json!({ "a": cells });
    for (keys, records, want) in [
        // The first message's indexes, short and long; raw bytes as they are.
        (
            json!({}),
            &[
                "00 00000001 00 08 05",
                "00 00000001 02 00 08 06",
                "08 07",
                "",
            ][..],
            a(json!([5, 6, 7, 0])),
        ),
        (json!({}), &["00 00000001 02 02 08 05"], json!({ "b": [5] })),
        (
            json!({}),
            &["00 00000001 04 00 00 08 05"],
            json!({ "i": [5] }),
        ),
        // Clients that register text count no map's entries: the message behind one is the second.
        (
            json!({}),
            &["00 00000001 04 00 02 08 05"],
            json!({ "t": [5] }),
        ),
        // Plain varints, told from zigzag by what they would be; remembered.
        (json!({}), &["00 00000001 01 01 08 05"], json!({ "b": [5] })),
        (
            json!({}),
            &[
                "00 00000001 01 01 08 05",
                "00 00000001 02 00 01 08 06",
                "00 00000001 01 00 08 07",
            ],
            json!({ "b": [5, null, null], "t": [null, 6, null], "a": [null, null, 7] }),
        ),
        (
            json!({ "protobufMessage": ".p.B" }),
            &[
                "00 00000001 00 08 05",
                "00 00000001 08 06",
                "08 07",
                "00 00000001 02 02 08 08",
            ],
            json!({ "b": [5, 6, 7, 8] }),
        ),
        (
            json!({ "protobufMessage": "p.A.In", "framing": "none" }),
            &["08 05"],
            json!({ "i": [5] }),
        ),
        // Apicurio's name before the message; with both ids.
        (
            json!({ "framing": "apicurio" }),
            &[
                "00 0000000000000001 03 0a 01 'B' 08 05",
                "00 0000000000000001 05 0a 03 'p.B' 08 06",
            ],
            json!({ "b": [5, 6] }),
        ),
        (
            json!({ "framing": "apicurio" }),
            &["00 0000000000000001 08 05"],
            a(json!([5])),
        ),
        (
            json!({}),
            &["00 00000001 03 0a 01 'B' 08 05"],
            json!({ "b": [5] }),
        ),
        // Glue's place among the names: p.A, p.A.In, p.A.Two, p.B.
        (
            json!({ "framing": "glue" }),
            &["03 00 00000000000000000000000000000001 03 08 05"],
            json!({ "b": [5] }),
        ),
        (
            json!({ "framing": "confluentHeader" }),
            &["08 05"],
            a(json!([5])),
        ),
    ] {
        let records: Vec<_> = records.iter().map(|record| hex(record)).collect();
        let records: Vec<_> = records.iter().map(Vec::as_slice).collect();
        let mut got = show(schema, keys.clone(), &records);
        if let Some(shown) = got.as_object_mut() {
            shown.retain(|name, _| want.get(name).is_some() || name == "_error");
        }
        assert_eq!(got, want, "{keys} {records:02x?}");
    }
}

/// Records that are wrong: what the error says.
#[test]
fn errors() {
    let schema = "syntax = 'proto3'; message A { int32 a = 1; repeated double d = 2; A n = 3; string s = 4; }";
    let deep = format!("{} 00", "1a 7f ".repeat(3));
    for (keys, record, want) in [
        (
            json!({}),
            "08",
            "byte 1: expected a varint, and the record ends",
        ),
        (
            json!({}),
            "08 80 80 80 80 80 80 80 80 80 02",
            "byte 1: expected a varint of at most 64 bits",
        ),
        (
            json!({}),
            "22 05 'ab'",
            "byte 1: a value of 5 bytes cannot be in the 2 bytes that are left",
        ),
        (
            json!({}),
            "22 ff ff ff ff ff ff ff ff ff 01",
            "a value of 18446744073709551615 bytes",
        ),
        (
            json!({}),
            "0a 01 'x'",
            "byte 1: field 1 is a length and bytes, and the schema says a varint",
        ),
        (
            json!({}),
            "12 07 00 00 00 00 00 00 00",
            "and the record ends",
        ),
        (
            json!({}),
            "0c",
            "byte 0: the end of group 1, which did not begin",
        ),
        (
            json!({}),
            "5b 08 01",
            "expected a field's tag, and the record ends",
        ),
        (json!({}), "0e", "byte 0: expected a field, found 14"),
        (
            json!({ "framing": "none" }),
            "00",
            "byte 0: expected a field, found 0",
        ),
        (json!({}), "00 00 01", "byte 0: expected a field, found 0"),
        (
            json!({ "framing": "confluent" }),
            "08 05",
            "expected 00 and a schema id of 4 bytes",
        ),
        (json!({}), "00 00000001 08 05", "are no message indexes"),
        (
            json!({}),
            "00 00000001 0a 03 'abc'",
            "are no message indexes",
        ),
        (json!({}), "00 00000001", "are no message indexes"),
        (
            json!({}),
            "00 00000001 02 04",
            "message 2 of its schema, and there is none",
        ),
        (json!({}), "00 00000001 00 0a 01 'x'", "byte 7: field 1 is"),
        (json!({}), &deep, "byte 1: a value of 127 bytes"),
    ] {
        let got = show(schema, keys.clone(), &[&hex(record)]);
        let error = got["_error"][0].as_str().unwrap_or_default().to_owned();
        assert!(
            error.starts_with("Protobuf: ") && error.contains(want),
            "{keys} {record}: {got}"
        );
    }
}

/// Messages nest 100 deep, in columns, in lists and in what is unknown, and no deeper.
#[test]
fn nesting() {
    let nested = |levels: usize, tag: u8| {
        let mut bytes = Vec::new();
        for _ in 0..levels {
            let mut outer = vec![tag];
            super::wire::put_varint(bytes.len() as u64, &mut outer);
            outer.append(&mut bytes);
            bytes = outer;
        }
        bytes
    };
    let schema = "syntax = 'proto3'; message M { M m = 1; repeated M l = 2; int32 v = 3; }";
    for tag in [0x0a, 0x12] {
        for (levels, is_right) in [(100, true), (101, false), (20_000, false)] {
            let got = show(
                schema,
                json!({ "framing": "none" }),
                &[&nested(levels, tag)],
            );
            let error = got
                .get("_error")
                .map(|cells| cells[0].as_str().unwrap_or_default());
            assert_eq!(error.is_none(), is_right, "{tag} {levels}: {error:?}");
            assert!(
                error.is_none_or(|text| text.contains("nested deeper than 100")),
                "{error:?}"
            );
        }
    }
    let groups = |levels: usize| [vec![0x2b; levels], vec![0x2c; levels]].concat();
    for (levels, is_right) in [(100, true), (101, false), (20_000, false)] {
        let got = show(schema, json!({ "framing": "none" }), &[&groups(levels)]);
        assert_eq!(got.get("_error").is_none(), is_right, "{levels}");
    }
}

#[test]
fn bytes_show_as_the_query_says() {
    let schema = "syntax = 'proto3'; message M { bytes a = 1; repeated bytes b = 2; }";
    let record = hex("0a 02 00 ff 12 02 'a\"'");
    for (bytes_as, want) in [
        ("base64", json!({ "a": ["AP8="], "b": [r#"["YSI="]"#] })),
        ("hex", json!({ "a": ["00ff"], "b": [r#"["6122"]"#] })),
        (
            "text",
            json!({ "a": ["\u{0}\u{fffd}"], "b": [r#"["a\""]"#] }),
        ),
    ] {
        let got = show(schema, json!({ "bytesAs": bytes_as }), &[&record]);
        assert_eq!(got, want, "{bytes_as}");
    }
}

/// Whole numbers of 64 bits keep their digits; the query may fix a column's type.
#[test]
fn types_that_the_query_fixes() {
    let schema = "syntax = 'proto3'; import 'google/protobuf/timestamp.proto'; import 'google/protobuf/duration.proto';
        message M { int64 i = 1; uint64 u = 2; double d = 3; google.protobuf.Timestamp t = 4; google.protobuf.Duration p = 5; string s = 6; bool b = 7; }";
    let record = hex(
        "08 81 80 80 80 80 80 80 10 10 ff ff ff ff ff ff ff ff ff 01 19 00 00 00 00 00 00 f8 3f 22 04 08 01 10 05 2a 02 08 02 32 03 '1.5' 38 01",
    );
    let text = json!({ "fieldTypes": { "i": "text", "u": "text", "d": "text", "t": "text", "p": "text", "s": "number", "b": "text" } });
    for (keys, want) in [
        (
            json!({}),
            json!({ "i": [9_007_199_254_740_993_i64], "u": [u64::MAX], "d": [1.5], "t": [1_000], "p": [2], "s": ["1.5"], "b": [true] }),
        ),
        (
            text,
            json!({ "i": ["9007199254740993"], "u": ["18446744073709551615"], "d": ["1.5"], "t": ["1970-01-01T00:00:01.000000005Z"], "p": ["2"], "s": [1.5], "b": ["true"] }),
        ),
        (
            json!({ "fieldTypes": { "i": "time", "t": "number" } }),
            json!({ "i": [9_007_199_254_740_i64], "u": [u64::MAX], "d": [1.5], "t": [null], "p": [2], "s": ["1.5"], "b": [true] }),
        ),
    ] {
        let got = show(schema, keys.clone(), &[&record]);
        assert_eq!(got, want, "{keys}");
    }
}

/// A time field of the payload, whose text is made only then.
#[test]
fn the_time_may_stand_in_a_field() {
    let schema = "message M { optional double d = 1; optional fixed64 u = 2; }";
    for (field, unit, bytes) in [
        ("d", "s", "09 00 00 00 40 fc 54 d9 41"),
        ("u", "ms", "11 00 68 e5 cf 8b 01 00 00"),
    ] {
        let keys = json!({ "timeField": field, "timeUnit": unit });
        let got = columns(schema, keys, &[&hex(bytes)]);
        assert_eq!(got["time"], json!([1_700_000_000_000_i64]), "{field}");
    }
}
