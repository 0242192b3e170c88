//! Credentials: fixed ones, and OAuth tokens that are fetched again before they expire.

use std::time::Duration;

use base64::prelude::{BASE64_STANDARD, Engine as _};
use hyper::body::Bytes;
use hyper::header::{ACCEPT, AUTHORIZATION, CONTENT_TYPE, HeaderMap, HeaderValue};
use hyper::{Method, StatusCode};
use serde::Deserialize;
use tokio::sync::Mutex;
use tokio::time::{Instant, timeout};

use super::connect::Connector;
use super::errors::Cause;
use super::http::{escaped, send};
use crate::config::{RegistryAuth, RegistrySettings, RegistryTls, RegistryUrl, Secret};

/// How long a token is used whose answer does not say.
const USUAL_LIFE: Duration = Duration::from_mins(5);
/// How long before its end a token is fetched again, at most.
const MARGIN: Duration = Duration::from_secs(30);
/// The longest life that is believed.
const MAX_LIFE_SECONDS: f64 = 86_400.0;

/// Gives the `Authorization` of each request.
pub(super) enum Auth {
    None,
    Fixed(HeaderValue),
    /// The credentials cannot be written in a header.
    Unusable,
    ClientCredentials(Box<OAuth>),
}

/// Fetches tokens with a client's own credentials.
pub(super) struct OAuth {
    connector: Connector,
    url: RegistryUrl,
    client: Option<HeaderValue>,
    form: String,
    /// Locked while a token is fetched, so that it is fetched once.
    token: Mutex<Option<Token>>,
}

struct Token {
    value: HeaderValue,
    until: Instant,
}

#[derive(Deserialize)]
struct TokenAnswer {
    access_token: String,
    #[serde(default)]
    expires_in: Option<serde_json::Value>,
}

#[derive(Deserialize)]
struct Refusal {
    error: String,
}

impl Auth {
    pub(super) fn new(settings: &RegistrySettings) -> Self {
        let fixed = |text: String| secret_header(&text).map_or(Self::Unusable, Self::Fixed);
        match &settings.auth {
            RegistryAuth::None => Self::None,
            RegistryAuth::Basic { username, password } => fixed(basic(username, password)),
            RegistryAuth::Bearer(token) => fixed(format!("Bearer {}", token.expose().trim())),
            RegistryAuth::OAuth {
                token_url,
                client_id,
                client_secret,
                scope,
            } => {
                // RFC 6749 2.3.1: both are form-encoded before they are joined.
                let secret = Secret::new(escaped(client_secret.expose()));
                let mut form = "grant_type=client_credentials".to_owned();
                if !scope.is_empty() {
                    form.push_str("&scope=");
                    form.push_str(&escaped(scope));
                }
                // The one who gives tokens is rarely behind the registry's own CA, and never has its name.
                let tls = RegistryTls {
                    ca: None,
                    brokers_ca: settings
                        .tls
                        .ca
                        .clone()
                        .or_else(|| settings.tls.brokers_ca.clone()),
                    client: None,
                    skip_verify: settings.tls.skip_verify,
                    server_name: None,
                };
                Self::ClientCredentials(Box::new(OAuth {
                    connector: Connector::new(tls),
                    url: token_url.clone(),
                    client: secret_header(&basic(&escaped(client_id), &secret)),
                    form,
                    token: Mutex::new(None),
                }))
            }
        }
    }

    /// Gives the header's value; a token that is missing or about to expire is fetched within `limit`.
    pub(super) async fn value(&self, limit: Duration) -> Result<Option<HeaderValue>, Cause> {
        match self {
            Self::None => Ok(None),
            Self::Fixed(value) => Ok(Some(value.clone())),
            Self::Unusable => Err(unusable()),
            Self::ClientCredentials(oauth) => oauth
                .value(limit)
                .await
                .map(Some)
                .map_err(|cause| Cause::Token(Box::new(cause))),
        }
    }

    /// Forgets a token that was refused; says whether a new one may do better.
    pub(super) async fn forget(&self) -> bool {
        match self {
            Self::ClientCredentials(oauth) => oauth.token.lock().await.take().is_some(),
            _ => false,
        }
    }
}

impl OAuth {
    async fn value(&self, limit: Duration) -> Result<HeaderValue, Cause> {
        let mut token = self.token.lock().await;
        if let Some(token) = token.as_ref().filter(|token| Instant::now() < token.until) {
            return Ok(token.value.clone());
        }
        let late = Cause::Timeout {
            at: self.url.to_string(),
            limit,
        };
        let fetched = timeout(limit, self.fetch()).await.unwrap_or(Err(late))?;
        let value = fetched.value.clone();
        *token = Some(fetched);
        Ok(value)
    }

    async fn fetch(&self) -> Result<Token, Cause> {
        let mut headers = HeaderMap::new();
        headers.insert(ACCEPT, HeaderValue::from_static("application/json"));
        headers.insert(
            CONTENT_TYPE,
            HeaderValue::from_static("application/x-www-form-urlencoded"),
        );
        headers.insert(AUTHORIZATION, self.client.clone().ok_or_else(unusable)?);
        let target = if self.url.base.is_empty() {
            "/"
        } else {
            &self.url.base
        };
        let form = Bytes::from(self.form.clone());
        let answer = send(
            &self.connector,
            &self.url,
            target,
            Method::POST,
            headers,
            form,
        )
        .await?;
        if answer.status.is_redirection() {
            return Err(Cause::Status {
                at: answer.at,
                status: answer.status.as_u16(),
                said: "a redirect, where the client's secret must not go".to_owned(),
            });
        }
        // RFC 6749 5.2: a client that is not accepted may be answered with 400.
        if answer.status == StatusCode::BAD_REQUEST
            && answer
                .json::<Refusal>()
                .is_ok_and(|refusal| refusal.error == "invalid_client")
        {
            let said = answer.said();
            return Err(Cause::Unauthorized {
                at: answer.at,
                said,
            });
        }
        let answer = answer.checked()?;
        let read: TokenAnswer = answer.json()?;
        let value = secret_header(&format!("Bearer {}", read.access_token)).ok_or_else(|| {
            Cause::Unreadable {
                at: answer.at.clone(),
                why: "its token cannot be sent in a header".to_owned(),
            }
        })?;
        let life = life(read.expires_in.as_ref());
        Ok(Token {
            value,
            until: Instant::now() + life.saturating_sub(MARGIN.min(life / 5)),
        })
    }
}

/// Reads a life in seconds; some servers write it as a text.
fn life(expires_in: Option<&serde_json::Value>) -> Duration {
    let seconds = expires_in.and_then(|value| match value {
        serde_json::Value::String(text) => text.trim().parse().ok(),
        other => other.as_f64(),
    });
    match seconds {
        Some(seconds) if seconds > 0.0 => Duration::from_secs_f64(seconds.min(MAX_LIFE_SECONDS)),
        _ => USUAL_LIFE,
    }
}

fn basic(username: &str, password: &Secret) -> String {
    format!(
        "Basic {}",
        BASE64_STANDARD.encode(format!("{username}:{}", password.expose()))
    )
}

fn secret_header(text: &str) -> Option<HeaderValue> {
    let mut value = HeaderValue::try_from(text).ok()?;
    value.set_sensitive(true);
    Some(value)
}

fn unusable() -> Cause {
    Cause::Material("the schema registry's token or client id has a character that no HTTP header may carry, such as a line break: paste it again".to_owned())
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::*;

    #[test]
    fn lives() {
        for (expires_in, want) in [
            (Value::Null, 300),
            (json!(60), 60),
            (json!("60"), 60),
            (json!(59.9), 59),
            (json!(0), 300),
            (json!(-5), 300),
            (json!(1e300), 86_400),
            (json!("soon"), 300),
        ] {
            assert_eq!(life(Some(&expires_in)).as_secs(), want, "{expires_in}");
        }
        assert_eq!(life(None), USUAL_LIFE);
    }
}
