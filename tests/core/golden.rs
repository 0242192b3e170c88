//! Packets as they are, byte for byte. `UPDATE_GOLDEN=1 cargo test --test core golden` writes them anew: read the diff.

use std::fmt::Write;
use std::{env, fs, path::Path};

use serde_json::{Value, json};
use streamscope::frame::Notice;
use streamscope::perf::PerfFlags;
use streamscope::pipeline::ErrorAt;
use streamscope::record::{Header, Record};

use crate::support::{Clock, pipeline, record};

#[test]
fn packets() {
    let headers = [
        Header {
            name: b"trace",
            value: Some(b"abc"),
        },
        Header {
            name: b"trace",
            value: None,
        },
        Header {
            name: b"raw",
            value: Some(b"\xff\x00"),
        },
        Header {
            name: b"empty",
            value: Some(b""),
        },
    ];
    let keyed = |value, offset| Record {
        key: Some(br#"{"id":7,"region":"eu"}"#),
        headers: &headers,
        ..record(value, offset)
    };
    let tombstone = Record {
        value: None,
        ..record(b"", 3)
    };
    let protobuf = json!({ "messageFormat": "protobuf", "protobufSchemaSource": "inlineSchema", "protobufSchema": TELEMETRY });
    let cases: [(&str, Value, Vec<Record<'_>>); 10] = [
        (
            "json_flat",
            json!({}),
            vec![
                record(br#"{"b":1.5,"a":"x \"y\"","c":true}"#, 0),
                record(br#"{"a":"\u00e9\n","d":-0.0}"#, 1),
            ],
        ),
        (
            "json_nested",
            json!({}),
            vec![record(
                br#"{"a":{"b":{"c":{"d":{"e":{"f":1}}}}},"l":[1, {"x": "y"}],"a.b":2,"":3}"#,
                0,
            )],
        ),
        (
            "json_rows",
            json!({}),
            vec![
                record(br#"[{"a":1},{"a":2},"s"]"#, 0),
                record(br#"{"a":3}{"a":4}"#, 1),
                record(b"[]", 2),
            ],
        ),
        (
            "json_errors",
            json!({}),
            vec![
                record(br#"{"a":1}"#, 0),
                record(br#"{"a":1"#, 1),
                record(br#"{"a":"text"}"#, 2),
                tombstone,
                record(b"", 4),
            ],
        ),
        (
            "keys_and_headers",
            json!({ "keyFormat": "json", "headers": true }),
            vec![keyed(br#"{"key":1,"time":2}"#, 0)],
        ),
        (
            "field_types",
            json!({ "fieldTypes": { "id": "text", "at": "time", "n": "number" }, "timeField": "at" }),
            vec![
                record(
                    br#"{"id":9007199254740993,"at":"2026-01-02T03:04:05.678Z","n":"1.5"}"#,
                    0,
                ),
                record(br#"{"id":"x","at":1700000000,"n":"no"}"#, 1),
            ],
        ),
        (
            "plaintext",
            json!({ "messageFormat": "plaintext" }),
            vec![
                record("zwei\tZeilen\n\u{1F980}".as_bytes(), 0),
                record(b"", 1),
                tombstone,
                record(b"\xffok", 4),
            ],
        ),
        (
            "line_protocol_long",
            json!({ "messageFormat": "lineprotocol" }),
            vec![record(LINES, 0), tombstone, record(b"no line", 4)],
        ),
        (
            "line_protocol_wide",
            json!({ "messageFormat": "lineprotocol", "lineProtocolLayout": "wide" }),
            vec![record(LINES, 0), tombstone],
        ),
        (
            "protobuf",
            protobuf,
            vec![
                record(READING, 0),
                tombstone,
                record(b"", 4),
                record(b"\x0a\xff", 5),
            ],
        ),
    ];
    for (name, query, records) in cases {
        let (mut pipeline, mut clock) = (pipeline(&query, PerfFlags::default()), Clock::new());
        pipeline.topic_id(Some("kAlf1nDrS4uBcq0vPzR1Xw"));
        for record in &records {
            pipeline.push(record, clock.0);
        }
        if name == "json_errors" {
            pipeline.push_error(
                ErrorAt {
                    partition: Some(2),
                    offset: None,
                },
                "the leader is gone",
                clock.0,
            );
            pipeline.notify(Notice::info("a notice"));
        }
        let packet = clock.flush(&mut pipeline).unwrap();
        check(name, &packet.json);
    }
}

/// Compares with the file, where each field and each column has a line of its own so that a person can read it.
fn check(name: &str, packet: &[u8]) {
    let text = std::str::from_utf8(packet).unwrap();
    let frame: Value = serde_json::from_str(text).expect("a packet is JSON");
    let mut shown = String::new();
    for (field, values) in frame["schema"]["fields"]
        .as_array()
        .unwrap()
        .iter()
        .zip(frame["data"]["values"].as_array().unwrap())
    {
        writeln!(shown, "{field} {values}").unwrap();
    }
    let shown = format!("{shown}\n{text}\n");
    let path = Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("tests/golden")
        .join(format!("{name}.txt"));
    if env::var_os("UPDATE_GOLDEN").is_some() {
        fs::write(&path, shown).unwrap();
        return;
    }
    let golden = fs::read_to_string(&path).unwrap_or_default();
    assert_eq!(shown, golden, "{name}: UPDATE_GOLDEN=1 writes it anew");
}

const TELEMETRY: &str = "syntax = 'proto3'; import 'google/protobuf/timestamp.proto'; import 'google/protobuf/duration.proto';
message Reading { string id = 1; Status status = 2; google.protobuf.Timestamp at = 3; Place place = 4; repeated float values = 5;
  map<string, uint64> counts = 6; optional bool ok = 7; oneof of { int64 a = 8; bytes b = 9; } google.protobuf.Duration took = 10; }
enum Status { NONE = 0; GOOD = 1; } message Place { double lat = 1; sint32 floor = 2; }";

/// One of each; the status is one that the schema does not have.
const READING: &[u8] = b"\x0a\x04\"r\xc3\xbc\x10\x07\x1a\x08\x08\x80\xe2\xcf\xaa\x06\x10\x05\x22\x0b\x09\0\0\0\0\0\xc0\x49\x40\x10\x03\
\x2a\x08\xcd\xcc\xcc\x3d\0\0\xc0\x3f\x32\x0f\x0a\x02k.\x10\xff\xff\xff\xff\xff\xff\xff\xff\xff\x01\x38\0\x4a\x02\0\xff\x52\x04\x08\x01\x10\x05";

const LINES: &[u8] = b"# from a collector
cpu,host=a,dc=eu usage=21.5,up=t,cores=8i 1700000000000000001
cpu,host=b,dc=eu usage=3,up=f 1700000000000000001
log,host=a msg=\"first \\\"line\\\"\nsecond\",id=9007199254740993i 1700000000001000000\r
mem,host=a used=1.5
cpu,host=a usage=oops
";
