//! The data source's settings: `jsonData` and `secureJsonData`, as Grafana stores them.

use std::collections::HashMap;
use std::ops::RangeInclusive;
use std::time::Duration;

use serde_json::{Map, Value};
use thiserror::Error;

use super::lenient::{Keys, Mismatch, kind};
use super::topic::BadGlob;
use super::{RegistryFault, RegistrySettings, Security, TopicPolicy, registry, security};

/// Is everything that an administrator sets for one data source.
#[derive(Debug, Clone)]
pub struct Settings {
    /// `host:port`, in the order given.
    pub bootstrap_servers: Vec<String>,
    pub client_id: Option<String>,
    /// Is sent where the client library wants a group; it is never joined or committed to.
    pub group_id: String,
    pub security: Security,
    pub log_level: LogLevel,
    /// The deadline of Save & test.
    pub health_timeout: Duration,
    /// The deadline of one request to the brokers.
    pub timeout: Duration,
    /// How often new partitions and re-created topics are looked for.
    pub metadata_interval: Duration,
    pub flatten: FlattenLimits,
    pub topics: TopicPolicy,
    /// What all live channels of this data source may send in a tenth of a second, in bytes.
    pub slot_bytes: usize,
    /// Is the schema registry, if there is one; what is wrong with it leaves the other formats working.
    pub registry: Result<Option<RegistrySettings>, RegistryFault>,
    /// What is odd but no error, for Save & test to show.
    pub problems: Vec<String>,
}

/// Bounds what flattening makes of one record.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct FlattenLimits {
    /// The most segments of a column's path; what lies deeper becomes compact JSON text.
    pub max_depth: usize,
    /// The most value columns of a stream.
    pub max_fields: usize,
}

impl Default for FlattenLimits {
    fn default() -> Self {
        Self {
            max_depth: 5,
            max_fields: 1000,
        }
    }
}

/// Says how much this data source writes to Grafana's log.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum LogLevel {
    Error,
    Warn,
    #[default]
    Info,
    Debug,
}

/// Says which setting is wrong and what it should be; never what it is.
#[derive(Debug, Error, PartialEq, Eq)]
pub enum SettingsError {
    #[error(
        "the data source's settings (`jsonData`) must be a JSON object, and are {found}: save the data source again"
    )]
    NotAnObject { found: &'static str },
    #[error("the setting {0}: correct it in the data source's settings")]
    Type(#[from] Mismatch),
    #[error("the setting `{key}` must be {expected}, and is something else: choose one of these")]
    Choice {
        key: &'static str,
        expected: &'static str,
    },
    #[error(
        "SASL authentication requires both username and password: set `saslUsername` and `saslPassword`"
    )]
    SaslCredentials,
    #[error("the setting `bootstrapServers` is empty: name at least one broker as host:port")]
    NoBootstrapServers,
    #[error("entry {position} of `bootstrapServers` must be host:port: {advice}")]
    BootstrapServer {
        position: usize,
        advice: &'static str,
    },
    #[error("entry {position} of `{key}` is no valid pattern: use `*`, `?`, `[a-z]` and `{{a,b}}`")]
    Pattern { key: &'static str, position: usize },
}

impl From<BadGlob> for SettingsError {
    fn from(BadGlob { key, position }: BadGlob) -> Self {
        Self::Pattern { key, position }
    }
}

/// Every key of `jsonData` that this data source reads, or read in the form that it took over.
const KNOWN: &[&str] = &[
    "bootstrapServers",
    "clientId",
    "flattenFieldCap",
    "flattenMaxDepth",
    "groupId",
    "healthcheckTimeout",
    "liveSlotKiB",
    "logLevel",
    "messageFormat",
    "metadataInterval",
    "saslMechanisms",
    "saslUsername",
    "schemaRegistryAuth",
    "schemaRegistryOAuthClientId",
    "schemaRegistryOAuthScope",
    "schemaRegistryOAuthTokenUrl",
    "schemaRegistryServerName",
    "schemaRegistryTimeout",
    "schemaRegistryTlsSkipVerify",
    "schemaRegistryType",
    "schemaRegistryUrl",
    "schemaRegistryUsername",
    "securityProtocol",
    "serverName",
    "timeout",
    "tlsAuth",
    "tlsAuthWithCACert",
    "tlsSkipVerify",
    "topicAllow",
    "topicDeny",
];

/// Keys that Grafana itself adds to any data source.
const GRAFANAS: &[&str] = &[
    "alertmanagerUid",
    "allowAsRecordingRulesTarget",
    "defaultDatabase",
    "disableGrafanaCache",
    "enableSecureSocksProxy",
    "keepCookies",
    "manageAlerts",
    "oauthPassThru",
    "pdcInjected",
    "secureSocksProxyUsername",
    "teamHttpHeaders",
    "timeInterval",
    "tracesToLogsV2",
];

impl Settings {
    /// Reads `jsonData` and the decrypted `secureJsonData`.
    pub fn parse(
        json_data: &[u8],
        secrets: &HashMap<String, String>,
    ) -> Result<Self, SettingsError> {
        let object = parse_object(json_data)?;
        let keys = Keys::new(&object);
        let mut problems = unknown_keys(&object);
        if keys.boolean("enableSecureSocksProxy", false)? {
            problems.push("`enableSecureSocksProxy` is on, but brokers are reached directly: this version has no proxy support".into());
        }
        let security = security::parse(&keys, secrets, &mut problems)?;
        let topics = TopicPolicy::compile(&keys.list("topicAllow")?, &keys.list("topicDeny")?)?;
        let mut number = |key, range, default| bounded(&keys, key, range, default, &mut problems);
        let timeout = number("timeout", 100..=300_000, 10_000)?;
        // Without a deadline of its own, Save & test has the requests' deadline if one is set.
        let health_default = if keys.integer("timeout")?.is_some_and(|ms| ms > 0) {
            timeout
        } else {
            2_000
        };
        let slot_kib = number("liveSlotKiB", 32..=65_536, 512)?;
        let health_timeout = number("healthcheckTimeout", 100..=120_000, health_default)?;
        let metadata_interval = number("metadataInterval", 1_000..=3_600_000, 30_000)?;
        let max_depth = number("flattenMaxDepth", 1..=64, 5)?;
        let max_fields = number("flattenFieldCap", 1..=10_000, 1_000)?;
        let registry_timeout = number("schemaRegistryTimeout", 100..=60_000, 5_000)?;
        let registry = registry::parse(&keys, secrets, millis(registry_timeout), &mut problems)?;
        Ok(Self {
            bootstrap_servers: bootstrap_servers(&keys)?,
            client_id: Some(keys.text("clientId")?).filter(|id| !id.is_empty()),
            group_id: Some(keys.text("groupId")?)
                .filter(|id| !id.is_empty())
                .unwrap_or_else(|| "streamscope".to_owned()),
            security,
            log_level: log_level(&keys)?,
            health_timeout: millis(health_timeout),
            timeout: millis(timeout),
            metadata_interval: millis(metadata_interval),
            flatten: FlattenLimits {
                max_depth: max_depth as usize,
                max_fields: max_fields as usize,
            },
            topics,
            slot_bytes: slot_kib as usize * 1024,
            registry,
            problems,
        })
    }
}

fn parse_object(json_data: &[u8]) -> Result<Map<String, Value>, SettingsError> {
    if json_data.trim_ascii().is_empty() {
        return Ok(Map::new());
    }
    match serde_json::from_slice(json_data) {
        Ok(Value::Object(object)) => Ok(object),
        Ok(Value::Null) => Ok(Map::new()),
        Ok(other) => Err(SettingsError::NotAnObject {
            found: kind(&other),
        }),
        Err(_) => Err(SettingsError::NotAnObject { found: "no JSON" }),
    }
}

fn unknown_keys(object: &Map<String, Value>) -> Vec<String> {
    object
        .keys()
        .filter(|key| !KNOWN.contains(&key.as_str()) && !GRAFANAS.contains(&key.as_str()))
        .filter(|key| !key.starts_with("httpHeaderName"))
        .map(|key| {
            format!("`{key}` is no setting of this data source, and is ignored: check its spelling")
        })
        .collect()
}

/// Reads a number; 0 and absent are the default, and what is out of range is clamped and named.
fn bounded(
    keys: &Keys<'_>,
    key: &'static str,
    range: RangeInclusive<i64>,
    default: i64,
    problems: &mut Vec<String>,
) -> Result<i64, SettingsError> {
    let number = match keys.integer(key)? {
        None | Some(0) => return Ok(default),
        Some(number) => number,
    };
    if range.contains(&number) {
        return Ok(number);
    }
    let (low, high) = (*range.start(), *range.end());
    let clamped = number.clamp(low, high);
    problems.push(format!("`{key}` is {number}, and takes {low} to {high} (0 is the default, {default}): {clamped} is used"));
    Ok(clamped)
}

fn millis(number: i64) -> Duration {
    Duration::from_millis(number.unsigned_abs())
}

fn log_level(keys: &Keys<'_>) -> Result<LogLevel, SettingsError> {
    Ok(match keys.text("logLevel")?.to_ascii_lowercase().as_str() {
        "error" => LogLevel::Error,
        "warn" | "warning" => LogLevel::Warn,
        "debug" | "trace" => LogLevel::Debug,
        _ => LogLevel::Info,
    })
}

fn bootstrap_servers(keys: &Keys<'_>) -> Result<Vec<String>, SettingsError> {
    let servers = keys.list("bootstrapServers")?;
    if servers.is_empty() {
        return Err(SettingsError::NoBootstrapServers);
    }
    for (i, server) in servers.iter().enumerate() {
        if let Some(advice) = address_fault(server) {
            return Err(SettingsError::BootstrapServer {
                position: i + 1,
                advice,
            });
        }
    }
    Ok(servers)
}

/// Says what is wrong with a broker's address, if anything; a port may be left out (9092).
fn address_fault(server: &str) -> Option<&'static str> {
    if server.contains("://") {
        return Some(
            "leave out what stands before `//`; the security protocol has a setting of its own",
        );
    }
    if server.chars().any(char::is_whitespace) {
        return Some("put a comma between two brokers");
    }
    let (host, port) = match server.strip_prefix('[') {
        Some(rest) => match rest.split_once(']') {
            Some((host, "")) => (host, None),
            Some((host, rest)) => (host, Some(rest.strip_prefix(':').unwrap_or("x"))),
            None => return Some("an IPv6 address ends with `]`, as in [2001:db8::5]:9092"),
        },
        None if server.matches(':').count() > 1 => {
            return Some("write an IPv6 address in brackets, as in [2001:db8::5]:9092");
        }
        None => match server.split_once(':') {
            Some((host, port)) => (host, Some(port)),
            None => (server, None),
        },
    };
    if host.is_empty() {
        return Some("the host is missing");
    }
    match port.map(str::parse::<u16>) {
        None | Some(Ok(1..)) => None,
        Some(_) => Some("the port must be a number from 1 to 65535"),
    }
}

#[cfg(test)]
mod tests;
