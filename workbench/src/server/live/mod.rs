//! Grafana Live: who follows which channel, and the one run behind each.

mod address;
mod client;
mod outbox;
mod protocol;
mod run;

use std::collections::{BTreeMap, HashMap};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use serde_json::{Value, json};
use tokio::sync::{Notify, watch};

use super::LiveOptions;
use super::sources::Sources;
use super::supervisor::Supervisor;
use crate::host::proto::StreamStatus;
use address::Address;
pub(super) use client::serve;
use outbox::{Close, Outbox};
use protocol::Refusal;

/// Clones share the channels.
#[derive(Clone)]
pub(super) struct Live(Arc<Inner>);

struct Inner {
    plugin: Supervisor,
    sources: Sources,
    options: LiveOptions,
    channels: Mutex<BTreeMap<String, Channel>>,
    clients: Mutex<HashMap<String, Outbox>>,
    /// Whether nothing is written to any client: for tests.
    paused: watch::Sender<bool>,
}

/// One channel, by its name without the organisation's prefix.
#[derive(Default)]
struct Channel {
    /// By client: its queue, and the name by which it subscribed.
    viewers: HashMap<String, (Outbox, String)>,
    run: Option<Run>,
    /// Runs started so far, for tests.
    runs: u64,
}

/// The run of a channel. Dropping it ends the run.
struct Run {
    /// Told to begin anew, with the settings of now.
    settings_changed: Arc<Notify>,
    _stop: watch::Sender<()>,
}

impl Live {
    pub(super) fn new(plugin: Supervisor, sources: Sources, options: LiveOptions) -> Live {
        Live(Arc::new(Inner {
            plugin,
            sources,
            options,
            channels: Mutex::default(),
            clients: Mutex::default(),
            paused: watch::channel(false).0,
        }))
    }

    pub(super) fn options(&self) -> LiveOptions {
        self.0.options
    }

    /// Begins the runs of a data source anew, each with the new settings.
    pub(super) fn source_changed(&self, uid: &str) {
        let prefix = format!("ds/{uid}/");
        for (name, channel) in self.channels().iter() {
            if let Some(run) = channel.run.as_ref().filter(|_| name.starts_with(&prefix)) {
                run.settings_changed.notify_one();
            }
        }
    }

    /// Disconnects all clients: the server goes.
    pub(super) fn close(&self) {
        self.cut(Close::Code(3001, "shutdown"));
        self.channels().clear();
    }

    /// Disconnects all clients.
    pub(super) fn cut(&self, how: Close) {
        for client in self.clients().values() {
            client.close(how);
        }
    }

    /// Stops or resumes writing to all clients.
    pub(super) fn pause(&self, paused: bool) {
        self.0.paused.send_replace(paused);
    }

    /// Tells what goes on, for tests.
    pub(super) fn report(&self) -> Value {
        let channels: Vec<Value> = self
            .channels()
            .iter()
            .map(|(name, channel)| {
                json!({
                    "channel": name,
                    "viewers": channel.viewers.len(),
                    "running": channel.run.is_some(),
                    "runs": channel.runs,
                })
            })
            .collect();
        let clients: Vec<Value> = self
            .clients()
            .iter()
            .map(|(id, outbox)| json!({"client": id, "queued": outbox.queued()}))
            .collect();
        json!({"channels": channels, "clients": clients})
    }

    /// Asks the plugin whether a client may follow a channel, adds it, and starts the channel's run
    /// unless it runs. Returns the plugin's initial data.
    async fn subscribe(
        &self,
        client: &str,
        outbox: &Outbox,
        wire: &str,
        data: &[u8],
    ) -> Result<Vec<u8>, Refusal> {
        let address = Address::parse(wire).ok_or(Refusal::BadRequest)?;
        let source = self.0.sources.find(&address.uid).ok_or(Refusal::NotFound)?;
        let plugin = self.0.plugin.running().ok_or(Refusal::Internal)?;
        let (status, initial) = plugin
            .client
            .subscribe_stream(&source, &address.path, data)
            .await
            .map_err(|_| Refusal::Internal)?;
        match status {
            StreamStatus::Ok => {}
            StreamStatus::NotFound => return Err(Refusal::NotFound),
            StreamStatus::PermissionDenied => return Err(Refusal::PermissionDenied),
        }
        let mut channels = self.channels();
        let channel = channels.entry(address.channel()).or_default();
        channel
            .viewers
            .insert(client.into(), (outbox.clone(), wire.into()));
        if channel.run.is_none() {
            channel.runs += 1;
            channel.run = Some(run::start(
                self.clone(),
                address,
                data.to_vec(),
                channel.runs,
            ));
        }
        Ok(initial)
    }

    /// Takes a client off one channel, or off all.
    fn unsubscribe(&self, client: &str, wire: Option<&str>) {
        for channel in self.channels().values_mut() {
            let leaves = channel
                .viewers
                .get(client)
                .is_some_and(|(_, name)| wire.is_none_or(|wire| wire == name));
            if leaves {
                channel.viewers.remove(client);
            }
        }
    }

    /// Lists the clients that follow a channel.
    fn presence(&self, wire: &str) -> Vec<String> {
        let name = Address::parse(wire)
            .map(|address| address.channel())
            .unwrap_or_default();
        let channels = self.channels();
        let viewers = channels.get(&name).map(|channel| channel.viewers.keys());
        viewers.into_iter().flatten().cloned().collect()
    }

    /// Queues a packet for all who follow a channel.
    fn publish(&self, channel: &str, packet: &str) {
        let viewers: Vec<(Outbox, String)> = self
            .channels()
            .get(channel)
            .map(|channel| channel.viewers.values().cloned().collect())
            .unwrap_or_default();
        for (outbox, wire) in viewers {
            outbox.push(protocol::publication(&wire, packet));
        }
    }

    fn viewers(&self, channel: &str) -> usize {
        self.channels()
            .get(channel)
            .map_or(0, |channel| channel.viewers.len())
    }

    /// Forgets a run that the plugin has ended, unless another one has begun.
    fn ended(&self, channel: &str, run: u64) {
        let mut channels = self.channels();
        if let Some(entry) = channels.get_mut(channel).filter(|entry| entry.runs == run) {
            entry.run = None;
        }
    }

    /// Forgets a channel that nobody follows. False where somebody has just come.
    fn forget(&self, channel: &str) -> bool {
        let mut channels = self.channels();
        let empty = channels
            .get(channel)
            .is_none_or(|entry| entry.viewers.is_empty());
        if empty {
            channels.remove(channel);
        }
        empty
    }

    fn channels(&self) -> MutexGuard<'_, BTreeMap<String, Channel>> {
        self.0
            .channels
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
    }

    fn clients(&self) -> MutexGuard<'_, HashMap<String, Outbox>> {
        self.0
            .clients
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
    }
}

pub(super) use outbox::Close as Disconnect;
