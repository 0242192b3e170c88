//! The four services of the fake plugin.

use std::collections::HashMap;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use futures_util::StreamExt as _;
use futures_util::stream::{self, BoxStream};
use grafana_plugin_sdk::pluginv2::{
    CallResourceRequest, CallResourceResponse, CheckHealthRequest, CheckHealthResponse,
    CollectMetricsRequest, CollectMetricsResponse, DataResponse, PluginContext,
    PublishStreamRequest, PublishStreamResponse, QueryDataRequest, QueryDataResponse,
    RunStreamRequest, StreamPacket, StringList, SubscribeStreamRequest, SubscribeStreamResponse,
    collect_metrics_response::Payload, data_server::Data, diagnostics_server::Diagnostics,
    resource_server::Resource, stream_server::Stream,
};
use serde_json::{Value, json};
use tonic::{Request, Response, Status, async_trait};

/// Counts the runs of its channels.
#[derive(Clone, Default)]
pub(crate) struct Services {
    runs: Arc<AtomicU64>,
}

#[async_trait]
impl Diagnostics for Services {
    /// OK where the settings say `ok: true`.
    async fn check_health(
        &self,
        request: Request<CheckHealthRequest>,
    ) -> Result<Response<CheckHealthResponse>, Status> {
        let context = request.into_inner().plugin_context;
        let settings = settings(context.as_ref());
        let ok = settings["ok"] == true;
        Ok(Response::new(CheckHealthResponse {
            status: if ok { 1 } else { 2 },
            message: if ok { "fine" } else { "not fine" }.into(),
            json_details: json!({"settings": settings}).to_string().into_bytes(),
        }))
    }

    async fn collect_metrics(
        &self,
        _: Request<CollectMetricsRequest>,
    ) -> Result<Response<CollectMetricsResponse>, Status> {
        let runs = format!("fake_runs {}\n", self.runs.load(Ordering::Relaxed));
        let metrics = Some(Payload {
            prometheus: runs.into_bytes(),
        });
        Ok(Response::new(CollectMetricsResponse { metrics }))
    }
}

#[async_trait]
impl Resource for Services {
    type CallResourceStream = BoxStream<'static, Result<CallResourceResponse, Status>>;

    /// `echo` says what came, in two chunks; `crash` ends the process; anything else is a 404.
    async fn call_resource(
        &self,
        request: Request<CallResourceRequest>,
    ) -> Result<Response<Self::CallResourceStream>, Status> {
        let call = request.into_inner();
        let (code, body) = match &*call.path {
            "crash" => std::process::exit(3),
            "echo" => (200, echo(&call)),
            _ => (404, json!({"error": "Not found"})),
        };
        let body = body.to_string();
        let (first, second) = body.split_at(body.len() / 2);
        let json = StringList {
            values: vec!["application/json".into()],
        };
        let chunks = [
            CallResourceResponse {
                code,
                headers: HashMap::from([("Content-Type".into(), json)]),
                body: first.to_owned().into(),
            },
            CallResourceResponse {
                body: second.to_owned().into(),
                ..Default::default()
            },
        ];
        Ok(Response::new(stream::iter(chunks.map(Ok)).boxed()))
    }
}

#[async_trait]
impl Data for Services {
    /// Gives each query the answer that it holds: `{"error", "status"}`; none where `silent` is true.
    async fn query_data(
        &self,
        request: Request<QueryDataRequest>,
    ) -> Result<Response<QueryDataResponse>, Status> {
        let mut answer = QueryDataResponse::default();
        for query in request.into_inner().queries {
            let model: Value = serde_json::from_slice(&query.json).unwrap_or_default();
            if model["fail"] == true {
                return Err(Status::internal("the whole call failed"));
            }
            if model["silent"] == true {
                continue;
            }
            let response = DataResponse {
                error: model["error"].as_str().unwrap_or_default().into(),
                status: model["status"].as_i64().unwrap_or_default() as i32,
                ..DataResponse::default()
            };
            answer.responses.insert(query.ref_id, response);
        }
        Ok(Response::new(answer))
    }
}

#[async_trait]
impl Stream for Services {
    type RunStreamStream = BoxStream<'static, Result<StreamPacket, Status>>;

    /// The paths `missing` and `denied` are what they say; `bad-initial` answers with broken JSON,
    /// `initial` with `{"initial":true}`.
    async fn subscribe_stream(
        &self,
        request: Request<SubscribeStreamRequest>,
    ) -> Result<Response<SubscribeStreamResponse>, Status> {
        let request = request.into_inner();
        let (status, data) = match &*request.path {
            "missing" => (1, ""),
            "denied" => (2, ""),
            "initial" => (0, r#"{"initial":true}"#),
            "bad-initial" => (0, "{"),
            _ => (0, ""),
        };
        Ok(Response::new(SubscribeStreamResponse {
            status,
            data: data.into(),
        }))
    }

    /// Sends `{"run","n","pid","data","settings"}` every `everyMs` of the data, `packets` of them
    /// (for ever where none is given) with `pad` bytes of padding, then ends as `end` says: `ok`,
    /// `error`, `broken` (a packet that is no JSON).
    async fn run_stream(
        &self,
        request: Request<RunStreamRequest>,
    ) -> Result<Response<Self::RunStreamStream>, Status> {
        let run = self.runs.fetch_add(1, Ordering::Relaxed) + 1;
        let request = request.into_inner();
        let data: Value = serde_json::from_slice(&request.data).unwrap_or_default();
        let settings = settings(request.plugin_context.as_ref());
        let every = Duration::from_millis(data["everyMs"].as_u64().unwrap_or(20));
        let packets = data["packets"].as_u64().unwrap_or(u64::MAX);
        let pad = "x".repeat(data["pad"].as_u64().unwrap_or(0) as usize);
        let stream = stream::unfold(0, move |n| {
            let (data, settings, pad) = (data.clone(), settings.clone(), pad.clone());
            async move {
                if n > packets {
                    return None;
                }
                tokio::time::sleep(every).await;
                let packet = json!({"run": run, "n": n, "pid": std::process::id(), "data": data,
                    "settings": settings, "pad": pad});
                let item = match (n == packets, data["end"].as_str()) {
                    (false, _) => Ok(packet.to_string().into_bytes()),
                    (true, Some("error")) => Err(Status::internal("told to fail")),
                    (true, Some("broken")) => Ok(b"{\"run\":".to_vec()),
                    (true, _) => return None,
                };
                Some((item.map(|data| StreamPacket { data }), n + 1))
            }
        });
        Ok(Response::new(stream.boxed()))
    }

    async fn publish_stream(
        &self,
        _: Request<PublishStreamRequest>,
    ) -> Result<Response<PublishStreamResponse>, Status> {
        Ok(Response::new(PublishStreamResponse {
            status: 2,
            data: Vec::new(),
        }))
    }
}

fn settings(context: Option<&PluginContext>) -> Value {
    context
        .and_then(|context| context.data_source_instance_settings.as_ref())
        .and_then(|settings| serde_json::from_slice(&settings.json_data).ok())
        .unwrap_or_default()
}

fn echo(call: &CallResourceRequest) -> Value {
    let context = call.plugin_context.as_ref();
    let source = context.and_then(|context| context.data_source_instance_settings.as_ref());
    json!({
        "method": call.method,
        "url": call.url,
        "body": String::from_utf8_lossy(&call.body),
        "pid": std::process::id(),
        "plugin": context.map(|context| &context.plugin_id),
        "role": context.and_then(|context| context.user.as_ref()).map(|user| &user.role),
        "uid": source.map(|source| &source.uid),
        "secure": source.map(|source| &source.decrypted_secure_json_data),
        "env": std::env::vars().map(|(name, _)| name).collect::<Vec<_>>(),
    })
}
