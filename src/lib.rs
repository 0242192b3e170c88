//! Streamscope: Apache Kafka topics, live in Grafana.

pub mod config;

#[cfg(feature = "plugin")]
pub mod consume;
#[cfg(feature = "plugin")]
pub mod plugin;
