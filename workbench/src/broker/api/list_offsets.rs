//! Offsets by time, and the first and last ones.

use kafka_protocol::ResponseError;
use kafka_protocol::messages::list_offsets_request::ListOffsetsPartition;
use kafka_protocol::messages::list_offsets_response::{
    ListOffsetsPartitionResponse, ListOffsetsTopicResponse,
};
use kafka_protocol::messages::{ListOffsetsRequest, ListOffsetsResponse, RequestHeader};

use super::super::Node;
use super::super::store::Topic;

/// Looks up one offset for each partition asked for.
pub(super) fn answer(
    node: &Node,
    header: &RequestHeader,
    request: ListOffsetsRequest,
) -> ListOffsetsResponse {
    let topics = request.topics.into_iter().map(|wanted| {
        let topic = node.store.by_name(&wanted.name);
        let partitions = wanted.partitions.iter().map(|partition| {
            let response = look_up(topic.as_ref(), partition);
            // The field is missing before version 4.
            if header.request_api_version >= 4 && response.offset >= 0 {
                response.with_leader_epoch(0)
            } else {
                response
            }
        });
        ListOffsetsTopicResponse::default()
            .with_partitions(partitions.collect())
            .with_name(wanted.name)
    });
    ListOffsetsResponse::default().with_topics(topics.collect())
}

fn look_up(topic: Option<&Topic>, wanted: &ListOffsetsPartition) -> ListOffsetsPartitionResponse {
    let response =
        ListOffsetsPartitionResponse::default().with_partition_index(wanted.partition_index);
    let Some(log) = topic.and_then(|topic| topic.log(wanted.partition_index)) else {
        return response.with_error_code(ResponseError::UnknownTopicOrPartition.code());
    };
    let found = match wanted.timestamp {
        LATEST => return response.with_offset(log.end()),
        EARLIEST | EARLIEST_LOCAL => return response.with_offset(log.start()),
        MAX_TIMESTAMP => log.latest_timestamp(),
        timestamp if timestamp >= 0 => log.at_or_after(timestamp),
        // Tiered storage: there is none.
        _ => None,
    };
    match found {
        Some(found) => response
            .with_offset(found.offset)
            .with_timestamp(found.timestamp),
        None => response.with_offset(-1),
    }
}

const LATEST: i64 = -1;
const EARLIEST: i64 = -2;
const MAX_TIMESTAMP: i64 = -3;
const EARLIEST_LOCAL: i64 = -4;
