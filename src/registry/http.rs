//! Requests with a deadline, a bound on what comes back, and no credentials for anybody but the registry.

use std::error::Error;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use http_body_util::{BodyExt, Full, LengthLimitError, Limited};
use hyper::body::{Bytes, Incoming};
use hyper::client::conn::http1;
use hyper::header::{
    ACCEPT, AUTHORIZATION, CONTENT_TYPE, HOST, HeaderMap, HeaderName, HeaderValue, LOCATION,
    USER_AGENT,
};
use hyper::{Method, Request, Response, StatusCode};
use hyper_util::rt::TokioIo;
use percent_encoding::{AsciiSet, NON_ALPHANUMERIC, utf8_percent_encode};
use serde::de::DeserializeOwned;
use serde_json::Value;
use tokio::task::JoinSet;
use tokio::time::timeout;

use super::auth::Auth;
use super::connect::{CLIENT_HINT, Connector};
use super::errors::Cause;
use crate::config::{RegistrySettings, RegistryUrl};

/// The most bytes of an answer.
const MAX_ANSWER: usize = 4 << 20;
const MAX_REDIRECTS: usize = 5;
/// The most characters of a registry's own message that are shown.
const MAX_SAID: usize = 200;

/// Asks one registry, at whichever of its addresses answered last.
pub(super) struct Http {
    urls: Vec<RegistryUrl>,
    current: AtomicUsize,
    connector: Connector,
    auth: Auth,
    headers: HeaderMap,
    limit: Duration,
}

/// Is an answer, read whole.
pub(super) struct Answer {
    pub(super) at: String,
    pub(super) status: StatusCode,
    pub(super) headers: HeaderMap,
    pub(super) body: Bytes,
}

impl Http {
    /// Prepares the requests; connects nowhere.
    pub(super) fn new(settings: &RegistrySettings) -> Self {
        let mut headers = HeaderMap::new();
        for (name, value) in &settings.headers {
            let name = HeaderName::try_from(name.as_str());
            // What cannot be sent as a header is left out, as Grafana does.
            if let (Ok(name), Ok(mut value)) = (name, HeaderValue::try_from(value.expose())) {
                value.set_sensitive(true);
                headers.append(name, value);
            }
        }
        Self {
            urls: settings.urls.clone(),
            current: AtomicUsize::new(0),
            connector: Connector::new(settings.tls.clone()),
            auth: Auth::new(settings),
            headers,
            limit: settings.timeout,
        }
    }

    /// Gives the address that is asked first.
    pub(super) fn address(&self) -> String {
        let current = self.current.load(Ordering::Relaxed);
        self.urls
            .get(current)
            .or(self.urls.first())
            .map(ToString::to_string)
            .unwrap_or_default()
    }

    /// Gets `path`, which begins with a slash and is escaped, below the base that `rebase` makes of each address's.
    ///
    /// An address that cannot be reached, or has a problem of its own, gives way to the next; one that answered stays.
    pub(super) async fn get(
        &self,
        rebase: fn(&str) -> String,
        path: &str,
    ) -> Result<Answer, Cause> {
        let first = self.current.load(Ordering::Relaxed);
        let mut causes = Vec::new();
        for turn in 0..self.urls.len() {
            let i = (first + turn) % self.urls.len();
            let mut url = self.urls[i].clone();
            url.base = rebase(&url.base);
            match self.get_at(&url, path).await {
                Ok(answer) => {
                    self.current.store(i, Ordering::Relaxed);
                    return Ok(answer);
                }
                Err(cause) if cause.is_of_one_address() => causes.push(cause),
                Err(cause) => return Err(cause),
            }
        }
        match <[Cause; 1]>::try_from(causes) {
            Ok([cause]) => Err(cause),
            Err(causes) => Err(Cause::None(causes)),
        }
    }

    async fn get_at(&self, url: &RegistryUrl, path: &str) -> Result<Answer, Cause> {
        let late = |_| Cause::Timeout {
            at: url.to_string(),
            limit: self.limit,
        };
        timeout(self.limit, self.get_fresh(url, path))
            .await
            .unwrap_or_else(|error| Err(late(error)))
    }

    /// Asks, and once more where an OAuth token was refused before its time.
    async fn get_fresh(&self, url: &RegistryUrl, path: &str) -> Result<Answer, Cause> {
        let answer = self.get_through(url, path).await?;
        if answer.status == StatusCode::UNAUTHORIZED && self.auth.forget().await {
            return self.get_through(url, path).await.and_then(Answer::checked);
        }
        answer.checked()
    }

    /// Asks, and follows redirects that stay with the same scheme, host and port.
    async fn get_through(&self, url: &RegistryUrl, path: &str) -> Result<Answer, Cause> {
        let mut target = format!("{}{path}", url.base);
        for _ in 0..=MAX_REDIRECTS {
            let mut headers = self.headers.clone();
            headers.insert(ACCEPT, HeaderValue::from_static(ACCEPTED));
            if let Some(value) = self.auth.value(self.limit).await? {
                headers.insert(AUTHORIZATION, value);
            }
            let answer = send(
                &self.connector,
                url,
                &target,
                Method::GET,
                headers,
                Bytes::new(),
            )
            .await?;
            if !answer.status.is_redirection() {
                return Ok(answer);
            }
            let location = answer
                .headers
                .get(LOCATION)
                .and_then(|to| to.to_str().ok())
                .unwrap_or_default();
            target = redirected(url, &target, location)?;
        }
        Err(Cause::Redirects {
            at: url.to_string(),
        })
    }
}

/// Confluent's own type first: old registries answer nothing else by it.
const ACCEPTED: &str = "application/vnd.schemaregistry.v1+json, application/json, */*;q=0.5";

/// Sends one request on a connection of its own, and reads the answer whole.
pub(super) async fn send(
    connector: &Connector,
    url: &RegistryUrl,
    target: &str,
    method: Method,
    headers: HeaderMap,
    body: Bytes,
) -> Result<Answer, Cause> {
    let at = format!(
        "{}{}",
        RegistryUrl {
            base: String::new(),
            ..url.clone()
        },
        target.split('?').next().unwrap_or_default()
    );
    let failed = |error: hyper::Error| transport(url, &error);
    let mut request = Request::builder()
        .method(method)
        .uri(target)
        .body(Full::new(body))
        .map_err(|error| Cause::Unreadable {
            at: at.clone(),
            why: format!("its path makes no request: {error}"),
        })?;
    *request.headers_mut() = headers;
    if let Ok(host) = HeaderValue::try_from(url.authority()) {
        request.headers_mut().insert(HOST, host);
    }
    request.headers_mut().insert(
        USER_AGENT,
        HeaderValue::from_static(concat!("streamscope/", env!("CARGO_PKG_VERSION"))),
    );
    let stream = connector.connect(url).await?;
    let (mut sender, connection) = http1::Builder::new()
        .handshake(TokioIo::new(stream))
        .await
        .map_err(failed)?;
    // Dropping the set ends the connection, whether or not an answer came.
    let mut driver = JoinSet::new();
    driver.spawn(connection);
    let answer = sender.send_request(request).await.map_err(failed)?;
    read(at, answer).await
}

async fn read(at: String, answer: Response<Incoming>) -> Result<Answer, Cause> {
    let (head, body) = answer.into_parts();
    let body = Limited::new(body, MAX_ANSWER)
        .collect()
        .await
        .map_err(|error| {
            if error.is::<LengthLimitError>() {
                return Cause::TooLarge {
                    at: at.clone(),
                    limit: MAX_ANSWER,
                };
            }
            Cause::Unreachable {
                at: at.clone(),
                reason: format!("the answer broke off: {error}"),
            }
        })?;
    Ok(Answer {
        at,
        status: head.status,
        headers: head.headers,
        body: body.to_bytes(),
    })
}

/// Says why no answer came on a connection that was made.
fn transport(url: &RegistryUrl, error: &hyper::Error) -> Cause {
    let at = url.to_string();
    let mut innermost: &dyn Error = error;
    while let Some(source) = innermost.source() {
        innermost = source;
    }
    let reason = innermost.to_string();
    if url.https && (reason.contains("alert") || reason.contains("certificate")) {
        return Cause::Tls {
            at,
            reason: format!("{reason}{CLIENT_HINT}"),
        };
    }
    // With TLS 1.3 a server refuses a client when the handshake is over for the client, and the alert may come too late.
    let hint = if url.https { HANGS_UP } else { "" };
    Cause::Unreachable {
        at,
        reason: format!("it gave no HTTP answer ({reason}){hint}"),
    }
}

/// What may be behind a TLS connection that ends without an answer.
const HANGS_UP: &str = ": a registry that wants a client certificate hangs up like this, so look at `schemaRegistryTlsClientCert` and \
                        `schemaRegistryTlsClientKey`";

/// Gives the target that a redirect leads to, where that is at the same origin.
fn redirected(url: &RegistryUrl, target: &str, location: &str) -> Result<String, Cause> {
    let leaves = |to: String| Cause::Redirect {
        at: url.to_string(),
        to,
    };
    if location.is_empty() {
        return Err(leaves("nowhere".to_owned()));
    }
    let absolute = if location.starts_with("//") {
        Some(format!(
            "{}:{location}",
            if url.https { "https" } else { "http" }
        ))
    } else {
        location.contains("://").then(|| location.to_owned())
    };
    if let Some(absolute) = absolute {
        let end = absolute.find(['?', '#']).unwrap_or(absolute.len());
        let (address, query) = absolute.split_at(end);
        let Ok((to, _)) = RegistryUrl::parse(address) else {
            return Err(leaves("an address that is no URL".to_owned()));
        };
        if !to.same_origin(url) {
            return Err(leaves(
                RegistryUrl {
                    base: String::new(),
                    ..to
                }
                .to_string(),
            ));
        }
        return Ok(without_fragment(&format!("{}{query}", to.base)).to_owned());
    }
    if location.starts_with('/') {
        return Ok(without_fragment(location).to_owned());
    }
    let path = target.split('?').next().unwrap_or_default();
    let parent = path.rsplit_once('/').map_or("", |(parent, _)| parent);
    Ok(without_fragment(&format!("{parent}/{location}")).to_owned())
}

fn without_fragment(target: &str) -> &str {
    target.split('#').next().unwrap_or_default()
}

impl Answer {
    /// Gives the answer where it is a good one, else what its status and its page say.
    pub(super) fn checked(self) -> Result<Self, Cause> {
        let content_type = self.header(&CONTENT_TYPE);
        let status = self.status.as_u16();
        let is_page = content_type.contains("html");
        let (at, said) = (self.at.clone(), self.said());
        match status {
            200..=299 if is_page => Err(Cause::Page {
                at,
                status,
                content_type,
            }),
            200..=299 => Ok(self),
            401 => Err(Cause::Unauthorized { at, said }),
            403 => Err(Cause::Forbidden { at, said }),
            404 => Err(Cause::NotFound {
                at,
                by_registry: self.is_by_registry(),
                said,
            }),
            _ => Err(Cause::Status { at, status, said }),
        }
    }

    /// Tells a registry that lacks the schema from a server that is no registry.
    fn is_by_registry(&self) -> bool {
        let body: Result<serde_json::Map<String, Value>, _> = self.json();
        // Confluent's API gives a code, Apicurio's own the name of an exception.
        body.is_ok_and(|body| {
            body.contains_key("error_code")
                || (body.contains_key("name") && body.contains_key("status"))
        })
    }

    /// Gives a header's text, in lower case.
    pub(super) fn header(&self, name: &HeaderName) -> String {
        let text = self.headers.get(name).and_then(|value| value.to_str().ok());
        text.unwrap_or_default().to_ascii_lowercase()
    }

    /// Reads the body as JSON.
    pub(super) fn json<T: DeserializeOwned>(&self) -> Result<T, Cause> {
        serde_json::from_slice(&self.body).map_err(|error| Cause::Unreadable {
            at: self.at.clone(),
            // A parser's own text may show a piece of the body.
            why: if error.is_data() {
                "it is JSON of another shape".to_owned()
            } else {
                "it is no JSON".to_owned()
            },
        })
    }

    /// Gives what the registry itself says about a failure: one short line.
    pub(super) fn said(&self) -> String {
        let Ok(Value::Object(object)) = serde_json::from_slice(&self.body) else {
            return String::new();
        };
        let keys = ["message", "detail", "title", "error_description", "error"];
        let text = keys
            .iter()
            .find_map(|key| object.get(*key)?.as_str())
            .unwrap_or_default();
        let text: String = text
            .chars()
            .map(|c| if c.is_control() { ' ' } else { c })
            .take(MAX_SAID)
            .collect();
        text.trim().to_owned()
    }
}

/// Escapes what stands in one segment of a path, or in one value of a query; once.
pub(super) fn escaped(text: &str) -> String {
    utf8_percent_encode(text, RESERVED).to_string()
}

/// All but the characters that a URL gives no meaning.
const RESERVED: &AsciiSet = &NON_ALPHANUMERIC
    .remove(b'-')
    .remove(b'.')
    .remove(b'_')
    .remove(b'~');

/// Keeps an address's base path.
pub(super) fn as_given(base: &str) -> String {
    base.to_owned()
}

#[cfg(test)]
mod tests;
