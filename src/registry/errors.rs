//! Why there is no schema, in words: what was asked for, where, what came and what to do.

use std::time::Duration;

use thiserror::Error;

use crate::config::RegistryFault;
use crate::schema::SchemaFault;

/// Says which schema could not be had, and why. No text has a credential or a payload in it.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
#[error("{what}: {cause}")]
pub struct RegistryError {
    pub what: String,
    pub cause: Cause,
}

impl From<RegistryError> for SchemaFault {
    fn from(error: RegistryError) -> Self {
        Self::new(error.to_string())
    }
}

/// Says why a registry gave no answer, or none that can be used; `at` is an address, without query and credentials.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
pub enum Cause {
    #[error(
        "no schema registry is configured: set `schemaRegistryUrl` in the data source's settings, or use an inline schema"
    )]
    NotConfigured,
    #[error(transparent)]
    Settings(#[from] RegistryFault),
    #[error("{0}")]
    Material(String),
    #[error("{at} cannot be reached: {reason}")]
    Unreachable { at: String, reason: String },
    #[error("no TLS connection with {at}: {reason}")]
    Tls { at: String, reason: String },
    #[error("{at} gave no answer within {} ms", limit.as_millis())]
    Timeout { at: String, limit: Duration },
    #[error(
        "{at} answered 401 Unauthorized{}: check the credentials in the data source's settings",
        bracketed(said)
    )]
    Unauthorized { at: String, said: String },
    #[error(
        "{at} answered 403 Forbidden{}: the credentials are known there, and lack the right to read this",
        bracketed(said)
    )]
    Forbidden { at: String, said: String },
    #[error("{at} answered 404 Not Found{}: {}", bracketed(said), if *by_registry { "is it the registry that the producers use, and was the schema deleted?" } else { "no schema registry answers there, so check the URL and its base path" })]
    NotFound {
        at: String,
        said: String,
        /// Whether the registry itself says so, and not a server that has no registry there.
        by_registry: bool,
    },
    #[error("{at} answered {status}{}{}", bracketed(said), hint(*status))]
    Status {
        at: String,
        status: u16,
        said: String,
    },
    #[error(
        "{at} answered {status} with a page ({content_type}) instead of JSON: probably the login page of something in between, so check the URL and the credentials"
    )]
    Page {
        at: String,
        status: u16,
        content_type: String,
    },
    #[error(
        "{at} redirects to {to}, where the credentials must not go: set `schemaRegistryUrl` to the address that it redirects to"
    )]
    Redirect { at: String, to: String },
    #[error("{at} redirects in a circle")]
    Redirects { at: String },
    #[error("the answer of {at} has more than {} KiB", limit / 1024)]
    TooLarge { at: String, limit: usize },
    #[error(
        "{at} gave an answer that cannot be read: {why}; is it a schema registry's address, with its base path?"
    )]
    Unreadable { at: String, why: String },
    #[error("it is a {found} schema, which this version does not read")]
    Kind { found: String },
    #[error("its references lead back to {place}: a schema cannot build on itself")]
    Cycle { place: String },
    #[error("its references go {limit} deep and further: no more are followed")]
    TooDeep { limit: usize },
    #[error("it builds on more than {limit} schemas, or on more than {} KiB of them", bytes / 1024)]
    TooMany { limit: usize, bytes: usize },
    #[error("its reference {place}: {cause}")]
    Reference { place: String, cause: Box<Cause> },
    #[error("no OAuth token: {0}")]
    Token(Box<Cause>),
    #[error(
        "Apicurio's own API knows no GUIDs: set `schemaRegistryType` to `confluent`, and the URL to its /apis/ccompat/v7"
    )]
    NoGuids,
    #[error("no address of the registry could be used: {}", joined(.0))]
    None(Vec<Cause>),
    #[error("asking for it was broken off: the next record that needs it asks again")]
    BrokenOff,
}

/// How long a failure is believed.
const NOT_FOUND_LIFE: Duration = Duration::from_secs(10);
const FAILURE_LIFE: Duration = Duration::from_secs(2);

impl Cause {
    /// Says of which schema it is the cause.
    pub(super) fn of(&self, what: String) -> RegistryError {
        RegistryError {
            what,
            cause: self.clone(),
        }
    }

    /// Gives the time for which nobody need ask again.
    pub(super) fn life(&self) -> Duration {
        match self {
            Self::NotFound { .. } => NOT_FOUND_LIFE,
            _ => FAILURE_LIFE,
        }
    }

    /// Says whether another address of the same registry may do better.
    pub(super) fn is_of_one_address(&self) -> bool {
        matches!(
            self,
            Self::Unreachable { .. }
                | Self::Tls { .. }
                | Self::Timeout { .. }
                | Self::Status { status: 500.., .. }
        )
    }
}

/// Says what to do about a status that has no words of its own.
fn hint(status: u16) -> &'static str {
    match status {
        500.. => ": the registry itself has a problem, look at its log",
        429 => {
            ": it limits how often it may be asked; it is asked again by itself, and other clients of the same account may have to ask less"
        }
        _ => {
            ": it does not take this request, so check the URL with its base path, and `schemaRegistryType`"
        }
    }
}

fn bracketed(said: &str) -> String {
    if said.is_empty() {
        String::new()
    } else {
        format!(" ({said})")
    }
}

fn joined(causes: &[Cause]) -> String {
    let texts: Vec<_> = causes.iter().map(ToString::to_string).collect();
    texts.join("; ")
}
