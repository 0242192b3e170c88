use std::time::Instant;

use rdkafka::ClientConfig;
use rdkafka::consumer::{BaseConsumer, Consumer};
use rdkafka::message::OwnedHeaders;
use rdkafka::producer::{BaseProducer, BaseRecord, Producer};
use tokio::runtime::Runtime;
use workbench::broker::{Broker, Options as BrokerOptions};

use super::answers::id_text;
use super::*;

const TIMEOUT: Duration = Duration::from_secs(10);

/// Starts a broker with topic `t` of three partitions; the runtime keeps it.
fn broker() -> (Runtime, Broker) {
    let runtime = Runtime::new().unwrap();
    let broker = runtime
        .block_on(Broker::start(BrokerOptions::default()))
        .unwrap();
    broker.store().create("t", 3).unwrap();
    (runtime, broker)
}

fn consumer(bootstrap: &str) -> BaseConsumer {
    let mut config = ClientConfig::new();
    config
        .set("bootstrap.servers", bootstrap)
        .set("group.id", "g")
        .set("auto.offset.reset", "error");
    config.create().unwrap()
}

fn producer(bootstrap: &str) -> BaseProducer {
    ClientConfig::new()
        .set("bootstrap.servers", bootstrap)
        .create()
        .unwrap()
}

#[test]
fn topics_and_offsets() {
    let (_runtime, broker) = broker();
    let bootstrap = broker.bootstrap();
    let producer = producer(&bootstrap);
    for _ in 0..5 {
        producer
            .send(BaseRecord::<(), _>::to("t").partition(1).payload("x"))
            .unwrap();
    }
    producer.flush(TIMEOUT).unwrap();

    let consumer = consumer(&bootstrap);
    let client = consumer.client().native_client();
    let ask = |topic: &str| {
        ask_topic(client, topic, None, TIMEOUT)
            .unwrap()
            .answer(TIMEOUT)
            .unwrap()
    };
    let topic = ask("t").unwrap();
    assert_eq!(topic.partitions, [0, 1, 2]);
    assert!(
        topic.id.is_some() && topic.id == ask("t").unwrap().id,
        "{topic:?}"
    );
    assert_eq!(ask("nothing"), Err(Code::UnknownTopicOrPartition));
    assert_eq!(
        ask_topic(client, "t\0", None, TIMEOUT).err(),
        Some(Code::InvalidTopic)
    );

    let offsets = |end| {
        let question = ask_offsets(
            client,
            "t",
            &[0, 1],
            end,
            IsolationLevel::ReadCommitted,
            TIMEOUT,
        )
        .unwrap();
        question.answer(TIMEOUT).unwrap().unwrap()
    };
    assert_eq!(offsets(End::Low), [(0, Ok(0)), (1, Ok(0))]);
    assert_eq!(offsets(End::High), [(0, Ok(0)), (1, Ok(5))]);

    broker.store().delete("t").unwrap();
    broker.store().create("t", 1).unwrap();
    assert_ne!(
        ask("t").unwrap().id,
        topic.id,
        "another topic of the same name"
    );
}

#[test]
fn a_question_to_nobody_ends_in_time_and_may_be_given_up() {
    let consumer = consumer("127.0.0.1:1");
    let client = consumer.client().native_client();
    let begin = Instant::now();
    let question = ask_topic(client, "t", None, Duration::from_millis(200)).unwrap();
    assert!(question.answer(Duration::ZERO).is_none());
    assert_eq!(
        question.answer(TIMEOUT).unwrap().unwrap_err(),
        Code::OperationTimedOut
    );
    assert!(begin.elapsed() < TIMEOUT / 2);
    drop(ask_topic(client, "t", None, TIMEOUT).unwrap());
}

#[test]
fn headers_have_any_name() {
    let (_runtime, broker) = broker();
    let bootstrap = broker.bootstrap();
    let mut sent = OwnedHeaders::new();
    for (key, value) in [
        ("h", None),
        ("h", Some(&b""[..])),
        ("h", Some(b"\xff")),
        ("X", Some(b"name")),
    ] {
        sent = sent.insert(rdkafka::message::Header { key, value });
    }
    let producer = producer(&bootstrap);
    producer
        .send(
            BaseRecord::<(), _>::to("t")
                .partition(0)
                .payload("x")
                .headers(sent),
        )
        .unwrap();
    producer
        .send(BaseRecord::<(), _>::to("t").partition(0).payload("y"))
        .unwrap();
    producer.flush(TIMEOUT).unwrap();

    let consumer = consumer(&bootstrap);
    let mut partitions = TopicPartitionList::new();
    partitions
        .add_partition_offset("t", 0, Offset::Offset(0))
        .unwrap();
    consumer.assign(&partitions).unwrap();
    let message = consumer.poll(TIMEOUT).unwrap().unwrap();
    // rdkafka sends no such name: it is made here, in the message's own memory.
    let name = headers(&message)[3].name.as_ptr().cast_mut();
    // SAFETY: one byte of librdkafka's copy of the header's name, which nobody else reads meanwhile.
    unsafe { name.write(0xff) };
    let read: Vec<_> = headers(&message)
        .iter()
        .map(|header| (header.name, header.value))
        .collect();
    let want: [(&[u8], Option<&[u8]>); 4] = [
        (b"h", None),
        (b"h", Some(b"")),
        (b"h", Some(b"\xff")),
        (b"\xff", Some(b"name")),
    ];
    assert_eq!(read, want);
    assert_eq!(headers(&consumer.poll(TIMEOUT).unwrap().unwrap()).len(), 0);
}

#[test]
fn ids_are_written_as_kafka_writes_them() {
    for (halves, text) in [
        ((0, 0), None),
        ((0, 1), Some("AAAAAAAAAAAAAAAAAAAAAQ")),
        ((-1, -1), Some("_____________________w")),
    ] {
        assert_eq!(id_text(halves).as_deref(), text, "{halves:?}");
    }
}
