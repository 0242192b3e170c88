//! The messages of Grafana's plugin protocol (`pluginv2`) that the workbench sends and reads.
//!
//! Kept by hand: field numbers and types are the protocol, the names are ours to read. Fields that
//! the workbench neither sends nor reads are left out; protobuf skips them.

use std::collections::HashMap;

/// Settings of one data source, as decrypted by the server.
#[derive(Clone, PartialEq, prost::Message)]
pub struct DataSourceInstanceSettings {
    #[prost(int64, tag = "1")]
    pub id: i64,
    #[prost(string, tag = "2")]
    pub name: String,
    #[prost(string, tag = "3")]
    pub url: String,
    #[prost(string, tag = "4")]
    pub user: String,
    #[prost(string, tag = "5")]
    pub database: String,
    #[prost(bool, tag = "6")]
    pub basic_auth_enabled: bool,
    #[prost(string, tag = "7")]
    pub basic_auth_user: String,
    #[prost(bytes = "vec", tag = "8")]
    pub json_data: Vec<u8>,
    #[prost(map = "string, string", tag = "9")]
    pub decrypted_secure_json_data: HashMap<String, String>,
    /// Milliseconds since the epoch.
    #[prost(int64, tag = "10")]
    pub last_updated_ms: i64,
    #[prost(string, tag = "11")]
    pub uid: String,
    #[prost(string, tag = "12")]
    pub api_version: String,
}

/// The signed-in person behind a call.
#[derive(Clone, PartialEq, prost::Message)]
pub struct User {
    #[prost(string, tag = "1")]
    pub login: String,
    #[prost(string, tag = "2")]
    pub name: String,
    #[prost(string, tag = "3")]
    pub email: String,
    /// `Admin`, `Editor`, `Viewer`, or what later servers invent.
    #[prost(string, tag = "4")]
    pub role: String,
}

/// Travels with every call: who asks, for which data source, on which server.
#[derive(Clone, PartialEq, prost::Message)]
pub struct PluginContext {
    #[prost(int64, tag = "1")]
    pub org_id: i64,
    #[prost(string, tag = "2")]
    pub plugin_id: String,
    #[prost(message, optional, tag = "3")]
    pub user: Option<User>,
    #[prost(message, optional, tag = "5")]
    pub data_source_instance_settings: Option<DataSourceInstanceSettings>,
    #[prost(map = "string, string", tag = "6")]
    pub grafana_config: HashMap<String, String>,
    #[prost(string, tag = "7")]
    pub plugin_version: String,
    #[prost(string, tag = "8")]
    pub user_agent: String,
    #[prost(string, tag = "9")]
    pub api_version: String,
}

/// The values of one HTTP header.
#[derive(Clone, PartialEq, prost::Message)]
pub struct StringList {
    #[prost(string, repeated, tag = "1")]
    pub values: Vec<String>,
}

#[derive(Clone, PartialEq, prost::Message)]
pub struct CallResourceRequest {
    #[prost(message, optional, tag = "1")]
    pub plugin_context: Option<PluginContext>,
    #[prost(string, tag = "2")]
    pub path: String,
    #[prost(string, tag = "3")]
    pub method: String,
    #[prost(string, tag = "4")]
    pub url: String,
    #[prost(map = "string, message", tag = "5")]
    pub headers: HashMap<String, StringList>,
    #[prost(bytes = "vec", tag = "6")]
    pub body: Vec<u8>,
}

#[derive(Clone, PartialEq, prost::Message)]
pub struct CallResourceResponse {
    /// HTTP status.
    #[prost(int32, tag = "1")]
    pub code: i32,
    #[prost(map = "string, message", tag = "2")]
    pub headers: HashMap<String, StringList>,
    #[prost(bytes = "vec", tag = "3")]
    pub body: Vec<u8>,
}

#[derive(Clone, Copy, PartialEq, prost::Message)]
pub struct TimeRange {
    #[prost(int64, tag = "1")]
    pub from_epoch_ms: i64,
    #[prost(int64, tag = "2")]
    pub to_epoch_ms: i64,
}

#[derive(Clone, PartialEq, prost::Message)]
pub struct DataQuery {
    #[prost(string, tag = "1")]
    pub ref_id: String,
    #[prost(int64, tag = "2")]
    pub max_data_points: i64,
    #[prost(int64, tag = "3")]
    pub interval_ms: i64,
    #[prost(message, optional, tag = "4")]
    pub time_range: Option<TimeRange>,
    /// The panel's query model, as JSON.
    #[prost(bytes = "vec", tag = "5")]
    pub json: Vec<u8>,
    #[prost(string, tag = "6")]
    pub query_type: String,
}

#[derive(Clone, PartialEq, prost::Message)]
pub struct QueryDataRequest {
    #[prost(message, optional, tag = "1")]
    pub plugin_context: Option<PluginContext>,
    #[prost(map = "string, string", tag = "2")]
    pub headers: HashMap<String, String>,
    #[prost(message, repeated, tag = "3")]
    pub queries: Vec<DataQuery>,
}

#[derive(Clone, PartialEq, prost::Message)]
pub struct QueryDataResponse {
    /// By refId.
    #[prost(map = "string, message", tag = "1")]
    pub responses: HashMap<String, DataResponse>,
}

#[derive(Clone, PartialEq, prost::Message)]
pub struct DataResponse {
    /// One Arrow IPC file a frame.
    #[prost(bytes = "vec", repeated, tag = "1")]
    pub frames: Vec<Vec<u8>>,
    #[prost(string, tag = "2")]
    pub error: String,
    /// HTTP status; 0 means 200, or 500 where `error` is set.
    #[prost(int32, tag = "4")]
    pub status: i32,
    /// `plugin` or `downstream`.
    #[prost(string, tag = "5")]
    pub error_source: String,
}

#[derive(Clone, PartialEq, prost::Message)]
pub struct CheckHealthRequest {
    #[prost(message, optional, tag = "1")]
    pub plugin_context: Option<PluginContext>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, prost::Enumeration)]
#[repr(i32)]
pub enum HealthStatus {
    Unknown = 0,
    Ok = 1,
    Error = 2,
}

#[derive(Clone, PartialEq, prost::Message)]
pub struct CheckHealthResponse {
    #[prost(enumeration = "HealthStatus", tag = "1")]
    pub status: i32,
    #[prost(string, tag = "2")]
    pub message: String,
    #[prost(bytes = "vec", tag = "3")]
    pub json_details: Vec<u8>,
}

#[derive(Clone, PartialEq, prost::Message)]
pub struct CollectMetricsRequest {
    #[prost(message, optional, tag = "1")]
    pub plugin_context: Option<PluginContext>,
}

#[derive(Clone, PartialEq, prost::Message)]
pub struct CollectMetricsResponse {
    #[prost(message, optional, tag = "1")]
    pub metrics: Option<MetricsPayload>,
}

#[derive(Clone, PartialEq, prost::Message)]
pub struct MetricsPayload {
    /// Prometheus text format.
    #[prost(bytes = "vec", tag = "1")]
    pub prometheus: Vec<u8>,
}

/// `SubscribeStreamRequest`, `PublishStreamRequest` and `RunStreamRequest` are one shape.
#[derive(Clone, PartialEq, prost::Message)]
pub struct StreamRequest {
    #[prost(message, optional, tag = "1")]
    pub plugin_context: Option<PluginContext>,
    /// The channel's path, without scope and namespace.
    #[prost(string, tag = "2")]
    pub path: String,
    #[prost(bytes = "vec", tag = "3")]
    pub data: Vec<u8>,
    #[prost(map = "string, string", tag = "4")]
    pub headers: HashMap<String, String>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, prost::Enumeration)]
#[repr(i32)]
pub enum StreamStatus {
    Ok = 0,
    NotFound = 1,
    PermissionDenied = 2,
}

/// `SubscribeStreamResponse` and `PublishStreamResponse` are one shape.
#[derive(Clone, PartialEq, prost::Message)]
pub struct StreamResponse {
    #[prost(enumeration = "StreamStatus", tag = "1")]
    pub status: i32,
    #[prost(bytes = "vec", tag = "2")]
    pub data: Vec<u8>,
}

#[derive(Clone, PartialEq, prost::Message)]
pub struct StreamPacket {
    #[prost(bytes = "vec", tag = "1")]
    pub data: Vec<u8>,
}

/// `plugin.Empty` of go-plugin's controller service.
#[derive(Clone, Copy, PartialEq, prost::Message)]
pub struct Empty {}

/// `grpc.health.v1.HealthCheckRequest`.
#[derive(Clone, PartialEq, prost::Message)]
pub struct HealthCheckRequest {
    #[prost(string, tag = "1")]
    pub service: String,
}

/// `grpc.health.v1.HealthCheckResponse`: status 1 is SERVING.
#[derive(Clone, Copy, PartialEq, prost::Message)]
pub struct HealthCheckResponse {
    #[prost(int32, tag = "1")]
    pub status: i32,
}
