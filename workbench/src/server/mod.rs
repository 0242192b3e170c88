//! A stand-in for the Grafana server: its HTTP paths, its Live socket, and one plugin process.

mod frame;
mod live;
mod routes;
mod sources;
mod supervisor;

use std::net::{Ipv4Addr, SocketAddr};
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use anyhow::Context as _;
use tokio::net::TcpListener;

use crate::host::{self, DataSource, Ended};
use crate::producers::Example;
use live::Live;
use sources::Sources;
use supervisor::Supervisor;

/// What a server serves.
pub struct Options {
    /// 0 takes any free port.
    pub port: u16,
    /// The plugin's executable.
    pub plugin: PathBuf,
    pub plugin_options: host::Options,
    /// The plugin's built front end, with `module.js`.
    pub frontend: Option<PathBuf>,
    /// The demo page's builds, `v10` and `v13`.
    pub page: Option<PathBuf>,
    pub source: DataSource,
    /// Panels that the page offers.
    pub examples: Vec<Example>,
    pub live: LiveOptions,
}

/// Grafana's numbers, to be made smaller by tests.
#[derive(Clone, Copy, Debug)]
pub struct LiveOptions {
    /// Between two looks at whether anybody still follows a channel; the third empty one ends its run.
    pub presence_interval: Duration,
    /// Bytes that may wait for one client before it is cut off: `client_queue_max_size`.
    pub queue_limit: usize,
    /// The largest message from a client: `message_size_limit`.
    pub message_limit: usize,
    /// Between two pings.
    pub ping_interval: Duration,
    /// How long a client may take to answer one.
    pub pong_timeout: Duration,
}

impl Default for LiveOptions {
    fn default() -> Self {
        LiveOptions {
            presence_interval: Duration::from_secs(5),
            queue_limit: 4 << 20,
            message_limit: 8 << 20,
            ping_interval: Duration::from_secs(25),
            pong_timeout: Duration::from_secs(10),
        }
    }
}

/// A running server.
pub struct Server {
    address: SocketAddr,
    app: Arc<App>,
    serving: tokio::task::JoinHandle<()>,
}

/// What the handlers share.
struct App {
    plugin: Supervisor,
    sources: Sources,
    live: Live,
    files: routes::Files,
    examples: Vec<Example>,
}

impl Server {
    /// Starts the plugin, then serves on the loopback address.
    pub async fn start(options: Options) -> anyhow::Result<Server> {
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, options.port))
            .await
            .with_context(|| {
                format!(
                    "cannot listen on port {} (--port takes another)",
                    options.port
                )
            })?;
        let address = listener.local_addr()?;
        let files = routes::Files::new(options.frontend, options.page)?;
        let plugin = Supervisor::start(options.plugin, options.plugin_options).await?;
        let sources = Sources::new(options.source);
        let live = Live::new(plugin.clone(), sources.clone(), options.live);
        let app = Arc::new(App {
            plugin,
            sources,
            live,
            files,
            examples: options.examples,
        });
        let router = routes::router(app.clone());
        let serving = tokio::spawn(async move {
            // It ends only with its task.
            let _ = axum::serve(listener, router).await;
        });
        Ok(Server {
            address,
            app,
            serving,
        })
    }

    /// Gives `host:port`.
    pub fn address(&self) -> SocketAddr {
        self.address
    }

    /// Closes all sockets, stops to serve, and ends the plugin by Shutdown.
    pub async fn shutdown(self) -> Option<Ended> {
        self.app.live.close();
        self.serving.abort();
        self.app.plugin.shutdown().await
    }
}
