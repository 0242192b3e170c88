//! The program itself: what it says, and that it leaves nothing behind.

use std::path::Path;
use std::process::Stdio;
use std::time::{Duration, Instant};

use libtest_mimic::Trial;
use serde_json::Value;
use tempfile::TempDir;
use tokio::io::{AsyncBufReadExt as _, BufReader, Lines};
use tokio::process::{Child, ChildStdout, Command};
use workbench::broker::{Broker, Options};

use super::http::call_at;

pub(crate) fn cases() -> Vec<Trial> {
    vec![
        super::case("cli/demo", demo),
        super::case("cli/demo_with_their_kafka", demo_with_their_kafka),
        super::case("cli/broker", broker),
        super::case("cli/what_is_missing", what_is_missing),
    ]
}

/// Makes folders as the builds do.
fn built() -> TempDir {
    let dir = tempfile::tempdir().expect("a folder");
    for (file, text) in [
        (
            "plugin.json",
            r#"{"id":"streamscope-kafka-datasource","info":{"logos":{}}}"#,
        ),
        ("frontend/dist/module.js", "define([], function () {});"),
        ("page/v13/index.html", "<!doctype html>"),
    ] {
        let path = dir.path().join(file);
        std::fs::create_dir_all(path.parent().expect("a folder")).expect("made");
        std::fs::write(path, text).expect("written");
    }
    dir
}

fn workbench(args: &[&str], dir: &Path) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_workbench"));
    command
        .args(args)
        .current_dir(dir)
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .kill_on_drop(true);
    command
}

fn demo_command(dir: &TempDir, more: &[&str]) -> Command {
    let mut command = workbench(&["demo", "--port", "0", "--page", "page"], dir.path());
    command
        .arg("--plugin")
        .arg(super::host::this_program())
        .args(more);
    command
}

struct Running {
    child: Child,
    lines: Lines<BufReader<ChildStdout>>,
}

impl Running {
    fn start(mut command: Command) -> Running {
        let mut child = command.spawn().expect("started");
        let lines = BufReader::new(child.stdout.take().expect("piped")).lines();
        Running { child, lines }
    }

    /// Reads up to the line that starts with `word`, and gives all lines.
    async fn until(&mut self, word: &str) -> Vec<String> {
        let mut lines = Vec::new();
        loop {
            let line = self
                .lines
                .next_line()
                .await
                .expect("read")
                .expect("more output");
            let last = line.starts_with(word);
            lines.push(line);
            if last {
                return lines;
            }
        }
    }

    /// Interrupts it as a terminal does, and waits for its end.
    async fn interrupt(mut self) {
        let pid = self.child.id().expect("it runs").to_string();
        let start = Instant::now();
        let sent = Command::new("kill")
            .args(["-INT", &pid])
            .status()
            .await
            .expect("ran");
        assert!(sent.success());
        let status = self.child.wait().await.expect("ended");
        assert!(status.success(), "{status}");
        assert!(
            start.elapsed() < Duration::from_secs(2),
            "{:?}",
            start.elapsed()
        );
    }
}

fn address(line: &str) -> std::net::SocketAddr {
    let url = line.split_whitespace().nth(1).expect("an address");
    let address = url.trim_start_matches("http://").trim_end_matches('/');
    address.parse().expect("an address")
}

async fn demo() {
    let dir = built();
    let mut demo = Running::start(demo_command(&dir, &[]));
    let lines = demo.until("open").await;
    for topic in [
        "sensors", "orders", "logs", "ticks", "payments", "turbines", "weather", "rides", "hosts",
        "meters",
    ] {
        assert!(
            lines
                .iter()
                .any(|line| line.starts_with(&format!("topic    {topic}"))),
            "{lines:?}"
        );
    }
    let address = address(lines.last().expect("a line"));
    let (status, settings) = call_at(address, "GET", "/api/frontend/settings", "").await;
    assert_eq!(status, 200);
    let source = &settings["datasources"]["Kafka"];
    assert!(
        lines[0].contains(
            source["jsonData"]["bootstrapServers"]
                .as_str()
                .expect("set")
        )
    );
    let (_, examples) = call_at(address, "GET", "/workbench/examples", "").await;
    let examples = examples.as_array().expect("a list");
    let turbines = examples
        .iter()
        .find(|example| example["topic"] == "turbines");
    assert_eq!(turbines.expect("there")["query"]["messageFormat"], "avro");
    let registry = source["jsonData"]["schemaRegistryUrl"]
        .as_str()
        .expect("set");
    let registry = registry
        .trim_start_matches("http://")
        .parse()
        .expect("an address");
    for (path, status, key, expected) in [
        ("/schemas/ids/2", 200, "/references", Value::Null),
        ("/schemas/ids/99", 404, "/error_code", 40_403.into()),
        (
            "/subjects/rides-value/versions/latest",
            200,
            "/references/0/name",
            "geo.proto".into(),
        ),
        (
            "/subjects/turbines-value/versions/latest",
            200,
            "/id",
            3.into(),
        ),
        ("/subjects/turbines-value/versions", 200, "/1", 2.into()),
        (
            "/subjects/turbines-value/versions/7",
            404,
            "/error_code",
            40_402.into(),
        ),
        ("/subjects/none/versions", 404, "/error_code", 40_401.into()),
        ("/subjects", 200, "/0", "geo.proto".into()),
        ("/schemas/types", 200, "/1", "PROTOBUF".into()),
    ] {
        let (code, body) = call_at(registry, "GET", path, "").await;
        let found = body.pointer(key).cloned().unwrap_or_default();
        assert_eq!((code, found), (status, expected), "{path}: {body}");
    }
    assert_eq!(call_at(address, "GET", "/", "").await.0, 200);
    let module = source["module"].as_str().expect("a path");
    assert_eq!(
        call_at(address, "GET", &format!("/{module}"), "").await.0,
        200
    );
    let (_, plugin) = call_at(address, "GET", "/workbench/plugin", "").await;
    demo.interrupt().await;
    let left = Path::new("/proc").join(plugin["pid"].to_string());
    assert!(!left.exists(), "the plugin is gone too");
}

async fn demo_with_their_kafka() {
    let options = Options {
        auto_create: true,
        ..Options::default()
    };
    let theirs = Broker::start(options).await.expect("started");
    let dir = built();
    let mut demo = Running::start(demo_command(&dir, &["--kafka", &theirs.bootstrap()]));
    let lines = demo.until("open").await;
    assert!(lines[0].contains("it is only read"), "{lines:?}");
    let address = address(lines.last().expect("a line"));
    let (_, source) = call_at(address, "GET", "/api/datasources/uid/kafka", "").await;
    assert_eq!(
        source["jsonData"]["bootstrapServers"],
        Value::from(theirs.bootstrap())
    );
    tokio::time::sleep(Duration::from_millis(500)).await;
    demo.interrupt().await;
    assert!(theirs.store().topics().is_empty());
}

async fn broker() {
    let dir = built();
    let mut broker = Running::start(workbench(
        &["broker", "--port", "0", "--registry-port", "0"],
        dir.path(),
    ));
    let lines = broker.until("Ctrl-C").await;
    assert!(lines[0].starts_with("kafka    127.0.0.1:"), "{lines:?}");
    broker.interrupt().await;
}

async fn what_is_missing() {
    let dir = built();
    let taken = std::net::TcpListener::bind("127.0.0.1:0").expect("a port");
    let port = taken.local_addr().expect("an address").port().to_string();
    for (args, words) in [
        (&["--plugin", "nowhere"][..], "`make plugin`"),
        (&["--frontend", "nowhere"], "`make frontend`"),
        (&["--page", "nowhere"], "`make page`"),
        (&["--port", &port], "cannot listen on port"),
    ] {
        let usual = [
            (
                "--plugin",
                super::host::this_program().to_string_lossy().into_owned(),
            ),
            ("--page", "page".to_owned()),
            ("--port", "0".to_owned()),
        ];
        let mut command = workbench(&["demo"], dir.path());
        for (name, value) in usual.iter().filter(|(name, _)| *name != args[0]) {
            command.args([*name, value]);
        }
        let output = command.args(args).output().await.expect("ran");
        let error = String::from_utf8_lossy(&output.stderr);
        assert!(
            !output.status.success() && error.contains(words),
            "{args:?}: {error}"
        );
    }
}
