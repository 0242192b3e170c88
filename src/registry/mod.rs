//! SHELL: schemas from a registry, for records that name them and for queries that name a subject.
//!
//! `http` asks with a deadline and bounds, over `connect` and as `auth` says; `confluent` and `apicurio` know the two APIs,
//! `references` follows what a schema builds on, `flights` asks once for any number of waiters and remembers the answer.

mod apicurio;
mod auth;
mod confluent;
mod connect;
mod errors;
mod flights;
mod http;
mod references;

use std::sync::Arc;
use std::time::Duration;

use tokio::time::timeout;

pub use errors::{Cause, RegistryError};

use crate::config::{RegistryApi, RegistryFault, RegistrySettings, TopicName};
use crate::schema::{Role, SchemaId, SchemaText};
use flights::Flights;
use http::Http;

/// Is the schema registry of one data source, with what it answered lately. It connects when it is first asked.
#[derive(Clone)]
pub struct Registry {
    source: Result<Arc<Source>, Cause>,
    flights: Arc<Flights<Question, Arc<SchemaText>>>,
}

/// Is one registry behind its API.
struct Source {
    http: Http,
    api: RegistryApi,
    limit: Duration,
}

/// Is what is asked for. A registry with contexts may keep another schema of the same id behind another subject.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
struct Question {
    id: SchemaId,
    subject: Option<String>,
}

/// How many requests' deadlines a schema may take with all that it builds on.
const REQUESTS: u32 = 3;

impl Registry {
    /// Prepares the registry of a data source, if it has one.
    pub fn new(settings: &Result<Option<RegistrySettings>, RegistryFault>) -> Self {
        let source = match settings {
            Ok(Some(settings)) => Ok(Arc::new(Source {
                http: Http::new(settings),
                api: settings.api,
                limit: settings.timeout * REQUESTS,
            })),
            Ok(None) => Err(Cause::NotConfigured),
            Err(fault) => Err(Cause::Settings(fault.clone())),
        };
        Self {
            source,
            flights: Arc::default(),
        }
    }

    /// Says whether a registry is configured, rightly or not.
    pub fn is_configured(&self) -> bool {
        !matches!(self.source, Err(Cause::NotConfigured))
    }

    /// Gives a schema with everything that it builds on.
    ///
    /// However many ask at the same time, the registry is asked once; what it says is remembered, a failure for some seconds.
    /// The request goes on where the caller does not wait for it.
    pub async fn schema(
        &self,
        id: &SchemaId,
        role: Role,
        topic: &TopicName,
    ) -> Result<Arc<SchemaText>, RegistryError> {
        let subject = match id {
            SchemaId::Id(_) => Some(format!("{topic}-{}", role.as_str())),
            _ => None,
        };
        let what = || match &subject {
            Some(subject) => format!("schema {id} (asked for subject {subject})"),
            None => format!("schema {id}"),
        };
        let source = self.source.as_ref().map_err(|cause| cause.of(what()))?;
        let question = Question {
            id: id.clone(),
            subject: subject.clone(),
        };
        let source = Arc::clone(source);
        let answer = self.flights.ask(question, |question| async move {
            source.schema(&question).await
        });
        answer.await.map_err(|cause| cause.of(what()))
    }

    /// Asks the registry for nothing in particular: whether it can be reached, and lets this data source in.
    pub async fn check(&self) -> Result<(), RegistryError> {
        let what = || "the schema registry".to_owned();
        let source = self.source.as_ref().map_err(|cause| cause.of(what()))?;
        let checked = match source.api {
            RegistryApi::Confluent => confluent::check(&source.http).await,
            RegistryApi::Apicurio => apicurio::check(&source.http).await,
        };
        checked.map_err(|cause| cause.of(what()))
    }
}

impl Source {
    async fn schema(&self, question: &Question) -> Result<Arc<SchemaText>, Cause> {
        match timeout(self.limit, self.fetch(question)).await {
            Ok(fetched) => fetched.map(Arc::new),
            Err(_) => Err(Cause::Timeout {
                at: self.http.address(),
                limit: self.limit,
            }),
        }
    }

    async fn fetch(&self, question: &Question) -> Result<SchemaText, Cause> {
        let subject = question.subject.as_deref();
        let found = match (&question.id, self.api) {
            (SchemaId::Apicurio { kind, id }, _) => apicurio::by_id(&self.http, *kind, *id).await?,
            (SchemaId::Id(id), RegistryApi::Confluent) => {
                confluent::by_id(&self.http, *id, subject).await?
            }
            (SchemaId::Id(id), RegistryApi::Apicurio) => {
                apicurio::by_short_id(&self.http, *id).await?
            }
            (SchemaId::Guid(_), RegistryApi::Confluent) => {
                confluent::by_guid(&self.http, &question.id).await?
            }
            (SchemaId::Guid(_), RegistryApi::Apicurio) => return Err(Cause::NoGuids),
            (SchemaId::Latest(subject), RegistryApi::Confluent) => {
                confluent::latest(&self.http, subject).await?
            }
            (SchemaId::Latest(subject), RegistryApi::Apicurio) => {
                apicurio::latest(&self.http, subject).await?
            }
        };
        references::resolve(&self.http, found).await
    }
}
