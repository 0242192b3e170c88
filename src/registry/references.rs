//! What a schema builds on, to any depth: dependencies first, each once.

use std::collections::{HashMap, HashSet};
use std::fmt;
use std::vec::IntoIter;

use super::errors::Cause;
use super::http::Http;
use super::{apicurio, confluent};
use crate::schema::{Reference, SchemaKind, SchemaText};

const MAX_DEPTH: usize = 32;
const MAX_REFERENCES: usize = 256;
const MAX_BYTES: usize = 4 << 20;

/// Is a schema as one request gives it.
pub(super) struct Found {
    pub(super) kind: SchemaKind,
    pub(super) text: String,
    pub(super) links: Vec<Link>,
}

/// Is what a schema calls another one, and where that is.
pub(super) struct Link {
    pub(super) name: String,
    pub(super) place: Place,
}

/// Is one version of one schema in a registry.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub(super) enum Place {
    Subject {
        subject: String,
        version: i64,
    },
    Artifact {
        group: String,
        artifact: String,
        version: String,
    },
}

impl fmt::Display for Place {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Subject { subject, version } => write!(f, "{subject}, version {version}"),
            Self::Artifact {
                group,
                artifact,
                version,
            } => write!(f, "{group}/{artifact}, version {version}"),
        }
    }
}

/// Is a schema whose references are being followed.
struct Open {
    name: String,
    place: Option<Place>,
    text: String,
    links: IntoIter<Link>,
}

/// Fetches everything that `found` builds on. A JSON value is read without its schema, whose references stay unread.
pub(super) async fn resolve(http: &Http, found: Found) -> Result<SchemaText, Cause> {
    let kind = found.kind;
    if kind == SchemaKind::Json {
        return Ok(SchemaText {
            kind,
            text: found.text,
            references: Vec::new(),
        });
    }
    let mut walk = Walk::default();
    let mut open = vec![Open {
        name: String::new(),
        place: None,
        text: found.text,
        links: found.links.into_iter(),
    }];
    loop {
        let Some(innermost) = open.last_mut() else {
            return Err(Cause::BrokenOff);
        };
        if let Some(link) = innermost.links.next() {
            let path = open.iter().filter_map(|open| open.place.as_ref());
            if let Some(next) = walk.follow(http, link, path).await? {
                open.push(next);
            }
            continue;
        }
        let Some(done) = open.pop() else {
            return Err(Cause::BrokenOff);
        };
        if open.is_empty() {
            return Ok(SchemaText {
                kind,
                text: done.text,
                references: walk.references,
            });
        }
        walk.close(done);
    }
}

/// Is what was followed so far.
#[derive(Default)]
struct Walk {
    references: Vec<Reference>,
    names: HashSet<String>,
    /// By place: the text, since another schema may call the same one by another name.
    texts: HashMap<Place, String>,
    bytes: usize,
}

impl Walk {
    /// Fetches what a link leads to, unless it is there; `path` are the places that led here.
    async fn follow<'a>(
        &mut self,
        http: &Http,
        link: Link,
        path: impl Iterator<Item = &'a Place>,
    ) -> Result<Option<Open>, Cause> {
        let Link { name, place } = link;
        let mut depth = 0;
        for above in path {
            depth += 1;
            if *above == place {
                return Err(Cause::Cycle {
                    place: place.to_string(),
                });
            }
        }
        if depth >= MAX_DEPTH {
            return Err(Cause::TooDeep { limit: MAX_DEPTH });
        }
        if let Some(text) = self.texts.get(&place) {
            let text = text.clone();
            self.add(name, text);
            return Ok(None);
        }
        let fetched = match &place {
            Place::Subject { subject, version } => {
                confluent::version(http, subject, *version).await
            }
            Place::Artifact {
                group,
                artifact,
                version,
            } => apicurio::version(http, group, artifact, version).await,
        };
        let fetched = fetched.map_err(|cause| Cause::Reference {
            place: place.to_string(),
            cause: Box::new(cause),
        })?;
        self.bytes += fetched.text.len();
        // What is open counts by its depth.
        if self.texts.len() + depth >= MAX_REFERENCES || self.bytes > MAX_BYTES {
            return Err(Cause::TooMany {
                limit: MAX_REFERENCES,
                bytes: MAX_BYTES,
            });
        }
        Ok(Some(Open {
            name,
            place: Some(place),
            text: fetched.text,
            links: fetched.links.into_iter(),
        }))
    }

    /// Takes a schema all of whose references are there.
    fn close(&mut self, done: Open) {
        if let Some(place) = done.place {
            self.texts.insert(place, done.text.clone());
        }
        self.add(done.name, done.text);
    }

    fn add(&mut self, name: String, text: String) {
        if self.names.insert(name.clone()) {
            self.references.push(Reference { name, text });
        }
    }
}
