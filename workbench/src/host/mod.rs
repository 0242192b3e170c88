//! A plugin process, started, called and ended as Grafana does.

mod client;
mod context;
mod handshake;
mod launch;
mod log;
pub mod proto;

use std::path::Path;
use std::process::ExitStatus;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use tokio::sync::{oneshot, watch};

pub use client::{Client, Health, Packets, Query, Resource};
pub use context::{DataSource, GRAFANA_VERSION, PLUGIN_ID, now_ms};
pub use launch::{Options, StartError};
pub use log::{Level, Log, LogLine, OnLine};

/// A running plugin. Its calls are those of [`Client`], to which it derefs. Dropping it kills the
/// process.
pub struct Plugin {
    client: Client,
    pid: u32,
    log: Log,
    stray: Arc<Mutex<Vec<String>>>,
    exited: watch::Receiver<Option<ExitStatus>>,
    /// Sent, or dropped, to kill the process.
    kill: oneshot::Sender<()>,
}

/// How a plugin ended.
#[derive(Clone, Copy, Debug)]
pub struct Ended {
    /// Whether it was still there after the grace period and had to be killed.
    pub killed: bool,
    /// From Shutdown to the end of the process.
    pub took: Duration,
    pub status: Option<ExitStatus>,
}

impl Plugin {
    /// Starts `binary` and returns when its health service says that it serves.
    pub async fn start(binary: &Path, options: Options) -> Result<Plugin, StartError> {
        let log = Log::new(options.on_log.clone());
        let launched = launch::launch(binary, &options, &log).await?;
        let client = Client::connect(&launched.socket)
            .await
            .map_err(|error| StartError::Connect(launched.socket.clone(), format!("{error:?}")))?;
        match client.ping().await {
            Ok(true) => {}
            Ok(false) => return Err(StartError::Unhealthy("it is not serving".into())),
            Err(status) => return Err(StartError::Unhealthy(status.message().into())),
        }

        let stray = Arc::<Mutex<Vec<String>>>::default();
        tokio::spawn({
            let (stray, mut stdout) = (stray.clone(), launched.stdout);
            async move {
                while let Ok(Some(line)) = stdout.next_line().await {
                    stray
                        .lock()
                        .unwrap_or_else(PoisonError::into_inner)
                        .push(line);
                }
            }
        });
        let mut child = launched.child;
        let pid = child.id().unwrap_or_default();
        let (kill, killed) = oneshot::channel();
        let (ended, exited) = watch::channel(None);
        tokio::spawn(async move {
            let status = tokio::select! {
                status = child.wait() => status,
                _ = killed => {
                    let _ = child.start_kill();
                    child.wait().await
                }
            };
            // An error here would mean that the process is gone already.
            ended.send_replace(status.ok());
        });
        Ok(Plugin {
            client,
            pid,
            log,
            stray,
            exited,
            kill,
        })
    }

    /// Gives a client that may outlive this value.
    pub fn client(&self) -> Client {
        self.client.clone()
    }

    /// The process id.
    pub fn pid(&self) -> u32 {
        self.pid
    }

    /// What the process wrote to its standard error so far.
    pub fn log(&self) -> &Log {
        &self.log
    }

    /// What the process wrote to its standard output after the handshake; a good one writes nothing.
    pub fn stray_output(&self) -> Vec<String> {
        self.stray
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .clone()
    }

    /// Waits until the process is gone.
    pub fn exited(&self) -> impl Future<Output = Option<ExitStatus>> + Send + use<> {
        let mut exited = self.exited.clone();
        async move {
            // The sender goes with the process: an error means the same.
            let status = exited.wait_for(Option::is_some).await.map(|status| *status);
            status.ok().flatten()
        }
    }

    /// Ends the process: Shutdown, and a kill where it is still there two seconds later.
    pub async fn shutdown(self) -> Ended {
        let start = Instant::now();
        // The process may end before its answer leaves: only whether it ends counts.
        let _ = tokio::time::timeout(GRACE, self.client.shutdown()).await;
        let exited = self.exited();
        tokio::pin!(exited);
        let (killed, status) = if let Ok(status) = tokio::time::timeout(GRACE, &mut exited).await {
            (false, status)
        } else {
            // An error means that it has just ended by itself.
            let _ = self.kill.send(());
            (true, exited.await)
        };
        Ended {
            killed,
            took: start.elapsed(),
            status,
        }
    }
}

impl std::ops::Deref for Plugin {
    type Target = Client;

    fn deref(&self) -> &Client {
        &self.client
    }
}

/// How long go-plugin waits after Shutdown before it kills.
const GRACE: Duration = Duration::from_secs(2);
