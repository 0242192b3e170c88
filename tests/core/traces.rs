//! What a record leaves behind: a bad one nothing, a good one its columns, for all workers of the stream.

use std::sync::Arc;

use serde_json::{Value, json};
use streamscope::batch::Pacer;
use streamscope::columns::StreamSchema;
use streamscope::config::{FlattenLimits, PanelQuery};
use streamscope::decode::SchemaCache;
use streamscope::perf::PerfFlags;
use streamscope::pipeline::{Pipeline, Step};
use streamscope::record::Record;

use crate::support::{Clock, pipeline, read, record, show};

/// What came before the error in a bad record is nowhere: no cell, no column, no count.
#[test]
fn a_bad_record_leaves_no_trace() {
    let good = br#"{"a":"x","t":"y"}"#;
    for bad in [
        &b"[{\"a\":\"q\",\"new\":1,\"t\":2},{\"t\":1e999,\"b\":\"\xff\"},"[..],
        b"{\"a\":\"q\"} {\"a\":\"q\",\"new\":1} x",
        b"{\"a\":\"\xff\",\"t\":\"y\",\"n\":{\"m\":1},}",
    ] {
        let (columns, notices) = show(
            &json!({}),
            &[record(good, 0), record(bad, 1), record(good, 2)],
        );
        let names: Vec<_> = columns.keys().map(String::as_str).collect();
        let shown = String::from_utf8_lossy(bad);
        assert_eq!(names.len(), 4, "{shown}: {names:?}");
        assert_eq!(columns["a"], json!(["x", null, "x"]), "{shown}");
        assert_eq!(notices.lines().count(), 1, "{shown}: {notices}");
    }
    // Nor does a record that is too large, or makes too many rows.
    let mut large = String::from("[{\"new\":1}");
    (0..10_000).for_each(|_| large.push_str(",{\"m\":2}"));
    let text = format!(r#"{{"new":"{}","a":"q"}}"#, "x".repeat(512 * 1024));
    for bad in [large + "]", text] {
        let records = [record(good, 0), record(bad.as_bytes(), 1), record(good, 2)];
        let (columns, _) = show(&json!({}), &records);
        let names: Vec<_> = columns.keys().map(String::as_str).collect();
        assert_eq!(names, ["_error", "a", "t", "time"], "{bad:.20}");
        assert_eq!(columns["a"], json!(["x", null, "x"]), "{bad:.20}");
    }
    // A field that is no column after all may become one later, of another type.
    let (columns, notices) = show(
        &json!({}),
        &[record(br#"{"n":1,"#, 0), record(br#"{"n":"x"}"#, 1)],
    );
    assert_eq!(columns["n"], json!([null, "x"]), "{notices}");
    // A bad key costs the key alone, and a bad value leaves key and headers.
    let keyed = |key| Record {
        key: Some(key),
        ..record(good, 0)
    };
    let records = [
        keyed(br#"{"id":1,"p":{"q":2}}"#),
        keyed(br#"{"id":5,"p":{"q":6"#),
        keyed(b"7"),
        keyed(br#"{"id":7,"new":8} {"newer":9}"#),
        Record {
            value: Some(b"{"),
            ..keyed(br#"{"id":9}"#)
        },
    ];
    let (columns, notices) = show(&json!({ "keyFormat": "json" }), &records);
    assert_eq!(
        (&columns["key.id"], &columns["key.p.q"]),
        (
            &json!([1, null, null, null, 9]),
            &json!([2, null, null, null, null])
        )
    );
    assert_eq!(columns["a"], json!(["x", "x", "x", "x", null]));
    let names: Vec<_> = columns.keys().map(String::as_str).collect();
    assert_eq!(names, ["_error", "a", "key.id", "key.p.q", "t", "time"]);
    assert!(
        notices.contains("Keys that could not be decoded: 3."),
        "{notices}"
    );
    // What would not fit beside the error stays away.
    let large = "k".repeat(600 * 1024);
    let bad = Record {
        key: Some(large.as_bytes()),
        ..record(b"{", 0)
    };
    let (columns, _) = show(&json!({ "keyFormat": "string" }), &[bad]);
    let names: Vec<_> = columns.keys().map(String::as_str).collect();
    assert_eq!(names, ["_error", "time"]);
}

/// Two workers of one stream add columns in turn; their packets never contradict each other.
#[test]
fn workers_share_one_schema() {
    let schema = Arc::new(StreamSchema::new());
    let spec = Arc::new(PanelQuery::parse(br#"{"topicName":"t"}"#).unwrap().spec);
    let worker = || {
        let (schema, limits) = (Arc::clone(&schema), FlattenLimits::default());
        Pipeline::new(
            Arc::clone(&spec),
            limits,
            schema,
            Pacer::off(),
            PerfFlags::default(),
            SchemaCache::new(&PerfFlags::default()),
        )
    };
    let (mut workers, mut clock) = ([worker(), worker()], Clock::new());
    for (worker, value, want) in [
        (0, r#"{"b":1}"#, json!({ "b": [1] })),
        (1, r#"{"a":"x"}"#, json!({ "a": ["x"], "b": [null] })),
        // The type is the stream's: the first worker saw a number there.
        (1, r#"{"b":"text"}"#, json!({ "a": [null], "b": [null] })),
        (0, r#"{"a":5}"#, json!({ "a": ["5"], "b": [null] })),
    ] {
        let worker = &mut workers[worker];
        worker.push(&record(value.as_bytes(), 0), clock.0);
        let (mut columns, _) = read(&clock.flush(worker).unwrap());
        columns.remove("time");
        assert_eq!(Value::Object(columns), want, "{value}");
    }
    assert_eq!(
        schema.field_names(),
        ["time", "partition", "offset", "a", "b"]
    );
    std::thread::scope(|scope| {
        for k in 0..4 {
            let mut worker = worker();
            scope.spawn(move || {
                let mut clock = Clock::new();
                for i in 0..200 {
                    let value = format!(r#"{{"w{}":{i},"b":{k}}}"#, (i * (k + 1)) % 50);
                    assert_eq!(
                        worker.push(&record(value.as_bytes(), i), clock.0),
                        Step::Rows(1)
                    );
                    clock.flush(&mut worker).unwrap();
                }
            });
        }
    });
    let names = schema.field_names();
    assert!(names.len() == 55 && names[3..].is_sorted(), "{names:?}");
}

/// Without rows nothing leaves, but for a notice.
#[test]
fn nothing_to_show() {
    let (mut pipeline, mut clock) = (pipeline(&json!({}), PerfFlags::default()), Clock::new());
    assert_eq!(pipeline.push(&record(b"[]", 0), clock.0), Step::Skip);
    assert!(clock.flush(&mut pipeline).is_none());
    let frame = pipeline.into_frame();
    assert_eq!(frame.rows(), 0);
    assert!(
        frame
            .to_arrow_file("t", "A", &json!({}), &|_| None)
            .starts_with(b"ARROW1")
    );
}
