//! Settings as librdkafka's properties.

use rdkafka::ClientConfig;
use rdkafka::config::RDKafkaLogLevel;

use super::errors::KafkaError;
use super::probe;
use crate::config::{IsolationLevel, Sasl, Settings, Tls};

/// What librdkafka may hold of records that nobody has taken yet. Its default of 64 MiB a consumer buys nothing here:
/// with the backoff below, 8 MiB are read faster.
const QUEUE_KBYTES: &str = "8192";
/// Likewise in records: small ones take ten times their own bytes there.
const QUEUE_RECORDS: &str = "20000";
/// How long a full queue keeps a partition from fetching; the default of a second starves a fast reader.
const FETCH_BACKOFF_MS: &str = "5";
/// How long a broker may keep a fetch that finds no record; one that comes is sent at once. Asking half as often as by default takes
/// a fifth off what a quiet stream costs (`make bench-e2e WHAT=idle`).
const FETCH_WAIT_MS: &str = "1000";
/// A whole response of all partitions of a broker; a larger record is delivered all the same.
const FETCH_BYTES: &str = "8388608";

/// What brokers show of this client where the settings name nothing else.
const CLIENT_ID: &str = "streamscope";

/// Gives the properties of the client that asks for metadata and watermarks. It reads nothing and has no group.
pub(super) fn shared(settings: &Settings) -> Result<ClientConfig, KafkaError> {
    let mut config = common(settings)?;
    for (property, value) in [
        ("isolation.level", isolation(IsolationLevel::ReadCommitted)),
        // A call fails before the second attempt where the first one was refused.
        ("reconnect.backoff.ms", "1500"),
        ("reconnect.backoff.max.ms", "1500"),
    ] {
        config.set(property, value);
    }
    Ok(config)
}

/// Gives the properties of a client that reads one topic by manual assignment.
///
/// The group is named, since librdkafka assigns nothing without one, and never joined or committed to.
/// A position outside of the partition is reported, never moved silently. That the topic is another one of the same name is
/// said in a line for debugging only, and by no call: its few lines for metadata are switched on.
pub(super) fn stream(
    settings: &Settings,
    level: IsolationLevel,
) -> Result<ClientConfig, KafkaError> {
    let mut config = common(settings)?;
    config.set_log_level(RDKafkaLogLevel::Debug);
    let refresh = settings.metadata_interval.as_millis().to_string();
    for (property, value) in [
        ("group.id", settings.group_id.as_str()),
        ("enable.auto.commit", "false"),
        ("enable.auto.offset.store", "false"),
        ("auto.offset.reset", "error"),
        ("enable.partition.eof", "true"),
        ("isolation.level", isolation(level)),
        ("queued.max.messages.kbytes", QUEUE_KBYTES),
        ("queued.min.messages", QUEUE_RECORDS),
        ("fetch.queue.backoff.ms", FETCH_BACKOFF_MS),
        ("fetch.wait.max.ms", FETCH_WAIT_MS),
        ("fetch.max.bytes", FETCH_BYTES),
        ("topic.metadata.refresh.interval.ms", refresh.as_str()),
        ("topic.metadata.propagation.max.ms", "5000"),
        ("debug", "metadata"),
    ] {
        config.set(property, value);
    }
    Ok(config)
}

/// Gives each bootstrap server as librdkafka names it in its reports: `host:port`.
pub(super) fn bootstrap(settings: &Settings) -> Vec<String> {
    let named = |server: &String| {
        let (host, port) = probe::split(server)?;
        Some(probe::address(host, port))
    };
    settings
        .bootstrap_servers
        .iter()
        .map(|server| named(server).unwrap_or_else(|| server.clone()))
        .collect()
}

/// Says what of the settings librdkafka cannot do as asked, for Save & test to show.
pub(super) fn shortcomings(settings: &Settings) -> Vec<String> {
    let check = settings
        .security
        .tls
        .as_ref()
        .filter(|tls| !tls.skip_verify)
        .map(|tls| name_check(tls, &bootstrap(settings)));
    if check != Some(NameCheck::ChainOnly) {
        return Vec::new();
    }
    vec!["`serverName` differs from a name in `bootstrapServers`, and the Kafka library cannot compare certificates with \
          another name: brokers are trusted by `tlsCACert` alone, whatever the name in their certificate".to_owned()]
}

fn common(settings: &Settings) -> Result<ClientConfig, KafkaError> {
    let mut config = ClientConfig::new();
    // rdkafka's own default is the level of the `log` crate, which nobody listens to here.
    config.set_log_level(RDKafkaLogLevel::Info);
    let servers = bootstrap(settings);
    let setup = settings.timeout.as_millis().clamp(1000, 30_000).to_string();
    for (property, value) in [
        ("bootstrap.servers", servers.join(",").as_str()),
        (
            "client.id",
            settings.client_id.as_deref().unwrap_or(CLIENT_ID),
        ),
        // Looking at a topic must not create it, whatever the broker allows.
        ("allow.auto.create.topics", "false"),
        ("log.thread.name", "false"),
        ("socket.keepalive.enable", "true"),
        ("socket.connection.setup.timeout.ms", setup.as_str()),
        // A broker that comes back is found again within a second.
        ("reconnect.backoff.max.ms", "1000"),
    ] {
        config.set(property, value);
    }
    let security = &settings.security;
    let protocol = match (&security.sasl, &security.tls) {
        (None, None) => "plaintext",
        (None, Some(_)) => "ssl",
        (Some(_), None) => "sasl_plaintext",
        (Some(_), Some(_)) => "sasl_ssl",
    };
    config.set("security.protocol", protocol);
    if let Some(sasl) = &security.sasl {
        add_sasl(&mut config, sasl);
    }
    if let Some(tls) = &security.tls {
        add_tls(&mut config, tls, &servers)?;
    }
    Ok(config)
}

fn add_sasl(config: &mut ClientConfig, sasl: &Sasl) {
    config.set("sasl.mechanism", sasl.mechanism.as_str());
    config.set("sasl.username", sasl.username.as_str());
    config.set("sasl.password", sasl.password.expose());
}

fn add_tls(config: &mut ClientConfig, tls: &Tls, servers: &[String]) -> Result<(), KafkaError> {
    match &tls.ca {
        Some(ca) => {
            config.set("ssl.ca.pem", ca.as_str());
        }
        // OpenSSL takes these two variables for itself. Without them a static one would look in no folder of this system.
        None if ["SSL_CERT_FILE", "SSL_CERT_DIR"]
            .iter()
            .any(|name| std::env::var_os(name).is_some()) => {}
        None => {
            config.set("ssl.ca.location", "probe");
        }
    }
    if let Some(client) = &tls.client {
        config.set("ssl.certificate.pem", client.certificate.as_str());
        config.set("ssl.key.pem", client.key.expose());
    }
    if tls.skip_verify {
        config.set("enable.ssl.certificate.verification", "false");
        return Ok(());
    }
    match name_check(tls, servers) {
        NameCheck::ByLibrdkafka => Ok(()),
        NameCheck::ChainOnly => {
            config.set("ssl.endpoint.identification.algorithm", "none");
            Ok(())
        }
        NameCheck::Impossible => Err(KafkaError::Settings {
            key: "serverName",
            text: "librdkafka compares a broker's certificate with the name that it connects to, and with no other. \
                   Give the CA certificate that signed the brokers' certificates (then only brokers that it signed \
                   are trusted, by whatever name), or use the certificate's name in Bootstrap servers"
                .to_owned(),
        }),
    }
}

/// Says how the name in a broker's certificate is checked.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum NameCheck {
    /// Against the name that was connected to.
    ByLibrdkafka,
    /// Not at all, but it must be signed by the data source's own authority.
    ChainOnly,
    /// Any public authority would do: that would be no check.
    Impossible,
}

/// Finds out whether `serverName` asks for more than librdkafka can do, which knows no name but the broker's own.
fn name_check(tls: &Tls, servers: &[String]) -> NameCheck {
    let Some(wanted) = &tls.server_name else {
        return NameCheck::ByLibrdkafka;
    };
    let is_wanted = |server: &String| {
        probe::split(server).is_some_and(|(host, _)| host.eq_ignore_ascii_case(wanted))
    };
    if servers.iter().all(is_wanted) {
        NameCheck::ByLibrdkafka
    } else if tls.ca.is_some() {
        NameCheck::ChainOnly
    } else {
        NameCheck::Impossible
    }
}

fn isolation(level: IsolationLevel) -> &'static str {
    match level {
        IsolationLevel::ReadCommitted => "read_committed",
        IsolationLevel::ReadUncommitted => "read_uncommitted",
    }
}

#[cfg(test)]
mod tests;
