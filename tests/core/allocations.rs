//! Once a stream is warm, a record allocates nothing, and a packet once.

use std::alloc::{GlobalAlloc, Layout, System};
use std::cell::Cell;
use std::fmt::Write as _;
use std::sync::Arc;

use serde_json::json;
use streamscope::perf::PerfFlags;
use streamscope::pipeline::{Pipeline, Step};
use streamscope::record::Record;
use streamscope::schema::{Need, SchemaId, SchemaKind, SchemaText};

use crate::corpus;
use crate::support::{Clock, pipeline, record};

thread_local! {
    static COUNT: Cell<usize> = const { Cell::new(0) };
}

struct Counting;

#[expect(
    unsafe_code,
    reason = "an allocator that counts what it passes on to the system's"
)]
// SAFETY: every call is passed on as it came.
unsafe impl GlobalAlloc for Counting {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        COUNT.set(COUNT.get() + 1);
        unsafe { System.alloc(layout) }
    }

    unsafe fn dealloc(&self, pointer: *mut u8, layout: Layout) {
        unsafe { System.dealloc(pointer, layout) }
    }

    unsafe fn realloc(&self, pointer: *mut u8, layout: Layout, size: usize) -> *mut u8 {
        COUNT.set(COUNT.get() + 1);
        unsafe { System.realloc(pointer, layout, size) }
    }
}

#[global_allocator]
static ALLOCATOR: Counting = Counting;

#[test]
fn none_a_record_and_one_a_packet() {
    for fixture in corpus::fixtures() {
        count(fixture.name, &fixture.query, &fixture.values);
    }
}

/// A union, a map with known keys, a list, times and a decimal.
#[test]
fn none_an_avro_record() {
    let schema = json!({ "type": "record", "name": "r", "fields": [
        { "name": "u", "type": ["null", "string", "long"] },
        { "name": "m", "type": { "type": "map", "values": "double" } },
        { "name": "l", "type": { "type": "array", "items": "string" } },
        { "name": "at", "type": { "type": "long", "logicalType": "timestamp-micros" } },
        { "name": "day", "type": { "type": "int", "logicalType": "date" } },
        { "name": "d", "type": { "type": "bytes", "logicalType": "decimal", "precision": 9, "scale": 2 } },
        { "name": "b", "type": "bytes" },
    ] });
    let query = json!({ "messageFormat": "avro", "avroSchemaSource": "inlineSchema", "avroSchema": schema.to_string() });
    let rest = b"\x02\x02k\0\0\0\0\0\0\xf8\x3f\0\x02\x06\xc3\xbc\"\0\0\x02\x04\xcf\xc7\x04Hi";
    let values = [&b"\x02\x02x"[..], b"\x04\x0a", b"\0"].map(|union| [union, rest].concat());
    count("avro", &query, &values);
}

/// Two messages in turn, a known map, lists, a oneof, defaults that are absent, and what the schema does not know.
#[test]
fn none_a_protobuf_record() {
    let schema = "syntax = 'proto3'; import 'google/protobuf/duration.proto'; import 'google/protobuf/struct.proto';
        message A { map<string, A> m = 1; oneof o { string s = 2; bytes b = 3; } repeated A list = 4; float f = 5;
            google.protobuf.Duration d = 6; google.protobuf.Value v = 7; }
        message B { optional uint64 u = 1; int32 absent = 2; repeated int32 none = 3; }";
    let query = json!({ "messageFormat": "protobuf", "protobufSchemaSource": "inlineSchema", "protobufSchema": schema });
    let values = [
        &b"\0\0\0\0\x01\0\x0a\x09\x0a\x01k\x12\x04\x12\x02\"\\\x12\x01x\x22\0\x22\x03\x12\x01y\x2d\xcd\xcc\xcc\x3d"[..],
        b"\0\0\0\0\x01\x02\x02\x08\x05\x98\x06\x01",
        b"\0\0\0\0\x01\0\x1a\x02\0\xff\x32\x04\x08\x01\x10\x05\x3a\x06\x32\x04\x0a\x02\x20\x01",
    ];
    count("protobuf", &query, &values);
}

/// Fields past the limit, keys, headers and times with nanoseconds.
#[test]
fn none_beside_the_value() {
    let mut wide = String::from("{");
    (0..1_010).for_each(|i| write!(wide, "\"f{i}\":{i},").unwrap());
    wide.push_str(r#""at":1700000000.123456789}"#);
    let query = json!({ "messageFormat": "json", "timeField": "at" });
    count("wide", &query, &[wide]);
}

/// A column a series, lines out of order, and names that are written with escapes.
#[test]
fn none_a_wide_record() {
    let lines = br#"cpu,host=a\ b,dc=x usage=1.5,up=t,n=7i,u=8u 1700000000000000003
cpu,host=c,dc=x usage=2,s="a\"b" 1700000000000000001
mem\,x used=3 1700000000000000002
cpu,host=a\ b,dc=x usage=1.5,up=t,n=7i,u=8u 1700000000000000001"#;
    for layout in ["wide", "long"] {
        let query = json!({ "messageFormat": "lineprotocol", "lineProtocolLayout": layout, "lineProtocolFields": "[a-z]+",
            "lineProtocolTags": "" });
        count(layout, &query, &[lines]);
    }
}

/// More series and more fields than are known at once, series that are too long, and those of which each has its turn.
#[test]
fn none_a_line_that_is_not_known() {
    let hosts = |hosts: std::ops::Range<u32>, zone: usize| {
        let (mut record, zone) = (String::new(), "z".repeat(zone));
        for host in hosts {
            writeln!(record, "cpu,host=h{host},zone={zone} usage={host},idle=1").unwrap();
        }
        record
    };
    let fields = |measurement: usize| {
        let mut record = format!("m{measurement} first=0");
        (0..900).for_each(|i| write!(record, ",the_long_name_of_field_{i}={i}").unwrap());
        record
    };
    let query = json!({ "messageFormat": "lineprotocol" });
    for (name, values) in [
        ("300 hosts", vec![hosts(0..300, 1)]),
        (
            "900 long ones",
            vec![
                hosts(0..300, 500),
                hosts(300..600, 500),
                hosts(600..900, 500),
            ],
        ),
        ("too long", vec![hosts(0..100, 1_100)]),
        ("fields", (0..5).map(fields).collect()),
    ] {
        count(name, &query, &values);
    }
}

/// Two schemas by id, one record raw by its subject, resolved to a reader schema; and a key with a schema of its own.
#[test]
fn none_a_record_that_names_its_schema() {
    let schema = |fields: serde_json::Value| {
        json!({ "type": "record", "name": "R", "fields": fields }).to_string()
    };
    let a = schema(json!([{ "name": "a", "type": "int" }, { "name": "old", "type": "string" }]));
    let ab = schema(json!([{ "name": "a", "type": "long" }, { "name": "b", "type": "string" }]));
    let reader = schema(
        json!([{ "name": "a", "type": "double" }, { "name": "b", "type": "string", "default": "none" }]),
    );
    let answer = |need: &Need| {
        let text = match &need.id {
            SchemaId::Id(1) => a.as_str(),
            SchemaId::Id(3) => r#""string""#,
            _ => ab.as_str(),
        };
        Ok(Arc::new(SchemaText {
            kind: SchemaKind::Avro,
            text: text.to_owned(),
            references: Vec::new(),
        }))
    };
    let values = [
        &b"\0\0\0\0\x01\x02\x02x"[..],
        b"\0\0\0\0\x02\x04\x02y",
        b"\x06\x02z",
    ];
    for query in [
        json!({ "messageFormat": "avro", "keyFormat": "avro" }),
        json!({ "messageFormat": "avro", "keyFormat": "avro", "avroReaderSchema": reader }),
    ] {
        let (mut pipeline, mut clock) = (pipeline(&query, PerfFlags::default()), Clock::new());
        let push = |pipeline: &mut Pipeline, n: usize, now| {
            let record = Record {
                key: Some(b"\0\0\0\0\x03\x02k"),
                ..record(values[n % values.len()], n as i64)
            };
            while let Step::NeedSchema(need) = pipeline.push(&record, now) {
                pipeline.provide_schema(&need, answer(&need), now);
            }
        };
        for packet in 0..60 {
            let before = COUNT.get();
            (0..32).for_each(|n| push(&mut pipeline, n, clock.0));
            let rows = COUNT.get() - before;
            assert!(packet < 40 || rows == 0, "{query}: {rows} allocations");
            assert_eq!(clock.flush(&mut pipeline).unwrap().rows, 32);
        }
    }
}

fn count<V: AsRef<[u8]>>(name: &str, query: &serde_json::Value, values: &[V]) {
    let (mut pipeline, mut clock) = (pipeline(query, PerfFlags::default()), Clock::new());
    let mut offset = 0;
    let mut packet = |counted: bool| {
        let before = COUNT.get();
        let mut next = values.iter().cycle().skip(offset as usize % values.len());
        while pipeline.pending_rows() < 32 {
            let value = next.next().unwrap();
            pipeline.push(&record(value.as_ref(), offset), clock.0);
            offset += 1;
        }
        let rows = COUNT.get() - before;
        let packet = clock.flush(&mut pipeline).unwrap();
        assert!(
            (32..1_000).contains(&packet.rows),
            "{name}: {}",
            packet.rows
        );
        if counted {
            assert_eq!(
                (rows, COUNT.get() - before - rows),
                (0, 1),
                "{name}: allocations of rows and of their packet"
            );
        }
    };
    (0..100).for_each(|_| packet(false));
    (0..20).for_each(|_| packet(true));
}
