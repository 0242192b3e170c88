//! The stand-in server's HTTP paths, with the fake plugin behind them.

use std::time::Duration;

use libtest_mimic::Trial;
use serde_json::{Value, json};
use workbench::host::{self, DataSource};
use workbench::server::{LiveOptions, Options, Server};

use super::http::call;

pub(crate) fn cases() -> Vec<Trial> {
    vec![
        super::case("server/settings", settings),
        super::case("server/health", health),
        super::case("server/resources", resources),
        super::case("server/query", query),
        super::case("server/plugin_restart", plugin_restart),
        super::case("server/shutdown", shutdown),
    ]
}

/// Starts a server whose data source `k` the fake plugin calls healthy.
pub(crate) async fn start(live: LiveOptions) -> Server {
    Server::start(Options {
        port: 0,
        plugin: super::host::this_program(),
        plugin_options: host::Options::default(),
        frontend: None,
        page: None,
        source: DataSource::new("k", json!({"ok": true})).secret("saslPassword", "s3cret"),
        examples: Vec::new(),
        live,
    })
    .await
    .expect("started")
}

async fn settings() {
    let server = start(LiveOptions::default()).await;
    let path = "/api/datasources/uid/k";
    let (status, shown) = call(&server, "GET", path, "").await;
    assert_eq!(status, 200);
    assert_eq!(shown["jsonData"], json!({"ok": true}));
    assert_eq!(shown["secureJsonFields"], json!({"saslPassword": true}));
    assert!(!shown.to_string().contains("s3cret"), "{shown}");

    let mut edited = shown.clone();
    edited["jsonData"]["topic"] = "t".into();
    edited["secureJsonData"] = json!({"tlsCACert": "pem"});
    let (status, saved) = call(&server, "PUT", path, &edited.to_string()).await;
    assert_eq!(
        (status, &saved["message"]),
        (200, &json!("Datasource updated")),
        "{saved}"
    );
    assert_eq!(saved["datasource"]["version"], 2);
    let (status, _) = call(&server, "PUT", path, &edited.to_string()).await;
    assert_eq!(status, 409, "its version is old");
    let (_, echo) = call(&server, "GET", &format!("{path}/resources/echo"), "").await;
    assert_eq!(
        echo["secure"],
        json!({"saslPassword": "s3cret", "tlsCACert": "pem"})
    );

    let (_, settings) = call(&server, "GET", "/api/frontend/settings", "").await;
    let source = &settings["datasources"]["Kafka"];
    assert_eq!(
        (&settings["liveEnabled"], &source["uid"]),
        (&json!(true), &json!("k"))
    );
    assert_eq!(source["jsonData"], json!({"ok": true, "topic": "t"}));
    assert_eq!(
        call(&server, "GET", "/api/datasources/uid/z", "").await.0,
        404
    );
    assert_eq!(call(&server, "GET", "/nowhere", "").await.0, 404);
}

async fn health() {
    let server = start(LiveOptions::default()).await;
    let path = "/api/datasources/uid/k";
    let (status, health) = call(&server, "GET", &format!("{path}/health"), "").await;
    let expected =
        json!({"status": "OK", "message": "fine", "details": {"settings": {"ok": true}}});
    assert_eq!((status, health), (200, expected));
    call(&server, "PUT", path, r#"{"jsonData":{}}"#).await;
    let (status, health) = call(&server, "GET", &format!("{path}/health"), "").await;
    let expected = json!({"status": "ERROR", "message": "not fine", "details": {"settings": {}}});
    assert_eq!((status, health), (400, expected));
}

async fn resources() {
    let server = start(LiveOptions::default()).await;
    let path = "/api/datasources/uid/k/resources";
    let (status, echo) = call(&server, "POST", &format!("{path}/echo?a=b%20c"), "body").await;
    assert_eq!(status, 200);
    for (key, expected) in [
        ("method", "POST"),
        ("url", "echo?a=b%20c"),
        ("body", "body"),
    ] {
        assert_eq!(echo[key], expected, "{key}");
    }
    let (status, answer) = call(&server, "GET", &format!("{path}/a/b"), "").await;
    assert_eq!((status, answer), (404, json!({"error": "Not found"})));
}

async fn query() {
    let server = start(LiveOptions::default()).await;
    let target = |ref_id: &str, more: Value| {
        let mut query = json!({"refId": ref_id, "datasource": {"uid": "k"}});
        query
            .as_object_mut()
            .expect("a map")
            .extend(more.as_object().expect("a map").clone());
        query
    };
    let fine = target("A", json!({}));
    let wrong = target("B", json!({"error": "no", "status": 400}));
    for (queries, status, results) in [
        (
            json!([fine]),
            200,
            json!({"A": {"status": 200, "frames": []}}),
        ),
        (
            json!([fine, wrong]),
            400,
            json!({
                "A": {"status": 200, "frames": []},
                "B": {"status": 400, "frames": [], "error": "no"},
            }),
        ),
        (
            json!([target("A", json!({"silent": true}))]),
            200,
            json!({}),
        ),
        (
            json!([target("A", json!({"fail": true}))]),
            500,
            Value::Null,
        ),
        (json!([]), 400, Value::Null),
        (
            json!([{"refId": "A", "datasource": {"uid": "z"}}]),
            404,
            Value::Null,
        ),
    ] {
        let body = json!({"from": "now-5m", "to": "now", "queries": queries});
        let (code, answer) = call(&server, "POST", "/api/ds/query", &body.to_string()).await;
        assert_eq!((code, &answer["results"]), (status, &results), "{body}");
    }
}

async fn plugin_restart() {
    let server = start(LiveOptions::default()).await;
    let (_, before) = call(&server, "GET", "/workbench/plugin", "").await;
    assert!(
        before["log"][0]
            .as_str()
            .expect("a line")
            .contains("starting"),
        "{before}"
    );
    for crash in [
        "/workbench/plugin/kill",
        "/api/datasources/uid/k/resources/crash",
    ] {
        let (_, before) = call(&server, "GET", "/workbench/plugin", "").await;
        call(&server, "POST", crash, "").await;
        let after = loop {
            tokio::time::sleep(Duration::from_millis(50)).await;
            let (_, after) = call(&server, "GET", "/workbench/plugin", "").await;
            if after["pid"].is_u64() && after["pid"] != before["pid"] {
                break after;
            }
        };
        let (status, echo) =
            call(&server, "GET", "/api/datasources/uid/k/resources/echo", "").await;
        assert_eq!((status, &echo["pid"]), (200, &after["pid"]), "{crash}");
    }
}

async fn shutdown() {
    let server = start(LiveOptions::default()).await;
    let ended = server.shutdown().await.expect("a plugin ran");
    assert!(!ended.killed, "{ended:?}");
}
