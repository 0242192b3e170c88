//! How a record names its schema: an id in a header or before the body, and where the body begins.

use std::borrow::Cow;

use thiserror::Error;

use crate::config::{Framing, StreamSpec, SubjectSelection};
use crate::record::Header;
use crate::schema::{ApicurioId, Role, SchemaId, Subject};

/// Knows how one half of a stream's records names its schema.
#[derive(Debug)]
pub(super) struct Wire {
    framing: Framing,
    role: Role,
    /// What a record has that names none.
    subject: Subject,
    /// Behind the id in Confluent's header may stand message indexes, and 0 bytes are a message.
    is_protobuf: bool,
}

/// Says which schema a body has, and where in the bytes the body begins.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Frame {
    pub(super) id: SchemaId,
    pub(super) start: usize,
}

/// Says what a record lacks that its framing promises.
#[derive(Debug, Error, Clone, PartialEq, Eq)]
pub enum FrameError {
    #[error(
        "expected {expected} at the start, found {found}: the query's `framing` may be another one"
    )]
    Start {
        expected: &'static str,
        found: &'static str,
    },
    #[error(
        "expected the header `{name}` to have {expected}, found {found} bytes that are something else"
    )]
    Header {
        name: &'static str,
        expected: &'static str,
        found: usize,
    },
    #[error(
        "expected a header that names the schema, such as `{name}`, found none: the query's `framing` may be another one"
    )]
    NoHeader { name: &'static str },
    #[error("expected 00 (none) or 05 (zlib) as compression, found {found:02x}")]
    Compression { found: u8 },
    #[error("the compressed body is no whole zlib stream of at most {} MiB", MAX_INFLATED >> 20)]
    Inflate,
}

impl Wire {
    /// Knows what `framing` and `selection` say about one half of the records of `spec`.
    pub(super) fn new(
        spec: &StreamSpec,
        role: Role,
        framing: Framing,
        selection: &SubjectSelection,
    ) -> Self {
        Self {
            framing,
            role,
            subject: selection.subject(&spec.topic, role),
            is_protobuf: false,
        }
    }

    /// Reads what Protobuf's serializers write.
    pub(super) fn of_protobuf(self) -> Self {
        Self {
            is_protobuf: true,
            ..self
        }
    }

    /// Gives the message indexes in Confluent's header, where there is such a header.
    pub(super) fn header_indexes<'a>(&self, headers: &[Header<'a>]) -> Option<&'a [u8]> {
        if headers.is_empty() || !matches!(self.framing, Framing::Auto | Framing::ConfluentHeader) {
            return None;
        }
        let value = find(headers, header_name(self.role, CONFLUENT_HEADERS))?;
        confluent_header(value).map(|(_, indexes)| indexes)
    }

    /// Finds the schema that a record names, for a registry.
    pub(super) fn frame(&self, bytes: &[u8], headers: &[Header<'_>]) -> Result<Frame, FrameError> {
        if let Some(id) = self.header_id(headers)? {
            return Ok(Frame { id, start: 0 });
        }
        let may_be_empty = self.framing == Framing::Auto && self.is_protobuf;
        if bytes.is_empty() && self.framing != Framing::None && !may_be_empty {
            return Err(FrameError::Start {
                expected: "a schema id",
                found: "0 bytes",
            });
        }
        let raw = || Frame {
            id: SchemaId::Latest(Subject::clone(&self.subject)),
            start: 0,
        };
        match self.framing {
            Framing::None => Ok(raw()),
            Framing::Auto => Ok(apicurio(bytes)
                .filter(|_| confluent(bytes).is_some_and(|frame| frame.id == SchemaId::Id(0)))
                .or_else(|| confluent(bytes))
                .unwrap_or_else(raw)),
            Framing::Confluent => confluent(bytes).ok_or(START_CONFLUENT),
            Framing::Apicurio => apicurio(bytes).ok_or(START_APICURIO),
            Framing::ConfluentHeader => Err(FrameError::NoHeader {
                name: header_name(self.role, CONFLUENT_HEADERS),
            }),
            Framing::Glue => Err(START_GLUE),
        }
    }

    /// Finds the body of a record whose schema stands in the query. With [`Framing::Auto`] it may begin at the other place too,
    /// where there is one.
    #[inline]
    pub(super) fn body(
        &self,
        bytes: &[u8],
        headers: &[Header<'_>],
    ) -> Result<(Body, Option<Body>), FrameError> {
        // Most records of such a query have no frame, and show it by their first byte.
        if self.framing == Framing::Auto && !matches!(bytes, [0 | 3, ..]) && headers.is_empty() {
            return Ok((Body::At(0), None));
        }
        self.framed_body(bytes, headers)
    }

    fn framed_body(
        &self,
        bytes: &[u8],
        headers: &[Header<'_>],
    ) -> Result<(Body, Option<Body>), FrameError> {
        let only = |body| Ok((body, None));
        match self.framing {
            Framing::None | Framing::ConfluentHeader => only(Body::At(0)),
            Framing::Confluent => {
                let frame = confluent(bytes).ok_or(START_CONFLUENT)?;
                only(Body::At(frame.start))
            }
            Framing::Glue => only(glue(bytes).ok_or(START_GLUE)??),
            Framing::Auto | Framing::Apicurio if self.has_header(headers) => only(Body::At(0)),
            Framing::Apicurio => {
                let frame = apicurio(bytes).ok_or(START_APICURIO)?;
                only(Body::At(frame.start))
            }
            Framing::Auto => {
                let framed = confluent(bytes).map(|frame| Body::At(frame.start));
                let framed = framed.or_else(|| glue(bytes).and_then(Result::ok));
                Ok((Body::At(0), framed))
            }
        }
    }

    fn has_header(&self, headers: &[Header<'_>]) -> bool {
        matches!(self.header_id(headers), Ok(Some(_)))
    }

    fn header_id(&self, headers: &[Header<'_>]) -> Result<Option<SchemaId>, FrameError> {
        if headers.is_empty() {
            return Ok(None);
        }
        if matches!(self.framing, Framing::Auto | Framing::ConfluentHeader) {
            let name = header_name(self.role, CONFLUENT_HEADERS);
            if let Some(value) = find(headers, name) {
                return match confluent_header(value) {
                    Some((id, indexes)) if indexes.is_empty() || self.is_protobuf => Ok(Some(id)),
                    _ => Err(FrameError::Header {
                        name,
                        expected: "01 and a GUID of 16 bytes",
                        found: value.len(),
                    }),
                };
            }
        }
        if matches!(self.framing, Framing::Auto | Framing::Apicurio) {
            for (names, kind) in APICURIO_HEADERS {
                let name = header_name(self.role, names);
                let Some(value) = find(headers, name) else {
                    continue;
                };
                let Ok(id) = value.try_into().map(u64::from_be_bytes) else {
                    return Err(FrameError::Header {
                        name,
                        expected: "an id of 8 bytes",
                        found: value.len(),
                    });
                };
                return Ok(Some(SchemaId::Apicurio { kind, id }));
            }
        }
        Ok(None)
    }
}

/// Says where a record's body is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Body {
    /// From this byte to the end.
    At(usize),
    /// From this byte to the end, compressed by zlib.
    Zlib(usize),
}

impl Body {
    /// Unpacks a body that is compressed; gives `None` where it is not, and stands in the record as it is.
    pub(super) fn inflated(self, bytes: &[u8]) -> Result<Option<Vec<u8>>, FrameError> {
        let Self::Zlib(start) = self else {
            return Ok(None);
        };
        miniz_oxide::inflate::decompress_to_vec_zlib_with_limit(&bytes[start..], MAX_INFLATED)
            .map(Some)
            .map_err(|_| FrameError::Inflate)
    }
}

/// Takes off what a JSON Schema serializer writes around a text: no JSON begins with 00, and none with 03.
#[inline]
pub(super) fn without_frame(bytes: &[u8]) -> Result<Cow<'_, [u8]>, FrameError> {
    match bytes {
        [0 | 3, ..] => unframed(bytes),
        _ => Ok(Cow::Borrowed(bytes)),
    }
}

fn unframed(bytes: &[u8]) -> Result<Cow<'_, [u8]>, FrameError> {
    let body = match bytes {
        [0, 0, 0, 0, 0, ..] if bytes.len() >= APICURIO_BYTES => Body::At(APICURIO_BYTES),
        [0, ..] if bytes.len() >= CONFLUENT_BYTES => Body::At(CONFLUENT_BYTES),
        [3, 0 | 5, ..] => glue(bytes).transpose()?.unwrap_or(Body::At(0)),
        _ => Body::At(0),
    };
    Ok(match (body.inflated(bytes)?, body) {
        (Some(unpacked), _) => Cow::Owned(unpacked),
        (None, Body::At(start) | Body::Zlib(start)) => Cow::Borrowed(&bytes[start..]),
    })
}

fn confluent(bytes: &[u8]) -> Option<Frame> {
    let ([0, id @ ..], _) = bytes.split_first_chunk::<CONFLUENT_BYTES>()? else {
        return None;
    };
    let id = SchemaId::Id(u32::from_be_bytes(*id));
    Some(Frame {
        id,
        start: CONFLUENT_BYTES,
    })
}

fn apicurio(bytes: &[u8]) -> Option<Frame> {
    let ([0, id @ ..], _) = bytes.split_first_chunk::<APICURIO_BYTES>()? else {
        return None;
    };
    let (kind, id) = (ApicurioId::Global, u64::from_be_bytes(*id));
    Some(Frame {
        id: SchemaId::Apicurio { kind, id },
        start: APICURIO_BYTES,
    })
}

/// Gives a header's value; where a serializer ran twice, the later header is the one that counts.
fn find<'a>(headers: &[Header<'a>], name: &str) -> Option<&'a [u8]> {
    let found = headers.iter().rev().find(|h| h.name == name.as_bytes());
    found.and_then(|header| header.value)
}

/// Reads the id, and gives what stands behind it.
fn confluent_header(value: &[u8]) -> Option<(SchemaId, &[u8])> {
    match value {
        [1, rest @ ..] => {
            let (guid, rest) = rest.split_first_chunk()?;
            Some((SchemaId::Guid(*guid), rest))
        }
        [0, rest @ ..] => {
            let (id, rest) = rest.split_first_chunk()?;
            Some((SchemaId::Id(u32::from_be_bytes(*id)), rest))
        }
        _ => None,
    }
}

fn glue(bytes: &[u8]) -> Option<Result<Body, FrameError>> {
    let ([3, compression, ..], _) = bytes.split_first_chunk::<GLUE_BYTES>()? else {
        return None;
    };
    Some(match *compression {
        0 => Ok(Body::At(GLUE_BYTES)),
        5 => Ok(Body::Zlib(GLUE_BYTES)),
        found => Err(FrameError::Compression { found }),
    })
}

fn header_name(role: Role, [key, value]: [&'static str; 2]) -> &'static str {
    match role {
        Role::Key => key,
        Role::Value => value,
    }
}

/// For keys and for values.
const CONFLUENT_HEADERS: [&str; 2] = ["__key_schema_id", "__value_schema_id"];
const APICURIO_HEADERS: [([&str; 2], ApicurioId); 2] = [
    (
        ["apicurio.key.globalId", "apicurio.value.globalId"],
        ApicurioId::Global,
    ),
    (
        ["apicurio.key.contentId", "apicurio.value.contentId"],
        ApicurioId::Content,
    ),
];
const START_CONFLUENT: FrameError = FrameError::Start {
    expected: "00 and a schema id of 4 bytes",
    found: OTHER,
};
const START_APICURIO: FrameError = FrameError::Start {
    expected: "00 and a schema id of 8 bytes",
    found: OTHER,
};
const START_GLUE: FrameError = FrameError::Start {
    expected: "03, a compression and a schema version of 16 bytes",
    found: OTHER,
};
const OTHER: &str = "other bytes";
/// What stands before the body: a magic byte and an id.
const CONFLUENT_BYTES: usize = 5;
const APICURIO_BYTES: usize = 9;
/// A magic byte, the compression and the version's UUID.
const GLUE_BYTES: usize = 18;
/// The most that a body may unpack to.
const MAX_INFLATED: usize = 16 << 20;

#[cfg(test)]
mod tests;
