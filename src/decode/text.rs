//! Values as text, as the typed formats write them.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;

use crate::columns::plain::plain_len;
use crate::config::BytesAs;

/// Appends bytes as the query says.
pub(super) fn show_bytes(bytes: &[u8], bytes_as: BytesAs, out: &mut Vec<u8>) {
    match bytes_as {
        BytesAs::Text => out.extend_from_slice(bytes),
        BytesAs::Hex => hex(bytes, out),
        BytesAs::Base64 => {
            let start = out.len();
            out.resize(start + bytes.len().div_ceil(3) * 4, 0);
            STANDARD
                .encode_slice(bytes, &mut out[start..])
                .expect("base64 takes 4 bytes for 3");
        }
    }
}

pub(super) fn hex(bytes: &[u8], out: &mut Vec<u8>) {
    for byte in bytes {
        out.extend([byte >> 4, byte & 15].map(|digit| b"0123456789abcdef"[usize::from(digit)]));
    }
}

/// Takes the end off a whole float: it is written `3`, not `3.0`.
pub(super) fn trim(text: &str) -> &[u8] {
    text.strip_suffix(".0").unwrap_or(text).as_bytes()
}

/// Gives the number that a float's shortest text says: as it is, 0.1 would show as 0.10000000149011612.
///
/// With at most six digits there is one such number, and most floats have few; the twin is to read the text.
#[expect(clippy::float_cmp, reason = "it has few digits or it has not")]
pub(super) fn as_written(value: f32) -> f64 {
    let scaled = (f64::from(value) * 1e4).round();
    let few = scaled / 1e4;
    if scaled.abs() < 1e6 && few as f32 == value {
        return few;
    }
    let mut buffer = zmij::Buffer::new();
    buffer.format(value).parse().unwrap_or(f64::from(value))
}

/// Appends a JSON string; what is no UTF-8 becomes U+FFFD.
pub(super) fn quote(text: &[u8], out: &mut Vec<u8>) {
    if plain_len(text) == text.len() {
        out.push(b'"');
        out.extend_from_slice(text);
        out.push(b'"');
        return;
    }
    let text = String::from_utf8_lossy(text);
    serde_json::to_writer(out, &*text).expect("a string is always JSON");
}

/// Makes a JSON string of the bytes of `out` from `start` on; `spare` is room to work in.
pub(super) fn quote_from(out: &mut Vec<u8>, start: usize, spare: &mut Vec<u8>) {
    let plain = |byte: &u8| (0x20..0x7f).contains(byte) && !matches!(byte, b'"' | b'\\');
    if out[start..].iter().all(plain) {
        out.insert(start, b'"');
        out.push(b'"');
        return;
    }
    spare.clear();
    spare.extend_from_slice(&out[start..]);
    out.truncate(start);
    let text = String::from_utf8_lossy(spare);
    serde_json::to_writer(out, &*text).expect("a string is always JSON");
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn floats_are_what_their_text_says() {
        let steps = (0..0x7f80_0000).step_by(9_973).map(f32::from_bits);
        let few =
            (0..20_000).flat_map(|n| [1.0, 10.0, 100.0, 1e3, 1e4, 1e5].map(|by| n as f32 / by));
        for value in steps.chain(few).flat_map(|value| [value, -value]) {
            let want: f64 = zmij::Buffer::new().format(value).parse().unwrap();
            assert_eq!(as_written(value).to_bits(), want.to_bits(), "{value:?}");
        }
    }
}
