//! The fixture itself: each thing it offers is tried once against the broker.

use std::io::{Read as _, Write as _};
use std::net::TcpStream;
use std::process::Command;

use anyhow::{Context, Result};
use rdkafka::consumer::{BaseConsumer, Consumer};
use rdkafka::{ClientConfig, Message, Offset, TopicPartitionList};
use real_kafka::{Kafka, Listener, Operation, RawRecord, Record, Registry, Resource};
use std::time::Duration;

#[test]
fn topics_and_records() -> Result<()> {
    let kafka = Kafka::shared();
    kafka.create_topic_with("fixture", 2, &[("retention.ms", "-1")])?;
    let first = kafka.topic_id("fixture")?;
    kafka.produce(
        "fixture",
        &[
            Record::value("a"),
            Record::value("b"),
            Record::default().keyed("k").to(1).at(7),
        ],
    )?;
    assert_eq!(
        (
            kafka.end_offset("fixture", 0)?,
            kafka.end_offset("fixture", 1)?
        ),
        (2, 1)
    );
    kafka.delete_records("fixture", 0, 1)?;
    assert_eq!(kafka.first_offset("fixture", 0)?, 1);
    kafka.grow_topic("fixture", 3)?;
    assert_eq!(kafka.topics()?.get("fixture"), Some(&3));
    kafka.delete_topic("fixture")?;
    assert_eq!(kafka.topic_id("fixture")?, None);
    kafka.create_topic("fixture", 1)?;
    assert_ne!(kafka.topic_id("fixture")?, first);
    assert_eq!(kafka.groups()?.len(), 0);
    Ok(())
}

#[test]
fn a_transaction_takes_an_offset_for_its_end() -> Result<()> {
    let kafka = Kafka::shared();
    kafka.create_topic("fixture-transaction", 1)?;
    let producer = kafka.transactional("fixture")?;
    for commit in [true, false] {
        producer.begin()?;
        producer.send("fixture-transaction", Record::value("x"))?;
        if commit {
            producer.commit()?;
        } else {
            producer.abort()?;
        }
    }
    kafka.wait_for_end_offset("fixture-transaction", 0, 4)?;
    assert_eq!(kafka.end_offset("fixture-transaction", 0)?, 4);
    Ok(())
}

#[test]
fn every_listener_takes_its_clients() -> Result<()> {
    let kafka = Kafka::shared();
    kafka.create_topic("fixture-listeners", 1)?;
    let (ca, certificate, key) = (
        kafka.pem("ca.crt"),
        kafka.pem("client.crt"),
        kafka.pem("client.key"),
    );
    let mutual = [
        ("ssl.certificate.pem", certificate.as_str()),
        ("ssl.key.pem", key.as_str()),
    ];
    let sasl = |mechanism, user, password| {
        [
            ("sasl.mechanism", mechanism),
            ("sasl.username", user),
            ("sasl.password", password),
        ]
    };
    let (plain, scram256, scram512) = (
        sasl("PLAIN", "bob", "bob-secret"),
        sasl("SCRAM-SHA-256", "alice", "alice-secret"),
        sasl("SCRAM-SHA-512", "alice", "alice-secret"),
    );
    for (listener, properties, works) in [
        (Listener::Plaintext, &[][..], true),
        (Listener::Sasl, &plain, true),
        (Listener::Sasl, &scram256, true),
        (Listener::Sasl, &scram512, true),
        (Listener::Sasl, &sasl("PLAIN", "bob", "no"), false),
        (Listener::SaslTls, &plain, true),
        (Listener::SaslTls, &scram512, true),
        (Listener::SaslTls, &scram256, false),
        (Listener::MutualTls, &mutual, true),
        (Listener::MutualTls, &[], false),
        (Listener::Tls, &[], true),
        (Listener::WrongHost, &[], false),
        (Listener::Expired, &[], false),
    ] {
        let mut config = ClientConfig::new();
        config
            .set("bootstrap.servers", kafka.address(listener))
            .set("security.protocol", listener.protocol());
        config.set("ssl.ca.pem", &ca).set("group.id", "fixture");
        for (name, value) in properties {
            config.set(*name, *value);
        }
        let consumer: BaseConsumer = config.create()?;
        let answer = consumer.fetch_metadata(
            Some("fixture-listeners"),
            Duration::from_secs(if works { 10 } else { 2 }),
        );
        assert_eq!(
            answer.is_ok(),
            works,
            "{listener:?} {properties:?}: {:?}",
            answer.err()
        );
    }
    Ok(())
}

#[test]
fn rules_close_a_topic() -> Result<()> {
    let kafka = Kafka::shared();
    kafka.create_topic("fixture-rules", 1)?;
    kafka.produce("fixture-rules", &[Record::value("a")])?;
    let bob = |topic: &str| -> Result<bool> {
        let mut config = ClientConfig::new();
        config
            .set("bootstrap.servers", kafka.address(Listener::Sasl))
            .set("security.protocol", "SASL_PLAINTEXT");
        config
            .set("sasl.mechanism", "PLAIN")
            .set("sasl.username", "bob")
            .set("sasl.password", "bob-secret");
        let consumer: BaseConsumer = config
            .set("group.id", "fixture")
            .set("enable.auto.commit", "false")
            .create()?;
        let mut start = TopicPartitionList::new();
        start.add_partition_offset(topic, 0, Offset::Beginning)?;
        consumer.assign(&start)?;
        let record = consumer
            .poll(Duration::from_secs(10))
            .context("nothing came")?;
        Ok(record.is_ok_and(|record| record.payload() == Some(b"a")))
    };
    assert!(bob("fixture-rules")?);
    kafka.allow("bob", Operation::Describe, Resource::Topic("fixture-rules"))?;
    assert!(!bob("fixture-rules")?);
    kafka.clear_rules(Resource::Topic("fixture-rules"))?;
    assert!(bob("fixture-rules")?);
    kafka.allow("bob", Operation::Describe, Resource::Topic("fixture-rules"))?;
    kafka.deny("bob", Operation::Read, Resource::Topic("fixture-rules"))?;
    assert!(!bob("fixture-rules")?);
    Ok(())
}

#[test]
fn records_outlive_a_kill_and_the_broker_does_not_outlive_its_owner() -> Result<()> {
    let kafka = Kafka::start()?;
    kafka.create_topic("fixture-kill", 1)?;
    kafka.produce("fixture-kill", &[Record::value("a")])?;
    kafka.kill()?;
    assert!(TcpStream::connect(kafka.bootstrap()).is_err());
    kafka.restart()?;
    assert_eq!(kafka.end_offset("fixture-kill", 0)?, 1);
    let address = kafka.bootstrap();
    drop(kafka);
    assert!(TcpStream::connect(address).is_err());
    Ok(())
}

#[test]
fn a_registry_answers_until_it_is_stopped() -> Result<()> {
    let mut registry = Registry::start()?;
    let url = registry.confluent();
    let (address, path) = (url.strip_prefix("http://"))
        .and_then(|rest| rest.split_once('/'))
        .context("an address and a path")?;
    let mut socket = TcpStream::connect(address)?;
    let request = format!("GET /{path}/subjects HTTP/1.0\r\nHost: {address}\r\n\r\n");
    socket.write_all(request.as_bytes())?;
    let mut answer = String::new();
    socket.read_to_string(&mut answer)?;
    assert!(
        answer.contains(" 200 ") && answer.ends_with("[]"),
        "{answer}"
    );
    registry.stop();
    assert!(TcpStream::connect(address).is_err());
    Ok(())
}

#[test]
fn a_second_node_takes_over() -> Result<()> {
    let kafka = Kafka::start()?;
    let second = kafka.join()?;
    kafka.create_replicated_topic("fixture-moved", &[2, 1])?;
    kafka.produce("fixture-moved", &[Record::value("a")])?;
    second.kill()?;
    kafka.produce("fixture-moved", &[Record::value("b")])?;
    assert_eq!(kafka.end_offset("fixture-moved", 0)?, 2);
    Ok(())
}

#[test]
fn a_command_runs_beside_a_broker_and_its_exit_code_is_kept() -> Result<()> {
    let status = Command::new(env!("CARGO_BIN_EXE_real-kafka"))
        .args([
            "sh",
            "-c",
            "case $STREAMSCOPE_KAFKA in 127.0.0.1:*) exit 7;; esac",
        ])
        .status()?;
    assert_eq!(status.code(), Some(7));
    Ok(())
}

#[test]
fn raw_records() -> Result<()> {
    let kafka = Kafka::shared();
    kafka.create_topic("fixture-raw", 1)?;
    let headers: [(&[u8], _); 1] = [(b"\xff", Some(&b"x"[..]))];
    let record = RawRecord {
        timestamp: -1,
        value: Some(b"a"),
        headers: &headers,
    };
    kafka.produce_raw("fixture-raw", &[record, record])?;
    let mut config = ClientConfig::new();
    config
        .set("bootstrap.servers", kafka.bootstrap())
        .set("group.id", "fixture");
    let consumer: BaseConsumer = config.set("enable.auto.commit", "false").create()?;
    let mut start = TopicPartitionList::new();
    start.add_partition_offset("fixture-raw", 0, Offset::Offset(1))?;
    consumer.assign(&start)?;
    let record = consumer
        .poll(Duration::from_secs(10))
        .context("nothing came")??;
    assert_eq!(
        (
            record.offset(),
            record.payload(),
            record.timestamp().to_millis()
        ),
        (1, Some(&b"a"[..]), None)
    );
    Ok(())
}
