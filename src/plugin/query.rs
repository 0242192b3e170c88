//! `QueryData`: what is wrong with a query, the rows that its start position names, and how to subscribe to the rest.

mod answer;
mod wire;
mod words;

use std::collections::HashMap;
use std::hash::{BuildHasher, RandomState};
use std::sync::Arc;
use std::time::{Duration, Instant};

use grafana_plugin_sdk::pluginv2::{DataQuery, QueryDataRequest};
use tokio::task::{JoinSet, spawn_blocking};
use tracing::{debug, error};

use self::answer::{Answer, Fault, display_name, meta};
use self::wire::{DataResponse, QueryDataResponse};
use super::channel::permit;
use super::instance::{Instance, Instances};
use crate::batch::Pacer;
use crate::config::{PanelQuery, PartitionSelection, StartPosition, StreamSpec, key};
use crate::consume::clients::Turn;
use crate::consume::errors::KafkaError;
use crate::consume::scan::{Limits, scan};
use crate::decode;
use crate::drill;
use crate::frame::Notice;
use crate::pipeline::Pipeline;

pub(super) use self::wire::QueryData;

/// Answers `QueryData`.
pub(super) struct Queries {
    instances: Arc<Instances>,
}

impl Queries {
    /// Serves the data sources of `instances`.
    pub(super) fn new(instances: Arc<Instances>) -> Self {
        Self { instances }
    }

    /// Answers all queries of a request at the same time. Each refId has its answer, whatever happens.
    async fn answer(&self, request: QueryDataRequest) -> QueryDataResponse {
        let instance = match self.instances.of(request.plugin_context.as_ref()) {
            Ok(instance) => instance,
            Err(error) => {
                let answer = |query: DataQuery| {
                    (
                        query.ref_id,
                        Answer::from(Fault::settings(error.to_string())).into(),
                    )
                };
                return QueryDataResponse {
                    responses: request.queries.into_iter().map(answer).collect(),
                };
            }
        };
        // Where Grafana gives up, so do the queries that wait for their turn.
        let mut tasks = JoinSet::new();
        let mut ref_ids = HashMap::with_capacity(request.queries.len());
        for DataQuery { ref_id, json, .. } in request.queries {
            let work = tasks.spawn(answer(Arc::clone(&instance), ref_id.clone(), json));
            ref_ids.insert(work.id(), ref_id);
        }
        let mut responses: HashMap<String, DataResponse> = HashMap::with_capacity(ref_ids.len());
        while let Some(done) = tasks.join_next_with_id().await {
            let (task, answer) = done.unwrap_or_else(|stopped| {
                error!("a query panicked: {stopped}");
                let text = "the query stopped over an internal fault, which is in the plugin's log";
                (stopped.id(), Fault::internal(text).into())
            });
            if let Some(ref_id) = ref_ids.remove(&task) {
                responses.insert(ref_id, answer.into());
            }
        }
        QueryDataResponse { responses }
    }
}

async fn answer(instance: Arc<Instance>, ref_id: String, json: Vec<u8>) -> Answer {
    drill::at("QueryData");
    let query = match PanelQuery::parse(&json) {
        Ok(query) => query,
        Err(error) => return Fault::query(error.to_string()).into(),
    };
    if let Err(denied) = permit(&instance.settings.topics, &query.spec.topic) {
        return Fault::denied(denied.to_string()).into();
    }
    if let Err(reason) = decode::check(&query.spec) {
        return Fault::query(reason).into();
    }
    let asked = Asked {
        instance,
        ref_id,
        query,
    };
    let result = match asked.query.spec.start {
        StartPosition::Latest => asked.columns().await,
        StartPosition::Earliest | StartPosition::LastN(_) => asked.rows().await,
    };
    match result {
        Ok(answer) => answer,
        Err(error) => asked.failed(&error),
    }
}

/// Is one query of one request.
#[derive(Clone)]
struct Asked {
    instance: Arc<Instance>,
    ref_id: String,
    query: PanelQuery,
}

impl Asked {
    /// Answers `latest`: whether the topic is there, and the columns that a running stream knows.
    async fn columns(&self) -> Result<Answer, KafkaError> {
        let spec = &self.query.spec;
        let topic = self
            .instance
            .clients
            .describe(&spec.topic, spec.partition)
            .await?;
        Ok(self.show(
            self.pipeline(),
            topic.id.as_deref(),
            Some(spec),
            &[words::latest()],
        ))
    }

    /// Answers with the rows of the start position, and a stream that goes on behind them.
    async fn rows(&self) -> Result<Answer, KafkaError> {
        let turn = self.instance.clients.turn().await?;
        let asked = self.clone();
        // A thread cannot be stopped: it sees that nobody waits for it, and lets the next one have its turn.
        let interest = Arc::new(());
        let wanted = Arc::downgrade(&interest);
        let read = move || asked.read(turn, &|| wanted.strong_count() > 0);
        match spawn_blocking(read).await {
            Ok(result) => result,
            Err(stopped) => std::panic::resume_unwind(stopped.into_panic()),
        }
    }

    fn read(&self, turn: Turn, is_wanted: &dyn Fn() -> bool) -> Result<Answer, KafkaError> {
        let PanelQuery {
            spec, resume_at, ..
        } = &self.query;
        let clients = self.instance.clients.scanner(spec.isolation);
        let client = clients.make_for(turn)?;
        let mut pipeline = self.pipeline();
        let limits = Limits {
            look: self.instance.settings.timeout.min(LIMITS.look),
            is_wanted,
            ..LIMITS
        };
        let scanned = scan(
            &client,
            clients.bootstrap(),
            spec,
            resume_at.as_ref(),
            &mut pipeline,
            &self.instance.schema_client(),
            &limits,
        );
        let scanned = scanned.inspect_err(|error| clients.login().failed(error, Instant::now()))?;
        let notices = words::of_rows(spec, resume_at.is_some(), &scanned, &limits);
        let topic_id = scanned.cursor.topic_id.clone();
        let live = StreamSpec {
            cursor: Some(scanned.cursor),
            nonce: Some(nonce()),
            ..spec.clone()
        };
        Ok(self.show(pipeline, topic_id.as_deref(), Some(&live), &notices))
    }

    /// Says what Kafka said. Unless the query names what is not there, the panel may subscribe all the same: the run
    /// tries again, and finds its start itself.
    fn failed(&self, error: &KafkaError) -> Answer {
        // Grafana asks for each panel again and again: the panel says it.
        debug!(topic = self.query.spec.topic.as_str(), "query: {error}");
        let fault = Some(Fault::from(error));
        if error.is_about_topic() {
            return Answer { frame: None, fault };
        }
        let nonce = (self.query.spec.start != StartPosition::Latest).then(nonce);
        let live = StreamSpec {
            nonce,
            ..self.query.spec.clone()
        };
        Answer {
            fault,
            ..self.show(self.pipeline(), None, Some(&live), &[])
        }
    }

    /// Makes a pipeline whose columns are those of the stream that this query may have running.
    fn pipeline(&self) -> Pipeline {
        let spec = &self.query.spec;
        let schema = self.instance.schemas.of(key(spec));
        Pipeline::new(
            Arc::new(spec.clone()),
            self.instance.settings.flatten,
            schema,
            Pacer::off(),
            self.instance.flags,
            self.instance.compiled.clone(),
        )
    }

    fn show(
        &self,
        pipeline: Pipeline,
        topic_id: Option<&str>,
        live: Option<&StreamSpec>,
        notices: &[Notice],
    ) -> Answer {
        let PanelQuery { spec, alias, .. } = &self.query;
        let topic = spec.topic.as_str();
        let partition = match spec.partition {
            PartitionSelection::All => "all".to_owned(),
            PartitionSelection::One(partition) => partition.to_string(),
        };
        let display_name =
            |field: &str| display_name(alias, topic, &partition, &self.ref_id, field);
        let meta = meta(topic_id, live, notices);
        let frame = pipeline
            .into_frame()
            .to_arrow_file(topic, &self.ref_id, &meta, &display_name);
        Answer {
            frame: Some(frame),
            fault: None,
        }
    }
}

/// Gives a text that no other call gives: it keeps two runs apart.
pub(super) fn nonce() -> String {
    format!(
        "{:016x}",
        RandomState::new().hash_one(std::time::SystemTime::now())
    )
}

/// What one answer may take.
const LIMITS: Limits<'_> = Limits {
    rows: 10_000,
    bytes: 8 << 20,
    time: Duration::from_secs(5),
    look: Duration::from_secs(5),
    is_wanted: &|| true,
};

#[cfg(test)]
mod tests;
