//! A real Apache Kafka and a schema registry for tests, from their published jars: no container engine, nothing left running.
//!
//! ```no_run
//! # fn main() -> anyhow::Result<()> {
//! use real_kafka::{Kafka, Record};
//!
//! let kafka = Kafka::shared();
//! kafka.create_topic("temperatures", 1)?;
//! kafka.produce("temperatures", &[Record::value(r#"{"celsius":21.5}"#)])?;
//! # Ok(())
//! # }
//! ```
//!
//! `broker` starts and kills, `listener` lists the ways to connect, `admin` changes topics and rights, `produce` writes;
//! `registry` is the schema registry. They need `java` (17 or later, the registry 21), and `mvn` once.

mod admin;
mod broker;
pub mod cache;
mod certificates;
mod jars;
mod listener;
mod produce;
mod raw;
mod registry;
mod supervised;

pub use admin::{Operation, Resource};
pub use broker::Kafka;
pub use jars::KAFKA_VERSION;
pub use kafka_protocol;
pub use listener::Listener;
pub use produce::{Producer, Record};
pub use raw::RawRecord;
pub use registry::Registry;
