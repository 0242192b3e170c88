//! Answers that are no schemas, late ones and none.

use super::*;

type Odd = Box<dyn Fn(&Request) -> Reply + Send + Sync>;

/// S01
#[tokio::test]
async fn many_waiters_ask_once_and_a_failure_is_remembered() {
    let server = Server::start(|_| {
        Reply::json(
            404,
            &json!({ "error_code": 40403, "message": "Schema 99 not found" }),
        )
        .after(Duration::from_millis(100))
    })
    .unwrap();
    let registry = at(&server.url());
    let waiters: Vec<_> = (0..5000)
        .map(|_| {
            let registry = registry.clone();
            tokio::spawn(async move {
                ask(&registry, SchemaId::Id(99))
                    .await
                    .unwrap_err()
                    .to_string()
            })
        })
        .collect();
    for waiter in waiters {
        let error = waiter.await.unwrap();
        for part in ["id 99", "t-value", "404", "Schema 99 not found"] {
            assert!(error.contains(part), "{error}");
        }
    }
    ask(&registry, SchemaId::Id(99)).await.unwrap_err();
    // Once, and once more with deleted schemas.
    assert_eq!(server.requests().len(), 2);
}

#[tokio::test]
async fn one_schema_does_not_wait_for_another() {
    let server =
        Server::start(|request| {
            let slow = request.target.contains("/1?");
            Reply::json(200, &json!({ "schema": "\"int\"" }))
                .after(Duration::from_millis(if slow { 1000 } else { 0 }))
        })
        .unwrap();
    let registry = at(&server.url());
    let start = Instant::now();
    let slow = tokio::spawn({
        let registry = registry.clone();
        async move { ask(&registry, SchemaId::Id(1)).await }
    });
    ask(&registry, SchemaId::Id(2)).await.unwrap();
    assert!(start.elapsed() < Duration::from_millis(800));
    slow.await.unwrap().unwrap();
    assert!(start.elapsed() >= Duration::from_secs(1));
}

/// S03 and its kind: each answer that is no schema says what is wrong and what to do.
#[tokio::test]
async fn what_is_no_schema_is_named() {
    let page = "<html><body>Please log in</body></html>";
    let big = format!("{{\"schema\": \"{}\"}}", "x".repeat(5 << 20));
    let cases: Vec<(&str, Odd, &[&str])> = vec![
        (
            "401",
            Box::new(|_| {
                Reply::json(
                    401,
                    &json!({ "error_code": 401, "message": "Unauthorized" }),
                )
            }),
            &["401", "credentials"],
        ),
        (
            "401 page",
            Box::new(move |_| Reply::text(401, "text/html", page)),
            &["401", "credentials"],
        ),
        (
            "403",
            Box::new(|_| Reply::json(403, &json!({ "error_code": 40301, "message": "denied" }))),
            &["403", "lack the right", "denied"],
        ),
        (
            "login page",
            Box::new(move |_| Reply::text(200, "text/html; charset=utf-8", page)),
            &["200", "login page", "text/html"],
        ),
        (
            "unmarked page",
            Box::new(move |_| Reply::text(200, "text/plain", page)),
            &["no JSON", "base path"],
        ),
        (
            "another API",
            Box::new(|_| Reply::json(200, &json!({ "hello": "world" }))),
            &["another shape"],
        ),
        (
            "404 of no registry",
            Box::new(move |_| Reply::text(404, "text/html", page)),
            &["404", "no schema registry answers there", "base path"],
        ),
        (
            "500",
            Box::new(|_| {
                Reply::json(
                    500,
                    &json!({ "error_code": 50001, "message": "store\nis gone" }),
                )
            }),
            &["500", "store is gone", "its log"],
        ),
        (
            "429",
            Box::new(|_| Reply::text(429, "text/plain", "")),
            &["429", "limits how often"],
        ),
        (
            "400",
            Box::new(|_| Reply::json(400, &json!({ "error_code": 400, "message": "odd" }))),
            &["400", "odd", "base path"],
        ),
        (
            "huge",
            Box::new(move |_| Reply::text(200, "application/json", &big)),
            &["more than 4096 KiB"],
        ),
        (
            "slow",
            Box::new(|_| Reply::json(200, &json!({})).after(Duration::from_mins(1))),
            &["no answer within 1500 ms"],
        ),
        (
            "unknown language",
            Box::new(|_| Reply::json(200, &json!({ "schema": "x", "schemaType": "THRIFT" }))),
            &["THRIFT"],
        ),
        (
            "elsewhere",
            Box::new(|_| Reply::redirect(302, "http://login.invalid/?from=x")),
            &["redirects to http://login.invalid", "must not go"],
        ),
        (
            "in a circle",
            Box::new(|request| Reply::redirect(307, &request.target)),
            &["circle"],
        ),
    ];
    for (name, answer, says) in cases {
        let server = Server::start(answer).unwrap();
        let registry = at(&server.url());
        let (error, checked) = (
            ask(&registry, SchemaId::Id(7))
                .await
                .unwrap_err()
                .to_string(),
            registry.check().await,
        );
        for part in ["id 7"].iter().chain(says) {
            assert!(error.contains(part), "{name}: {error}");
        }
        assert_eq!(
            error.contains(&server.url()),
            name != "unknown language",
            "{name}: {error}"
        );
        assert!(
            !error.contains("Please log in") && !error.contains('\n'),
            "{name}: {error}"
        );
        assert_eq!(
            checked.is_err(),
            !matches!(name, "another API" | "unknown language"),
            "{name}: {checked:?}"
        );
    }
    for (url, says) in [
        ("http://127.0.0.1:1", "refused"),
        ("http://nohost.invalid", "nohost.invalid"),
    ] {
        let error = ask(&at(url), SchemaId::Id(7))
            .await
            .unwrap_err()
            .to_string();
        assert!(
            error.contains("cannot be reached") && error.contains(says),
            "{error}"
        );
    }
}

#[tokio::test]
async fn redirects_at_the_same_origin_are_followed() {
    let server = Server::start(|request| match request.path() {
        "/schemas/ids/7" => Reply::redirect(301, "/v2/schemas/ids/7?x=1"),
        "/v2/schemas/ids/7" => Reply::json(200, &json!({ "schema": "\"int\"" })),
        _ => Reply::text(404, "text/plain", ""),
    })
    .unwrap();
    assert_eq!(
        text_of(&at(&server.url()), SchemaId::Id(7)).await,
        "\"int\""
    );
}

/// S15
#[tokio::test]
async fn the_next_address_stays_while_it_answers() {
    let ill = Arc::new(AtomicBool::new(true));
    let answer = |ill: Arc<AtomicBool>| {
        move |_: &Request| {
            if ill.load(Ordering::Relaxed) {
                Reply::text(503, "text/plain", "")
            } else {
                Reply::json(200, &json!({ "schema": "\"int\"" }))
            }
        }
    };
    let other = Arc::new(AtomicBool::new(false));
    let (first, second) = (
        Server::start(answer(Arc::clone(&ill))).unwrap(),
        Server::start(answer(Arc::clone(&other))).unwrap(),
    );
    let registry = at(&format!(
        "http://127.0.0.1:1, {}, {}",
        first.url(),
        second.url()
    ));
    for id in 0..3 {
        ask(&registry, SchemaId::Id(id)).await.unwrap();
    }
    ill.store(false, Ordering::Relaxed);
    ask(&registry, SchemaId::Id(3)).await.unwrap();
    assert_eq!((first.requests().len(), second.requests().len()), (1, 4));
    other.store(true, Ordering::Relaxed);
    ask(&registry, SchemaId::Id(4)).await.unwrap();
    assert_eq!((first.requests().len(), second.requests().len()), (2, 5));
    ill.store(true, Ordering::Relaxed);
    let error = ask(&registry, SchemaId::Id(5))
        .await
        .unwrap_err()
        .to_string();
    for part in ["127.0.0.1:1", &first.url(), &second.url(), "503", "refused"] {
        assert!(error.contains(part), "{error}");
    }
}

/// A failure that is the schema's own is no reason to ask elsewhere.
#[tokio::test]
async fn a_missing_schema_is_not_looked_for_at_the_next_address() {
    let (first, second) = (
        book_server(Book::default()),
        book_server(Book::default().schema("t-value", 7, "x")),
    );
    let registry = at(&format!("{},{}", first.url(), second.url()));
    ask(&registry, SchemaId::Id(7)).await.unwrap_err();
    assert_eq!(second.requests().len(), 0);
}

#[tokio::test]
async fn without_a_registry() {
    for (keys, configured, says) in [
        (json!({}), false, "no schema registry is configured"),
        (
            json!({ "schemaRegistryUrl": "sr:8081" }),
            true,
            "Invalid schema registry URL format",
        ),
    ] {
        let registry = client(keys, &[]);
        let error = ask(&registry, SchemaId::Id(7)).await.unwrap_err();
        assert!(error.to_string().contains(says), "{error}");
        assert_eq!(registry.is_configured(), configured);
        assert_eq!(matches!(error.cause, Cause::NotConfigured), !configured);
        assert!(registry.check().await.is_err());
    }
}
