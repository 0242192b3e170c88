//! Whole rows: a query's schema, a record's bytes, the packet's cells.

mod evolve;
mod resolve;
mod twin;

use std::sync::Arc;
use std::time::Instant;

use serde_json::{Value, json};

use crate::batch::Pacer;
use crate::columns::StreamSchema;
use crate::config::{FlattenLimits, PanelQuery};
use crate::decode::SchemaCache;
use crate::perf::PerfFlags;
use crate::pipeline::Pipeline;
use crate::record::{Now, Record};

/// Reads the records with `schema` and further keys of the query; gives column name to cells, without the coordinates.
fn show(schema: &Value, keys: Value, records: &[&[u8]]) -> Value {
    let mut query = keys;
    query["topicName"] = json!("t");
    query["messageFormat"] = json!("avro");
    query["avroSchemaSource"] = json!("inlineSchema");
    query["avroSchema"] = json!(schema.to_string());
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
        .filter(|(name, _)| !["time", "partition", "offset"].contains(&name.as_str()))
        .collect()
}

#[test]
fn scalars() {
    let logical = |of: &str, logical: &str| json!({ "type": of, "logicalType": logical });
    let decimal = json!({ "type": "bytes", "logicalType": "decimal", "precision": 10, "scale": 2 });
    let fixed = |size: u32, logical: &str| json!({ "type": "fixed", "name": "f", "size": size, "logicalType": logical, "precision": 4, "scale": 1 });
    let nanos = json!(["timestamp-nanos", "local-timestamp-nanos"].map(|of| logical("long", of)));
    for (schema, bytes, want) in [
        (json!("boolean"), &b"\x01"[..], json!(true)),
        (json!("int"), b"\x01", json!(-1)),
        (json!("long"), b"\xfe\xff\xff\xff\x0f", json!(2_147_483_647)),
        (json!("float"), b"\0\0\xc0\x3f", json!(1.5)),
        (json!("float"), b"\xcd\xcc\xcc\x3d", json!(0.1)),
        (json!("double"), b"\0\0\0\0\0\0\xf8\x3f", json!(1.5)),
        (json!("string"), "\x08gr\u{fc}".as_bytes(), json!("grü")),
        (json!("string"), b"\x02\xff", json!("\u{fffd}")),
        (json!("bytes"), b"\x04\xcf\xc7", json!("z8c=")),
        (decimal.clone(), b"\x04\xcf\xc7", json!(-123.45)),
        (decimal, b"\0", json!(0)),
        (fixed(2, "decimal"), b"\xff\xfb", json!(-0.5)),
        (
            logical("bytes", "big-decimal"),
            b"\x08\x04\xcf\xc7\x04",
            json!(-123.45),
        ),
        (fixed(2, "none"), b"\xff\xfb", json!("//s=")),
        (
            logical("int", "date"),
            b"\xf0\xa8\x02",
            json!(1_641_600_000_000_i64),
        ),
        (
            logical("int", "time-millis"),
            b"\x02",
            json!("00:00:00.001"),
        ),
        (
            logical("long", "time-micros"),
            b"\x80\x80\xbb\xdd\x83\x05",
            json!("86400000000"),
        ),
        (logical("long", "timestamp-micros"), b"\x01", json!(-1)),
        (logical("long", "timestamp-millis"), b"\x03", json!(-2)),
        (
            logical("long", "local-timestamp-micros"),
            b"\x01",
            json!("1969-12-31T23:59:59.999999"),
        ),
        (logical("string", "uuid"), b"\x04ab", json!("ab")),
        (
            fixed(16, "uuid"),
            &[0xab; 16],
            json!("abababab-abab-abab-abab-abababababab"),
        ),
        (
            fixed(12, "duration"),
            b"\x01\0\0\0\x02\0\0\0\xa4\x0f\0\0",
            json!("P1M2DT4.004S"),
        ),
        (
            json!({ "type": "enum", "name": "e", "symbols": ["A", "B"] }),
            b"\x02",
            json!("B"),
        ),
        (
            json!({ "type": "array", "items": "int" }),
            b"\x04\x02\x04\0",
            json!("[1,2]"),
        ),
        (
            json!({ "type": "array", "items": "int" }),
            b"\x03\x04\x02\x04\0",
            json!("[1,2]"),
        ),
        (
            json!({ "type": "array", "items": ["null", "string"] }),
            b"\x04\0\x02\x02\"\0",
            json!(r#"[null,"\""]"#),
        ),
        (json!(["null", "string"]), b"\x02\x02x", json!("x")),
        (
            nanos[0].clone(),
            b"\xe4\x9f\xc3\x87\xeb\xad\xb4\xa6\x2f",
            json!(1_704_164_645_678_i64),
        ),
        (
            nanos[1].clone(),
            b"\xe4\x9f\xc3\x87\xeb\xad\xb4\xa6\x2f",
            json!("2024-01-02T03:04:05.678901234"),
        ),
    ] {
        let got = show(&schema, json!({ "framing": "none" }), &[bytes]);
        assert_eq!(got, json!({ "value": [want] }), "{schema} {bytes:?}");
    }
}

#[test]
fn shapes() {
    let record = |fields: Value| json!({ "type": "record", "name": "r", "fields": fields });
    let inner = |name: &str| json!({ "type": "record", "name": name, "fields": [{ "name": "v", "type": "int" }] });
    let field = |of: Value| record(json!([{ "name": "a", "type": of }]));
    let list = json!({ "type": "record", "name": "r", "fields": [
        { "name": "v", "type": "int" }, { "name": "next", "type": ["null", "r"] }] });
    let variable = json!({ "type": "record", "name": "io.debezium.data.VariableScaleDecimal", "fields": [
        { "name": "scale", "type": "int" }, { "name": "value", "type": "bytes" }] });
    for (schema, records, want) in [
        (
            field(json!(["null", "string", "long"])),
            &[&b"\0"[..], b"\x02\x02x", b"\x04\x0a"][..],
            json!({ "a": [null, "x", "5"] }),
        ),
        (
            field(json!(["null", "int"])),
            &[b"\0", b"\x02\x02"],
            json!({ "a": [null, 1] }),
        ),
        (
            field(json!(["null", "int"])),
            &[b"\0"],
            json!({ "a": [null] }),
        ),
        (
            field(json!([inner("x"), inner("y")])),
            &[b"\0\x02", b"\x02\x04"],
            json!({ "a.v": [1, 2] }),
        ),
        (
            field(json!([{ "type": "int", "logicalType": "date" }, "string"])),
            &[b"\0\x02", b"\x02\x02x"],
            json!({ "a": ["1970-01-02", "x"] }),
        ),
        (
            field(json!({ "type": "map", "values": inner("x") })),
            &[b"\x06\x06a.b\x02\0\x04\x04\xc3\xbc\x06\0"],
            json!({ "a[\"\"].v": [2], "a.ü.v": [3], "a[\"a.b\"].v": [1] }),
        ),
        (
            json!({ "type": "map", "values": "int" }),
            &[b"\x02\x02a\x02\0", b"\x02\x02b\x02\0"],
            json!({ "a": [1, null], "b": [null, 1] }),
        ),
        (
            list,
            &[b"\x02\x02\x02\x02\x02\x02\x02\x02\x02\x02\x02\0"],
            json!({ "v": [1], "next.v": [1], "next.next.v": [1], "next.next.next.v": [1],
                "next.next.next.next.v": [1], "next.next.next.next.next": [r#"{"v":1,"next":null}"#] }),
        ),
        (
            field(variable),
            &[b"\x04\x04\xcf\xc7"],
            json!({ "a": [-123.45] }),
        ),
        (
            json!({ "type": "record", "name": "r", "namespace": "n.s", "fields": [
                { "name": "a", "type": { "type": "fixed", "name": "f", "size": 1, "logicalType": "decimal", "precision": 2, "scale": 1 } },
                { "name": "b", "type": "n.s.f" },
                { "name": "c", "type": { "type": "enum", "name": "other.e", "symbols": ["A"] } },
                { "name": "d", "type": "other.e" },
                { "name": "e", "type": { "type": "int", "logicalType": "date" }, "default": 19000 },
            ] }),
            &[b"\x05\xfb\0\0\xf0\xa8\x02"],
            json!({ "a": [0.5], "b": [-0.5], "c": ["A"], "d": ["A"], "e": [1_641_600_000_000_i64] }),
        ),
        (field(json!("null")), &[b""], json!({})),
    ] {
        let got = show(&schema, json!({ "framing": "none" }), records);
        assert_eq!(got, want, "{schema}");
    }
}

#[test]
fn framings() {
    let (empty, int) = (
        json!({ "type": "record", "name": "e", "fields": [] }),
        json!("int"),
    );
    let long = json!({ "type": "record", "name": "l", "fields": [{ "name": "a", "type": "string" }, { "name": "b", "type": "int" }] });
    for (schema, framing, records, want) in [
        (&empty, "auto", &[&b"\0\0\0\0\x07"[..], b""][..], json!({})),
        (
            &int,
            "auto",
            &[b"\x02", b"\0\0\0\0\x07\x04", b"\0", b"\0\0\0\0\x07\x06"],
            json!({ "value": [1, 2, 0, 3] }),
        ),
        (
            &long,
            "auto",
            &[b"\0\x04", b"\0\0\0\0\x07\x02x\x04"],
            json!({ "a": ["", "x"], "b": [2, 2] }),
        ),
        (
            &int,
            "confluent",
            &[b"\0\0\0\0\x07\x04"],
            json!({ "value": [2] }),
        ),
        (
            &int,
            "apicurio",
            &[b"\0\0\0\0\0\0\0\0\x07\x04"],
            json!({ "value": [2] }),
        ),
        (
            &int,
            "glue",
            &[b"\x03\0aaaaaaaaaaaaaaaa\x04"],
            json!({ "value": [2] }),
        ),
        (&int, "confluentHeader", &[b"\x04"], json!({ "value": [2] })),
    ] {
        let got = show(schema, json!({ "framing": framing }), records);
        assert_eq!(got, want, "{framing} {records:?}");
    }
}

/// S07.
#[test]
fn glue_frames() {
    let glue = |compression: u8, body: &[u8]| [&[3, compression][..], &[9; 16], body].concat();
    let zlib = miniz_oxide::deflate::compress_to_vec_zlib(b"\x06", 6);
    let long = miniz_oxide::deflate::compress_to_vec_zlib(b"\x06\x06", 6);
    for (framing, bytes, want) in [
        ("glue", glue(0, b"\x06"), Ok(3)),
        ("glue", glue(5, &zlib), Ok(3)),
        ("auto", glue(0, b"\x06"), Ok(3)),
        ("auto", glue(5, &zlib), Ok(3)),
        (
            "glue",
            glue(6, b"\x06"),
            Err("expected 00 (none) or 05 (zlib) as compression, found 06"),
        ),
        ("glue", glue(5, b"\x06"), Err("no whole zlib stream")),
        ("glue", glue(5, &long), Err("found 1 more bytes")),
        ("glue", vec![3, 0, 9], Err("expected 03, a compression and")),
    ] {
        let got = show(&json!("int"), json!({ "framing": framing }), &[&bytes]);
        match want {
            Ok(want) => assert_eq!(got, json!({ "value": [want] }), "{framing} {bytes:?}"),
            Err(want) => {
                let error = got["_error"][0].as_str().unwrap_or_default();
                assert!(error.contains(want), "{framing} {bytes:?}: {got}");
            }
        }
    }
}

#[test]
fn errors() {
    let nulls = json!({ "type": "array", "items": "null" });
    for (schema, framing, bytes, want) in [
        (
            nulls,
            "none",
            &b"\x80\x80\x80\x80\x80\x40\0"[..],
            "byte 0: 1099511627776 items cannot be in",
        ),
        (
            json!({ "type": "array", "items": "int" }),
            "none",
            b"\xfe\x01\x02",
            "byte 0: 127 items cannot be in the 1 bytes",
        ),
        (
            json!({ "type": "enum", "name": "e", "symbols": ["A"] }),
            "none",
            b"\xc6\x01",
            "byte 0: expected the number of an enum's symbol, found 99",
        ),
        (
            json!(["null", "int"]),
            "none",
            b"\x04",
            "byte 0: expected the number of a union's branch, found 2",
        ),
        (
            json!("boolean"),
            "none",
            b"\x02",
            "expected a boolean, 0 or 1, found 2",
        ),
        (
            json!("string"),
            "none",
            b"\x08ab",
            "byte 0: expected a length within the record, found 4",
        ),
        (
            json!("string"),
            "none",
            b"\x01",
            "byte 0: expected a length within the record, found -1",
        ),
        (
            json!("double"),
            "none",
            b"\0\0",
            "byte 0: expected a double of 8 bytes, and the record ends",
        ),
        (
            json!("int"),
            "none",
            b"\x02\x04",
            "byte 1: expected the end of the record, found 1 more bytes",
        ),
        (
            json!("int"),
            "none",
            b"",
            "byte 0: expected an int, and the record ends",
        ),
        (
            json!("int"),
            "auto",
            b"\0\0\0\0\x07\x04\x04",
            "byte 6: expected the end of the record, found 1",
        ),
        (
            json!("int"),
            "confluent",
            b"\x02",
            "expected 00 and a schema id of 4 bytes at the start",
        ),
        (
            json!({ "type": "map", "values": "int" }),
            "none",
            b"\x02\x02a\x02\0\0",
            "byte 5: expected the end of the record",
        ),
    ] {
        let got = show(&schema, json!({ "framing": framing }), &[bytes]);
        let text = got["_error"][0].as_str().unwrap_or_default();
        assert!(text.contains(want), "{schema} {bytes:?}: {got}");
        // A bad record's map keys make no columns.
        assert!(got.get("a").is_none(), "{got}");
    }
}

#[test]
fn nesting_ends() {
    let schema = json!({ "type": "record", "name": "r", "fields": [{ "name": "n", "type": ["null", "r"] }] });
    let got = show(&schema, json!({}), &[&[2; 1_000]]);
    assert!(
        got["_error"][0].as_str().unwrap().contains("deeper than"),
        "{got}"
    );
}

#[test]
fn bytes_show() {
    for (bytes_as, want) in [("base64", "SGk="), ("text", "Hi"), ("hex", "4869")] {
        let got = show(
            &json!("bytes"),
            json!({ "bytesAs": bytes_as }),
            &[b"\x04Hi"],
        );
        assert_eq!(got, json!({ "value": [want] }), "{bytes_as}");
    }
}
