use std::collections::HashMap;

use serde_json::{Value, json};

use super::*;

fn settings(keys: &Value, secrets: &[(&str, &str)]) -> Settings {
    let mut object = json!({"bootstrapServers": "a:1, b"});
    for (key, value) in keys.as_object().unwrap() {
        object[key] = value.clone();
    }
    let secrets: HashMap<_, _> = secrets
        .iter()
        .map(|&(key, value)| (key.to_owned(), value.to_owned()))
        .collect();
    Settings::parse(object.to_string().as_bytes(), &secrets).unwrap()
}

#[test]
fn settings_become_properties() {
    let sasl = json!({"securityProtocol": "SASL_SSL", "saslMechanisms": "SCRAM-SHA-512", "saslUsername": "alice"});
    let mutual = json!({"securityProtocol": "SSL", "tlsAuth": true, "tlsAuthWithCACert": true});
    let unverified =
        json!({"securityProtocol": "SSL", "tlsSkipVerify": true, "serverName": "elsewhere"});
    let named =
        json!({"securityProtocol": "SSL", "tlsAuthWithCACert": true, "serverName": "elsewhere"});
    let secrets = [
        ("saslPassword", "p"),
        ("tlsCACert", "ca"),
        ("tlsClientCert", "cert"),
        ("tlsClientKey", "key"),
    ];
    for (keys, want) in [
        (
            json!({}),
            &[
                ("bootstrap.servers", Some("a:1,b:9092")),
                ("security.protocol", Some("plaintext")),
                ("client.id", Some("streamscope")),
                ("allow.auto.create.topics", Some("false")),
                ("socket.connection.setup.timeout.ms", Some("10000")),
                ("sasl.mechanism", None),
                ("ssl.ca.location", None),
            ][..],
        ),
        (
            json!({"clientId": "wall", "timeout": 200}),
            &[
                ("client.id", Some("wall")),
                ("socket.connection.setup.timeout.ms", Some("1000")),
            ],
        ),
        (
            sasl,
            &[
                ("security.protocol", Some("sasl_ssl")),
                ("sasl.mechanism", Some("SCRAM-SHA-512")),
                ("sasl.username", Some("alice")),
                ("sasl.password", Some("p")),
                // A CA certificate counts only where it is switched on.
                ("ssl.ca.pem", None),
                ("enable.ssl.certificate.verification", None),
            ],
        ),
        (
            mutual,
            &[
                ("security.protocol", Some("ssl")),
                ("ssl.ca.pem", Some("ca")),
                ("ssl.certificate.pem", Some("cert")),
                ("ssl.key.pem", Some("key")),
                ("ssl.endpoint.identification.algorithm", None),
            ],
        ),
        (
            unverified,
            &[
                ("enable.ssl.certificate.verification", Some("false")),
                ("ssl.endpoint.identification.algorithm", None),
            ],
        ),
        (
            named,
            &[
                ("ssl.endpoint.identification.algorithm", Some("none")),
                ("ssl.ca.pem", Some("ca")),
            ],
        ),
    ] {
        let config = shared(&settings(&keys, &secrets)).unwrap();
        for &(property, value) in want {
            assert_eq!(config.get(property), value, "{keys} {property}");
        }
        assert_eq!(
            config.get("group.id"),
            None,
            "the client that asks is in no group"
        );
    }
}

#[test]
fn a_stream_commits_nothing_and_is_bounded() {
    let settings = settings(&json!({"groupId": "g", "metadataInterval": 2000}), &[]);
    for (level, isolation) in [
        (IsolationLevel::ReadCommitted, "read_committed"),
        (IsolationLevel::ReadUncommitted, "read_uncommitted"),
    ] {
        let config = stream(&settings, level).unwrap();
        for (property, value) in [
            ("group.id", "g"),
            ("enable.auto.commit", "false"),
            ("enable.auto.offset.store", "false"),
            ("auto.offset.reset", "error"),
            ("isolation.level", isolation),
            ("queued.max.messages.kbytes", "8192"),
            ("fetch.queue.backoff.ms", "5"),
            ("topic.metadata.refresh.interval.ms", "2000"),
            ("allow.auto.create.topics", "false"),
        ] {
            assert_eq!(config.get(property), Some(value), "{property}");
        }
        // librdkafka knows every name and takes every value.
        config.create_native_config().unwrap();
    }
}

#[test]
fn another_name_in_the_certificate() {
    let tls = |ca: Option<&str>, name: Option<&str>| Tls {
        ca: ca.map(str::to_owned),
        server_name: name.map(str::to_owned),
        ..Tls::default()
    };
    let servers = ["kafka:9092".to_owned(), "KAFKA:9093".to_owned()];
    for (tls, want) in [
        (tls(None, None), NameCheck::ByLibrdkafka),
        (tls(None, Some("Kafka")), NameCheck::ByLibrdkafka),
        (tls(Some("ca"), Some("other")), NameCheck::ChainOnly),
        // Any public authority would do: no check at all, which nobody asked for.
        (tls(None, Some("other")), NameCheck::Impossible),
    ] {
        assert_eq!(name_check(&tls, &servers), want, "{tls:?}");
    }
    let keys = json!({"securityProtocol": "SSL", "serverName": "other"});
    let error = shared(&settings(&keys, &[])).unwrap_err();
    assert!(error.to_string().contains("serverName"), "{error}");

    let mut keys = keys;
    keys["tlsAuthWithCACert"] = json!(true);
    let said = shortcomings(&settings(&keys, &[("tlsCACert", "ca")]));
    assert!(
        said.len() == 1 && said[0].contains("serverName"),
        "{said:?}"
    );
}
