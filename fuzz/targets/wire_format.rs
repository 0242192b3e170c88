//! How records name their schemas, in bytes and in headers, under a registry that answers.
#![no_main]

use fuzz::{Stream, record, records};
use libfuzzer_sys::fuzz_target;
use serde_json::json;
use streamscope::record::{Header, Record};

fuzz_target!(|input: &[u8]| {
    let Some((&choice, rest)) = input.split_first() else {
        return;
    };
    let framings = [
        "auto",
        "none",
        "confluent",
        "confluentHeader",
        "apicurio",
        "glue",
    ];
    let names = [
        &b"__value_schema_id"[..],
        b"__key_schema_id",
        b"apicurio.value.globalId",
        b"apicurio.value.contentId",
    ];
    let (choice, format) = (
        usize::from(choice),
        ["avro", "json"][usize::from(choice) % 2],
    );
    let key_format = ["none", "avro"][choice / 2 / framings.len() % 2];
    let query = json!({
        "messageFormat": format,
        "avroSchemaSource": "schemaRegistry",
        "framing": framings[choice / 2 % framings.len()],
        "keyFormat": key_format,
        "keySchemaSource": "schemaRegistry",
    });
    let Some(mut stream) = Stream::new(query) else {
        return;
    };
    let parts: Vec<_> = records(rest).collect();
    for three in parts.chunks(3) {
        let value = three.get(1).copied();
        let headers = [Header {
            name: names[choice % names.len()],
            value,
        }];
        let key = three.get(2).copied();
        stream.show(&Record {
            key,
            headers: &headers,
            ..record(three[0])
        });
    }
});
