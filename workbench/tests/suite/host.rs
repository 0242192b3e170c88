//! Starting, calling and ending a plugin process.

use std::collections::HashMap;
use std::path::{Path, PathBuf};
use std::time::Duration;

use libtest_mimic::Trial;
use serde_json::json;
use workbench::host::proto::{HealthStatus, StreamStatus, TimeRange};
use workbench::host::{DataSource, Level, Options, Plugin, Query, StartError};

pub(crate) fn cases() -> Vec<Trial> {
    vec![
        super::case("host/calls", calls),
        super::case("host/streams", streams),
        super::case("host/shutdown", shutdown),
        super::case("host/drop", dropped),
        super::case("host/start_errors", start_errors),
        super::case("host/output", output),
    ]
}

/// The program that runs now: as a plugin, it is the fake one.
pub(crate) fn this_program() -> PathBuf {
    std::env::current_exe().expect("a path")
}

async fn start(mode: &str) -> Result<Plugin, StartError> {
    let env = vec![("GF_FAKE".into(), mode.into())];
    Plugin::start(
        &this_program(),
        Options {
            env,
            ..Options::default()
        },
    )
    .await
}

async fn calls() {
    let plugin = start("").await.expect("started");
    let good = DataSource::new("k", json!({"ok": true})).secret("saslPassword", "s3cret");

    let health = plugin.check_health(&good).await.expect("answered");
    assert_eq!(
        (health.status, &*health.message),
        (HealthStatus::Ok, "fine")
    );
    assert_eq!(health.details, json!({"settings": {"ok": true}}));
    let bad = DataSource::new("k", json!({}));
    let health = plugin.check_health(&bad).await.expect("answered");
    assert_eq!(
        (health.status, &*health.message),
        (HealthStatus::Error, "not fine")
    );

    let answer = plugin
        .call_resource(good.context("Viewer"), "POST", "echo?a=b", b"body")
        .await
        .expect("answered");
    let echo = answer.json();
    assert_eq!(answer.status, 200);
    assert_eq!(
        answer.headers,
        [("Content-Type".into(), "application/json".into())]
    );
    for (key, expected) in [
        ("method", json!("POST")),
        ("url", json!("echo?a=b")),
        ("body", json!("body")),
        ("role", json!("Viewer")),
        ("uid", json!("k")),
        ("plugin", json!("streamscope-kafka-datasource")),
        ("secure", json!({"saslPassword": "s3cret"})),
        ("pid", json!(plugin.pid())),
    ] {
        assert_eq!(echo[key], expected, "{key}");
    }
    let env = echo["env"].as_array().expect("a list");
    assert!(
        !env.contains(&json!("PATH")) && env.contains(&json!("GF_VERSION")),
        "{env:?}"
    );
    let missing = plugin
        .call_resource(&good, "GET", "nope", b"")
        .await
        .expect("answered");
    assert_eq!(
        (missing.status, missing.json()),
        (404, json!({"error": "Not found"}))
    );

    let range = TimeRange {
        from_epoch_ms: 0,
        to_epoch_ms: 1,
    };
    let queries = [
        Query::new("A", json!({"error": "no", "status": 400})),
        Query::new("B", json!({})),
    ];
    let answer = plugin
        .query_data(&good, range, &queries, HashMap::new())
        .await
        .expect("answered");
    assert_eq!(
        (&*answer.responses["A"].error, answer.responses["A"].status),
        ("no", 400)
    );
    assert_eq!(answer.responses["B"].error, "");
    let fail = [Query::new("A", json!({"fail": true}))];
    let failed = plugin.query_data(&good, range, &fail, HashMap::new()).await;
    assert_eq!(
        failed.expect_err("failed").message(),
        "the whole call failed"
    );

    assert!(
        plugin
            .collect_metrics()
            .await
            .expect("answered")
            .contains("fake_runs 0")
    );
    let ended = plugin.shutdown().await;
    assert!(!ended.killed, "{ended:?}");
}

async fn streams() {
    let plugin = start("").await.expect("started");
    let source = DataSource::new("k", json!({}));
    for (path, status, data) in [
        ("a", StreamStatus::Ok, ""),
        ("initial", StreamStatus::Ok, r#"{"initial":true}"#),
        ("missing", StreamStatus::NotFound, ""),
        ("denied", StreamStatus::PermissionDenied, ""),
    ] {
        let got = plugin
            .subscribe_stream(&source, path, b"{}")
            .await
            .expect("answered");
        assert_eq!(got, (status, data.as_bytes().to_vec()), "{path}");
    }
    let published = plugin
        .publish_stream(&source, "a", b"{}")
        .await
        .expect("answered");
    assert_eq!(published, StreamStatus::PermissionDenied);

    for (end, ends_ok) in [("ok", true), ("error", false)] {
        let data = json!({"packets": 2, "end": end}).to_string();
        let mut packets = plugin
            .run_stream(&source, "a", data.as_bytes())
            .await
            .expect("runs");
        for n in 0..2 {
            let packet = packets.next().await.expect("no error").expect("a packet");
            let packet: serde_json::Value = serde_json::from_slice(&packet).expect("JSON");
            assert_eq!(packet["n"], n);
        }
        match packets.next().await {
            Ok(None) => assert!(ends_ok, "{end}"),
            Err(status) => assert!(!ends_ok && status.message() == "told to fail", "{status}"),
            Ok(Some(packet)) => panic!("{end}: {packet:?}"),
        }
    }
    // Mid-stream too, the process ends by itself.
    let mut packets = plugin.run_stream(&source, "a", b"{}").await.expect("runs");
    packets.next().await.expect("no error").expect("a packet");
    let ended = plugin.shutdown().await;
    assert!(!ended.killed, "{ended:?}");
    while let Ok(Some(_)) = packets.next().await {}
}

async fn shutdown() {
    for (mode, killed, at_least) in [("", false, 0), ("ignore-shutdown", true, 2_000)] {
        let plugin = start(mode).await.expect("started");
        let exited = plugin.exited();
        let ended = plugin.shutdown().await;
        assert_eq!(ended.killed, killed, "{mode}");
        assert!(
            ended.took >= Duration::from_millis(at_least),
            "{mode}: {ended:?}"
        );
        assert_eq!(exited.await, ended.status, "{mode}");
        assert_eq!(ended.status.expect("ended").success(), !killed, "{mode}");
    }
}

async fn dropped() {
    let plugin = start("").await.expect("started");
    let exited = plugin.exited();
    drop(plugin);
    assert!(!exited.await.expect("ended").success());
}

async fn start_errors() {
    for (mode, words) in [
        (
            "no-handshake",
            "it wrote: info  starting mode=\"no-handshake\"\ndebug a plain line",
        ),
        (
            "not-serving",
            "expected the health service to serve \"plugin\": it is not serving",
        ),
    ] {
        let error = start(mode).await.err().expect("not started").to_string();
        assert!(error.contains(words), "{mode}: {error}");
    }
    for (path, words) in [
        ("/no/such/file", "cannot run /no/such/file"),
        ("/bin/echo", "handshake"),
    ] {
        let error = Plugin::start(Path::new(path), Options::default())
            .await
            .err();
        let error = error.expect("not started").to_string();
        assert!(error.contains(words), "{path}: {error}");
    }
}

async fn output() {
    for (mode, stray) in [("", &[][..]), ("stray", &["a stray line"])] {
        let plugin = start(mode).await.expect("started");
        tokio::time::sleep(Duration::from_millis(100)).await;
        assert_eq!(plugin.stray_output(), stray, "{mode}");
        let lines = plugin.log().lines();
        let got: Vec<_> = lines
            .iter()
            .map(|line| (line.level, &*line.message, line.structured))
            .collect();
        let expected = [
            (Level::Info, "starting", true),
            (Level::Debug, "a plain line", false),
        ];
        assert_eq!(got, expected, "{mode}");
        assert!(!plugin.shutdown().await.killed);
    }
}
