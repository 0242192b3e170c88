//! The time of a row: the record's, its arrival, or a field's.

use serde_json::{Value, json};
use streamscope::perf::PerfFlags;
use streamscope::record::Record;

use crate::support::{Clock, TIME, pipeline, record, show};

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
        // Grafana's Go reader takes none of a column that may hold null.
        let mut want = vec![Value::Null; frame["data"]["values"].as_array().unwrap().len()];
        want[0] = json!([nanos]);
        assert_eq!(frame["data"]["nanos"], json!(want), "{query} {value}");
    }
}
