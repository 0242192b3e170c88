//! Connections of queries, resources and runs: over each listener, to a silent broker, with a wrong password.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::time::{Duration, Instant};

use anyhow::{Context, Result};
use real_kafka::{Kafka, Listener};
use serde_json::json;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream};
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
            "tlsAuth": listener == Listener::MutualTls, "logLevel": "debug"});
        let host = Host::with(settings_for(kafka, listener, keys), &secrets).await?;
        let (answer, mut run) = host.watch(query("health-records", json!({}))).await?;
        assert!(
            !answer.offsets(0).is_empty(),
            "{listener:?}: {}",
            answer.error
        );
        kafka.produce("health-records", &[real_kafka::Record::value(r#"{"n":2}"#)])?;
        run.until_records(1).await?;
        // A log-in that works, at the level that says the most.
        let lines = host.plugin.log().lines();
        assert!(lines.len() > 2, "{listener:?}: {} lines", lines.len());
        let body = key.lines().nth(1).context("a key has a body")?;
        for secret in ["alice-secret", "PRIVATE KEY", body] {
            let told = lines.iter().find(|line| line.raw.contains(secret));
            assert!(told.is_none(), "{listener:?}: {told:?}");
        }
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

/// Servers lock accounts over log-ins that fail: whatever is asked of a data source, one that was refused is not repeated
/// for a while (K37). A stream then goes on by itself once it is accepted.
#[tokio::test(flavor = "multi_thread")]
async fn a_refused_log_in_is_not_repeated() -> Result<()> {
    let kafka = Kafka::shared();
    kafka.create_topic("health-refused", 1)?;
    kafka.produce("health-refused", &[real_kafka::Record::value("{}")])?;
    let gate = Gate::before(kafka.address(Listener::Sasl)).await?;
    let settings = json!({"bootstrapServers": gate.address, "securityProtocol": "SASL_PLAINTEXT",
        "saslMechanisms": "PLAIN", "saslUsername": "alice"});
    let host = Host::with(settings, &[("saslPassword", "alice-secret")]).await?;
    let start = Instant::now();
    let health = host.plugin.check_health(&host.source).await?;
    assert!(
        health.message.contains("refused the credentials"),
        "{}",
        health.message
    );
    assert!(start.elapsed() < Duration::from_secs(1), "at once");
    let model = query("health-refused", json!({}));
    for _ in 0..3 {
        let topics = host.get("topics?search=h").await?;
        assert_eq!(topics.status, 500);
        let answer = host.query(model.clone()).await?;
        assert!(
            answer.error.contains("refused the credentials"),
            "{}",
            answer.error
        );
    }
    let answer = host.query(model).await?;
    let mut run = host.run(answer.live()?).await?;
    run.until("an _error row", |rows| !rows.troubles().is_empty())
        .await?;
    run.linger(Duration::from_secs(3).saturating_sub(start.elapsed()))
        .await?;
    assert_eq!(gate.log_ins(), 1, "all of this after one attempt");
    run.linger(Duration::from_secs(4)).await?;
    assert_eq!(gate.log_ins(), 2, "the stream's own, after a pause");

    gate.open();
    run.until("a record", |rows| rows.count() == 1).await?;
    assert_eq!(run.troubles().len(), 1, "said once: {:?}", run.troubles());
    assert!(run.noticed("answers again"), "{:?}", run.notices);
    Ok(())
}

/// Stands before a broker, counts log-ins, and spoils alice's password in them until it is opened.
struct Gate {
    address: String,
    log_ins: Arc<AtomicUsize>,
    is_open: Arc<AtomicBool>,
}

impl Gate {
    async fn before(broker: String) -> Result<Gate> {
        let listener = TcpListener::bind("127.0.0.1:0").await?;
        let gate = Gate {
            address: listener.local_addr()?.to_string(),
            log_ins: Arc::default(),
            is_open: Arc::default(),
        };
        let (log_ins, is_open) = (Arc::clone(&gate.log_ins), Arc::clone(&gate.is_open));
        tokio::spawn(async move {
            while let Ok((client, _)) = listener.accept().await {
                let (broker, log_ins, is_open) =
                    (broker.clone(), Arc::clone(&log_ins), Arc::clone(&is_open));
                // The connection's end is no fault of the test's.
                tokio::spawn(async move { pass_on(client, &broker, &log_ins, &is_open).await });
            }
        });
        Ok(gate)
    }

    fn log_ins(&self) -> usize {
        self.log_ins.load(Ordering::SeqCst)
    }

    fn open(&self) {
        self.is_open.store(true, Ordering::SeqCst);
    }
}

async fn pass_on(
    client: TcpStream,
    broker: &str,
    log_ins: &AtomicUsize,
    is_open: &AtomicBool,
) -> std::io::Result<()> {
    const SASL_AUTHENTICATE: [u8; 2] = [0, 36];
    let (mut client_reads, mut client_writes) = client.into_split();
    let (mut broker_reads, mut broker_writes) = TcpStream::connect(broker).await?.into_split();
    tokio::spawn(async move { tokio::io::copy(&mut broker_reads, &mut client_writes).await });
    loop {
        let length = client_reads.read_u32().await?;
        let mut request = vec![0; length as usize];
        client_reads.read_exact(&mut request).await?;
        if request.starts_with(&SASL_AUTHENTICATE) {
            log_ins.fetch_add(1, Ordering::SeqCst);
            let password = b"alice-secret";
            let at = request
                .windows(password.len())
                .position(|part| part == password);
            if let (Some(at), false) = (at, is_open.load(Ordering::SeqCst)) {
                request[at] = b'x';
            }
        }
        broker_writes.write_u32(length).await?;
        broker_writes.write_all(&request).await?;
    }
}
