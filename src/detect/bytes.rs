//! What bytes look like.

use std::fmt::Write as _;

use super::Sample;
use crate::schema::Role;

/// Says how most of the records name their schemas.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Naming {
    None,
    /// `00` and an id of 4 bytes; the first record's.
    Confluent(u32),
    /// A GUID in a header.
    ConfluentHeader,
    /// `00` and an id of 8 bytes.
    Apicurio(u64),
    ApicurioHeader,
    /// `03`, a byte for the compression, and a GUID.
    Glue,
}

impl Naming {
    /// Tells whether a registry can be asked.
    pub(super) fn may_be_registry(self) -> bool {
        !matches!(self, Self::None | Self::Glue)
    }

    pub(super) fn is_none(self) -> bool {
        self == Self::None
    }

    /// Gives what stands behind the name of the schema; `None` where that cannot be told.
    pub(super) fn body(self, value: &[u8]) -> Option<&[u8]> {
        match self {
            Self::Confluent(_) => value.get(CONFLUENT..),
            Self::Apicurio(_) => value.get(APICURIO..),
            Self::ConfluentHeader | Self::ApicurioHeader => Some(value),
            Self::Glue => value.get(GLUE..).filter(|_| value[1] == 0),
            Self::None => None,
        }
    }
}

const CONFLUENT: usize = 5;
const APICURIO: usize = 9;
const GLUE: usize = 18;
const HEX_BYTES: usize = 64;

/// Tells how most of the records name the schema of this half.
pub(super) fn naming(samples: &[Sample], role: Role) -> Naming {
    let found: Vec<Naming> = samples
        .iter()
        .filter_map(|sample| sample.half(role).map(|half| of_one(sample, half, role)))
        .collect();
    let same = |a: &Naming, b: &Naming| std::mem::discriminant(a) == std::mem::discriminant(b);
    let is_most =
        |one: &&Naming| found.iter().filter(|other| same(one, other)).count() * 2 > found.len();
    found.iter().find(is_most).copied().unwrap_or(Naming::None)
}

fn of_one(sample: &Sample, half: &[u8], role: Role) -> Naming {
    let has = |name: &str| {
        sample
            .headers
            .iter()
            .any(|(known, value)| known == name.as_bytes() && value.is_some())
    };
    let role = role.as_str();
    if has(&format!("__{role}_schema_id")) {
        return Naming::ConfluentHeader;
    }
    if has(&format!("apicurio.{role}.globalId")) || has(&format!("apicurio.{role}.contentId")) {
        return Naming::ApicurioHeader;
    }
    match half {
        // No registry gives the id 0 away: these are the upper bytes of a longer one.
        [0, 0, 0, 0, 0, a, b, c, d, ..] => {
            Naming::Apicurio(u32::from_be_bytes([*a, *b, *c, *d]).into())
        }
        [0, a, b, c, d, ..] => Naming::Confluent(u32::from_be_bytes([*a, *b, *c, *d])),
        [3, 0 | 5, rest @ ..] if rest.len() >= 16 => Naming::Glue,
        _ => Naming::None,
    }
}

/// Tells whether a person may have written it: UTF-8 without control characters but tabs and line ends.
pub(super) fn is_text(bytes: &[u8]) -> bool {
    let is_written = |c: char| !c.is_control() || matches!(c, '\t' | '\n' | '\r');
    std::str::from_utf8(bytes).is_ok_and(|text| text.chars().all(is_written))
}

/// Tells whether it is a JSON object.
pub(super) fn is_json_object(bytes: &[u8]) -> bool {
    serde_json::from_slice::<serde_json::Map<String, serde_json::Value>>(bytes).is_ok()
}

/// Tells whether the shortest message indexes and the fields of a message stand here, and nothing else. Longer indexes are no
/// sign: Avro's bytes look like them too often.
pub(super) fn may_be_protobuf(body: &[u8]) -> bool {
    matches!(body, [0, fields @ ..] if !fields.is_empty() && message_fields(fields))
}

fn message_fields(mut bytes: &[u8]) -> bool {
    while !bytes.is_empty() {
        let Some(rest) = field(bytes) else {
            return false;
        };
        bytes = rest;
    }
    true
}

/// Skips one field; groups count as none.
fn field(bytes: &[u8]) -> Option<&[u8]> {
    let (tag, rest) = varint(bytes)?;
    if tag >> 3 == 0 || tag >> 32 != 0 {
        return None;
    }
    match tag & 7 {
        0 => varint(rest).map(|(_, rest)| rest),
        1 => rest.get(8..),
        2 => {
            let (len, rest) = varint(rest)?;
            rest.get(usize::try_from(len).ok()?..)
        }
        5 => rest.get(4..),
        _ => None,
    }
}

fn varint(bytes: &[u8]) -> Option<(u64, &[u8])> {
    let mut value = 0_u64;
    for (i, byte) in bytes.iter().take(10).enumerate() {
        value |= u64::from(byte & 0x7f) << (7 * i);
        if byte & 0x80 == 0 {
            return Some((value, &bytes[i + 1..]));
        }
    }
    None
}

/// Shows the first bytes, in pairs of digits and as text.
pub(super) fn hex(bytes: &[u8]) -> String {
    let shown = &bytes[..bytes.len().min(HEX_BYTES)];
    let mut out = String::with_capacity(shown.len() * 4 + 32);
    for byte in shown {
        let _ = write!(out, "{byte:02x} ");
    }
    if bytes.len() > HEX_BYTES {
        let _ = write!(out, "… ");
    }
    let text = shown.iter().map(|&byte| {
        if matches!(byte, 0x20..=0x7e) {
            char::from(byte)
        } else {
            '.'
        }
    });
    let _ = write!(out, "|{}| {} bytes", text.collect::<String>(), bytes.len());
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn texts() {
        for (bytes, want) in [
            (&b"a\tb\r\n"[..], true),
            ("ä€😀".as_bytes(), true),
            (b"", true),
            (b"\x00", false),
            (b"a\x1b[0m", false),
            (b"\xff", false),
        ] {
            assert_eq!(is_text(bytes), want, "{bytes:?}");
        }
    }

    #[test]
    fn namings() {
        let header = |name: &str| (name.as_bytes().to_vec(), Some(vec![1]));
        for (value, headers, want) in [
            (&b"\0\0\0\0\x07abc"[..], vec![], Naming::Confluent(7)),
            (b"\0\0\0\0\x07", vec![], Naming::Confluent(7)),
            (b"\0\0\0\0\0\0\0\0\x07abc", vec![], Naming::Apicurio(7)),
            (b"\0\0\0\0", vec![], Naming::None),
            (b"\x03\x000123456789abcdefbody", vec![], Naming::Glue),
            (b"\x03\x050123456789abcdef", vec![], Naming::Glue),
            (b"\x03\x070123456789abcdef", vec![], Naming::None),
            (
                b"abc",
                vec![header("__value_schema_id")],
                Naming::ConfluentHeader,
            ),
            (b"abc", vec![header("__key_schema_id")], Naming::None),
            (
                b"\0abcdef",
                vec![header("apicurio.value.globalId")],
                Naming::ApicurioHeader,
            ),
            (b"{}", vec![], Naming::None),
        ] {
            let sample = Sample {
                value: Some(value.to_vec()),
                headers,
                ..Sample::default()
            };
            assert_eq!(naming(&[sample], Role::Value), want, "{value:?}");
        }
    }

    #[test]
    fn protobuf_or_not() {
        for (body, want) in [
            (&b"\x00\x08\x01\x12\x02hi"[..], true),
            (b"\x02\x02\x08\x01", false),
            (b"\x00", false),
            (b"", false),
            (b"\x00\x08", false),
            (b"\x00\x12\x7fhi", false),
            (b"\x00\x00\x01", false),
            (b"\x06abc", false),
            (b"\x00\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff", false),
        ] {
            assert_eq!(may_be_protobuf(body), want, "{body:?}");
        }
    }

    #[test]
    fn shown_bytes() {
        assert_eq!(hex(b"\0a\xff"), "00 61 ff |.a.| 3 bytes");
        let long = hex(&[b'x'; 100]);
        assert!(
            long.contains("78 … |x") && long.ends_with("| 100 bytes"),
            "{long}"
        );
    }
}
