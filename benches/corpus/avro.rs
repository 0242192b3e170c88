//! Avro records, and the queries that read them.

use apache_avro::types::Value as Avro;
use apache_avro::writer::datum::GenericDatumWriter;
use apache_avro::{Decimal, Schema};
use serde_json::{Value, json};

use super::Fixture;

/// The record that the Go plugin measures itself with: 19 bytes.
pub(super) fn reading() -> Fixture {
    let schema = json!({ "type": "record", "name": "SensorReading", "fields": [
        { "name": "id", "type": "string" },
        { "name": "value", "type": "double" },
        { "name": "count", "type": "long" },
    ] });
    let record = vec![
        ("id", Avro::String("sensor-01".to_owned())),
        ("value", Avro::Double(21.5)),
        ("count", Avro::Long(42)),
    ];
    fixture("avro", &schema, vec![record])
}

/// An order of thirty columns: unions, logical types, enums, arrays, a nested record, bytes.
pub(super) fn order() -> Fixture {
    let null_or = |of: Value| json!(["null", of]);
    let logical = |of: &str, logical: &str| json!({ "type": of, "logicalType": logical });
    let enumeration =
        |name: &str, symbols: &[&str]| json!({ "type": "enum", "name": name, "symbols": symbols });
    let field = |name: &str, of: Value| json!({ "name": name, "type": of });
    let schema = json!({ "type": "record", "name": "Order", "namespace": "shop.example", "fields": [
        field("id", json!("string")),
        field("at", logical("long", "timestamp-millis")),
        field("updated_at", null_or(logical("long", "timestamp-micros"))),
        field("customer_id", json!("long")),
        field("customer", json!("string")),
        field("email", null_or(json!("string"))),
        field("vip", json!("boolean")),
        field("status", enumeration("Status", &["NEW", "PAID", "SHIPPED", "RETURNED"])),
        field("channel", enumeration("Channel", &["WEB", "APP", "STORE"])),
        field("amount", json!({ "type": "bytes", "logicalType": "decimal", "precision": 9, "scale": 2 })),
        field("currency", json!("string")),
        field("tax", json!("double")),
        field("discount", null_or(json!("double"))),
        field("items", json!("int")),
        field("tags", json!({ "type": "array", "items": "string" })),
        field("quantities", json!({ "type": "array", "items": "int" })),
        field("weight", json!("float")),
        field("day", logical("int", "date")),
        field("slot", logical("int", "time-millis")),
        field("host", json!("string")),
        field("version", json!("string")),
        field("attempt", json!("int")),
        field("retry_after", null_or(json!("int"))),
        field("note", null_or(json!("string"))),
        field("address", json!({ "type": "record", "name": "Address", "fields": [
            field("street", json!("string")),
            field("city", json!("string")),
            field("zip", json!("string")),
        ] })),
        field("checksum", json!("bytes")),
        field("reference", json!(["string", "long"])),
        field("latency_us", json!("long")),
    ] });
    fixture("avro_30fields", &schema, (0..32).map(an_order).collect())
}

fn an_order(i: i32) -> Vec<(&'static str, Avro)> {
    let text = |text: &str| Avro::String(text.to_owned());
    let some = |value| Avro::Union(1, Box::new(value));
    let or_null = |is: bool, value| {
        if is {
            Avro::Union(1, Box::new(value))
        } else {
            Avro::Union(0, Box::new(Avro::Null))
        }
    };
    let at = 1_700_000_000_000 + i64::from(i) * 250;
    vec![
        ("id", Avro::String(format!("ord-{:08}", i * 7919))),
        ("at", Avro::TimestampMillis(at)),
        (
            "updated_at",
            or_null(i % 2 == 0, Avro::TimestampMicros(at * 1_000 + 617)),
        ),
        ("customer_id", Avro::Long(100_000 + i64::from(i))),
        ("customer", text("Zoë Müller")),
        ("email", some(text("zoe.mueller@example.com"))),
        ("vip", Avro::Boolean(i % 7 == 0)),
        ("status", Avro::Enum(1, "PAID".to_owned())),
        (
            "channel",
            Avro::Enum(
                (i % 3) as u32,
                ["WEB", "APP", "STORE"][(i % 3) as usize].to_owned(),
            ),
        ),
        (
            "amount",
            Avro::Decimal(Decimal::from((12_999 + i).to_be_bytes())),
        ),
        ("currency", text("EUR")),
        ("tax", Avro::Double(20.75 + f64::from(i) / 3.0)),
        ("discount", or_null(i % 5 == 0, Avro::Double(2.5))),
        ("items", Avro::Int(1 + i % 4)),
        (
            "tags",
            Avro::Array(["web", "returning", "newsletter"].map(text).to_vec()),
        ),
        (
            "quantities",
            Avro::Array((0..=i % 4).map(Avro::Int).collect()),
        ),
        ("weight", Avro::Float(1.25)),
        ("day", Avro::Date(19_675)),
        ("slot", Avro::TimeMillis(45_296_789)),
        (
            "host",
            Avro::String(format!("web-{:02}.eu-central.example", i % 12)),
        ),
        ("version", text("4.17.2")),
        ("attempt", Avro::Int(1)),
        ("retry_after", or_null(i % 9 == 0, Avro::Int(30))),
        (
            "note",
            or_null(i % 3 == 0, text("leave it at the neighbour's")),
        ),
        (
            "address",
            Avro::Record(vec![
                (
                    "street".to_owned(),
                    text("Lange Straße 12, Hinterhaus links"),
                ),
                ("city".to_owned(), text("Göttingen")),
                ("zip".to_owned(), text("37073")),
            ]),
        ),
        (
            "checksum",
            Avro::Bytes(
                0x4bf9_2f35_77b3_4da6_a3ce_929d_0e0e_4736_u128
                    .to_be_bytes()
                    .to_vec(),
            ),
        ),
        (
            "reference",
            Avro::Union(
                0,
                Box::new(text("R-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902")),
            ),
        ),
        ("latency_us", Avro::Long(1_234 + i64::from(i))),
    ]
}

fn fixture(name: &'static str, schema: &Value, records: Vec<Vec<(&'static str, Avro)>>) -> Fixture {
    let schema = schema.to_string();
    let parsed = Schema::parse_str(&schema).expect("the schema is right");
    let writer = GenericDatumWriter::builder(&parsed)
        .build()
        .expect("the schema stands alone");
    let encode = |record: Vec<(&str, Avro)>| {
        let fields = record
            .into_iter()
            .map(|(name, value)| (name.to_owned(), value));
        writer
            .write_value_to_vec(Avro::Record(fields.collect()))
            .expect("the record is of its schema")
    };
    Fixture {
        name,
        values: records.into_iter().map(encode).collect(),
        query: json!({ "messageFormat": "avro", "avroSchemaSource": "inlineSchema", "avroSchema": schema }),
    }
}
