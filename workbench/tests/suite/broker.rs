//! The embedded broker, as librdkafka and kcat see it.

use std::process::Command;
use std::time::Duration;

use libtest_mimic::Trial;
use rdkafka::admin::{AdminClient, AdminOptions, NewPartitions, NewTopic, TopicReplication};
use rdkafka::client::DefaultClientContext;
use rdkafka::config::ClientConfig;
use rdkafka::consumer::{BaseConsumer, Consumer as _, StreamConsumer};
use rdkafka::error::{KafkaError, RDKafkaErrorCode};
use rdkafka::message::{Header, Headers as _, Message as _, OwnedHeaders};
use rdkafka::producer::{FutureProducer, FutureRecord};
use rdkafka::{Offset, TopicPartitionList};
use workbench::broker::{Broker, Options, Retention};

pub(crate) fn cases() -> Vec<Trial> {
    vec![
        super::case("broker/codecs", codecs),
        super::case("broker/records", records),
        super::case("broker/offsets", offsets),
        super::case("broker/long_poll", long_poll),
        super::case("broker/admin", admin),
        super::case("broker/no_auto_creation", no_auto_creation),
        super::case("broker/restart", restart),
        super::case("broker/sasl", sasl),
        super::case("broker/retention", retention),
        super::case("broker/kcat", kcat),
    ]
}

async fn broker() -> Broker {
    Broker::start(Options::default()).await.expect("started")
}

fn config(broker: &Broker) -> ClientConfig {
    let mut config = ClientConfig::new();
    config
        .set("bootstrap.servers", broker.bootstrap())
        .set("group.id", "test")
        .set("enable.auto.commit", "false")
        .set("fetch.wait.max.ms", "200");
    config
}

fn producer(broker: &Broker) -> FutureProducer {
    config(broker).create().expect("a producer")
}

/// Starts a consumer at an offset of partition 0.
fn reader(broker: &Broker, topic: &str, offset: Offset) -> StreamConsumer {
    let consumer: StreamConsumer = config(broker)
        .set("enable.partition.eof", "true")
        .set("auto.offset.reset", "error")
        .create()
        .expect("a consumer");
    let mut list = TopicPartitionList::new();
    list.add_partition_offset(topic, 0, offset)
        .expect("an offset");
    consumer.assign(&list).expect("assigned");
    consumer
}

async fn send(producer: &FutureProducer, topic: &str, value: &str, timestamp: i64) -> i64 {
    let record = FutureRecord::<str, str>::to(topic)
        .payload(value)
        .partition(0)
        .timestamp(timestamp);
    producer
        .send(record, Duration::from_secs(5))
        .await
        .expect("sent")
        .offset
}

/// Reads values to the end of partition 0.
async fn values(consumer: &StreamConsumer) -> Vec<(i64, String)> {
    let mut values = Vec::new();
    loop {
        match consumer.recv().await {
            Ok(record) => {
                let text = String::from_utf8_lossy(record.payload().unwrap_or_default());
                values.push((record.offset(), text.into_owned()));
            }
            Err(KafkaError::PartitionEOF(_)) => return values,
            Err(error) => panic!("{error}"),
        }
    }
}

async fn codecs() {
    let broker = broker().await;
    broker.store().create("t", 1).expect("created");
    let codecs = ["none", "gzip", "snappy", "lz4", "zstd"];
    for codec in codecs {
        let producer: FutureProducer = config(&broker)
            .set("compression.codec", codec)
            .create()
            .expect("a producer");
        send(&producer, "t", &codec.repeat(100), 1).await;
    }
    let read = values(&reader(&broker, "t", Offset::Beginning)).await;
    let expected: Vec<_> = (0..).zip(codecs.map(|codec| codec.repeat(100))).collect();
    assert_eq!(read, expected);
}

async fn records() {
    let broker = broker().await;
    broker.store().create("t", 1).expect("created");
    let idempotent: FutureProducer = config(&broker)
        .set("enable.idempotence", "true")
        .create()
        .expect("a producer");
    let headers = OwnedHeaders::new()
        .insert(Header {
            key: "a",
            value: Some("1"),
        })
        .insert(Header::<&str> {
            key: "b",
            value: None,
        });
    let full = FutureRecord::to("t")
        .key("k")
        .payload("v")
        .headers(headers)
        .timestamp(1_700);
    idempotent
        .send(full, Duration::from_secs(5))
        .await
        .expect("sent");
    let tombstone = FutureRecord::<str, str>::to("t").key("k");
    idempotent
        .send(tombstone, Duration::from_secs(5))
        .await
        .expect("sent");
    let empty = FutureRecord::<str, str>::to("t").payload("");
    idempotent
        .send(empty, Duration::from_secs(5))
        .await
        .expect("sent");

    let consumer = reader(&broker, "t", Offset::Offset(0));
    let record = consumer.recv().await.expect("a record");
    assert_eq!(
        (record.key(), record.payload()),
        (Some(&b"k"[..]), Some(&b"v"[..]))
    );
    assert_eq!(record.timestamp().to_millis(), Some(1_700));
    let headers = record.headers().expect("headers");
    let got: Vec<_> = headers
        .iter()
        .map(|header| (header.key, header.value))
        .collect();
    assert_eq!(got, [("a", Some(&b"1"[..])), ("b", None)]);
    for (key, value) in [(Some(&b"k"[..]), None), (None, Some(&b""[..]))] {
        let record = consumer.recv().await.expect("a record");
        assert_eq!((record.key(), record.payload()), (key, value));
    }
}

async fn offsets() {
    let broker = broker().await;
    broker.store().create("t", 1).expect("created");
    let producer = producer(&broker);
    for timestamp in [1_000, 3_000, 2_000, 4_000] {
        send(&producer, "t", "v", timestamp).await;
    }
    let consumer: BaseConsumer = config(&broker).create().expect("a consumer");
    tokio::task::spawn_blocking(move || {
        let wait = Duration::from_secs(5);
        assert_eq!(consumer.fetch_watermarks("t", 0, wait), Ok((0, 4)));
        for (timestamp, expected) in [
            (0, Offset::Offset(0)),
            (1_001, Offset::Offset(1)),
            (3_000, Offset::Offset(1)),
            (3_001, Offset::Offset(3)),
            (4_001, Offset::End),
        ] {
            let mut list = TopicPartitionList::new();
            list.add_partition_offset("t", 0, Offset::Offset(timestamp))
                .expect("a timestamp");
            let found = consumer.offsets_for_times(list, wait).expect("looked up");
            assert_eq!(found.elements()[0].offset(), expected, "{timestamp}");
        }
        let unknown = consumer.fetch_watermarks("t", 1, wait).err();
        let unknown = unknown.and_then(|error| error.rdkafka_error_code());
        assert_eq!(unknown, Some(RDKafkaErrorCode::UnknownPartition));
    })
    .await
    .expect("ran");

    let tail = values(&reader(&broker, "t", Offset::OffsetTail(2))).await;
    assert_eq!(
        tail.iter().map(|(offset, _)| *offset).collect::<Vec<_>>(),
        [2, 3]
    );
    match reader(&broker, "t", Offset::Offset(9)).recv().await {
        Err(error) => assert_eq!(
            error.rdkafka_error_code(),
            Some(RDKafkaErrorCode::AutoOffsetReset),
            "{error}"
        ),
        Ok(record) => panic!("{record:?}"),
    }
}

async fn long_poll() {
    let broker = broker().await;
    broker.store().create("t", 1).expect("created");
    let producer = producer(&broker);
    let consumer: StreamConsumer = config(&broker)
        .set("fetch.wait.max.ms", "30000")
        .create()
        .expect("a consumer");
    let mut list = TopicPartitionList::new();
    list.add_partition_offset("t", 0, Offset::Offset(0))
        .expect("an offset");
    consumer.assign(&list).expect("assigned");
    send(&producer, "t", "warm", 1).await;
    consumer.recv().await.expect("a record");
    tokio::time::sleep(Duration::from_millis(200)).await;
    // The fetch waits by now: a record that is appended must end it long before its time.
    send(&producer, "t", "v", 1).await;
    let record = tokio::time::timeout(Duration::from_secs(5), consumer.recv()).await;
    assert_eq!(record.expect("at once").expect("a record").offset(), 1);
}

async fn admin() {
    let broker = broker().await;
    let admin: AdminClient<DefaultClientContext> = config(&broker).create().expect("a client");
    let options = AdminOptions::new();
    let topics = [NewTopic::new("a", 3, TopicReplication::Fixed(1))];
    let created = admin
        .create_topics(&topics, &options)
        .await
        .expect("answered");
    assert_eq!(created, [Ok("a".to_owned())]);
    let again = admin
        .create_topics(&topics, &options)
        .await
        .expect("answered");
    assert_eq!(
        again,
        [Err(("a".to_owned(), RDKafkaErrorCode::TopicAlreadyExists))]
    );
    let grown = admin
        .create_partitions(&[NewPartitions::new("a", 5)], &options)
        .await;
    assert_eq!(grown.expect("answered"), [Ok("a".to_owned())]);
    let consumer: BaseConsumer = config(&broker).create().expect("a consumer");
    tokio::task::spawn_blocking(move || {
        let metadata = consumer
            .fetch_metadata(None, Duration::from_secs(5))
            .expect("metadata");
        let topics: Vec<_> = metadata
            .topics()
            .iter()
            .map(|t| (t.name(), t.partitions().len()))
            .collect();
        assert_eq!(topics, [("a", 5)]);
    })
    .await
    .expect("ran");
    let deleted = admin
        .delete_topics(&["a", "b"], &options)
        .await
        .expect("answered");
    let unknown = RDKafkaErrorCode::UnknownTopicOrPartition;
    assert_eq!(
        deleted,
        [Ok("a".to_owned()), Err(("b".to_owned(), unknown))]
    );
    assert!(broker.store().topics().is_empty());
}

async fn no_auto_creation() {
    for auto_create in [false, true] {
        let options = Options {
            auto_create,
            ..Options::default()
        };
        let broker = Broker::start(options).await.expect("started");
        let consumer: BaseConsumer = config(&broker)
            .set("allow.auto.create.topics", "true")
            .create()
            .expect("a consumer");
        tokio::task::spawn_blocking(move || {
            // librdkafka asks for creation in metadata requests for topics that it reads.
            let mut list = TopicPartitionList::new();
            list.add_partition_offset("t", 0, Offset::Beginning)
                .expect("an offset");
            consumer.assign(&list).expect("assigned");
            for _ in 0..10 {
                consumer.poll(Duration::from_millis(100));
            }
        })
        .await
        .expect("ran");
        assert_eq!(broker.store().topics() == ["t"], auto_create);
    }
}

async fn restart() {
    let first = broker().await;
    first.store().create("t", 1).expect("created");
    let producer = producer(&first);
    send(&producer, "t", "before", 1).await;
    let consumer = reader(&first, "t", Offset::Offset(0));
    assert_eq!(values(&consumer).await, [(0, "before".to_owned())]);

    let port = first
        .bootstrap()
        .rsplit(':')
        .next()
        .and_then(|port| port.parse().ok());
    let port = port.expect("a port");
    let store = first.stop().await;
    let _again = Broker::start(Options {
        port,
        store: Some(store),
        ..Options::default()
    })
    .await
    .expect("the port is free again");
    send(&producer, "t", "after", 1).await;
    // Errors in between say that the broker was away.
    let offset = loop {
        if let Ok(record) = consumer.recv().await {
            break record.offset();
        }
    };
    assert_eq!(offset, 1);
}

async fn sasl() {
    let options = Options {
        sasl: Some(("user".into(), "right".into())),
        ..Options::default()
    };
    let broker = Broker::start(options).await.expect("started");
    broker.store().create("t", 1).expect("created");
    for (protocol, password, works) in [
        ("SASL_PLAINTEXT", "right", true),
        ("SASL_PLAINTEXT", "wrong", false),
        ("PLAINTEXT", "", false),
    ] {
        let mut config = config(&broker);
        config
            .set("security.protocol", protocol)
            .set("sasl.mechanism", "PLAIN");
        if protocol != "PLAINTEXT" {
            config
                .set("sasl.username", "user")
                .set("sasl.password", password);
        }
        let consumer: BaseConsumer = config.create().expect("a consumer");
        let answered = tokio::task::spawn_blocking(move || {
            consumer
                .fetch_metadata(None, Duration::from_secs(if works { 10 } else { 1 }))
                .is_ok()
        });
        assert_eq!(answered.await.expect("ran"), works, "{protocol} {password}");
    }
}

async fn retention() {
    let retention = Retention {
        bytes: 1 << 20,
        records: 50,
    };
    let broker = Broker::start(Options {
        retention,
        ..Options::default()
    })
    .await
    .expect("started");
    broker.store().create("t", 1).expect("created");
    let producer: FutureProducer = config(&broker)
        .set("batch.num.messages", "10")
        .create()
        .expect("a producer");
    for _ in 0..100 {
        send(&producer, "t", "v", 1).await;
    }
    let (start, end) = broker.store().offsets("t", 0).expect("a partition");
    assert_eq!((start, end), (50, 100));
    let read = values(&reader(&broker, "t", Offset::Beginning)).await;
    assert_eq!(read.len(), 50);
}

async fn kcat() {
    let broker = broker().await;
    broker.store().create("t", 2).expect("created");
    let producer = producer(&broker);
    send(&producer, "t", "hello", 1).await;
    let run = |args: &[&str]| {
        let mut command = Command::new("kcat");
        command.args(["-b", &broker.bootstrap()]).args(args);
        command
    };
    let (mut list, mut read) = (
        run(&["-L"]),
        run(&["-C", "-t", "t", "-e", "-q", "-f", "%o %s\n"]),
    );
    let outputs = tokio::task::spawn_blocking(move || [list.output(), read.output()]);
    let [list, read] = outputs.await.expect("ran");
    let Ok(list) = list else {
        eprintln!("kcat is not installed: nothing checked");
        return;
    };
    let list = String::from_utf8_lossy(&list.stdout).into_owned();
    assert!(list.contains("topic \"t\" with 2 partitions"), "{list}");
    let read = read.expect("ran");
    assert_eq!(
        String::from_utf8_lossy(&read.stdout),
        "0 hello\n",
        "{read:?}"
    );
}
