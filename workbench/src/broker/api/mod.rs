//! The requests that the broker answers.

mod admin;
mod configs;
mod coordinator;
mod fetch;
mod list_offsets;
mod metadata;
mod produce;
mod sasl;
mod versions;

use anyhow::bail;
use bytes::Bytes;
use kafka_protocol::messages::{
    ApiKey, ApiVersionsRequest, CreatePartitionsRequest, CreateTopicsRequest, DeleteTopicsRequest,
    DescribeConfigsRequest, DescribeTopicPartitionsRequest, FetchRequest, FindCoordinatorRequest,
    InitProducerIdRequest, ListOffsetsRequest, MetadataRequest, ProduceRequest, RequestHeader,
    SaslAuthenticateRequest, SaslHandshakeRequest,
};
use kafka_protocol::protocol::Request;

use super::Node;
use super::connection::{Session, encode};

/// Answers one request. `None` where the client wants no answer; an error ends the connection.
pub(super) async fn answer(
    node: &Node,
    session: &mut Session,
    header: &RequestHeader,
    body: Bytes,
) -> anyhow::Result<Option<Bytes>> {
    let key = ApiKey::try_from(header.request_api_key)
        .map_err(|()| anyhow::anyhow!("unknown API key {}", header.request_api_key))?;
    match key {
        ApiKey::ApiVersions => return versions::answer(header).map(Some),
        ApiKey::SaslHandshake => return sync(header, body, |r| sasl::handshake(node, &r)),
        ApiKey::SaslAuthenticate => {
            return sync(header, body, |r| sasl::authenticate(node, session, &r));
        }
        _ if !session.authenticated => bail!("a request before authentication"),
        _ => {}
    }
    match key {
        ApiKey::Metadata => sync(header, body, |r| metadata::answer(node, r)),
        ApiKey::DescribeTopicPartitions => {
            sync(header, body, |r| metadata::describe_partitions(node, &r))
        }
        ApiKey::Produce => produce::answer(node, header, decode(header, body)?),
        ApiKey::Fetch => {
            let response = fetch::answer(node, header.request_api_version, decode(header, body)?);
            encode(header, &response.await).map(Some)
        }
        ApiKey::ListOffsets => sync(header, body, |r| list_offsets::answer(node, header, r)),
        ApiKey::CreateTopics => sync(header, body, |r| admin::create(node, header, r)),
        ApiKey::CreatePartitions => sync(header, body, |r| admin::grow(node, r)),
        ApiKey::DeleteTopics => sync(header, body, |r| admin::delete(node, header, r)),
        ApiKey::DescribeConfigs => sync(header, body, |r| configs::answer(node, r)),
        ApiKey::FindCoordinator => sync(header, body, |r| coordinator::find(node, header, r)),
        ApiKey::InitProducerId => sync(header, body, |r| coordinator::producer_id(&r)),
        other => bail!("{other:?} is not served"),
    }
}

/// Tells whether a version of a request is served: all that `kafka-protocol` can decode.
pub(super) fn serves<R: Request>(version: i16) -> bool {
    (R::VERSIONS.min..=R::VERSIONS.max).contains(&version)
}

/// The requests served, with their lowest and highest version.
fn served() -> [(i16, i16, i16); 14] {
    fn row<R: Request>() -> (i16, i16, i16) {
        (R::KEY, R::VERSIONS.min, R::VERSIONS.max)
    }
    [
        row::<ProduceRequest>(),
        row::<FetchRequest>(),
        row::<ListOffsetsRequest>(),
        row::<MetadataRequest>(),
        row::<FindCoordinatorRequest>(),
        row::<SaslHandshakeRequest>(),
        row::<ApiVersionsRequest>(),
        row::<CreateTopicsRequest>(),
        row::<DeleteTopicsRequest>(),
        row::<InitProducerIdRequest>(),
        row::<DescribeConfigsRequest>(),
        row::<SaslAuthenticateRequest>(),
        row::<CreatePartitionsRequest>(),
        row::<DescribeTopicPartitionsRequest>(),
    ]
}

fn decode<R: Request>(header: &RequestHeader, mut body: Bytes) -> anyhow::Result<R> {
    if !serves::<R>(header.request_api_version) {
        bail!(
            "API {} version {}",
            header.request_api_key,
            header.request_api_version
        );
    }
    R::decode(&mut body, header.request_api_version)
}

fn sync<R: Request>(
    header: &RequestHeader,
    body: Bytes,
    handle: impl FnOnce(R) -> R::Response,
) -> anyhow::Result<Option<Bytes>> {
    let request = decode(header, body)?;
    encode(header, &handle(request)).map(Some)
}
