//! The three calls as Grafana makes them, against a broker in this process.

use std::time::Duration;

use grafana_plugin_sdk::pluginv2::{DataSourceInstanceSettings, PluginContext};
use rdkafka::ClientConfig;
use rdkafka::producer::{BaseProducer, BaseRecord, Producer};
use serde_json::{Value, json};
use tokio::time::timeout;
use workbench::broker::{Broker, Options};

use super::*;
use crate::config::{PanelQuery, data, path};

fn context(bootstrap: &str) -> PluginContext {
    let json = json!({ "bootstrapServers": bootstrap, "topicDeny": ["secret"] });
    let source = DataSourceInstanceSettings {
        uid: "u".into(),
        json_data: json.to_string().into_bytes(),
        ..DataSourceInstanceSettings::default()
    };
    PluginContext {
        org_id: 1,
        data_source_instance_settings: Some(source),
        ..PluginContext::default()
    }
}

fn spec(query: &Value) -> StreamSpec {
    PanelQuery::parse(query.to_string().as_bytes())
        .unwrap()
        .spec
}

fn streams() -> Streams {
    Streams::new(Arc::new(Instances::new(PerfFlags::default())))
}

fn produce(bootstrap: &str, topic: &str, values: &[&str]) {
    let producer: BaseProducer = ClientConfig::new()
        .set("bootstrap.servers", bootstrap)
        .create()
        .unwrap();
    for value in values {
        producer
            .send(BaseRecord::<(), _>::to(topic).partition(0).payload(*value))
            .unwrap();
    }
    producer.flush(Duration::from_secs(10)).unwrap();
}

/// Nothing listens at the address: a subscription never waits for Kafka.
#[tokio::test]
async fn who_may_subscribe() {
    let streams = streams();
    let context = || Some(context("127.0.0.1:1"));
    let orders = spec(&json!({ "topicName": "orders" }));
    let other = spec(&json!({ "topicName": "orders", "partition": 1 }));
    let secret = spec(&json!({ "topicName": "secret" }));
    for (path, data, want) in [
        (
            path(&orders),
            data(&orders).to_string(),
            SubscribeStatus::Ok,
        ),
        (
            path(&orders),
            data(&other).to_string(),
            SubscribeStatus::PermissionDenied,
        ),
        (
            path(&secret),
            data(&secret).to_string(),
            SubscribeStatus::PermissionDenied,
        ),
        (
            path(&orders),
            String::new(),
            SubscribeStatus::PermissionDenied,
        ),
        (
            path(&orders),
            "{".to_owned(),
            SubscribeStatus::PermissionDenied,
        ),
    ] {
        let request = SubscribeStreamRequest {
            plugin_context: context(),
            path: path.clone(),
            data: data.clone().into_bytes().into(),
        };
        let answer = streams
            .subscribe_stream(Request::new(request))
            .await
            .unwrap()
            .into_inner();
        assert_eq!(answer.status(), want, "{path} {data}");
        assert!(answer.data.is_empty());

        let run = RunStreamRequest {
            plugin_context: context(),
            path,
            data: data.clone().into_bytes().into(),
        };
        // A run of a topic that is denied says so: whoever was there before is told.
        let runs = streams.run_stream(Request::new(run)).await.is_ok();
        let has_stream = want == SubscribeStatus::Ok || data.contains("secret");
        assert_eq!(runs, has_stream, "{data}");
    }
    let publish = PublishStreamRequest {
        plugin_context: context(),
        path: path(&orders),
        data: b"{}".to_vec(),
    };
    let answer = streams
        .publish_stream(Request::new(publish))
        .await
        .unwrap()
        .into_inner();
    assert_eq!(answer.status(), PublishStatus::PermissionDenied);
}

#[tokio::test]
async fn settings_that_end_a_run_are_said_in_it() {
    let streams = streams();
    for (topic, bootstrap, words) in [
        ("secret", "127.0.0.1:1", "topicAllow"),
        ("orders", "", "bootstrapServers"),
    ] {
        let spec = spec(&json!({ "topicName": topic }));
        let request = RunStreamRequest {
            plugin_context: Some(context(bootstrap)),
            path: path(&spec),
            data: data(&spec).to_string().into_bytes().into(),
        };
        let mut packets = streams
            .run_stream(Request::new(request))
            .await
            .unwrap()
            .into_inner();
        let packet = packets.next().await.unwrap().unwrap();
        let frame: Value = serde_json::from_slice(&packet.data).unwrap();
        let error = &frame["data"]["values"].as_array().unwrap().last().unwrap()[0];
        assert!(error.as_str().unwrap().contains(words), "{frame}");
        // It goes on: Grafana would start it again.
        let more = timeout(Duration::from_millis(50), packets.next()).await;
        assert!(more.is_err());
    }
}

#[tokio::test]
async fn a_run_brings_rows_until_it_is_dropped() {
    let broker = Broker::start(Options::default()).await.unwrap();
    broker.store().create("t", 1).unwrap();
    let bootstrap = broker.bootstrap();
    let asked = bootstrap.clone();
    tokio::task::spawn_blocking(move || produce(&asked, "t", &[r#"{"a":1}"#, "{", r#"{"a":2}"#]))
        .await
        .unwrap();

    let streams = streams();
    let spec = spec(&json!({ "topicName": "t", "autoOffsetReset": "earliest" }));
    let request = RunStreamRequest {
        plugin_context: Some(context(&bootstrap)),
        path: path(&spec),
        data: data(&spec).to_string().into_bytes().into(),
    };
    let mut packets = streams
        .run_stream(Request::new(request))
        .await
        .unwrap()
        .into_inner();
    let mut rows = 0;
    let mut errors = Vec::new();
    while rows < 3 {
        let packet = timeout(Duration::from_secs(10), packets.next())
            .await
            .unwrap()
            .unwrap()
            .unwrap();
        let packet: Value = serde_json::from_slice(&packet.data).unwrap();
        assert_eq!(packet["schema"]["name"], "t");
        assert!(
            packet["schema"]["meta"]["custom"]["topicId"].is_string(),
            "{packet}"
        );
        let values = packet["data"]["values"].as_array().unwrap();
        rows += values[0].as_array().unwrap().len();
        let fields = packet["schema"]["fields"].as_array().unwrap();
        if let Some(at) = fields.iter().position(|field| field["name"] == "_error") {
            errors.extend(
                values[at]
                    .as_array()
                    .unwrap()
                    .iter()
                    .filter_map(Value::as_str)
                    .map(str::to_owned),
            );
        }
    }
    assert_eq!((rows, errors.len()), (3, 1), "{errors:?}");
}
