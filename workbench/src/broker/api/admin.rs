//! Creating, growing and deleting topics.

use kafka_protocol::ResponseError;
use kafka_protocol::messages::create_partitions_response::CreatePartitionsTopicResult;
use kafka_protocol::messages::create_topics_response::CreatableTopicResult;
use kafka_protocol::messages::delete_topics_response::DeletableTopicResult;
use kafka_protocol::messages::{
    CreatePartitionsRequest, CreatePartitionsResponse, CreateTopicsRequest, CreateTopicsResponse,
    DeleteTopicsRequest, DeleteTopicsResponse, RequestHeader, TopicName,
};
use kafka_protocol::protocol::StrBytes;

use super::super::Node;
use super::super::store::TopicError;

/// Creates topics; a partition count of -1 means one. Their configuration is not looked at.
pub(super) fn create(
    node: &Node,
    header: &RequestHeader,
    request: CreateTopicsRequest,
) -> CreateTopicsResponse {
    let version = header.request_api_version;
    let topics = request.topics.into_iter().map(|topic| {
        let partitions = match (topic.num_partitions, topic.assignments.len()) {
            (-1, 0) => 1,
            (-1, assigned) => assigned,
            (count, _) => usize::try_from(count).unwrap_or(0),
        };
        let result = CreatableTopicResult::default();
        let result = match node.store.create(&topic.name, partitions) {
            Ok(id) if version >= 7 => result.with_topic_id(id),
            Ok(_) => result,
            Err(error) => result
                .with_error_code(code(error))
                .with_error_message(Some(StrBytes::from_string(error.to_string()))),
        };
        let result = result.with_name(topic.name);
        if version >= 5 {
            result
                .with_num_partitions(partitions as i32)
                .with_replication_factor(1)
                .with_configs(Some(Vec::new()))
        } else {
            result
        }
    });
    CreateTopicsResponse::default().with_topics(topics.collect())
}

/// Adds partitions.
pub(super) fn grow(node: &Node, request: CreatePartitionsRequest) -> CreatePartitionsResponse {
    let results = request.topics.into_iter().map(|topic| {
        let count = usize::try_from(topic.count).unwrap_or(0);
        let result = CreatePartitionsTopicResult::default();
        let result = match node.store.grow(&topic.name, count) {
            Ok(()) => result,
            Err(error) => result
                .with_error_code(code(error))
                .with_error_message(Some(StrBytes::from_string(error.to_string()))),
        };
        result.with_name(topic.name)
    });
    CreatePartitionsResponse::default().with_results(results.collect())
}

/// Deletes topics by name, or from version 6 on by id.
pub(super) fn delete(
    node: &Node,
    header: &RequestHeader,
    request: DeleteTopicsRequest,
) -> DeleteTopicsResponse {
    let remove = |name: &TopicName| node.store.delete(name).map_or_else(code, |()| 0);
    if header.request_api_version < 6 {
        let results = request.topic_names.into_iter().map(|name| {
            let code = remove(&name);
            DeletableTopicResult::default()
                .with_name(Some(name))
                .with_error_code(code)
        });
        return DeleteTopicsResponse::default().with_responses(results.collect());
    }
    let results = request.topics.into_iter().map(|wanted| {
        let topic = match &wanted.name {
            Some(name) => node.store.by_name(name),
            None => node.store.by_id(wanted.topic_id),
        };
        let Some(topic) = topic else {
            let unknown = match wanted.name {
                Some(_) => ResponseError::UnknownTopicOrPartition,
                None => ResponseError::UnknownTopicId,
            };
            return DeletableTopicResult::default()
                .with_name(wanted.name)
                .with_topic_id(wanted.topic_id)
                .with_error_code(unknown.code());
        };
        let name = TopicName(StrBytes::from_string(topic.name));
        let code = remove(&name);
        DeletableTopicResult::default()
            .with_name(Some(name))
            .with_topic_id(topic.id)
            .with_error_code(code)
    });
    DeleteTopicsResponse::default().with_responses(results.collect())
}

fn code(error: TopicError) -> i16 {
    match error {
        TopicError::Unknown => ResponseError::UnknownTopicOrPartition,
        TopicError::Exists => ResponseError::TopicAlreadyExists,
        TopicError::InvalidName => ResponseError::InvalidTopicException,
        TopicError::InvalidPartitions => ResponseError::InvalidPartitions,
    }
    .code()
}
