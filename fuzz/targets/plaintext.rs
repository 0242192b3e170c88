//! Plain text, keys and headers: texts come out as they went in, but for bytes that are none.
#![no_main]

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use fuzz::{Stream, record, records};
use libfuzzer_sys::fuzz_target;
use serde_json::json;
use streamscope::record::{Header, Record};

fuzz_target!(|input: &[u8]| {
    let parts: Vec<_> = records(input).collect();
    let format = ["none", "string", "json", "base64"][parts[0].len() % 4];
    let query = json!({ "messageFormat": "plaintext", "keyFormat": format, "headers": true });
    let mut stream = Stream::new(query).expect("the query is right");
    let headers: Vec<_> = parts[1..].chunks(2).map(header).collect();
    for value in [Some(parts[0]), parts.last().copied(), None] {
        let key = parts.get(1).copied();
        let shown = stream.show(&Record {
            value,
            key,
            headers: &headers,
            ..record(b"")
        });
        if shown.columns.contains_key("_error") {
            continue;
        }
        let text = value.map(String::from_utf8_lossy);
        assert_eq!(shown.text("message"), text.as_deref());
        match format {
            "string" => assert_eq!(
                shown.text("key"),
                key.map(String::from_utf8_lossy).as_deref()
            ),
            "base64" => assert_eq!(
                shown.text("key"),
                key.map(|key| STANDARD.encode(key)).as_deref()
            ),
            _ => {}
        }
        for header in &headers {
            let same = headers
                .iter()
                .filter(|other| other.name == header.name)
                .count();
            let text = header
                .value
                .and_then(|value| std::str::from_utf8(value).ok());
            let name = std::str::from_utf8(header.name).ok();
            if let (1, Some(name), Some(text)) = (same, name, text)
                && let Some(shown) = shown.text(&format!("header.{name}"))
                && !text.bytes().any(|byte| byte < b' ')
            {
                assert_eq!(shown, text);
            }
        }
    }
});

fn header<'a>(pair: &[&'a [u8]]) -> Header<'a> {
    Header {
        name: pair[0],
        value: pair.get(1).copied(),
    }
}
