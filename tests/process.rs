//! The process as Grafana starts, calls and ends it: everything that needs no Kafka.

#![allow(clippy::unwrap_used)] // a test file: its helpers are tests too

use std::collections::HashMap;
use std::os::unix::fs::PermissionsExt;
use std::path::Path;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};
use std::{fs, io};

use serde_json::{Value, json};
use workbench::host::proto::{HealthStatus, TimeRange};
use workbench::host::{DataSource, Options, Plugin, Query};

const EXECUTABLE: &str = env!("CARGO_BIN_EXE_gpx_streamscope");
/// Nothing listens there.
const NOWHERE: &str = "127.0.0.1:1";

async fn start(options: Options) -> Plugin {
    Plugin::start(Path::new(EXECUTABLE), options).await.unwrap()
}

fn source(settings: Value) -> DataSource {
    DataSource::new("uid", settings)
}

fn signal(plugin: &Plugin, name: &str) {
    let pid = plugin.pid().to_string();
    assert!(
        Command::new("kill")
            .args(["-s", name, &pid])
            .status()
            .unwrap()
            .success()
    );
}

fn entries(folder: &Path) -> Vec<fs::DirEntry> {
    fs::read_dir(folder)
        .unwrap()
        .collect::<io::Result<_>>()
        .unwrap()
}

#[test]
fn by_hand_it_says_what_it_is() {
    for cookie in [None, Some("app")] {
        let mut command = Command::new(EXECUTABLE);
        command.env_clear().stdin(Stdio::null());
        if let Some(value) = cookie {
            command.env("grafana_plugin_type", value);
        }
        let output = command.output().unwrap();
        let text = String::from_utf8(output.stderr).unwrap();
        assert_eq!(output.status.code(), Some(1), "{cookie:?}");
        assert_eq!(output.stdout, b"", "{cookie:?}");
        assert!(
            text.contains("Grafana data source") && text.lines().count() == 1,
            "{text}"
        );
    }
}

#[test]
fn the_handshake_is_go_plugins() {
    use io::{BufRead as _, BufReader};
    let folder = tempfile::tempdir().unwrap();
    let mut child = Command::new(EXECUTABLE)
        .env_clear()
        .env("grafana_plugin_type", "datasource")
        .env("PLUGIN_UNIX_SOCKET_DIR", folder.path())
        .stdout(Stdio::piped())
        .stderr(Stdio::null())
        .spawn()
        .unwrap();
    let mut line = String::new();
    BufReader::new(child.stdout.take().unwrap())
        .read_line(&mut line)
        .unwrap();
    let private = entries(folder.path()).remove(0).path();
    let socket = entries(&private).remove(0).path();
    assert_eq!(line, format!("1|2|unix|{}|grpc|\n", socket.display()));
    assert_eq!(
        fs::metadata(&private).unwrap().permissions().mode() & 0o777,
        0o700
    );
    assert!(
        Command::new("kill")
            .arg(child.id().to_string())
            .status()
            .unwrap()
            .success()
    );
    assert_eq!(child.wait().unwrap().code(), Some(0));
}

#[tokio::test]
async fn shutdown_is_quick_and_leaves_nothing() {
    let mut took = Vec::new();
    for _ in 0..5 {
        let folder = tempfile::tempdir().unwrap();
        let plugin = start(Options {
            socket_dir: Some(folder.path().into()),
            ..Options::default()
        })
        .await;
        // A client of Kafka that is trying to connect.
        plugin
            .check_health(&source(
                json!({"bootstrapServers": NOWHERE, "healthcheckTimeout": 200}),
            ))
            .await
            .unwrap();
        assert_eq!(plugin.stray_output(), [""; 0]);
        let ended = plugin.shutdown().await;
        assert!(
            !ended.killed && ended.status.is_some_and(|status| status.success()),
            "{ended:?}"
        );
        assert_eq!(
            entries(folder.path()).len(),
            0,
            "the socket's folder is gone"
        );
        took.push(ended.took);
    }
    took.sort();
    assert!(took[2] < Duration::from_millis(100), "{took:?}");
}

#[tokio::test]
async fn shutdown_is_answered() {
    let plugin = start(Options::default()).await;
    // Without an answer Grafana takes the end for a crash.
    plugin.client().shutdown().await.unwrap();
    assert!(plugin.exited().await.is_some_and(|status| status.success()));
}

#[tokio::test]
async fn signals() {
    let folder = tempfile::tempdir().unwrap();
    let plugin = start(Options {
        socket_dir: Some(folder.path().into()),
        ..Options::default()
    })
    .await;
    for _ in 0..3 {
        signal(&plugin, "INT");
        tokio::time::sleep(Duration::from_millis(20)).await;
        assert!(
            plugin.ping().await.unwrap(),
            "an interrupt at the terminal is Grafana's to handle"
        );
    }
    let begin = Instant::now();
    signal(&plugin, "TERM");
    assert!(plugin.exited().await.is_some_and(|status| status.success()));
    assert!(
        begin.elapsed() < Duration::from_secs(1),
        "{:?}",
        begin.elapsed()
    );
    assert_eq!(
        entries(folder.path()).len(),
        0,
        "the socket's folder is gone"
    );
}

#[tokio::test]
async fn messages_of_16_mib() {
    let plugin = start(Options::default()).await;
    let source = source(json!({"bootstrapServers": NOWHERE}));
    for (bytes, taken) in [(15 << 20, true), (17 << 20, false)] {
        let answer = plugin
            .call_resource(&source, "POST", "topics", &vec![b'x'; bytes])
            .await;
        assert_eq!(answer.is_ok(), taken, "{bytes}: {answer:?}");
    }
}

#[tokio::test]
async fn any_role_may_look() {
    let plugin = start(Options::default()).await;
    let source = source(json!({"bootstrapServers": NOWHERE, "healthcheckTimeout": 200}));
    for role in [
        "Admin",
        "Editor",
        "Viewer",
        "None",
        "",
        "Auditor of the Realm",
    ] {
        let health = plugin.check_health(source.context(role)).await.unwrap();
        assert!(
            health.message.contains(NOWHERE),
            "{role}: {}",
            health.message
        );
    }
}

#[tokio::test]
async fn settings_that_do_not_parse_are_named_and_never_shown() {
    let plugin = start(Options::default()).await;
    for (key, value) in [
        ("bootstrapServers", json!({"hunter2": 1})),
        ("timeout", json!("hunter2")),
        ("securityProtocol", json!("hunter2")),
        ("flattenMaxDepth", json!(["hunter2"])),
        ("topicAllow", json!("[hunter2")),
    ] {
        let mut settings = json!({"bootstrapServers": NOWHERE});
        settings[key] = value;
        let source = source(settings).secret("saslPassword", "hunter2");
        let health = plugin.check_health(&source).await.unwrap();
        let topics = plugin
            .call_resource(&source, "GET", "topics", b"")
            .await
            .unwrap();
        assert_eq!(
            (health.status, topics.status),
            (HealthStatus::Error, 500),
            "{key}"
        );
        for text in [health.message, topics.json()["error"].to_string()] {
            assert!(
                text.contains(key) && !text.contains("hunter2"),
                "{key}: {text}"
            );
        }
    }
    assert!(
        !plugin
            .log()
            .lines()
            .iter()
            .any(|line| line.raw.contains("hunter2"))
    );
}

#[tokio::test]
async fn no_secret_is_logged_at_any_level() {
    const KEY: &str = "-----BEGIN PRIVATE KEY-----\nhunter2\n-----END PRIVATE KEY-----";
    for level in ["error", "info", "debug", "trace"] {
        let env = vec![
            ("GF_PLUGIN_LOG_LEVEL".to_owned(), level.to_owned()),
            ("RUST_LOG".to_owned(), "trace".to_owned()),
        ];
        let plugin = start(Options {
            env,
            ..Options::default()
        })
        .await;
        for (protocol, mechanism) in [
            ("SASL_PLAINTEXT", "PLAIN"),
            ("SASL_SSL", "SCRAM-SHA-512"),
            ("SSL", ""),
        ] {
            let source = source(json!({
                "bootstrapServers": NOWHERE, "healthcheckTimeout": 300, "timeout": 300, "logLevel": level, "tlsAuth": true,
                "securityProtocol": protocol, "saslMechanisms": mechanism, "saslUsername": "alice",
            }))
            .secret("saslPassword", "hunter2")
            .secret("tlsClientCert", "hunter2")
            .secret("tlsClientKey", KEY);
            let health = plugin.check_health(&source).await.unwrap();
            assert!(!health.message.contains("hunter2"), "{}", health.message);
            let query = json!({"topicName": "t", "password": "hunter2"});
            let range = TimeRange {
                from_epoch_ms: 0,
                to_epoch_ms: 1,
            };
            let queries = [Query::new("A", query.clone())];
            plugin
                .query_data(&source, range, &queries, HashMap::new())
                .await
                .unwrap();
            let data = query.to_string();
            plugin
                .subscribe_stream(&source, "path", data.as_bytes())
                .await
                .unwrap();
            assert!(
                plugin
                    .run_stream(&source, "path", data.as_bytes())
                    .await
                    .is_err()
            );
            for url in ["topics", "partitions?topic=t", "nothing"] {
                let answer = plugin
                    .call_resource(&source, "GET", url, b"")
                    .await
                    .unwrap();
                assert!(
                    !String::from_utf8_lossy(&answer.body).contains("hunter2"),
                    "{url}"
                );
            }
        }
        for line in plugin.log().lines() {
            assert!(line.structured, "not hclog: {}", line.raw);
            assert!(line.raw.len() < 64 << 10, "{}", line.raw.len());
            assert!(!line.raw.contains("hunter2"), "{level}: {}", line.raw);
        }
        assert_eq!(plugin.stray_output(), [""; 0]);
    }
}

#[tokio::test]
async fn log_lines_are_few() {
    let plugin = start(Options::default()).await;
    let source = source(json!({"bootstrapServers": NOWHERE, "healthcheckTimeout": 300}));
    for _ in 0..20 {
        plugin.check_health(&source).await.unwrap();
    }
    let lines = plugin.log().lines();
    assert!(lines.len() <= 25, "{} lines for 20 failures", lines.len());
    assert!(
        lines.iter().any(|line| line.message.contains("refused")),
        "the reason is in the log too"
    );
}

#[tokio::test]
async fn an_instance_is_replaced_when_its_settings_change() {
    let plugin = start(Options::default()).await;
    let at = |port: u16| {
        source(json!({"bootstrapServers": format!("127.0.0.1:{port}"), "healthcheckTimeout": 200}))
    };
    let same_time = DataSource {
        updated: at(1).updated,
        ..at(2)
    };
    for (source, address) in [
        (at(1), "127.0.0.1:1"),
        (at(2), "127.0.0.1:2"),
        (same_time, "127.0.0.1:2"),
        (at(1), "127.0.0.1:1"),
    ] {
        let health = plugin.check_health(&source).await.unwrap();
        assert!(
            health.message.contains(address),
            "{address}: {}",
            health.message
        );
    }
    let other = DataSource {
        uid: "other".into(),
        ..at(2)
    };
    let health = plugin.check_health(&other).await.unwrap();
    assert!(health.message.contains("127.0.0.1:2"), "{}", health.message);
}

/// More calls at once than HTTP/2 servers usually let through, and than there are threads for: none waits for another.
#[tokio::test]
async fn hundreds_of_calls_at_once() {
    let silent = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let plugin = start(Options::default()).await;
    let address = silent.local_addr().unwrap().to_string();
    let source = source(json!({"bootstrapServers": address, "healthcheckTimeout": 1500}));
    let begin = Instant::now();
    let calls: Vec<_> = (0..300)
        .map(|_| {
            let (client, source) = (plugin.client(), source.clone());
            tokio::spawn(async move { client.check_health(&source).await })
        })
        .collect();
    for call in calls {
        let health = call.await.unwrap().unwrap();
        assert_eq!(health.status, HealthStatus::Error);
        assert!(health.message.contains(&address), "{}", health.message);
    }
    assert!(
        begin.elapsed() < Duration::from_secs(4),
        "{:?}",
        begin.elapsed()
    );
}

/// A port where something else listens: the answer comes at once, and says so.
#[tokio::test]
async fn what_listens_is_no_broker() {
    use io::Write as _;
    let web = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let address = web.local_addr().unwrap().to_string();
    std::thread::spawn(move || {
        for connection in web.incoming() {
            // Some connections are only looks at whether anybody listens.
            let _ = connection
                .unwrap()
                .write_all(b"HTTP/1.1 400 Bad Request\r\n\r\n");
        }
    });
    let plugin = start(Options::default()).await;
    let begin = Instant::now();
    let settings = json!({"bootstrapServers": address, "healthcheckTimeout": 10_000});
    let health = plugin.check_health(&source(settings)).await.unwrap();
    assert!(
        health.message.contains(&address) && health.message.contains("not speak Kafka"),
        "{}",
        health.message
    );
    assert!(
        begin.elapsed() < Duration::from_secs(5),
        "{:?}",
        begin.elapsed()
    );
}
