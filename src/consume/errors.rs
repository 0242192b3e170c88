//! What went wrong between here and Kafka, in words: the stage, the broker, and what to do.
//!
//! librdkafka's calls fail with a bare code ("broker transport failure"); the reason comes to its callbacks
//! only ([`FaultLog`](super::FaultLog)). The texts differ between its versions and OpenSSL's, and several causes
//! share one text, so [`Cause`] is found by key words, and its advice names every cause that it stands for.

use std::fmt;
use std::time::Duration;

use rdkafka::error::{KafkaError as ClientError, RDKafkaErrorCode as Code};
use thiserror::Error;

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

/// Is what a text of librdkafka stands for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Cause {
    NameUnknown,
    NameLookupFailed,
    Refused,
    Unreachable,
    ConnectTimeout,
    PlaintextListener,
    BrokerCertificate,
    ClientCertificate,
    Tls,
    NoSaslListener,
    MechanismDisabled,
    Credentials,
    Authentication,
    ClosedByBroker,
    NoAnswer,
    Other,
}

impl Cause {
    /// Recognises what librdkafka says, by code and key words.
    fn of(code: Option<Code>, text: &str) -> Self {
        let has = |words: &str| text.contains(words);
        if has("Failed to resolve") || code == Some(Code::Resolve) {
            // EAI_AGAIN: the name server did not answer, the name may be fine.
            return if has("Temporary failure") {
                Self::NameLookupFailed
            } else {
                Self::NameUnknown
            };
        }
        if has("PLAINTEXT broker listener") {
            return Self::PlaintextListener;
        }
        if has("certificate verify failed") || has("certificate could not be verified") {
            return Self::BrokerCertificate;
        }
        if has("alert") && has("SSL") {
            return Self::ClientCertificate;
        }
        if has("not valid in current SASL state") {
            return Self::NoSaslListener;
        }
        if has("Unsupported SASL mechanism") {
            return Self::MechanismDisabled;
        }
        if has("SASL authentication error") {
            return Self::Credentials;
        }
        if has("Connection setup timed out in state") {
            return if has("state CONNECT") {
                Self::ConnectTimeout
            } else {
                Self::NoAnswer
            };
        }
        if has("Connection refused") {
            return Self::Refused;
        }
        if has("SSL handshake failed") || code == Some(Code::SSL) {
            return Self::Tls;
        }
        if code == Some(Code::Authentication) || has("SASL") && has("handshake failed") {
            return Self::Authentication;
        }
        if has("closed by peer")
            || has("Broken pipe")
            || has("Connection reset")
            || has("might require SASL")
        {
            return Self::ClosedByBroker;
        }
        if has("Connect to ") && has(" failed") {
            return if has("timed out") {
                Self::ConnectTimeout
            } else {
                Self::Unreachable
            };
        }
        if has("timed out") {
            return Self::NoAnswer;
        }
        Self::Other
    }

    /// Tells how far the connection came.
    pub fn stage(self) -> Stage {
        match self {
            Self::NameUnknown | Self::NameLookupFailed => Stage::NameLookup,
            Self::Refused | Self::Unreachable | Self::ConnectTimeout => Stage::Connect,
            Self::PlaintextListener
            | Self::BrokerCertificate
            | Self::ClientCertificate
            | Self::Tls => Stage::Tls,
            Self::NoSaslListener
            | Self::MechanismDisabled
            | Self::Credentials
            | Self::Authentication => Stage::Authentication,
            Self::ClosedByBroker | Self::NoAnswer | Self::Other => Stage::Answer,
        }
    }

    /// Tells whether waiting cannot help: somebody has to change the settings or the broker.
    pub fn is_final(self) -> bool {
        matches!(self.stage(), Stage::Tls | Stage::Authentication) || self == Self::NameUnknown
    }

    fn headline(self) -> &'static str {
        match self {
            Self::NameUnknown => "unknown host name",
            Self::NameLookupFailed => "name lookup failed",
            Self::Refused => "connection refused",
            Self::Unreachable => "connection failed",
            Self::ConnectTimeout => "connection timed out",
            Self::PlaintextListener => "TLS failed, the listener speaks plaintext",
            Self::BrokerCertificate => "TLS failed, the broker's certificate could not be verified",
            Self::ClientCertificate => "TLS failed, the broker refused this client's certificate",
            Self::Tls => "TLS failed",
            Self::NoSaslListener => "authentication failed, the listener takes no SASL",
            Self::MechanismDisabled => {
                "authentication failed, the broker does not take this SASL mechanism"
            }
            Self::Credentials => "authentication failed, the broker refused the credentials",
            Self::Authentication => "authentication failed",
            Self::ClosedByBroker => "the broker closed the connection",
            Self::NoAnswer => "no answer",
            Self::Other => "Kafka reported an error",
        }
    }

    /// Says what to do, for each fault that looks like this one.
    pub fn advice(self) -> &'static str {
        match self {
            Self::NameUnknown => {
                "Check the spelling in Bootstrap servers; if the name is the broker's advertised listener, it must \
                 resolve on the machine that runs Grafana"
            }
            Self::NameLookupFailed => {
                "The name server of the machine that runs Grafana did not answer; try again"
            }
            Self::Refused => {
                "Nothing listens there: check host and port, and that the broker is running"
            }
            Self::Unreachable => {
                "Check host, port, and the route from the machine that runs Grafana"
            }
            Self::ConnectTimeout => "Check host and port, and whether a firewall stands in between",
            Self::PlaintextListener => {
                "Choose Security protocol PLAINTEXT or SASL_PLAINTEXT, or the port of a TLS listener"
            }
            Self::BrokerCertificate => {
                "It may be signed by an authority that is not trusted (give its CA certificate), carry another host \
                 name than the one in Bootstrap servers, or be expired"
            }
            Self::ClientCertificate => {
                "The broker asks for a client certificate: switch on TLS client authentication and give a \
                 certificate and key that an authority known to the broker has signed and that are not expired"
            }
            Self::Tls => {
                "Check that the port is a TLS listener and that both sides share a TLS version"
            }
            Self::NoSaslListener => {
                "Choose Security protocol PLAINTEXT or SSL, or the port of a SASL listener"
            }
            Self::MechanismDisabled => "Choose a SASL mechanism that the broker lists",
            Self::Credentials => {
                "Check user name and password; with SCRAM the user must exist for this very mechanism"
            }
            Self::Authentication => {
                "Check the security protocol, the SASL mechanism, the user name and the password"
            }
            Self::ClosedByBroker => {
                "The listener may want TLS (SSL, SASL_SSL) or SASL where this data source uses none, may be no \
                 Kafka broker, or the broker is shutting down: check Security protocol and port"
            }
            Self::NoAnswer => {
                "The broker may be overloaded, or the listener may want another security protocol: check Security \
                 protocol and port"
            }
            Self::Other => "See the broker's log",
        }
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
    #[error("topic {0} does not exist")]
    UnknownTopic(TopicName),
    #[error(
        "not authorised for topic {0}: it does not exist, or the data source's Kafka user lacks the rights Describe \
         and Read on it"
    )]
    Forbidden(TopicName),
    #[error("partition {partition} of topic {topic} does not exist, it has partitions 0 to {last}")]
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
}

impl KafkaError {
    /// Tells how far the attempt came.
    pub fn stage(&self) -> Stage {
        match self {
            Self::Settings { .. } => Stage::Settings,
            Self::Forbidden(_) => Stage::Authorization,
            Self::Connection(faults) => faults
                .first()
                .map_or(Stage::Connect, |fault| fault.cause.stage()),
            Self::Answer { code, .. } if is_authorization(*code) => Stage::Authorization,
            Self::UnknownTopic(_)
            | Self::UnknownPartition { .. }
            | Self::Timeout(_)
            | Self::Answer { .. } => Stage::Answer,
        }
    }

    /// Tells whether the brokers could not be reached, so that the same call may succeed later.
    pub fn is_connection(&self) -> bool {
        matches!(self, Self::Connection(_) | Self::Timeout(_))
    }

    /// Tells whether the query names something that Kafka does not have or does not show.
    pub fn is_about_topic(&self) -> bool {
        matches!(
            self,
            Self::UnknownTopic(_) | Self::Forbidden(_) | Self::UnknownPartition { .. }
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
