//! `/api/ds/query`: the targets of one panel over one time range.

use std::collections::HashMap;
use std::sync::Arc;

use axum::Json;
use axum::extract::State;
use axum::http::{HeaderMap, StatusCode};
use axum::response::{IntoResponse as _, Response};
use serde::Deserialize;
use serde_json::{Map, Value, json};

use super::super::App;
use super::super::frame;
use super::{plugin_failed, plugin_unavailable, refuse};
use crate::host::proto::{DataResponse, TimeRange};
use crate::host::{Query, now_ms};

#[derive(Deserialize)]
pub(super) struct Panel {
    from: Value,
    to: Value,
    queries: Vec<Value>,
}

/// Runs all queries of the first one's data source, and answers with a result for each refId.
///
/// The status is 200 where all went well, else 400, with the same body; 500 where the whole call
/// failed.
pub(super) async fn run(
    State(app): State<Arc<App>>,
    headers: HeaderMap,
    Json(panel): Json<Panel>,
) -> Response {
    let now = now_ms();
    let (Some(from), Some(to)) = (time(&panel.from, now), time(&panel.to, now)) else {
        return refuse(StatusCode::BAD_REQUEST, "invalid time range");
    };
    let uid = panel
        .queries
        .first()
        .map(|query| &query["datasource"]["uid"]);
    let Some(uid) = uid.and_then(Value::as_str) else {
        return refuse(StatusCode::BAD_REQUEST, "no queries found");
    };
    let Some(source) = app.sources.find(uid) else {
        return refuse(StatusCode::NOT_FOUND, "data source not found");
    };
    let Some(plugin) = app.plugin.running() else {
        return plugin_unavailable();
    };
    let range = TimeRange {
        from_epoch_ms: from,
        to_epoch_ms: to,
    };
    let queries: Vec<Query> = panel.queries.into_iter().map(query).collect();
    let answer = plugin
        .client
        .query_data(&source, range, &queries, passed(&headers))
        .await;
    match answer {
        Ok(answer) => respond(&answer.responses),
        Err(status) => plugin_failed(&status),
    }
}

/// The headers that Grafana passes on to a plugin.
fn passed(headers: &HeaderMap) -> HashMap<String, String> {
    let wanted = [
        "fromalert",
        "x-panel-id",
        "x-dashboard-uid",
        "x-query-group-id",
    ];
    headers
        .iter()
        .filter(|(name, _)| {
            wanted.contains(&name.as_str()) || name.as_str().starts_with("x-grafana")
        })
        .filter_map(|(name, value)| Some((name.to_string(), value.to_str().ok()?.to_owned())))
        .collect()
}

fn query(model: Value) -> Query {
    let number = |key: &str, default| model[key].as_i64().unwrap_or(default);
    let text = |key: &str, default: &str| model[key].as_str().unwrap_or(default).to_owned();
    Query {
        ref_id: text("refId", "A"),
        max_data_points: number("maxDataPoints", 100),
        interval_ms: number("intervalMs", 1_000),
        query_type: text("queryType", ""),
        model,
    }
}

fn respond(responses: &HashMap<String, DataResponse>) -> Response {
    let mut failed = false;
    let mut results = Map::new();
    for (ref_id, response) in responses {
        let result = result(response);
        failed |= result.get("error").is_some();
        results.insert(ref_id.clone(), result);
    }
    let status = if failed {
        StatusCode::BAD_REQUEST
    } else {
        StatusCode::OK
    };
    (status, Json(json!({"results": results}))).into_response()
}

fn result(response: &DataResponse) -> Value {
    let frames: anyhow::Result<Vec<Value>> = response
        .frames
        .iter()
        .map(|file| frame::to_json(file))
        .collect();
    let (frames, conversion) = match frames {
        Ok(frames) => (frames, None),
        Err(error) => (Vec::new(), Some(error.to_string())),
    };
    let error = conversion.or_else(|| (!response.error.is_empty()).then(|| response.error.clone()));
    let status = match (response.status, &error) {
        (0, None) => 200,
        (0, Some(_)) => 500,
        (status, _) => status,
    };
    let mut result = json!({"status": status, "frames": frames});
    if let Some(error) = error {
        result["error"] = error.into();
        if !response.error_source.is_empty() {
            result["errorSource"] = response.error_source.as_str().into();
        }
    }
    result
}

/// Reads milliseconds since the epoch, as number or text, or `now`, `now-5m`.
fn time(value: &Value, now: i64) -> Option<i64> {
    let text = match value {
        Value::Number(number) => return number.as_i64(),
        Value::String(text) => text.as_str(),
        _ => return None,
    };
    let Some(back) = text.strip_prefix("now") else {
        return text.parse().ok();
    };
    if back.is_empty() {
        return Some(now);
    }
    let back = back.strip_prefix('-')?;
    let unit = back.len() - back.chars().next_back()?.len_utf8();
    let (amount, unit) = back.split_at(unit);
    let unit = match unit {
        "s" => 1_000,
        "m" => 60_000,
        "h" => 3_600_000,
        "d" => 86_400_000,
        _ => return None,
    };
    Some(now - amount.parse::<i64>().ok()?.checked_mul(unit)?)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times() {
        for (value, expected) in [
            (json!(12), Some(12)),
            (json!("12"), Some(12)),
            (json!("now"), Some(1_000_000)),
            (json!("now-5m"), Some(700_000)),
            (json!("now-1s"), Some(999_000)),
            (json!("now-5y"), None),
            (json!("now-"), None),
            (json!("now+5m"), None),
            (json!("yesterday"), None),
            (json!(null), None),
        ] {
            assert_eq!(time(&value, 1_000_000), expected, "{value}");
        }
    }

    #[test]
    fn results() {
        let response = |error: &str, status, source: &str| DataResponse {
            error: error.into(),
            status,
            error_source: source.into(),
            ..DataResponse::default()
        };
        let broken = DataResponse {
            frames: vec![b"x".to_vec()],
            ..DataResponse::default()
        };
        assert_eq!(
            result(&broken)["status"],
            500,
            "a frame that is no Arrow fails the response"
        );
        for (response, expected) in [
            (response("", 0, ""), json!({"status": 200, "frames": []})),
            (
                response("e", 0, ""),
                json!({"status": 500, "frames": [], "error": "e"}),
            ),
            (
                response("e", 404, "downstream"),
                json!({"status": 404, "frames": [], "error": "e", "errorSource": "downstream"}),
            ),
        ] {
            assert_eq!(result(&response), expected);
        }
    }
}
