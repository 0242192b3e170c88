//! `QueryData`: what is wrong, in words; the first rows; the channel behind them.

use std::time::Duration;

use anyhow::Result;
use real_kafka::{Kafka, Record};
use serde_json::{Value, json};
use workbench::host::proto::StreamStatus;

use super::support::{Host, query};

#[tokio::test]
async fn what_is_wrong_is_said_in_words() -> Result<()> {
    let (kafka, host) = (Kafka::shared(), Host::shared().await?);
    kafka.create_topic("query-wrong", 2)?;
    for (model, says) in [
        (json!({"topicName": ""}), &["topic"][..]),
        (
            json!({"topicName": "query-missing"}),
            &["query-missing", "not"],
        ),
        (json!({"topicName": "no such name!"}), &["topic"]),
        (
            query("query-wrong", json!({"partition": 2})),
            &["partition 2", "2"],
        ),
        (
            query("query-wrong", json!({"partition": -1})),
            &["partition"],
        ),
        (
            query("query-wrong", json!({"partition": "first"})),
            &["partition", "first"],
        ),
        (
            query("query-wrong", json!({"messageFormat": "morse"})),
            &["morse", "json"],
        ),
        (
            query(
                "query-wrong",
                json!({
                    "messageFormat": "avro",
                    "avroSchemaSource": "inlineSchema",
                    "avroSchema": r#""string""#,
                    "avroReaderSchema": r#""int""#,
                }),
            ),
            &["does not resolve to the reader schema", "query editor"],
        ),
    ] {
        let answer = host.query(model.clone()).await?;
        let error = answer.error.to_lowercase();
        assert!(
            says.iter().all(|says| error.contains(says)),
            "{model}: {error:?}, expected {says:?}"
        );
        assert!(
            !answer.has_live(),
            "{model}: a query that is wrong has no stream"
        );
        assert_eq!(answer.rows.len(), 0, "{model}: no invented rows");
        assert!(
            (400..500).contains(&answer.status) || answer.error_source == "downstream",
            "{model}: {}",
            answer.status
        );
    }
    Ok(())
}

#[tokio::test]
async fn settings_that_do_not_parse_are_named_by_key() -> Result<()> {
    for (settings, key) in [
        (json!({"bootstrapServers": ""}), "bootstrap"),
        (
            json!({"bootstrapServers": "127.0.0.1:9092", "securityProtocol": "CARRIER_PIGEON"}),
            "securityprotocol",
        ),
        (
            json!({"bootstrapServers": "127.0.0.1:9092", "healthcheckTimeout": {"a": 1}}),
            "healthchecktimeout",
        ),
        (json!({"bootstrapServers": "2001:db8::5"}), "bootstrap"),
    ] {
        let host = Host::with(settings.clone(), &[("saslPassword", "p4ssw0rd")]).await?;
        let answer = host.query(query("t", json!({}))).await;
        let text = match answer {
            Ok(answer) => answer.error,
            Err(error) => format!("{error:#}"),
        };
        assert!(text.to_lowercase().contains(key), "{settings}: {text}");
        assert!(
            !text.contains("p4ssw0rd") && !text.contains("CARRIER_PIGEON"),
            "{settings}: values in {text}"
        );
        let resource = host.get("topics").await?;
        assert!(resource.status >= 400, "{settings}: {}", resource.status);
        assert!(
            resource.json()["error"]
                .as_str()
                .is_some_and(|error| error.to_lowercase().contains(key))
        );
    }
    Ok(())
}

/// An answer has 10,000 rows at most; what it leaves out follows in the stream.
#[tokio::test]
async fn what_the_caps_leave_out_follows_in_the_stream() -> Result<()> {
    let (kafka, host) = (Kafka::shared(), Host::shared().await?);
    kafka.create_topic("query-caps", 2)?;
    let values: Vec<String> = (0..24_000).map(|n| format!(r#"{{"n":{n}}}"#)).collect();
    let records: Vec<_> = values
        .iter()
        .zip(0..)
        .map(|(value, n)| Record::value(value).to(n % 2))
        .collect();
    kafka.produce("query-caps", &records)?;
    for keys in [
        json!({}),
        json!({"autoOffsetReset": "lastN", "lastN": 11_000}),
    ] {
        let (answer, mut run) = host.watch(query("query-caps", keys.clone())).await?;
        let expected = if keys["lastN"].is_null() {
            24_000
        } else {
            22_000
        };
        let first = answer.count();
        assert!((1..=10_000).contains(&first), "{keys}: {first} rows");
        assert!(
            !answer.notices.is_empty(),
            "{keys}: what is left out is said"
        );
        run.until_records(expected - first).await?;
        run.linger(Duration::from_millis(300)).await?;
        for partition in 0..2 {
            let mut offsets = answer.offsets(partition);
            // The answer is in time order over all partitions: within one, that is offset order here.
            offsets.extend(run.offsets(partition));
            let begin = 12_000 - expected as i64 / 2;
            assert_eq!(
                offsets,
                (begin..12_000).collect::<Vec<_>>(),
                "{keys}, partition {partition}"
            );
        }
    }
    Ok(())
}

#[tokio::test]
async fn latest_has_no_rows_yet() -> Result<()> {
    let (kafka, host) = (Kafka::shared(), Host::shared().await?);
    kafka.create_topic("query-latest", 1)?;
    let model = query("query-latest", json!({"autoOffsetReset": "latest"}));
    let (first, mut run) = host.watch(model.clone()).await?;
    assert_eq!(first.rows.len(), 0);
    while run.count() == 0 {
        kafka.produce("query-latest", &[Record::value(r#"{"a":1,"b":"x"}"#)])?;
        run.linger(Duration::from_millis(100)).await?;
    }
    let second = host.query(model).await?;
    assert_eq!(second.rows.len(), 0, "no rows for latest");
    assert_eq!(
        second.columns,
        ["time", "partition", "offset", "a", "b"],
        "the columns known so far"
    );
    let live = [first.live()?, second.live()?]
        .map(|live| (live.path.clone(), live.key.clone(), live.data.clone()));
    assert_eq!(live[0], live[1], "one shared stream for all viewers");
    Ok(())
}

#[tokio::test]
async fn a_session_that_was_cut_off_gets_what_it_missed() -> Result<()> {
    let (kafka, host) = (Kafka::shared(), Host::shared().await?);
    kafka.create_topic("query-resume", 2)?;
    let record = Record::value(r#"{"n":1}"#);
    kafka.produce("query-resume", &[record; 10])?;
    kafka.produce("query-resume", &[record.to(1); 4])?;
    let first = host.query(query("query-resume", json!({}))).await?;
    let cursor = first.live()?.data["cursor"].clone();
    assert_eq!(cursor["next"], json!({"0": 10, "1": 4}));

    let resume = json!({"resumeAt": {"topicId": cursor["topicId"], "next": {"0": 8, "1": 4}}});
    let (again, mut run) = host.watch(query("query-resume", resume)).await?;
    assert_eq!((again.offsets(0), again.offsets(1)), (vec![8, 9], vec![]));
    assert_eq!(
        again.live()?.key,
        first.live()?.key,
        "resumeAt is not in the digest"
    );
    assert_ne!(
        again.live()?.path,
        first.live()?.path,
        "each answer has a run of its own"
    );
    kafka.produce("query-resume", &[record, record.to(1)])?;
    run.until_records(2).await?;
    assert_eq!((run.offsets(0), run.offsets(1)), (vec![10], vec![4]));

    // Offsets of a topic that is gone: from the start.
    let stale = json!({"resumeAt": {"topicId": "AAAAAAAAAAAAAAAAAAAAAQ", "next": {"0": 8}}});
    let answer = host.query(query("query-resume", stale)).await?;
    assert_eq!(answer.offsets(0).first(), Some(&0));
    assert!(!answer.notices.is_empty());

    // K13: an offset behind the end.
    let beyond = json!({"resumeAt": {"topicId": cursor["topicId"], "next": {"0": 9_999, "1": 0}}});
    let (answer, mut run) = host.watch(query("query-resume", beyond)).await?;
    assert_eq!(answer.error, "");
    kafka.produce("query-resume", &[record])?;
    run.until("the next record", |rows| {
        rows.offsets(0).last() == Some(&11)
    })
    .await?;
    Ok(())
}

/// Nobody attaches another query to a known path.
#[tokio::test]
async fn a_path_that_does_not_match_is_refused() -> Result<()> {
    let (kafka, host) = (Kafka::shared(), Host::shared().await?);
    kafka.create_topic("query-digest", 1)?;
    kafka.create_topic("query-digest-other", 1)?;
    let live = host
        .query(query("query-digest", json!({})))
        .await?
        .live()?
        .clone();
    assert!(
        live.path.len() <= 116
            && live
                .path
                .bytes()
                .all(|byte| byte.is_ascii_alphanumeric() || b"_-./=".contains(&byte))
    );
    assert_eq!(live.data["topicName"], json!("query-digest"));
    for absent in ["refId", "alias", "recordColumns", "resumeAt"] {
        assert!(live.data[absent].is_null(), "{absent} in {}", live.data);
    }

    let with = |key: &str, value: Value| {
        let mut data = live.data.clone();
        data[key] = value;
        data.to_string()
    };
    let own = live.data.to_string();
    for (path, data, expected) in [
        (live.path.clone(), own.clone(), StreamStatus::Ok),
        (
            live.path.clone(),
            with("topicName", json!("query-digest-other")),
            StreamStatus::PermissionDenied,
        ),
        (
            live.path.clone(),
            with("isolationLevel", json!("readUncommitted")),
            StreamStatus::PermissionDenied,
        ),
        (
            live.path.clone(),
            with("nonce", json!("another")),
            StreamStatus::PermissionDenied,
        ),
        (
            live.path.clone(),
            "{}".into(),
            StreamStatus::PermissionDenied,
        ),
        (
            live.path.clone(),
            "not json".into(),
            StreamStatus::PermissionDenied,
        ),
        (
            format!("{}x", live.path),
            own,
            StreamStatus::PermissionDenied,
        ),
    ] {
        let (status, initial) = host
            .plugin
            .subscribe_stream(&host.source, &path, data.as_bytes())
            .await?;
        assert_eq!(status, expected, "{path} {data}");
        assert!(initial.is_empty());
        if expected != StreamStatus::Ok
            && let Ok(mut packets) = host
                .plugin
                .run_stream(&host.source, &path, data.as_bytes())
                .await
        {
            let first = packets.next().await;
            assert!(first.is_err(), "a run of {path} {data}: {first:?}");
        }
    }
    let status = host
        .plugin
        .publish_stream(&host.source, &live.path, b"{}")
        .await?;
    assert_eq!(status, StreamStatus::PermissionDenied);

    // A refresh of the same panel gets another run and the same key; another query another key.
    let again = host
        .query(query("query-digest", json!({"alias": "x", "refId": "A"})))
        .await?
        .live()?
        .clone();
    assert_eq!(again.key, live.key);
    let other = host
        .query(query("query-digest", json!({"headers": true})))
        .await?
        .live()?
        .clone();
    assert_ne!(other.key, live.key);
    Ok(())
}

#[tokio::test]
async fn a_topic_of_two_hundred_and_forty_nine_characters() -> Result<()> {
    let (kafka, host) = (Kafka::shared(), Host::shared().await?);
    let topic = "q".repeat(249);
    kafka.create_topic(&topic, 1)?;
    let (answer, mut run) = host
        .watch(query(&topic, json!({"alias": "ä %/{}"})))
        .await?;
    assert!(answer.live()?.path.len() <= 116);
    kafka.produce(&topic, &[Record::value("{}")])?;
    run.until_records(1).await
}

/// In time order, over all partitions, whatever the offsets say (K21).
#[tokio::test]
async fn an_answer_is_in_time_order() -> Result<()> {
    let (kafka, host) = (Kafka::shared(), Host::shared().await?);
    kafka.create_topic_with("query-order", 2, &[("retention.ms", "-1")])?;
    let at = 1_700_000_000_000_i64;
    let record = Record::value("{}");
    let records = [
        record.at(at + 10),
        record.at(at + 5),
        record.to(1).at(at + 7),
        record.to(1).at(at + 6),
        record.at(at + 7),
    ];
    kafka.produce("query-order", &records)?;
    let answer = host.query(query("query-order", json!({}))).await?;
    let times: Vec<i64> = answer
        .column("time")
        .iter()
        .filter_map(Value::as_i64)
        .map(|time| time - at)
        .collect();
    assert_eq!(times, [5, 6, 7, 7, 10]);
    Ok(())
}
