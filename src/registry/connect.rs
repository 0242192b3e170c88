//! A connection to an address: TCP, and TLS by the OpenSSL that librdkafka links too.

use std::io;
use std::path::Path;
use std::pin::Pin;
use std::time::Duration;

use openssl::error::ErrorStack;
use openssl::pkey::PKey;
use openssl::ssl::{SslConnector, SslMethod, SslVerifyMode, SslVersion};
use openssl::x509::store::X509StoreBuilder;
use openssl::x509::{X509, X509VerifyResult};
use tokio::io::{AsyncRead, AsyncWrite};
use tokio::net::TcpStream;
use tokio::sync::OnceCell;
use tokio::task::spawn_blocking;
use tokio::time::timeout;
use tokio_openssl::SslStream;

use super::errors::Cause;
use crate::config::{ClientCertificate, RegistryTls, RegistryUrl};

/// How long one address may take to accept; the request's deadline counts beside it.
const CONNECT_LIMIT: Duration = Duration::from_secs(2);

/// Is a connection's two directions.
pub(super) trait Duplex: AsyncRead + AsyncWrite + Send + Unpin {}

impl<T: AsyncRead + AsyncWrite + Send + Unpin> Duplex for T {}

/// Connects, and trusts as the settings say; certificates are read when TLS is first needed.
pub(super) struct Connector {
    tls: RegistryTls,
    context: OnceCell<Result<Context, Cause>>,
}

#[derive(Clone)]
struct Context {
    connector: SslConnector,
    /// Whether there is any CA to trust.
    trusts_any: bool,
}

impl Connector {
    pub(super) fn new(tls: RegistryTls) -> Self {
        Self {
            tls,
            context: OnceCell::new(),
        }
    }

    /// Connects to the origin of `url`.
    pub(super) async fn connect(&self, url: &RegistryUrl) -> Result<Box<dyn Duplex>, Cause> {
        let unreachable = |reason: String| Cause::Unreachable {
            at: url.to_string(),
            reason,
        };
        let address = (url.host.as_str(), url.port);
        let stream = match timeout(CONNECT_LIMIT, TcpStream::connect(address)).await {
            Ok(Ok(stream)) => stream,
            Ok(Err(error)) => return Err(unreachable(error.to_string())),
            Err(_) => {
                return Err(unreachable(format!(
                    "no connection within {} ms",
                    CONNECT_LIMIT.as_millis()
                )));
            }
        };
        if !url.https {
            return Ok(Box::new(stream));
        }
        let context = self.context().await?;
        let name = self.tls.server_name.as_deref().unwrap_or(&url.host);
        let fault = |reason: String| Cause::Tls {
            at: url.to_string(),
            reason,
        };
        let ssl = context
            .connector
            .configure()
            .map(|configured| configured.verify_hostname(!self.tls.skip_verify))
            .and_then(|configured| configured.into_ssl(name))
            .map_err(|error| fault(first_reason(&error)))?;
        let mut stream =
            SslStream::new(ssl, stream).map_err(|error| fault(first_reason(&error)))?;
        if let Err(error) = Pin::new(&mut stream).connect().await {
            let verified = stream.ssl().verify_result();
            return Err(fault(handshake_reason(
                &error,
                verified,
                name,
                context.trusts_any,
            )));
        }
        Ok(Box::new(stream))
    }

    async fn context(&self) -> Result<Context, Cause> {
        let made = self.context.get_or_init(|| async {
            let tls = self.tls.clone();
            // Hundreds of CA certificates are read and parsed.
            spawn_blocking(move || context(&tls))
                .await
                .unwrap_or(Err(Cause::BrokenOff))
        });
        made.await.clone()
    }
}

fn context(tls: &RegistryTls) -> Result<Context, Cause> {
    let system = |error: ErrorStack| Cause::Material(format!("OpenSSL: {}", first_reason(&error)));
    let mut builder = SslConnector::builder(SslMethod::tls_client()).map_err(system)?;
    builder
        .set_min_proto_version(Some(SslVersion::TLS1_2))
        .map_err(system)?;
    let mut trusts_any = true;
    if tls.skip_verify {
        builder.set_verify(SslVerifyMode::NONE);
    } else if let Some(ca) = &tls.ca {
        // A new store, since the builder's has the system's CAs already.
        let mut store = X509StoreBuilder::new().map_err(system)?;
        for certificate in certificates(ca, "schemaRegistryTlsCACert")? {
            store.add_cert(certificate).map_err(system)?;
        }
        builder.set_cert_store(store.build());
    } else {
        // A statically linked OpenSSL looks where it was built, so the usual places are tried too.
        let places = openssl_probe::probe();
        let (file, dir) = (
            places.cert_file.as_deref(),
            places.cert_dir.first().map(AsRef::<Path>::as_ref),
        );
        if file.is_some() || dir.is_some() {
            builder.load_verify_locations(file, dir).map_err(system)?;
        }
        trusts_any = file.is_some() || dir.is_some() || tls.brokers_ca.is_some();
        if let Some(ca) = &tls.brokers_ca {
            for certificate in certificates(ca, "tlsCACert")? {
                builder
                    .cert_store_mut()
                    .add_cert(certificate)
                    .map_err(system)?;
            }
        }
    }
    if let Some(client) = &tls.client {
        let [certificate, chain @ ..] =
            &certificates(&client.certificate, "schemaRegistryTlsClientCert")?[..]
        else {
            return Err(no_pem("schemaRegistryTlsClientCert", "certificate"));
        };
        builder.set_certificate(certificate).map_err(system)?;
        for certificate in chain {
            builder
                .add_extra_chain_cert(certificate.clone())
                .map_err(system)?;
        }
        builder
            .set_private_key(private_key(client)?.as_ref())
            .map_err(|_| does_not_fit())?;
        builder.check_private_key().map_err(|_| does_not_fit())?;
    }
    Ok(Context {
        connector: builder.build(),
        trusts_any,
    })
}

fn certificates(pem: &str, key: &str) -> Result<Vec<X509>, Cause> {
    match X509::stack_from_pem(pem.as_bytes()) {
        Ok(certificates) if !certificates.is_empty() => Ok(certificates),
        _ => Err(no_pem(key, "certificate")),
    }
}

fn private_key(client: &ClientCertificate) -> Result<PKey<openssl::pkey::Private>, Cause> {
    // The callback stands for the prompt that OpenSSL opens on the terminal for an encrypted key.
    PKey::private_key_from_pem_callback(client.key.expose().as_bytes(), |_| Ok(0)).map_err(|_| {
        no_pem(
            "schemaRegistryTlsClientKey",
            "private key without a passphrase",
        )
    })
}

fn no_pem(key: &str, what: &str) -> Cause {
    Cause::Material(format!(
        "`{key}` must be a {what} in PEM, with its BEGIN and END lines: paste it again"
    ))
}

fn does_not_fit() -> Cause {
    Cause::Material("`schemaRegistryTlsClientKey` is not the key of `schemaRegistryTlsClientCert`: paste the pair that belongs together".to_owned())
}

/// Says why TLS failed and what to do; OpenSSL's own words name the step.
fn handshake_reason(
    error: &openssl::ssl::Error,
    verified: X509VerifyResult,
    name: &str,
    trusts_any: bool,
) -> String {
    const ISSUER_UNKNOWN: [i32; 4] = [18, 19, 20, 21];
    let code = verified.as_raw();
    if verified != X509VerifyResult::OK {
        let what = verified.error_string();
        let hint = match code {
            62..=64 => format!("its certificate is not for `{name}`: set `schemaRegistryServerName` to the name that it carries"),
            10 => "its certificate has expired and must be renewed".to_owned(),
            _ if ISSUER_UNKNOWN.contains(&code) && !trusts_any => "this system has no CA certificates: set `schemaRegistryTlsCACert` to the CA that signed the registry's certificate".to_owned(),
            _ if ISSUER_UNKNOWN.contains(&code) => "set `schemaRegistryTlsCACert` to the CA that signed the registry's certificate".to_owned(),
            _ => "look at the registry's certificate".to_owned(),
        };
        return format!("its certificate is refused ({what}): {hint}");
    }
    let stack = error.ssl_error().map(first_reason);
    let io = error.io_error().map(io::Error::to_string);
    let reason = stack
        .or(io)
        .unwrap_or_else(|| "the connection was closed".to_owned());
    let hint =
        if reason.contains("wrong version number") || reason.contains("packet length too long") {
            ": that port speaks no TLS, so the URL should perhaps begin with http://"
        } else if reason.contains("certificate required") || reason.contains("bad certificate") {
            CLIENT_HINT
        } else {
            ""
        };
    format!("{reason}{hint}")
}

/// What a server means that refuses a client; with TLS 1.3 that shows when the answer is read.
pub(super) const CLIENT_HINT: &str = ": the registry wants another client certificate, so look at `schemaRegistryTlsClientCert` and `schemaRegistryTlsClientKey`";

fn first_reason(error: &ErrorStack) -> String {
    let reason = error
        .errors()
        .first()
        .and_then(openssl::error::Error::reason);
    reason.unwrap_or("no reason given").to_owned()
}
