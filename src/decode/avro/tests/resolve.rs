//! A writer's bytes as a reader wants them.

use serde_json::{Value, json};

use super::show;

/// Reads one record of `writer` as `reader`.
fn read(writer: &Value, reader: &Value, bytes: &[u8]) -> Value {
    let query = json!({ "framing": "none", "avroReaderSchema": reader.to_string() });
    show(writer, query, &[bytes])
}

fn record(fields: &Value) -> Value {
    json!({ "type": "record", "name": "R", "fields": fields })
}

fn field(of: &Value) -> Value {
    record(&json!([{ "name": "f", "type": of }]))
}

fn symbols(symbols: &[&str], default: Option<&str>) -> Value {
    let mut of = json!({ "type": "enum", "name": "E", "symbols": symbols });
    if let Some(default) = default {
        of["default"] = json!(default);
    }
    of
}

#[test]
fn types() {
    let long = |logical: &str| json!({ "type": "long", "logicalType": logical });
    let fixed = |name: &str, size: u32| json!({ "type": "fixed", "name": name, "size": size });
    let decimal = |scale: u32| json!({ "type": "bytes", "logicalType": "decimal", "precision": 9, "scale": scale });
    for (writer, reader, bytes, want) in [
        (json!("int"), json!("long"), &b"\x05"[..], json!(-3)),
        (json!("int"), json!("float"), b"\x05", json!(-3)),
        (json!("long"), json!("double"), b"\x05", json!(-3)),
        (json!("float"), json!("double"), b"\0\0\xc0\x3f", json!(1.5)),
        (json!("string"), json!("bytes"), b"\x04Hi", json!("SGk=")),
        (json!("bytes"), json!("string"), b"\x04Hi", json!("Hi")),
        (json!("long"), long("timestamp-millis"), b"\x06", json!(3)),
        (long("timestamp-millis"), json!("long"), b"\x06", json!(3)),
        (long("timestamp-millis"), json!("double"), b"\x06", json!(3)),
        (
            json!("int"),
            long("timestamp-micros"),
            b"\xd0\x0f",
            json!(1),
        ),
        (json!("bytes"), decimal(2), b"\x02\x7b", json!(1.23)),
        (fixed("F", 2), fixed("a.F", 2), b"Hi", json!("SGk=")),
        // A17.
        (
            symbols(&["A", "B", "C"], None),
            symbols(&["A", "B"], Some("A")),
            b"\x04",
            json!("A"),
        ),
        (
            symbols(&["A", "B", "C"], None),
            symbols(&["C", "A"], None),
            b"\x04",
            json!("C"),
        ),
        // Unions on either side, and on both.
        (json!(["null", "int"]), json!("long"), b"\x02\x06", json!(3)),
        (
            json!("int"),
            json!(["null", "double", "long"]),
            b"\x06",
            json!(3),
        ),
        (
            json!("string"),
            json!(["null", "int", "string"]),
            b"\x02x",
            json!("x"),
        ),
        (
            json!(["int", "string"]),
            json!(["string", "null", "long"]),
            b"\0\x06",
            json!("3"),
        ),
        (
            json!(["int", "string"]),
            json!(["string", "null", "long"]),
            b"\x02\x02x",
            json!("x"),
        ),
        (
            json!(["null", "int"]),
            json!(["int", "null"]),
            b"\0",
            json!(null),
        ),
        (
            json!({ "type": "array", "items": "int" }),
            json!({ "type": "array", "items": "double" }),
            b"\x02\x06\0",
            json!("[3]"),
        ),
    ] {
        let got = read(&field(&writer), &field(&reader), bytes);
        assert_eq!(got, json!({ "f": [want] }), "{writer} as {reader}");
        let got = read(&writer, &reader, bytes);
        let want = json!([got["value"][0]]);
        assert_eq!(got, json!({ "value": want }), "{writer} as {reader}, alone");
    }
    let map = |values: &str| json!({ "type": "map", "values": values });
    let got = read(&field(&map("int")), &field(&map("string")), b"\0");
    assert!(
        got["_error"][0]
            .as_str()
            .unwrap()
            .contains("int cannot be read as string"),
        "{got}"
    );
    let got = read(
        &field(&map("int")),
        &field(&map("double")),
        b"\x02\x02k\x06\0",
    );
    assert_eq!(got, json!({ "f.k": [3] }));
}

#[test]
fn fields() {
    let inner = |fields: Value| json!({ "type": "record", "name": "I", "fields": fields });
    for (writer, reader, bytes, want) in [
        // What the reader lacks is passed over; the rest is found by name.
        (
            json!([{ "name": "a", "type": "int" }, { "name": "x", "type": { "type": "array", "items": "string" } }, { "name": "b", "type": "int" }]),
            json!([{ "name": "b", "type": "int" }, { "name": "a", "type": "int" }]),
            &b"\x02\x02\x02x\0\x04"[..],
            json!({ "a": [1], "b": [2] }),
        ),
        // A19.
        (
            json!([{ "name": "t", "type": "int" }]),
            json!([{ "name": "temp", "type": "int", "aliases": ["x", "t"] }]),
            b"\x02",
            json!({ "temp": [1] }),
        ),
        // A field's own name comes before another's alias.
        (
            json!([{ "name": "t", "type": "int" }, { "name": "temp", "type": "int" }]),
            json!([{ "name": "temp", "type": "int", "aliases": ["t"] }]),
            b"\x02\x04",
            json!({ "temp": [2] }),
        ),
        // Defaults: what the writer lacks.
        (
            json!([{ "name": "a", "type": "int" }]),
            json!([
                { "name": "a", "type": "int" },
                { "name": "n", "type": ["null", "int"], "default": null },
                { "name": "u", "type": ["int", "null"], "default": 7 },
                { "name": "s", "type": "string", "default": "ü" },
                { "name": "y", "type": "bytes", "default": "\u{ff}" },
                { "name": "d", "type": "double", "default": 2 },
                { "name": "e", "type": symbols(&["A", "B"], None), "default": "B" },
                { "name": "l", "type": { "type": "array", "items": "int" }, "default": [1, -2] },
                { "name": "m", "type": { "type": "map", "values": "int" }, "default": { "k": 1 } },
                { "name": "i", "type": inner(json!([{ "name": "p", "type": "int" }, { "name": "q", "type": "int", "default": 9 }])), "default": { "p": 8 } },
                { "name": "t", "type": { "type": "long", "logicalType": "timestamp-millis" }, "default": 5 },
            ]),
            b"\x02",
            json!({
                "a": [1], "n": [null], "u": [7], "s": ["ü"], "y": ["/w=="], "d": [2], "e": ["B"], "l": ["[1,-2]"],
                "m.k": [1], "i.p": [8], "i.q": [9], "t": [5],
            }),
        ),
        // Within lists too, which are text.
        (
            json!([{ "name": "l", "type": { "type": "array", "items": inner(json!([{ "name": "x", "type": "int" }, { "name": "old", "type": "int" }])) } }]),
            json!([{ "name": "l", "type": { "type": "array", "items": inner(json!([{ "name": "x", "type": "double" }, { "name": "new", "type": "string", "default": "n" }])) } }]),
            b"\x04\x02\x04\x06\x08\0",
            json!({ "l": ["[{\"x\":1,\"new\":\"n\"},{\"x\":3,\"new\":\"n\"}]"] }),
        ),
    ] {
        let got = read(&record(&writer), &record(&reader), bytes);
        assert_eq!(got, want, "{writer} as {reader}");
    }
}

#[test]
fn schemas_that_name_themselves() {
    let list = |value: &str, extra: Value| {
        let mut fields =
            json!([{ "name": "v", "type": value }, { "name": "next", "type": ["null", "R"] }]);
        fields
            .as_array_mut()
            .unwrap()
            .extend(extra.as_array().unwrap().clone());
        record(&fields)
    };
    let reader = list(
        "double",
        json!([{ "name": "d", "type": "int", "default": 4 }]),
    );
    let bytes = b"\x02\x02\x04\x02\x06\0";
    let got = read(&list("int", json!([])), &reader, bytes);
    assert_eq!(
        (&got["v"], &got["next.v"], &got["next.next.v"]),
        (&json!([1]), &json!([2]), &json!([3]))
    );
    assert_eq!(
        (&got["next.d"], &got["next.next.next.v"]),
        (&json!([4]), &json!([null]))
    );
}

/// Names that lead from one schema to the next, in the order that is worst for whoever follows them.
#[test]
fn long_ways_through_names_fit_the_stack() {
    use crate::schema::{Reference, SchemaKind, SchemaText};
    let lists = |of: &str, depth: usize| {
        format!(
            "{}\"{of}\"{}",
            r#"{"type":"array","items":"#.repeat(depth),
            "}".repeat(depth)
        )
    };
    let link = |i: usize, depth: usize| {
        let next = if i == 0 {
            "int".to_owned()
        } else {
            format!("R{}", i - 1)
        };
        let of = lists(&next, depth);
        format!(r#"{{"type":"record","name":"R{i}","fields":[{{"name":"f","type":{of}}}]}}"#)
    };
    for (links, depth, fits) in [(9, 100, true), (300, 0, true), (12, 100, false)] {
        let references = (0..links).rev().map(|i| Reference {
            name: format!("R{i}"),
            text: link(i, depth),
        });
        let text = SchemaText {
            kind: SchemaKind::Avro,
            text: format!("\"R{}\"", links - 1),
            references: references.collect(),
        };
        for reader in [
            None,
            Some(apache_avro::Schema::parse_str("\"int\"").unwrap()),
        ] {
            let plan = crate::decode::avro::Plan::parse(&text, reader.as_ref(), 5);
            let reason = plan.err().unwrap_or_default();
            assert_eq!(
                !reason.contains("nested deeper"),
                fits,
                "{links} {depth}: {reason}"
            );
        }
    }
}
