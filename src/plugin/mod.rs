//! SHELL: what Grafana sees, one file for each call of its plugin protocol.
//!
//! `serve` runs the process, `telemetry` its log, `instance` holds what a data source's calls share; `health` and
//! `resource` answer the settings page and the editors.

mod health;
mod instance;
mod resource;
mod serve;
mod telemetry;

pub use serve::run;
