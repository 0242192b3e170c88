//! The HTTP paths.

mod data_sources;
mod files;
mod query;
mod resources;
mod settings;
mod tests_only;

use std::sync::Arc;

use axum::Json;
use axum::Router;
use axum::extract::State;
use axum::extract::ws::WebSocketUpgrade;
use axum::http::StatusCode;
use axum::response::{IntoResponse as _, Response};
use axum::routing::{any, get, post};
use serde_json::{Value, json};

use super::App;
use super::live;
use crate::producers::Example;
pub(super) use files::Files;

pub(super) fn router(app: Arc<App>) -> Router {
    Router::new()
        .route(
            "/api/datasources/uid/{uid}",
            get(data_sources::read).put(data_sources::update),
        )
        .route(
            "/api/datasources/uid/{uid}/health",
            get(data_sources::health),
        )
        .route("/api/datasources/uid/{uid}/resources", any(resources::call))
        .route(
            "/api/datasources/uid/{uid}/resources/{*path}",
            any(resources::call),
        )
        .route("/api/ds/query", post(query::run))
        .route("/api/frontend/settings", get(settings::read))
        .route("/api/live/ws", any(live_socket))
        .route("/workbench/examples", get(examples))
        .nest("/workbench", tests_only::router())
        .fallback(files::serve)
        .with_state(app)
}

/// Lists the panels that the page offers.
async fn examples(State(app): State<Arc<App>>) -> Json<Vec<Example>> {
    Json(app.examples.clone())
}

async fn live_socket(State(app): State<Arc<App>>, upgrade: WebSocketUpgrade) -> Response {
    upgrade
        .max_message_size(app.live.options().message_limit)
        .on_upgrade(move |socket| async move { live::serve(app.live.clone(), socket).await })
}

/// Answers with a message, as Grafana does on errors.
fn refuse(status: StatusCode, message: &str) -> Response {
    (status, Json(json!({"message": message}))).into_response()
}

/// Answers what no plugin answered.
fn plugin_failed(status: &tonic::Status) -> Response {
    let body = json!({
        "message": "An error occurred within the plugin",
        "messageId": "plugin.requestFailureError",
        "error": format!("{:?}: {}", status.code(), status.message()),
        "statusCode": 500,
        "traceID": "",
    });
    (StatusCode::INTERNAL_SERVER_ERROR, Json::<Value>(body)).into_response()
}

/// Answers while no plugin runs.
fn plugin_unavailable() -> Response {
    let body = json!({
        "message": "Plugin unavailable",
        "messageId": "plugin.unavailable",
        "statusCode": 503,
        "traceID": "",
    });
    (StatusCode::SERVICE_UNAVAILABLE, Json::<Value>(body)).into_response()
}
