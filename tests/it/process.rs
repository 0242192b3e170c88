//! What a process that serves many panels must keep: its threads few, its log quiet, each target by itself.

use std::collections::HashMap;
use std::time::Duration;

use anyhow::{Context, Result};
use real_kafka::{Kafka, Record};
use serde_json::json;
use workbench::host::Query;
use workbench::host::proto::TimeRange;

use super::support::{Host, query};

/// A closed panel costs nothing: its run's thread, client and connections go.
#[tokio::test]
async fn dropped_runs_leave_nothing_behind() -> Result<()> {
    let (kafka, host) = (Kafka::shared(), Host::shared().await?);
    kafka.create_topic("process-dropped", 4)?;
    kafka.produce("process-dropped", &[Record::value("{}"); 10])?;
    // A run has a reader and a client; the data source has one more client, for what is asked.
    let count = || -> Result<(usize, usize)> {
        Ok((threads(&host, "kafka-reader")?, threads(&host, "rdk:main")?))
    };
    let (_, first) = host.watch(query("process-dropped", json!({}))).await?;
    let mut runs = Vec::new();
    for n in 0..15 {
        let start = if n % 2 == 0 { "earliest" } else { "latest" };
        runs.push(
            host.watch(query("process-dropped", json!({"autoOffsetReset": start})))
                .await?,
        );
    }
    // A client's threads have the name of their maker for a moment.
    let settle = async |readers, clients| -> Result<(usize, usize)> {
        for _ in 0..100 {
            let now = count()?;
            if now.0 == readers && now.1 <= clients {
                break;
            }
            tokio::time::sleep(Duration::from_millis(100)).await;
        }
        count()
    };
    assert_eq!(settle(16, 17).await?.0, 16);
    drop(runs);
    let (readers, clients) = settle(1, 2).await?;
    assert!(
        readers == 1 && clients <= 2,
        "{readers} readers and {clients} clients are left"
    );
    drop(first);
    Ok(())
}

/// The Go plugin writes eight lines a record, which Grafana then parses.
#[tokio::test]
async fn no_line_of_the_log_is_about_a_record() -> Result<()> {
    let (kafka, host) = (Kafka::shared(), Host::shared().await?);
    kafka.create_topic("process-log", 1)?;
    let (_, mut run) = host
        .watch(query("process-log", json!({"pacing": false})))
        .await?;
    let records: Vec<_> = (0..5_000)
        .map(|n| {
            Record::value(if n % 2 == 0 {
                r#"{"payload":1}"#
            } else {
                "bad payload"
            })
        })
        .collect();
    kafka.produce("process-log", &records)?;
    run.until_records(5_000).await?;
    let lines = host.plugin.log().lines();
    assert!(lines.len() < 20, "{} lines", lines.len());
    assert!(
        !lines.iter().any(|line| line.raw.contains("payload")),
        "a payload in the log"
    );
    assert!(
        lines.iter().all(|line| line.structured),
        "a line that Grafana cannot read"
    );
    assert!(host.plugin.stray_output().is_empty());
    Ok(())
}

/// One panel asks for several targets at once; each has its own answer, right or wrong.
#[tokio::test]
async fn each_target_is_answered_by_itself() -> Result<()> {
    let (kafka, host) = (Kafka::shared(), Host::shared().await?);
    kafka.create_topic("process-targets", 1)?;
    kafka.produce("process-targets", &[Record::value(r#"{"n":1}"#)])?;
    let mut queries = vec![
        Query::new("missing", query("process-missing", json!({}))),
        Query::new("wrong", json!(["not", "an", "object"])),
        Query::new("empty", json!({})),
    ];
    queries.extend(
        (0..20).map(|n| Query::new(&format!("good{n}"), query("process-targets", json!({})))),
    );
    let range = TimeRange {
        from_epoch_ms: 0,
        to_epoch_ms: 4_000_000_000_000,
    };
    let answer = host
        .plugin
        .query_data(&host.source, range, &queries, HashMap::new())
        .await?;
    assert_eq!(answer.responses.len(), queries.len());
    for query in &queries {
        let response = answer
            .responses
            .get(&query.ref_id)
            .context("a target without an answer")?;
        assert_eq!(
            response.error.is_empty(),
            query.ref_id.starts_with("good"),
            "{}: {}",
            query.ref_id,
            response.error
        );
    }
    Ok(())
}

/// The plain behaviour of the performance flags, by either name of the variable.
#[tokio::test]
async fn without_micro_batches_each_record_is_a_packet() -> Result<()> {
    let kafka = Kafka::shared();
    kafka.create_topic("process-flags", 1)?;
    let records: Vec<String> = (0..300).map(|n| format!(r#"{{"n":{n}}}"#)).collect();
    let records: Vec<_> = records.iter().map(Record::value).collect();
    for (name, value, plain) in [
        ("KAFKA_DS_PERF_DISABLE_STREAM_MICROBATCH", "true", true),
        (
            "GF_PLUGIN_KAFKA_DS_PERF_DISABLE_STREAM_MICROBATCH",
            "1",
            true,
        ),
        ("KAFKA_DS_PERF_DISABLE_STREAM_MICROBATCH", "false", false),
    ] {
        let host = Host::with_env(kafka, json!({}), &[(name, value)]).await?;
        let answer = host.query(query("process-flags", json!({}))).await?;
        let mut run = host.run(answer.live()?).await?;
        kafka.produce("process-flags", &records)?;
        run.until_records(300).await?;
        let single = run.sizes.iter().all(|rows| *rows <= 1);
        assert_eq!(single, plain, "{name}={value}: {:?}", run.sizes);
    }
    Ok(())
}

/// What an administrator sets about columns holds in answers and in streams.
#[tokio::test]
async fn limits_of_the_settings() -> Result<()> {
    let kafka = Kafka::shared();
    kafka.create_topic("process-limits", 1)?;
    let record = Record::value(r#"{"a":{"b":{"c":1}},"d":2,"e":3}"#);
    kafka.produce("process-limits", &[record])?;
    let settings = json!({"flattenMaxDepth": "2", "flattenFieldCap": 2});
    let host = Host::on(kafka, settings).await?;
    let (answer, mut run) = host.watch(query("process-limits", json!({}))).await?;
    kafka.produce("process-limits", &[record])?;
    run.until_records(1).await?;
    for seen in [&answer.columns, &run.columns] {
        assert_eq!(seen[3..], ["a.b", "d"]);
    }
    Ok(())
}

#[tokio::test]
async fn a_topic_of_many_partitions() -> Result<()> {
    let (kafka, host) = (Kafka::shared(), Host::shared().await?);
    kafka.create_topic("process-partitions", 64)?;
    let records: Vec<_> = (0..640)
        .map(|n| Record::value(r#"{"n":1}"#).to(n % 64))
        .collect();
    kafka.produce("process-partitions", &records)?;
    let (answer, mut run) = host.watch(query("process-partitions", json!({}))).await?;
    assert_eq!(answer.count(), 640);
    kafka.produce("process-partitions", &records)?;
    run.until_records(640).await?;
    for partition in 0..64 {
        assert_eq!(
            run.offsets(partition),
            (10..20).collect::<Vec<_>>(),
            "partition {partition}"
        );
    }
    let last = query(
        "process-partitions",
        json!({"autoOffsetReset": "lastN", "lastN": 3}),
    );
    assert_eq!(host.query(last).await?.count(), 64 * 3);
    Ok(())
}

/// Each bounded read has a client of its own, so few run at a time; a query that gets no turn says so.
#[tokio::test(flavor = "multi_thread")]
async fn bounded_reads_take_turns() -> Result<()> {
    let kafka = Kafka::shared();
    kafka.create_topic("process-turns", 1)?;
    kafka.produce("process-turns", &[Record::value("{}"); 20])?;
    let silent = std::net::TcpListener::bind("127.0.0.1:0")?;
    let last = json!({"autoOffsetReset": "lastN", "lastN": 3});
    for (server, timeout, error) in [
        (kafka.bootstrap(), 20_000, ""),
        (
            silent.local_addr()?.to_string(),
            1_000,
            "no turn within 1000 ms",
        ),
    ] {
        let settings = json!({"bootstrapServers": server, "timeout": timeout});
        let host = Host::with(settings, &[]).await?;
        let queries: Vec<_> = (0..40)
            .map(|n| Query::new(&n.to_string(), query("process-turns", last.clone())))
            .collect();
        let range = TimeRange {
            from_epoch_ms: 0,
            to_epoch_ms: 4_000_000_000_000,
        };
        let start = std::time::Instant::now();
        let asked = host
            .plugin
            .query_data(&host.source, range, &queries, HashMap::new());
        tokio::pin!(asked);
        let mut most = 0;
        let answer = loop {
            tokio::select! {
                answer = &mut asked => break answer?,
                () = tokio::time::sleep(Duration::from_millis(5)) => {
                    most = most.max(threads(&host, "rdk:main")?);
                }
            }
        };
        // The eight, and the one for metadata.
        assert!(most <= 9, "{most} clients at a time");
        let answers = answer.responses.values();
        if error.is_empty() {
            for answer in answers {
                assert_eq!(answer.error, "");
            }
            continue;
        }
        let without = answers
            .filter(|answer| answer.error.contains(error))
            .count();
        assert!(without > 0, "{:?}", answer.responses.values().next());
        assert!(
            start.elapsed() < Duration::from_secs(4),
            "{:?}",
            start.elapsed()
        );
    }
    Ok(())
}

/// Counts the threads of a name in the plugin's process.
fn threads(host: &Host, name: &str) -> Result<usize> {
    let tasks = std::fs::read_dir(format!("/proc/{}/task", host.plugin.pid()))?;
    let names = tasks.map(|task| std::fs::read_to_string(task?.path().join("comm")));
    // A thread may end meanwhile.
    Ok(names
        .filter_map(Result::ok)
        .filter(|thread| thread.trim() == name)
        .count())
}
