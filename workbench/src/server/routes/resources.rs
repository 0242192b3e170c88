//! Calls that are passed on to the plugin as they are.

use std::collections::HashMap;
use std::sync::Arc;

use axum::body::{Body, Bytes};
use axum::extract::{Path, RawQuery, State};
use axum::http::{HeaderName, HeaderValue, Method, StatusCode};
use axum::response::Response;

use super::super::App;
use super::{plugin_failed, plugin_unavailable, refuse};

pub(super) async fn call(
    State(app): State<Arc<App>>,
    Path(parts): Path<HashMap<String, String>>,
    RawQuery(query): RawQuery,
    method: Method,
    body: Bytes,
) -> Response {
    let source = parts.get("uid").and_then(|uid| app.sources.find(uid));
    let Some(source) = source else {
        return refuse(StatusCode::NOT_FOUND, "Data source not found");
    };
    let Some(plugin) = app.plugin.running() else {
        return plugin_unavailable();
    };
    let path = parts.get("path").map_or("", String::as_str);
    let url = match query {
        Some(query) => format!("{path}?{query}"),
        None => path.to_owned(),
    };
    match plugin
        .client
        .call_resource(&source, method.as_str(), &url, &body)
        .await
    {
        Ok(answer) => {
            let mut response = Response::new(Body::from(answer.body));
            *response.status_mut() = u16::try_from(answer.status)
                .ok()
                .and_then(|code| StatusCode::from_u16(code).ok())
                .unwrap_or(StatusCode::INTERNAL_SERVER_ERROR);
            for (name, value) in answer.headers {
                // Cookies and the length are the server's own.
                let pass = !["set-cookie", "content-length"].contains(&&*name.to_lowercase());
                let header = (HeaderName::try_from(name), HeaderValue::try_from(value));
                if let (true, (Ok(name), Ok(value))) = (pass, header) {
                    response.headers_mut().append(name, value);
                }
            }
            response
        }
        Err(status) => plugin_failed(&status),
    }
}
