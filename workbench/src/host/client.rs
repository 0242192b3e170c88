//! Calls of Grafana's plugin protocol over one connection.

use std::collections::HashMap;
use std::path::Path;

use hyper_util::rt::TokioIo;
use serde_json::Value;
use tokio::net::UnixStream;
use tonic::client::Grpc;
use tonic::codec::ProstCodec;
use tonic::codegen::http::uri::PathAndQuery;
use tonic::transport::{Channel, Endpoint, Uri};
use tonic::{Request, Status, Streaming};

use super::proto::{
    CallResourceRequest, CallResourceResponse, CheckHealthRequest, CheckHealthResponse,
    CollectMetricsRequest, CollectMetricsResponse, DataQuery, Empty, HealthCheckRequest,
    HealthCheckResponse, HealthStatus, PluginContext, QueryDataRequest, QueryDataResponse,
    StreamPacket, StreamRequest, StreamResponse, StreamStatus, StringList, TimeRange,
};

/// A connection to a plugin process. Clones share it.
#[derive(Clone, Debug)]
pub struct Client {
    channel: Channel,
}

/// The answer of a health check.
#[derive(Clone, Debug)]
pub struct Health {
    pub status: HealthStatus,
    pub message: String,
    /// `null` where the plugin sent none.
    pub details: Value,
}

/// An HTTP-like answer of a resource call.
#[derive(Clone, Debug)]
pub struct Resource {
    pub status: i32,
    pub headers: Vec<(String, String)>,
    pub body: Vec<u8>,
}

impl Resource {
    /// Reads the body as JSON; `null` where it is none.
    pub fn json(&self) -> Value {
        serde_json::from_slice(&self.body).unwrap_or_default()
    }
}

/// The packets of one run. Dropping it cancels the run.
#[derive(Debug)]
pub struct Packets(Streaming<StreamPacket>);

impl Packets {
    /// Waits for the next packet. `Ok(None)`: the plugin ended the run without an error.
    pub async fn next(&mut self) -> Result<Option<Vec<u8>>, Status> {
        Ok(self.0.message().await?.map(|packet| packet.data))
    }
}

/// One target of a panel.
#[derive(Clone, Debug)]
pub struct Query {
    pub ref_id: String,
    pub model: Value,
    pub max_data_points: i64,
    pub interval_ms: i64,
    pub query_type: String,
}

impl Query {
    /// Makes a query with the numbers of an ordinary panel.
    pub fn new(ref_id: &str, model: Value) -> Query {
        Query {
            ref_id: ref_id.into(),
            model,
            max_data_points: 500,
            interval_ms: 1_000,
            query_type: String::new(),
        }
    }
}

impl Client {
    /// Connects to a plugin's socket.
    pub async fn connect(socket: &Path) -> Result<Client, tonic::transport::Error> {
        let socket = socket.to_path_buf();
        // The address is not used: the connector below ignores it.
        let channel = Endpoint::from_static("http://plugin.invalid")
            .connect_with_connector(tower::service_fn(move |_: Uri| {
                let socket = socket.clone();
                async move { UnixStream::connect(socket).await.map(TokioIo::new) }
            }))
            .await?;
        Ok(Client { channel })
    }

    /// Asks go-plugin's health service for `plugin`; true means SERVING.
    pub async fn ping(&self) -> Result<bool, Status> {
        let request = HealthCheckRequest {
            service: "plugin".into(),
        };
        let answer: HealthCheckResponse =
            self.unary("/grpc.health.v1.Health/Check", request).await?;
        Ok(answer.status == 1)
    }

    /// Asks the process to end.
    pub async fn shutdown(&self) -> Result<(), Status> {
        let _: Empty = self
            .unary("/plugin.GRPCController/Shutdown", Empty {})
            .await?;
        Ok(())
    }

    /// Checks a data source, as *Save & test* does.
    pub async fn check_health(&self, context: impl Into<PluginContext>) -> Result<Health, Status> {
        let request = CheckHealthRequest {
            plugin_context: Some(context.into()),
        };
        let answer: CheckHealthResponse = self
            .unary("/pluginv2.Diagnostics/CheckHealth", request)
            .await?;
        Ok(Health {
            status: answer.status(),
            message: answer.message,
            details: serde_json::from_slice(&answer.json_details).unwrap_or_default(),
        })
    }

    /// Reads the plugin's metrics in Prometheus text format.
    pub async fn collect_metrics(&self) -> Result<String, Status> {
        let request = CollectMetricsRequest {
            plugin_context: None,
        };
        let answer: CollectMetricsResponse = self
            .unary("/pluginv2.Diagnostics/CollectMetrics", request)
            .await?;
        let bytes = answer
            .metrics
            .map(|metrics| metrics.prometheus)
            .unwrap_or_default();
        Ok(String::from_utf8_lossy(&bytes).into_owned())
    }

    /// Calls a resource: `url` is the path below `resources/`, with its query (`topics?search=a`).
    pub async fn call_resource(
        &self,
        context: impl Into<PluginContext>,
        method: &str,
        url: &str,
        body: &[u8],
    ) -> Result<Resource, Status> {
        let path = url.split_once('?').map_or(url, |(path, _)| path);
        let request = CallResourceRequest {
            plugin_context: Some(context.into()),
            path: path.into(),
            method: method.into(),
            url: url.into(),
            headers: HashMap::new(),
            body: body.to_vec(),
        };
        let mut chunks: Streaming<CallResourceResponse> = self
            .streaming("/pluginv2.Resource/CallResource", request)
            .await?;
        let first = chunks
            .message()
            .await?
            .ok_or_else(|| Status::internal("the plugin answered a resource call with nothing"))?;
        let mut answer = Resource {
            status: first.code,
            headers: flat_headers(first.headers),
            body: first.body,
        };
        while let Some(chunk) = chunks.message().await? {
            answer.body.extend_from_slice(&chunk.body);
        }
        Ok(answer)
    }

    /// Runs the queries of one panel over one time range.
    pub async fn query_data(
        &self,
        context: impl Into<PluginContext>,
        range: TimeRange,
        queries: &[Query],
        headers: HashMap<String, String>,
    ) -> Result<QueryDataResponse, Status> {
        let request = QueryDataRequest {
            plugin_context: Some(context.into()),
            headers,
            queries: queries
                .iter()
                .map(|query| DataQuery {
                    ref_id: query.ref_id.clone(),
                    max_data_points: query.max_data_points,
                    interval_ms: query.interval_ms,
                    time_range: Some(range),
                    json: query.model.to_string().into_bytes(),
                    query_type: query.query_type.clone(),
                })
                .collect(),
        };
        self.unary("/pluginv2.Data/QueryData", request).await
    }

    /// Asks whether a viewer may follow a channel; the second part is the initial data.
    pub async fn subscribe_stream(
        &self,
        context: impl Into<PluginContext>,
        path: &str,
        data: &[u8],
    ) -> Result<(StreamStatus, Vec<u8>), Status> {
        let request = stream_request(context, path, data);
        let answer: StreamResponse = self
            .unary("/pluginv2.Stream/SubscribeStream", request)
            .await?;
        Ok((answer.status(), answer.data))
    }

    /// Publishes into a channel, as a viewer.
    pub async fn publish_stream(
        &self,
        context: impl Into<PluginContext>,
        path: &str,
        data: &[u8],
    ) -> Result<StreamStatus, Status> {
        let request = stream_request(context, path, data);
        let answer: StreamResponse = self
            .unary("/pluginv2.Stream/PublishStream", request)
            .await?;
        Ok(answer.status())
    }

    /// Runs a channel.
    pub async fn run_stream(
        &self,
        context: impl Into<PluginContext>,
        path: &str,
        data: &[u8],
    ) -> Result<Packets, Status> {
        let request = stream_request(context, path, data);
        self.streaming("/pluginv2.Stream/RunStream", request)
            .await
            .map(Packets)
    }

    async fn unary<Q, A>(&self, path: &'static str, message: Q) -> Result<A, Status>
    where
        Q: prost::Message + 'static,
        A: prost::Message + Default + 'static,
    {
        let mut grpc = self.grpc().await?;
        let codec = ProstCodec::<Q, A>::default();
        grpc.unary(
            Request::new(message),
            PathAndQuery::from_static(path),
            codec,
        )
        .await
        .map(tonic::Response::into_inner)
    }

    async fn streaming<Q, A>(&self, path: &'static str, message: Q) -> Result<Streaming<A>, Status>
    where
        Q: prost::Message + 'static,
        A: prost::Message + Default + 'static,
    {
        let mut grpc = self.grpc().await?;
        let codec = ProstCodec::<Q, A>::default();
        grpc.server_streaming(
            Request::new(message),
            PathAndQuery::from_static(path),
            codec,
        )
        .await
        .map(tonic::Response::into_inner)
    }

    /// No limit on what is received: go-plugin's is the largest that gRPC has.
    async fn grpc(&self) -> Result<Grpc<Channel>, Status> {
        let mut grpc = Grpc::new(self.channel.clone()).max_decoding_message_size(usize::MAX);
        grpc.ready().await.map_err(|error| {
            Status::unavailable(format!("no connection to the plugin: {error}"))
        })?;
        Ok(grpc)
    }
}

fn stream_request(context: impl Into<PluginContext>, path: &str, data: &[u8]) -> StreamRequest {
    StreamRequest {
        plugin_context: Some(context.into()),
        path: path.into(),
        data: data.to_vec(),
        headers: HashMap::new(),
    }
}

fn flat_headers(headers: HashMap<String, StringList>) -> Vec<(String, String)> {
    headers
        .into_iter()
        .flat_map(|(name, list)| {
            list.values
                .into_iter()
                .map(move |value| (name.clone(), value))
        })
        .collect()
}
