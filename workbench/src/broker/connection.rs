//! One client's connection: frames in, frames out, one request after the other.

use anyhow::{Context as _, bail};
use bytes::{BufMut as _, Bytes, BytesMut};
use kafka_protocol::messages::{ApiKey, ApiVersionsRequest, RequestHeader, ResponseHeader};
use kafka_protocol::protocol::{Decodable, Encodable, decode_request_header_from_buffer};
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::TcpStream;

use super::Node;
use super::api;

/// Serves until the client leaves or breaks the protocol.
pub(super) async fn serve(mut socket: TcpStream, node: Node) -> anyhow::Result<()> {
    socket.set_nodelay(true)?;
    let mut session = Session {
        authenticated: node.sasl.is_none(),
    };
    while let Some(mut request) = read_frame(&mut socket).await? {
        let header = decode_header(&mut request)?;
        if let Some(response) = api::answer(&node, &mut session, &header, request).await? {
            socket.write_all(&response).await?;
        }
    }
    Ok(())
}

/// What a connection has come to know about its client.
pub(super) struct Session {
    pub(super) authenticated: bool,
}

/// Encodes a response with its length and header.
pub(super) fn encode<A: Encodable>(header: &RequestHeader, answer: &A) -> anyhow::Result<Bytes> {
    let version = header.request_api_version;
    let key = ApiKey::try_from(header.request_api_key)
        .map_err(|()| anyhow::anyhow!("unknown API key {}", header.request_api_key))?;
    encode_as(
        header,
        answer,
        version,
        key.response_header_version(version),
    )
}

/// Encodes a response in another version than the request's: for refused versions.
pub(super) fn encode_as<A: Encodable>(
    header: &RequestHeader,
    answer: &A,
    version: i16,
    header_version: i16,
) -> anyhow::Result<Bytes> {
    let mut frame = BytesMut::new();
    frame.put_i32(0);
    ResponseHeader::default()
        .with_correlation_id(header.correlation_id)
        .encode(&mut frame, header_version)?;
    answer.encode(&mut frame, version).with_context(|| {
        format!(
            "response to API {} version {version}",
            header.request_api_key
        )
    })?;
    let length = frame.len() as i32 - 4;
    frame[..4].copy_from_slice(&length.to_be_bytes());
    Ok(frame.freeze())
}

async fn read_frame(socket: &mut TcpStream) -> anyhow::Result<Option<Bytes>> {
    let length = match socket.read_i32().await {
        Ok(length) => usize::try_from(length).unwrap_or(usize::MAX),
        Err(error) if error.kind() == std::io::ErrorKind::UnexpectedEof => return Ok(None),
        Err(error) => return Err(error.into()),
    };
    if !(MIN_REQUEST..=MAX_REQUEST).contains(&length) {
        bail!("a request of {length} bytes");
    }
    let mut frame = BytesMut::zeroed(length);
    socket.read_exact(&mut frame).await?;
    Ok(Some(frame.freeze()))
}

/// Decodes a request's header, of `ApiVersions` in a version that is not known too: clients start
/// with their highest and expect an answer that names ours.
fn decode_header(request: &mut Bytes) -> anyhow::Result<RequestHeader> {
    let key = i16::from_be_bytes([request[0], request[1]]);
    let version = i16::from_be_bytes([request[2], request[3]]);
    if key == ApiKey::ApiVersions as i16 && !api::serves::<ApiVersionsRequest>(version) {
        return RequestHeader::decode(request, 1);
    }
    decode_request_header_from_buffer(request)
}

/// API key, version, correlation id.
const MIN_REQUEST: usize = 8;
/// As `socket.request.max.bytes` of a real broker.
const MAX_REQUEST: usize = 100 << 20;
