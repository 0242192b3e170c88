//! An Avro schema as a person pastes it: what is taken compiles, and reads bytes.
#![no_main]

use fuzz::{Stream, record};
use libfuzzer_sys::fuzz_target;
use serde_json::json;

fuzz_target!(|input: &[u8]| {
    let (schema, value) = fuzz::records(input).fold((None, None), |(first, last), part| {
        (
            first.or(Some(part)),
            if first.is_none() { last } else { Some(part) },
        )
    });
    let schema = String::from_utf8_lossy(schema.unwrap_or_default());
    let query = json!({
        "messageFormat": "avro",
        "avroSchemaSource": "inlineSchema",
        "avroSchema": schema,
        "framing": "none",
    });
    if let Some(mut stream) = Stream::new(query) {
        for value in [value.unwrap_or_default(), &[0; 64], &[2; 64]] {
            assert_eq!(stream.show(&record(value)).rows, 1);
        }
    }
});
