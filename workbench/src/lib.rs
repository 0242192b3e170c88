//! What stands around the plugin in demos and tests: a stand-in for the Grafana server.
//!
//! - [`host`]: a plugin process, started, called and ended as Grafana does
//! - [`server`]: Grafana's HTTP paths and its Live socket, for a browser
//! - [`broker`]: a Kafka broker in this process
//! - [`producers`]: topics that move
//! - [`registry`]: a schema registry in this process
//!
//! It knows the plugin only by Grafana's own protocol, and shares no code with it.

pub mod broker;
pub mod host;
pub mod producers;
pub mod registry;
pub mod server;
