//! What a row holds: names, types, texts that are none, tombstones, headers.

use serde_json::{Value, json};
use streamscope::record::{Header, Record};

use crate::support::{record, show};

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

/// Bytes that are no UTF-8 and halves of surrogate pairs, in texts and in keys, each time: they are counted.
#[test]
fn what_is_no_utf8() {
    for (value, want, count) in [
        (
            &b"{\"\xff\":\"\xff\\n\",\"l\":[\"\xff\"]}"[..],
            json!({ "\u{fffd}": ["\u{fffd}\n"], "l": ["[\"\u{fffd}\"]"] }),
            3,
        ),
        (
            br#"{"s":"\ud83d\ude00","t":"\ud83d"}"#,
            json!({ "s": ["\u{1f600}"], "t": ["\u{fffd}"] }),
            1,
        ),
        (
            br#"[{"\ude00":1,"a":2},{"\ude00":3,"a":4}]"#,
            json!({ "a": [2, 4], "\u{fffd}": [1, 3] }),
            2,
        ),
        (b"{\"o\":{\"\xff\":{}}} {\"o\":{\"\xff\":{}}}", json!({}), 2),
        (
            "{\"\u{fffd}\":\"\u{fffd}\"}".as_bytes(),
            json!({ "\u{fffd}": ["\u{fffd}"] }),
            0,
        ),
    ] {
        let (mut columns, notices) = show(&json!({}), &[record(value, 0)]);
        columns.remove("time");
        let shown = String::from_utf8_lossy(value);
        assert_eq!(Value::Object(columns), want, "{shown}");
        let said = notices.contains(&format!("U+FFFD in places: {count}."));
        assert!(said == (count > 0), "{shown}: {notices}");
    }
    let key = Record {
        key: Some(b"\xffk"),
        ..record(b"{}", 0)
    };
    let (columns, notices) = show(&json!({ "keyFormat": "string" }), &[key]);
    assert_eq!(columns["key"], json!(["\u{fffd}k"]));
    assert!(notices.contains("U+FFFD in places: 1."), "{notices}");
}

/// One text column a name; null and empty are two things, and so are names that only look alike.
#[test]
fn headers() {
    for (headers, want) in [
        (&[("a.b", Some("x"))][..], json!({ "header.a.b": ["x"] })),
        (
            &[("", Some("x")), ("a[0]", Some("y")), ("\"", Some("z"))],
            json!({ "header.": ["x"], "header.a[0]": ["y"], "header.\"": ["z"] }),
        ),
        (
            &[("n", None), ("e", Some(""))],
            json!({ "header.e": [""], "header.n": [null] }),
        ),
        (
            &[
                ("r", Some("1")),
                ("s", Some("2")),
                ("r", None),
                ("r", Some("")),
            ],
            json!({ "header.r": [r#"["1",null,""]"#], "header.s": ["2"] }),
        ),
        (
            &[
                ("l", Some("a\tb\r\nc")),
                ("c", Some("\0\0\0\x07")),
                ("d", Some("\x1b")),
            ],
            json!({ "header.c": ["AAAABw=="], "header.d": ["Gw=="], "header.l": ["a\tb\r\nc"] }),
        ),
    ] {
        let headers: Vec<_> = headers
            .iter()
            .map(|(name, value)| Header {
                name: name.as_bytes(),
                value: value.map(str::as_bytes),
            })
            .collect();
        assert_eq!(show_headers(&headers), want, "{headers:?}");
    }
    // Bytes, not characters.
    let odd = [&b"\xff"[..], b"\xfe", b"\xef\xbf\xbd"].map(|name| Header {
        name,
        value: Some(b"\xff"),
    });
    assert_eq!(
        show_headers(&odd),
        json!({ "header.\\xfe": ["/w=="], "header.\\xff": ["/w=="], "header.\u{fffd}": ["/w=="] })
    );
}

fn show_headers(headers: &[Header<'_>]) -> Value {
    let record = Record {
        headers,
        ..record(b"{}", 0)
    };
    let (mut columns, notices) = show(&json!({ "headers": true }), &[record]);
    columns.remove("time");
    assert_eq!(notices, "", "{headers:?}");
    Value::Object(columns)
}

/// A tombstone, an empty value, and a record of headers alone; keys and headers stay.
#[test]
fn tombstones_and_empty_values() {
    let header = [Header {
        name: b"h",
        value: Some(b"x"),
    }];
    let empty = "the value is empty: 0 bytes are not JSON (a tombstone has no value, and makes a row without an error)";
    let avro = "Avro: byte 0: expected a long, and the record ends";
    for (format, key, value, want) in [
        (
            "json",
            Some(&b"k"[..]),
            None,
            json!({ "key": ["k"], "header.h": ["x"] }),
        ),
        (
            "json",
            Some(b"k"),
            Some(&b""[..]),
            json!({ "key": ["k"], "header.h": ["x"], "_error": [empty] }),
        ),
        ("json", None, None, json!({ "header.h": ["x"] })),
        (
            "json",
            Some(b""),
            None,
            json!({ "key": [""], "header.h": ["x"] }),
        ),
        (
            "json",
            Some(b"k"),
            Some(b"{}"),
            json!({ "key": ["k"], "header.h": ["x"] }),
        ),
        (
            "plaintext",
            Some(b"k"),
            None,
            json!({ "key": ["k"], "header.h": ["x"] }),
        ),
        (
            "plaintext",
            Some(b"k"),
            Some(b""),
            json!({ "key": ["k"], "header.h": ["x"], "message": [""] }),
        ),
        (
            "avro",
            Some(b"k"),
            None,
            json!({ "key": ["k"], "header.h": ["x"] }),
        ),
        (
            "avro",
            Some(b"k"),
            Some(b""),
            json!({ "key": ["k"], "header.h": ["x"], "_error": [avro] }),
        ),
    ] {
        let record = Record {
            key,
            value,
            headers: &header,
            ..record(b"", 0)
        };
        let query = json!({
            "keyFormat": "string", "headers": true, "messageFormat": format,
            "avroSchemaSource": "inlineSchema", "avroSchema": r#""long""#,
        });
        let (mut columns, notices) = show(&query, &[record]);
        columns.remove("time");
        assert_eq!(Value::Object(columns), want, "{format} {key:?} {value:?}");
        let wrong = want.get("_error").is_some();
        assert_eq!(notices.contains("could not be decoded"), wrong, "{notices}");
    }
}
