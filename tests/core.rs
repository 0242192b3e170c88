//! The core from outside, without Kafka: golden packets, the plain twin, allocations.

#![allow(clippy::unwrap_used, reason = "a test says with a panic what is wrong")]

#[path = "core/allocations.rs"]
mod allocations;
#[path = "core/by_id.rs"]
mod by_id;
#[path = "core/cells.rs"]
mod cells;
#[path = "../benches/corpus/mod.rs"]
mod corpus;
#[path = "core/fixtures.rs"]
mod fixtures;
#[path = "core/frozen.rs"]
mod frozen;
#[path = "core/golden.rs"]
mod golden;
#[path = "core/hostile.rs"]
mod hostile;
#[path = "core/limits.rs"]
mod limits;
#[path = "core/lines.rs"]
mod lines;
#[path = "core/protobuf.rs"]
mod protobuf;
#[path = "core/support.rs"]
mod support;
#[path = "core/times.rs"]
mod times;
#[path = "core/traces.rs"]
mod traces;
#[path = "../benches/twin/mod.rs"]
mod twin;
