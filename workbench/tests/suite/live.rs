//! Grafana Live, as a centrifuge client sees it.

use std::collections::VecDeque;
use std::time::Duration;

use futures_util::{SinkExt as _, StreamExt as _};
use libtest_mimic::Trial;
use serde_json::{Value, json};
use tokio::net::TcpStream;
use tokio_tungstenite::tungstenite::Message;
use tokio_tungstenite::{MaybeTlsStream, WebSocketStream, connect_async};
use workbench::server::{LiveOptions, Server};

use super::http::call;
use super::server::start;

pub(crate) fn cases() -> Vec<Trial> {
    vec![
        super::case("live/refusals", refusals),
        super::case("live/one_run_for_all", one_run_for_all),
        super::case("live/stops_when_nobody_follows", stops_when_nobody_follows),
        super::case("live/run_ends", run_ends),
        super::case("live/settings_change", settings_change),
        super::case("live/plugin_crash", plugin_crash),
        super::case("live/slow_client", slow_client),
        super::case("live/disconnects", disconnects),
        super::case("live/ping", ping),
        super::case("live/shutdown", shutdown),
    ]
}

/// A client that has connected.
struct Client {
    socket: WebSocketStream<MaybeTlsStream<TcpStream>>,
    /// Lines that came with one that was taken.
    lines: VecDeque<Value>,
    id: u32,
    /// Whether it answers pings.
    answers: bool,
}

impl Client {
    async fn bare(server: &Server) -> Client {
        let url = format!("ws://{}/api/live/ws", server.address());
        let (socket, _) = connect_async(url).await.expect("connected");
        Client {
            socket,
            lines: VecDeque::new(),
            id: 0,
            answers: true,
        }
    }

    async fn connect(server: &Server) -> Client {
        let mut client = Client::bare(server).await;
        let answer = client.ask("connect", json!({})).await;
        assert_eq!(answer["connect"]["pong"], true, "{answer}");
        client
    }

    async fn send(&mut self, text: &str) {
        self.socket.send(Message::text(text)).await.expect("sent");
    }

    /// Sends a command and gives the reply, passing over what is pushed in between.
    async fn ask(&mut self, kind: &str, body: Value) -> Value {
        self.id += 1;
        let id = self.id;
        let mut command = json!({"id": id});
        command[kind] = body;
        self.send(&command.to_string()).await;
        loop {
            let line = self.line().await.expect("a reply");
            if line["id"] == id {
                return line;
            }
        }
    }

    async fn subscribe(&mut self, path: &str, data: Value) -> Value {
        self.ask("subscribe", json!({"channel": channel(path), "data": data}))
            .await
    }

    /// Gives the next packet of any channel.
    async fn packet(&mut self) -> Value {
        loop {
            let line = self.line().await.expect("a packet");
            if !line["push"].is_null() {
                return line["push"]["pub"]["data"].clone();
            }
        }
    }

    /// Gives the next line, or how the connection was closed: code 1006 where it broke off.
    async fn line(&mut self) -> Result<Value, u16> {
        while self.lines.is_empty() {
            match self.socket.next().await {
                Some(Ok(Message::Text(text))) => self.lines.extend(
                    text.lines()
                        .map(|line| serde_json::from_str(line).expect("JSON")),
                ),
                Some(Ok(Message::Close(Some(frame)))) => return Err(frame.code.into()),
                Some(Ok(_)) => {}
                None | Some(Err(_)) => return Err(1006),
            }
        }
        let line = self.lines.pop_front().expect("not empty");
        if self.answers && line == json!({}) {
            // It may be closed already: the next line says so.
            let _ = self.socket.send(Message::text("{}")).await;
        }
        Ok(line)
    }

    /// Reads until the connection is closed, and says how.
    async fn closed(&mut self) -> u16 {
        loop {
            if let Err(code) = self.line().await {
                return code;
            }
        }
    }
}

fn channel(path: &str) -> String {
    format!("1/ds/k/{path}")
}

/// What the server says of a channel.
async fn report(server: &Server, path: &str) -> Value {
    let (_, report) = call(server, "GET", "/workbench/live", "").await;
    let channels = report["channels"].as_array().expect("a list");
    let name = format!("ds/k/{path}");
    channels
        .iter()
        .find(|channel| channel["channel"] == name)
        .cloned()
        .unwrap_or_default()
}

fn quick() -> LiveOptions {
    LiveOptions {
        presence_interval: Duration::from_millis(50),
        ..LiveOptions::default()
    }
}

async fn refusals() {
    let server = start(LiveOptions::default()).await;
    let mut client = Client::connect(&server).await;
    for (channel, code) in [
        ("1/ds/k/missing", 404),
        ("1/ds/k/denied", 403),
        ("1/ds/z/a", 404),
        ("1/ds/k/a%20b", 400),
        ("ds/k/a", 400),
    ] {
        let answer = client
            .ask("subscribe", json!({"channel": channel, "data": {}}))
            .await;
        assert_eq!(answer["error"]["code"], code, "{channel}: {answer}");
    }
    assert_eq!(
        client.subscribe("a", json!({})).await["subscribe"],
        json!({})
    );
    assert_eq!(client.subscribe("a", json!({})).await["error"]["code"], 105);
    let initial = client.subscribe("initial", json!({})).await;
    assert_eq!(initial["subscribe"]["data"], json!({"initial": true}));
    let published = client
        .ask("publish", json!({"channel": channel("a"), "data": 1}))
        .await;
    assert_eq!(published["error"]["code"], 403);
    let other = client
        .ask("history", json!({"channel": channel("a")}))
        .await;
    assert_eq!(other["error"]["code"], 108);
    let presence = client
        .ask("presence", json!({"channel": channel("a")}))
        .await;
    assert_eq!(
        presence["presence"]["presence"]
            .as_object()
            .map(serde_json::Map::len),
        Some(1)
    );
}

async fn one_run_for_all() {
    let server = start(LiveOptions::default()).await;
    let (mut first, mut second) = (
        Client::connect(&server).await,
        Client::connect(&server).await,
    );
    first.subscribe("a", json!({"who": "first"})).await;
    let packet = first.packet().await;
    assert_eq!(packet["data"], json!({"who": "first"}));
    // The second one comes by the name that later servers give the organisation.
    let later = json!({"channel": "default/ds/k/a", "data": {"who": "second"}});
    second.ask("subscribe", later).await;
    let line = second.line().await.expect("a packet");
    assert_eq!(line["push"]["channel"], "default/ds/k/a");
    let joined = &line["push"]["pub"]["data"];
    assert_eq!(
        (&joined["run"], &joined["data"]["who"]),
        (&packet["run"], &json!("first"))
    );
    assert!(
        joined["n"].as_u64() > packet["n"].as_u64(),
        "nothing from before: {joined}"
    );
    first
        .ask("unsubscribe", json!({"channel": channel("a")}))
        .await;
    assert_eq!(second.packet().await["run"], packet["run"]);
    let report = report(&server, "a").await;
    assert_eq!(
        (&report["viewers"], &report["runs"]),
        (&json!(1), &json!(1)),
        "{report}"
    );
}

async fn stops_when_nobody_follows() {
    let server = start(quick()).await;
    let mut client = Client::connect(&server).await;
    client.subscribe("a", json!({})).await;
    let first = client.packet().await;
    drop(client);
    // Back within the three looks: the same run.
    let mut again = Client::connect(&server).await;
    again.subscribe("a", json!({})).await;
    assert_eq!(again.packet().await["run"], first["run"]);
    drop(again);
    while report(&server, "a").await["running"] == true {
        tokio::time::sleep(Duration::from_millis(20)).await;
    }
    let mut late = Client::connect(&server).await;
    late.subscribe("a", json!({})).await;
    assert_ne!(late.packet().await["run"], first["run"]);
}

async fn run_ends() {
    let server = start(LiveOptions::default()).await;
    let mut client = Client::connect(&server).await;
    // An error, and a packet that is no JSON, start the run anew; its viewers stay.
    for (path, end) in [("error", "error"), ("broken", "broken")] {
        client
            .subscribe(path, json!({"packets": 1, "end": end}))
            .await;
        let mut runs = Vec::new();
        while runs.len() < 3 {
            let packet = client.packet().await;
            if packet["data"]["end"] == end {
                runs.push(packet["run"].clone());
            }
        }
        runs.dedup();
        assert_eq!(runs.len(), 3, "{end}");
        client
            .ask("unsubscribe", json!({"channel": channel(path)}))
            .await;
    }
    // An end without error does not; a new subscription does.
    client
        .subscribe("ok", json!({"packets": 1, "end": "ok"}))
        .await;
    while report(&server, "ok").await["running"] == true {
        tokio::time::sleep(Duration::from_millis(20)).await;
    }
    tokio::time::sleep(Duration::from_millis(300)).await;
    let dead = report(&server, "ok").await;
    assert_eq!(
        (&dead["runs"], &dead["viewers"]),
        (&json!(1), &json!(1)),
        "{dead}"
    );
    let mut second = Client::connect(&server).await;
    second
        .subscribe("ok", json!({"packets": 1, "end": "ok"}))
        .await;
    assert_eq!(report(&server, "ok").await["runs"], 2);
}

async fn settings_change() {
    let server = start(LiveOptions::default()).await;
    let mut client = Client::connect(&server).await;
    client.subscribe("a", json!({})).await;
    let before = client.packet().await;
    assert_eq!(before["settings"], json!({"ok": true}));
    call(
        &server,
        "PUT",
        "/api/datasources/uid/k",
        r#"{"jsonData":{"new":1}}"#,
    )
    .await;
    let after = loop {
        let packet = client.packet().await;
        if packet["run"] != before["run"] {
            break packet;
        }
    };
    assert_eq!(
        (&after["settings"], &after["n"]),
        (&json!({"new": 1}), &json!(0))
    );
}

async fn plugin_crash() {
    let server = start(LiveOptions::default()).await;
    let mut client = Client::connect(&server).await;
    client.subscribe("a", json!({"x": 1})).await;
    let before = client.packet().await;
    call(&server, "POST", "/workbench/plugin/kill", "").await;
    let after = loop {
        let packet = client.packet().await;
        if packet["pid"] != before["pid"] {
            break packet;
        }
    };
    assert_eq!(
        after["data"],
        json!({"x": 1}),
        "the same subscription goes on"
    );
}

async fn slow_client() {
    let server = start(LiveOptions {
        queue_limit: 64 << 10,
        ..impatient()
    })
    .await;
    let mut client = Client::connect(&server).await;
    client
        .subscribe("a", json!({"pad": 10_000, "everyMs": 50}))
        .await;
    client.packet().await;
    // A ping that cannot be delivered does not count against it.
    call(&server, "POST", "/workbench/live/pause", "").await;
    assert_eq!(client.closed().await, 3008);
    call(&server, "POST", "/workbench/live/resume", "").await;
    let mut again = Client::connect(&server).await;
    again.subscribe("a", json!({})).await;
    assert_eq!(
        again.packet().await["data"]["pad"],
        10_000,
        "the run went on"
    );
}

async fn disconnects() {
    let server = start(LiveOptions {
        message_limit: 1_000,
        ..LiveOptions::default()
    })
    .await;
    let long = json!({"id": 9, "connect": {"name": "x".repeat(2_000)}}).to_string();
    for (text, code) in [
        ("no json", 3501),
        (r#"{"id":1,"subscribe":{"channel":"1/ds/k/a"}}"#, 3501),
        (&*long, 1009),
    ] {
        let mut client = Client::bare(&server).await;
        client.send(text).await;
        assert_eq!(client.closed().await, code, "{text}");
    }
    let mut client = Client::connect(&server).await;
    client
        .send(r#"{"id":5,"subscribe":{"channel":"1/ds/k/bad-initial"}}"#)
        .await;
    assert_eq!(client.closed().await, 3506);
    for (path, code) in [
        ("/workbench/live/cut", 1006),
        ("/workbench/live/cut?code=3000", 3000),
    ] {
        let mut client = Client::connect(&server).await;
        call(&server, "POST", path, "").await;
        assert_eq!(client.closed().await, code, "{path}");
    }
}

/// Pings often, and waits little.
fn impatient() -> LiveOptions {
    LiveOptions {
        ping_interval: Duration::from_millis(50),
        pong_timeout: Duration::from_millis(100),
        ..LiveOptions::default()
    }
}

async fn ping() {
    let server = start(impatient()).await;
    let mut client = Client::connect(&server).await;
    for _ in 0..3 {
        assert_eq!(client.line().await, Ok(json!({})));
    }
    client.answers = false;
    assert_eq!(client.closed().await, 3012);
}

async fn shutdown() {
    let server = start(LiveOptions::default()).await;
    let mut client = Client::connect(&server).await;
    client.subscribe("a", json!({})).await;
    client.packet().await;
    let (ended, code) = tokio::join!(server.shutdown(), client.closed());
    assert!(!ended.expect("a plugin ran").killed);
    assert_eq!(code, 3001);
}
