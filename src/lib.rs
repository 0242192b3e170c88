//! Streamscope: Apache Kafka topics, live in Grafana.
