//! The `Data` service with the fields that grafana-plugin-sdk 0.5 does not know: who is to blame for an error.
//!
//! Grafana counts an error without a source against the plugin, and alerts on it as such.

use std::collections::HashMap;
use std::convert::Infallible;
use std::future::Future;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};

use grafana_plugin_sdk::pluginv2::QueryDataRequest;
use prost::Message;
use tonic::body::BoxBody;
use tonic::codec::ProstCodec;
use tonic::codegen::Service;
use tonic::codegen::http;
use tonic::server::{Grpc, NamedService, UnaryService};
use tonic::{Request, Response, Status};

use super::Queries;

/// `pluginv2.QueryDataResponse`.
#[derive(Clone, PartialEq, Message)]
pub(in crate::plugin) struct QueryDataResponse {
    /// By refId.
    #[prost(map = "string, message", tag = "1")]
    pub(in crate::plugin) responses: HashMap<String, DataResponse>,
}

/// `pluginv2.DataResponse`.
#[derive(Clone, PartialEq, Message)]
pub(in crate::plugin) struct DataResponse {
    /// Arrow IPC files.
    #[prost(bytes = "vec", repeated, tag = "1")]
    pub(in crate::plugin) frames: Vec<Vec<u8>>,
    #[prost(string, tag = "2")]
    pub(in crate::plugin) error: String,
    #[prost(int32, tag = "4")]
    pub(in crate::plugin) status: i32,
    /// `plugin` or `downstream`.
    #[prost(string, tag = "5")]
    pub(in crate::plugin) error_source: String,
}

/// Serves `QueryData`.
#[derive(Clone)]
pub(in crate::plugin) struct DataServer {
    queries: Arc<Queries>,
    max_request: usize,
}

impl DataServer {
    /// Serves `queries`, whose requests have at most `max_request` bytes.
    pub(in crate::plugin) fn new(queries: Queries, max_request: usize) -> Self {
        Self {
            queries: Arc::new(queries),
            max_request,
        }
    }
}

impl NamedService for DataServer {
    const NAME: &'static str = "pluginv2.Data";
}

impl Service<http::Request<BoxBody>> for DataServer {
    type Response = http::Response<BoxBody>;
    type Error = Infallible;
    type Future = Pin<Box<dyn Future<Output = Result<Self::Response, Infallible>> + Send>>;

    fn poll_ready(&mut self, _: &mut Context<'_>) -> Poll<Result<(), Infallible>> {
        Poll::Ready(Ok(()))
    }

    fn call(&mut self, request: http::Request<BoxBody>) -> Self::Future {
        if request.uri().path() != "/pluginv2.Data/QueryData" {
            // `QueryChunkedData` and whatever comes after it: Grafana falls back to `QueryData`.
            return Box::pin(async { Ok(Status::unimplemented("").into_http()) });
        }
        let (call, max_request) = (QueryData(Arc::clone(&self.queries)), self.max_request);
        Box::pin(async move {
            let mut grpc = Grpc::new(ProstCodec::<QueryDataResponse, QueryDataRequest>::default())
                .max_decoding_message_size(max_request);
            Ok(grpc.unary(call, request).await)
        })
    }
}

struct QueryData(Arc<Queries>);

impl UnaryService<QueryDataRequest> for QueryData {
    type Response = QueryDataResponse;
    type Future = Pin<Box<dyn Future<Output = Result<Response<QueryDataResponse>, Status>> + Send>>;

    fn call(&mut self, request: Request<QueryDataRequest>) -> Self::Future {
        let queries = Arc::clone(&self.0);
        Box::pin(async move { Ok(Response::new(queries.answer(request.into_inner()).await)) })
    }
}
