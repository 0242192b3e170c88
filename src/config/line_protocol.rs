//! How line protocol is read: the layout of rows, the unit of timestamps, and three filters.

use std::collections::HashSet;
use std::fmt;
use std::sync::Arc;

use regex::Error;
use regex::bytes::{RegexBuilder, RegexSet, RegexSetBuilder};
use serde::{Deserialize, Serialize};

/// Says how line protocol records are read. A line, or a field of one, is shown where all three filters let it pass.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LineProtocolOptions {
    pub layout: LineProtocolLayout,
    pub precision: LineTimeUnit,
    pub measurements: NameFilter,
    pub fields: NameFilter,
    pub tags: TagFilter,
}

/// Says what a row is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum LineProtocolLayout {
    /// One field of a line, its name in a column.
    #[default]
    Long,
    /// One moment, with a column for each measurement, tag set and field.
    Wide,
}

/// Says what a timestamp counts.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum LineTimeUnit {
    /// By magnitude: from 1e18 on nanoseconds, from 1e15 microseconds, from 1e12 milliseconds, else seconds.
    #[default]
    Auto,
    Ns,
    #[serde(alias = "µs", alias = "μs")]
    Us,
    Ms,
    S,
}

/// Lets names pass that one of its entries matches from end to end; without entries it lets everything pass.
#[derive(Clone, Default)]
pub struct NameFilter {
    text: Arc<str>,
    entries: Arc<Entries>,
}

/// Lets a line pass whose tags match: one entry of each tag that is named.
#[derive(Clone, Default)]
pub struct TagFilter {
    text: Arc<str>,
    tags: Arc<[(Box<[u8]>, Entries)]>,
    odd: Arc<[String]>,
}

/// Is a filter's entries, compiled once.
#[derive(Debug, Default)]
struct Entries {
    /// What an entry matches literally; a name with a bracket in it need not be written as a regular expression.
    literal: HashSet<Box<[u8]>>,
    patterns: RegexSet,
    /// What is wrong with entries.
    odd: Vec<String>,
}

impl NameFilter {
    /// Compiles entries that stand between commas, each a name or a regular expression. One that is no regular expression
    /// matches its own text. The error says which limit is passed.
    pub fn parse(text: &str) -> Result<Self, String> {
        let entries = split(text)?;
        Ok(Self {
            text: text.trim().into(),
            entries: Arc::new(Entries::compile(&entries)?),
        })
    }

    pub fn text(&self) -> &str {
        &self.text
    }

    /// Tells whether everything passes.
    pub(crate) fn is_empty(&self) -> bool {
        self.entries.is_empty()
    }

    /// Tells whether `name` passes.
    pub(crate) fn passes(&self, name: &[u8]) -> bool {
        self.entries.is_empty() || self.entries.matches(name)
    }

    /// Says what is wrong with entries.
    pub(crate) fn odd(&self) -> &[String] {
        &self.entries.odd
    }
}

impl TagFilter {
    /// Compiles entries `key=regular expression` that stand between commas; those of one key are alternatives. One without a
    /// value, or without `=`, is passed over. The error says which limit is passed.
    pub fn parse(text: &str) -> Result<Self, String> {
        let (mut tags, mut odd) = (Vec::<(&str, Vec<&str>)>::new(), Vec::new());
        for entry in split(text)? {
            let Some((key, pattern)) = entry.split_once('=') else {
                odd.push(format!("`{entry}` is no `tag=value`, and was passed over"));
                continue;
            };
            let (key, pattern) = (key.trim(), pattern.trim());
            if pattern.is_empty() {
                continue;
            }
            match tags.iter_mut().find(|(known, _)| *known == key) {
                Some((_, patterns)) => patterns.push(pattern),
                None => tags.push((key, vec![pattern])),
            }
        }
        let tags: Vec<_> = tags
            .into_iter()
            .map(|(key, patterns)| Ok((key.as_bytes().into(), Entries::compile(&patterns)?)))
            .collect::<Result<_, String>>()?;
        odd.extend(tags.iter().flat_map(|(_, entries)| entries.odd.clone()));
        Ok(Self {
            text: text.trim().into(),
            tags: tags.into(),
            odd: odd.into(),
        })
    }

    pub fn text(&self) -> &str {
        &self.text
    }

    /// Tells whether everything passes.
    pub(crate) fn is_empty(&self) -> bool {
        self.tags.is_empty()
    }

    /// Tells whether a line passes; `with_tag` gives what a test says of a tag's value, and false where the line has no such
    /// tag.
    pub(crate) fn passes(
        &self,
        mut with_tag: impl FnMut(&[u8], &dyn Fn(&[u8]) -> bool) -> bool,
    ) -> bool {
        self.tags
            .iter()
            .all(|(key, entries)| with_tag(key, &|value| entries.matches(value)))
    }

    /// Says what is wrong with entries.
    pub(crate) fn odd(&self) -> &[String] {
        &self.odd
    }
}

impl Entries {
    fn compile(entries: &[&str]) -> Result<Self, String> {
        let (mut patterns, mut odd) = (Vec::new(), Vec::new());
        for entry in entries {
            if !entry.contains(is_special) {
                continue;
            }
            let pattern = format!("^(?:{entry})$");
            let check = |pattern| {
                RegexBuilder::new(pattern)
                    .size_limit(MAX_COMPILED_BYTES)
                    .build()
            };
            // By itself, too: `a)|(b` is only one within the parentheses.
            match check(entry).and_then(|_| check(&pattern)) {
                Ok(_) => patterns.push(pattern),
                Err(Error::CompiledTooBig(_)) => return Err(TOO_LARGE.to_owned()),
                Err(_) => odd.push(format!(
                    "`{entry}` is no regular expression, and matches this text alone"
                )),
            }
        }
        let patterns = RegexSetBuilder::new(patterns)
            .size_limit(MAX_COMPILED_BYTES)
            .build()
            .map_err(|_| TOO_LARGE.to_owned())?;
        Ok(Self {
            literal: entries
                .iter()
                .map(|entry| entry.as_bytes().into())
                .collect(),
            patterns,
            odd,
        })
    }

    fn is_empty(&self) -> bool {
        self.literal.is_empty()
    }

    fn matches(&self, name: &[u8]) -> bool {
        self.literal.contains(name) || (!self.patterns.is_empty() && self.patterns.is_match(name))
    }
}

/// Tells the characters that mean something in a regular expression.
fn is_special(c: char) -> bool {
    r".+*?()|[]{}^$\".contains(c)
}

/// Splits at commas, but not at those within a regular expression's brackets (`x{1,3}`, `[a,b]`, `(a,b)`) or behind a
/// backslash. Where brackets are not closed every comma splits, as in a plain list of names.
fn split(text: &str) -> Result<Vec<&str>, String> {
    if text.len() > MAX_TEXT {
        return Err(format!(
            "it has {} KiB, and at most {} KiB are read",
            text.len() / 1024,
            MAX_TEXT / 1024
        ));
    }
    let (mut depth, mut class, mut escaped) = (0_u32, None, false);
    let mut splits = |c: char| {
        if std::mem::take(&mut escaped) {
            return false;
        }
        match c {
            '\\' => escaped = true,
            // The first `]` of a class is one of its characters.
            '^' | ']' if class == Some(0) => class = Some(u8::from(c == ']')),
            ']' if class.is_some() => class = None,
            _ if class.is_some() => class = Some(1),
            '[' => class = Some(0),
            '(' | '{' => depth += 1,
            ')' | '}' => depth = depth.saturating_sub(1),
            ',' => return depth == 0,
            _ => {}
        }
        false
    };
    let within: Vec<&str> = text.split(&mut splits).collect();
    let entries = if depth == 0 && class.is_none() {
        within
    } else {
        text.split(',').collect()
    };
    let entries: Vec<&str> = entries
        .into_iter()
        .map(str::trim)
        .filter(|entry| !entry.is_empty())
        .collect();
    if entries.len() > MAX_ENTRIES {
        return Err(format!(
            "it has {} entries, and at most {MAX_ENTRIES} are read",
            entries.len()
        ));
    }
    Ok(entries)
}

impl PartialEq for NameFilter {
    fn eq(&self, other: &Self) -> bool {
        self.text == other.text
    }
}

impl Eq for NameFilter {}

impl PartialEq for TagFilter {
    fn eq(&self, other: &Self) -> bool {
        self.text == other.text
    }
}

impl Eq for TagFilter {}

impl fmt::Debug for NameFilter {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("NameFilter").field(&self.text).finish()
    }
}

impl fmt::Debug for TagFilter {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("TagFilter").field(&self.text).finish()
    }
}

const MAX_TEXT: usize = 16 * 1024;
const MAX_ENTRIES: usize = 200;
/// What the compiled patterns of one filter may take.
const MAX_COMPILED_BYTES: usize = 1 << 20;
const TOO_LARGE: &str = "its regular expressions are too large";

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names() {
        for (text, passes, fails) in [
            ("", &["", "cpu", "anything"][..], &[][..]),
            (" , ", &["cpu"], &[]),
            ("cpu", &["cpu"], &["cpu0", "xcpu", "CPU", ""]),
            ("cpu, mem", &["cpu", "mem"], &["cpu, mem"]),
            ("cpu.*", &["cpu", "cpu-total"], &["mem"]),
            ("c|m", &["c", "m"], &["cm", "cx"]),
            ("(?i)cpu,mem", &["CPU", "mem"], &["MEM"]),
            // Commas in a regular expression.
            ("d{1,3},x", &["d", "ddd", "x"], &["dddd", "d{1"]),
            ("[a,b]c", &["ac", ",c"], &["a"]),
            ("[],(]+", &["],(("], &["x"]),
            (r"a\,b", &["a,b"], &["a", "b"]),
            ("(a,b|c)", &["a,b", "c"], &["a"]),
            // What is no regular expression is a text.
            ("cpu(,mem", &["cpu(", "mem"], &["cpu"]),
            ("*", &["*"], &["x"]),
            ("a)|(b", &["a)|(b"], &["a", "b"]),
            // And a text may look like one.
            ("f(x)", &["f(x)", "fx"], &["f"]),
            ("temp [°C]", &["temp [°C]", "temp C"], &["temp"]),
        ] {
            let filter = NameFilter::parse(text).unwrap();
            for (names, want) in [(passes, true), (fails, false)] {
                for name in names {
                    assert_eq!(filter.passes(name.as_bytes()), want, "{text}: {name}");
                }
            }
        }
    }

    #[test]
    fn tags() {
        let lines: [&[(&str, &str)]; 4] = [
            &[],
            &[("host", "a")],
            &[("host", "b"), ("dc", "eu,west")],
            &[("host", "a"), ("dc", "us")],
        ];
        for (text, want) in [
            ("", [true; 4]),
            ("host=", [true; 4]),
            ("host", [true; 4]),
            ("host=a", [false, true, false, true]),
            (" host = a|b ", [false, true, true, true]),
            ("host=a,host=b", [false, true, true, true]),
            ("host=a,dc=.*", [false, false, false, true]),
            ("dc=(eu,west)", [false, false, true, false]),
            ("dc=(eu,(west)", [false; 4]),
        ] {
            let filter = TagFilter::parse(text).unwrap();
            let got = lines.map(|tags| {
                filter.passes(|key, test| {
                    tags.iter()
                        .any(|(k, v)| k.as_bytes() == key && test(v.as_bytes()))
                })
            });
            assert_eq!(got, want, "{text}");
        }
    }

    #[test]
    fn odd_entries_are_named() {
        let odd = |text| NameFilter::parse(text).unwrap().odd().to_vec();
        assert!(odd("cpu,mem.*").is_empty());
        assert_eq!(
            odd("cpu(,mem"),
            ["`cpu(` is no regular expression, and matches this text alone"]
        );
        let odd = TagFilter::parse("host,dc=*").unwrap().odd().to_vec();
        assert_eq!(
            odd,
            [
                "`host` is no `tag=value`, and was passed over",
                "`*` is no regular expression, and matches this text alone"
            ]
        );
    }

    #[test]
    fn bounds() {
        for (text, want) in [
            ("x".repeat(MAX_TEXT + 1), "KiB are read"),
            ("x,".repeat(MAX_ENTRIES + 1), "at most 200 are read"),
            (r"\w{99},".repeat(99), "too large"),
        ] {
            let error = NameFilter::parse(&text).unwrap_err();
            assert!(error.contains(want), "{error}");
        }
    }
}
