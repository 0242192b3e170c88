//! Save & test: each listener, each way to get it wrong, in words that name the stage, the broker and the remedy.

use std::time::{Duration, Instant};

use anyhow::Result;
use real_kafka::{Kafka, Listener};
use serde_json::{Value, json};
use workbench::host::proto::HealthStatus;

use super::support::{Host, settings_for};

/// One data source, and what its health check must say: each text in any case, alternatives with `|`; `{broker}` is
/// the data source's broker.
struct Case<'a> {
    name: &'a str,
    settings: Value,
    secrets: &'a [(&'a str, &'a str)],
    status: HealthStatus,
    says: &'static [&'static str],
}

fn good<'a>(name: &'a str, settings: Value, secrets: &'a [(&'a str, &'a str)]) -> Case<'a> {
    Case {
        name,
        settings,
        secrets,
        status: HealthStatus::Ok,
        says: &[],
    }
}

fn bad<'a>(
    name: &'a str,
    settings: Value,
    secrets: &'a [(&'a str, &'a str)],
    says: &'static [&'static str],
) -> Case<'a> {
    Case {
        name,
        settings,
        secrets,
        status: HealthStatus::Error,
        says,
    }
}

/// The settings of a user on a listener.
fn user(listener: Listener, mechanism: &str, user: &str) -> Value {
    let keys =
        json!({"saslMechanisms": mechanism, "saslUsername": user, "tlsAuthWithCACert": true});
    settings_for(Kafka::shared(), listener, keys)
}

#[tokio::test]
async fn what_works() -> Result<()> {
    let kafka = Kafka::shared();
    let (ca, client, client_key) = (
        kafka.pem("ca.crt"),
        kafka.pem("client.crt"),
        kafka.pem("client.key"),
    );
    let certificate = [
        ("tlsCACert", ca.as_str()),
        ("tlsClientCert", &client),
        ("tlsClientKey", &client_key),
    ];
    let trusted = &certificate[..1];
    let bob = [("saslPassword", "bob-secret"), ("tlsCACert", &ca)];
    let alice = [("saslPassword", "alice-secret"), ("tlsCACert", &ca)];
    let on = |listener, keys| settings_for(kafka, listener, keys);
    check(
        AT_ONCE + SLACK,
        [
            good("plaintext", on(Listener::Plaintext, json!({})), &[]),
            good("PLAIN", user(Listener::Sasl, "PLAIN", "bob"), &bob),
            good(
                "no mechanism is PLAIN",
                user(Listener::Sasl, "", "bob"),
                &bob,
            ),
            good(
                "SCRAM-SHA-256",
                user(Listener::Sasl, "SCRAM-SHA-256", "alice"),
                &alice,
            ),
            good(
                "SCRAM-SHA-512",
                user(Listener::Sasl, "SCRAM-SHA-512", "alice"),
                &alice,
            ),
            good(
                "PLAIN over TLS",
                user(Listener::SaslTls, "PLAIN", "bob"),
                &bob,
            ),
            good(
                "SCRAM-SHA-512 over TLS",
                user(Listener::SaslTls, "SCRAM-SHA-512", "alice"),
                &alice,
            ),
            good(
                "TLS with its CA",
                on(Listener::Tls, json!({"tlsAuthWithCACert": true})),
                trusted,
            ),
            good(
                "TLS unverified",
                on(Listener::Tls, json!({"tlsSkipVerify": true})),
                &[],
            ),
            good(
                "mutual TLS",
                on(
                    Listener::MutualTls,
                    json!({"tlsAuthWithCACert": true, "tlsAuth": true}),
                ),
                &certificate,
            ),
            good(
                "another host, unverified",
                on(Listener::WrongHost, json!({"tlsSkipVerify": true})),
                &[],
            ),
            // K35: through a tunnel.
            good(
                "another host, named",
                on(
                    Listener::WrongHost,
                    json!({"tlsAuthWithCACert": true, "serverName": "kafka.example"}),
                ),
                trusted,
            ),
            Case {
                says: &["127.0.0.1:1", "refused"],
                ..good(
                    "a dead broker among live ones",
                    json!({"bootstrapServers": format!("127.0.0.1:1, {}", kafka.bootstrap())}),
                    &[],
                )
            },
        ],
    )
    .await
}

#[tokio::test]
async fn no_connection() -> Result<()> {
    let kafka = Kafka::shared();
    let ca = kafka.pem("ca.crt");
    let bob = [("saslPassword", "bob-secret"), ("tlsCACert", &ca)];
    let with = |listener, protocol: &str| {
        let mut settings = user(listener, "PLAIN", "bob");
        settings["securityProtocol"] = json!(protocol);
        settings
    };
    let at = |address: &str| json!({"bootstrapServers": address});
    check(
        DEADLINE + SLACK,
        [
            bad(
                "nothing listens",
                at("127.0.0.1:1"),
                &[],
                &["127.0.0.1:1", "refused"],
            ),
            bad(
                "no such host",
                at("nohost.invalid:9092"),
                &[],
                &["nohost.invalid:9092", "resolve|look up|lookup|name"],
            ),
            bad(
                "SASL to a plain port",
                with(Listener::Plaintext, "SASL_PLAINTEXT"),
                &bob,
                &["{broker}", "SASL"],
            ),
            bad(
                "plain to a SASL port",
                with(Listener::Sasl, "PLAINTEXT"),
                &[],
                &["{broker}", "SASL"],
            ),
            bad(
                "plain to a TLS port",
                with(Listener::Tls, "PLAINTEXT"),
                &[],
                &["{broker}", "TLS|SSL"],
            ),
            bad(
                "TLS to a plain port",
                with(Listener::Plaintext, "SSL"),
                &bob,
                &["{broker}", "TLS|SSL"],
            ),
            bad(
                "TLS to a plain SASL port",
                with(Listener::Sasl, "SASL_SSL"),
                &bob,
                &["{broker}", "TLS|SSL"],
            ),
            bad(
                "plain to a SASL port with TLS",
                with(Listener::SaslTls, "SASL_PLAINTEXT"),
                &bob,
                &["{broker}", "TLS|SSL"],
            ),
            bad(
                "SASL to a TLS port without it",
                with(Listener::Tls, "SASL_SSL"),
                &bob,
                &["{broker}", "SASL"],
            ),
            bad(
                "no SASL to a TLS port with it",
                with(Listener::SaslTls, "SSL"),
                &bob,
                &["{broker}", "SASL"],
            ),
            // K33: the broker sends its clients to a name that nothing resolves.
            bad(
                "an advertised name",
                settings_for(kafka, Listener::Unresolvable, json!({})),
                &[],
                &["kafka.invalid:", "advertise"],
            ),
        ],
    )
    .await
}

#[tokio::test]
async fn no_login() -> Result<()> {
    let ca = Kafka::shared().pem("ca.crt");
    let alice = [("saslPassword", "alice-secret"), ("tlsCACert", ca.as_str())];
    let wrong = [("saslPassword", "not-the-secret"), ("tlsCACert", &ca)];
    check(
        AT_ONCE,
        [
            bad(
                "PLAIN",
                user(Listener::Sasl, "PLAIN", "bob"),
                &wrong,
                &["{broker}", "authenticat", "password"],
            ),
            bad(
                "PLAIN over TLS",
                user(Listener::SaslTls, "PLAIN", "bob"),
                &wrong,
                &["{broker}", "authenticat", "password"],
            ),
            bad(
                "SCRAM",
                user(Listener::Sasl, "SCRAM-SHA-512", "alice"),
                &wrong,
                &["{broker}", "authenticat", "password"],
            ),
            bad(
                "no user",
                user(Listener::Sasl, "SCRAM-SHA-256", "mallory"),
                &wrong,
                &["{broker}", "authenticat", "user"],
            ),
            bad(
                "a mechanism that is off",
                user(Listener::SaslTls, "SCRAM-SHA-256", "alice"),
                &alice,
                &["{broker}", "SCRAM-SHA-256", "mechanism", "SCRAM-SHA-512"],
            ),
            bad(
                "no password",
                user(Listener::Sasl, "PLAIN", "bob"),
                &[],
                &["password"],
            ),
        ],
    )
    .await
}

#[tokio::test]
async fn no_trust() -> Result<()> {
    let kafka = Kafka::shared();
    let pem = |name| kafka.pem(name);
    let (ca, other_ca, client) = (pem("ca.crt"), pem("other-ca.crt"), pem("client.crt"));
    let (stranger, stranger_key) = (pem("stranger.crt"), pem("stranger.key"));
    let strangers = [
        ("tlsCACert", ca.as_str()),
        ("tlsClientCert", &stranger),
        ("tlsClientKey", &stranger_key),
    ];
    let mixed = [
        ("tlsCACert", ca.as_str()),
        ("tlsClientCert", &client),
        ("tlsClientKey", &stranger_key),
    ];
    let (trusted, other) = (&strangers[..1], [("tlsCACert", other_ca.as_str())]);
    let nonsense = [("tlsCACert", "nonsense")];
    let on = |listener| settings_for(kafka, listener, json!({"tlsAuthWithCACert": true}));
    let mutual = settings_for(
        kafka,
        Listener::MutualTls,
        json!({"tlsAuthWithCACert": true, "tlsAuth": true}),
    );
    let unset = settings_for(kafka, Listener::Tls, json!({}));
    check(
        AT_ONCE,
        [
            bad(
                "no CA",
                unset,
                &[],
                &["{broker}", "certificate", "CA|authority"],
            ),
            bad(
                "another CA",
                on(Listener::Tls),
                &other,
                &["{broker}", "certificate"],
            ),
            bad(
                "another host",
                on(Listener::WrongHost),
                trusted,
                &["{broker}", "certificate", "name"],
            ),
            bad(
                "expired",
                on(Listener::Expired),
                trusted,
                &["{broker}", "certificate", "expired"],
            ),
            bad(
                "no client certificate",
                on(Listener::MutualTls),
                trusted,
                &["{broker}", "client certificate"],
            ),
            bad(
                "a stranger's certificate",
                mutual.clone(),
                &strangers,
                &["{broker}", "client certificate"],
            ),
            bad("a key of another certificate", mutual, &mixed, &["key"]),
            bad(
                "a CA that is none",
                on(Listener::Tls),
                &nonsense,
                &["CA|authority", "PEM"],
            ),
        ],
    )
    .await
}

/// What cannot get better must not use up the deadline.
const AT_ONCE: Duration = Duration::from_secs(2);
const DEADLINE: Duration = Duration::from_secs(4);
/// For the busy machine
const SLACK: Duration = Duration::from_secs(1);

/// Runs the cases and shows all that fail, or take longer than `limit`.
async fn check<const N: usize>(limit: Duration, cases: [Case<'_>; N]) -> Result<()> {
    let mut wrong = Vec::new();
    for mut case in cases {
        let broker = case.settings["bootstrapServers"]
            .as_str()
            .unwrap_or_default()
            .to_owned();
        case.settings["healthcheckTimeout"] = json!(DEADLINE.as_millis() as u64);
        let host = Host::with(case.settings, case.secrets).await?;
        let start = Instant::now();
        let health = host.plugin.check_health(&host.source).await?;
        let (took, text) = (start.elapsed(), health.message.to_lowercase());
        let silent: Vec<_> = case
            .says
            .iter()
            .filter(|says| !says_one_of(&text, says, &broker))
            .collect();
        if health.status != case.status || !silent.is_empty() || took > limit {
            wrong.push(format!(
                "{}: {:?} after {took:.1?}, says nothing of {silent:?}: {}",
                case.name, health.status, health.message
            ));
        }
        let log = host.plugin.log().lines();
        for (key, secret) in case
            .secrets
            .iter()
            .filter(|secret| !secret.0.ends_with("Cert"))
        {
            // Of a key in PEM, one line is enough.
            let part = secret
                .lines()
                .max_by_key(|line| line.len())
                .unwrap_or_default();
            let shown = |text: &str| text.contains(part);
            assert!(
                !shown(&health.message),
                "{}: {key} in {}",
                case.name,
                health.message
            );
            assert!(
                !log.iter().any(|line| shown(&line.raw)),
                "{}: {key} in the log",
                case.name
            );
        }
    }
    assert!(
        wrong.is_empty(),
        "{} of {N} cases:\n{}",
        wrong.len(),
        wrong.join("\n")
    );
    Ok(())
}

fn says_one_of(text: &str, alternatives: &str, broker: &str) -> bool {
    let alternatives = alternatives.replace("{broker}", broker).to_lowercase();
    alternatives
        .split('|')
        .any(|alternative| text.contains(alternative))
}
