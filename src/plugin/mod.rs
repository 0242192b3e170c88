//! SHELL: what Grafana sees, one file for each call of its plugin protocol.
//!
//! `serve` runs the process, `telemetry` its log, `instance` holds what a data source's calls share; `health` and
//! `resource` answer the settings page and the editors, `query` a panel, and `stream` runs its live channel, which
//! `channel` lets it have. `unary` serves the calls that the SDK does not know.

mod channel;
mod health;
mod instance;
mod query;
mod resource;
mod serve;
mod stream;
mod telemetry;
mod unary;

pub use serve::run;
