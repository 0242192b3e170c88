//! Paths under `/workbench/`, for tests: to look inside, and to do harm.

use std::collections::HashMap;
use std::sync::Arc;

use axum::Json;
use axum::Router;
use axum::extract::{Query, State};
use axum::routing::{get, post};
use serde_json::{Value, json};

use super::super::App;
use super::super::live::Disconnect;

pub(super) fn router() -> Router<Arc<App>> {
    Router::new()
        .route("/live", get(live))
        .route("/live/cut", post(cut))
        .route("/live/pause", post(pause))
        .route("/live/resume", post(resume))
        .route("/plugin", get(plugin))
        .route("/plugin/kill", post(kill))
}

/// Lists channels and clients.
async fn live(State(app): State<Arc<App>>) -> Json<Value> {
    Json(app.live.report())
}

/// Cuts all sockets: without a close frame, or with the `code` of the query.
async fn cut(State(app): State<Arc<App>>, Query(query): Query<HashMap<String, String>>) {
    let code = query.get("code").and_then(|code| code.parse().ok());
    app.live
        .cut(code.map_or(Disconnect::Abruptly, |code| Disconnect::Code(code, "test")));
}

/// Writes nothing to any socket from now on: the queues fill.
async fn pause(State(app): State<Arc<App>>) {
    app.live.pause(true);
}

async fn resume(State(app): State<Arc<App>>) {
    app.live.pause(false);
}

/// Gives the process id, `null` while there is none, and the log.
async fn plugin(State(app): State<Arc<App>>) -> Json<Value> {
    let lines = app.plugin.log().lines();
    let log: Vec<String> = lines.into_iter().map(|line| line.raw).collect();
    Json(json!({"pid": app.plugin.running().map(|plugin| plugin.pid), "log": log}))
}

/// Kills the plugin's process, as a crash would.
async fn kill(State(app): State<Arc<App>>) {
    app.plugin.kill();
}
