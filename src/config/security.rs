//! How the plugin proves itself to the brokers, and how they prove themselves to it.

use std::collections::HashMap;

use super::lenient::Keys;
use super::{Secret, SettingsError};

/// Is the connection's protection: TLS, SASL, both or neither.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Security {
    pub tls: Option<Tls>,
    pub sasl: Option<Sasl>,
}

/// Is what TLS needs to know; certificates are PEM.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Tls {
    /// The only CA to trust; `None` trusts the system's.
    pub ca: Option<String>,
    pub client: Option<ClientCertificate>,
    pub skip_verify: bool,
    /// The name that the brokers' certificates carry, where it is not the name that is dialled.
    pub server_name: Option<String>,
}

/// Is the client's own certificate chain and its key, PEM.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ClientCertificate {
    pub certificate: String,
    pub key: Secret,
}

/// Is a user name and password, and how they are sent.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Sasl {
    pub mechanism: SaslMechanism,
    pub username: String,
    pub password: Secret,
}

/// Is a SASL mechanism, by Kafka's names.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum SaslMechanism {
    Plain,
    ScramSha256,
    ScramSha512,
}

impl SaslMechanism {
    /// Gives the name that brokers and librdkafka use.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Plain => "PLAIN",
            Self::ScramSha256 => "SCRAM-SHA-256",
            Self::ScramSha512 => "SCRAM-SHA-512",
        }
    }
}

/// Reads the security settings; what is merely odd goes to `problems`.
pub(super) fn parse(
    keys: &Keys<'_>,
    secrets: &HashMap<String, String>,
    problems: &mut Vec<String>,
) -> Result<Security, SettingsError> {
    let protocol = keys.text("securityProtocol")?;
    let (tls, sasl) = match protocol.to_ascii_uppercase().as_str() {
        "" | "PLAINTEXT" => (false, false),
        "SSL" => (true, false),
        "SASL_PLAINTEXT" => (false, true),
        "SASL_SSL" => (true, true),
        _ => {
            return Err(SettingsError::Choice {
                key: "securityProtocol",
                expected: "PLAINTEXT, SSL, SASL_PLAINTEXT or SASL_SSL",
            });
        }
    };
    Ok(Security {
        tls: if tls {
            Some(parse_tls(keys, secrets, problems)?)
        } else {
            None
        },
        sasl: if sasl {
            Some(parse_sasl(keys, secrets)?)
        } else {
            None
        },
    })
}

fn parse_tls(
    keys: &Keys<'_>,
    secrets: &HashMap<String, String>,
    problems: &mut Vec<String>,
) -> Result<Tls, SettingsError> {
    let pem = |key: &str| {
        secrets
            .get(key)
            .filter(|pem| !pem.trim().is_empty())
            .cloned()
    };
    let mut ca = None;
    if keys.boolean("tlsAuthWithCACert", false)? {
        ca = pem("tlsCACert");
        if ca.is_none() {
            problems.push(
                "`tlsAuthWithCACert` is on but `tlsCACert` is empty, so the system's CAs are trusted: paste the CA certificate, or turn it off".into(),
            );
        }
    }
    let mut client = None;
    if keys.boolean("tlsAuth", false)? {
        client = pem("tlsClientCert")
            .zip(pem("tlsClientKey"))
            .map(|(certificate, key)| ClientCertificate {
                certificate,
                key: Secret::new(key),
            });
        if client.is_none() {
            problems.push(
                "`tlsAuth` is on but `tlsClientCert` or `tlsClientKey` is empty, so no client certificate is sent: paste both, or turn it off".into(),
            );
        }
    }
    Ok(Tls {
        ca,
        client,
        skip_verify: keys.boolean("tlsSkipVerify", false)?,
        server_name: Some(keys.text("serverName")?).filter(|name| !name.is_empty()),
    })
}

fn parse_sasl(keys: &Keys<'_>, secrets: &HashMap<String, String>) -> Result<Sasl, SettingsError> {
    let mechanism = match keys.text("saslMechanisms")?.to_ascii_uppercase().as_str() {
        "" | "PLAIN" => SaslMechanism::Plain,
        "SCRAM-SHA-256" => SaslMechanism::ScramSha256,
        "SCRAM-SHA-512" => SaslMechanism::ScramSha512,
        _ => {
            return Err(SettingsError::Choice {
                key: "saslMechanisms",
                expected: "PLAIN, SCRAM-SHA-256 or SCRAM-SHA-512",
            });
        }
    };
    let username = keys.text("saslUsername")?;
    let password = secrets
        .get("saslPassword")
        .filter(|password| !password.is_empty());
    match password {
        Some(password) if !username.is_empty() => Ok(Sasl {
            mechanism,
            username,
            password: Secret::new(password.clone()),
        }),
        _ => Err(SettingsError::SaslCredentials),
    }
}
