//! What stands around the plugin in demos and tests: a stand-in for the Grafana server.
//!
//! It knows the plugin only by Grafana's own protocol, and shares no code with it.

pub mod broker;
pub mod host;
pub mod producers;
pub mod server;
