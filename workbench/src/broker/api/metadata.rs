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
                // Kafka's own client does not take null for these, though the protocol does.
                .with_eligible_leader_replicas(Some(Vec::new()))
                .with_last_known_elr(Some(Vec::new()))
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

#[cfg(test)]
mod tests {
    use kafka_protocol::messages::describe_topic_partitions_request::TopicRequest;

    use super::super::super::store::{Retention, Store};
    use super::*;

    #[test]
    fn topics_are_described_as_to_a_java_client() {
        let node = Node {
            address: ([127, 0, 0, 1], 1).into(),
            store: Store::new(Retention::default()),
            sasl: None,
            auto_create: false,
        };
        let id = node.store.create("a", 2).expect("created");
        let unknown = ResponseError::UnknownTopicOrPartition.code();
        for (name, error, id, partitions) in [("a", 0, id, 2), ("b", unknown, uuid::Uuid::nil(), 0)]
        {
            let wanted = TopicRequest::default()
                .with_name(TopicName(StrBytes::from_string(name.to_owned())));
            let request = DescribeTopicPartitionsRequest::default().with_topics(vec![wanted]);
            let answer = describe_partitions(&node, &request);
            let topic = &answer.topics[0];
            assert_eq!((topic.error_code, topic.topic_id), (error, id), "{name}");
            assert_eq!(topic.partitions.len(), partitions, "{name}");
            for partition in &topic.partitions {
                assert!(
                    partition.eligible_leader_replicas.is_some(),
                    "{partition:?}"
                );
                assert!(partition.last_known_elr.is_some(), "{partition:?}");
            }
        }
    }
}
