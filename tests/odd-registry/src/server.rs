//! An HTTP server that answers as a test says, and remembers what it was asked.

use std::net::{SocketAddr, TcpListener as StdListener};
use std::pin::Pin;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use anyhow::Result;
use http_body_util::{BodyExt as _, Full};
use hyper::body::{Bytes, Incoming};
use hyper::server::conn::http1;
use hyper::service::service_fn;
use hyper::{Response, StatusCode};
use hyper_util::rt::TokioIo;
use openssl::pkey::PKey;
use openssl::ssl::{Ssl, SslAcceptor, SslMethod, SslVerifyMode};
use openssl::x509::X509;
use openssl::x509::store::X509StoreBuilder;
use serde_json::Value;
use tokio::io::{AsyncRead, AsyncWrite};
use tokio::net::TcpListener;
use tokio::runtime::{Builder, Runtime};
use tokio_openssl::SslStream;

use crate::{Authority, Identity};

/// Is a request as it came.
#[derive(Debug, Clone)]
pub struct Request {
    pub method: String,
    /// Path and query, escaped as they were.
    pub target: String,
    /// Names in lower case.
    pub headers: Vec<(String, String)>,
    pub body: Vec<u8>,
}

impl Request {
    /// Gives a header's text; empty where there is none.
    pub fn header(&self, name: &str) -> &str {
        let found = self.headers.iter().find(|(known, _)| known == name);
        found.map_or("", |(_, value)| value)
    }

    /// Gives the path without its query.
    pub fn path(&self) -> &str {
        self.target.split('?').next().unwrap_or_default()
    }
}

/// Is an answer, and when it comes.
#[derive(Debug, Clone)]
pub struct Reply {
    status: u16,
    headers: Vec<(String, String)>,
    body: Bytes,
    delay: Duration,
}

impl Reply {
    /// Answers with JSON.
    pub fn json(status: u16, body: &Value) -> Self {
        Self::text(
            status,
            "application/vnd.schemaregistry.v1+json",
            &body.to_string(),
        )
    }

    /// Answers with a text of any type.
    pub fn text(status: u16, content_type: &str, body: &str) -> Self {
        Self {
            status,
            headers: vec![("content-type".to_owned(), content_type.to_owned())],
            body: Bytes::copy_from_slice(body.as_bytes()),
            delay: Duration::ZERO,
        }
    }

    /// Answers with a redirect.
    pub fn redirect(status: u16, location: &str) -> Self {
        Self::text(status, "text/plain", "").header("location", location)
    }

    /// Adds a header.
    #[must_use]
    pub fn header(mut self, name: &str, value: &str) -> Self {
        self.headers.push((name.to_owned(), value.to_owned()));
        self
    }

    /// Answers later.
    #[must_use]
    pub fn after(mut self, delay: Duration) -> Self {
        self.delay = delay;
        self
    }
}

type Handler = dyn Fn(&Request) -> Reply + Send + Sync;

/// Is a server on a free port, with threads of its own; dropping it ends it.
pub struct Server {
    address: SocketAddr,
    https: bool,
    requests: Arc<Mutex<Vec<Request>>>,
    runtime: Option<Runtime>,
}

impl Server {
    /// Serves HTTP.
    pub fn start(handler: impl Fn(&Request) -> Reply + Send + Sync + 'static) -> Result<Self> {
        Self::serve(None, Arc::new(handler))
    }

    /// Serves HTTPS; with `clients`, only to who has a certificate that it signed.
    pub fn start_tls(
        identity: &Identity,
        clients: Option<&Authority>,
        handler: impl Fn(&Request) -> Reply + Send + Sync + 'static,
    ) -> Result<Self> {
        let mut acceptor = SslAcceptor::mozilla_intermediate_v5(SslMethod::tls_server())?;
        acceptor.set_certificate(&*X509::from_pem(identity.certificate.as_bytes())?)?;
        acceptor.set_private_key(&*PKey::private_key_from_pem(identity.key.as_bytes())?)?;
        if let Some(clients) = clients {
            let mut store = X509StoreBuilder::new()?;
            store.add_cert(X509::from_pem(clients.pem().as_bytes())?)?;
            acceptor.set_verify_cert_store(store.build())?;
            acceptor.set_verify(SslVerifyMode::PEER | SslVerifyMode::FAIL_IF_NO_PEER_CERT);
        }
        Self::serve(Some(acceptor.build()), Arc::new(handler))
    }

    fn serve(acceptor: Option<SslAcceptor>, handler: Arc<Handler>) -> Result<Self> {
        let listener = StdListener::bind("127.0.0.1:0")?;
        listener.set_nonblocking(true)?;
        let address = listener.local_addr()?;
        let requests = Arc::<Mutex<Vec<Request>>>::default();
        let runtime = Builder::new_multi_thread()
            .worker_threads(1)
            .enable_all()
            .build()?;
        let (https, seen) = (acceptor.is_some(), Arc::clone(&requests));
        runtime.spawn(async move {
            let Ok(listener) = TcpListener::from_std(listener) else {
                return;
            };
            while let Ok((stream, _)) = listener.accept().await {
                let (acceptor, handler, seen) =
                    (acceptor.clone(), Arc::clone(&handler), Arc::clone(&seen));
                tokio::spawn(async move {
                    let Some(acceptor) = acceptor else {
                        return converse(stream, handler, seen).await;
                    };
                    let Ok(mut stream) =
                        Ssl::new(acceptor.context()).and_then(|ssl| SslStream::new(ssl, stream))
                    else {
                        return;
                    };
                    if Pin::new(&mut stream).accept().await.is_ok() {
                        converse(stream, handler, seen).await;
                    }
                });
            }
        });
        Ok(Self {
            address,
            https,
            requests,
            runtime: Some(runtime),
        })
    }

    /// Gives the address, without a path.
    pub fn url(&self) -> String {
        format!(
            "{}://{}",
            if self.https { "https" } else { "http" },
            self.address
        )
    }

    /// Gives what was asked so far, in the order in which it came.
    pub fn requests(&self) -> Vec<Request> {
        self.requests
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .clone()
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        if let Some(runtime) = self.runtime.take() {
            runtime.shutdown_background();
        }
    }
}

/// Answers the requests of one connection.
async fn converse(
    stream: impl AsyncRead + AsyncWrite + Unpin + Send + 'static,
    handler: Arc<Handler>,
    seen: Arc<Mutex<Vec<Request>>>,
) {
    let service = service_fn(move |request: hyper::Request<Incoming>| {
        let (handler, seen) = (Arc::clone(&handler), Arc::clone(&seen));
        async move {
            let request = read(request).await;
            seen.lock()
                .unwrap_or_else(PoisonError::into_inner)
                .push(request.clone());
            let reply = handler(&request);
            tokio::time::sleep(reply.delay).await;
            write(reply)
        }
    });
    // A client that leaves is no failure of the server.
    let _ = http1::Builder::new()
        .serve_connection(TokioIo::new(stream), service)
        .await;
}

async fn read(request: hyper::Request<Incoming>) -> Request {
    let (head, body) = request.into_parts();
    let headers = head.headers.iter().map(|(name, value)| {
        let value = String::from_utf8_lossy(value.as_bytes()).into_owned();
        (name.as_str().to_owned(), value)
    });
    Request {
        method: head.method.to_string(),
        target: head.uri.to_string(),
        headers: headers.collect(),
        body: body
            .collect()
            .await
            .map(|body| body.to_bytes().to_vec())
            .unwrap_or_default(),
    }
}

fn write(reply: Reply) -> std::result::Result<Response<Full<Bytes>>, hyper::http::Error> {
    let mut response = Response::builder()
        .status(StatusCode::from_u16(reply.status).unwrap_or(StatusCode::INTERNAL_SERVER_ERROR));
    for (name, value) in reply.headers {
        response = response.header(name, value);
    }
    response.body(Full::new(reply.body))
}
