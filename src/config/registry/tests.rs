use serde_json::{Value, json};

use super::*;
use crate::config::Settings;

const SECRETS: &[(&str, &str)] = &[
    ("schemaRegistryPassword", "hunter-pass"),
    ("schemaRegistryToken", "hunter-token"),
    ("schemaRegistryOAuthClientSecret", "hunter-client"),
    ("schemaRegistryTlsClientKey", "hunter-key"),
    ("schemaRegistryTlsClientCert", "certificate"),
    ("schemaRegistryTlsCACert", "authority"),
    ("tlsCACert", "brokers authority"),
    ("httpHeaderValue1", "hunter-header"),
];

fn parse(keys: Value, secrets: &[(&str, &str)]) -> Settings {
    let mut settings = json!({ "bootstrapServers": "a:1" });
    let (Value::Object(own), Value::Object(keys)) = (&mut settings, keys) else {
        panic!("objects");
    };
    own.extend(keys);
    let secrets = secrets
        .iter()
        .map(|&(key, value)| (key.to_owned(), value.to_owned()))
        .collect();
    Settings::parse(settings.to_string().as_bytes(), &secrets).unwrap()
}

#[test]
fn urls() {
    for (text, want) in [
        ("http://sr", Ok("http://sr")),
        ("HTTPS://sr:8085/", Ok("https://sr:8085")),
        ("http://sr:80/base/path//", Ok("http://sr/base/path")),
        ("https://sr/contexts/.ctx", Ok("https://sr/contexts/.ctx")),
        ("http://[2001:db8::5]:8081", Ok("http://[2001:db8::5]:8081")),
        ("http://user:pa%40ss@sr:8081/x", Ok("http://sr:8081/x")),
        ("sr:8081", Err(UrlFault::Scheme)),
        ("ftp://sr", Err(UrlFault::Scheme)),
        ("http://", Err(UrlFault::Host)),
        ("http://:8081", Err(UrlFault::Host)),
        ("http://a b", Err(UrlFault::Host)),
        ("http://2001:db8::5", Err(UrlFault::Host)),
        ("http://sr:0", Err(UrlFault::Port)),
        ("http://sr:99999", Err(UrlFault::Port)),
        ("http://sr/a?b=c", Err(UrlFault::Query)),
        ("http://sr/a b", Err(UrlFault::Path)),
    ] {
        let found = RegistryUrl::parse(text).map(|(url, _)| url.to_string());
        assert_eq!(found, want.map(ToOwned::to_owned), "{text}");
    }
    let (_, login) = RegistryUrl::parse("http://us%3Aer:pa%40ss%@sr").unwrap();
    assert_eq!(login, Some(("us:er".into(), "pa@ss%".into())));
}

#[test]
fn ways_to_authenticate() {
    let url = "http://sr";
    let basic = |username: &str, password: &str| RegistryAuth::Basic {
        username: username.into(),
        password: Secret::new(password),
    };
    for (keys, want) in [
        (json!({ "schemaRegistryUrl": url }), Ok(RegistryAuth::None)),
        (
            json!({ "schemaRegistryUrl": url, "schemaRegistryUsername": "u" }),
            Ok(basic("u", "hunter-pass")),
        ),
        (
            json!({ "schemaRegistryUrl": url, "schemaRegistryUsername": "u", "schemaRegistryAuth": "none" }),
            Ok(RegistryAuth::None),
        ),
        (
            json!({ "schemaRegistryUrl": "http://u:p@sr" }),
            Ok(basic("u", "p")),
        ),
        (
            json!({ "schemaRegistryUrl": "http://u:p@sr", "schemaRegistryUsername": "v" }),
            Ok(basic("v", "hunter-pass")),
        ),
        (
            json!({ "schemaRegistryUrl": url, "schemaRegistryAuth": "Bearer" }),
            Ok(RegistryAuth::Bearer(Secret::new("hunter-token"))),
        ),
        (
            json!({ "schemaRegistryUrl": url, "schemaRegistryAuth": "basic" }),
            Err("schemaRegistryUsername"),
        ),
        (
            json!({ "schemaRegistryUrl": url, "schemaRegistryAuth": "oauth" }),
            Err("schemaRegistryOAuthTokenUrl"),
        ),
        (
            json!({ "schemaRegistryUrl": url, "schemaRegistryAuth": "oauth", "schemaRegistryOAuthTokenUrl": "idp" }),
            Err("schemaRegistryOAuthClientId"),
        ),
        (
            json!({ "schemaRegistryUrl": url, "schemaRegistryAuth": "oauth", "schemaRegistryOAuthTokenUrl": "idp",
                "schemaRegistryOAuthClientId": "c" }),
            Err("http://"),
        ),
        (
            json!({ "schemaRegistryUrl": "http://ok, sr:8081" }),
            Err("entry 2"),
        ),
    ] {
        let found = parse(keys.clone(), SECRETS).registry;
        match want {
            Ok(auth) => assert_eq!(found.unwrap().unwrap().auth, auth, "{keys}"),
            Err(part) => {
                let fault = found.unwrap_err().to_string();
                assert!(fault.contains(part), "{keys}: {fault}");
            }
        }
    }
}

#[test]
fn everything_set() {
    let settings = parse(
        json!({ "schemaRegistryUrl": "https://a, https://b/base", "schemaRegistryType": "apicurio", "schemaRegistryAuth": "oauth",
            "schemaRegistryOAuthTokenUrl": "https://idp/token", "schemaRegistryOAuthClientId": "c", "schemaRegistryOAuthScope": "s",
            "schemaRegistryTlsSkipVerify": "true", "schemaRegistryServerName": "sr.example", "schemaRegistryTimeout": "700",
            "tlsAuthWithCACert": true, "httpHeaderName1": "target-sr-cluster" }),
        SECRETS,
    );
    let registry = settings.registry.clone().unwrap().unwrap();
    assert_eq!(registry.urls.len(), 2);
    assert_eq!(registry.api, RegistryApi::Apicurio);
    assert_eq!(registry.timeout, Duration::from_millis(700));
    assert_eq!(registry.tls.ca.as_deref(), Some("authority"));
    assert_eq!(
        registry.tls.brokers_ca.as_deref(),
        Some("brokers authority")
    );
    assert_eq!(registry.tls.server_name.as_deref(), Some("sr.example"));
    assert!(registry.tls.skip_verify && registry.tls.client.is_some());
    assert_eq!(
        registry.headers,
        [("target-sr-cluster".to_owned(), Secret::new("hunter-header"))]
    );
    assert_eq!(settings.problems, [""; 0]);
    let shown = format!("{settings:?}");
    assert!(!shown.contains("hunter"), "{shown}");
}

#[test]
fn what_is_odd() {
    for (keys, secrets, says) in [
        (
            json!({ "schemaRegistryUrl": "http://u:p@sr" }),
            &[][..],
            "move them",
        ),
        (
            json!({ "schemaRegistryUrl": "http://sr", "schemaRegistryUsername": "u" }),
            &[],
            "without credentials",
        ),
        (
            json!({ "schemaRegistryUrl": "http://sr" }),
            &SECRETS[..1],
            "without credentials",
        ),
    ] {
        let settings = parse(keys.clone(), secrets);
        assert!(settings.registry.is_ok(), "{keys}");
        assert!(
            settings
                .problems
                .iter()
                .any(|problem| problem.contains(says)),
            "{keys}: {:?}",
            settings.problems
        );
    }
    let nothing = parse(json!({ "schemaRegistryUsername": "u" }), &[]);
    assert_eq!((nothing.registry, nothing.problems.len()), (Ok(None), 0));
}
