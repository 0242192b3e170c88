//! A panic ends one call, and the process lives.

use std::collections::HashMap;
use std::path::Path;

use anyhow::{Context, Result};
use real_kafka::{Kafka, Listener, Record};
use serde_json::json;
use workbench::host::proto::{HealthStatus, TimeRange};
use workbench::host::{DataSource, Options, Plugin, Query};

use super::support::{query, settings_for};

/// The one that cargo has built for this test: only a debug build can be told to panic.
const EXECUTABLE: &str = env!("CARGO_BIN_EXE_gpx_streamscope");

#[tokio::test]
async fn a_panic_is_an_error_of_one_call() -> Result<()> {
    let kafka = Kafka::shared();
    // Without a budget two partitions have threads of their own.
    kafka.create_topic("panics", 2)?;
    let record = Record::value("{}");
    kafka.produce("panics", &[record, record.to(1), record])?;
    let source = DataSource::new("kafka", settings_for(kafka, Listener::Plaintext, json!({})));
    for place in [
        "CallResource",
        "QueryData",
        "RunStream",
        "reader",
        "decoder",
        "nowhere",
    ] {
        let options = Options {
            env: [
                ("STREAMSCOPE_DRILL", place),
                ("KAFKA_DS_PERF_STREAM_WORKERS", "2"),
            ]
            .map(|(name, value)| (name.to_owned(), value.to_owned()))
            .into(),
            ..Options::default()
        };
        let plugin = Plugin::start(Path::new(EXECUTABLE), options).await?;
        // Twice: what panicked once must not be broken for the next one.
        for _ in 0..2 {
            let called = plugin.call_resource(&source, "GET", "topics", b"").await;
            let failed = place == "CallResource";
            let text = called.err().map(|error| error.to_string());
            assert_eq!(text.is_some(), failed, "{place}: {text:?}");
            assert!(text.is_none_or(|text| text.contains("has a defect")));

            let range = TimeRange {
                from_epoch_ms: 0,
                to_epoch_ms: 4_000_000_000_000,
            };
            let asked = [Query::new(
                "A",
                query("panics", json!({"autoOffsetReset": "latest"})),
            )];
            let mut answers = plugin
                .query_data(&source, range, &asked, HashMap::new())
                .await?;
            let answer = answers.responses.remove("A").context("no answer for A")?;
            let failed = place == "QueryData";
            assert_eq!(
                !answer.error.is_empty(),
                failed,
                "{place}: {}",
                answer.error
            );
            assert_eq!(answer.error_source == "plugin", failed, "{place}");

            let spec = streamscope::config::PanelQuery::parse(
                query("panics", json!({"pacing": false}))
                    .to_string()
                    .as_bytes(),
            )?
            .spec;
            let (path, data) = (
                streamscope::config::path(&spec),
                streamscope::config::data(&spec).to_string(),
            );
            let mut packets = plugin.run_stream(&source, &path, data.as_bytes()).await?;
            let first = packets.next().await;
            let failed = ["RunStream", "reader", "decoder"].contains(&place);
            assert_eq!(first.is_err(), failed, "{place}: {first:?}");

            let health = plugin.check_health(&source).await?;
            assert_eq!(
                health.status,
                HealthStatus::Ok,
                "{place}: {}",
                health.message
            );
        }
        assert!(plugin.ping().await?, "{place}");
        let log = plugin.log().lines();
        let said = log
            .iter()
            .any(|line| line.raw.contains("a defect in Streamscope"));
        assert_eq!(
            said,
            place != "nowhere",
            "{place}: where it panicked is in the log"
        );
        assert!(log.iter().all(|line| line.structured), "{place}");
    }
    Ok(())
}
