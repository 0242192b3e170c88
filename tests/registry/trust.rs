//! S17: registries behind certificates of all kinds.

use super::*;

#[tokio::test]
async fn certificates() {
    let (authority, other) = (
        Authority::new("the registry's CA").unwrap(),
        Authority::new("another CA").unwrap(),
    );
    let (ca, other_ca) = (authority.pem(), other.pem());
    let here = authority.sign(&["127.0.0.1", "localhost"]).unwrap();
    let named = authority.sign(&["sr.example"]).unwrap();
    let expired = authority.sign_expired(&["127.0.0.1"]).unwrap();
    let (client_identity, stranger) = (
        authority.sign(&["me"]).unwrap(),
        other.sign(&["me"]).unwrap(),
    );
    let serve = |identity, clients| {
        let book = Book::default().schema("t-value", 7, "\"int\"");
        Server::start_tls(identity, clients, move |request: &Request| {
            book.answer(request)
        })
        .unwrap()
    };
    let (here, named, expired, mutual) = (
        serve(&here, None),
        serve(&named, None),
        serve(&expired, None),
        serve(&here, Some(&authority)),
    );
    let plain = book_server(Book::default());
    let spoken = plain.url().replace("http://", "https://");
    let (own, brokers) = ("schemaRegistryTlsCACert", "tlsCACert");
    let pair =
        |identity: &'_ odd_registry::Identity| (identity.certificate.clone(), identity.key.clone());
    let ((mine, my_key), (strange, strange_key)) = (pair(&client_identity), pair(&stranger));
    let (certificate, key) = ("schemaRegistryTlsClientCert", "schemaRegistryTlsClientKey");

    for (name, url, keys, secrets, fails) in [
        (
            "own CA",
            here.url(),
            json!({}),
            &[(own, ca.as_str())][..],
            None,
        ),
        (
            "both CAs in one file",
            here.url(),
            json!({}),
            &[(own, &format!("{other_ca}{ca}"))],
            None,
        ),
        (
            "the brokers' CA",
            here.url(),
            json!({ "tlsAuthWithCACert": true }),
            &[(brokers, &ca)],
            None,
        ),
        (
            "unverified",
            here.url(),
            json!({ "schemaRegistryTlsSkipVerify": true }),
            &[],
            None,
        ),
        (
            "another name, unverified",
            named.url(),
            json!({ "schemaRegistryTlsSkipVerify": true }),
            &[],
            None,
        ),
        (
            "another name, given",
            named.url(),
            json!({ "schemaRegistryServerName": "sr.example" }),
            &[(own, &ca)],
            None,
        ),
        (
            "client certificate",
            mutual.url(),
            json!({}),
            &[(own, &ca), (certificate, &mine), (key, &my_key)],
            None,
        ),
        (
            "the brokers' client certificate",
            mutual.url(),
            json!({ "tlsAuth": true }),
            &[
                (own, &ca),
                ("tlsClientCert", &mine),
                ("tlsClientKey", &my_key),
            ],
            None,
        ),
        (
            "no CA",
            here.url(),
            json!({}),
            &[],
            Some("schemaRegistryTlsCACert"),
        ),
        (
            "another CA",
            here.url(),
            json!({}),
            &[(own, &other_ca)],
            Some("schemaRegistryTlsCACert"),
        ),
        (
            "the brokers' CA, not used there",
            here.url(),
            json!({}),
            &[(brokers, &ca)],
            Some("schemaRegistryTlsCACert"),
        ),
        (
            "another name",
            named.url(),
            json!({}),
            &[(own, &ca)],
            Some("schemaRegistryServerName"),
        ),
        (
            "expired",
            expired.url(),
            json!({}),
            &[(own, &ca)],
            Some("expired"),
        ),
        (
            "no client certificate",
            mutual.url(),
            json!({}),
            &[(own, &ca)],
            Some("schemaRegistryTlsClientCert"),
        ),
        (
            "a stranger's certificate",
            mutual.url(),
            json!({}),
            &[(own, &ca), (certificate, &strange), (key, &strange_key)],
            Some("schemaRegistryTlsClientCert"),
        ),
        (
            "a key of another certificate",
            mutual.url(),
            json!({}),
            &[(own, &ca), (certificate, &mine), (key, &strange_key)],
            Some("is not the key of"),
        ),
        (
            "a CA that is none",
            here.url(),
            json!({}),
            &[(own, "nonsense")],
            Some("PEM"),
        ),
        (
            "a key that is none",
            mutual.url(),
            json!({}),
            &[(own, &ca), (certificate, &mine), (key, "hunter")],
            Some("PEM"),
        ),
        (
            "no TLS there",
            spoken,
            json!({}),
            &[(own, &ca)],
            Some("speaks no TLS"),
        ),
        (
            "TLS there",
            here.url().replace("https://", "http://"),
            json!({}),
            &[],
            Some("no HTTP answer"),
        ),
    ] {
        let mut keys = keys;
        keys["schemaRegistryUrl"] = json!(url);
        let answer = ask(&client(keys, secrets), SchemaId::Id(7)).await;
        match (answer, fails) {
            (Ok(_), None) => {}
            (Err(error), Some(says)) => {
                let error = error.to_string();
                assert!(error.contains(says), "{name}: {error}");
                assert!(!error.contains("hunter"), "{name}: {error}");
            }
            (answer, _) => panic!("{name}: {answer:?}"),
        }
    }
}
