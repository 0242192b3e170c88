//! A Protobuf schema as a person pastes it or a registry gives it, text or base64: what is taken compiles, and reads bytes.
#![no_main]

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use fuzz::{Stream, pass_panics_of, record};
use libfuzzer_sys::fuzz_target;
use serde_json::json;

// The parser panics on some odd numbers, which the product turns into an error.
fuzz_target!(init: pass_panics_of("/protox-parse-"), |input: &[u8]| {
    let schema = match input.split_first() {
        Some((0, descriptor)) => STANDARD.encode(descriptor),
        _ => String::from_utf8_lossy(input).into_owned(),
    };
    let query = json!({
        "messageFormat": "protobuf",
        "protobufSchemaSource": "inlineSchema",
        "protobufSchema": schema,
        "framing": "none",
    });
    if let Some(mut stream) = Stream::new(query) {
        for value in [&b""[..], b"\x08\x01", b"\x0a\x02\x08\x01", &[0x0a; 64]] {
            assert_eq!(stream.show(&record(value)).rows, 1);
        }
    }
});
