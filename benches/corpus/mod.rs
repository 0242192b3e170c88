//! The records that benches and tests share. The first five are those that the Go plugin measures itself with.

mod avro;
mod protobuf;

use serde_json::{Map, Value, json};

/// Is a topic as a bench reads it.
#[derive(Debug)]
pub(crate) struct Fixture {
    pub(crate) name: &'static str,
    /// The panel's query, but for the topic.
    pub(crate) query: Value,
    /// The values of the topic's records, over and over.
    pub(crate) values: Vec<Vec<u8>>,
}

/// Gives the fixtures in the order in which tables show them.
pub(crate) fn fixtures() -> Vec<Fixture> {
    let fixture = |name, query, values| Fixture {
        name,
        query,
        values,
    };
    let json = |name, values| fixture(name, json!({ "messageFormat": "json" }), values);
    vec![
        fixture(
            "plaintext",
            json!({ "messageFormat": "plaintext" }),
            vec![b"2024-01-01T00:00:00Z sensor-01 value=21.5".to_vec()],
        ),
        fixture(
            "lineprotocol",
            json!({ "messageFormat": "lineprotocol" }),
            vec![lines()],
        ),
        avro::reading(),
        avro::order(),
        fixture(
            "protobuf",
            inline_protobuf(protobuf::SENSOR, "benchdata.SensorReading"),
            vec![protobuf::sensor()],
        ),
        fixture(
            "protobuf_30fields",
            inline_protobuf(protobuf::TELEMETRY, "benchdata.Telemetry"),
            (0..32).map(protobuf::telemetry).collect(),
        ),
        json("json_20fields", vec![fields(20)]),
        json("json_100fields", vec![fields(100)]),
        json("json_nested", (0..32).map(nested).collect()),
        json("json_shuffled", (0..61).map(shuffled).collect()),
    ]
}

fn inline_protobuf(schema: &str, message: &str) -> Value {
    json!({
        "messageFormat": "protobuf",
        "protobufSchemaSource": "inlineSchema",
        "protobufSchema": schema,
        "protobufMessage": message,
    })
}

/// Ten lines with three tags and five fields each, which make 50 rows.
fn lines() -> Vec<u8> {
    let line = |i: usize| {
        let tags: Vec<_> = (0..3).map(|t| format!(",tag{t}=value{i}")).collect();
        let tags = tags.concat();
        let fields: Vec<_> = (0..5).map(|f| format!("field{f}={}", i * f)).collect();
        let (fields, time) = (fields.join(","), 1_700_000_000_000_000_000 + i);
        format!("cpu{tags} {fields} {time}\n")
    };
    (0..10).map(line).collect::<Vec<_>>().concat().into_bytes()
}

/// `field_i`: 1.5 times `i`, which Go writes without a point, `i`, a text or a boolean by `i % 4`, keys sorted.
fn fields(n: usize) -> Vec<u8> {
    let field = |i: usize| match i % 4 {
        0 => json!(i + i / 2),
        1 => json!(i),
        2 => json!(format!("value-{i}")),
        _ => json!(i.is_multiple_of(2)),
    };
    let object: Map<String, Value> = (0..n).map(|i| (format!("field_{i}"), field(i))).collect();
    let mut names: Vec<_> = object.into_iter().collect();
    names.sort_by(|a, b| a.0.cmp(&b.0));
    let pairs: Vec<_> = names
        .iter()
        .map(|(name, value)| format!("{}:{value}", json!(name)))
        .collect();
    format!("{{{}}}", pairs.join(",")).into_bytes()
}

/// An order as shops write them: nested, with arrays, escapes and optional parts; 0.8 to 1 KB.
fn nested(i: usize) -> Vec<u8> {
    let mut order = json!({
        "id": format!("ord-{:08}", i * 7919),
        "at": "2026-11-30T12:34:56.789Z",
        "customer": {
            "id": 100_000 + i,
            "name": "Zoë \"Z\" Müller",
            "address": { "street": "Lange Straße 12", "city": "Göttingen", "zip": "37073", "geo": { "lat": 51.53 + i as f64 / 1e4, "lon": 9.93 } },
            "vip": i.is_multiple_of(7),
        },
        "items": (0..=i % 3).map(|n| json!({ "sku": format!("SKU-{n:05}"), "count": n + 1, "price": 9.99 + n as f64 })).collect::<Vec<_>>(),
        "payment": { "method": "card", "amount": 100.0 + i as f64 / 3.0, "currency": "EUR", "authorised": true },
        "shipping": { "carrier": "DHL", "service": "parcel", "weight_g": 1200 + i, "dimensions": { "l": 30, "w": 20, "h": 10 } },
        "tags": ["web", "returning", "newsletter"],
        "note": "ring twice,\nthen leave it at the neighbour's",
        "source": { "app": "shop", "version": "4.17.2", "host": format!("web-{:02}.eu-central.example", i % 12), "trace": "4bf92f3577b34da6a3ce929d0e0e4736" },
    });
    if i.is_multiple_of(5) {
        order["coupon"] = json!({ "code": "NOV26", "percent": 10 });
    }
    order.to_string().into_bytes()
}

/// Twenty fields of which some are missing, in another order each time.
fn shuffled(i: usize) -> Vec<u8> {
    let mut order: Vec<usize> = (0..20)
        .filter(|n| !(n * 31 + i).is_multiple_of(9))
        .collect();
    let mut state = i as u64 + 1;
    for k in (1..order.len()).rev() {
        state = state
            .wrapping_mul(6_364_136_223_846_793_005)
            .wrapping_add(1_442_695_040_888_963_407);
        order.swap(k, (state >> 33) as usize % (k + 1));
    }
    let pair = |n: usize| match n % 4 {
        0 => format!("\"field_{n}\":{}", n as f64 * 1.5),
        1 => format!("\"field_{n}\":{}", n + i),
        2 => format!("\"field_{n}\":\"value-{n}\""),
        _ => format!("\"field_{n}\":{}", i.is_multiple_of(2)),
    };
    format!(
        "{{{}}}",
        order.into_iter().map(pair).collect::<Vec<_>>().join(",")
    )
    .into_bytes()
}
