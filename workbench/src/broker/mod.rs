//! A Kafka broker in this process: one node, real TCP, everything in memory.
//!
//! Record batches stay the bytes that the producer sent; only their base offset and leader epoch are
//! written. Readers never create a topic, unless [`Options::auto_create`] says so. Transactions,
//! groups and idempotence are not here.

mod api;
mod batch;
mod connection;
mod log;
mod store;

use std::net::{Ipv4Addr, SocketAddr};

use tokio::net::TcpListener;
use tokio::sync::watch;

pub use store::{Retention, Store, TopicError};

/// How a broker is started.
#[derive(Clone, Debug, Default)]
pub struct Options {
    /// 0 takes any free port.
    pub port: u16,
    /// Topics and records of an earlier broker; empty where none is given.
    pub store: Option<Store>,
    /// What a new store keeps.
    pub retention: Retention,
    /// User and password of SASL PLAIN; without it clients need not say who they are.
    pub sasl: Option<(String, String)>,
    /// Whether a metadata request creates the topic that it names, where it says that it may.
    pub auto_create: bool,
}

/// A running broker. Dropping it closes its connections.
pub struct Broker {
    address: SocketAddr,
    store: Store,
    stop: watch::Sender<bool>,
    accepting: tokio::task::JoinHandle<()>,
}

/// What each connection of a broker sees.
#[derive(Clone, Debug)]
struct Node {
    address: SocketAddr,
    store: Store,
    sasl: Option<(String, String)>,
    auto_create: bool,
}

impl Broker {
    /// Starts to listen on the loopback address.
    pub async fn start(options: Options) -> std::io::Result<Broker> {
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, options.port)).await?;
        let address = listener.local_addr()?;
        let store = options
            .store
            .unwrap_or_else(|| Store::new(options.retention));
        let node = Node {
            address,
            store: store.clone(),
            sasl: options.sasl,
            auto_create: options.auto_create,
        };
        let (stop, stopped) = watch::channel(false);
        let accepting = tokio::spawn(accept(listener, node, stopped));
        Ok(Broker {
            address,
            store,
            stop,
            accepting,
        })
    }

    /// Gives `host:port`.
    pub fn bootstrap(&self) -> String {
        self.address.to_string()
    }

    /// Gives its topics, to create, grow or delete them without a client.
    pub fn store(&self) -> &Store {
        &self.store
    }

    /// Closes the port and all connections; the store can start another broker.
    pub async fn stop(self) -> Store {
        self.stop.send_replace(true);
        let _ = self.accepting.await;
        self.store
    }
}

async fn accept(listener: TcpListener, node: Node, mut stopped: watch::Receiver<bool>) {
    loop {
        // The sender is gone where the broker was dropped.
        let socket = tokio::select! {
            accepted = listener.accept() => accepted,
            _ = stopped.wait_for(|stop| *stop) => return,
        };
        if let Ok((socket, _)) = socket {
            let (node, mut stopped) = (node.clone(), stopped.clone());
            tokio::spawn(async move {
                tokio::select! {
                    // A client that breaks off, or sends what is no request, ends its own connection.
                    _ = connection::serve(socket, node) => {}
                    _ = stopped.wait_for(|stop| *stop) => {}
                }
            });
        }
    }
}
