//! Where the rules of a row meet their limits: times, names, types, sizes, what a bad record leaves behind.

use std::fmt::Write as _;
use std::sync::Arc;

use serde_json::{Map, Value, json};
use streamscope::batch::Pacer;
use streamscope::columns::StreamSchema;
use streamscope::config::{FlattenLimits, PanelQuery};
use streamscope::frame::Packet;
use streamscope::perf::PerfFlags;
use streamscope::pipeline::{Pipeline, Step};
use streamscope::record::{Header, Record};

use crate::support::{Clock, TIME, pipeline, record};

/// Gives a packet's columns by name, but `partition` and `offset`, and its notices' texts.
fn read(packet: &Packet) -> (Map<String, Value>, String) {
    let frame: Value = serde_json::from_slice(&packet.json).expect("a packet is JSON");
    let schema = &frame["schema"];
    let names = schema["fields"].as_array().unwrap().iter();
    let columns = names
        .map(|field| field["name"].as_str().unwrap().to_owned())
        .zip(frame["data"]["values"].as_array().unwrap().iter().cloned())
        .filter(|(name, _)| name != "partition" && name != "offset")
        .collect();
    let notices = schema["meta"]["notices"].as_array().into_iter().flatten();
    let notices = notices.map(|n| n["text"].as_str().unwrap());
    (columns, notices.collect::<Vec<_>>().join("\n"))
}

fn show(query: &Value, records: &[Record<'_>]) -> (Map<String, Value>, String) {
    let (mut pipeline, mut clock) = (pipeline(query, PerfFlags::default()), Clock::new());
    for record in records {
        pipeline.push(record, clock.0);
    }
    read(&clock.flush(&mut pipeline).expect("there are rows"))
}

#[test]
fn times() {
    let field = |unit: &str| json!({ "timeField": "at", "timeUnit": unit });
    let arrival = json!({ "timestampMode": "now" });
    let at = |text: &str| format!(r#"{{"at":{text}}}"#).into_bytes();
    for (query, value, timestamp, want, notice) in [
        (json!({}), at("1"), Some(TIME), TIME, ""),
        (json!({}), at("1"), Some(0), 0, ""),
        (json!({}), at("1"), None, TIME + 5, "without a timestamp"),
        (
            json!({}),
            at("1"),
            Some(-1),
            TIME + 5,
            "without a timestamp",
        ),
        (
            json!({}),
            at("1"),
            Some(1_500_000_000_000_000),
            TIME + 5,
            "1677 to 2262",
        ),
        (arrival, at("1"), Some(TIME), TIME + 5, ""),
        (
            field("auto"),
            at("1600000000"),
            Some(TIME),
            1_600_000_000_000,
            "",
        ),
        (
            field("us"),
            at("1600000000000000"),
            Some(TIME),
            1_600_000_000_000,
            "",
        ),
        (
            field("rfc3339"),
            at("\"2026-01-02T03:04:05.678Z\""),
            Some(TIME),
            1_767_323_045_678,
            "",
        ),
        (
            field("auto"),
            at("null"),
            Some(TIME),
            TIME,
            "without a time in `at`",
        ),
        (
            field("auto"),
            at("\"noon\""),
            Some(TIME),
            TIME,
            "without a time in `at`",
        ),
        (
            field("auto"),
            at("true"),
            Some(TIME),
            TIME,
            "without a time in `at`",
        ),
        (
            field("s"),
            at("99999999999999"),
            Some(TIME),
            TIME,
            "without a time in `at`",
        ),
        (
            field("s"),
            b"{}".to_vec(),
            Some(TIME),
            TIME,
            "without a time in `at`",
        ),
        (
            field("s"),
            br#"{"at":5,"at":null}"#.to_vec(),
            Some(TIME),
            TIME,
            "without a time in `at`",
        ),
        (
            field("s"),
            br#"{"at":5,"at":6}"#.to_vec(),
            Some(TIME),
            6_000,
            "",
        ),
        // An error row stands where its record would.
        (json!({}), b"{".to_vec(), Some(-1), TIME + 5, "decoded"),
        (
            json!({}),
            b"{".to_vec(),
            Some(1_500_000_000_000_000),
            TIME + 5,
            "decoded",
        ),
        (field("s"), b"{".to_vec(), Some(TIME), TIME, "decoded"),
    ] {
        let record = Record {
            timestamp,
            ..record(&value, 0)
        };
        let (columns, notices) = show(&query, &[record]);
        let shown = String::from_utf8_lossy(&value);
        assert_eq!(
            columns["time"],
            json!([want]),
            "{query} {shown} {timestamp:?}"
        );
        assert!(
            notices.contains(notice) && notices.is_empty() == notice.is_empty(),
            "{shown}: {notices}"
        );
    }
}

/// A float64 holds no nanoseconds of today: the time comes from the number's text.
#[test]
fn nanoseconds_are_exact() {
    for (query, value, nanos) in [
        (
            json!({ "timeField": "at", "timeUnit": "ns" }),
            r#"{"at":1700000000123456789}"#,
            456_789,
        ),
        (
            json!({ "timeField": "at" }),
            r#"{"at":1700000000.123456789}"#,
            456_789,
        ),
        (
            json!({ "timeField": "a.t" }),
            r#"{"a":{"t":"2023-11-14T22:13:20.123456789Z"}}"#,
            456_789,
        ),
        (
            json!({ "timeField": "at", "timeUnit": "ns", "fieldTypes": { "at": "time" } }),
            r#"{"at":1700000000123456789}"#,
            456_789,
        ),
        (
            json!({ "timeField": "at", "timeUnit": "ns", "fieldTypes": { "at": "text" } }),
            r#"{"at":1700000000123456789}"#,
            456_789,
        ),
    ] {
        let (mut pipeline, mut clock) = (pipeline(&query, PerfFlags::default()), Clock::new());
        pipeline.push(&record(value.as_bytes(), 0), clock.0);
        let packet = clock.flush(&mut pipeline).unwrap();
        let frame: Value = serde_json::from_slice(&packet.json).unwrap();
        assert_eq!(
            frame["data"]["values"][0],
            json!([1_700_000_000_123_i64]),
            "{query} {value}"
        );
        assert_eq!(frame["data"]["nanos"][0], json!([nanos]), "{query} {value}");
    }
}

#[test]
fn names_and_types() {
    let headers = [Header {
        name: b"b",
        value: Some(b"h"),
    }];
    for (query, value, headers, want) in [
        (
            json!({ "headers": true }),
            r#"{"header":{"b":1}}"#,
            &headers[..],
            json!({ "header.b": ["h"], "header.b_2": [1] }),
        ),
        (
            json!({}),
            r#"{"value":{"time":1},"time":2}"#,
            &[],
            json!({ "value.time": [1], "value.time_2": [2] }),
        ),
        (
            json!({}),
            r#"{"_error":"mine"}"#,
            &[],
            json!({ "value._error": ["mine"] }),
        ),
        (
            json!({}),
            r#"{"a":1,"a":null}"#,
            &[],
            json!({ "a": [null] }),
        ),
        (json!({}), r#"{"a":null,"a":1}"#, &[], json!({ "a": [1] })),
        (
            json!({ "fieldTypes": { "a": "boolean" } }),
            r#"{"a":"true"}"#,
            &[],
            json!({ "a": [true] }),
        ),
        (
            json!({ "fieldTypes": { "a": "number" } }),
            r#"{"a":" 1.5 "}"#,
            &[],
            json!({ "a": [1.5] }),
        ),
        (
            json!({ "fieldTypes": { "a": "text" } }),
            r#"{"a":1e400}"#,
            &[],
            json!({ "a": ["1e400"] }),
        ),
        (
            json!({ "fieldTypes": { "a": "text" } }),
            r#"{"a":true}"#,
            &[],
            json!({ "a": ["true"] }),
        ),
        (
            json!({ "fieldTypes": { "a": "time" } }),
            r#"{"a":1700000000123456789}"#,
            &[],
            json!({ "a": [1_700_000_000_123_i64] }),
        ),
        // A column is called by the name that it shows.
        (
            json!({ "fieldTypes": { "value.time": "text" } }),
            r#"{"time":1}"#,
            &[],
            json!({ "value.time": ["1"] }),
        ),
        (
            json!({ "fieldTypes": { "value.time": "number" } }),
            r#"{"time":"1"}"#,
            &[],
            json!({ "value.time": [1] }),
        ),
        (
            json!({ "headers": true, "fieldTypes": { "header.b": "number" } }),
            "{}",
            &[Header {
                name: b"b",
                value: Some(b"7"),
            }],
            json!({ "header.b": [7] }),
        ),
    ] {
        let (mut columns, notices) = show(
            &query,
            &[Record {
                headers,
                ..record(value.as_bytes(), 0)
            }],
        );
        columns.remove("time");
        assert_eq!(Value::Object(columns), want, "{query} {value}");
        assert_eq!(notices, "", "{query} {value}");
    }
}

#[test]
fn what_is_no_utf8() {
    let headers = [Header {
        name: b"\xff",
        value: Some(b"\xff"),
    }];
    let record = Record {
        key: Some(b"\xffk"),
        headers: &headers,
        ..record(b"{\"\xff\":\"\xff\\n\",\"l\":[\"\xff\"]}", 0)
    };
    let (mut columns, notices) = show(
        &json!({ "keyFormat": "string", "headers": true }),
        &[record],
    );
    columns.remove("time");
    assert_eq!(
        Value::Object(columns),
        json!({ "key": ["\u{fffd}k"], "header.\u{fffd}": ["/w=="], "\u{fffd}": ["\u{fffd}\n"], "l": ["[\"\u{fffd}\"]"] })
    );
    assert!(
        notices.contains("not UTF-8, shown with U+FFFD in places: 3."),
        "{notices}"
    );
}

/// A tombstone and an empty value of each format; keys and headers stay.
#[test]
fn tombstones_and_empty_values() {
    for (format, value, want) in [
        ("json", None, json!({ "key": ["k"] })),
        ("json", Some(&b""[..]), json!({ "key": ["k"] })),
        ("plaintext", None, json!({ "key": ["k"] })),
        (
            "plaintext",
            Some(b""),
            json!({ "key": ["k"], "message": [""] }),
        ),
    ] {
        let record = Record {
            value,
            key: Some(b"k"),
            ..record(b"", 0)
        };
        let (mut columns, notices) = show(
            &json!({ "keyFormat": "string", "messageFormat": format }),
            &[record],
        );
        columns.remove("time");
        assert_eq!(
            (Value::Object(columns), notices),
            (want, String::new()),
            "{format} {value:?}"
        );
    }
}

/// Past the field limit the first fields win, the same ones each time, whatever stands in those that are left out.
#[test]
fn the_field_limit() {
    let mut wide = String::from("{");
    (0..1_000).for_each(|i| write!(wide, "\"f{i:04}\":{i},").unwrap());
    wide.push_str(r#""late":{"deep":[1,{"x":2}]},"last":[[]],"z":1}"#);
    let turned = r#"{"z":2,"late":{"deep":[1]},"f0000":3}"#;
    let mut records = vec![
        record(wide.as_bytes(), 0),
        record(turned.as_bytes(), 1),
        record(wide.as_bytes(), 2),
    ];
    // Ever new keys stop being remembered.
    let strange: Vec<String> = (0..5_000)
        .map(|i| format!(r#"{{"s{i}":{{"a":[{i}]}},"f0001":7}}"#))
        .collect();
    records.extend(strange.iter().map(|text| record(text.as_bytes(), 3)));
    let (mut pipeline, mut clock) = (pipeline(&json!({}), PerfFlags::default()), Clock::new());
    let mut packets = Vec::new();
    for record in &records {
        pipeline.push(record, clock.0);
        if !pipeline.has_room() {
            packets.extend(clock.flush(&mut pipeline));
        }
    }
    packets.extend(std::iter::from_fn(|| clock.flush(&mut pipeline)));
    assert_eq!(
        packets.iter().map(|packet| packet.rows).sum::<usize>(),
        records.len()
    );
    let (first, notices) = read(&packets[0]);
    let (last, _) = read(&packets[packets.len() - 1]);
    for columns in [&first, &last] {
        assert_eq!(columns.len(), 1_001);
        assert!(!columns.contains_key("_error") && !columns.contains_key("z"));
    }
    assert_eq!(
        first["f0000"].as_array().unwrap()[..3],
        [json!(0), json!(3), json!(0)]
    );
    assert_eq!(last["f0001"].as_array().unwrap().last(), Some(&json!(7)));
    assert!(
        notices.contains("the field limit is reached: "),
        "{notices}"
    );
}

#[test]
fn a_record_may_be_too_large() {
    let elements = |n: usize| format!("[{}1]", "1,".repeat(n - 1));
    let (most, more) = (elements(10_000), elements(10_001));
    let text = format!(r#"{{"t":"{}"}}"#, "x".repeat(512 * 1024));
    // Few bytes, but a row of many nulls for each.
    let mut wide = String::from("{\"f\":0");
    (0..900).for_each(|i| write!(wide, ",\"f{i}\":0").unwrap());
    wide.push('}');
    let rows = format!("[{}{{}}]", "{},".repeat(999));
    for (value, error) in [
        (&most, None),
        (&more, Some("more than 10000 elements")),
        (&text, Some("take 516 KiB")),
        (&rows, Some("KiB")),
    ] {
        let (mut pipeline, mut clock) = (pipeline(&json!({}), PerfFlags::default()), Clock::new());
        pipeline.push(&record(wide.as_bytes(), 0), clock.0);
        clock.flush(&mut pipeline);
        let value = if error.is_none() { "[1,2,3]" } else { value };
        pipeline.push(&record(value.as_bytes(), 0), clock.0);
        let (columns, _) = read(&clock.flush(&mut pipeline).unwrap());
        let shown = columns
            .get("_error")
            .map(|cells| cells[0].as_str().unwrap().to_owned());
        assert!(
            shown
                .as_deref()
                .unwrap_or_default()
                .contains(error.unwrap_or_default())
                && shown.is_some() == error.is_some(),
            "{error:?}: {shown:?}"
        );
    }
    let (columns, _) = show(&json!({}), &[record(most.as_bytes(), 0)]);
    assert_eq!(columns["value"].as_array().unwrap().len(), 10_000);
}

/// A large record travels alone, what waited before it leaves first, and escapes count as what they take.
#[test]
fn a_packet_has_an_end() {
    let query = json!({ "messageFormat": "plaintext" });
    let rows = |n: usize, bytes: usize| vec!["a".repeat(bytes); n];
    let with = |mut rows: Vec<String>, last: String| {
        rows.push(last);
        rows
    };
    for (values, want) in [
        (rows(20, 1_000), &[20][..]),
        (with(rows(20, 6_000), "b".repeat(500 * 1024)), &[20, 1]),
        (with(rows(30, 4_300), "b".repeat(4_300)), &[30, 1]),
        (with(rows(3, 10), "\u{1}".repeat(30 * 1024)), &[3, 1]),
        // As an error row it is small: its escapes would take 600 KiB.
        (with(rows(3, 10), "\u{1}".repeat(100 * 1024)), &[4]),
        (with(rows(3, 10), "\"".repeat(100 * 1024)), &[3, 1]),
    ] {
        let (mut pipeline, mut clock) = (pipeline(&query, PerfFlags::default()), Clock::new());
        for (offset, value) in values.iter().enumerate() {
            pipeline.push(&record(value.as_bytes(), offset as i64), clock.0);
        }
        let packets: Vec<_> = std::iter::from_fn(|| clock.flush(&mut pipeline)).collect();
        let sent: Vec<_> = packets.iter().map(|packet| packet.rows).collect();
        assert_eq!(sent, want, "{} values", values.len());
        assert!(packets.iter().all(|packet| packet.json.len() < 520 * 1024));
        let texts = packets
            .iter()
            .flat_map(|packet| match &read(packet).0["message"] {
                Value::Array(cells) => cells.clone(),
                other => panic!("{other}"),
            });
        for (text, value) in texts.zip(&values) {
            assert!(text.is_null() || text == **value, "{value:.20}");
        }
    }
}

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
    // A bad key costs the key alone.
    let keyed = |key| Record {
        key: Some(key),
        ..record(good, 0)
    };
    let records = [
        keyed(br#"{"id":1,"p":{"q":2}}"#),
        keyed(br#"{"id":5,"p":{"q":6"#),
        keyed(b"7"),
    ];
    let (columns, notices) = show(&json!({ "keyFormat": "json" }), &records);
    assert_eq!(
        (&columns["key.id"], &columns["key.p.q"]),
        (&json!([1, null, null]), &json!([2, null, null]))
    );
    assert_eq!(columns["a"], json!(["x", "x", "x"]));
    assert!(
        notices.starts_with("Keys that could not be decoded: 2."),
        "{notices}"
    );
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
