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

#[test]
fn how_many_workers_share_a_stream() {
    let budget = Arc::new(crate::batch::SlotBudget::new(1 << 20));
    for (pacer, flags, partitions, processors, want) in [
        (Pacer::off(), "", 4, 2, 2),
        (Pacer::off(), "", 1, 8, 1),
        (Pacer::off(), "", 0, 8, 1),
        (Pacer::off(), "", 100, 64, 8),
        (Pacer::off(), "STREAM_WORKERS=1", 4, 8, 1),
        (Pacer::off(), "STREAM_WORKERS=12", 100, 2, 12),
        (Pacer::off(), "DISABLE_STREAM_MICROBATCH=1", 4, 8, 1),
        (Pacer::new(budget), "STREAM_WORKERS=12", 4, 8, 1),
    ] {
        let what = format!("{pacer:?} {flags} {partitions} {processors}");
        let flags = PerfFlags::from_env(|asked| {
            let (name, value) = flags.split_once('=')?;
            (asked == format!("KAFKA_DS_PERF_{name}")).then(|| value.to_owned())
        });
        let mut pipeline = pipeline_with(json!({}), flags);
        pipeline.batch = Batch::new(FlushPolicy::MICRO_BATCH, pacer);
        assert_eq!(pipeline.workers(partitions, processors), want, "{what}");
    }
}

/// Two workers in turn, each with columns of its own: one schema in every packet, and troubles counted once.
#[test]
fn siblings_share_schema_names_and_troubles() {
    let mut one = pipeline(json!({}));
    one.topic_id(Some("id"));
    one.run_id("run");
    let mut other = one.sibling();
    let at = now();
    let later = Now {
        monotonic: at.monotonic + std::time::Duration::from_secs(1),
        ..at
    };
    let mut columns: Vec<Value> = Vec::new();
    let mut notices = Vec::new();
    for n in 0..20 {
        let worker = if n % 2 == 0 { &mut one } else { &mut other };
        let value = json!({ format!("f{n}"): n }).to_string();
        worker.push(&record(value.as_bytes()), at);
        worker.push(&record(b"{"), at);
        let packet = worker.poll_packet(later).unwrap();
        let frame: Value = serde_json::from_slice(&packet.json).unwrap();
        let custom = &frame["schema"]["meta"]["custom"];
        assert_eq!(
            (&custom["topicId"], &custom["run"]),
            (&json!("id"), &json!("run"))
        );
        let fields = frame["schema"]["fields"].as_array().unwrap();
        let names: Vec<Value> = fields.iter().map(|field| field["name"].clone()).collect();
        // Columns only come.
        assert!(
            columns.iter().all(|known| names.contains(known)),
            "{n}: {names:?}"
        );
        columns = names;
        let texts = frame["schema"]["meta"]["notices"].as_array();
        notices.extend(
            texts
                .into_iter()
                .flatten()
                .map(|notice| notice["text"].clone()),
        );
    }
    assert_eq!(columns.len(), 3 + 20 + 1, "{columns:?}");
    let counted: Vec<bool> = ["decoded: 1.", "decoded: 10."]
        .iter()
        .zip(&notices)
        .map(|(text, notice)| notice.as_str().unwrap().contains(text))
        .collect();
    assert_eq!(
        (counted, notices.len()),
        (vec![true, true], 2),
        "{notices:?}"
    );
}
