//! The plain way: a line is cut at what is not escaped, piece by piece, with copies.

use std::collections::BTreeMap;

use proptest::prelude::*;
use regex::bytes::Regex;

use super::{Cut, Scalar};

/// Cuts a record: its good lines, and how many are bad.
pub(super) fn cut(value: &[u8]) -> (Vec<Cut>, usize) {
    let (mut good, mut bad, mut rest) = (Vec::new(), 0, value);
    while !rest.is_empty() {
        let blank = rest.iter().position(|b| !matches!(b, b' ' | b'\t'));
        rest = &rest[blank.unwrap_or(rest.len())..];
        let mut end = 0;
        if rest.first() != Some(&b'#') && !ends_line(rest) {
            match line(rest) {
                Ok((line, used)) => {
                    good.push(line);
                    end = used;
                }
                Err(at) => {
                    bad += 1;
                    end = at;
                }
            }
        }
        let newline = rest[end..].iter().position(|&b| b == b'\n');
        rest = newline.map_or(&b""[..], |newline| &rest[end + newline + 1..]);
    }
    (good, bad)
}

/// Cuts a line, and tells where it ends; else tells where it is bad.
fn line(all: &[u8]) -> Result<(Cut, usize), usize> {
    let at = |rest: &[u8]| all.len() - rest.len();
    let need = |ok: bool, rest: &[u8]| if ok { Ok(()) } else { Err(at(rest)) };
    let (measurement, mut rest) = name(all, b", ");
    need(!measurement.is_empty(), rest)?;
    let mut tags = BTreeMap::new();
    while let Some(tag) = rest.strip_prefix(b",") {
        let (key, behind) = name(tag, b",= ");
        need(!key.is_empty() && behind.first() == Some(&b'='), behind)?;
        let (value, behind) = name(&behind[1..], b",= ");
        need(!value.is_empty(), behind)?;
        need(
            tags.insert(meant(&key, b",= "), meant(&value, b",= "))
                .is_none(),
            behind,
        )?;
        rest = behind;
    }
    need(rest.first() == Some(&b' '), rest)?;
    let blank = rest.iter().position(|b| !matches!(b, b' ' | b'\t'));
    rest = &rest[blank.unwrap_or(rest.len())..];
    let mut fields = Vec::new();
    loop {
        let (key, behind) = name(rest, b",= ");
        need(!key.is_empty() && behind.first() == Some(&b'='), behind)?;
        let opened = &behind[1..];
        let (value, behind) = if let Some(quoted) = opened.strip_prefix(b"\"") {
            let (text, behind) = string(quoted).ok_or(at(opened))?;
            let ended = ends_line(behind) || matches!(behind[0], b',' | b' ');
            need(ended, opened)?;
            (Scalar::Text(text), behind)
        } else {
            let end = (0..=opened.len())
                .find(|&i| ends_line(&opened[i..]) || matches!(opened[i], b',' | b' '))
                .unwrap();
            (scalar(&opened[..end]).ok_or(at(opened))?, &opened[end..])
        };
        fields.push((meant(&key, b",= "), value));
        rest = behind;
        match rest.strip_prefix(b",") {
            Some(next) => rest = next,
            None => break,
        }
    }
    let spaces = rest.iter().take_while(|&&b| b == b' ').count();
    rest = &rest[spaces..];
    let mut timestamp = None;
    if spaces > 0 && !ends_line(rest) {
        let end = (0..=rest.len())
            .find(|&i| ends_line(&rest[i..]) || rest[i] == b' ')
            .unwrap();
        let digits = Regex::new("^-?[0-9]+$").unwrap().is_match(&rest[..end]);
        let text = std::str::from_utf8(&rest[..end]).ok().filter(|_| digits);
        timestamp = Some(text.and_then(|text| text.parse().ok()).ok_or(at(rest))?);
        rest = &rest[end..];
        rest = &rest[rest.iter().take_while(|&&b| b == b' ').count()..];
    }
    need(ends_line(rest), rest)?;
    let line = Cut {
        measurement: meant(&measurement, b", "),
        tags,
        fields,
        timestamp,
    };
    Ok((line, at(rest)))
}

fn ends_line(rest: &[u8]) -> bool {
    rest.is_empty() || rest == b"\r" || rest.starts_with(b"\n") || rest.starts_with(b"\r\n")
}

/// Cuts a name at the first of `ends` that has no backslash before it.
fn name<'a>(rest: &'a [u8], ends: &[u8]) -> (Vec<u8>, &'a [u8]) {
    let end = (0..=rest.len())
        .find(|&i| {
            let escaped = i > 0 && rest[i - 1] == b'\\';
            ends_line(&rest[i..]) || (ends.contains(&rest[i]) && !escaped)
        })
        .unwrap();
    (rest[..end].to_vec(), &rest[end..])
}

/// Drops the backslashes before `special` bytes.
fn meant(name: &[u8], special: &[u8]) -> Vec<u8> {
    let dropped =
        |i: usize| name[i] == b'\\' && name.get(i + 1).is_some_and(|b| special.contains(b));
    (0..name.len())
        .filter(|&i| !dropped(i))
        .map(|i| name[i])
        .collect()
}

/// Cuts a string behind its first quote: what it means, and what is behind its last quote.
fn string(quoted: &[u8]) -> Option<(Vec<u8>, &[u8])> {
    let (mut text, mut bytes) = (Vec::new(), quoted.iter().enumerate());
    while let Some((i, &byte)) = bytes.next() {
        match (byte, quoted.get(i + 1)) {
            (b'"', _) => return Some((text, &quoted[i + 1..])),
            (b'\\', Some(&next @ (b'"' | b'\\'))) => {
                text.push(next);
                bytes.next();
            }
            _ => text.push(byte),
        }
    }
    None
}

fn scalar(token: &[u8]) -> Option<Scalar> {
    let text = std::str::from_utf8(token).ok()?;
    let is = |pattern: &str| Regex::new(pattern).unwrap().is_match(token);
    match text {
        "t" | "T" | "true" | "True" | "TRUE" => Some(Scalar::Boolean(true)),
        "f" | "F" | "false" | "False" | "FALSE" => Some(Scalar::Boolean(false)),
        _ if is("^-?[0-9]+i$") => text[..text.len() - 1].parse().ok().map(Scalar::Integer),
        _ if is("^[0-9]+u$") => text[..text.len() - 1].parse().ok().map(Scalar::Unsigned),
        _ if is(r"^-?([0-9]+\.?[0-9]*|\.[0-9]+)([eE][+-]?[0-9]+)?$") => text
            .parse()
            .ok()
            .filter(|value: &f64| value.is_finite())
            .map(Scalar::Float),
        _ => None,
    }
}

/// Makes a line with anything that can be written in its names and strings.
pub(super) fn line_of_anything() -> impl Strategy<Value = Cut> {
    // A name that ends with a backslash cannot be written, nor one with a line end.
    let name = || "[a-c,= \"é\\\\#\r]{0,6}[a-c,= \"é#]".prop_map(String::into_bytes);
    let measurement = name().prop_filter("a comment", |name| !matches!(name[0], b'#'));
    let scalar = prop_oneof![
        any::<f64>()
            .prop_filter("finite", |v| v.is_finite())
            .prop_map(Scalar::Float),
        any::<i32>().prop_map(|n| Scalar::Float(f64::from(n) / 100.0)),
        any::<i64>().prop_map(Scalar::Integer),
        any::<u64>().prop_map(Scalar::Unsigned),
        any::<bool>().prop_map(Scalar::Boolean),
        "[a-c,= \"\\\\\n\ré#]{0,8}".prop_map(|text| Scalar::Text(text.into_bytes())),
    ];
    (
        measurement,
        prop::collection::btree_map(name(), name(), 0..4),
        prop::collection::vec((name(), scalar), 1..5),
        any::<Option<i64>>(),
    )
        .prop_map(|(measurement, tags, fields, timestamp)| Cut {
            measurement,
            tags,
            fields,
            timestamp,
        })
}

/// Writes a line as clients do; tags by key backwards, which they do not.
pub(super) fn write(line: &Cut) -> Vec<u8> {
    let mut out = escape(&line.measurement, b", ");
    for (key, value) in line.tags.iter().rev() {
        out.extend([b",", &escape(key, b",= ")[..], b"=", &escape(value, b",= ")].concat());
    }
    for (i, (key, value)) in line.fields.iter().enumerate() {
        out.push(if i == 0 { b' ' } else { b',' });
        out.extend([&escape(key, b",= ")[..], b"="].concat());
        match value {
            Scalar::Float(value) => out.extend(format!("{value:?}").bytes()),
            Scalar::Integer(value) => out.extend(format!("{value}i").bytes()),
            Scalar::Unsigned(value) => out.extend(format!("{value}u").bytes()),
            Scalar::Boolean(value) => out.extend(format!("{value}").bytes()),
            Scalar::Text(text) => out.extend([b"\"", &escape(text, b"\"\\")[..], b"\""].concat()),
        }
    }
    if let Some(timestamp) = line.timestamp {
        out.extend(format!(" {timestamp}").bytes());
    }
    out
}

fn escape(text: &[u8], special: &[u8]) -> Vec<u8> {
    let byte = |&b: &u8| {
        if special.contains(&b) {
            vec![b'\\', b]
        } else {
            vec![b]
        }
    };
    text.iter().flat_map(byte).collect()
}
