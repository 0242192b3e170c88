//! `ApiVersions`: which requests, in which versions.

use bytes::Bytes;
use kafka_protocol::ResponseError;
use kafka_protocol::messages::api_versions_response::{ApiVersion, ApiVersionsResponse};
use kafka_protocol::messages::{ApiKey, ApiVersionsRequest, RequestHeader};

use super::super::connection::{encode, encode_as};

/// Lists what is served; a version that is too new is answered in version 0, with an error.
pub(super) fn answer(header: &RequestHeader) -> anyhow::Result<Bytes> {
    let rows = super::served().map(|(key, min, max)| {
        // As Kafka 4 does: librdkafka below 2.8 takes a minimum above 2 for a broker too old for it.
        let min = if key == ApiKey::Produce as i16 {
            0
        } else {
            min
        };
        ApiVersion::default()
            .with_api_key(key)
            .with_min_version(min)
            .with_max_version(max)
    });
    let response = ApiVersionsResponse::default().with_api_keys(rows.into());
    if super::serves::<ApiVersionsRequest>(header.request_api_version) {
        return encode(header, &response);
    }
    let refused = response.with_error_code(ResponseError::UnsupportedVersion.code());
    encode_as(header, &refused, 0, 0)
}
