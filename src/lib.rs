//! Streamscope: Apache Kafka topics, live in Grafana.
//!
//! ```text
//!             shell: waits                     core: computes, waits for nothing
//!   Kafka --> consume --> decode --> flatten --> columns --> batch --> frame --> plugin --> Grafana Live
//!                           ^                                            '--> Arrow --> QueryData
//!              registry ----'  compiled schemas, a bounded LRU
//! ```
//!
//! The modules in that order, behind `config` (what people set), `record` (what Kafka hands over) and `schema` (what a record's
//! bytes mean); `pipeline` joins the core's stages, `perf` says which of its optimisations are off, and
//! `detect` finds out which format a topic has.

pub mod config;
pub mod record;
pub mod schema;

#[cfg(feature = "plugin")]
pub mod consume;

#[cfg(feature = "plugin")]
pub mod registry;

pub mod decode;
pub mod flatten;

pub mod columns;

pub mod batch;
pub mod frame;

pub mod detect;
pub mod perf;
pub mod pipeline;

#[cfg(feature = "plugin")]
mod drill;
#[cfg(feature = "plugin")]
pub mod plugin;
