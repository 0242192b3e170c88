//! A plugin that does what its requests tell it to, so that a host can be watched.
//!
//! It is served by the messages and servers of `grafana-plugin-sdk`, not by the workbench's own.

mod controller;
mod services;

use std::io::Write as _;

use grafana_plugin_sdk::pluginv2::data_server::DataServer;
use grafana_plugin_sdk::pluginv2::diagnostics_server::DiagnosticsServer;
use grafana_plugin_sdk::pluginv2::resource_server::ResourceServer;
use grafana_plugin_sdk::pluginv2::stream_server::StreamServer;
use tokio::net::UnixListener;
use tokio_stream::wrappers::UnixListenerStream;

/// How the process behaves beside its calls, from the environment variable `GF_FAKE`:
/// `ignore-shutdown`, `stray` (writes on after the handshake), `no-handshake`, `not-serving`.
fn mode() -> String {
    std::env::var("GF_FAKE").unwrap_or_default()
}

/// Serves until Shutdown.
pub(crate) fn run() {
    let runtime = tokio::runtime::Runtime::new().expect("a runtime");
    runtime.block_on(serve());
}

async fn serve() {
    let mode = mode();
    eprintln!(r#"{{"@level":"info","@message":"starting","@timestamp":"now","mode":{mode:?}}}"#);
    eprintln!("a plain line");
    if mode == "no-handshake" {
        return;
    }
    let dir = tempfile::tempdir().expect("a folder for the socket");
    let socket = dir.path().join("plugin");
    let listener = UnixListener::bind(&socket).expect("a socket");
    let (health, health_service) = tonic_health::server::health_reporter();
    let serving = if mode == "not-serving" {
        tonic_health::ServingStatus::NotServing
    } else {
        tonic_health::ServingStatus::Serving
    };
    let mut health = health;
    health.set_service_status("plugin", serving).await;

    println!("1|2|unix|{}|grpc|", socket.display());
    if mode == "stray" {
        println!("a stray line");
    }
    std::io::stdout().flush().expect("a standard output");

    let services = services::Services::default();
    tonic::transport::Server::builder()
        .add_service(health_service)
        .add_service(controller::Controller)
        .add_service(DiagnosticsServer::new(services.clone()))
        .add_service(ResourceServer::new(services.clone()))
        .add_service(DataServer::new(services.clone()))
        .add_service(StreamServer::new(services))
        .serve_with_incoming(UnixListenerStream::new(listener))
        .await
        .expect("served");
}
