//! The page and the plugin's front end, from their build folders.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use anyhow::Context as _;
use axum::body::Body;
use axum::extract::State;
use axum::http::{HeaderValue, Request, StatusCode, header};
use axum::response::{IntoResponse as _, Response};
use serde_json::{Value, json};
use tower::ServiceExt as _;
use tower_http::services::ServeFile;

use super::super::App;
use super::refuse;
use crate::host::PLUGIN_ID;

/// Where the files are.
pub(in super::super) struct Files {
    frontend: Option<PathBuf>,
    page: Option<PathBuf>,
    /// The plugin's `plugin.json`, with what the server adds.
    meta: Value,
}

impl Files {
    /// Reads `plugin.json`: beside `module.js` in a packaged plugin, else two folders up.
    pub(in super::super) fn new(
        frontend: Option<PathBuf>,
        page: Option<PathBuf>,
    ) -> anyhow::Result<Files> {
        let meta = match &frontend {
            Some(folder) => {
                let file = first_there(folder, &["plugin.json", "../../plugin.json"])
                    .with_context(|| format!("no plugin.json in or above {}", folder.display()))?;
                let text = std::fs::read_to_string(&file)
                    .with_context(|| format!("cannot read {}", file.display()))?;
                serde_json::from_str(&text)
                    .with_context(|| format!("{} is not JSON", file.display()))?
            }
            None => json!({"id": PLUGIN_ID, "info": {"logos": {}}}),
        };
        Ok(Files {
            frontend,
            page,
            meta: served(meta),
        })
    }

    /// Gives the plugin's description as the front end gets it.
    pub(in super::super) fn meta(&self) -> &Value {
        &self.meta
    }

    fn find(&self, path: &str, query: &str) -> Option<PathBuf> {
        let path = path.trim_start_matches('/');
        if path.split('/').any(|part| part == "..") {
            return None;
        }
        if let Some(file) = path.strip_prefix(&format!("public/plugins/{PLUGIN_ID}/")) {
            // In the source tree the pictures stand beside the build.
            return first_there(self.frontend.as_ref()?, &[file, &format!("../{file}")]);
        }
        let page = self.page.as_ref()?;
        if path.is_empty() {
            let version = if query.split('&').any(|pair| pair == "grafana=10") {
                "v10"
            } else {
                "v13"
            };
            return Some(page.join(version).join("index.html"));
        }
        Some(page.join(path))
    }
}

pub(super) async fn serve(State(app): State<Arc<App>>, request: Request<Body>) -> Response {
    let query = request.uri().query().unwrap_or_default();
    let Some(file) = app
        .files
        .find(request.uri().path(), query)
        .filter(|file| file.is_file())
    else {
        return refuse(StatusCode::NOT_FOUND, "Not found");
    };
    let served = ServeFile::new(file).oneshot(request).await;
    let mut response = served
        .unwrap_or_else(|never| match never {})
        .into_response();
    // A page that is built anew is shown anew.
    response
        .headers_mut()
        .insert(header::CACHE_CONTROL, HeaderValue::from_static("no-cache"));
    response
}

fn first_there(folder: &Path, names: &[&str]) -> Option<PathBuf> {
    names
        .iter()
        .map(|name| folder.join(name))
        .find(|file| file.is_file())
}

/// Adds the paths by which the front end finds the plugin's files.
fn served(mut meta: Value) -> Value {
    let base = format!("public/plugins/{PLUGIN_ID}");
    meta["module"] = format!("{base}/module.js").into();
    meta["baseUrl"] = base.as_str().into();
    if let Some(logos) = meta["info"]["logos"].as_object_mut() {
        for logo in logos.values_mut() {
            *logo = format!("{base}/{}", logo.as_str().unwrap_or_default()).into();
        }
    }
    meta
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn paths() {
        let dir = tempfile::tempdir().expect("a folder");
        let path = |name: &str| dir.path().join(name);
        for file in [
            "plugin.json",
            "frontend/dist/module.js",
            "frontend/img/logo.svg",
            "page/v10/index.html",
        ] {
            std::fs::create_dir_all(path(file).parent().expect("a folder")).expect("made");
            std::fs::write(
                path(file),
                r#"{"id":"x","info":{"logos":{"small":"img/logo.svg"}}}"#,
            )
            .expect("written");
        }
        let files = Files::new(Some(path("frontend/dist")), Some(path("page"))).expect("files");
        let base = "/public/plugins/streamscope-kafka-datasource";
        for (url, query, expected) in [
            ("/", "", Some("page/v13/index.html")),
            ("/", "theme=light&grafana=10", Some("page/v10/index.html")),
            ("/v13/main.js", "", Some("page/v13/main.js")),
            (
                &*format!("{base}/module.js"),
                "",
                Some("frontend/dist/module.js"),
            ),
            (
                &*format!("{base}/img/logo.svg"),
                "",
                Some("frontend/dist/../img/logo.svg"),
            ),
            (&*format!("{base}/nope.js"), "", None),
            ("/v13/../../plugin.json", "", None),
        ] {
            assert_eq!(files.find(url, query), expected.map(path), "{url}?{query}");
        }
        assert_eq!(files.meta()["module"], format!("{}/module.js", &base[1..]));
        assert_eq!(
            files.meta()["info"]["logos"]["small"],
            format!("{}/img/logo.svg", &base[1..])
        );
        let missing = Files::new(Some(path("page")), None).err().expect("refused");
        assert!(missing.to_string().contains("plugin.json"), "{missing}");
    }
}
