//! Line protocol as a panel gets it: columns, names, times, filters, limits.

use std::io::Cursor;

use arrow::ipc::reader::FileReader;
use arrow::util::display::{ArrayFormatter, FormatOptions};
use serde_json::{Value, json};
use streamscope::config::FlattenLimits;
use streamscope::perf::PerfFlags;
use streamscope::pipeline::{Pipeline, Step};
use streamscope::record::Record;

use crate::support::{Clock, TIME, pipeline, pipeline_with, record};

/// Shows the packet of `records`: a line a column but `partition` and `offset`, then the notices.
fn show(query: &Value, records: &[Record<'_>]) -> Vec<String> {
    let (mut pipeline, mut clock) = (pipeline(&lines(query), PerfFlags::default()), Clock::new());
    for record in records {
        pipeline.push(record, clock.0);
    }
    columns(&clock.flush(&mut pipeline).expect("a packet").json)
}

fn lines(query: &Value) -> Value {
    let mut query = query.clone();
    query["messageFormat"] = json!("lineprotocol");
    query
}

fn columns(packet: &[u8]) -> Vec<String> {
    let frame: Value = serde_json::from_slice(packet).expect("a packet is JSON");
    let fields = frame["schema"]["fields"].as_array().unwrap().iter();
    let values = frame["data"]["values"].as_array().unwrap().iter();
    let shown = fields
        .map(|field| field["name"].as_str().unwrap())
        .zip(values)
        .filter(|(name, _)| *name != "partition" && *name != "offset")
        .map(|(name, values)| format!("{name} {values}"));
    let notices = frame["schema"]["meta"]["notices"].as_array();
    let notices = notices.into_iter().flatten();
    shown
        .chain(notices.map(|notice| notice["text"].as_str().unwrap().to_owned()))
        .collect()
}

#[test]
fn a_row_a_field() {
    let value = b"cpu,host=a,dc=x usage=1.5,up=t,n=7i,big=9007199254740993i,u=18446744073709551615u,s=\"a\\\"b\" 1700000000000000001\nmem,dc=y,rack=1 v=2";
    assert_eq!(
        show(&json!({}), &[record(value, 0)]),
        [
            format!("time [{TIME},{TIME},{TIME},{TIME},{TIME},{TIME},{TIME}]"),
            r#"_measurement ["cpu","cpu","cpu","cpu","cpu","cpu","mem"]"#.to_owned(),
            r#"_field ["usage","up","n","big","u","s","v"]"#.to_owned(),
            "value [1.5,1,7,null,null,null,2]".to_owned(),
            r#"value_str [null,null,null,"9007199254740993","18446744073709551615","a\"b",null]"#
                .to_owned(),
            r#"host ["a","a","a","a","a","a",null]"#.to_owned(),
            r#"dc ["x","x","x","x","x","x","y"]"#.to_owned(),
            r#"rack [null,null,null,null,null,null,"1"]"#.to_owned(),
        ]
    );
}

/// L15, and its kind.
#[test]
fn tags_that_are_called_as_columns_of_ours() {
    let tags = [
        "value",
        "offset",
        "_field",
        "error",
        "_error",
        "time",
        "Time",
        "partition",
        "_measurement",
        "value_str",
        "tag_value",
        "key",
        "header.x",
    ];
    let pairs: Vec<_> = tags.iter().map(|tag| format!("{tag}=1")).collect();
    let value = format!("m,{} v=1", pairs.join(","));
    let names = |query: &Value| {
        let shown = show(query, &[record(value.as_bytes(), 0)]);
        let names = shown
            .iter()
            .map(|line| line.split(' ').next().unwrap().to_owned());
        names.skip(4).collect::<Vec<_>>()
    };
    let want = [
        "value_str",
        "tag_value",
        "tag_offset",
        "tag__field",
        "tag_error",
        "tag__error",
        "tag_time",
        "tag_Time",
        "tag_partition",
        "tag__measurement",
        "tag_value_str",
        "tag_tag_value",
    ];
    assert_eq!(
        names(&json!({})),
        [&want[..], &["key", "header.x"]].concat()
    );
    // `key` is a column of ours where keys are read, whether or not this record has one.
    assert_eq!(
        names(&json!({ "keyFormat": "string" })),
        [&want[..], &["tag_key", "header.x"]].concat()
    );
}

#[test]
fn times() {
    let arrival = TIME + 5;
    for (query, value, want) in [
        (json!({}), "m v=1 1700000000", 1_700_000_000_000),
        (json!({}), "m v=1 1700000000123", 1_700_000_000_123),
        (json!({}), "m v=1 1700000000123456", 1_700_000_000_123),
        (json!({}), "m v=1 1700000000123456789", 1_700_000_000_123),
        (json!({}), "m v=1 999999999999", arrival),
        (json!({}), "m v=1 -5", -5_000),
        (json!({}), "m v=1", TIME),
        (
            json!({ "lineProtocolTimestampPrecision": "s" }),
            "m v=1 5",
            5_000,
        ),
        (
            json!({ "lineProtocolTimestampPrecision": "ms" }),
            "m v=1 5",
            5,
        ),
        (
            json!({ "lineProtocolTimestampPrecision": "us" }),
            "m v=1 5000",
            5,
        ),
        (
            json!({ "lineProtocolTimestampPrecision": "µs" }),
            "m v=1 5000",
            5,
        ),
        (
            json!({ "lineProtocolTimestampPrecision": "ns" }),
            "m v=1 5000000",
            5,
        ),
        (
            json!({ "lineProtocolTimestampPrecision": "s" }),
            "m v=1 9223372037",
            arrival,
        ),
        (json!({ "timestampMode": "now" }), "m v=1 5", arrival),
    ] {
        let shown = show(&query, &[record(value.as_bytes(), 0)]);
        assert_eq!(shown[0], format!("time [{want}]"), "{query} {value}");
        let told = shown.iter().any(|line| line.contains("years 1677 to 2262"));
        assert_eq!(
            told,
            want == arrival && query.get("timestampMode").is_none(),
            "{query} {value}"
        );
    }
}

/// What is wrong with one line is said beside the rows of the others, and nothing is left of the line.
#[test]
fn bad_lines() {
    let value = b"a,x=1 v=1,w=2\nb,y=1 v=1,w=bad\nc v=3";
    assert_eq!(
        show(&json!({}), &[record(value, 0)]),
        [
            format!("time [{TIME},{TIME},{TIME},{TIME}]"),
            r#"_measurement ["a","a","c",null]"#.to_owned(),
            r#"_field ["v","w","v",null]"#.to_owned(),
            "value [1,2,3,null]".to_owned(),
            "value_str [null,null,null,null]".to_owned(),
            r#"x ["1","1",null,null]"#.to_owned(),
            "_error [null,null,null,\"line 2, byte 13: expected a number, a string in quotes, or t, T, true, True, TRUE, f, F, false, False or FALSE, found `b`\"]".to_owned(),
            "Lines that could not be decoded: 1. The first: line 2, byte 13: expected a number, a string in quotes, or t, T, true, True, TRUE, f, F, false, False or FALSE, found `b`".to_owned(),
        ]
    );
    // Without a good line it is the record that is wrong.
    let shown = show(&json!({}), &[record(b"x\ny\nz", 0)]);
    assert_eq!(
        shown[1],
        "_error [\"line protocol: line 1, byte 2: expected a space and a field, found the line's end (and 2 more such lines)\"]"
    );
    assert!(
        shown[2].starts_with("Records that could not be decoded: 1."),
        "{}",
        shown[2]
    );
}

#[test]
fn many_bad_lines_make_few_rows() {
    let value = ["a v=1\n", &"bad\n".repeat(5_000)].concat();
    let (mut pipeline, clock) = (
        pipeline(&lines(&json!({})), PerfFlags::default()),
        Clock::new(),
    );
    assert_eq!(
        pipeline.push(&record(value.as_bytes(), 0), clock.0),
        Step::Rows(12)
    );
    let mut clock = clock;
    let shown = columns(&clock.flush(&mut pipeline).unwrap().json);
    assert!(
        shown[5].ends_with("\"4990 more lines that are no line protocol\"]"),
        "{}",
        shown[5]
    );
    assert!(
        shown[6].starts_with("Lines that could not be decoded: 5000."),
        "{}",
        shown[6]
    );
}

#[test]
fn records_without_a_line() {
    let (mut pipeline, mut clock) = (
        pipeline(&lines(&json!({})), PerfFlags::default()),
        Clock::new(),
    );
    for value in [&b""[..], b"\n\r\n", b"# nothing today\n"] {
        assert_eq!(pipeline.push(&record(value, 0), clock.0), Step::Skip);
    }
    let tombstone = Record {
        value: None,
        ..record(b"", 1)
    };
    assert_eq!(pipeline.push(&tombstone, clock.0), Step::Rows(1));
    assert_eq!(
        columns(&clock.flush(&mut pipeline).unwrap().json),
        [format!("time [{TIME}]")]
    );
}

#[test]
fn filters() {
    let value = b"cpu,host=a user=1,sys=2\ncpu,host=b user=3\nmem,host=a used=4\ndisk free=5";
    for (measurements, fields, tags, want) in [
        ("", "", "", "[1,2,3,4,5]"),
        ("cpu", "", "", "[1,2,3]"),
        ("cpu,mem", "", "", "[1,2,3,4]"),
        (".{3}", "", "", "[1,2,3,4]"),
        (".{3,4}", "", "", "[1,2,3,4,5]"),
        ("", "us.*", "", "[1,3,4]"),
        ("", "", "host=a", "[1,2,4]"),
        ("", "", "host=[ab]", "[1,2,3,4]"),
        ("cpu", "sys", "host=a", "[2]"),
        ("", "", "host=", "[1,2,3,4,5]"),
    ] {
        let query = json!({ "lineProtocolMeasurements": measurements, "lineProtocolFields": fields, "lineProtocolTags": tags });
        let shown = show(&query, &[record(value, 0)]);
        assert_eq!(shown[3], format!("value {want}"), "{query}");
    }
    // By what names mean, not by how they are written.
    let query = json!({ "lineProtocolMeasurements": "a b", "lineProtocolFields": "c=d", "lineProtocolTags": "x y=1,2" });
    let shown = show(&query, &[record(br"a\ b,x\ y=1 c\=d=1,e=2", 0)]);
    assert_eq!(shown[3], "value [1]");
    assert!(
        shown.last().unwrap().contains("`2` is no `tag=value`"),
        "{shown:?}"
    );
}

/// An empty panel says why it is empty, and a filter that is meant says nothing.
#[test]
fn filters_that_nothing_passes() {
    let query = json!({ "lineProtocolMeasurements": "cpu(" });
    let (mut pipeline, mut clock) = (pipeline(&lines(&query), PerfFlags::default()), Clock::new());
    assert_eq!(
        pipeline.push(&record(b"mem v=1\ndisk v=1", 0), clock.0),
        Step::Skip
    );
    // A notice begins to wait with the first look.
    assert!(clock.flush(&mut pipeline).is_none());
    let shown = columns(
        &clock
            .flush(&mut pipeline)
            .expect("a packet of notices")
            .json,
    );
    assert_eq!(
        shown,
        [
            "time []",
            "Filter entries that are not what they should be: 1. The first: `cpu(` is no regular expression, and matches this text alone",
            "Nothing has passed the filters on measurements, fields and tags yet. Lines left out: 2. The first: measurement `mem`",
        ]
    );
    let query = json!({ "lineProtocolMeasurements": "cpu" });
    let shown = show(&query, &[record(b"mem v=1\ncpu v=1\nmem v=2", 0)]);
    assert_eq!(shown.len(), 5, "{shown:?}");
}

/// L17: the field limit is one of tags, or of series, and what it leaves out is counted.
#[test]
fn limits() {
    for (layout, shown) in [("long", 3 + 4 + 20), ("wide", 3 + 20)] {
        let query = lines(&json!({ "lineProtocolLayout": layout }));
        let limits = FlattenLimits {
            max_fields: 20,
            ..FlattenLimits::default()
        };
        let (mut pipeline, mut clock) = (pipeline_with(&query, limits), Clock::new());
        for i in 0..5_000 {
            pipeline.push(&record(format!("m,tag{i}=x v=1").as_bytes(), i), clock.0);
        }
        let packet = clock.flush(&mut pipeline).unwrap();
        let frame: Value = serde_json::from_slice(&packet.json).unwrap();
        assert_eq!(
            frame["schema"]["fields"].as_array().unwrap().len(),
            shown,
            "{layout}"
        );
        let notice = columns(&packet.json).pop().unwrap();
        assert!(
            notice.starts_with("Fields left out because the field limit is reached: 4980."),
            "{layout}: {notice}"
        );
    }
}

#[test]
fn bytes_that_are_no_utf8() {
    let shown = show(&json!({}), &[record(b"m\xff,t=\xc3\xbc v=\"\xfe\"", 0)]);
    assert_eq!(
        shown[1..6],
        [
            "_measurement [\"m\u{fffd}\"]",
            "_field [\"v\"]",
            "value [null]",
            "value_str [\"\u{fffd}\"]",
            "t [\"ü\"]",
        ]
    );
    assert!(
        shown[6].starts_with("Texts that are not UTF-8"),
        "{}",
        shown[6]
    );
}

#[test]
fn a_column_a_series() {
    let value = b"cpu,host=a,dc=x usage=1.5,up=t 10\ncpu,dc=x,host=a n=1i 10\ncpu,host=b usage=2 20\ncpu,host=a,dc=x usage=3 20\nlog m=\"x\" 5\ncpu,host=a,dc=x usage=4 20";
    assert_eq!(
        show(
            &json!({ "lineProtocolLayout": "wide" }),
            &[record(value, 0)]
        ),
        [
            "time [5000,10000,20000]",
            "cpu.n{dc=x,host=a} [null,1,null]",
            "cpu.up{dc=x,host=a} [null,true,null]",
            "cpu.usage{dc=x,host=a} [null,1.5,4]",
            "cpu.usage{host=b} [null,null,2]",
            "log.m [\"x\",null,null]",
        ]
    );
}

/// Names within a frame are unique, whatever is in them.
#[test]
fn names_of_series() {
    for (value, want) in [
        (r"m v=1", "m.v"),
        (r"m,a=b v=1", "m.v{a=b}"),
        (r"m.x v.y=1", r#"["m.x"]["v.y"]"#),
        (r"m v{a\=b}=1", r#"m["v{a=b}"]"#),
        (r"m,a=b\,c\=d v=1", r#"m.v{a="b,c=d"}"#),
        (r"m,a=b,c=d v=1", "m.v{a=b,c=d}"),
        (r#"m,a="x" v=1"#, r#"m.v{a="\"x\""}"#),
        (r"time v=1", "time.v"),
    ] {
        let shown = show(
            &json!({ "lineProtocolLayout": "wide" }),
            &[record(value.as_bytes(), 0)],
        );
        assert_eq!(shown[1], format!("{want} [1]"), "{value}");
    }
}

#[test]
fn series_have_labels() {
    let query = lines(&json!({ "lineProtocolLayout": "wide" }));
    let (mut pipeline, mut clock) = (pipeline(&query, PerfFlags::default()), Clock::new());
    pipeline.push(&record(b"cpu,host=a,dc=x v=1u\nmem v=1", 0), clock.0);
    let packet = clock.flush(&mut pipeline).unwrap();
    let frame: Value = serde_json::from_slice(&packet.json).unwrap();
    assert_eq!(
        frame["schema"]["fields"][3],
        json!({
            "name": "cpu.v{dc=x,host=a}", "type": "number", "typeInfo": { "frame": "uint64", "nullable": true },
            "labels": { "dc": "x", "host": "a" },
            "config": { "displayNameFromDS": "cpu.v{dc=x,host=a}", "custom": { "spanNulls": true } },
        })
    );
    assert_eq!(frame["schema"]["fields"][4]["labels"], json!({}));
}

/// A whole number that float64 does not hold is exact in Arrow, and in a browser it is said that it is not.
#[test]
fn whole_numbers_of_series() {
    let query = json!({ "lineProtocolLayout": "wide" });
    for (value, told) in [
        ("9007199254740992i", false),
        ("-9007199254740993i", true),
        ("18446744073709551615u", true),
        ("1.5", false),
    ] {
        let shown = show(&query, &[record(format!("m v={value}").as_bytes(), 0)]);
        assert_eq!(
            shown[1],
            format!("m.v [{}]", value.trim_end_matches(['i', 'u']))
        );
        assert_eq!(
            shown.len() == 3 && shown[2].contains("beyond 2^53"),
            told,
            "{value}"
        );
    }
    let text = json!({ "lineProtocolLayout": "wide", "fieldTypes": { "m.v": "text" } });
    assert_eq!(
        show(&text, &[record(b"m v=18446744073709551615u", 0)])[1..],
        ["m.v [\"18446744073709551615\"]"]
    );
}

/// Keys and headers stand in each row, and an error row has them, too.
#[test]
fn keys_stand_in_each_row() {
    let keyed = Record {
        key: Some(b"k"),
        ..record(b"a v=1,w=2\nbad", 0)
    };
    let shown = show(&json!({ "keyFormat": "string" }), &[keyed]);
    assert_eq!(shown[1], r#"key ["k","k","k"]"#);
}

/// A record is shown as the first time when its series and fields are known, in whatever columns.
#[test]
fn the_same_again() {
    let other = "m,t=a n=x,v=1";
    let values = [
        "m,t=a v=1,w=2.5,z=-3",
        "m,t=a v=1i,w=\"x\",z=t\nm,t=b,u=\"q\" v=9007199254740993i,w=-2.5e3",
        "m,t=a v=1,w=2.5\nm,t=a v=3,w=4,x=5\nn v=6\nm,t=a w=1,v=2\nm,t=a v=1,\\,w=2",
        "m,t=\u{b5},u=x\\ y \u{b5}=1,\"v\"=2",
    ];
    let key = Some(&br#"{"k":[1],"id":7,"n":null}"#[..]);
    for query in [
        json!({}),
        json!({ "fieldTypes": { "value": "text" } }),
        json!({ "fieldTypes": { "value": "boolean", "t": "number" } }),
        json!({ "fieldTypes": { "_field": "number", "_measurement": "boolean" } }),
        json!({ "lineProtocolFields": "v,z" }),
        json!({ "lineProtocolFields": ".*" }),
        json!({ "lineProtocolTags": "t=a", "keyFormat": "json" }),
        json!({ "lineProtocolLayout": "wide" }),
    ] {
        for value in values {
            let (mut pipeline, mut clock) =
                (pipeline(&lines(&query), PerfFlags::default()), Clock::new());
            let mut show = |value: &str| {
                let record = Record {
                    key,
                    ..record(value.as_bytes(), 0)
                };
                pipeline.push(&record, clock.0);
                let packet = clock
                    .flush(&mut pipeline)
                    .filter(|packet| packet.rows > 0)?;
                Some(
                    columns(&packet.json)
                        .into_iter()
                        .filter(|line| line.contains(" ["))
                        .collect::<Vec<_>>(),
                )
            };
            show(value);
            let first = show(value);
            for _ in 0..2 {
                assert_eq!(show(value), first, "{query} {value}");
            }
            show(other);
            show(values[2]);
            let last = show(value);
            for line in first.into_iter().flatten() {
                assert!(
                    last.as_ref().is_some_and(|last| last.contains(&line)),
                    "{query} {value} {line}"
                );
            }
        }
    }
}

/// What lines share is held once; cutting it, taking it back and Arrow give it to each row.
#[test]
fn what_rows_share() {
    let small = "m,t=a v=1,w=\"x\",u=3i 1700000000000000020\nm,t=b v=4 1700000000000000010";
    let large: Vec<_> = (0..600)
        .map(|i| format!("m,t=\"{i}\",r=c v={i},w=\"y\" 1700000000000000015"))
        .collect();
    let large = large.join("\n");
    let too_large = format!("m,t={} v=1,w=2,u=3", "z".repeat(200_000));
    let packet = |pipeline: &mut Pipeline, clock: &mut Clock| {
        let packet = clock.flush(pipeline).expect("a packet");
        (packet.rows, columns(&packet.json))
    };
    let new = || pipeline(&lines(&json!({})), PerfFlags::default());
    let (mut all, mut clock) = (new(), Clock::new());
    for value in [small, &too_large, &large] {
        all.push(&record(value.as_bytes(), 0), clock.0);
    }
    let (mut alone, mut alone_clock) = (new(), Clock::new());
    for values in [&[small, &too_large][..], &[&large]] {
        for value in values {
            alone.push(&record(value.as_bytes(), 0), alone_clock.0);
        }
        let (got, want) = (
            packet(&mut all, &mut clock),
            packet(&mut alone, &mut alone_clock),
        );
        // What the whole run has seen is said with the first packet, and its columns stay.
        assert_eq!(got.0, want.0);
        for line in &want.1 {
            assert!(got.1.contains(line), "{line}");
        }
    }

    let mut query = new();
    for value in [small, &too_large, small] {
        query.push(&record(value.as_bytes(), 7), clock.0);
    }
    let file = query
        .into_frame()
        .to_arrow_file("t", "A", &json!({}), &|_| None);
    let mut reader = FileReader::try_new(Cursor::new(file), None).unwrap();
    let batch = reader.next().unwrap().unwrap();
    let options = FormatOptions::default().with_null("-");
    let shown: Vec<Vec<String>> = batch
        .columns()
        .iter()
        .map(|column| {
            let cells = ArrayFormatter::try_new(column, &options).unwrap();
            (0..batch.num_rows())
                .map(|row| cells.value(row).to_string())
                .collect()
        })
        .collect();
    let row = |i: usize| {
        let cells: Vec<_> = shown.iter().map(|column| column[i].as_str()).collect();
        cells.join(" ")
    };
    let rows: Vec<_> = (0..batch.num_rows()).map(row).collect();
    let error = "the record's rows take 586 KiB, and a panel takes 512 KiB of one record";
    let at = |nanos| format!("2023-11-14T22:13:20.0000000{nanos} 0 7 m");
    let a_line = [
        format!("{} v 1.0 - a -", at(20)),
        format!("{} w - x a -", at(20)),
        format!("{} u 3.0 - a -", at(20)),
    ];
    let first = [
        format!("2023-11-14T22:13:20 0 7 - - - - - {error}"),
        format!("{} v 4.0 - b -", at(10)),
        format!("{} v 4.0 - b -", at(10)),
    ];
    assert_eq!(rows, [&first[..], &a_line, &a_line].concat());
}
