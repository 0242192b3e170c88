//! Topic names, and which of them an administrator lets through.

use std::fmt;

use globset::{Glob, GlobSet, GlobSetBuilder};
use thiserror::Error;

/// Kafka's own limit.
const MAX_LENGTH: usize = 249;

/// Is a name that Kafka could give a topic: 1 to 249 of `a-z A-Z 0-9 . _ -`, and neither `.` nor `..`.
#[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct TopicName(String);

/// Says why a text is no topic name.
#[derive(Debug, Error, PartialEq, Eq)]
pub enum TopicNameError {
    #[error("choose a topic: `topicName` is empty")]
    Empty,
    #[error("a topic name has at most {MAX_LENGTH} characters, this one has {0}")]
    TooLong(usize),
    #[error(
        "`{name}` cannot be a topic: a name takes letters, digits, `.`, `_` and `-`, and this one has {found:?}; \
         a template variable must be defined in the dashboard"
    )]
    Character { name: String, found: char },
    #[error("`{0}` cannot be a topic: Kafka keeps that name")]
    Reserved(String),
}

impl TopicName {
    /// Checks `name`; white space around it is dropped.
    pub fn parse(name: &str) -> Result<Self, TopicNameError> {
        let name = name.trim();
        if name.is_empty() {
            return Err(TopicNameError::Empty);
        }
        let allowed = |c: char| c.is_ascii_alphanumeric() || matches!(c, '.' | '_' | '-');
        if let Some(found) = name.chars().find(|&c| !allowed(c)) {
            return Err(TopicNameError::Character {
                name: shortened(name),
                found,
            });
        }
        if name.len() > MAX_LENGTH {
            return Err(TopicNameError::TooLong(name.len()));
        }
        if matches!(name, "." | "..") {
            return Err(TopicNameError::Reserved(name.to_owned()));
        }
        Ok(Self(name.to_owned()))
    }

    /// Gives the name.
    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// Tells whether Kafka or its tools keep the topic for themselves (`__consumer_offsets` and the like).
    pub fn is_internal(&self) -> bool {
        self.0.starts_with("__")
    }
}

impl fmt::Display for TopicName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

/// Keeps an error readable when somebody pastes a page into the topic field.
fn shortened(name: &str) -> String {
    if name.chars().count() <= MAX_LENGTH {
        return name.to_owned();
    }
    name.chars().take(MAX_LENGTH).chain(['…']).collect()
}

/// Says which topics this data source shows: `topicAllow` and `topicDeny`, an administrator's globs.
///
/// It is asked before anything else in queries, streams and resources.
#[derive(Debug, Clone, Default)]
pub struct TopicPolicy {
    /// `None` lets every topic through.
    allow: Option<GlobSet>,
    deny: GlobSet,
}

impl TopicPolicy {
    /// Compiles both lists; an empty `allow` allows every topic, and `deny` wins over it.
    ///
    /// The error is the position in the list of the glob that does not compile, counted from 1.
    pub(super) fn compile(allow: &[String], deny: &[String]) -> Result<Self, BadGlob> {
        let allow = match allow {
            [] => None,
            globs => Some(compile("topicAllow", globs)?),
        };
        Ok(Self {
            allow,
            deny: compile("topicDeny", deny)?,
        })
    }

    /// Tells whether `topic` may be read and listed.
    pub fn permits(&self, topic: &str) -> bool {
        self.allow
            .as_ref()
            .is_none_or(|allow| allow.is_match(topic))
            && !self.deny.is_match(topic)
    }
}

/// Names the list and the place of a glob that does not compile.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct BadGlob {
    pub(super) key: &'static str,
    pub(super) position: usize,
}

fn compile(key: &'static str, globs: &[String]) -> Result<GlobSet, BadGlob> {
    let mut set = GlobSetBuilder::new();
    for (i, glob) in globs.iter().enumerate() {
        set.add(Glob::new(glob).map_err(|_| BadGlob {
            key,
            position: i + 1,
        })?);
    }
    set.build().map_err(|_| BadGlob { key, position: 1 })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names() {
        let long = "t".repeat(MAX_LENGTH + 1);
        for (text, want) in [
            ("orders", Ok("orders")),
            ("  orders.v1_x-y ", Ok("orders.v1_x-y")),
            ("", Err(TopicNameError::Empty)),
            ("  ", Err(TopicNameError::Empty)),
            (".", Err(TopicNameError::Reserved(".".into()))),
            ("..", Err(TopicNameError::Reserved("..".into()))),
            (
                "a/b",
                Err(TopicNameError::Character {
                    name: "a/b".into(),
                    found: '/',
                }),
            ),
            (
                "$topic",
                Err(TopicNameError::Character {
                    name: "$topic".into(),
                    found: '$',
                }),
            ),
            (long.as_str(), Err(TopicNameError::TooLong(MAX_LENGTH + 1))),
        ] {
            let got = TopicName::parse(text);
            assert_eq!(
                got.as_ref().map(TopicName::as_str),
                want.as_ref().copied(),
                "{text:?}"
            );
        }
    }

    #[test]
    fn policy() {
        let globs = |text: &[&str]| text.iter().map(|&s| s.to_owned()).collect::<Vec<_>>();
        for (allow, deny, topic, want) in [
            (&[][..], &[][..], "orders", true),
            (&["orders*"], &[], "orders.eu", true),
            (&["orders*"], &[], "payments", false),
            (&["*"], &["secret.*"], "secret.keys", false),
            (&["{orders,payments}"], &[], "payments", true),
            (&["a?c"], &[], "abc", true),
            (&[], &["__*"], "__consumer_offsets", false),
        ] {
            let policy = TopicPolicy::compile(&globs(allow), &globs(deny)).unwrap();
            assert_eq!(policy.permits(topic), want, "{allow:?} {deny:?} {topic}");
        }
        let bad = TopicPolicy::compile(&globs(&["ok", "[z-a"]), &[]).unwrap_err();
        assert_eq!(
            bad,
            BadGlob {
                key: "topicAllow",
                position: 2
            }
        );
    }
}
