//! Line protocol in both layouts, with a filter and without: whatever the bytes, packets are whole, and no record has more rows than
//! bytes.
#![no_main]

use fuzz::{Stream, record, records};
use libfuzzer_sys::fuzz_target;
use serde_json::json;

fuzz_target!(|input: &[u8]| {
    let Some((&choice, rest)) = input.split_first() else {
        return;
    };
    let precisions = ["auto", "ns", "us", "ms", "s"];
    let [mut long, mut wide] = ["long", "wide"].map(|layout| {
        let query = json!({
            "messageFormat": "lineprotocol",
            "lineProtocolLayout": layout,
            "lineProtocolTimestampPrecision": precisions[usize::from(choice / 2) % precisions.len()],
            "lineProtocolFields": if choice % 2 == 0 { "" } else { "[a-f].*" },
        });
        Stream::new(query).expect("the query is right")
    });
    for value in records(rest) {
        for stream in [&mut long, &mut wide] {
            assert!(stream.show(&record(value)).rows <= value.len());
        }
    }
});
