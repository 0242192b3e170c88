use serde_json::{Value, json};

use super::*;
use crate::config::PanelQuery;
use crate::decode::SchemaCache;
use crate::record::Header;

fn pipeline(query: Value) -> Pipeline {
    pipeline_with(query, PerfFlags::default())
}

fn pipeline_with(query: Value, flags: PerfFlags) -> Pipeline {
    let mut query = query;
    query["topicName"] = json!("t");
    let spec = PanelQuery::parse(query.to_string().as_bytes())
        .unwrap()
        .spec;
    Pipeline::new(
        Arc::new(spec),
        FlattenLimits::default(),
        Arc::new(StreamSchema::new()),
        Pacer::off(),
        flags,
        SchemaCache::new(&flags),
    )
}

fn now() -> Now {
    Now {
        monotonic: Instant::now(),
        wall_ms: 1_700_000_000_000,
    }
}

fn record(value: &[u8]) -> Record<'_> {
    Record {
        topic: "t",
        partition: 0,
        offset: 7,
        timestamp: Some(1_600_000_000_000),
        key: None,
        value: Some(value),
        headers: &[],
    }
}

/// Pushes the values and gives the packet as column name to cells, and the notices' texts.
fn show(query: Value, values: &[&[u8]]) -> (Value, String) {
    let mut pipeline = pipeline(query);
    let at = now();
    for value in values {
        pipeline.push(&record(value), at);
    }
    let later = Now {
        monotonic: at.monotonic + std::time::Duration::from_millis(5),
        ..at
    };
    let Some(packet) = pipeline.poll_packet(later) else {
        return (json!({}), String::new());
    };
    let frame: Value = serde_json::from_slice(&packet.json).unwrap();
    let fields = frame["schema"]["fields"].as_array().unwrap();
    let cells = fields
        .iter()
        .zip(frame["data"]["values"].as_array().unwrap())
        .map(|(field, cells)| (field["name"].as_str().unwrap().to_owned(), cells.clone()))
        .filter(|(name, _)| !["time", "partition", "offset"].contains(&name.as_str()))
        .collect();
    let notices = frame["schema"]["meta"]["notices"]
        .as_array()
        .into_iter()
        .flatten();
    (
        Value::Object(cells),
        notices
            .map(|n| n["text"].as_str().unwrap())
            .collect::<Vec<_>>()
            .join("\n"),
    )
}

#[test]
fn json_rows() {
    for (query, values, want, notice) in [
        (
            json!({}),
            &[&br#"{"a":1,"b":"x","c":true,"d":null,"e":[1, {"f": 2}],"g":{"h":1.5}}"#[..]][..],
            json!({ "a": [1], "b": ["x"], "c": [true], "e": [r#"[1,{"f":2}]"#], "g.h": [1.5] }),
            "",
        ),
        (
            json!({}),
            &[br#"{"a":1e400,"b":2}"#],
            json!({ "a": [null], "b": [2] }),
            "larger than 1.8e308",
        ),
        (
            json!({}),
            &[br#"{"x":1e999999999}"#],
            json!({ "x": [null] }),
            "larger",
        ),
        (
            json!({}),
            &[br#"{"id":9007199254740993}"#],
            json!({ "id": [9_007_199_254_740_992.0] }),
            "2^53",
        ),
        (
            json!({ "fieldTypes": { "id": "text" } }),
            &[br#"{"id":9223372036854775808}"#],
            json!({ "id": ["9223372036854775808"] }),
            "",
        ),
        (
            json!({}),
            &[br#"{"a":1}{"b":2}"#],
            json!({ "a": [1, null], "b": [null, 2] }),
            "",
        ),
        (
            json!({}),
            &[br#"{"a":1} trailing"#],
            json!({ "_error": ["not JSON: expected another value or the end of the record at byte 8, found `t`"] }),
            "could not be decoded: 1",
        ),
        (
            json!({}),
            &[b"{\"a\":\"\xff\"}"],
            json!({ "a": ["\u{fffd}"] }),
            "UTF-8",
        ),
        (
            json!({}),
            &[br#"{"s":"\ud83d\ude00"}"#],
            json!({ "s": ["😀"] }),
            "",
        ),
        (
            json!({}),
            &[br#"{"":5,"b":6}"#, br#"{"c":{"":{"v":0}}}"#],
            json!({ r#"[""]"#: [5, null], "b": [6, null], r#"c[""].v"#: [null, 0] }),
            "",
        ),
        (json!({}), &[br"[]"], json!({}), ""),
        (
            json!({}),
            &[br#"[{"a":1},{"a":2},3]"#],
            json!({ "a": [1, 2, null], "value": [null, null, 3] }),
            "",
        ),
        (
            json!({}),
            &[br#"{"s":null}"#, br#"{"s":"x"}"#],
            json!({ "s": [null, "x"] }),
            "",
        ),
        (
            json!({}),
            &[br#"{"a":1,"b":2}"#, br#"{"b":3,"a":4}"#, br#"{"a":5}"#],
            json!({ "a": [1, 4, 5], "b": [2, 3, null] }),
            "",
        ),
        (
            json!({}),
            &[br#"{"sn":"9921020321007113"}"#],
            json!({ "sn": ["9921020321007113"] }),
            "",
        ),
        (
            json!({}),
            &[br#"{"a.b":1,"a":{"b":2}}"#],
            json!({ r#"["a.b"]"#: [1], "a.b": [2] }),
            "",
        ),
        (
            json!({}),
            &[br#"{"time":1,"offset":2}"#],
            json!({ "value.offset": [2], "value.time": [1] }),
            "",
        ),
        (
            json!({}),
            &[br#"{"a":1}"#, br#"{"a":"x"}"#],
            json!({ "a": [1, null] }),
            "not of their column",
        ),
        (
            json!({}),
            &[br#"{"a":"x"}"#, br#"{"a":1.50}"#],
            json!({ "a": ["x", "1.50"] }),
            "",
        ),
        (json!({}), &[br#"{"a":1,"a":2}"#], json!({ "a": [2] }), ""),
        (
            json!({}),
            &[
                br#"{"a":{"x":1},"b":2}"#,
                br#"{"a":{"x":3}}"#,
                br#"{"a":5,"b":6}"#,
                br#"{"a":{"x":7},"b":8}"#,
            ],
            json!({ "a": [null, null, 5, null], "a.x": [1, 3, null, 7], "b": [2, null, 6, 8] }),
            "",
        ),
        (
            json!({}),
            &[br#"{"a":1,"#, br#"{"a":01}"#, br#"{"a":1}"#],
            json!({ "a": [null, null, 1], "_error": ["not JSON: expected a string at byte 7, found the end", "not JSON: expected no digit after a leading zero at byte 6, found `1`", null] }),
            "could not be decoded: 2",
        ),
        (
            json!({}),
            &[b"{\"a\":{\"b\":{\"c\":{\"d\":{\"e\":{\"f\": [1, 2] }}}}}}"],
            json!({ "a.b.c.d.e": [r#"{"f":[1,2]}"#] }),
            "",
        ),
        (
            json!({ "messageFormat": "plaintext" }),
            &[b"a \"b\"\n", b""],
            json!({ "message": ["a \"b\"\n", ""] }),
            "",
        ),
        (
            json!({}),
            &[b" "],
            json!({ "_error": ["not JSON: expected a JSON value at byte 1, found the end"] }),
            "could not be decoded: 1",
        ),
        (
            json!({}),
            &[b" 5 ", b"\"x\""],
            json!({ "value": [5, null] }),
            "not of their column",
        ),
        (json!({}), &[b"{}"], json!({}), ""),
    ] {
        let (got, notices) = show(query.clone(), values);
        let shown: Vec<_> = values.iter().map(|v| String::from_utf8_lossy(v)).collect();
        assert_eq!(got, want, "{query} {shown:?}");
        assert!(
            notices.contains(notice) && notices.is_empty() == notice.is_empty(),
            "{shown:?}: {notices:?}"
        );
    }
}

#[test]
fn nesting_has_an_end() {
    let (got, _) = show(json!({}), &["[".repeat(100_000).as_bytes()]);
    assert!(got["_error"][0].as_str().unwrap().contains("64"), "{got}");
}

#[test]
fn keys_and_headers() {
    let mut pipeline = pipeline(json!({ "keyFormat": "json", "headers": true }));
    let headers = [
        Header {
            name: b"h",
            value: Some(b"1"),
        },
        Header {
            name: b"n",
            value: None,
        },
        Header {
            name: b"h",
            value: None,
        },
        Header {
            name: b"b",
            value: Some(b"\xff"),
        },
    ];
    let record = Record {
        key: Some(br#"{"id":3}"#),
        headers: &headers,
        ..record(br#"{"key":1}"#)
    };
    assert_eq!(pipeline.push(&record, now()), Step::Rows(1));
    let at = now();
    let packet = pipeline
        .poll_packet(Now {
            monotonic: at.monotonic + std::time::Duration::from_secs(1),
            ..at
        })
        .unwrap();
    let frame: Value = serde_json::from_slice(&packet.json).unwrap();
    let names: Vec<_> = frame["schema"]["fields"]
        .as_array()
        .unwrap()
        .iter()
        .map(|f| f["name"].as_str().unwrap())
        .collect();
    assert_eq!(
        names,
        [
            "time",
            "partition",
            "offset",
            "key.id",
            "header.b",
            "header.h",
            "header.n",
            "value.key"
        ]
    );
    assert_eq!(
        frame["data"]["values"].to_string(),
        r#"[[1600000000000],[0],[7],[3],["/w=="],["[\"1\",null]"],[null],[1]]"#
    );
}

#[test]
fn keys_of_one_column() {
    for (format, key, want) in [
        ("string", Some(&b"k\xff"[..]), json!(["k\u{fffd}"])),
        ("string", None, json!([null])),
        ("base64", Some(b"\xff\0"), json!(["/wA="])),
        ("base64", Some(b""), json!([""])),
        ("base64", None, json!([null])),
    ] {
        let mut pipeline = pipeline(json!({ "keyFormat": format }));
        let at = now();
        for key in [Some(&b"first"[..]), key] {
            pipeline.push(
                &Record {
                    key,
                    ..record(b"{}")
                },
                at,
            );
        }
        let later = Now {
            monotonic: at.monotonic + std::time::Duration::from_millis(5),
            ..at
        };
        let packet = pipeline.poll_packet(later).unwrap();
        let frame: Value = serde_json::from_slice(&packet.json).unwrap();
        assert_eq!(frame["schema"]["fields"][3]["name"], "key");
        assert_eq!(frame["data"]["values"][3][1], want[0], "{format} {key:?}");
    }
}

/// The flag takes the cached order away, and nothing from what is shown.
#[test]
fn the_field_order_is_the_same_without_its_cache() {
    let flags = PerfFlags {
        disable_field_order_cache: true,
        ..PerfFlags::default()
    };
    let packets = [PerfFlags::default(), flags].map(|flags| {
        let mut pipeline = pipeline_with(json!({}), flags);
        let at = now();
        for value in [
            &br#"{"b":1,"c":2}"#[..],
            br#"{"c":3,"a":"x"}"#,
            br#"{"d":{"e":1},"b":2}"#,
        ] {
            pipeline.push(&record(value), at);
        }
        let later = Now {
            monotonic: at.monotonic + std::time::Duration::from_millis(5),
            ..at
        };
        String::from_utf8(pipeline.poll_packet(later).unwrap().json).unwrap()
    });
    assert_eq!(packets[0], packets[1]);
}
