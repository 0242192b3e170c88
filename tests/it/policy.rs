//! The administrator's list of topics holds everywhere: in queries, channels, runs and resources.

use anyhow::{Context, Result};
use real_kafka::{Kafka, Record};
use serde_json::{Value, json};
use workbench::host::proto::{HealthStatus, StreamStatus};

use super::support::{Host, query};

#[tokio::test]
async fn a_denied_topic_is_denied_everywhere() -> Result<()> {
    let kafka = Kafka::shared();
    for topic in ["policy-open", "policy-open-secret", "policy-closed"] {
        kafka.create_topic(topic, 1)?;
        kafka.produce(topic, &[Record::value(r#"{"n":1}"#)])?;
    }
    // Another data source, without the lists, gives channels that are right in themselves.
    let free = Host::shared().await?;
    let host = Host::on(
        kafka,
        json!({"topicAllow": ["policy-open*"], "topicDeny": ["*-secret"]}),
    )
    .await?;
    assert_eq!(
        host.plugin.check_health(&host.source).await?.status,
        HealthStatus::Ok
    );

    for (topic, permitted) in [
        ("policy-open", true),
        ("policy-open-secret", false),
        ("policy-closed", false),
    ] {
        let answer = host.query(query(topic, json!({}))).await?;
        assert_eq!(
            answer.error.is_empty(),
            permitted,
            "{topic}: {}",
            answer.error
        );
        assert_eq!(answer.offsets(0).is_empty(), !permitted, "{topic}");
        assert_eq!(answer.has_live(), permitted, "{topic}");
        if !permitted {
            assert!(answer.error.contains(topic), "{}", answer.error);
        }

        let live = free.query(query(topic, json!({}))).await?.live()?.clone();
        let data = live.data.to_string();
        let (status, _) = host
            .plugin
            .subscribe_stream(&host.source, &live.path, data.as_bytes())
            .await?;
        let expected = if permitted {
            StreamStatus::Ok
        } else {
            StreamStatus::PermissionDenied
        };
        assert_eq!(status, expected, "{topic}");
        if !permitted {
            let run = host
                .plugin
                .run_stream(&host.source, &live.path, data.as_bytes())
                .await;
            // Who was there before the settings changed is told in the stream, which brings nothing else.
            let packet = run?.next().await?.context("a packet")?;
            let packet: Value = serde_json::from_slice(&packet)?;
            let errors = packet["data"]["values"]
                .as_array()
                .and_then(|all| all.last());
            let said = errors.context("a column")?.to_string();
            assert!(said.contains("topicAllow"), "{topic}: {packet}");
            assert_eq!(
                packet["data"]["values"][2],
                json!([null]),
                "{topic}: {packet}"
            );
        }

        let partitions = host.get(&format!("partitions?topic={topic}")).await?;
        assert_eq!(
            partitions.status,
            if permitted { 200 } else { 403 },
            "{topic}: {}",
            partitions.json()
        );
    }
    let topics = host.get("topics?search=policy&limit=100").await?;
    assert_eq!(topics.json()["topics"], json!(["policy-open"]));

    // A topic that is not there is not told from one that is denied.
    let missing = host.query(query("policy-missing", json!({}))).await?;
    let closed = host.query(query("policy-closed", json!({}))).await?;
    assert_eq!(missing.error.replace("missing", "closed"), closed.error);
    Ok(())
}
