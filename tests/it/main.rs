//! The built plugin against a real Apache Kafka, called as Grafana calls it.
//!
//! One program, so that it links once and its tests share one broker; those that kill a broker have their own.
//! `GPX_STREAMSCOPE` names another executable to test than cargo's.

mod support;

mod connections;
mod detect;
mod encoders;
mod health;
mod outages;
mod panics;
mod partitions;
mod policy;
mod process;
mod query;
mod records;
mod registry;
mod resources;
mod rights;
mod schemas;
mod slow;
mod topics;
mod transactions;
