//! One HTTP request a connection.

use std::net::SocketAddr;

use bytes::Bytes;
use http_body_util::{BodyExt as _, Full};
use hyper_util::rt::TokioIo;
use serde_json::Value;
use tokio::net::TcpStream;
use workbench::server::Server;

/// Calls the server, and gives the status and the body, where that is JSON.
pub(crate) async fn call(server: &Server, method: &str, path: &str, body: &str) -> (u16, Value) {
    call_at(server.address(), method, path, body).await
}

/// Calls whatever listens there.
pub(crate) async fn call_at(
    address: SocketAddr,
    method: &str,
    path: &str,
    body: &str,
) -> (u16, Value) {
    let socket = TcpStream::connect(address).await.expect("connected");
    let (mut sender, connection) = hyper::client::conn::http1::handshake(TokioIo::new(socket))
        .await
        .expect("HTTP");
    tokio::spawn(connection);
    let request = hyper::Request::builder()
        .method(method)
        .uri(path)
        .header("host", "workbench")
        .header("content-type", "application/json")
        .body(Full::new(Bytes::from(body.to_owned())))
        .expect("a request");
    let answer = sender.send_request(request).await.expect("answered");
    let status = answer.status().as_u16();
    let body = answer
        .into_body()
        .collect()
        .await
        .expect("a body")
        .to_bytes();
    (status, serde_json::from_slice(&body).unwrap_or_default())
}
