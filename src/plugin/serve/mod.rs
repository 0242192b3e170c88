//! SHELL: the process that Grafana starts, as hashicorp's go-plugin wants it.
//!
//! The plugin prints one line that says where it listens, answers gRPC on a unix socket, and ends when it is asked to.

mod controller;
mod guard;
mod socket;

use std::convert::Infallible;
use std::env;
use std::io::{self, Write};
use std::process::ExitCode;
use std::sync::Arc;
use std::time::Duration;

use grafana_plugin_sdk::pluginv2::diagnostics_server::DiagnosticsServer;
use grafana_plugin_sdk::pluginv2::resource_server::ResourceServer;
use grafana_plugin_sdk::pluginv2::stream_server::StreamServer;
use thiserror::Error;
use tokio::runtime;
use tokio::signal::unix::{SignalKind, signal};
use tokio::sync::watch;
use tokio::time::sleep;
use tokio_stream::wrappers::UnixListenerStream;
use tonic::body::BoxBody;
use tonic::codegen::{Service, http};
use tonic::server::NamedService;
use tonic::transport::Server;
use tonic::transport::server::Router;
use tonic_health::ServingStatus;
use tracing::{error, info};

use self::controller::Controller;
use self::guard::Guarded;
use self::socket::PrivateSocket;
use super::health::Diagnostics;
use super::instance::Instances;
use super::query::{Queries, QueryData};
use super::resource::Resources;
use super::stream::Streams;
use super::telemetry;
use super::unary::OneCall;
use crate::perf::PerfFlags;

/// go-plugin's protocol version, and the version of Grafana's plugin protocol on top of it.
const HANDSHAKE: &str = "1|2|unix";
/// What Grafana sets so that a plugin knows who started it.
const COOKIE: (&str, &str) = ("grafana_plugin_type", "datasource");
/// The service name under which go-plugin asks for health.
const HEALTH_NAME: &str = "plugin";
/// What Grafana's own SDK accepts.
const MAX_MESSAGE: usize = 16 << 20;
/// Grafana sends a user's cookies and tokens along; Go's limit is far above hyper's 16 KiB.
const MAX_HEADERS: u32 = 1 << 20;
/// How long the answer to Shutdown may take to leave while streams still run.
const FAREWELL: Duration = Duration::from_millis(25);

const BY_HAND: &str = concat!(
    "Streamscope ",
    env!("CARGO_PKG_VERSION"),
    " is a Grafana data source for Apache Kafka. It is not meant to be run by hand: put its folder into Grafana's \
     plugin folder, and Grafana starts it."
);

/// Runs the plugin until Grafana ends it, and gives the exit code.
pub fn run() -> ExitCode {
    if env::var(COOKIE.0).as_deref() != Ok(COOKIE.1) {
        // Nobody is left to tell if this cannot be written.
        let _ = writeln!(io::stderr(), "{BY_HAND}");
        return ExitCode::FAILURE;
    }
    telemetry::init(|name| env::var(name).ok());
    let result = runtime::Builder::new_multi_thread()
        .enable_all()
        .thread_name("streamscope")
        .build()
        .map_err(ServeError::Runtime)
        .and_then(|runtime| {
            let result = runtime.block_on(serve());
            // Closing consumers takes 100 ms each, and their calls may block for longer: they end with the process.
            runtime.shutdown_background();
            result
        });
    let code = match result {
        Ok(()) => 0,
        Err(error) => {
            error!("{error}");
            1
        }
    };
    // Without exit handlers: OpenSSL's would free what librdkafka's threads still use.
    signal_hook::low_level::exit(code)
}

#[derive(Debug, Error)]
enum ServeError {
    #[error("no async runtime: {0}")]
    Runtime(io::Error),
    #[error("no signal handler: {0}")]
    Signal(io::Error),
    #[error(transparent)]
    Socket(#[from] socket::SocketError),
    #[error("Grafana is not reading what this plugin prints: {0}")]
    Handshake(io::Error),
    #[error("the gRPC server stopped: {0}")]
    Transport(#[from] tonic::transport::Error),
}

async fn serve() -> Result<(), ServeError> {
    let mut terminate = signal(SignalKind::terminate()).map_err(ServeError::Signal)?;
    // Ctrl-C in a terminal reaches Grafana and its plugins alike; Grafana then ends them in order. To listen for the
    // signal is enough: its default action does not come back.
    let _interrupt = signal(SignalKind::interrupt()).map_err(ServeError::Signal)?;
    let (socket, listener) = PrivateSocket::bind(env::var_os("PLUGIN_UNIX_SOCKET_DIR"))?;

    let (controller, stopped) = Controller::new();
    let router = services(controller).await;
    // Where nothing else runs, the server ends in order: the last answer has been sent. Streams are not waited for.
    let serving = router.serve_with_incoming_shutdown(
        UnixListenerStream::new(listener),
        asked_to_stop(stopped.clone()),
    );
    let out_of_patience = async {
        asked_to_stop(stopped).await;
        sleep(FAREWELL).await;
    };

    let served = async {
        say_hello(&socket).map_err(ServeError::Handshake)?;
        info!(version = env!("CARGO_PKG_VERSION"), "plugin started");
        tokio::select! {
            served = serving => served.map_err(ServeError::from),
            () = out_of_patience => Ok(()),
            _ = terminate.recv() => Ok(()),
        }
    };
    let result = served.await;
    socket.remove();
    result
}

async fn asked_to_stop(mut stopped: watch::Receiver<bool>) {
    // An error would mean that the controller is gone, and the server with it.
    let _ = stopped.wait_for(|stopped| *stopped).await;
}

async fn services(controller: Controller) -> Router {
    let (mut reporter, health) = tonic_health::server::health_reporter();
    reporter
        .set_service_status(HEALTH_NAME, ServingStatus::Serving)
        .await;
    let flags = PerfFlags::from_env(|name| env::var(name).ok());
    let instances = Arc::new(Instances::new(flags));

    let diagnostics = DiagnosticsServer::new(Diagnostics::new(Arc::clone(&instances)));
    let resources = ResourceServer::new(Resources::new(Arc::clone(&instances)));
    let data = OneCall::new(
        QueryData::new(Queries::new(Arc::clone(&instances))),
        MAX_MESSAGE,
    );
    let streams = StreamServer::new(Streams::new(instances));
    Server::builder()
        // hyper's limit of 200 calls a connection would stop the 201st panel.
        .max_concurrent_streams(u32::MAX)
        // Closing a dashboard cancels many calls at once, which is no attack here.
        .http2_max_pending_accept_reset_streams(Some(usize::from(u16::MAX)))
        .http2_max_header_list_size(MAX_HEADERS)
        .add_service(health)
        .add_service(OneCall::new(controller, MAX_MESSAGE))
        .add_service(guarded(diagnostics.max_decoding_message_size(MAX_MESSAGE)))
        .add_service(guarded(resources.max_decoding_message_size(MAX_MESSAGE)))
        .add_service(guarded(data))
        .add_service(guarded(streams.max_decoding_message_size(MAX_MESSAGE)))
}

/// Wraps a service so that a panic in it is an error of one call.
fn guarded<S>(service: S) -> Guarded<S>
where
    S: Service<http::Request<BoxBody>, Response = http::Response<BoxBody>, Error = Infallible>
        + NamedService,
{
    Guarded::new(service)
}

/// Prints the one line that stdout ever sees.
fn say_hello(socket: &PrivateSocket) -> io::Result<()> {
    let mut stdout = io::stdout().lock();
    writeln!(stdout, "{HANDSHAKE}|{}|grpc|", socket.path().display())?;
    stdout.flush()
}
