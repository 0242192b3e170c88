//! Where the schema registry is, which API it speaks, and how the plugin proves itself to it.

mod url;

use std::collections::HashMap;
use std::time::Duration;

use thiserror::Error;

pub use self::url::{RegistryUrl, UrlFault};
use super::lenient::Keys;
use super::{ClientCertificate, Secret, SettingsError};

/// Is a schema registry, as an administrator configures it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RegistrySettings {
    /// The addresses of one registry, tried in this order; never empty.
    pub urls: Vec<RegistryUrl>,
    pub api: RegistryApi,
    pub auth: RegistryAuth,
    /// Headers that each request carries, by Grafana's `httpHeaderName1` and the secret `httpHeaderValue1`.
    pub headers: Vec<(String, Secret)>,
    pub tls: RegistryTls,
    /// The deadline of one request.
    pub timeout: Duration,
}

/// Says which API a registry speaks.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum RegistryApi {
    /// Confluent's, which most registries have; Apicurio's is at `/apis/ccompat/v7`.
    #[default]
    Confluent,
    /// Apicurio's own, version 3.
    Apicurio,
}

/// Says how the plugin proves itself to the registry.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub enum RegistryAuth {
    #[default]
    None,
    Basic {
        username: String,
        password: Secret,
    },
    Bearer(Secret),
    /// OAuth 2.0 client credentials: a token from `token_url`, fetched again before it expires.
    OAuth {
        token_url: RegistryUrl,
        client_id: String,
        client_secret: Secret,
        scope: String,
    },
}

/// Is what TLS with the registry needs to know; certificates are PEM.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct RegistryTls {
    /// The only CA to trust; `None` trusts the system's, and the brokers' where they have one of their own.
    pub ca: Option<String>,
    pub brokers_ca: Option<String>,
    pub client: Option<ClientCertificate>,
    pub skip_verify: bool,
    /// The name that the certificate carries, where it is not the URL's.
    pub server_name: Option<String>,
}

/// Says why the registry's settings cannot be used. Topics whose formats need no registry are shown all the same.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
pub enum RegistryFault {
    #[error("Invalid schema registry URL format: entry {position} of `schemaRegistryUrl`: {fault}")]
    Url { position: usize, fault: UrlFault },
    #[error("`schemaRegistryOAuthTokenUrl` is no URL: {0}")]
    TokenUrl(UrlFault),
    #[error(
        "`schemaRegistryAuth` is `{auth}`, and {missing} is empty: fill it in, or choose another way to authenticate"
    )]
    Missing {
        auth: &'static str,
        missing: &'static str,
    },
}

/// Reads the registry's settings; `Ok(None)` where there is no URL. What is merely odd goes to `problems`.
pub(super) fn parse(
    keys: &Keys<'_>,
    secrets: &HashMap<String, String>,
    timeout: Duration,
    problems: &mut Vec<String>,
) -> Result<Result<Option<RegistrySettings>, RegistryFault>, SettingsError> {
    let entries = keys.list("schemaRegistryUrl")?;
    // The types of the others are checked even where there is no URL.
    let form = Form::read(keys, secrets)?;
    if entries.is_empty() {
        return Ok(Ok(None));
    }
    Ok(settings(&entries, form, timeout, problems).map(Some))
}

fn settings(
    entries: &[String],
    form: Form,
    timeout: Duration,
    problems: &mut Vec<String>,
) -> Result<RegistrySettings, RegistryFault> {
    let mut urls = Vec::new();
    let mut login = None;
    for (i, entry) in entries.iter().enumerate() {
        let position = i + 1;
        let (url, user) =
            RegistryUrl::parse(entry).map_err(|fault| RegistryFault::Url { position, fault })?;
        urls.push(url);
        login = login.or(user);
    }
    if login.is_some() {
        problems.push("`schemaRegistryUrl` holds a user name or a password, which all who may see the settings can read: move them to `schemaRegistryUsername` and `schemaRegistryPassword`".into());
    }
    let auth = form.auth(login, problems)?;
    Ok(RegistrySettings {
        urls,
        api: form.api,
        auth,
        headers: form.headers,
        tls: form.tls,
        timeout,
    })
}

/// Is what the settings say, not yet held together.
struct Form {
    api: RegistryApi,
    kind: AuthKind,
    username: String,
    password: Option<Secret>,
    token: Option<Secret>,
    token_url: String,
    client_id: String,
    client_secret: Option<Secret>,
    scope: String,
    headers: Vec<(String, Secret)>,
    tls: RegistryTls,
}

enum AuthKind {
    Unsaid,
    None,
    Basic,
    Bearer,
    OAuth,
}

impl Form {
    fn read(keys: &Keys<'_>, secrets: &HashMap<String, String>) -> Result<Self, SettingsError> {
        let api = match keys
            .text("schemaRegistryType")?
            .to_ascii_lowercase()
            .as_str()
        {
            "" | "confluent" => RegistryApi::Confluent,
            "apicurio" => RegistryApi::Apicurio,
            _ => {
                return Err(SettingsError::Choice {
                    key: "schemaRegistryType",
                    expected: "confluent or apicurio",
                });
            }
        };
        let kind = match keys
            .text("schemaRegistryAuth")?
            .to_ascii_lowercase()
            .as_str()
        {
            "" => AuthKind::Unsaid,
            "none" => AuthKind::None,
            "basic" => AuthKind::Basic,
            "bearer" => AuthKind::Bearer,
            "oauth" => AuthKind::OAuth,
            _ => {
                return Err(SettingsError::Choice {
                    key: "schemaRegistryAuth",
                    expected: "none, basic, bearer or oauth",
                });
            }
        };
        let text = |key: &str| {
            secrets
                .get(key)
                .filter(|text| !text.trim().is_empty())
                .cloned()
        };
        let secret = |key: &str| text(key).map(Secret::new);
        // The Go plugin takes the user name from either place.
        let username = match text("schemaRegistryUsername") {
            Some(username) => username,
            None => keys.text("schemaRegistryUsername")?,
        };
        let own = text("schemaRegistryTlsClientCert").zip(secret("schemaRegistryTlsClientKey"));
        let brokers = if keys.boolean("tlsAuth", false)? {
            text("tlsClientCert").zip(secret("tlsClientKey"))
        } else {
            None
        };
        let client = own
            .or(brokers)
            .map(|(certificate, key)| ClientCertificate { certificate, key });
        let brokers_ca = if keys.boolean("tlsAuthWithCACert", false)? {
            text("tlsCACert")
        } else {
            None
        };
        Ok(Self {
            api,
            kind,
            username,
            password: secret("schemaRegistryPassword"),
            token: secret("schemaRegistryToken"),
            token_url: keys.text("schemaRegistryOAuthTokenUrl")?,
            client_id: keys.text("schemaRegistryOAuthClientId")?,
            client_secret: secret("schemaRegistryOAuthClientSecret"),
            scope: keys.text("schemaRegistryOAuthScope")?,
            headers: headers(keys, secrets)?,
            tls: RegistryTls {
                ca: text("schemaRegistryTlsCACert"),
                brokers_ca,
                client,
                skip_verify: keys.boolean("schemaRegistryTlsSkipVerify", false)?,
                server_name: Some(keys.text("schemaRegistryServerName")?)
                    .filter(|name| !name.is_empty()),
            },
        })
    }

    /// Gives the way to authenticate; `login` is what stood in a URL.
    fn auth(
        &self,
        login: Option<(String, String)>,
        problems: &mut Vec<String>,
    ) -> Result<RegistryAuth, RegistryFault> {
        let set = (!self.username.is_empty())
            .then(|| self.username.clone())
            .zip(self.password.clone());
        let login = set.or(login.map(|(name, password)| (name, Secret::new(password))));
        let basic = |(username, password)| RegistryAuth::Basic { username, password };
        let missing = |auth, missing| RegistryFault::Missing { auth, missing };
        match self.kind {
            AuthKind::None => Ok(RegistryAuth::None),
            AuthKind::Unsaid => {
                if login.is_none() && (!self.username.is_empty() || self.password.is_some()) {
                    problems.push("of `schemaRegistryUsername` and `schemaRegistryPassword` one is empty, so the schema registry is asked without credentials: fill in both, or empty both".into());
                }
                Ok(login.map_or(RegistryAuth::None, basic))
            }
            AuthKind::Basic => login.map(basic).ok_or_else(|| {
                missing(
                    "basic",
                    "`schemaRegistryUsername` or `schemaRegistryPassword`",
                )
            }),
            AuthKind::Bearer => {
                let token = self
                    .token
                    .clone()
                    .ok_or_else(|| missing("bearer", "`schemaRegistryToken`"))?;
                Ok(RegistryAuth::Bearer(token))
            }
            AuthKind::OAuth => {
                if self.token_url.is_empty() {
                    return Err(missing("oauth", "`schemaRegistryOAuthTokenUrl`"));
                }
                if self.client_id.is_empty() {
                    return Err(missing("oauth", "`schemaRegistryOAuthClientId`"));
                }
                let (token_url, _) =
                    RegistryUrl::parse(&self.token_url).map_err(RegistryFault::TokenUrl)?;
                Ok(RegistryAuth::OAuth {
                    token_url,
                    client_id: self.client_id.clone(),
                    client_secret: self
                        .client_secret
                        .clone()
                        .ok_or_else(|| missing("oauth", "`schemaRegistryOAuthClientSecret`"))?,
                    scope: self.scope.clone(),
                })
            }
        }
    }
}

/// Reads Grafana's numbered custom headers, up to the first number that has none.
fn headers(
    keys: &Keys<'_>,
    secrets: &HashMap<String, String>,
) -> Result<Vec<(String, Secret)>, SettingsError> {
    let mut headers = Vec::new();
    for n in 1..=MAX_HEADERS {
        let name = keys.text(&format!("httpHeaderName{n}"))?;
        if name.is_empty() {
            break;
        }
        let value = secrets
            .get(&format!("httpHeaderValue{n}"))
            .cloned()
            .unwrap_or_default();
        headers.push((name, Secret::new(value)));
    }
    Ok(headers)
}

const MAX_HEADERS: usize = 32;

#[cfg(test)]
mod tests;
