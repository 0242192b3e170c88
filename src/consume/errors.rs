//! What went wrong between here and Kafka, in words: the stage, the broker, and what to do.
//!
//! librdkafka's calls fail with a bare code ("broker transport failure"); the reason comes to its callbacks
//! only ([`FaultLog`](super::faults::FaultLog)). The texts differ between its versions and OpenSSL's, and several causes
//! share one text, so [`Cause`] is found by key words, and its advice names every cause that it stands for.

mod cause;

use std::fmt;
use std::time::Duration;

use rdkafka::error::{KafkaError as ClientError, RDKafkaErrorCode as Code};
use thiserror::Error;

pub use self::cause::Cause;
use crate::config::TopicName;

/// Says how far a connection came before it failed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Stage {
    Settings,
    NameLookup,
    Connect,
    Tls,
    Authentication,
    Authorization,
    Answer,
}

impl fmt::Display for Stage {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Settings => "settings",
            Self::NameLookup => "name lookup",
            Self::Connect => "connection",
            Self::Tls => "TLS",
            Self::Authentication => "authentication",
            Self::Authorization => "authorisation",
            Self::Answer => "waiting for an answer",
        })
    }
}

/// Is one thing that librdkafka said about one broker.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Fault {
    pub cause: Cause,
    /// `host:port`, where it is about one broker.
    pub broker: Option<String>,
    /// librdkafka's words, without its decoration.
    pub text: String,
}

impl Fault {
    /// Takes a line of librdkafka's apart: `sasl_ssl://host:port/bootstrap: text (after 3ms in state CONNECT)`.
    pub fn parse(code: Option<Code>, line: &str) -> Self {
        let cause = Cause::of(code, line);
        let (broker, text) = match line.split_once(": ") {
            Some((name, rest)) if is_broker_name(name) => (Some(address(name)), rest),
            _ => (None, line),
        };
        let text = text.rfind(" (after ").map_or(text, |end| &text[..end]);
        Self {
            cause,
            broker,
            text: text.to_owned(),
        }
    }
}

impl fmt::Display for Fault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self {
            cause,
            broker,
            text,
        } = self;
        f.write_str(cause.headline())?;
        if let Some(broker) = broker {
            write!(f, " at {broker}")?;
        }
        write!(f, ". {}. Reported: {text}", cause.advice())
    }
}

/// Says why Kafka gave no answer, or none that can be used.
#[derive(Debug, Clone, Error, PartialEq, Eq)]
pub enum KafkaError {
    #[error("setting `{key}`: {text}")]
    Settings { key: &'static str, text: String },
    #[error("topic {0} not found")]
    UnknownTopic(TopicName),
    #[error(
        "not authorised for topic {0}: it does not exist, or the data source's Kafka user lacks the rights Describe \
         and Read on it"
    )]
    Forbidden(TopicName),
    #[error(
        "not authorised to read topic {0}: the data source's Kafka user may see it, and lacks the right Read on it"
    )]
    Unreadable(TopicName),
    #[error("partition {partition} of topic {topic} not found: it has partitions 0 to {last}")]
    UnknownPartition {
        topic: TopicName,
        partition: i32,
        last: i32,
    },
    #[error("{}", faults_in_words(.0))]
    Connection(Vec<Fault>),
    #[error(
        "no answer from Kafka within {} ms. Check that the brokers run and that no firewall stands in between",
        .0.as_millis()
    )]
    Timeout(Duration),
    #[error("Kafka answered: {text}")]
    Answer { code: Code, text: String },
    #[error(
        "this query had no turn within {} ms: {others} others of this data source are reading records. Refresh to ask \
         again; fewer panels at a time, or panels that start at Latest, do not have to wait",
        .waited.as_millis()
    )]
    Busy { others: usize, waited: Duration },
}

impl KafkaError {
    /// Tells how far the attempt came.
    pub fn stage(&self) -> Stage {
        match self {
            Self::Settings { .. } => Stage::Settings,
            Self::Forbidden(_) | Self::Unreadable(_) => Stage::Authorization,
            Self::Connection(faults) => faults
                .first()
                .map_or(Stage::Connect, |fault| fault.cause.stage()),
            Self::Answer { code, .. } if is_authorization(*code) => Stage::Authorization,
            Self::UnknownTopic(_)
            | Self::UnknownPartition { .. }
            | Self::Timeout(_)
            | Self::Busy { .. }
            | Self::Answer { .. } => Stage::Answer,
        }
    }

    /// Tells whether the brokers could not be reached, so that the same call may succeed later.
    pub fn is_connection(&self) -> bool {
        matches!(self, Self::Connection(_) | Self::Timeout(_))
    }

    /// Tells whether every broker that was tried refused the log-in.
    pub fn is_refused_login(&self) -> bool {
        let is_refused = |fault: &Fault| fault.cause.stage() == Stage::Authentication;
        matches!(self, Self::Connection(faults) if !faults.is_empty() && faults.iter().all(is_refused))
    }

    /// Tells whether the query names something that Kafka does not have or does not show.
    pub fn is_about_topic(&self) -> bool {
        matches!(
            self,
            Self::UnknownTopic(_)
                | Self::Forbidden(_)
                | Self::Unreadable(_)
                | Self::UnknownPartition { .. }
        )
    }

    /// Explains why librdkafka would not make a client; never repeats a setting's value.
    pub(super) fn from_creation(error: &ClientError) -> Self {
        let text = match error {
            ClientError::ClientCreation(text) => text.as_str(),
            // Its own text has the value in it, which may be a secret.
            ClientError::ClientConfig(_, _, key, _) => {
                return Self::Settings {
                    key: settings_key(key),
                    text: format!("librdkafka does not take it as {key}"),
                };
            }
            other => {
                return Self::Settings {
                    key: "bootstrapServers",
                    text: format!("no Kafka client: {other}"),
                };
            }
        };
        let key = settings_key(text);
        let hint = match key {
            "tlsCACert" | "tlsClientCert" => {
                "paste the whole PEM text, with its BEGIN and END lines"
            }
            "tlsClientKey" => {
                "paste the whole PEM text of the unencrypted key that belongs to the client certificate"
            }
            "saslUsername" => "SASL needs both a user name and a password",
            "saslMechanisms" => "choose PLAIN, SCRAM-SHA-256 or SCRAM-SHA-512",
            _ => "check it",
        };
        Self::Settings {
            key,
            text: format!("{hint} ({text})"),
        }
    }
}

/// Tells whether a code says that the user may not.
pub fn is_authorization(code: Code) -> bool {
    matches!(
        code,
        Code::TopicAuthorizationFailed
            | Code::ClusterAuthorizationFailed
            | Code::GroupAuthorizationFailed
    )
}

/// Tells whether a code only says that brokers were not reached; the reason is in the fault log.
pub(super) fn is_transport(code: Code) -> bool {
    matches!(
        code,
        Code::BrokerTransportFailure
            | Code::AllBrokersDown
            | Code::Resolve
            | Code::OperationTimedOut
            | Code::RequestTimedOut
            | Code::SSL
            | Code::Authentication
            | Code::TimedOutQueue
    )
}

/// Tells whether an error of a poll says that waiting for records is in vain for now.
pub(super) fn gives_no_records(error: &ClientError) -> bool {
    match error.rdkafka_error_code() {
        // It may be one broker of several.
        None | Some(Code::BrokerTransportFailure) => false,
        Some(
            Code::AutoOffsetReset
            | Code::TopicAuthorizationFailed
            | Code::UnknownTopicOrPartition
            | Code::UnknownTopic
            | Code::UnknownPartition,
        ) => true,
        Some(code) => is_transport(code),
    }
}

/// Finds the setting that a librdkafka property, or a text with its name, comes from.
fn settings_key(text: &str) -> &'static str {
    for (word, key) in [
        ("Unsupported SASL mechanism", "saslMechanisms"),
        ("No provider for SASL mechanism", "saslMechanisms"),
        ("sasl.mechanism", "saslMechanisms"),
        ("sasl.", "saslUsername"),
        ("ssl.ca", "tlsCACert"),
        ("ssl.key", "tlsClientKey"),
        ("ssl.certificate", "tlsClientCert"),
        ("security.protocol", "securityProtocol"),
        ("client.id", "clientId"),
        ("group.id", "groupId"),
    ] {
        if text.contains(word) {
            return key;
        }
    }
    "bootstrapServers"
}

fn faults_in_words(faults: &[Fault]) -> String {
    let mut words = String::from("Kafka cannot be reached");
    let mut said: Vec<&Fault> = Vec::new();
    for fault in faults {
        if said
            .iter()
            .any(|other| other.cause == fault.cause && other.broker == fault.broker)
        {
            continue;
        }
        words += if said.is_empty() { ": " } else { "; " };
        words += &fault.to_string();
        said.push(fault);
    }
    words
}

/// A broker's name in librdkafka's lines ends in `/bootstrap` or `/<id>`; a logical broker has a name of its own.
fn is_broker_name(name: &str) -> bool {
    let id = name.rsplit_once('/').map(|(_, id)| id);
    id.is_some_and(|id| id == "bootstrap" || id.parse::<i32>().is_ok()) && !name.contains(' ')
}

fn address(name: &str) -> String {
    let name = name.split_once("://").map_or(name, |(_, rest)| rest);
    name.rsplit_once('/')
        .map_or(name, |(address, _)| address)
        .to_owned()
}

#[cfg(test)]
mod tests;
