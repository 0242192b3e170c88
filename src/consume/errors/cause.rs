//! What librdkafka's texts stand for, and what to do about it.

use rdkafka::error::RDKafkaErrorCode as Code;

use super::Stage;

/// Is what a text of librdkafka stands for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
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
    NotKafka,
    NoAnswer,
    Other,
}

impl Cause {
    /// Recognises what librdkafka says, by code and key words.
    pub(super) fn of(code: Option<Code>, text: &str) -> Self {
        let has = |words: &str| text.contains(words);
        if has("Failed to resolve") || code == Some(Code::Resolve) {
            // EAI_AGAIN: the name server did not answer, the name may be fine.
            return if has("Temporary failure") {
                Self::NameLookupFailed
            } else {
                Self::NameUnknown
            };
        }
        if has("Invalid response size") {
            return Self::NotKafka;
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
            Self::ClosedByBroker | Self::NotKafka | Self::NoAnswer | Self::Other => Stage::Answer,
        }
    }

    /// Tells whether waiting cannot help: somebody has to change the settings or the broker.
    pub fn is_final(self) -> bool {
        matches!(self.stage(), Stage::Tls | Stage::Authentication)
            || matches!(self, Self::NameUnknown | Self::NotKafka)
    }

    pub(super) fn headline(self) -> &'static str {
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
            Self::NotKafka => "what listens does not speak Kafka",
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
            Self::NotKafka => {
                "It may be a web server or another service, or a TLS listener where this data source uses none: check \
                 host, port and Security protocol"
            }
            Self::NoAnswer => {
                "The broker may be overloaded, or the listener may want another security protocol: check Security \
                 protocol and port"
            }
            Self::Other => "See the broker's log",
        }
    }
}
