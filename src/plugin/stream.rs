//! `SubscribeStream`, `PublishStream` and `RunStream`: live channels.

use std::pin::Pin;
use std::sync::Arc;
use std::time::Duration;

use futures_util::{StreamExt, stream};
use grafana_plugin_sdk::pluginv2::publish_stream_response::Status as PublishStatus;
use grafana_plugin_sdk::pluginv2::stream_server::Stream;
use grafana_plugin_sdk::pluginv2::subscribe_stream_response::Status as SubscribeStatus;
use grafana_plugin_sdk::pluginv2::{
    PublishStreamRequest, PublishStreamResponse, RunStreamRequest, StreamPacket,
    SubscribeStreamRequest, SubscribeStreamResponse,
};
use tonic::{Request, Response, Status};
use tracing::{error, info};

use super::channel::{Refusal, admit};
use super::instance::{Instance, Instances};
use super::query::nonce;
use crate::batch::Pacer;
use crate::columns::StreamSchema;
use crate::config::{FlattenLimits, StreamSpec, Subscription, key};
use crate::consume::clock::now;
use crate::consume::reader::{Packets, Panicked, Reader};
use crate::decode::SchemaCache;
use crate::drill;
use crate::frame::Packet;
use crate::perf::PerfFlags;
use crate::pipeline::{ErrorAt, Pipeline};
use crate::record::Now;

/// Answers the calls about live channels.
pub(super) struct Streams {
    instances: Arc<Instances>,
}

impl Streams {
    /// Serves the data sources of `instances`.
    pub(super) fn new(instances: Arc<Instances>) -> Self {
        Self { instances }
    }
}

#[tonic::async_trait]
impl Stream for Streams {
    type RunStreamStream = Messages;

    /// Says whether a browser may have a channel. Kafka is not asked: a refusal is final in the browser, while a broker
    /// may come back, and a run says in its rows what is wrong.
    async fn subscribe_stream(
        &self,
        request: Request<SubscribeStreamRequest>,
    ) -> Result<Response<SubscribeStreamResponse>, Status> {
        let request = request.into_inner();
        let instance = self.instances.of(request.plugin_context.as_ref())?;
        let status = match admit(&instance.settings.topics, &request.path, &request.data) {
            Ok(_) => SubscribeStatus::Ok,
            Err(refusal) => {
                info!(
                    path = request.path.as_str(),
                    "subscription refused: {refusal}"
                );
                SubscribeStatus::PermissionDenied
            }
        };
        // A viewer gets columns and rows from the answer to its query, and packets with both from now on.
        Ok(Response::new(SubscribeStreamResponse {
            status: status.into(),
            data: Vec::new(),
        }))
    }

    /// Refuses: nothing is ever written to Kafka.
    async fn publish_stream(
        &self,
        _: Request<PublishStreamRequest>,
    ) -> Result<Response<PublishStreamResponse>, Status> {
        let status = PublishStatus::PermissionDenied.into();
        Ok(Response::new(PublishStreamResponse {
            status,
            data: Vec::new(),
        }))
    }

    /// Runs a channel until Grafana drops the answer.
    async fn run_stream(
        &self,
        request: Request<RunStreamRequest>,
    ) -> Result<Response<Self::RunStreamStream>, Status> {
        let request = request.into_inner();
        // Where new settings end a stream that has viewers, they are told.
        let instance = match self.instances.of(request.plugin_context.as_ref()) {
            Ok(instance) => instance,
            Err(error) => {
                return said(&request.data, &error.to_string()).ok_or_else(|| error.into());
            }
        };
        let spec = match admit(&instance.settings.topics, &request.path, &request.data) {
            Ok(spec) => spec,
            Err(Refusal::Topic(denied)) => {
                let text = denied.to_string();
                return said(&request.data, &text).ok_or_else(|| Status::permission_denied(text));
            }
            Err(refusal @ Refusal::Query(_)) => {
                return Err(Status::invalid_argument(refusal.to_string()));
            }
            Err(refusal @ Refusal::Path) => {
                return Err(Status::permission_denied(refusal.to_string()));
            }
        };
        let mut packets = start(&instance, spec).map_err(|error| {
            error!("no thread for a stream: {error}");
            Status::resource_exhausted("the plugin cannot start another thread")
        })?;
        let messages = stream::poll_fn(move |context| packets.poll_recv(context))
            .flat_map(|group| stream::iter(messages(group)));
        Ok(Response::new(Box::pin(messages)))
    }
}

type Messages = Pin<Box<dyn tokio_stream::Stream<Item = Result<StreamPacket, Status>> + Send>>;

/// Makes a stream that says why it brings nothing, and goes on: over an error Grafana would start it anew for ever, and tell no
/// viewer why. `None` where `data` is no query.
fn said(data: &[u8], text: &str) -> Option<Response<Messages>> {
    let Subscription { spec } = Subscription::parse(data).ok()?;
    let flags = PerfFlags::default();
    let mut pipeline = Pipeline::new(
        Arc::new(spec),
        FlattenLimits::default(),
        Arc::new(StreamSchema::new()),
        Pacer::off(),
        flags,
        SchemaCache::new(&flags),
    );
    let now = now();
    pipeline.push_error(ErrorAt::default(), text, now);
    // By then the row is due.
    let packet = pipeline.poll_packet(Now {
        monotonic: now.monotonic + Duration::from_secs(1),
        ..now
    })?;
    let messages = stream::iter([Ok(message(packet))]).chain(stream::pending());
    Some(Response::new(Box::pin(messages)))
}

/// Gives what Grafana gets. An error makes it start the stream anew.
fn messages(group: Result<Vec<Packet>, Panicked>) -> Vec<Result<StreamPacket, Status>> {
    drill::at("RunStream");
    match group {
        Ok(packets) => packets.into_iter().map(message).map(Ok).collect(),
        Err(panicked) => vec![Err(Status::internal(panicked.to_string()))],
    }
}

fn message(packet: Packet) -> StreamPacket {
    StreamPacket { data: packet.json }
}

fn start(instance: &Instance, spec: StreamSpec) -> std::io::Result<Packets> {
    let schema = instance.schemas.of(key(&spec));
    let spec = Arc::new(spec);
    let pacer = pacer(&spec, instance);
    let mut pipeline = Pipeline::new(
        Arc::clone(&spec),
        instance.settings.flatten,
        schema,
        pacer,
        instance.flags,
        instance.compiled.clone(),
    );
    pipeline.run_id(&nonce());
    let reader = Reader {
        clients: instance.clients.reader(spec.isolation),
        pipeline,
        spec,
        schemas: instance.schema_client(),
        metadata_interval: instance.settings.metadata_interval,
    };
    reader.start()
}

/// Gives the channel's budget: none where the query, or the flag for plain behaviour, takes it off.
fn pacer(spec: &StreamSpec, instance: &Instance) -> Pacer {
    let PerfFlags {
        disable_stream_microbatch: is_plain,
        ..
    } = instance.flags;
    if spec.pacing && !is_plain {
        Pacer::new(Arc::clone(&instance.budget))
    } else {
        Pacer::off()
    }
}

#[cfg(test)]
mod tests;
