//! One WebSocket connection.

use std::collections::HashSet;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use axum::extract::ws::{CloseFrame, Message, WebSocket};
use futures_util::stream::{SplitSink, SplitStream};
use futures_util::{SinkExt as _, StreamExt as _};
use serde_json::value::RawValue;
use serde_json::{Value, json};
use tokio::sync::Notify;
use uuid::Uuid;

use super::Live;
use super::outbox::{Close, Messages, Outbox, outbox};
use super::protocol::{Command, Refusal, error, one_line, reply};

/// Serves one client until it leaves or is cut off.
pub(in super::super) async fn serve(live: Live, socket: WebSocket) {
    let id = Uuid::new_v4().to_string();
    let (outbox, messages) = outbox(live.options().queue_limit);
    live.clients().insert(id.clone(), outbox.clone());
    let client = Client {
        id: id.clone(),
        outbox,
        channels: Arc::default(),
        pongs: Arc::default(),
        live: live.clone(),
    };
    let (sink, stream) = socket.split();
    let pinging = client.clone();
    tokio::select! {
        () = client.read(stream) => {}
        () = write(&live, sink, messages) => {}
        () = pinging.ping() => {}
    }
    live.clients().remove(&id);
    live.unsubscribe(&id, None);
}

#[derive(Clone)]
struct Client {
    id: String,
    live: Live,
    outbox: Outbox,
    /// The channels that it follows or has asked for.
    channels: Arc<Mutex<HashSet<String>>>,
    pongs: Arc<Notify>,
}

impl Client {
    /// Reads commands. Ends when the client is gone; waits for the writer where it is to be cut off.
    async fn read(&self, mut stream: SplitStream<WebSocket>) {
        let mut connected = false;
        while let Some(message) = stream.next().await {
            let text = match message {
                Ok(Message::Text(text)) => text,
                Ok(Message::Close(_)) => return,
                Ok(_) => continue,
                Err(error) if error.to_string().contains("too long") => {
                    // As the socket of Grafana's server does with a message over its limit.
                    return self.cut(Close::Code(1009, "")).await;
                }
                Err(_) => return,
            };
            for line in text.lines() {
                let Ok(command) = serde_json::from_str::<Command<'_>>(line) else {
                    return self.cut(Close::Code(3501, "bad request")).await;
                };
                if !connected && command.connect.is_none() {
                    return self.cut(Close::Code(3501, "bad request")).await;
                }
                connected = true;
                self.obey(command);
            }
        }
    }

    /// Has the writer close the connection, and waits for that.
    async fn cut(&self, how: Close) {
        self.outbox.close(how);
        std::future::pending::<()>().await;
    }

    fn obey(&self, command: Command<'_>) {
        let id = command.id;
        if command.connect.is_some() {
            let seconds = self.live.options().ping_interval.as_secs().max(1);
            let result = json!({"client": self.id, "version": "0", "ping": seconds, "pong": true});
            self.outbox.push(reply(id, "connect", result));
        } else if let Some(subscribe) = command.subscribe {
            let data = subscribe
                .data
                .map_or("null", RawValue::get)
                .as_bytes()
                .to_vec();
            self.subscribe(id, subscribe.channel, data);
        } else if let Some(unsubscribe) = command.unsubscribe {
            self.live.unsubscribe(&self.id, Some(&unsubscribe.channel));
            self.followed(|channels| channels.remove(&unsubscribe.channel));
            self.outbox.push(reply(id, "unsubscribe", json!({})));
        } else if let Some(presence) = command.presence {
            let clients = self.live.presence(&presence.channel).into_iter();
            let clients = clients.map(|id| (id.clone(), json!({"client": id, "user": "1"})));
            let result = json!({"presence": Value::Object(clients.collect())});
            self.outbox.push(reply(id, "presence", result));
        } else if command.publish.is_some() {
            // No plugin that the workbench hosts takes publications.
            self.outbox.push(error(id, Refusal::PermissionDenied));
        } else if id == 0 {
            self.pongs.notify_one();
        } else {
            self.outbox.push(error(id, Refusal::NotAvailable));
        }
    }

    /// Subscribes beside the reader, so that a slow plugin holds up only this channel.
    fn subscribe(&self, id: u32, channel: String, data: Vec<u8>) {
        if !self.followed(|channels| channels.insert(channel.clone())) {
            return self.outbox.push(error(id, Refusal::AlreadySubscribed));
        }
        let client = self.clone();
        tokio::spawn(async move {
            let answer = client
                .live
                .subscribe(&client.id, &client.outbox, &channel, &data)
                .await;
            // It may have left meanwhile: then nobody would take it off the channel.
            if !client.live.clients().contains_key(&client.id)
                || !client.followed(|channels| channels.contains(&channel))
            {
                return client.live.unsubscribe(&client.id, Some(&channel));
            }
            match answer {
                Ok(initial) if initial.is_empty() => {
                    client.outbox.push(reply(id, "subscribe", json!({})));
                }
                Ok(initial) => match one_line(&initial) {
                    Some(initial) => client
                        .outbox
                        .push(format!(r#"{{"id":{id},"subscribe":{{"data":{initial}}}}}"#)),
                    None => client
                        .outbox
                        .close(Close::Code(3506, "inappropriate protocol")),
                },
                Err(refusal) => {
                    client.followed(|channels| channels.remove(&channel));
                    client.outbox.push(error(id, refusal));
                }
            }
        });
    }

    /// Sends a ping now and then, and cuts off a client that does not answer. While nothing is
    /// written to it, it cannot.
    async fn ping(&self) {
        let paused = self.live.0.paused.subscribe();
        let options = self.live.options();
        loop {
            tokio::time::sleep(options.ping_interval).await;
            if *paused.borrow() {
                continue;
            }
            self.outbox.push("{}".into());
            let pong = tokio::time::timeout(options.pong_timeout, self.pongs.notified());
            if pong.await.is_err() && !*paused.borrow() {
                return self.cut(Close::Code(3012, "no pong")).await;
            }
        }
    }

    fn followed<T>(&self, with: impl FnOnce(&mut HashSet<String>) -> T) -> T {
        with(&mut self.channels.lock().unwrap_or_else(PoisonError::into_inner))
    }
}

/// Writes what is queued, until the client is to be cut off or the socket breaks.
async fn write(live: &Live, mut sink: SplitSink<WebSocket, Message>, mut messages: Messages) {
    let mut paused = live.0.paused.subscribe();
    let mut close = messages.close.clone();
    let written = async {
        loop {
            // Neither sender goes before this client.
            let _ = paused.wait_for(|paused| !paused).await;
            let Some(text) = messages.next().await else {
                return;
            };
            let _ = paused.wait_for(|paused| !paused).await;
            if sink.send(Message::Text(text.into())).await.is_err() {
                return;
            }
        }
    };
    let how = tokio::select! {
        () = written => return,
        how = close.wait_for(Option::is_some) => how.ok().and_then(|how| *how),
    };
    if let Some(Close::Code(code, reason)) = how {
        let frame = CloseFrame {
            code,
            reason: reason.into(),
        };
        // A client that takes nothing any more does not take this either.
        let sent = sink.send(Message::Close(Some(frame)));
        let _ = tokio::time::timeout(Duration::from_secs(1), sent).await;
    }
}
