//! Who the registry lets in, and who learns the credentials.

use super::*;

#[tokio::test]
async fn each_way_to_authenticate() {
    let secrets = [
        ("schemaRegistryPassword", "p:w"),
        ("schemaRegistryToken", "tok.en"),
        ("httpHeaderValue1", "lsrc-1"),
        ("httpHeaderValue2", "line\nbreak"),
    ];
    for (keys, want) in [
        (json!({ "schemaRegistryAuth": "none" }), ""),
        (json!({ "schemaRegistryUsername": "u" }), "Basic dTpwOnc="),
        (json!({ "schemaRegistryAuth": "bearer" }), "Bearer tok.en"),
    ] {
        let server = book_server(Book::default().schema("t-value", 7, "\"int\""));
        let mut keys = keys;
        keys["schemaRegistryUrl"] = json!(server.url());
        keys["httpHeaderName1"] = json!("target-sr-cluster");
        keys["httpHeaderName2"] = json!("x-odd");
        ask(&client(keys.clone(), &secrets), SchemaId::Id(7))
            .await
            .unwrap();
        let request = &server.requests()[0];
        assert_eq!(request.header("authorization"), want, "{keys}");
        assert_eq!(request.header("target-sr-cluster"), "lsrc-1");
        assert_eq!(request.header("x-odd"), "");
    }
}

#[tokio::test]
async fn credentials_stay_at_their_origin_and_out_of_errors() {
    let elsewhere = book_server(Book::default().schema("t-value", 7, "\"int\""));
    let to = format!("{}/schemas/ids/7", elsewhere.url());
    let closed = Server::start(move |_| Reply::redirect(302, &to)).unwrap();
    let open = Server::start(|request| {
        Reply::json(
            401,
            &json!({ "message": "who are you?", "seen": request.header("authorization") }),
        )
    })
    .unwrap();
    for server in [&closed, &open] {
        let url = server
            .url()
            .replace("http://", "http://url-user:url-hunter@");
        for keys in [
            json!({ "schemaRegistryUrl": url }),
            json!({ "schemaRegistryUrl": url, "schemaRegistryUsername": "u" }),
            json!({ "schemaRegistryUrl": url, "schemaRegistryAuth": "bearer" }),
        ] {
            let registry = client(
                keys,
                &[
                    ("schemaRegistryPassword", "hunter2"),
                    ("schemaRegistryToken", "hunter3"),
                ],
            );
            let error = ask(&registry, SchemaId::Id(7)).await.unwrap_err();
            for shown in [error.to_string(), format!("{error:?}")] {
                assert!(
                    !shown.contains("hunter") && !shown.contains("url-user"),
                    "{shown}"
                );
            }
        }
    }
    assert_eq!(elsewhere.requests().len(), 0);
}

/// Gives tokens `t1`, `t2` … that live for `seconds`, to who has the right secret.
fn identity_provider(seconds: u32) -> Server {
    let given = AtomicUsize::new(0);
    Server::start(move |request| {
        // Form-encoded, then joined, then base64: `c%3A1:s%20%2B`.
        let known = request.header("authorization") == "Basic YyUzQTE6cyUyMCUyQg==";
        if !known || request.method != "POST" || request.path() != "/oauth/token" {
            return Reply::json(
                400,
                &json!({ "error": "invalid_client", "error_description": "unknown client" }),
            );
        }
        let token = format!("t{}", given.fetch_add(1, Ordering::Relaxed) + 1);
        Reply::json(
            200,
            &json!({ "access_token": token, "token_type": "Bearer", "expires_in": seconds }),
        )
    })
    .unwrap()
}

fn oauth(registry: &Server, provider: &Server, secret: &str) -> Registry {
    client(
        json!({ "schemaRegistryUrl": registry.url(), "schemaRegistryAuth": "oauth", "schemaRegistryOAuthTokenUrl": format!("{}/oauth/token", provider.url()),
            "schemaRegistryOAuthClientId": "c:1", "schemaRegistryOAuthScope": "a b" }),
        &[("schemaRegistryOAuthClientSecret", secret)],
    )
}

fn tokens(server: &Server) -> Vec<String> {
    server
        .requests()
        .iter()
        .map(|request| request.header("authorization").to_owned())
        .collect()
}

#[tokio::test]
async fn a_token_is_fetched_once_and_again_before_it_expires() {
    let book = || {
        book_server(
            Book::default()
                .schema("t-value", 1, "a")
                .schema("u-value", 2, "b")
                .schema("v-value", 3, "c"),
        )
    };
    let (provider, server) = (identity_provider(3600), book());
    let registry = oauth(&server, &provider, "s +");
    let (a, b, c) = tokio::join!(
        ask(&registry, SchemaId::Id(1)),
        ask(&registry, SchemaId::Id(2)),
        ask(&registry, SchemaId::Id(3))
    );
    assert!(a.is_ok() && b.is_ok() && c.is_ok());
    assert_eq!(tokens(&server), ["Bearer t1"; 3]);
    assert_eq!(
        String::from_utf8_lossy(&provider.requests()[0].body),
        "grant_type=client_credentials&scope=a%20b"
    );
    assert_eq!(provider.requests().len(), 1);

    let (provider, server) = (identity_provider(1), book());
    let registry = oauth(&server, &provider, "s +");
    ask(&registry, SchemaId::Id(1)).await.unwrap();
    tokio::time::sleep(Duration::from_millis(850)).await;
    ask(&registry, SchemaId::Id(2)).await.unwrap();
    assert_eq!(tokens(&server), ["Bearer t1", "Bearer t2"]);
}

#[tokio::test]
async fn a_token_that_was_revoked_is_fetched_again() {
    let provider = identity_provider(3600);
    let server = Server::start(|request| match request.header("authorization") {
        "Bearer t1" => Reply::text(401, "text/plain", ""),
        _ => Reply::json(200, &json!({ "schema": "\"int\"" })),
    })
    .unwrap();
    ask(&oauth(&server, &provider, "s +"), SchemaId::Id(1))
        .await
        .unwrap();
    assert_eq!(tokens(&server), ["Bearer t1", "Bearer t2"]);
}

#[tokio::test]
async fn no_token() {
    let server = book_server(Book::default());
    let page = Server::start(|_| Reply::text(200, "text/html", "<h1>hello</h1>")).unwrap();
    let away = Server::start(|_| Reply::redirect(302, "http://evil.invalid/")).unwrap();
    for (provider, secret, says) in [
        (identity_provider(60), "wrong-hunter", "unknown client"),
        (page, "s +", "login page"),
        (away, "s +", "redirect"),
    ] {
        let error = ask(&oauth(&server, &provider, secret), SchemaId::Id(1))
            .await
            .unwrap_err()
            .to_string();
        for part in ["no OAuth token", &provider.url(), says] {
            assert!(error.contains(part), "{error}");
        }
        assert!(!error.contains("hunter"), "{error}");
    }
    assert_eq!(server.requests().len(), 0);
}
