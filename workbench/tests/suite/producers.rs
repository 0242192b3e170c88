//! The demo's producers, as librdkafka sees what they write.

use std::collections::BTreeMap;
use std::time::{Duration, Instant};

use libtest_mimic::Trial;
use rdkafka::config::ClientConfig;
use rdkafka::consumer::{Consumer as _, StreamConsumer};
use rdkafka::message::{Headers as _, Message as _};
use rdkafka::{Offset, TopicPartitionList};
use workbench::broker::{Broker, Options};
use workbench::producers::{Producers, SCHEMAS};
use workbench::registry::Registry;

pub(crate) fn cases() -> Vec<Trial> {
    vec![super::case("producers/topics", topics)]
}

async fn topics() {
    let broker = Broker::start(Options::default()).await.expect("started");
    let registry = Registry::start(0, SCHEMAS).await.expect("started");
    let producers = Producers::start(&broker.bootstrap(), registry.ids())
        .await
        .expect("started");
    let consumer: StreamConsumer = ClientConfig::new()
        .set("bootstrap.servers", broker.bootstrap())
        .set("group.id", "test")
        .create()
        .expect("a consumer");
    let mut list = TopicPartitionList::new();
    for about in producers.topics() {
        for partition in 0..about.partitions {
            let added = list.add_partition_offset(about.topic, partition, Offset::Beginning);
            added.expect("an offset");
        }
    }
    consumer.assign(&list).expect("assigned");
    // The past is there at once: five minutes of the slow ones.
    let (_, written) = broker.store().offsets("sensors", 0).expect("a partition");
    assert!(written >= 2_999, "{written}");
    let mut counts = BTreeMap::<String, usize>::new();
    let until = Instant::now() + Duration::from_secs(3);
    while Instant::now() < until {
        let record = consumer.recv().await.expect("a record");
        if record.topic() == "payments" {
            assert_eq!(record.headers().expect("headers").count(), 2);
            serde_json::from_slice::<serde_json::Value>(record.key().expect("a key"))
                .expect("a JSON key");
        }
        *counts.entry(record.topic().into()).or_default() += 1;
    }
    for (topic, at_least) in [
        ("sensors", 3_015),
        ("orders", 600),
        ("logs", 1_500),
        ("ticks", 12_000),
        ("payments", 900),
        ("turbines", 1_200),
        ("weather", 600),
        ("rides", 600),
        ("hosts", 600),
        ("meters", 600),
    ] {
        assert!(
            counts.get(topic).is_some_and(|count| *count >= at_least),
            "{counts:?}"
        );
    }
}
