//! The `Data` service with the fields that grafana-plugin-sdk 0.5 does not know: who is to blame for an error.
//!
//! Grafana counts an error without a source against the plugin, and alerts on it as such.

use std::collections::HashMap;
use std::sync::Arc;

use grafana_plugin_sdk::pluginv2::QueryDataRequest;
use prost::Message;
use tonic::Status;

use super::Queries;
use crate::plugin::unary::Call;

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

/// Is the call `QueryData`. Of `QueryChunkedData`, and whatever comes after it, Grafana falls back to this one.
#[derive(Clone)]
pub(in crate::plugin) struct QueryData(Arc<Queries>);

impl QueryData {
    /// Lets `queries` answer.
    pub(in crate::plugin) fn new(queries: Queries) -> Self {
        Self(Arc::new(queries))
    }
}

impl Call for QueryData {
    const SERVICE: &'static str = "pluginv2.Data";
    const PATH: &'static str = "/pluginv2.Data/QueryData";
    type Request = QueryDataRequest;
    type Response = QueryDataResponse;

    async fn answer(self, request: QueryDataRequest) -> Result<QueryDataResponse, Status> {
        Ok(self.0.answer(request).await)
    }
}
