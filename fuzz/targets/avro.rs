//! Avro bytes under schemas that use every type, in every framing.
#![no_main]

use fuzz::{Stream, record, records};
use libfuzzer_sys::fuzz_target;
use serde_json::{Value, json};

fuzz_target!(|input: &[u8]| {
    let Some((&choice, rest)) = input.split_first() else {
        return;
    };
    let schemas = schemas();
    let framings = [
        "auto",
        "none",
        "confluent",
        "confluentHeader",
        "apicurio",
        "glue",
    ];
    let choice = usize::from(choice);
    let query = json!({
        "messageFormat": "avro",
        "avroSchemaSource": "inlineSchema",
        "avroSchema": schemas[choice % schemas.len()].to_string(),
        "framing": framings[choice / schemas.len() % framings.len()],
    });
    let mut stream = Stream::new(query).expect("the query is right");
    for value in records(rest) {
        assert_eq!(stream.show(&record(value)).rows, 1);
    }
});

fn schemas() -> [Value; 4] {
    let list = json!({ "type": "array", "items": "int" });
    let fields = |fields: Value| json!({ "type": "record", "name": "r", "fields": fields });
    [
        fields(json!([
            { "name": "b", "type": "boolean" },
            { "name": "i", "type": "int" },
            { "name": "l", "type": "long" },
            { "name": "f", "type": "float" },
            { "name": "d", "type": "double" },
            { "name": "s", "type": "string" },
            { "name": "y", "type": "bytes" },
            { "name": "x", "type": { "type": "fixed", "name": "x", "size": 3 } },
            { "name": "e", "type": { "type": "enum", "name": "e", "symbols": ["A", "B"] } },
        ])),
        fields(json!([
            { "name": "u", "type": ["null", "string", "long", { "type": "map", "values": "double" }] },
            { "name": "m", "type": { "type": "map", "values": { "type": "map", "values": list } } },
            { "name": "a", "type": { "type": "array", "items": ["null", "r"] } },
        ])),
        fields(json!([
            { "name": "at", "type": { "type": "long", "logicalType": "timestamp-micros" } },
            { "name": "day", "type": { "type": "int", "logicalType": "date" } },
            { "name": "dec", "type": { "type": "bytes", "logicalType": "decimal", "precision": 20, "scale": 3 } },
            { "name": "id", "type": { "type": "string", "logicalType": "uuid" } },
            { "name": "dur", "type": { "type": "fixed", "name": "dur", "size": 12, "logicalType": "duration" } },
        ])),
        json!({ "type": "array", "items": { "type": "record", "name": "nothing", "fields": [] } }),
    ]
}
