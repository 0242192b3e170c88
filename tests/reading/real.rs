//! A reader against real Apache Kafka: transactions, compaction, retention, rights, and a broker that is killed.

use std::thread;
use std::time::Duration;

use real_kafka::{Kafka, Listener, Operation, Record, Resource};
use serde_json::{Value, json};
use streamscope::config::Cursor;

use crate::viewer::{Viewer, partition};

fn read(kafka: &Kafka, query: &Value) -> Viewer {
    Viewer::start(
        &json!({ "bootstrapServers": kafka.bootstrap() }),
        &[],
        query,
        None,
    )
}

fn produce(kafka: &Kafka, topic: &str, count: usize) {
    let values: Vec<String> = (0..count).map(|i| json!({ "i": i }).to_string()).collect();
    let records: Vec<Record<'_>> = values.iter().map(Record::value).collect();
    kafka.produce(topic, &records).unwrap();
}

/// Writes transactions of three records; what stands between them are the markers of their ends.
fn transactions(kafka: &Kafka, topic: &str, commits: &[bool]) {
    kafka.create_topic(topic, 1).unwrap();
    let producer = kafka.transactional(topic).unwrap();
    for &commit in commits {
        producer.begin().unwrap();
        for _ in 0..3 {
            producer.send(topic, Record::value("{}")).unwrap();
        }
        if commit {
            producer.commit()
        } else {
            producer.abort()
        }
        .unwrap();
    }
    kafka
        .wait_for_end_offset(topic, 0, commits.len() as i64 * 4)
        .unwrap();
}

#[test]
fn the_last_records_over_gaps() {
    let kafka = Kafka::shared();
    transactions(kafka, "gaps-mixed", &[true, false, true]);
    transactions(kafka, "gaps-aborted-tail", &[true, false, false, false]);
    let many = [[true].as_slice(), &[false; 60]].concat();
    transactions(kafka, "gaps-long-tail", &many);
    let compacted = [
        ("cleanup.policy", "compact"),
        ("segment.ms", "500"),
        ("min.cleanable.dirty.ratio", "0.01"),
        ("max.compaction.lag.ms", "500"),
    ];
    kafka
        .create_topic_with("gaps-compacted", 1, &compacted)
        .unwrap();
    let key = |i: usize| ["a", "b", "c", "d", "e"][i % 5];
    let records: Vec<Record<'_>> = (0..200)
        .map(|i| Record::value("{}").keyed(key(i)))
        .collect();
    kafka.produce("gaps-compacted", &records).unwrap();
    let low_is_read = || {
        let mut viewer = read(
            kafka,
            &json!({ "topicName": "gaps-compacted", "autoOffsetReset": "earliest" }),
        );
        thread::sleep(Duration::from_millis(400));
        viewer.take();
        viewer.seen.rows.first().is_some_and(|row| row.1 > 100)
    };
    let mut rounds = 0;
    while !low_is_read() {
        rounds += 1;
        assert!(rounds < 40, "no compaction");
        thread::sleep(Duration::from_millis(300));
        kafka
            .produce("gaps-compacted", &[Record::value("{}").keyed("z")])
            .unwrap();
    }
    let compacted: Vec<i64> = {
        let mut viewer = read(
            kafka,
            &json!({ "topicName": "gaps-compacted", "autoOffsetReset": "earliest" }),
        );
        viewer.until("a z", |seen| {
            seen.rows.last().is_some_and(|row| row.1 >= 200)
        });
        thread::sleep(Duration::from_millis(200));
        viewer.take();
        viewer.seen.rows.iter().map(|row| row.1).collect()
    };
    let last_six = &compacted[compacted.len() - 6..];

    for (topic, n, isolation, want) in [
        ("gaps-mixed", 1, "readCommitted", &[10][..]),
        ("gaps-mixed", 4, "readCommitted", &[2, 8, 9, 10]),
        ("gaps-mixed", 5, "readCommitted", &[1, 2, 8, 9, 10]),
        ("gaps-mixed", 9, "readCommitted", &[0, 1, 2, 8, 9, 10]),
        ("gaps-mixed", 5, "readUncommitted", &[5, 6, 8, 9, 10]),
        ("gaps-aborted-tail", 2, "readCommitted", &[1, 2]),
        ("gaps-aborted-tail", 2, "readUncommitted", &[13, 14]),
        ("gaps-long-tail", 1, "readCommitted", &[2]),
        ("gaps-long-tail", 100, "readCommitted", &[0, 1, 2]),
        ("gaps-compacted", 6, "readCommitted", last_six),
    ] {
        let query = json!({ "topicName": topic, "autoOffsetReset": "lastN", "lastN": n, "isolationLevel": isolation });
        let mut viewer = read(kafka, &query);
        viewer.rows(want.len());
        thread::sleep(Duration::from_millis(100));
        viewer.take();
        let offsets: Vec<i64> = viewer.seen.rows.iter().map(|row| row.1).collect();
        assert_eq!(offsets, want, "{query}");
        assert!(
            viewer.seen.errors.is_empty() && viewer.seen.notices.is_empty(),
            "{:?}",
            viewer.seen
        );
    }
}

#[test]
fn records_that_retention_took_are_counted() {
    let kafka = Kafka::shared();
    kafka.create_topic("retention", 1).unwrap();
    produce(kafka, "retention", 20);
    kafka.delete_records("retention", 0, 12).unwrap();
    let cursor = Cursor {
        topic_id: None,
        next: [(0, 5)].into(),
    };
    let query = json!({ "topicName": "retention", "autoOffsetReset": "earliest" });
    let settings = json!({ "bootstrapServers": kafka.bootstrap() });
    let mut viewer = Viewer::start(&settings, &[], &query, Some(cursor));
    assert_eq!(viewer.rows(8), partition(0, 12..20));
    viewer.notice("up to 7 records of partition 0 are missing");
}

/// The host takes nothing while Kafka deletes what the reader has not fetched yet.
#[test]
fn records_that_retention_takes_from_a_slow_reader_are_counted() {
    let kafka = Kafka::shared();
    kafka.create_topic("retention-slow", 1).unwrap();
    let value = "x".repeat(20_000);
    let producer = kafka.producer().unwrap();
    let total = 2_000;
    for _ in 0..total {
        producer
            .send("retention-slow", Record::value(&value))
            .unwrap();
    }
    producer.flush().unwrap();
    let mut viewer = read(
        kafka,
        &json!({ "topicName": "retention-slow", "autoOffsetReset": "earliest", "messageFormat": "plaintext" }),
    );
    thread::sleep(Duration::from_secs(2));
    kafka
        .delete_records("retention-slow", 0, total - 100)
        .unwrap();
    let seen = viewer.until("the last row", |seen| {
        seen.rows.last().is_some_and(|row| row.1 == total - 1)
    });
    let lost = total - seen.rows.len() as i64;
    assert!(lost > 0, "{} rows", seen.rows.len());
    assert!(seen.rows.is_sorted() && seen.rows.ends_with(&partition(0, total - 100..total)));
    viewer.notice(&format!("up to {lost} records of partition 0 are missing"));
    assert_eq!(viewer.seen.errors, Vec::<String>::new());
}

#[test]
fn the_right_to_read_is_taken_away_and_given_back() {
    let kafka = Kafka::shared();
    kafka.create_topic("rights", 1).unwrap();
    produce(kafka, "rights", 3);
    let topic = Resource::Topic("rights");
    for operation in [Operation::Describe, Operation::Read] {
        kafka.allow("bob", operation, topic).unwrap();
    }
    let settings = json!({ "bootstrapServers": kafka.address(Listener::Sasl), "securityProtocol": "SASL_PLAINTEXT",
        "saslMechanisms": "PLAIN", "saslUsername": "bob" });
    let query = json!({ "topicName": "rights", "autoOffsetReset": "earliest" });
    let mut viewer = Viewer::start(&settings, &[("saslPassword", "bob-secret")], &query, None);
    viewer.rows(3);
    kafka.clear_rules(topic).unwrap();
    kafka.allow("bob", Operation::Describe, topic).unwrap();
    produce(kafka, "rights", 1);
    viewer.error("lacks the right Read on it");
    thread::sleep(Duration::from_secs(7));
    produce(kafka, "rights", 1);
    kafka.allow("bob", Operation::Read, topic).unwrap();
    let rows = viewer.rows(5).to_vec();
    viewer.notice("topic rights is read again");
    assert_eq!(rows, partition(0, 0..5));
    assert_eq!(viewer.seen.errors.len(), 1, "said once: {:?}", viewer.seen);
}

#[test]
fn a_topic_that_may_not_be_seen_is_said() {
    let kafka = Kafka::shared();
    kafka.create_topic("hidden", 1).unwrap();
    kafka
        .allow("alice", Operation::Read, Resource::Topic("hidden"))
        .unwrap();
    let settings = json!({ "bootstrapServers": kafka.address(Listener::Sasl), "securityProtocol": "SASL_PLAINTEXT",
        "saslMechanisms": "PLAIN", "saslUsername": "bob" });
    let query = json!({ "topicName": "hidden", "autoOffsetReset": "earliest" });
    let mut viewer = Viewer::start(&settings, &[("saslPassword", "bob-secret")], &query, None);
    viewer.error("not authorised for topic hidden");
    let mut stranger = Viewer::start(&settings, &[("saslPassword", "wrong")], &query, None);
    stranger.error("authentication failed, the broker refused the credentials");
}

#[test]
fn a_broker_that_is_killed_costs_no_row() {
    let kafka = Kafka::start().unwrap();
    kafka.create_topic("killed", 2).unwrap();
    produce(&kafka, "killed", 10);
    let mut viewer = read(
        &kafka,
        &json!({ "topicName": "killed", "autoOffsetReset": "earliest" }),
    );
    viewer.rows(10);
    kafka.kill().unwrap();
    viewer.error("Kafka cannot be reached");
    kafka.restart().unwrap();
    produce(&kafka, "killed", 10);
    let mut rows = viewer.rows(20).to_vec();
    viewer.notice("Kafka answers again");
    rows.sort_unstable();
    rows.dedup();
    assert_eq!(rows.len(), 20, "nothing lost, nothing twice");
    assert_eq!(
        (viewer.seen.rows.len(), viewer.seen.errors.len()),
        (20, 1),
        "{:?}",
        viewer.seen
    );
}

#[test]
fn a_topic_that_is_created_again_is_another_one() {
    let kafka = Kafka::shared();
    kafka.create_topic("again", 1).unwrap();
    produce(kafka, "again", 10);
    for count in [4, 30] {
        let mut viewer = read(
            kafka,
            &json!({ "topicName": "again", "autoOffsetReset": "earliest" }),
        );
        viewer.rows(4);
        kafka.delete_topic("again").unwrap();
        kafka.create_topic("again", 1).unwrap();
        produce(kafka, "again", count);
        viewer.notice("was deleted and created again");
        viewer.until("rows of the new topic", |seen| {
            seen.topic_ids.len() == 2 && seen.rows.ends_with(&partition(0, 0..count as i64))
        });
    }
    assert!(
        !kafka.groups().unwrap().contains("streamscope"),
        "no group is ever joined"
    );
}

#[test]
fn partitions_without_leader_are_said_and_the_others_read() {
    let kafka = Kafka::start().unwrap();
    let second = kafka.join().unwrap();
    kafka.create_topic("leaders", 4).unwrap();
    let records: Vec<Record<'_>> = (0..4)
        .map(|partition| Record::value("{}").to(partition))
        .collect();
    kafka.produce("leaders", &records).unwrap();
    let mut viewer = read(
        &kafka,
        &json!({ "topicName": "leaders", "autoOffsetReset": "earliest" }),
    );
    viewer.rows(4);
    second.kill().unwrap();
    viewer.error("partitions of topic leaders cannot be read: no broker leads it now");
    let led: Vec<i32> = (0..4)
        .filter(|&partition| kafka.end_offset("leaders", partition).is_ok())
        .collect();
    assert!(!led.is_empty() && led.len() < 4, "{led:?}");
    kafka
        .produce("leaders", &[Record::value("{}").to(led[0])])
        .unwrap();
    viewer.rows(5);
    // A stream that begins now takes the last record of each partition, whenever it can be read.
    let last = json!({ "topicName": "leaders", "autoOffsetReset": "lastN", "lastN": 1 });
    let mut late = read(&kafka, &last);
    late.rows(led.len());
    second.restart().unwrap();
    viewer.notice("Kafka answers again");
    let mut last = late.rows(4).to_vec();
    last.sort_unstable();
    let ends = |partition: i64| i64::from(partition == i64::from(led[0]));
    let want: Vec<(i64, i64)> = (0..4)
        .map(|partition| (partition, ends(partition)))
        .collect();
    assert_eq!(last, want);
    kafka.produce("leaders", &records).unwrap();
    let mut rows = viewer.rows(9).to_vec();
    rows.sort_unstable();
    rows.dedup();
    assert_eq!(
        (rows.len(), viewer.seen.errors.len()),
        (9, 1),
        "{:?}",
        viewer.seen
    );
}
