//! A plugin process and one data source.

use std::collections::HashMap;
use std::path::PathBuf;

use anyhow::{Context, Result, ensure};
use real_kafka::{Kafka, Listener};
use serde_json::{Value, json};
use workbench::host::proto::{StreamStatus, TimeRange};
use workbench::host::{DataSource, Options, Plugin, Query, Resource};

use super::{Answer, Live, Run};

/// A plugin process of the test's own, with one data source.
pub(crate) struct Host {
    pub(crate) plugin: Plugin,
    pub(crate) source: DataSource,
}

impl Host {
    /// Starts the plugin with a data source on the shared broker.
    pub(crate) async fn shared() -> Result<Host> {
        Host::on(Kafka::shared(), json!({})).await
    }

    /// Starts the plugin with a data source on a broker's plaintext listener, `settings` on top.
    pub(crate) async fn on(kafka: &Kafka, settings: Value) -> Result<Host> {
        Host::with(settings_for(kafka, Listener::Plaintext, settings), &[]).await
    }

    /// Starts the plugin with a data source of these settings and secrets.
    pub(crate) async fn with(settings: Value, secrets: &[(&str, &str)]) -> Result<Host> {
        Host::start(settings, secrets, Options::default()).await
    }

    /// Starts the plugin with these variables, and a data source on a broker's plaintext listener, `settings` on top.
    pub(crate) async fn with_env(
        kafka: &Kafka,
        settings: Value,
        env: &[(&str, &str)],
    ) -> Result<Host> {
        let env = env
            .iter()
            .map(|(name, value)| ((*name).to_owned(), (*value).to_owned()));
        let options = Options {
            env: env.collect(),
            ..Options::default()
        };
        Host::start(
            settings_for(kafka, Listener::Plaintext, settings),
            &[],
            options,
        )
        .await
    }

    async fn start(settings: Value, secrets: &[(&str, &str)], options: Options) -> Result<Host> {
        let source = DataSource::new("kafka", settings);
        let source = secrets
            .iter()
            .fold(source, |source, (key, value)| source.secret(key, value));
        Ok(Host {
            plugin: Plugin::start(&executable(), options).await?,
            source,
        })
    }

    /// Starts the plugin as `bob`, who has only the rights that a test gives him.
    pub(crate) async fn as_bob(kafka: &Kafka) -> Result<Host> {
        let user =
            json!({"saslMechanisms": "PLAIN", "saslUsername": "bob", "metadataInterval": 1000});
        Host::with(
            settings_for(kafka, Listener::Sasl, user),
            &[("saslPassword", "bob-secret")],
        )
        .await
    }

    /// Asks `QueryData` one query.
    pub(crate) async fn query(&self, model: Value) -> Result<Answer> {
        let queries = [Query::new("A", model)];
        let range = TimeRange {
            from_epoch_ms: 0,
            to_epoch_ms: 4_000_000_000_000,
        };
        let mut answer = self
            .plugin
            .query_data(&self.source, range, &queries, HashMap::new())
            .await?;
        Answer::read(answer.responses.remove("A").context("no answer for A")?)
    }

    /// Subscribes to a channel and runs it.
    pub(crate) async fn run(&self, live: &Live) -> Result<Run> {
        let data = live.data.to_string();
        let (status, initial) = self
            .plugin
            .subscribe_stream(&self.source, &live.path, data.as_bytes())
            .await?;
        ensure!(status == StreamStatus::Ok, "SubscribeStream: {status:?}");
        ensure!(
            initial.is_empty(),
            "initial data: {}",
            String::from_utf8_lossy(&initial)
        );
        Ok(Run::new(
            self.plugin
                .run_stream(&self.source, &live.path, data.as_bytes())
                .await?,
        ))
    }

    /// Asks `QueryData`, then runs the channel that it names: as a panel does.
    pub(crate) async fn watch(&self, model: Value) -> Result<(Answer, Run)> {
        let answer = self.query(model).await?;
        let run = self.run(answer.live()?).await?;
        Ok((answer, run))
    }

    /// Calls a resource with GET.
    pub(crate) async fn get(&self, url: &str) -> Result<Resource> {
        Ok(self
            .plugin
            .call_resource(&self.source, "GET", url, b"")
            .await?)
    }

    /// Calls a resource with POST and JSON.
    pub(crate) async fn post(&self, url: &str, body: &Value) -> Result<Resource> {
        let body = body.to_string();
        Ok(self
            .plugin
            .call_resource(&self.source, "POST", url, body.as_bytes())
            .await?)
    }

    /// Returns the process's memory: now and at its peak, in bytes.
    pub(crate) fn memory(&self) -> Result<(u64, u64)> {
        let status = std::fs::read_to_string(format!("/proc/{}/status", self.plugin.pid()))?;
        let field = |name: &str| -> Result<u64> {
            let line = status
                .lines()
                .find_map(|line| line.strip_prefix(name))
                .context("no such line")?;
            Ok(line.trim().trim_end_matches(" kB").parse::<u64>()? * 1024)
        };
        Ok((field("VmRSS:")?, field("VmHWM:")?))
    }
}

/// Returns a JSON query from the earliest record, with changed or added keys.
pub(crate) fn query(topic: &str, keys: Value) -> Value {
    merged(
        json!({"refId": "A", "topicName": topic, "autoOffsetReset": "earliest", "messageFormat": "json"}),
        keys,
    )
}

/// Returns the settings of a data source on a listener, with changed or added keys.
pub(crate) fn settings_for(kafka: &Kafka, listener: Listener, keys: Value) -> Value {
    let own = json!({"bootstrapServers": kafka.address(listener), "securityProtocol": listener.protocol()});
    merged(own, keys)
}

fn merged(mut own: Value, keys: Value) -> Value {
    if let (Value::Object(own), Value::Object(keys)) = (&mut own, keys) {
        own.extend(keys);
    }
    own
}

fn executable() -> PathBuf {
    std::env::var_os("GPX_STREAMSCOPE")
        .map_or_else(|| env!("CARGO_BIN_EXE_gpx_streamscope").into(), Into::into)
}
