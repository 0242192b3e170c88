//! One instance for each data source: its settings, parsed once, and everything that its streams and requests share.

use std::collections::HashMap;
use std::hash::{BuildHasher, RandomState};
use std::sync::{Arc, Mutex, PoisonError};

use grafana_plugin_sdk::pluginv2::{DataSourceInstanceSettings, PluginContext};
use thiserror::Error;
use tokio::runtime::Handle;
use tonic::Status;
use tracing::{info, warn};

use super::channel::Schemas;
use super::telemetry;
use crate::batch::SlotBudget;
use crate::config::{Settings, SettingsError};
use crate::consume::clients::Clients;
use crate::consume::errors::KafkaError;
use crate::consume::schemas::SchemaClient;
use crate::decode::SchemaCache;
use crate::perf::PerfFlags;
use crate::registry::Registry;

/// Is one data source as it was last saved.
pub(super) struct Instance {
    pub(super) settings: Settings,
    pub(super) clients: Clients,
    /// What all channels of this data source may send together.
    pub(super) budget: Arc<SlotBudget>,
    /// The columns of what runs.
    pub(super) schemas: Schemas,
    pub(super) flags: PerfFlags,
    /// Where schemas come from.
    pub(super) registry: Registry,
    /// The schemas that its streams and queries have met.
    pub(super) compiled: SchemaCache,
}

impl Instance {
    /// Gives what its readers have schemas from. Needs a runtime.
    pub(super) fn schema_client(&self) -> SchemaClient {
        SchemaClient {
            registry: self.registry.clone(),
            runtime: Handle::current(),
        }
    }
}

/// Says why a data source cannot be used. No text has a setting's value in it.
#[derive(Debug, Error)]
pub(super) enum InstanceError {
    #[error("Grafana sent no data source settings with this request")]
    NoDataSource,
    #[error(transparent)]
    Settings(#[from] SettingsError),
    #[error(transparent)]
    Kafka(#[from] KafkaError),
}

impl From<InstanceError> for Status {
    fn from(error: InstanceError) -> Self {
        Self::failed_precondition(error.to_string())
    }
}

/// Holds the instance of each data source, and replaces it when its settings change.
pub(super) struct Instances {
    flags: PerfFlags,
    /// Makes fingerprints that nobody can compare from outside.
    hasher: RandomState,
    known: Mutex<HashMap<Key, Known>>,
}

/// The organisation and the data source's uid.
type Key = (i64, String);

struct Known {
    version: Version,
    instance: Arc<Instance>,
}

/// Grafana's time of the last change, and a fingerprint of the settings for hosts that send none.
#[derive(Clone, Copy, PartialEq, Eq)]
struct Version {
    updated: i64,
    fingerprint: u64,
}

impl Instances {
    /// Starts without instances.
    pub(super) fn new(flags: PerfFlags) -> Self {
        Self {
            flags,
            hasher: RandomState::new(),
            known: Mutex::default(),
        }
    }

    /// Gives the instance of the data source that a request is for.
    ///
    /// Whoever holds an earlier one keeps it; its Kafka clients close when nobody does.
    pub(super) fn of(
        &self,
        context: Option<&PluginContext>,
    ) -> Result<Arc<Instance>, InstanceError> {
        let context = context.ok_or(InstanceError::NoDataSource)?;
        let source = context
            .data_source_instance_settings
            .as_ref()
            .ok_or(InstanceError::NoDataSource)?;
        let key = (context.org_id, source.uid.clone());
        let version = Version {
            updated: source.last_updated_ms,
            fingerprint: self.fingerprint(source),
        };
        let mut known = self.known.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(found) = known.get(&key).filter(|found| found.version == version) {
            return Ok(Arc::clone(&found.instance));
        }
        let instance = Arc::new(self.make(source)?);
        known.insert(
            key,
            Known {
                version,
                instance: Arc::clone(&instance),
            },
        );
        Ok(instance)
    }

    fn make(&self, source: &DataSourceInstanceSettings) -> Result<Instance, InstanceError> {
        let settings = Settings::parse(&source.json_data, &source.decrypted_secure_json_data)?;
        let clients = Clients::new(&settings)?;
        telemetry::raise(settings.log_level);
        info!(uid = source.uid.as_str(), "data source loaded");
        for problem in &settings.problems {
            warn!(uid = source.uid.as_str(), "settings: {problem}");
        }
        Ok(Instance {
            clients,
            budget: Arc::new(SlotBudget::new(settings.slot_bytes)),
            schemas: Schemas::default(),
            flags: self.flags,
            registry: Registry::new(&settings.registry),
            compiled: SchemaCache::new(&self.flags),
            settings,
        })
    }

    fn fingerprint(&self, source: &DataSourceInstanceSettings) -> u64 {
        let mut secrets: Vec<_> = source.decrypted_secure_json_data.iter().collect();
        secrets.sort();
        self.hasher.hash_one((&source.json_data, secrets))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn context(org_id: i64, uid: &str, json: &str, password: &str, updated: i64) -> PluginContext {
        let source = DataSourceInstanceSettings {
            uid: uid.to_owned(),
            json_data: json.as_bytes().to_vec(),
            decrypted_secure_json_data: [("saslPassword".to_owned(), password.to_owned())].into(),
            last_updated_ms: updated,
            ..Default::default()
        };
        PluginContext {
            org_id,
            data_source_instance_settings: Some(source),
            ..Default::default()
        }
    }

    #[test]
    fn an_instance_lives_until_its_settings_change() {
        const A: &str = r#"{"bootstrapServers":"a:1"}"#;
        const B: &str = r#"{"bootstrapServers":"b:1"}"#;
        let instances = Instances::new(PerfFlags::default());
        let mut last = instances.of(Some(&context(1, "uid", A, "p", 1))).unwrap();
        for (org, uid, json, password, updated, same) in [
            (1, "uid", A, "p", 1, true),
            (1, "uid", A, "p", 2, false),
            (1, "uid", B, "p", 2, false),
            (1, "uid", B, "q", 2, false),
            (1, "uid", B, "q", 2, true),
            (2, "uid", B, "q", 2, false),
            (2, "uid2", B, "q", 2, false),
        ] {
            let instance = instances
                .of(Some(&context(org, uid, json, password, updated)))
                .unwrap();
            assert_eq!(
                Arc::ptr_eq(&instance, &last),
                same,
                "{org} {uid} {json} {password} {updated}"
            );
            last = instance;
        }
    }

    #[test]
    fn what_cannot_be_an_instance() {
        let instances = Instances::new(PerfFlags::default());
        let nothing = PluginContext::default();
        for context in [None, Some(&nothing)] {
            assert!(matches!(
                instances.of(context),
                Err(InstanceError::NoDataSource)
            ));
        }
        let wrong = context(
            1,
            "uid",
            r#"{"bootstrapServers":"a:1","timeout":"soon"}"#,
            "p",
            1,
        );
        let error = instances
            .of(Some(&wrong))
            .err()
            .expect("no number")
            .to_string();
        assert!(
            error.contains("timeout") && !error.contains("soon"),
            "{error}"
        );
    }
}
