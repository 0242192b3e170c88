//! Streamscope: Apache Kafka topics, live in Grafana.

pub mod config;
