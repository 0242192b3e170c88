//! A data source's settings and its health.

use std::sync::Arc;

use axum::Json;
use axum::extract::{Path, State};
use axum::http::StatusCode;
use axum::response::{IntoResponse as _, Response};
use serde_json::json;

use super::super::App;
use super::super::sources::{Refused, Update};
use super::{plugin_failed, plugin_unavailable, refuse};
use crate::host::proto::HealthStatus;

pub(super) async fn read(State(app): State<Arc<App>>, Path(uid): Path<String>) -> Response {
    match app.sources.shown(&uid) {
        Some(source) => Json(source).into_response(),
        None => refuse(StatusCode::NOT_FOUND, "Data source not found"),
    }
}

/// Saves, and begins the data source's runs anew.
pub(super) async fn update(
    State(app): State<Arc<App>>,
    Path(uid): Path<String>,
    Json(update): Json<Update>,
) -> Response {
    match app.sources.update(&uid, update) {
        Ok(source) => {
            app.live.source_changed(&uid);
            let name = source["name"].clone();
            let body = json!({
                "datasource": source,
                "id": 1,
                "name": name,
                "message": "Datasource updated",
            });
            Json(body).into_response()
        }
        Err(Refused::Unknown) => refuse(StatusCode::NOT_FOUND, "Data source not found"),
        Err(Refused::Outdated) => refuse(
            StatusCode::CONFLICT,
            "Datasource has already been updated by someone else. Please reload and try again",
        ),
    }
}

/// Asks the plugin; anything but OK is a 400 with the plugin's words.
pub(super) async fn health(State(app): State<Arc<App>>, Path(uid): Path<String>) -> Response {
    let Some(source) = app.sources.find(&uid) else {
        return refuse(StatusCode::NOT_FOUND, "Data source not found");
    };
    let Some(plugin) = app.plugin.running() else {
        return plugin_unavailable();
    };
    let health = match plugin.client.check_health(&source).await {
        Ok(health) => health,
        Err(status) => return plugin_failed(&status),
    };
    let (code, status) = match health.status {
        HealthStatus::Ok => (StatusCode::OK, "OK"),
        HealthStatus::Error => (StatusCode::BAD_REQUEST, "ERROR"),
        HealthStatus::Unknown => (StatusCode::BAD_REQUEST, "UNKNOWN"),
    };
    let mut body = json!({"status": status, "message": health.message});
    if !health.details.is_null() {
        body["details"] = health.details;
    }
    (code, Json(body)).into_response()
}
