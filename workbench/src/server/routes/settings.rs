//! What a page asks first: version, Live, and the data sources.

use std::sync::Arc;

use axum::Json;
use axum::extract::State;
use serde_json::{Value, json};

use super::super::App;
use crate::host::GRAFANA_VERSION;

pub(super) async fn read(State(app): State<Arc<App>>) -> Json<Value> {
    let sources = app.sources.instances(app.files.meta());
    let default = sources.keys().next().cloned().unwrap_or_default();
    Json(json!({
        "appUrl": "/",
        "appSubUrl": "",
        "namespace": "default",
        "buildInfo": {"version": GRAFANA_VERSION, "edition": "Open Source", "env": "production"},
        "featureToggles": {},
        "liveEnabled": true,
        "liveMessageSizeLimit": app.live.options().message_limit,
        "defaultDatasource": default,
        "datasources": sources,
    }))
}
