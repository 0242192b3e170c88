//! The editor's lists.

use anyhow::Result;
use real_kafka::Kafka;
use serde_json::json;

use super::support::Host;

#[tokio::test]
async fn topics_by_any_part_of_their_name() -> Result<()> {
    let (kafka, host) = (Kafka::shared(), Host::shared().await?);
    for n in 0..7 {
        kafka.create_topic(&format!("resources-Topic-{n}"), 1)?;
    }
    let names = |range: std::ops::Range<i32>| {
        range
            .map(|n| format!("resources-Topic-{n}"))
            .collect::<Vec<_>>()
    };
    for (params, expected, limit) in [
        ("search=resources-topic", names(0..5), 5),
        ("prefix=resources-topic", names(0..5), 5),
        ("search=ESOURCES-topic-6&limit=3", names(6..7), 3),
        ("search=resources-topic&limit=100", names(0..7), 100),
        ("search=resources-topic&limit=0", names(0..5), 5),
        ("search=resources-topic&limit=many", names(0..5), 5),
        ("search=resources-nothing", vec![], 5),
    ] {
        let answer = host.get(&format!("topics?{params}")).await?;
        assert_eq!(answer.status, 200, "{params}: {}", answer.json());
        assert_eq!(answer.json()["topics"], json!(expected), "{params}");
        assert_eq!(answer.json()["limit"], json!(limit), "{params}");
    }
    assert!(
        host.get("topics?limit=999999").await?.json()["limit"]
            .as_i64()
            .is_some_and(|limit| limit <= 1000)
    );
    Ok(())
}

#[tokio::test]
async fn internal_topics_on_request() -> Result<()> {
    let (kafka, host) = (Kafka::shared(), Host::shared().await?);
    // A transaction makes the broker create `__transaction_state`.
    kafka.transactional("internal")?;
    for (params, expected) in [
        ("", json!([])),
        ("&internal=false", json!([])),
        ("&internal=true", json!(["__transaction_state"])),
    ] {
        let answer = host
            .get(&format!("topics?search=__transaction{params}"))
            .await?;
        assert_eq!(answer.json()["topics"], expected, "{params}");
    }
    Ok(())
}

#[tokio::test]
async fn partitions_and_what_is_wrong() -> Result<()> {
    let (kafka, host) = (Kafka::shared(), Host::shared().await?);
    kafka.create_topic("resources-partitions", 3)?;
    let answer = host.get("partitions?topic=resources-partitions").await?;
    assert_eq!(
        (answer.status, answer.json()),
        (
            200,
            json!({"partitions": [0, 1, 2], "topic": "resources-partitions"})
        )
    );
    for (url, status) in [
        ("partitions?topic=resources-missing", 404),
        ("partitions", 400),
        ("partitions?topic=", 400),
        ("nothing", 404),
        ("", 404),
    ] {
        let answer = host.get(url).await?;
        assert_eq!(answer.status, status, "{url}: {}", answer.json());
        assert!(
            answer.json()["error"]
                .as_str()
                .is_some_and(|text| !text.is_empty()),
            "{url}"
        );
    }
    assert_eq!(kafka.topic_id("resources-missing")?, None);

    let down = Host::with(
        json!({"bootstrapServers": "127.0.0.1:1", "timeout": 1000}),
        &[],
    )
    .await?;
    for url in ["topics", "partitions?topic=t"] {
        let answer = down.get(url).await?;
        assert_eq!(answer.status, 500, "{url}");
        assert!(
            answer.json()["error"]
                .as_str()
                .is_some_and(|text| text.contains("127.0.0.1:1")),
            "{}",
            answer.json()
        );
    }
    Ok(())
}
