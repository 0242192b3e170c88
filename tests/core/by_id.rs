//! Records that name their schemas: asked for, kept, and each read by its own.

use std::sync::Arc;
use std::time::Duration;

use serde_json::{Value, json};
use streamscope::batch::Pacer;
use streamscope::columns::StreamSchema;
use streamscope::config::{FlattenLimits, PanelQuery};
use streamscope::decode::SchemaCache;
use streamscope::perf::PerfFlags;
use streamscope::pipeline::{Pipeline, Step};
use streamscope::record::{Header, Record};
use streamscope::schema::{Need, Reference, Role, SchemaFault, SchemaId, SchemaKind, SchemaText};

use crate::support::{Clock, pipeline, record};

/// Answers as a registry would, and remembers what it was asked.
struct Registry<'a> {
    schemas: &'a [(SchemaId, Value)],
    asked: Vec<String>,
}

impl<'a> Registry<'a> {
    fn new(schemas: &'a [(SchemaId, Value)]) -> Self {
        Self {
            schemas,
            asked: Vec::new(),
        }
    }

    fn push(&mut self, pipeline: &mut Pipeline, record: &Record<'_>, clock: &Clock) -> Step {
        for _ in 0..4 {
            match pipeline.push(record, clock.0) {
                Step::NeedSchema(need) => {
                    self.asked
                        .push(format!("{} {}", need.role.as_str(), need.id));
                    pipeline.provide_schema(&need, self.answer(&need), clock.0);
                }
                step => return step,
            }
        }
        panic!("asked again and again: {:?}", self.asked);
    }

    fn answer(&self, need: &Need) -> Result<Arc<SchemaText>, SchemaFault> {
        let found = self.schemas.iter().find(|(id, _)| *id == need.id);
        let (_, schema) =
            found.ok_or_else(|| SchemaFault::new(format!("{}: HTTP 404", need.id)))?;
        Ok(Arc::new(avro(schema)))
    }
}

fn avro(schema: &Value) -> SchemaText {
    SchemaText {
        kind: SchemaKind::Avro,
        text: schema.to_string(),
        references: Vec::new(),
    }
}

fn fields(fields: &Value) -> Value {
    json!({ "type": "record", "name": "R", "fields": fields })
}

fn a() -> Value {
    fields(&json!([{ "name": "a", "type": "int" }]))
}

fn a_and_b() -> Value {
    fields(&json!([{ "name": "a", "type": "int" }, { "name": "b", "type": "string" }]))
}

/// Gives the columns of ours that a packet has beside the coordinates.
fn cells(packet: &streamscope::frame::Packet) -> Value {
    let frame: Value = serde_json::from_slice(&packet.json).unwrap();
    let names = frame["schema"]["fields"].as_array().unwrap();
    let values = frame["data"]["values"].as_array().unwrap();
    let columns = names.iter().zip(values);
    columns
        .map(|(field, cells)| (field["name"].as_str().unwrap().to_owned(), cells.clone()))
        .filter(|(name, _)| !["time", "partition", "offset"].contains(&name.as_str()))
        .collect()
}

fn show(query: &Value, flags: PerfFlags, registry: &mut Registry<'_>, values: &[&[u8]]) -> Value {
    let (mut pipeline, mut clock) = (pipeline(query, flags), Clock::new());
    let mut shown = Vec::new();
    for (offset, value) in values.iter().enumerate() {
        registry.push(&mut pipeline, &record(value, offset as i64), &clock);
        if flags.disable_stream_microbatch {
            shown.push(cells(&clock.flush(&mut pipeline).unwrap()));
        }
    }
    clock
        .flush(&mut pipeline)
        .map_or(json!(shown), |packet| cells(&packet))
}

#[test]
fn each_record_by_its_own_schema() {
    let schemas = [(SchemaId::Id(1), a()), (SchemaId::Id(2), a_and_b())];
    let values = [
        &b"\0\0\0\0\x01\x02"[..],
        b"\0\0\0\0\x02\x04\x02x",
        b"\0\0\0\0\x01\x06",
        b"\0\0\0\0\x02\x08\x02y",
    ];
    for flags in [
        PerfFlags::default(),
        PerfFlags {
            disable_avro_codec_cache: true,
            ..PerfFlags::default()
        },
    ] {
        let mut registry = Registry::new(&schemas);
        let query = json!({ "messageFormat": "avro" });
        let got = show(&query, flags, &mut registry, &values);
        assert_eq!(
            got,
            json!({ "a": [1, 2, 3, 4], "b": [null, "x", null, "y"] })
        );
        assert_eq!(registry.asked, ["value id 1", "value id 2"]);
    }
}

#[test]
fn a_schema_that_is_not_there_is_asked_for_again_after_a_while() {
    let schemas = [(SchemaId::Id(1), a())];
    let mut registry = Registry::new(&[]);
    let query = json!({ "messageFormat": "avro" });
    let (mut pipeline, mut clock) = (pipeline(&query, PerfFlags::default()), Clock::new());
    let value = record(b"\0\0\0\0\x01\x02", 0);
    for _ in 0..3 {
        let step = registry.push(&mut pipeline, &value, &clock);
        assert_eq!(step, Step::Rows(1));
    }
    let fault = "Avro: id 1: HTTP 404";
    let packet = clock.flush(&mut pipeline).unwrap();
    assert_eq!(cells(&packet), json!({ "_error": [fault, fault, fault] }));
    assert_eq!(registry.asked.len(), 1);

    clock.0.monotonic += Duration::from_secs(11);
    registry.schemas = &schemas;
    registry.push(&mut pipeline, &value, &clock);
    let packet = clock.flush(&mut pipeline).unwrap();
    assert_eq!(cells(&packet), json!({ "a": [1], "_error": [null] }));
    assert_eq!(registry.asked.len(), 2);
}

#[test]
fn raw_records_follow_the_newest_version_of_their_subject() {
    let subject = || SchemaId::Latest("t-value".into());
    let (old, new) = ([(subject(), a())], [(subject(), a_and_b())]);
    let mut registry = Registry::new(&old);
    let query = json!({ "messageFormat": "avro" });
    let (mut pipeline, mut clock) = (pipeline(&query, PerfFlags::default()), Clock::new());
    registry.push(&mut pipeline, &record(b"\x02", 0), &clock);
    registry.schemas = &new;
    // A record that does not fit is a reason to ask; not more often than every few seconds.
    registry.push(&mut pipeline, &record(b"\x04\x02x", 1), &clock);
    clock.0.monotonic += Duration::from_secs(11);
    registry.push(&mut pipeline, &record(b"\x04\x02x", 2), &clock);
    // So is age, but what is known stays where there is nothing newer.
    registry.schemas = &[];
    clock.0.monotonic += Duration::from_secs(61);
    registry.push(&mut pipeline, &record(b"\x06\x02y", 3), &clock);
    assert_eq!(registry.asked, ["value subject t-value, latest version"; 3]);
    let got = cells(&clock.flush(&mut pipeline).unwrap());
    assert_eq!(got["a"], json!([1, null, 2, 3]));
    assert_eq!(got["b"], json!([null, null, "x", "y"]));
    let error = got["_error"][1].as_str().unwrap();
    assert!(error.contains("found 2 more bytes"), "{error}");
}

#[test]
fn keys_have_schemas_of_their_own() {
    let schemas = [(SchemaId::Id(1), a()), (SchemaId::Id(2), json!("string"))];
    let key = |key, value, headers| Record {
        key: Some(key),
        headers,
        ..record(value, 0)
    };
    for (value_format, keys, value, want) in [
        (
            "avro",
            &b"\0\0\0\0\x02\x02k"[..],
            &b"\0\0\0\0\x01\x02"[..],
            json!({ "key": ["k"], "a": [1] }),
        ),
        (
            "plaintext",
            b"\0\0\0\0\x01\x06",
            b"x",
            json!({ "key.a": [3], "message": ["x"] }),
        ),
        (
            "plaintext",
            b"\0\0\0\0\x03\x06",
            b"x",
            json!({ "message": ["x"] }),
        ),
        // A key that does not fit its schema leaves no trace.
        (
            "plaintext",
            b"\0\0\0\0\x01\x06\x06",
            b"x",
            json!({ "message": ["x"] }),
        ),
        (
            "json",
            b"\0\0\0\0\x02\x02k",
            b"\0\0\0\0\x09{\"a\":1}",
            json!({ "key": ["k"], "a": [1] }),
        ),
    ] {
        let query = json!({ "messageFormat": value_format, "keyFormat": "avro" });
        let (mut pipeline, mut clock) = (pipeline(&query, PerfFlags::default()), Clock::new());
        Registry::new(&schemas).push(&mut pipeline, &key(keys, value, &[]), &clock);
        assert_eq!(
            cells(&clock.flush(&mut pipeline).unwrap()),
            want,
            "{keys:?}"
        );
    }
    let query = json!({ "keyFormat": "avro", "keySchemaSource": "inlineSchema", "keySchema": a().to_string() });
    for bytes in [&b"\x06"[..], b"\0\0\0\0\x09\x06"] {
        let (mut pipeline, mut clock) = (pipeline(&query, PerfFlags::default()), Clock::new());
        pipeline.push(&key(bytes, b"{}", &[]), clock.0);
        let got = cells(&clock.flush(&mut pipeline).unwrap());
        assert_eq!(got, json!({ "key.a": [3] }), "{bytes:?}");
    }
}

#[test]
fn a_header_wins_and_the_value_stays_as_it_is() {
    let guid = SchemaId::Guid([7; 16]);
    let schemas = [(
        guid,
        fields(&json!([{ "name": "n", "type": { "type": "fixed", "name": "F", "size": 5 } }])),
    )];
    let query = json!({ "messageFormat": "avro", "bytesAs": "hex" });
    let (mut pipeline, mut clock) = (pipeline(&query, PerfFlags::default()), Clock::new());
    let header = Header {
        name: b"__value_schema_id",
        value: Some(b"\x01\x07\x07\x07\x07\x07\x07\x07\x07\x07\x07\x07\x07\x07\x07\x07\x07"),
    };
    let record = Record {
        headers: &[header],
        ..record(b"\0\0\0\0\x01", 0)
    };
    Registry::new(&schemas).push(&mut pipeline, &record, &clock);
    assert_eq!(
        cells(&clock.flush(&mut pipeline).unwrap()),
        json!({ "n": ["0000000001"] })
    );
}

/// S13: what one stream of a data source compiled, the next one has; another topic, another half of a record and another data
/// source ask for themselves.
#[test]
fn compiled_schemas_are_shared_within_their_topic() {
    let flags = PerfFlags::default();
    let (cache, other) = (SchemaCache::new(&flags), SchemaCache::new(&flags));
    let reader = json!({ "avroReaderSchema": a().to_string() });
    let ids = [(SchemaId::Id(1), a())];
    for (topic, keys, cache, asks) in [
        ("t", json!({}), &cache, 1),
        ("t", json!({ "bytesAs": "hex" }), &cache, 0),
        ("u", json!({}), &cache, 1),
        ("t", json!({}), &other, 1),
        ("t", reader.clone(), &cache, 1),
        ("t", reader, &cache, 0),
        (
            "t",
            json!({ "messageFormat": "plaintext", "keyFormat": "avro" }),
            &cache,
            1,
        ),
        // The newest version may be another one by now.
        ("t", json!({ "framing": "none" }), &cache, 1),
        ("t", json!({ "framing": "none" }), &cache, 1),
    ] {
        let mut query = json!({ "topicName": topic, "messageFormat": "avro" });
        for (key, value) in keys.as_object().unwrap() {
            query[key] = value.clone();
        }
        let spec = PanelQuery::parse(query.to_string().as_bytes())
            .unwrap()
            .spec;
        let schema = Arc::new(StreamSchema::new());
        let limits = FlattenLimits::default();
        let mut pipeline = Pipeline::new(
            Arc::new(spec),
            limits,
            schema,
            Pacer::off(),
            flags,
            cache.clone(),
        );
        let framed = record(b"\0\0\0\0\x01\x02", 0);
        let record = Record {
            key: framed.value,
            ..framed
        };
        let mut registry = Registry::new(&ids);
        registry.push(&mut pipeline, &record, &Clock::new());
        assert_eq!(registry.asked.len(), asks, "{query}: {:?}", registry.asked);
    }
}

/// A topic with more schemas than a stream keeps at hand.
#[test]
fn many_schemas_in_turn() {
    let schema = |i: u32| fields(&json!([{ "name": format!("f{}", i % 3), "type": "int" }]));
    let schemas: Vec<_> = (1..=200).map(|i| (SchemaId::Id(i), schema(i))).collect();
    let mut registry = Registry::new(&schemas);
    let query = json!({ "messageFormat": "avro" });
    let (mut pipeline, mut clock) = (pipeline(&query, PerfFlags::default()), Clock::new());
    for round in 0..3 {
        for id in 1..=200_u8 {
            let step = registry.push(
                &mut pipeline,
                &record(&[0, 0, 0, 0, id, 2 * round], 0),
                &clock,
            );
            assert_eq!(step, Step::Rows(1));
        }
    }
    assert_eq!(registry.asked.len(), 200, "each once");
    let got = cells(&clock.flush(&mut pipeline).unwrap());
    assert!(got.get("_error").is_none(), "{got}");
}

#[test]
fn schemas_build_on_others() {
    let point = json!({ "type": "record", "name": "geo.Point", "fields": [{ "name": "x", "type": "int" }, { "name": "unit", "type": "geo.Unit" }] });
    let unit =
        json!({ "type": "enum", "name": "Unit", "namespace": "geo", "symbols": ["M", "KM"] });
    let line = json!({ "type": "record", "name": "Line", "namespace": "geo", "fields": [
        { "name": "from", "type": "Point" }, { "name": "to", "type": ["null", "geo.Point"] }, { "name": "unit", "type": "Unit" }] });
    let reference = |name: &str, schema: &Value| Reference {
        name: name.to_owned(),
        text: schema.to_string(),
    };
    let (unit, point) = (reference("geo.Unit", &unit), reference("geo.Point", &point));
    for references in [vec![unit.clone(), point.clone()], vec![point, unit]] {
        let text = SchemaText {
            references,
            ..avro(&line)
        };
        let query = json!({ "messageFormat": "avro" });
        let (mut pipeline, mut clock) = (pipeline(&query, PerfFlags::default()), Clock::new());
        let value = record(b"\0\0\0\0\x01\x02\x02\x02\x04\0\x02", 0);
        let Step::NeedSchema(need) = pipeline.push(&value, clock.0) else {
            panic!("no schema was asked for");
        };
        pipeline.provide_schema(&need, Ok(Arc::new(text)), clock.0);
        pipeline.push(&value, clock.0);
        let want = json!({ "from.x": [1], "from.unit": ["KM"], "to.x": [2], "to.unit": ["M"], "unit": ["KM"] });
        assert_eq!(cells(&clock.flush(&mut pipeline).unwrap()), want);
    }
}

#[test]
fn schemas_that_cannot_be_used() {
    let text = |kind, text: &str| SchemaText {
        kind,
        text: text.to_owned(),
        references: Vec::new(),
    };
    let deep = format!(
        "{}\"int\"{}",
        r#"{"type":"array","items":"#.repeat(500),
        "}".repeat(500)
    );
    let huge = " ".repeat(5 << 20);
    for (text, want) in [
        (
            text(SchemaKind::Json, "{}"),
            "id 1: the schema is JSON Schema, and the query asks for Avro",
        ),
        (
            text(SchemaKind::Avro, "{"),
            "id 1: the Avro schema cannot be used: ",
        ),
        (text(SchemaKind::Avro, "\"geo.Missing\""), "geo.Missing"),
        (
            text(SchemaKind::Avro, &deep),
            "id 1: the Avro schema cannot be used",
        ),
        (text(SchemaKind::Avro, &huge), "have 5120 KiB, and at most"),
    ] {
        let query = json!({ "messageFormat": "avro" });
        let (mut pipeline, mut clock) = (pipeline(&query, PerfFlags::default()), Clock::new());
        let value = record(b"\0\0\0\0\x01\x02", 0);
        let need = Need {
            id: SchemaId::Id(1),
            role: Role::Value,
        };
        assert_eq!(
            pipeline.push(&value, clock.0),
            Step::NeedSchema(need.clone())
        );
        pipeline.provide_schema(&need, Ok(Arc::new(text)), clock.0);
        pipeline.push(&value, clock.0);
        let got = cells(&clock.flush(&mut pipeline).unwrap());
        assert!(got["_error"][0].as_str().unwrap().contains(want), "{got}");
    }
}
