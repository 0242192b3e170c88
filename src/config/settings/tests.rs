use serde_json::json;

use super::*;
use crate::config::{Sasl, SaslMechanism, Secret};

fn parse(json: &Value) -> Result<Settings, SettingsError> {
    parse_with(json, &[])
}

fn parse_with(json: &Value, secrets: &[(&str, &str)]) -> Result<Settings, SettingsError> {
    let mut object = json!({ "bootstrapServers": "localhost:9092" });
    for (key, value) in json.as_object().unwrap() {
        object[key] = value.clone();
    }
    let secrets = secrets
        .iter()
        .map(|&(k, v)| (k.to_owned(), v.to_owned()))
        .collect();
    Settings::parse(object.to_string().as_bytes(), &secrets)
}

/// The text of every error and problem, to look through.
fn said(result: &Result<Settings, SettingsError>) -> String {
    match result {
        Ok(settings) => settings.problems.join("\n"),
        Err(error) => error.to_string(),
    }
}

#[test]
fn defaults() {
    let settings = parse(&json!({})).unwrap();
    assert_eq!(settings.bootstrap_servers, ["localhost:9092"]);
    assert_eq!(settings.group_id, "streamscope");
    assert_eq!(settings.security, Security::default());
    assert_eq!(settings.health_timeout, Duration::from_secs(2));
    assert_eq!(settings.timeout, Duration::from_secs(10));
    assert_eq!(
        settings.flatten,
        FlattenLimits {
            max_depth: 5,
            max_fields: 1000
        }
    );
    assert_eq!(settings.slot_bytes, 512 * 1024);
    assert!(settings.topics.permits("anything"));
    assert!(settings.problems.is_empty(), "{:?}", settings.problems);
}

#[test]
fn numbers_are_clamped_and_named() {
    for (json, depth, named) in [
        (json!({ "flattenMaxDepth": 0 }), 5, ""),
        (json!({ "flattenMaxDepth": "7" }), 7, ""),
        (json!({ "flattenMaxDepth": -3 }), 1, "flattenMaxDepth"),
        (json!({ "flattenMaxDepth": 1e9 }), 64, "flattenMaxDepth"),
    ] {
        let settings = parse(&json).unwrap();
        assert_eq!(settings.flatten.max_depth, depth, "{json}");
        assert_eq!(settings.problems.is_empty(), named.is_empty(), "{json}");
        assert!(settings.problems.join("").contains(named), "{json}");
    }
}

#[test]
fn save_and_test_takes_the_request_deadline_where_it_has_none() {
    for (json, ms) in [
        (json!({ "timeout": 5000 }), 5000),
        (json!({ "timeout": 5000, "healthcheckTimeout": 700 }), 700),
        (json!({ "timeout": 0, "healthcheckTimeout": 0 }), 2000),
        (json!({ "healthcheckTimeout": 1500.5 }), 1501),
    ] {
        assert_eq!(
            parse(&json).unwrap().health_timeout,
            Duration::from_millis(ms),
            "{json}"
        );
    }
}

#[test]
fn keys_that_nobody_knows_are_named() {
    for (key, named) in [
        ("bootstrapServer", true),
        ("flattenmaxdepth", true),
        ("schemaRegistryUrl", false),
        ("messageFormat", false),
        ("httpHeaderName1", false),
        ("oauthPassThru", false),
    ] {
        let settings = parse(&json!({ key: "" })).unwrap();
        assert_eq!(settings.problems.join("").contains(key), named, "{key}");
    }
}

#[test]
fn errors_name_the_key_and_never_the_value() {
    let value = "hunter2";
    for (json, key) in [
        (json!({ "timeout": value }), "timeout"),
        (
            json!({ "securityProtocol": "SSL", "tlsSkipVerify": value }),
            "tlsSkipVerify",
        ),
        (json!({ "securityProtocol": value }), "securityProtocol"),
        (
            json!({ "securityProtocol": "SASL_SSL", "saslMechanisms": value }),
            "saslMechanisms",
        ),
        (
            json!({ "securityProtocol": "SASL_SSL", "saslUsername": value }),
            "saslPassword",
        ),
        (
            json!({ "topicAllow": [value, "[z-a"] }),
            "entry 2 of `topicAllow`",
        ),
        (json!({ "topicDeny": [[value]] }), "topicDeny"),
        (
            json!({ "bootstrapServers": format!("a:1,http://{value}@b") }),
            "entry 2 of `bootstrapServers`",
        ),
        (json!({ "bootstrapServers": " , " }), "bootstrapServers"),
        (json!({ "clientId": { "a": value } }), "clientId"),
    ] {
        let text = said(&parse(&json));
        assert!(text.contains(key), "{json}: {text}");
        assert!(!text.contains(value), "{json}: {text}");
    }
    let text = Settings::parse(b"\"hunter2", &HashMap::new())
        .unwrap_err()
        .to_string();
    assert!(text.contains("jsonData") && !text.contains(value), "{text}");
}

#[test]
fn broker_addresses() {
    for (server, right) in [
        ("kafka:9092", true),
        ("kafka", true),
        ("10.0.0.1:9092", true),
        ("[2001:db8::5]:9092", true),
        ("[2001:db8::5]", true),
        ("2001:db8::5", false),
        ("[2001:db8::5", false),
        ("kafka:0", false),
        ("kafka:port", false),
        ("kafka:70000", false),
        (":9092", false),
        ("kafka:9092 other:9092", false),
        ("SASL_SSL://kafka:9092", false),
    ] {
        assert_eq!(address_fault(server).is_none(), right, "{server}");
    }
}

#[test]
fn sasl() {
    let json = json!({ "securityProtocol": "sasl_plaintext", "saslMechanisms": "SCRAM-SHA-512", "saslUsername": "alice" });
    let settings = parse_with(&json, &[("saslPassword", "hunter2")]).unwrap();
    let want = Sasl {
        mechanism: SaslMechanism::ScramSha512,
        username: "alice".into(),
        password: Secret::new("hunter2"),
    };
    assert_eq!(settings.security.sasl, Some(want));
    assert_eq!(settings.security.tls, None);
    assert!(!format!("{settings:?}").contains("hunter2"));
}

#[test]
fn tls() {
    let json = json!({ "securityProtocol": "SSL", "tlsAuthWithCACert": "true", "tlsAuth": true, "serverName": "kafka" });
    let secrets = [
        ("tlsCACert", "ca"),
        ("tlsClientCert", "cert"),
        ("tlsClientKey", "hunter2"),
    ];
    let settings = parse_with(&json, &secrets).unwrap();
    let tls = settings.security.tls.clone().unwrap();
    assert_eq!(tls.ca.as_deref(), Some("ca"));
    assert_eq!(tls.client.unwrap().key.expose(), "hunter2");
    assert_eq!(tls.server_name.as_deref(), Some("kafka"));
    assert!(!format!("{settings:?}").contains("hunter2"));

    let settings = parse(&json).unwrap();
    assert_eq!(settings.problems.len(), 2, "{:?}", settings.problems);
}

/// `tests/contract/settings.json` holds the cases: the front end's tests read the same file.
#[test]
fn contract() {
    let cases: Vec<Value> =
        serde_json::from_str(include_str!("../../../tests/contract/settings.json")).unwrap();
    for case in cases {
        let name = &case["name"];
        let secrets = serde_json::from_value(case["secureJsonData"].clone()).unwrap();
        match (
            Settings::parse(case["jsonData"].to_string().as_bytes(), &secrets),
            case.get("error"),
        ) {
            (Ok(settings), None) => {
                let named = case["problems"].as_array().unwrap();
                assert_eq!(
                    settings.problems.len(),
                    named.len(),
                    "{name}: {:?}",
                    settings.problems
                );
                for (problem, key) in settings.problems.iter().zip(named) {
                    assert!(problem.contains(key.as_str().unwrap()), "{name}: {problem}");
                }
            }
            (Err(error), Some(key)) => {
                assert!(
                    error.to_string().contains(key.as_str().unwrap()),
                    "{name}: {error}"
                );
            }
            (parsed, _) => panic!("{name}: {parsed:?}"),
        }
    }
}
