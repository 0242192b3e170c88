//! The core from outside, without Kafka: golden packets, the plain twin, allocations.

#![allow(clippy::unwrap_used, reason = "a test says with a panic what is wrong")]

#[path = "core/allocations.rs"]
mod allocations;
#[path = "../benches/corpus/mod.rs"]
mod corpus;
#[path = "core/edges.rs"]
mod edges;
#[path = "core/golden.rs"]
mod golden;
#[path = "core/hostile.rs"]
mod hostile;
#[path = "core/support.rs"]
mod support;
#[path = "../benches/twin/mod.rs"]
mod twin;
