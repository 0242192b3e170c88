//! A writer's schema and a reader's: what resolves reads bytes, and what does not is said in a row.
#![no_main]

use fuzz::{Stream, record, records};
use libfuzzer_sys::fuzz_target;
use serde_json::json;

fuzz_target!(|input: &[u8]| {
    let mut parts = records(input);
    let mut text = || String::from_utf8_lossy(parts.next().unwrap_or_default()).into_owned();
    let (writer, reader) = (text(), text());
    let query = json!({
        "messageFormat": "avro",
        "avroSchemaSource": "inlineSchema",
        "avroSchema": writer,
        "avroReaderSchema": reader,
        "framing": "none",
    });
    if let Some(mut stream) = Stream::new(query) {
        for value in parts.chain([&[0; 64][..], &[2; 64]]) {
            assert_eq!(stream.show(&record(value)).rows, 1);
        }
    }
});
