//! How a record says which message of its schema it holds: what stands between the schema's id and the message.

use std::fmt;

use super::scalar::zigzag;
use super::wire::{Cursor, Wire};

/// Is a way to name the message.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Form {
    /// A count and as many indexes, all zigzag varints; `00` stands for the first message.
    Zigzag,
    /// The same in plain varints, as some clients wrote.
    Plain,
    /// Nothing: the body begins at once.
    Bare,
    /// Apicurio's: a message of its own, with the name.
    Named,
    /// Glue's: one number, the place among all messages of the schema in the order of their names.
    Sorted,
}

/// Is what a record says of its message.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Choice<'a> {
    /// The message's place in the schema, and in the messages that it is nested in.
    Path(Vec<usize>),
    Name(&'a str),
    Sorted(usize),
    /// What the query says, or the schema's first.
    Default,
}

impl fmt::Display for Choice<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Path(path) => {
                let places: Vec<_> = path.iter().map(ToString::to_string).collect();
                f.write_str(&places.join("."))
            }
            Self::Name(name) => f.write_str(name),
            Self::Sorted(place) => place.fmt(f),
            Self::Default => f.write_str("0"),
        }
    }
}

/// Is the frame that a record has around its message.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Frame {
    None,
    Confluent,
    /// Confluent's header: the indexes stand there too.
    Header,
    Apicurio,
    Glue,
}

impl Frame {
    /// Tells a frame by the bytes that it takes.
    pub(super) fn of_len(len: usize) -> Self {
        match len {
            0 => Self::None,
            5 => Self::Confluent,
            9 => Self::Apicurio,
            _ => Self::Glue,
        }
    }

    /// Gives the ways in which records with this frame name their message, the likeliest first. `is_chosen` says that the query
    /// names it.
    pub(super) fn forms(self, is_chosen: bool) -> &'static [Form] {
        match self {
            Self::None => &[Form::Bare],
            Self::Confluent if is_chosen => &[Form::Zigzag, Form::Plain, Form::Named, Form::Bare],
            Self::Confluent => &[Form::Zigzag, Form::Plain, Form::Named],
            Self::Header => &[Form::Zigzag, Form::Plain, Form::Bare],
            Self::Apicurio => &[Form::Named, Form::Bare, Form::Zigzag],
            Self::Glue => &[Form::Sorted, Form::Bare],
        }
    }
}

impl Form {
    /// Reads what `lead` begins with: gives the message, and how many bytes that took; `None` where nothing of the kind does.
    pub(super) fn read(self, lead: &[u8]) -> Option<(Choice<'_>, usize)> {
        let mut cursor = Cursor::new(lead, 0);
        let choice = match self {
            Self::Bare => Choice::Default,
            Self::Zigzag => indexes(&mut cursor, zigzag)?,
            Self::Plain => indexes(&mut cursor, |value| i64::try_from(value).unwrap_or(-1))?,
            Self::Named => {
                let end = cursor.open("a length").ok()?;
                let name = match cursor.tag() {
                    Ok((1, Wire::Len)) => cursor.bytes("a name's length").ok()?,
                    _ => return None,
                };
                if !cursor.is_at_end() || name.is_empty() {
                    return None;
                }
                cursor.close(end);
                Choice::Name(std::str::from_utf8(name).ok()?)
            }
            Self::Sorted => Choice::Sorted(cursor.varint("an index").ok()?.try_into().ok()?),
        };
        Some((choice, cursor.pos))
    }
}

fn indexes<'a>(cursor: &mut Cursor<'_>, number: impl Fn(u64) -> i64) -> Option<Choice<'a>> {
    let mut next = || {
        let value = number(cursor.varint("an index").ok()?);
        usize::try_from(value).ok()
    };
    let count = next().filter(|&count| count <= MAX_INDEXES)?;
    if count == 0 {
        return Some(Choice::Path(vec![0]));
    }
    (0..count)
        .map(|_| next())
        .collect::<Option<_>>()
        .map(Choice::Path)
}

/// How deep the messages of a schema nest in each other, at most.
const MAX_INDEXES: usize = 32;
