//! Once a stream is warm, a record allocates nothing, and a packet once.

use std::alloc::{GlobalAlloc, Layout, System};
use std::cell::Cell;
use std::fmt::Write as _;

use serde_json::json;
use streamscope::perf::PerfFlags;

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
    for (name, values) in corpus::fixtures() {
        count(
            name,
            &json!({ "messageFormat": corpus::format(name) }),
            &values,
        );
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

/// Fields past the limit, keys, headers and times with nanoseconds.
#[test]
fn none_beside_the_value() {
    let mut wide = String::from("{");
    (0..1_010).for_each(|i| write!(wide, "\"f{i}\":{i},").unwrap());
    wide.push_str(r#""at":1700000000.123456789}"#);
    let query = json!({ "messageFormat": "json", "timeField": "at" });
    count("wide", &query, &[wide]);
}

fn count<V: AsRef<[u8]>>(name: &str, query: &serde_json::Value, values: &[V]) {
    let (mut pipeline, mut clock) = (pipeline(query, PerfFlags::default()), Clock::new());
    let mut offset = 0;
    let mut packet = |counted: bool| {
        let before = COUNT.get();
        for value in values
            .iter()
            .cycle()
            .skip(offset as usize % values.len())
            .take(32)
        {
            pipeline.push(&record(value.as_ref(), offset), clock.0);
            offset += 1;
        }
        let rows = COUNT.get() - before;
        let packet = clock.flush(&mut pipeline).unwrap();
        assert_eq!(packet.rows, 32);
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
