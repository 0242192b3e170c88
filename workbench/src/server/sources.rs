//! The data sources' settings, kept in memory; secrets go in and never come out.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, PoisonError};

use serde::Deserialize;
use serde_json::{Map, Value, json};

use crate::host::{DataSource, PLUGIN_ID, now_ms};

/// Clones share the settings.
#[derive(Clone)]
pub(super) struct Sources(Arc<Mutex<BTreeMap<String, Stored>>>);

#[derive(Clone)]
struct Stored {
    source: DataSource,
    version: u64,
    /// What the server keeps for the front end and no plugin reads from here: url, basicAuth and such.
    rest: Map<String, Value>,
}

/// A data source as *Save & test* sends it.
#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct Update {
    name: Option<String>,
    json_data: Option<Value>,
    #[serde(default)]
    secure_json_data: Map<String, Value>,
    version: Option<u64>,
    #[serde(flatten)]
    rest: Map<String, Value>,
}

/// Why an update was refused.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Refused {
    Unknown,
    /// Somebody else has saved in between.
    Outdated,
}

impl Sources {
    pub(super) fn new(source: DataSource) -> Sources {
        let stored = Stored {
            source,
            version: 1,
            rest: Map::new(),
        };
        let map = BTreeMap::from([(stored.source.uid.clone(), stored)]);
        Sources(Arc::new(Mutex::new(map)))
    }

    /// Gives the settings that go to the plugin.
    pub(super) fn find(&self, uid: &str) -> Option<DataSource> {
        self.with(|map| map.get(uid).map(|stored| stored.source.clone()))
    }

    /// Gives the settings that the settings page edits: of the secrets only which are set.
    pub(super) fn shown(&self, uid: &str) -> Option<Value> {
        self.with(|map| map.get(uid).map(shown))
    }

    /// Gives what the front end of a data source starts with, by name.
    pub(super) fn instances(&self, meta: &Value) -> Map<String, Value> {
        self.with(|map| {
            map.values()
                .map(|stored| (stored.source.name.clone(), instance(stored, meta)))
                .collect()
        })
    }

    /// Saves. A secret that is not sent stays, one that is sent empty goes.
    pub(super) fn update(&self, uid: &str, update: Update) -> Result<Value, Refused> {
        self.with(|map| {
            let stored = map.get_mut(uid).ok_or(Refused::Unknown)?;
            if update
                .version
                .is_some_and(|version| version != stored.version)
            {
                return Err(Refused::Outdated);
            }
            if let Some(name) = update.name {
                stored.source.name = name;
            }
            if let Some(json_data) = update.json_data {
                stored.source.json_data = json_data;
            }
            for (key, value) in update.secure_json_data {
                let value = value.as_str().unwrap_or_default();
                if value.is_empty() {
                    stored.source.secure.remove(&key);
                } else {
                    stored.source.secure.insert(key, value.to_owned());
                }
            }
            stored.rest = update.rest;
            stored.version += 1;
            // The plugin tells versions apart by this time alone.
            stored.source.updated = now_ms().max(stored.source.updated + 1);
            Ok(shown(stored))
        })
    }

    fn with<T>(&self, read: impl FnOnce(&mut BTreeMap<String, Stored>) -> T) -> T {
        read(&mut self.0.lock().unwrap_or_else(PoisonError::into_inner))
    }
}

fn shown(stored: &Stored) -> Value {
    let secrets: Map<String, Value> = stored
        .source
        .secure
        .keys()
        .map(|key| (key.clone(), true.into()))
        .collect();
    let kept = |key: &str, default: Value| stored.rest.get(key).cloned().unwrap_or(default);
    json!({
        "id": 1,
        "uid": stored.source.uid,
        "orgId": 1,
        "name": stored.source.name,
        "type": PLUGIN_ID,
        "typeName": "Streamscope for Apache Kafka",
        "typeLogoUrl": format!("public/plugins/{PLUGIN_ID}/img/logo.svg"),
        "access": "proxy",
        "url": kept("url", "".into()),
        "user": kept("user", "".into()),
        "database": kept("database", "".into()),
        "basicAuth": kept("basicAuth", false.into()),
        "basicAuthUser": kept("basicAuthUser", "".into()),
        "withCredentials": kept("withCredentials", false.into()),
        "isDefault": kept("isDefault", true.into()),
        "jsonData": stored.source.json_data,
        "secureJsonFields": secrets,
        "version": stored.version,
        "readOnly": false,
        "accessControl": {"datasources:write": true, "datasources:query": true},
    })
}

fn instance(stored: &Stored, meta: &Value) -> Value {
    json!({
        "id": 1,
        "uid": stored.source.uid,
        "type": PLUGIN_ID,
        "name": stored.source.name,
        "url": format!("/api/datasources/proxy/uid/{}", stored.source.uid),
        "access": "proxy",
        "isDefault": true,
        "readOnly": false,
        "jsonData": stored.source.json_data,
        "meta": meta,
        "module": meta["module"],
        "baseUrl": meta["baseUrl"],
        "cachingConfig": {"enabled": false, "TTLMs": 0},
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn update(body: Value) -> Update {
        serde_json::from_value(body).expect("an update")
    }

    #[test]
    fn secrets_are_write_only() {
        let source = DataSource::new("k", json!({"a": 1})).secret("saslPassword", "s3cret");
        let sources = Sources::new(source);
        for (sent, fields, secure) in [
            (json!({}), json!({"saslPassword": true}), "s3cret"),
            (
                json!({"tlsCACert": "pem"}),
                json!({"saslPassword": true, "tlsCACert": true}),
                "s3cret",
            ),
            (
                json!({"saslPassword": "n3w"}),
                json!({"saslPassword": true, "tlsCACert": true}),
                "n3w",
            ),
            (json!({"saslPassword": ""}), json!({"tlsCACert": true}), ""),
        ] {
            let saved = sources.update("k", update(json!({"secureJsonData": sent})));
            let saved = saved.expect("saved");
            assert_eq!(saved["secureJsonFields"], fields, "{sent}");
            assert!(!saved.to_string().contains("s3cret"), "{saved}");
            let stored = sources.find("k").expect("there").secure;
            assert_eq!(
                stored.get("saslPassword").map_or("", String::as_str),
                secure,
                "{sent}"
            );
        }
    }

    #[test]
    fn versions_and_times_grow() {
        let sources = Sources::new(DataSource::new("k", json!({"a": 1})));
        let before = sources.find("k").expect("there").updated;
        let changed = json!({"name": "n", "jsonData": {"b": 2}, "version": 1, "url": "u"});
        let saved = sources.update("k", update(changed)).expect("saved");
        for (key, expected) in [
            ("version", json!(2)),
            ("name", json!("n")),
            ("jsonData", json!({"b": 2})),
            ("url", json!("u")),
        ] {
            assert_eq!(saved[key], expected, "{key}");
        }
        assert!(sources.find("k").expect("there").updated > before);
        let late = sources.update("k", update(json!({"version": 1})));
        assert_eq!(late, Err(Refused::Outdated));
        assert_eq!(
            sources.update("z", update(json!({}))),
            Err(Refused::Unknown)
        );
        let meta = json!({"module": "m", "baseUrl": "b"});
        assert_eq!(sources.instances(&meta)["n"]["module"], "m");
    }
}
