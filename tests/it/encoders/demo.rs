//! The demo's topics, in a real Kafka with a real registry: as `docker-compose.yml` runs them.

use anyhow::Result;
use real_kafka::{Kafka, Registry};
use serde_json::json;
use workbench::producers::{Producers, SCHEMAS};
use workbench::registry::register;

use crate::support::{Host, Row, query};

/// Each topic's panel shows what is written, keys and all: no record and no key is an error, and newer rows come.
#[tokio::test]
async fn every_topic_is_shown() -> Result<()> {
    let kafka = Kafka::start()?;
    let registry = Registry::shared().confluent();
    let turn = super::REGISTERING.lock().await;
    let ids = register(&registry, SCHEMAS).await?;
    let again = register(&registry, SCHEMAS).await?;
    drop(turn);
    for schema in SCHEMAS {
        let key = (schema.subject, schema.version);
        assert_eq!(ids.find(key.0, key.1), again.find(key.0, key.1), "{key:?}");
    }
    let producers = Producers::start(&kafka.bootstrap(), &ids).await?;
    let host = Host::on(&kafka, json!({"schemaRegistryUrl": registry})).await?;
    for example in producers.examples() {
        let mut keys = example.panel.query.clone();
        keys["autoOffsetReset"] = json!("lastN");
        keys["lastN"] = json!(50);
        let (answer, mut run) = host.watch(query(example.topic, keys)).await?;
        assert_eq!(answer.error, "", "{}", example.topic);
        assert!(
            answer.count() >= 50,
            "{}: {} rows",
            example.topic,
            answer.count()
        );
        run.until_records(2).await?;
        for (place, seen) in [("answer", &*answer), ("stream", &*run)] {
            let errors: Vec<_> = seen.rows.iter().filter_map(Row::error).collect();
            assert_eq!(errors, [""; 0], "{}, {place}", example.topic);
            for (severity, text) in &seen.notices {
                assert_ne!(severity, "error", "{}, {place}: {text}", example.topic);
                assert!(
                    !text.contains("could not"),
                    "{}, {place}: {text}",
                    example.topic
                );
            }
            assert!(
                seen.columns.len() > 3,
                "{}, {place}: {:?}",
                example.topic,
                seen.columns
            );
        }
    }
    Ok(())
}
