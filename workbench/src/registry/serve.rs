//! The paths for reading, over a fixed set of schemas.

use std::net::{Ipv4Addr, SocketAddr};
use std::sync::Arc;

use anyhow::Context as _;
use axum::extract::{Path, State};
use axum::http::StatusCode;
use axum::response::{IntoResponse as _, Response};
use axum::routing::get;
use axum::{Json, Router};
use serde_json::{Map, Value, json};
use tokio::net::TcpListener;

use super::{Ids, Kind, Registered};

/// A registry in this process. Dropping it stops it.
pub struct Registry {
    address: SocketAddr,
    ids: Ids,
    serving: tokio::task::JoinHandle<()>,
}

impl Registry {
    /// Serves the schemas on the loopback address; port 0 takes any.
    pub async fn start(port: u16, schemas: &'static [Registered]) -> anyhow::Result<Registry> {
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, port))
            .await
            .with_context(|| format!("cannot start a schema registry on port {port}"))?;
        let address = listener.local_addr()?;
        let router = Router::new()
            .route("/subjects", get(subjects))
            .route("/subjects/{subject}/versions", get(versions))
            .route("/subjects/{subject}/versions/{version}", get(version))
            .route("/schemas/ids/{id}", get(by_id))
            .route("/schemas/types", get(types))
            .with_state(Arc::new(Schemas {
                all: schemas,
                ids: Ids::of(schemas),
            }));
        let serving = tokio::spawn(async move {
            // It ends only with its task.
            let _ = axum::serve(listener, router).await;
        });
        Ok(Registry {
            address,
            ids: Ids::of(schemas),
            serving,
        })
    }

    /// Gives `host:port`.
    pub fn address(&self) -> SocketAddr {
        self.address
    }

    /// Gives the address, as a data source takes it.
    pub fn url(&self) -> String {
        format!("http://{}", self.address)
    }

    /// Gives the ids of what it serves.
    pub fn ids(&self) -> &Ids {
        &self.ids
    }
}

impl Drop for Registry {
    fn drop(&mut self) {
        self.serving.abort();
    }
}

struct Schemas {
    all: &'static [Registered],
    ids: Ids,
}

impl Schemas {
    fn of<'a>(&self, subject: &'a str) -> impl Iterator<Item = &'static Registered> + use<'a> {
        self.all
            .iter()
            .filter(move |schema| schema.subject == subject)
    }

    fn id(&self, schema: &Registered) -> Option<u32> {
        self.ids.find(schema.subject, schema.version)
    }
}

async fn subjects(State(schemas): State<Arc<Schemas>>) -> Json<Vec<&'static str>> {
    let mut subjects: Vec<_> = schemas.all.iter().map(|schema| schema.subject).collect();
    subjects.sort_unstable();
    subjects.dedup();
    Json(subjects)
}

async fn versions(State(schemas): State<Arc<Schemas>>, Path(subject): Path<String>) -> Response {
    let versions: Vec<u32> = schemas.of(&subject).map(|schema| schema.version).collect();
    if versions.is_empty() {
        return refuse(40_401, "Subject not found");
    }
    Json(versions).into_response()
}

async fn version(
    State(schemas): State<Arc<Schemas>>,
    Path((subject, version)): Path<(String, String)>,
) -> Response {
    let mut of_subject = schemas.of(&subject);
    let found = match version.as_str() {
        "latest" | "-1" => of_subject.max_by_key(|schema| schema.version),
        number => of_subject.find(|schema| number.parse() == Ok(schema.version)),
    };
    let Some(schema) = found else {
        return refuse(40_402, "Version not found");
    };
    let mut body = content(schema);
    body.insert("subject".into(), schema.subject.into());
    body.insert("version".into(), schema.version.into());
    body.insert("id".into(), json!(schemas.id(schema)));
    Json(body).into_response()
}

async fn by_id(State(schemas): State<Arc<Schemas>>, Path(id): Path<String>) -> Response {
    let asked = id.parse().ok();
    let mut all = schemas.all.iter();
    match all.find(|schema| asked.is_some() && schemas.id(schema) == asked) {
        Some(schema) => Json(content(schema)).into_response(),
        None => refuse(40_403, "Schema not found"),
    }
}

async fn types() -> Json<[&'static str; 2]> {
    Json(["AVRO", "PROTOBUF"])
}

/// Gives a schema as the registry answers it: Avro is the kind that is not named.
fn content(schema: &Registered) -> Map<String, Value> {
    let mut body = Map::new();
    body.insert("schema".into(), schema.text.into());
    if schema.kind == Kind::Protobuf {
        body.insert("schemaType".into(), "PROTOBUF".into());
    }
    if !schema.references.is_empty() {
        body.insert("references".into(), json!(schema.references));
    }
    body
}

fn refuse(code: u32, message: &str) -> Response {
    let body = json!({"error_code": code, "message": message});
    (StatusCode::NOT_FOUND, Json(body)).into_response()
}
