//! Missing rights: bob may do what a test allows him.

use std::time::Duration;

use anyhow::Result;
use real_kafka::{Kafka, Operation, Record, Resource};
use serde_json::json;
use workbench::host::proto::HealthStatus;

use super::support::{Host, query};

#[tokio::test]
async fn the_missing_right_is_named() -> Result<()> {
    let kafka = Kafka::shared();
    let host = Host::as_bob(kafka).await?;
    for (topic, rights, says, says_not) in [
        ("rights-none", &[][..], "describe", "may see it"),
        (
            "rights-describe",
            &[Operation::Describe],
            "read",
            "describe and read",
        ),
    ] {
        kafka.create_topic(topic, 1)?;
        kafka.produce(topic, &[Record::value(r#"{"n":1}"#)])?;
        kafka.allow("carol", Operation::All, Resource::Topic(topic))?;
        for right in rights {
            kafka.allow("bob", *right, Resource::Topic(topic))?;
        }
        let answer = host.query(query(topic, json!({}))).await?;
        let error = answer.error.to_lowercase();
        assert!(
            error.contains(says) && error.contains(topic) && !error.contains(says_not),
            "{topic}: {error:?}"
        );
        assert_eq!(answer.error_source, "downstream", "{topic}");
        assert_eq!(answer.rows.len(), 0);
    }
    Ok(())
}

/// cases.md K27: what is allowed is listed, the rest left out; nothing fails as a whole.
#[tokio::test]
async fn only_what_is_allowed_is_listed() -> Result<()> {
    let kafka = Kafka::shared();
    let host = Host::as_bob(kafka).await?;
    for (topic, allowed) in [
        ("rights-list-a", true),
        ("rights-list-b", false),
        ("rights-list-c", true),
    ] {
        kafka.create_topic(topic, 1)?;
        let user = if allowed { "bob" } else { "carol" };
        kafka.allow(user, Operation::Describe, Resource::Topic(topic))?;
    }
    let listed = host.get("topics?search=rights-list&limit=10").await?;
    assert_eq!(
        listed.json()["topics"],
        json!(["rights-list-a", "rights-list-c"])
    );
    let health = host.plugin.check_health(&host.source).await?;
    assert_eq!(health.status, HealthStatus::Ok, "{}", health.message);
    let forbidden = host.get("partitions?topic=rights-list-b").await?;
    assert!(
        [403, 404].contains(&forbidden.status),
        "{} {}",
        forbidden.status,
        forbidden.json()
    );
    assert!(
        forbidden.json()["error"]
            .as_str()
            .is_some_and(|error| error.contains("rights-list-b"))
    );
    Ok(())
}

/// The group is never joined: rights on it are not needed.
#[tokio::test]
async fn a_forbidden_group_stops_nothing() -> Result<()> {
    let kafka = Kafka::shared();
    let host = Host::as_bob(kafka).await?;
    kafka.create_topic("rights-group", 1)?;
    kafka.produce("rights-group", &[Record::value(r#"{"n":1}"#)])?;
    kafka.allow("bob", Operation::Read, Resource::Topic("rights-group"))?;
    kafka.allow("carol", Operation::All, Resource::Group("streamscope"))?;
    let (answer, mut run) = host.watch(query("rights-group", json!({}))).await?;
    assert_eq!((answer.error.as_str(), answer.offsets(0)), ("", vec![0]));
    kafka.produce("rights-group", &[Record::value(r#"{"n":2}"#)])?;
    run.until_records(1).await?;
    run.linger(Duration::from_millis(500)).await?;
    assert_eq!((run.offsets(0), run.troubles()), (vec![1], vec![]));
    kafka.clear_rules(Resource::Group("streamscope"))
}

#[tokio::test]
async fn a_right_that_is_taken_and_given_back() -> Result<()> {
    let kafka = Kafka::shared();
    let host = Host::as_bob(kafka).await?;
    let topic = Resource::Topic("rights-taken");
    kafka.create_topic("rights-taken", 1)?;
    let (_, mut run) = host.watch(query("rights-taken", json!({}))).await?;
    let producer = kafka.producer()?;
    let send = |n: i64| producer.send("rights-taken", Record::value(&format!(r#"{{"n":{n}}}"#)));
    send(0)?;
    run.until_records(1).await?;

    kafka.allow("bob", Operation::Describe, topic)?;
    kafka.deny("bob", Operation::Read, topic)?;
    for n in 1..20 {
        send(n)?;
    }
    run.until("word of the missing right", |rows| {
        !rows.troubles().is_empty()
    })
    .await?;
    assert!(
        run.troubles()[0].to_lowercase().contains("read"),
        "{:?}",
        run.troubles()
    );
    run.linger(Duration::from_secs(2)).await?;
    assert_eq!(run.troubles().len(), 1, "{:?}", run.troubles());

    kafka.clear_rules(topic)?;
    run.until("the last record", |rows| rows.last_place() == Some((0, 19)))
        .await?;
    assert_eq!(run.offsets(0), (0..20).collect::<Vec<_>>());
    Ok(())
}
