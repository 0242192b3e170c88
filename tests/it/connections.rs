//! Connections of queries, resources and runs: over each listener, to a silent broker, with a wrong password.

use std::time::{Duration, Instant};

use anyhow::Result;
use real_kafka::{Kafka, Listener};
use serde_json::json;
use workbench::host::proto::HealthStatus;

use super::support::{Host, query, settings_for};

/// A stream and a query over each listener that works: the settings reach the readers as well.
#[tokio::test]
async fn records_over_every_listener() -> Result<()> {
    let kafka = Kafka::shared();
    kafka.create_topic("health-records", 1)?;
    kafka.produce("health-records", &[real_kafka::Record::value(r#"{"n":1}"#)])?;
    let (ca, client, key) = (
        kafka.pem("ca.crt"),
        kafka.pem("client.crt"),
        kafka.pem("client.key"),
    );
    let secrets = [
        ("tlsCACert", ca.as_str()),
        ("tlsClientCert", &client),
        ("tlsClientKey", &key),
        ("saslPassword", "alice-secret"),
    ];
    for (listener, mechanism) in [
        (Listener::Sasl, "PLAIN"),
        (Listener::Sasl, "SCRAM-SHA-256"),
        (Listener::SaslTls, "SCRAM-SHA-512"),
        (Listener::MutualTls, ""),
        (Listener::Tls, ""),
    ] {
        let keys = json!({"saslMechanisms": mechanism, "saslUsername": "alice", "tlsAuthWithCACert": true,
            "tlsAuth": listener == Listener::MutualTls});
        let host = Host::with(settings_for(kafka, listener, keys), &secrets).await?;
        let (answer, mut run) = host.watch(query("health-records", json!({}))).await?;
        assert!(
            !answer.offsets(0).is_empty(),
            "{listener:?}: {}",
            answer.error
        );
        kafka.produce("health-records", &[real_kafka::Record::value(r#"{"n":2}"#)])?;
        run.until_records(1).await?;
    }
    Ok(())
}

/// A broker that takes connections and never answers: the deadline holds (K41).
#[tokio::test]
async fn a_silent_broker() -> Result<()> {
    let listener = std::net::TcpListener::bind("127.0.0.1:0")?;
    let address = listener.local_addr()?.to_string();
    let settings =
        json!({"bootstrapServers": address, "healthcheckTimeout": 1000, "timeout": 1000});
    let host = Host::with(settings, &[]).await?;
    let start = Instant::now();
    let health = host.plugin.check_health(&host.source).await?;
    let took = start.elapsed();
    assert_eq!(health.status, HealthStatus::Error);
    assert!(
        health.message.contains(&address) && took < Duration::from_secs(2),
        "{took:?}: {}",
        health.message
    );
    for call in [
        host.get("topics").await?,
        host.get("partitions?topic=t").await?,
    ] {
        assert_eq!(call.status, 500, "{}", call.json());
    }
    let answer = host.query(query("t", json!({}))).await?;
    assert!(answer.error.contains(&address), "{}", answer.error);
    assert!(
        start.elapsed() < Duration::from_secs(8),
        "{:?} for four calls",
        start.elapsed()
    );
    Ok(())
}

/// A wrong password must not hammer the broker or the log: it could lock the account.
#[tokio::test]
async fn a_wrong_password_in_a_run() -> Result<()> {
    let kafka = Kafka::shared();
    kafka.create_topic("health-password", 1)?;
    let settings = settings_for(
        kafka,
        Listener::Sasl,
        json!({"saslMechanisms": "PLAIN", "saslUsername": "bob"}),
    );
    let host = Host::with(settings, &[("saslPassword", "not-the-secret")]).await?;
    let (answer, mut run) = host.watch(query("health-password", json!({}))).await?;
    assert!(
        answer.error.to_lowercase().contains("authenticat"),
        "{}",
        answer.error
    );
    run.until("an _error row", |rows| !rows.troubles().is_empty())
        .await?;
    run.linger(Duration::from_secs(5)).await?;
    let troubles = run.troubles();
    assert!(
        troubles.len() == 1 && troubles[0].to_lowercase().contains("authenticat"),
        "{troubles:?}"
    );
    let lines = host.plugin.log().lines();
    assert!(lines.len() < 40, "{} log lines", lines.len());
    assert!(!lines.iter().any(|line| line.raw.contains("not-the-secret")));
    Ok(())
}
