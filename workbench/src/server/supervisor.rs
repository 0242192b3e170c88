//! Keeps a plugin process running: one that ends by itself is started again a second later.

use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use tokio::sync::{mpsc, oneshot, watch};

use crate::host::{Client, Ended, Log, Options, Plugin, StartError};

/// Clones share the process.
#[derive(Clone)]
pub(super) struct Supervisor {
    running: watch::Receiver<Option<Running>>,
    orders: mpsc::UnboundedSender<Order>,
    /// The log of the process that runs, or ran last.
    log: Arc<Mutex<Log>>,
}

/// A process as callers see it.
#[derive(Clone)]
pub(super) struct Running {
    pub(super) client: Client,
    pub(super) pid: u32,
}

enum Order {
    Kill,
    Shutdown(oneshot::Sender<Option<Ended>>),
}

impl Supervisor {
    /// Starts the process for the first time; an error here is the caller's.
    pub(super) async fn start(binary: PathBuf, options: Options) -> Result<Supervisor, StartError> {
        let plugin = Plugin::start(&binary, options.clone()).await?;
        let log = Arc::new(Mutex::new(plugin.log().clone()));
        let (running, current) = watch::channel(Some(running(&plugin)));
        let (orders, taken) = mpsc::unbounded_channel();
        let keeper = Keeper {
            binary,
            options,
            running,
            orders: taken,
            log: log.clone(),
        };
        tokio::spawn(keeper.keep(plugin));
        Ok(Supervisor {
            running: current,
            orders,
            log,
        })
    }

    /// Gives the process, if one runs now.
    pub(super) fn running(&self) -> Option<Running> {
        self.running.borrow().clone()
    }

    /// Gives the log of the process that runs, or ran last.
    pub(super) fn log(&self) -> Log {
        self.log
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .clone()
    }

    /// Kills the process, as a crash would; it is started again.
    pub(super) fn kill(&self) {
        // No keeper: no process.
        let _ = self.orders.send(Order::Kill);
    }

    /// Ends the process for good. `None` where none was running.
    pub(super) async fn shutdown(&self) -> Option<Ended> {
        let (answer, ended) = oneshot::channel();
        self.orders.send(Order::Shutdown(answer)).ok()?;
        ended.await.ok()?
    }
}

struct Keeper {
    binary: PathBuf,
    options: Options,
    running: watch::Sender<Option<Running>>,
    orders: mpsc::UnboundedReceiver<Order>,
    log: Arc<Mutex<Log>>,
}

impl Keeper {
    async fn keep(mut self, first: Plugin) {
        let mut plugin = Some(first);
        loop {
            let order = if let Some(plugin) = &plugin {
                tokio::select! {
                    order = self.orders.recv() => order,
                    status = plugin.exited() => {
                        let status = status.map(|status| status.to_string()).unwrap_or_default();
                        eprintln!("the plugin ended by itself ({status}); starting it again");
                        Some(Order::Kill)
                    }
                }
            } else {
                tokio::select! {
                    order = self.orders.recv() => order,
                    () = tokio::time::sleep(RESTART_AFTER) => {
                        plugin = self.restart(&self.binary).await;
                        continue;
                    }
                }
            };
            match order {
                Some(Order::Kill) => {
                    self.running.send_replace(None);
                    plugin = None;
                }
                Some(Order::Shutdown(answer)) => {
                    self.running.send_replace(None);
                    let ended = match plugin {
                        Some(plugin) => Some(plugin.shutdown().await),
                        None => None,
                    };
                    // The caller may have gone.
                    let _ = answer.send(ended);
                    return;
                }
                None => return,
            }
        }
    }

    async fn restart(&self, binary: &Path) -> Option<Plugin> {
        match Plugin::start(binary, self.options.clone()).await {
            Ok(plugin) => {
                *self.log.lock().unwrap_or_else(PoisonError::into_inner) = plugin.log().clone();
                self.running.send_replace(Some(running(&plugin)));
                Some(plugin)
            }
            Err(error) => {
                eprintln!("the plugin does not start: {error}");
                None
            }
        }
    }
}

fn running(plugin: &Plugin) -> Running {
    Running {
        client: plugin.client(),
        pid: plugin.pid(),
    }
}

/// How often Grafana looks whether a plugin's process is there.
const RESTART_AFTER: Duration = Duration::from_secs(1);
