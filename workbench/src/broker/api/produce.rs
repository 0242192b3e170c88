//! Appending records.

use bytes::Bytes;
use kafka_protocol::ResponseError;
use kafka_protocol::messages::produce_request::PartitionProduceData;
use kafka_protocol::messages::produce_response::{PartitionProduceResponse, TopicProduceResponse};
use kafka_protocol::messages::{ProduceRequest, ProduceResponse, RequestHeader};

use super::super::Node;
use super::super::connection::encode;
use super::super::store::Topic;

/// Appends, and answers unless the client asked for no acknowledgement.
pub(super) fn answer(
    node: &Node,
    header: &RequestHeader,
    request: ProduceRequest,
) -> anyhow::Result<Option<Bytes>> {
    let acks = request.acks;
    let by_id = header.request_api_version >= 13;
    let responses = request.topic_data.into_iter().map(|data| {
        let (topic, unknown) = if by_id {
            (
                node.store.by_id(data.topic_id),
                ResponseError::UnknownTopicId,
            )
        } else {
            (
                node.store.by_name(&data.name),
                ResponseError::UnknownTopicOrPartition,
            )
        };
        let partitions = data
            .partition_data
            .into_iter()
            .map(|partition| match &topic {
                Some(topic) => append(node, topic, partition),
                None => PartitionProduceResponse::default()
                    .with_index(partition.index)
                    .with_error_code(unknown.code())
                    .with_base_offset(-1),
            });
        let response =
            TopicProduceResponse::default().with_partition_responses(partitions.collect());
        if by_id {
            response.with_topic_id(data.topic_id)
        } else {
            response.with_name(data.name)
        }
    });
    let response = ProduceResponse::default().with_responses(responses.collect());
    node.store.notify();
    if acks == 0 {
        return Ok(None);
    }
    encode(header, &response).map(Some)
}

fn append(node: &Node, topic: &Topic, data: PartitionProduceData) -> PartitionProduceResponse {
    let response = PartitionProduceResponse::default().with_index(data.index);
    let fail = |error: ResponseError| {
        PartitionProduceResponse::default()
            .with_index(data.index)
            .with_error_code(error.code())
            .with_base_offset(-1)
    };
    let Some(mut log) = topic.log(data.index) else {
        return fail(ResponseError::UnknownTopicOrPartition);
    };
    match log.append(data.records.unwrap_or_default(), node.store.retention()) {
        // No log start offset: its field is missing before version 5.
        Ok(base) => response.with_base_offset(base),
        Err(_) => fail(ResponseError::CorruptMessage),
    }
}
