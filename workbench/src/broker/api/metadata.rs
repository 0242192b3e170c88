//! Brokers, topics and partitions.

use kafka_protocol::ResponseError;
use kafka_protocol::messages::describe_topic_partitions_response::{
    DescribeTopicPartitionsResponsePartition, DescribeTopicPartitionsResponseTopic,
};
use kafka_protocol::messages::metadata_request::MetadataRequestTopic;
use kafka_protocol::messages::metadata_response::{
    MetadataResponseBroker, MetadataResponsePartition, MetadataResponseTopic,
};
use kafka_protocol::messages::{
    BrokerId, DescribeTopicPartitionsRequest, DescribeTopicPartitionsResponse, MetadataRequest,
    MetadataResponse, TopicName,
};
use kafka_protocol::protocol::StrBytes;

use super::super::Node;
use super::super::store::Topic;

/// The only node's id.
pub(super) const NODE_ID: BrokerId = BrokerId(1);

/// Lists all topics, or those asked for by name or id.
pub(super) fn answer(node: &Node, request: MetadataRequest) -> MetadataResponse {
    let create = node.auto_create && request.allow_auto_topic_creation;
    // Version 0 has no null: there an empty list means all, which newer versions spell as null.
    let topics = match request.topics {
        Some(topics) if !topics.is_empty() => topics
            .iter()
            .map(|wanted| one(node, wanted, create))
            .collect(),
        Some(_) | None => node.store.all().iter().map(describe).collect(),
    };
    MetadataResponse::default()
        .with_brokers(vec![
            MetadataResponseBroker::default()
                .with_node_id(NODE_ID)
                .with_host(host(node))
                .with_port(i32::from(node.address.port())),
        ])
        .with_cluster_id(Some(StrBytes::from_static_str("workbench")))
        .with_controller_id(NODE_ID)
        .with_topics(topics)
}

/// Describes topics by name, as newer admin clients ask.
pub(super) fn describe_partitions(
    node: &Node,
    request: &DescribeTopicPartitionsRequest,
) -> DescribeTopicPartitionsResponse {
    let topics = request.topics.iter().map(|wanted| {
        let response =
            DescribeTopicPartitionsResponseTopic::default().with_name(Some(wanted.name.clone()));
        let Some(topic) = node.store.by_name(&wanted.name) else {
            return response.with_error_code(ResponseError::UnknownTopicOrPartition.code());
        };
        let partitions = (0..topic.partitions.len()).map(|partition| {
            DescribeTopicPartitionsResponsePartition::default()
                .with_partition_index(partition as i32)
                .with_leader_id(NODE_ID)
                .with_leader_epoch(0)
                .with_replica_nodes(vec![NODE_ID])
                .with_isr_nodes(vec![NODE_ID])
        });
        response
            .with_topic_id(topic.id)
            .with_partitions(partitions.collect())
    });
    DescribeTopicPartitionsResponse::default().with_topics(topics.collect())
}

/// The host that clients are told to connect to.
pub(super) fn host(node: &Node) -> StrBytes {
    StrBytes::from_string(node.address.ip().to_string())
}

fn one(node: &Node, wanted: &MetadataRequestTopic, create: bool) -> MetadataResponseTopic {
    let Some(name) = &wanted.name else {
        return match node.store.by_id(wanted.topic_id) {
            Some(topic) => describe(&topic),
            None => MetadataResponseTopic::default()
                .with_topic_id(wanted.topic_id)
                .with_error_code(ResponseError::UnknownTopicId.code()),
        };
    };
    if create {
        // An error means that it is there, or that its name is none: the answer below says so.
        let _ = node.store.create(name, 1);
    }
    match node.store.by_name(name) {
        Some(topic) => describe(&topic),
        None => MetadataResponseTopic::default()
            .with_name(Some(name.clone()))
            .with_error_code(ResponseError::UnknownTopicOrPartition.code()),
    }
}

fn describe(topic: &Topic) -> MetadataResponseTopic {
    let partitions = (0..topic.partitions.len()).map(|partition| {
        MetadataResponsePartition::default()
            .with_partition_index(partition as i32)
            .with_leader_id(NODE_ID)
            .with_leader_epoch(0)
            .with_replica_nodes(vec![NODE_ID])
            .with_isr_nodes(vec![NODE_ID])
    });
    MetadataResponseTopic::default()
        .with_name(Some(TopicName(StrBytes::from_string(topic.name.clone()))))
        .with_topic_id(topic.id)
        .with_is_internal(topic.name.starts_with("__"))
        .with_partitions(partitions.collect())
}
