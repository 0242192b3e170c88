//! Requests as Grafana makes them, against a broker in this process.

use std::io::Cursor as Bytes;
use std::time::Instant;

use arrow::ipc::reader::FileReader;
use grafana_plugin_sdk::pluginv2::{DataSourceInstanceSettings, PluginContext};
use rdkafka::ClientConfig;
use rdkafka::producer::{BaseProducer, BaseRecord, Producer};
use serde_json::{Value, json};
use workbench::broker::{Broker, Options};

use super::*;
use crate::config::{Subscription, path};
use crate::perf::PerfFlags;

/// Is what a test looks at in an answer.
struct Seen {
    columns: Vec<String>,
    rows: usize,
    meta: Value,
    display_names: Vec<Option<String>>,
}

fn read(frame: &[u8]) -> Seen {
    let reader = FileReader::try_new(Bytes::new(frame), None).unwrap();
    let schema = reader.schema();
    let config = |field: &arrow::datatypes::Field| -> Option<String> {
        let config: Value = serde_json::from_str(field.metadata().get("config")?).unwrap();
        config["displayNameFromDS"]
            .as_str()
            .or(config["displayName"].as_str())
            .map(str::to_owned)
    };
    Seen {
        columns: schema
            .fields()
            .iter()
            .map(|field| field.name().clone())
            .collect(),
        display_names: schema.fields().iter().map(|field| config(field)).collect(),
        meta: serde_json::from_str(&schema.metadata()["meta"]).unwrap(),
        rows: reader.map(|batch| batch.unwrap().num_rows()).sum(),
    }
}

async fn ask(bootstrap: &str, queries: &[(&str, Value)]) -> HashMap<String, DataResponse> {
    let settings =
        json!({ "bootstrapServers": bootstrap, "topicDeny": ["secret"], "timeout": 1500 });
    let source = DataSourceInstanceSettings {
        uid: "u".into(),
        json_data: settings.to_string().into_bytes(),
        ..DataSourceInstanceSettings::default()
    };
    let context = PluginContext {
        org_id: 1,
        data_source_instance_settings: Some(source),
        ..PluginContext::default()
    };
    let query = |(ref_id, query): &(&str, Value)| DataQuery {
        ref_id: (*ref_id).to_owned(),
        json: query.to_string().into_bytes(),
        ..DataQuery::default()
    };
    let request = QueryDataRequest {
        plugin_context: Some(context),
        queries: queries.iter().map(query).collect(),
        ..QueryDataRequest::default()
    };
    let queries = Queries::new(Arc::new(Instances::new(PerfFlags::default())));
    queries.answer(request).await.responses
}

async fn broker() -> Broker {
    let broker = Broker::start(Options::default()).await.unwrap();
    broker.store().create("t", 2).unwrap();
    let bootstrap = broker.bootstrap();
    let produce = move || {
        let producer: BaseProducer = ClientConfig::new()
            .set("bootstrap.servers", &bootstrap)
            .create()
            .unwrap();
        for i in 0..30 {
            let value = json!({ "i": i }).to_string();
            producer
                .send(
                    BaseRecord::<(), _>::to("t")
                        .partition(i % 2)
                        .payload(&value),
                )
                .unwrap();
        }
        producer.flush(Duration::from_secs(10)).unwrap();
    };
    tokio::task::spawn_blocking(produce).await.unwrap();
    broker
}

fn notices(meta: &Value) -> String {
    meta["notices"].to_string()
}

#[tokio::test]
async fn rows_and_the_way_to_the_rest() {
    let broker = broker().await;
    let earliest = json!({ "topicName": "t", "autoOffsetReset": "earliest" });
    for (query, rows, next, words) in [
        (
            earliest.clone(),
            30,
            json!({ "0": 15, "1": 15 }),
            "the oldest ones of the topic",
        ),
        (
            json!({ "topicName": "t", "autoOffsetReset": "lastN", "lastN": 4 }),
            8,
            json!({ "0": 15, "1": 15 }),
            "the last 4 of each partition",
        ),
        (
            json!({ "topicName": "t", "autoOffsetReset": "lastN", "lastN": 4, "partition": 1 }),
            4,
            json!({ "1": 15 }),
            "the last 4 of each partition",
        ),
        (
            json!({ "topicName": "t", "autoOffsetReset": "earliest", "resumeAt": { "next": { "0": 12, "1": 15 } } }),
            3,
            json!({ "0": 15, "1": 15 }),
            "after the ones that this panel has",
        ),
    ] {
        let answers = ask(&broker.bootstrap(), &[("A", query.clone())]).await;
        let answer = &answers["A"];
        assert_eq!((answer.status, answer.error.as_str()), (200, ""), "{query}");
        let seen = read(&answer.frames[0]);
        assert_eq!(seen.rows, rows, "{query}");
        assert_eq!(
            seen.columns,
            ["time", "partition", "offset", "i"],
            "{query}"
        );
        let live = &seen.meta["custom"]["live"];
        assert_eq!(live["data"]["cursor"]["next"], next, "{query}");
        assert_eq!(
            live["data"]["cursor"]["topicId"],
            seen.meta["custom"]["topicId"]
        );
        assert!(notices(&seen.meta).contains(words), "{}", seen.meta);
        let subscription = Subscription::parse(live["data"].to_string().as_bytes()).unwrap();
        assert_eq!(live["path"], path(&subscription.spec));
        assert!(subscription.spec.nonce.is_some());
    }
    let same = ask(
        &broker.bootstrap(),
        &[("A", earliest.clone()), ("B", earliest)],
    )
    .await;
    let live = |ref_id: &str| read(&same[ref_id].frames[0]).meta["custom"]["live"].clone();
    assert_eq!(live("A")["key"], live("B")["key"]);
    assert_ne!(
        live("A")["path"],
        live("B")["path"],
        "each viewer of old rows has a run of its own"
    );
}

#[tokio::test]
async fn latest_has_no_rows_and_says_so() {
    let broker = broker().await;
    let query = json!({ "topicName": "t", "recordColumns": "never", "alias": "{{topic}}/{{refid}} {{field}}" });
    let answers = ask(&broker.bootstrap(), &[("A", query)]).await;
    let seen = read(&answers["A"].frames[0]);
    assert_eq!(seen.rows, 0);
    assert!(
        notices(&seen.meta).contains("has no rows from before now"),
        "{}",
        seen.meta
    );
    let live = &seen.meta["custom"]["live"];
    assert_eq!(live["path"], live["key"]);
    assert!(seen.meta["custom"]["topicId"].is_string());
    assert!(
        live["data"].get("refId").is_none() && live["data"].get("alias").is_none(),
        "{live}"
    );
    assert!(
        seen.meta.get("channel").is_none(),
        "Grafana would open a stream of its own"
    );
    for (column, name) in seen.columns.iter().zip(&seen.display_names) {
        let is_ours = ["time", "partition", "offset"].contains(&column.as_str());
        let want = (!is_ours).then(|| format!("t/A {column}"));
        assert_eq!(name, &want);
    }
}

#[tokio::test]
async fn what_is_wrong_is_said_in_words() {
    let broker = broker().await;
    let queries = [
        ("empty", json!({})),
        ("list", json!([])),
        ("topic", json!({ "topicName": "nothing" })),
        (
            "rows",
            json!({ "topicName": "nothing", "autoOffsetReset": "earliest" }),
        ),
        ("partition", json!({ "topicName": "t", "partition": 7 })),
        (
            "partition rows",
            json!({ "topicName": "t", "partition": 7, "autoOffsetReset": "lastN" }),
        ),
        ("denied", json!({ "topicName": "secret" })),
        ("good", json!({ "topicName": "t" })),
    ];
    let answers = ask(&broker.bootstrap(), &queries).await;
    for (ref_id, status, words) in [
        ("empty", 400, "choose a topic"),
        ("list", 400, "must be a JSON object"),
        ("topic", 404, "topic nothing not found"),
        ("rows", 404, "topic nothing not found"),
        (
            "partition",
            404,
            "partition 7 of topic t not found: it has partitions 0 to 1",
        ),
        (
            "partition rows",
            404,
            "partition 7 of topic t not found: it has partitions 0 to 1",
        ),
        ("denied", 403, "topic secret is not allowed"),
    ] {
        let answer = &answers[ref_id];
        assert!(answer.error.contains(words), "{ref_id}: {}", answer.error);
        assert_eq!(
            (answer.status, answer.error_source.as_str()),
            (status, "downstream"),
            "{ref_id}"
        );
        assert!(
            answer.frames.is_empty(),
            "{ref_id}: nothing to subscribe to"
        );
    }
    assert_eq!(
        (answers["good"].status, answers.len()),
        (200, queries.len())
    );
    assert_eq!(
        broker.store().topics(),
        ["t"],
        "nobody may create a topic by asking"
    );
}

#[tokio::test]
async fn a_panel_may_subscribe_while_kafka_is_away() {
    let queries = [
        ("A", json!({ "topicName": "t" })),
        ("B", json!({ "topicName": "t", "autoOffsetReset": "lastN" })),
    ];
    let begin = Instant::now();
    let answers = ask("127.0.0.1:1", &queries).await;
    assert!(
        begin.elapsed() < Duration::from_secs(4),
        "asked at the same time: {:?}",
        begin.elapsed()
    );
    for (ref_id, has_nonce) in [("A", false), ("B", true)] {
        let answer = &answers[ref_id];
        assert!(
            answer.error.contains("connection refused at 127.0.0.1:1"),
            "{}",
            answer.error
        );
        assert_eq!(
            (answer.status, answer.error_source.as_str()),
            (502, "downstream")
        );
        let live = read(&answer.frames[0]).meta["custom"]["live"].clone();
        assert_eq!(live["data"].get("nonce").is_some(), has_nonce, "{live}");
        assert!(live["data"].get("cursor").is_none(), "{live}");
    }
}

#[test]
fn aliases() {
    for (alias, field, want) in [
        ("", "a", None),
        ("x", "time", None),
        ("x", "offset", None),
        ("x", "_error", None),
        ("x", "a", Some("x")),
        ("{{field}}", "a", Some("a")),
        (
            "{{topic}} {{partition}} {{refid}} {{field}}",
            "a",
            Some("t all A a"),
        ),
        (
            "{{ field }} {{nope}} {{",
            "a",
            Some("{{ field }} {{nope}} {{"),
        ),
        (
            "{{field}}{{field}}",
            "{{topic}}",
            Some("{{topic}}{{topic}}"),
        ),
    ] {
        assert_eq!(
            display_name(alias, "t", "all", "A", field).as_deref(),
            want,
            "{alias:?}"
        );
    }
}
