use rdkafka::types::RDKafkaConfRes;

use super::*;

/// librdkafka 2.12 and 2.16 against Apache Kafka 4.3, each line with the fault behind it.
#[test]
#[allow(clippy::too_many_lines)] // one table
fn causes() {
    use Code::{Authentication, BrokerTransportFailure, Resolve, SSL};
    let table: &[(&str, Option<Code>, &str, Cause)] = &[
        (
            "nothing listens",
            Some(BrokerTransportFailure),
            "127.0.0.1:19990/bootstrap: Connect to ipv4#127.0.0.1:19990 failed: Connection refused (after 0ms in state CONNECT)",
            Cause::Refused,
        ),
        (
            "unknown host",
            Some(Resolve),
            "nohost.invalid:9092/bootstrap: Failed to resolve 'nohost.invalid:9092': Name or service not known (after 8ms in state CONNECT)",
            Cause::NameUnknown,
        ),
        (
            "name server down",
            Some(Resolve),
            "kafka:9092/bootstrap: Failed to resolve 'kafka:9092': Temporary failure in name resolution (after 8ms in state CONNECT)",
            Cause::NameLookupFailed,
        ),
        (
            "no route",
            Some(BrokerTransportFailure),
            "10.0.0.9:9092/bootstrap: Connect to ipv4#10.0.0.9:9092 failed: No route to host (after 3ms in state CONNECT)",
            Cause::Unreachable,
        ),
        (
            "black hole",
            Some(BrokerTransportFailure),
            "10.0.0.9:9092/bootstrap: Connection setup timed out in state CONNECT (after 1001ms in state CONNECT)",
            Cause::ConnectTimeout,
        ),
        (
            "TLS to a port that never answers",
            Some(BrokerTransportFailure),
            "ssl://10.0.0.9:9092/bootstrap: Connection setup timed out in state SSL_HANDSHAKE (after 1001ms in state SSL_HANDSHAKE)",
            Cause::NoAnswer,
        ),
        (
            "TLS to plaintext",
            Some(BrokerTransportFailure),
            "ssl://127.0.0.1:19092/bootstrap: SSL handshake failed: Disconnected: SSL connection closed by peer: connecting to a PLAINTEXT broker listener? (after 2ms in state SSL_HANDSHAKE)",
            Cause::PlaintextListener,
        ),
        (
            "wrong CA, no CA, wrong host name, expired",
            Some(SSL),
            "ssl://127.0.0.1:19097/bootstrap: SSL handshake failed: error:0A000086:SSL routines::certificate verify failed: broker certificate could not be verified, verify that ssl.ca.location is correctly configured or root CA certificates are installed (install ca-certificates package) (after 9ms in state SSL_HANDSHAKE)",
            Cause::BrokerCertificate,
        ),
        (
            "no client certificate, OpenSSL 3.5",
            Some(BrokerTransportFailure),
            "ssl://127.0.0.1:19095/bootstrap: Receive failed: error:0A000412:SSL routines::ssl/tls alert bad certificate: SSL alert number 42 (after 3ms in state APIVERSION_QUERY)",
            Cause::ClientCertificate,
        ),
        (
            "no client certificate, OpenSSL 3.0",
            Some(BrokerTransportFailure),
            "ssl://127.0.0.1:19095/bootstrap: Receive failed: error:0A000412:SSL routines::sslv3 alert bad certificate: SSL alert number 42 (after 3ms in state APIVERSION_QUERY)",
            Cause::ClientCertificate,
        ),
        (
            "SASL to a listener without it",
            Some(Authentication),
            "sasl_plaintext://127.0.0.1:19092/bootstrap: SASL PLAIN mechanism handshake failed: Broker: Request not valid in current SASL state: broker's supported mechanisms:  (after 1ms in state AUTH_HANDSHAKE)",
            Cause::NoSaslListener,
        ),
        (
            "mechanism not enabled",
            Some(Authentication),
            "sasl_ssl://127.0.0.1:19096/bootstrap: SASL SCRAM-SHA-256 mechanism handshake failed: Broker: Unsupported SASL mechanism: broker's supported mechanisms: PLAIN,SCRAM-SHA-512,OAUTHBEARER (after 1ms in state AUTH_HANDSHAKE)",
            Cause::MechanismDisabled,
        ),
        (
            "PLAIN, wrong password",
            Some(Authentication),
            "sasl_plaintext://127.0.0.1:19094/bootstrap: SASL authentication error: Authentication failed: Invalid username or password (after 101ms in state AUTH_REQ)",
            Cause::Credentials,
        ),
        (
            "SCRAM, wrong password",
            Some(Authentication),
            "sasl_plaintext://127.0.0.1:19094/bootstrap: SASL authentication error: Authentication failed during authentication due to invalid credentials with SASL mechanism SCRAM-SHA-512 (after 101ms in state AUTH_REQ)",
            Cause::Credentials,
        ),
        (
            "plaintext to TLS, from the log",
            None,
            "127.0.0.1:19097/bootstrap: Disconnected: connection closed by peer: receive 0 after POLLIN (after 5ms in state APIVERSION_QUERY)",
            Cause::ClosedByBroker,
        ),
        (
            "a web server",
            Some(BrokerTransportFailure),
            "10.255.255.1:9092/bootstrap: Receive failed: Invalid response size 1213486160 (0..100000000): increase receive.message.max.bytes (after 1ms in state APIVERSION_QUERY)",
            Cause::NotKafka,
        ),
        (
            "no SASL where it is wanted",
            Some(BrokerTransportFailure),
            "127.0.0.1:19094/bootstrap: Send failed: Broken pipe (after 5ms in state UP)",
            Cause::ClosedByBroker,
        ),
    ];
    for (case, code, line, cause) in table {
        let fault = Fault::parse(*code, line);
        assert_eq!(fault.cause, *cause, "{case}");
        let broker = fault.broker.expect(case);
        assert!(
            line.contains(&broker) && !broker.contains('/'),
            "{case}: {broker}"
        );
        assert!(!fault.text.contains("(after"), "{case}: {}", fault.text);
    }
}

#[test]
fn broker_names() {
    for (line, broker, text) in [
        ("h:1/bootstrap: x", Some("h:1"), "x"),
        (
            "ssl://[::1]:9092/3: x: y (after 1ms in state UP)",
            Some("[::1]:9092"),
            "x: y",
        ),
        ("GroupCoordinator: h:1: x", None, "GroupCoordinator: h:1: x"),
        (
            "orders [0]: topic does not exist",
            None,
            "orders [0]: topic does not exist",
        ),
        ("1/1 brokers are down", None, "1/1 brokers are down"),
    ] {
        let fault = Fault::parse(None, line);
        assert_eq!(
            (fault.broker.as_deref(), fault.text.as_str()),
            (broker, text),
            "{line}"
        );
    }
}

#[test]
fn only_what_nobody_can_wait_out_is_final() {
    for (cause, is_final) in [
        (Cause::NameUnknown, true),
        (Cause::NameLookupFailed, false),
        (Cause::Refused, false),
        (Cause::BrokerCertificate, true),
        (Cause::ClientCertificate, true),
        (Cause::PlaintextListener, true),
        (Cause::Credentials, true),
        (Cause::MechanismDisabled, true),
        (Cause::ClosedByBroker, false),
        (Cause::NoAnswer, false),
    ] {
        assert_eq!(cause.is_final(), is_final, "{cause:?}");
    }
}

#[test]
fn a_client_that_cannot_be_made_names_the_setting() {
    for (text, key) in [
        (
            "ssl.ca.pem failed: not in PEM format?: error:0480006C:PEM routines::no start line",
            "tlsCACert",
        ),
        (
            "failed to read certificate #0 from ssl.ca.pem: not in PEM format?",
            "tlsCACert",
        ),
        (
            "ssl.key.pem failed: not in PEM format?: error:1E08010C",
            "tlsClientKey",
        ),
        (
            "ssl.key.location failed: error:05800074:x509 certificate routines::key values mismatch",
            "tlsClientKey",
        ),
        (
            "ssl.certificate.pem failed: not in PEM format?",
            "tlsClientCert",
        ),
        (
            "sasl.username and sasl.password must be set",
            "saslUsername",
        ),
        ("Unsupported SASL mechanism: FOO", "saslMechanisms"),
    ] {
        let error = KafkaError::from_creation(&ClientError::ClientCreation(text.to_owned()));
        assert!(
            matches!(error, KafkaError::Settings { key: found, .. } if found == key),
            "{text}: {error}"
        );
    }
}

#[test]
fn a_refused_value_is_not_repeated() {
    let error = ClientError::ClientConfig(
        RDKafkaConfRes::RD_KAFKA_CONF_INVALID,
        "Invalid value \"hunter2\"".into(),
        "sasl.password".into(),
        "hunter2".into(),
    );
    let text = KafkaError::from_creation(&error).to_string();
    assert!(
        !text.contains("hunter2") && text.contains("saslUsername"),
        "{text}"
    );
}

#[test]
fn the_same_fault_is_said_once() {
    let refused = Fault::parse(
        None,
        "a:1/bootstrap: Connect to ipv4#1.2.3.4:1 failed: Connection refused",
    );
    let text = KafkaError::Connection(vec![refused.clone(), refused]).to_string();
    assert_eq!(text.matches("a:1").count(), 1, "{text}");
}
