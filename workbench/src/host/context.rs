//! A data source as the server stores it, and the context that travels with each call.

use std::collections::BTreeMap;
use std::time::{SystemTime, UNIX_EPOCH};

use serde_json::Value;

use super::proto::{DataSourceInstanceSettings, PluginContext, User};

/// The plugin that the workbench hosts.
pub const PLUGIN_ID: &str = "streamscope-kafka-datasource";

/// A configured data source.
#[derive(Clone, Debug)]
pub struct DataSource {
    pub uid: String,
    pub name: String,
    pub json_data: Value,
    /// Decrypted secrets by key.
    pub secure: BTreeMap<String, String>,
    /// When the settings last changed: milliseconds since the epoch. The plugin makes a new instance
    /// when this or the settings differ.
    pub updated: i64,
}

impl DataSource {
    /// Makes a data source without secrets, updated now.
    pub fn new(uid: &str, json_data: Value) -> Self {
        DataSource {
            uid: uid.into(),
            name: "Kafka".into(),
            json_data,
            secure: BTreeMap::new(),
            updated: now_ms(),
        }
    }

    /// Adds a secret.
    #[must_use]
    pub fn secret(mut self, key: &str, value: &str) -> Self {
        self.secure.insert(key.into(), value.into());
        self
    }

    /// Builds the context of a call by a user of this role (`Admin`, `Editor`, `Viewer`).
    pub fn context(&self, role: &str) -> PluginContext {
        PluginContext {
            org_id: 1,
            plugin_id: PLUGIN_ID.into(),
            user: Some(User {
                login: role.to_lowercase(),
                name: role.into(),
                email: format!("{}@localhost", role.to_lowercase()),
                role: role.into(),
            }),
            data_source_instance_settings: Some(DataSourceInstanceSettings {
                id: 1,
                name: self.name.clone(),
                json_data: self.json_data.to_string().into_bytes(),
                decrypted_secure_json_data: self.secure.clone().into_iter().collect(),
                last_updated_ms: self.updated,
                uid: self.uid.clone(),
                ..DataSourceInstanceSettings::default()
            }),
            user_agent: format!("Grafana/{GRAFANA_VERSION}"),
            ..PluginContext::default()
        }
    }
}

impl From<&DataSource> for PluginContext {
    /// An administrator's call.
    fn from(source: &DataSource) -> Self {
        source.context("Admin")
    }
}

/// The server version that the workbench claims to be.
pub const GRAFANA_VERSION: &str = "13.0.0";

/// Milliseconds since the epoch.
pub fn now_ms() -> i64 {
    SystemTime::now()
        .duration_since(UNIX_EPOCH)
        .map_or(0, |since| since.as_millis() as i64)
}
