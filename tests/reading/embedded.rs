//! Against a broker in this process, which can be stopped, and whose topics can be made and unmade at will.

use std::sync::Arc;
use std::thread;
use std::time::{Duration, Instant};

use rdkafka::ClientConfig;
use rdkafka::producer::{BaseProducer, BaseRecord, Producer};
use serde_json::{Value, json};
use streamscope::config::Cursor;
use tokio::runtime::Runtime;
use workbench::broker::{Broker, Options, Store};

use crate::viewer::{Seen, Viewer, partition};

/// Is a broker that can be stopped and started again on its port.
struct Kafka {
    runtime: Runtime,
    broker: Option<Broker>,
    bootstrap: String,
}

impl Kafka {
    fn start() -> Self {
        let runtime = Runtime::new().unwrap();
        // Even a broker that creates what is asked for must not be made to.
        let options = Options {
            auto_create: true,
            ..Options::default()
        };
        let broker = runtime.block_on(Broker::start(options)).unwrap();
        Self {
            bootstrap: broker.bootstrap(),
            broker: Some(broker),
            runtime,
        }
    }

    fn store(&self) -> &Store {
        self.broker.as_ref().unwrap().store()
    }

    fn stop(&mut self) -> Store {
        self.runtime.block_on(self.broker.take().unwrap().stop())
    }

    fn start_again(&mut self, store: Store) {
        let port = self.bootstrap.rsplit_once(':').unwrap().1.parse().unwrap();
        let options = Options {
            port,
            store: Some(store),
            auto_create: true,
            ..Options::default()
        };
        self.broker = Some(self.runtime.block_on(Broker::start(options)).unwrap());
    }

    fn produce(&self, topic: &str, partition: i32, count: usize) {
        let producer: BaseProducer = ClientConfig::new()
            .set("bootstrap.servers", &self.bootstrap)
            .set("linger.ms", "5")
            .create()
            .unwrap();
        for i in 0..count {
            let value = json!({ "i": i }).to_string();
            let mut record = BaseRecord::<(), _>::to(topic)
                .partition(partition)
                .payload(&value);
            while let Err((_, refused)) = producer.send(record) {
                record = refused;
                producer.poll(Duration::from_millis(10));
            }
        }
        producer.flush(Duration::from_secs(20)).unwrap();
    }

    fn read(&self, query: &Value) -> Viewer {
        self.read_from(query, None)
    }

    fn read_from(&self, query: &Value, cursor: Option<Cursor>) -> Viewer {
        Viewer::start(
            &json!({ "bootstrapServers": self.bootstrap }),
            &[],
            query,
            cursor,
        )
    }
}

#[test]
fn start_positions() {
    let kafka = Kafka::start();
    kafka.store().create("t", 2).unwrap();
    kafka.produce("t", 0, 20);
    kafka.produce("t", 1, 3);
    let id = kafka
        .read(&json!({ "topicName": "t", "autoOffsetReset": "earliest" }))
        .until("id", |seen| !seen.topic_ids.is_empty())
        .topic_ids[0]
        .clone();
    let cursor = |id: &str, next: &[(i32, i64)]| {
        Some(Cursor {
            topic_id: Some(id.to_owned()),
            next: next.iter().copied().collect(),
        })
    };
    for (query, cursor, want) in [
        (
            json!({ "autoOffsetReset": "earliest" }),
            None,
            [partition(0, 0..20), partition(1, 0..3)],
        ),
        (
            json!({ "autoOffsetReset": "earliest", "partition": 1 }),
            None,
            [vec![], partition(1, 0..3)],
        ),
        (
            json!({ "autoOffsetReset": "lastN", "lastN": 5 }),
            None,
            [partition(0, 15..20), partition(1, 0..3)],
        ),
        (
            json!({ "autoOffsetReset": "lastN" }),
            cursor(&id, &[(0, 18), (1, 3)]),
            [partition(0, 18..20), vec![]],
        ),
        (
            json!({ "autoOffsetReset": "lastN" }),
            cursor(&id, &[(0, 20)]),
            [vec![], partition(1, 0..3)],
        ),
    ] {
        let mut query = query;
        query["topicName"] = json!("t");
        let mut viewer = kafka.read_from(&query, cursor);
        let count = want.iter().map(Vec::len).sum();
        let mut rows = viewer.rows(count).to_vec();
        rows.sort_unstable();
        assert_eq!(rows, want.concat(), "{query}");
        assert_eq!(viewer.seen.topic_ids, std::slice::from_ref(&id));
        assert_eq!(
            (&viewer.seen.errors, &viewer.seen.notices),
            (&vec![], &vec![]),
            "{query}"
        );
    }
}

#[test]
fn latest_shows_what_comes() {
    let kafka = Kafka::start();
    kafka.store().create("t", 1).unwrap();
    kafka.produce("t", 0, 100);
    let mut viewer = kafka.read(&json!({ "topicName": "t" }));
    viewer.is_at_work(|| kafka.produce("t", 0, 1));
    let (_, first) = viewer.seen.rows[0];
    assert!(first >= 100, "{:?}", viewer.seen);
    kafka.produce("t", 0, 50);
    let end = kafka.store().offsets("t", 0).unwrap().1;
    let rows = viewer.rows((end - first) as usize).to_vec();
    assert_eq!(rows, partition(0, first..end));
}

#[test]
fn a_broker_that_restarts_costs_no_row() {
    let mut kafka = Kafka::start();
    kafka.store().create("t", 2).unwrap();
    kafka.produce("t", 0, 10);
    kafka.produce("t", 1, 10);
    let mut viewer = kafka.read(&json!({ "topicName": "t", "autoOffsetReset": "earliest" }));
    viewer.rows(20);
    let store = kafka.stop();
    viewer.error("Kafka cannot be reached: connection refused");
    thread::sleep(Duration::from_secs(2));
    kafka.start_again(store);
    kafka.produce("t", 0, 10);
    kafka.produce("t", 1, 10);
    let mut rows = viewer.rows(40).to_vec();
    viewer.notice("Kafka answers again");
    rows.sort_unstable();
    assert_eq!(rows, [partition(0, 0..20), partition(1, 0..20)].concat());
    assert_eq!(viewer.seen.errors.len(), 1, "said once: {:?}", viewer.seen);
    assert_eq!(viewer.seen.notices.len(), 1, "{:?}", viewer.seen);
}

#[test]
fn kafka_may_come_after_its_viewer() {
    let mut kafka = Kafka::start();
    kafka.store().create("t", 1).unwrap();
    kafka.produce("t", 0, 3);
    let store = kafka.stop();
    let mut viewer =
        kafka.read(&json!({ "topicName": "t", "autoOffsetReset": "lastN", "lastN": 2 }));
    viewer.error("Kafka cannot be reached");
    kafka.start_again(store);
    assert_eq!(viewer.rows(2), partition(0, 1..3));
}

#[test]
fn partitions_that_are_added_are_read_from_their_start() {
    let kafka = Kafka::start();
    kafka.store().create("t", 1).unwrap();
    let mut viewer = kafka.read(&json!({ "topicName": "t" }));
    viewer.is_at_work(|| kafka.produce("t", 0, 1));
    kafka.store().grow("t", 3).unwrap();
    kafka.produce("t", 2, 5);
    let in_second = |seen: &Seen| {
        seen.rows
            .iter()
            .filter(|row| row.0 == 2)
            .copied()
            .collect::<Vec<_>>()
    };
    let seen = viewer.until("partition 2", |seen| in_second(seen).len() >= 5);
    assert_eq!(in_second(seen), partition(2, 0..5));
    viewer.notice("has grown by 2 partitions");
}

#[test]
fn a_topic_that_is_created_again_is_read_from_its_start() {
    let kafka = Kafka::start();
    kafka.store().create("t", 1).unwrap();
    kafka.produce("t", 0, 10);
    // The new topic is shorter, or longer than what has been read.
    for count in [4, 30] {
        let mut viewer = kafka.read(&json!({ "topicName": "t", "autoOffsetReset": "earliest" }));
        viewer.rows(4);
        kafka.store().delete("t").unwrap();
        kafka.store().create("t", 1).unwrap();
        kafka.produce("t", 0, count);
        viewer.notice("was deleted and created again");
        let of_new = |seen: &Seen| {
            seen.topic_ids.len() == 2 && seen.rows.ends_with(&partition(0, 0..count as i64))
        };
        viewer.until("rows of the new topic", of_new);
    }
}

#[test]
fn a_topic_that_is_deleted_is_waited_for() {
    let kafka = Kafka::start();
    kafka.store().create("t", 1).unwrap();
    kafka.produce("t", 0, 3);
    let mut viewer = kafka.read(&json!({ "topicName": "t", "autoOffsetReset": "earliest" }));
    viewer.rows(3);
    kafka.store().delete("t").unwrap();
    viewer.error("topic t was deleted");
    thread::sleep(Duration::from_secs(2));
    assert_eq!(
        kafka.store().topics(),
        Vec::<String>::new(),
        "nobody may create it by looking"
    );
    kafka.store().create("t", 1).unwrap();
    kafka.produce("t", 0, 2);
    assert_eq!(viewer.rows(5)[3..], partition(0, 0..2));
    viewer.notice("created again");
    assert_eq!(viewer.seen.errors.len(), 1, "{:?}", viewer.seen);
}

#[test]
fn a_topic_or_partition_that_is_not_there_is_said_and_waited_for() {
    let kafka = Kafka::start();
    kafka.store().create("t", 1).unwrap();
    let mut no_topic = kafka.read(&json!({ "topicName": "u", "autoOffsetReset": "earliest" }));
    let mut no_partition =
        kafka.read(&json!({ "topicName": "t", "partition": 1 , "autoOffsetReset": "earliest" }));
    no_topic.error("topic u not found");
    no_partition.error("partition 1 of topic t not found");
    assert_eq!(kafka.store().topics(), ["t"]);
    kafka.store().create("u", 1).unwrap();
    kafka.store().grow("t", 2).unwrap();
    kafka.produce("u", 0, 2);
    kafka.produce("t", 1, 2);
    assert_eq!(no_topic.rows(2), partition(0, 0..2));
    assert_eq!(no_partition.rows(2), partition(1, 0..2));
    no_topic.notice("is there now");
}

#[test]
fn a_cursor_that_fits_no_more_is_said() {
    let kafka = Kafka::start();
    kafka.store().create("t", 1).unwrap();
    kafka.produce("t", 0, 5);
    let earliest = json!({ "topicName": "t", "autoOffsetReset": "earliest" });
    for (id, next, words, rows) in [
        (Some("another"), 3, "created again", partition(0, 0..5)),
        (None, 9, "ends at offset 5, before 9", vec![]),
    ] {
        let cursor = Cursor {
            topic_id: id.map(str::to_owned),
            next: [(0, next)].into(),
        };
        let mut viewer = kafka.read_from(&earliest, Some(cursor));
        viewer.notice(words);
        assert_eq!(viewer.rows(rows.len()), rows, "{words}");
    }
    // The last two, of a partition that could not be counted before.
    let cursor = Cursor {
        topic_id: None,
        next: [(0, -2)].into(),
    };
    let mut viewer = kafka.read_from(&earliest, Some(cursor));
    assert_eq!(viewer.rows(2), partition(0, 3..5));
}

#[test]
fn a_viewer_that_leaves_ends_the_reader() {
    let kafka = Kafka::start();
    kafka.store().create("t", 1).unwrap();
    kafka.produce("t", 0, 50_000);
    for (query, take) in [
        (json!({ "topicName": "t" }), 0),
        // In the middle of a full channel.
        (
            json!({ "topicName": "t", "autoOffsetReset": "earliest" }),
            10,
        ),
        (json!({ "topicName": "missing" }), 0),
    ] {
        let mut viewer = kafka.read(&query);
        viewer.rows(take);
        thread::sleep(Duration::from_millis(50));
        viewer.packets = None;
        let left = Instant::now();
        while Arc::strong_count(&viewer.spec) > 1 {
            assert!(left.elapsed() < Duration::from_secs(1), "{query}");
            thread::sleep(Duration::from_millis(1));
        }
        assert!(
            left.elapsed() < Duration::from_millis(250),
            "{query} {:?}",
            left.elapsed()
        );
    }
}

/// 1 KiB a record: the channel's budget is 1,280 of them a second.
#[test]
fn only_latest_passes_over_what_a_panel_cannot_show() {
    let kafka = Kafka::start();
    kafka.store().create("t", 1).unwrap();
    let query = |more: Value| {
        let mut query = json!({ "topicName": "t", "messageFormat": "plaintext", "pacing": true });
        query
            .as_object_mut()
            .unwrap()
            .extend(more.as_object().unwrap().clone());
        query
    };
    let mut latest = kafka.read(&query(json!({})));
    let mut every = kafka.read(&query(json!({ "everyRecord": true })));
    latest.is_at_work(|| kafka.produce("t", 0, 1));
    every.is_at_work(|| kafka.produce("t", 0, 1));
    let value = "x".repeat(1024);
    let producer: BaseProducer = ClientConfig::new()
        .set("bootstrap.servers", &kafka.bootstrap)
        .create()
        .unwrap();
    for _ in 0..15_000 {
        let record = BaseRecord::<(), _>::to("t").partition(0).payload(&value);
        producer.send(record).unwrap();
    }
    producer.flush(Duration::from_secs(20)).unwrap();

    latest.notice("passed over up to ");
    kafka.produce("t", 0, 5);
    let end = kafka.store().offsets("t", 0).unwrap().1;
    let seen = latest.until("the newest rows", |seen| {
        seen.rows.ends_with(&partition(0, end - 5..end))
    });
    let notice = seen
        .notices
        .iter()
        .find(|notice| notice.starts_with("passed"))
        .unwrap();
    let passed: i64 = notice.split(' ').nth(4).unwrap().parse().unwrap();
    assert_eq!(
        seen.rows.len() as i64 + passed,
        end - seen.rows[0].1,
        "{:?}",
        seen.notices
    );
    assert!((5_000..12_000).contains(&passed), "{passed}");

    every.notice("records behind the newest");
    let first = every.seen.rows[0].1;
    let rows = every.rows((end - first) as usize).to_vec();
    assert_eq!(rows, partition(0, first..end));
    every.notice("has caught up");
    assert_eq!(every.seen.notices.len(), 2, "{:?}", every.seen.notices);
}

#[test]
fn a_slow_host_loses_nothing() {
    let kafka = Kafka::start();
    kafka.store().create("t", 1).unwrap();
    kafka.produce("t", 0, 100_000);
    let mut viewer = kafka.read(&json!({ "topicName": "t", "autoOffsetReset": "earliest" }));
    thread::sleep(Duration::from_millis(500));
    let rows = viewer.rows(100_000);
    assert!(rows.iter().copied().eq(partition(0, 0..100_000)));
}
