//! Administration: topics, records, rights. Each call is one request in Kafka's own protocol on the plaintext listener.

use std::collections::{BTreeMap, BTreeSet};
use std::io::{Read, Write};
use std::net::TcpStream;
use std::thread;
use std::time::{Duration, Instant};

use anyhow::{Context, Result, anyhow, ensure};
use bytes::{Bytes, BytesMut};
use kafka_protocol::ResponseError;
use kafka_protocol::messages::create_acls_request::AclCreation;
use kafka_protocol::messages::create_partitions_request::CreatePartitionsTopic;
use kafka_protocol::messages::create_topics_request::{
    CreatableReplicaAssignment, CreatableTopic, CreatableTopicConfig,
};
use kafka_protocol::messages::delete_acls_request::DeleteAclsFilter;
use kafka_protocol::messages::delete_records_request::{
    DeleteRecordsPartition, DeleteRecordsTopic,
};
use kafka_protocol::messages::delete_topics_request::DeleteTopicState;
use kafka_protocol::messages::list_offsets_request::{ListOffsetsPartition, ListOffsetsTopic};
use kafka_protocol::messages::{
    BrokerId, CreateAclsRequest, CreatePartitionsRequest, CreateTopicsRequest, DeleteAclsRequest,
    DeleteRecordsRequest, DeleteTopicsRequest, ListGroupsRequest, ListOffsetsRequest,
    MetadataRequest, RequestHeader, ResponseHeader, TopicName,
};
use kafka_protocol::protocol::{Decodable, Encodable, HeaderVersion, Request, StrBytes};

use crate::Kafka;

/// What a rule is about; the name is exact.
#[derive(Clone, Copy, Debug)]
pub enum Resource<'a> {
    Topic(&'a str),
    Group(&'a str),
    Cluster,
}

/// What a rule allows or denies.
#[derive(Clone, Copy, Debug)]
pub enum Operation {
    All,
    Read,
    Describe,
    DescribeConfigs,
}

impl Kafka {
    /// Creates a topic and waits until its partitions have leaders.
    pub fn create_topic(&self, name: &str, partitions: i32) -> Result<()> {
        self.create_topic_with(name, partitions, &[])
    }

    /// As `create_topic`, with topic settings.
    pub fn create_topic_with(
        &self,
        name: &str,
        partitions: i32,
        settings: &[(&str, &str)],
    ) -> Result<()> {
        let settings = settings.iter().map(|(key, value)| {
            CreatableTopicConfig::default()
                .with_name(text(key))
                .with_value(Some(text(value)))
        });
        let topic = CreatableTopic::default()
            .with_num_partitions(partitions)
            .with_replication_factor(1)
            .with_configs(settings.collect());
        self.create(name, partitions, topic)
    }

    /// Creates a topic of one partition with a replica on each of these nodes; the first one leads.
    pub fn create_replicated_topic(&self, name: &str, nodes: &[i32]) -> Result<()> {
        let replicas = nodes.iter().map(|node| BrokerId(*node)).collect();
        let assignment = CreatableReplicaAssignment::default()
            .with_partition_index(0)
            .with_broker_ids(replicas);
        let topic = CreatableTopic::default()
            .with_num_partitions(-1)
            .with_replication_factor(-1)
            .with_assignments(vec![assignment]);
        self.create(name, 1, topic)
    }

    fn create(&self, name: &str, partitions: i32, topic: CreatableTopic) -> Result<()> {
        let topic = topic.with_name(topic_name(name));
        let request = CreateTopicsRequest::default()
            .with_topics(vec![topic])
            .with_timeout_ms(TIMEOUT_MS);
        let answer = self.call(7, &request)?;
        let topic = answer.topics.first().context("no answer for the topic")?;
        check(topic.error_code, topic.error_message.as_deref())
            .with_context(|| format!("creating {name}"))?;
        self.wait_for(name, Some(partitions))
    }

    /// Deletes a topic and waits until the broker no longer knows it.
    pub fn delete_topic(&self, name: &str) -> Result<()> {
        self.delete(name)?;
        self.wait_for(name, None)
    }

    /// Deletes a topic and creates another of its name at once: a client that looks again may never see that it was gone.
    pub fn recreate_topic(&self, name: &str, partitions: i32) -> Result<()> {
        self.delete(name)?;
        self.create_topic(name, partitions)
    }

    fn delete(&self, name: &str) -> Result<()> {
        let topic = DeleteTopicState::default().with_name(Some(topic_name(name)));
        let answer = self.call(
            6,
            &DeleteTopicsRequest::default()
                .with_topics(vec![topic])
                .with_timeout_ms(TIMEOUT_MS),
        )?;
        let topic = answer
            .responses
            .first()
            .context("no answer for the topic")?;
        check(topic.error_code, topic.error_message.as_deref())
            .with_context(|| format!("deleting {name}"))
    }

    /// Raises a topic's partitions to `total` and waits until they have leaders.
    pub fn grow_topic(&self, name: &str, total: i32) -> Result<()> {
        let topic = CreatePartitionsTopic::default()
            .with_name(topic_name(name))
            .with_count(total)
            .with_assignments(None);
        let request = CreatePartitionsRequest::default()
            .with_topics(vec![topic])
            .with_timeout_ms(TIMEOUT_MS);
        let answer = self.call(3, &request)?;
        let topic = answer.results.first().context("no answer for the topic")?;
        check(topic.error_code, topic.error_message.as_deref())
            .with_context(|| format!("growing {name}"))?;
        self.wait_for(name, Some(total))
    }

    /// Deletes a partition's records below `offset`.
    pub fn delete_records(&self, name: &str, partition: i32, offset: i64) -> Result<()> {
        let partition = DeleteRecordsPartition::default()
            .with_partition_index(partition)
            .with_offset(offset);
        let topic = DeleteRecordsTopic::default()
            .with_name(topic_name(name))
            .with_partitions(vec![partition]);
        let answer = self.call(
            2,
            &DeleteRecordsRequest::default()
                .with_topics(vec![topic])
                .with_timeout_ms(TIMEOUT_MS),
        )?;
        let partition = answer
            .topics
            .first()
            .and_then(|topic| topic.partitions.first());
        check(
            partition.context("no answer for the partition")?.error_code,
            None,
        )
    }

    /// Returns all topics, internal ones too, with their number of partitions. Creates none.
    pub fn topics(&self) -> Result<BTreeMap<String, usize>> {
        let answer = self.call(
            12,
            &MetadataRequest::default()
                .with_topics(None)
                .with_allow_auto_topic_creation(false),
        )?;
        let topics = answer
            .topics
            .into_iter()
            .filter(|topic| topic.error_code == 0);
        Ok(topics
            .filter_map(|topic| Some((topic.name?.0.to_string(), topic.partitions.len())))
            .collect())
    }

    /// Returns the names of all groups that have ever joined or committed.
    pub fn groups(&self) -> Result<BTreeSet<String>> {
        let answer = self.call(4, &ListGroupsRequest::default())?;
        check(answer.error_code, None)?;
        Ok(answer
            .groups
            .into_iter()
            .map(|group| group.group_id.0.to_string())
            .collect())
    }

    /// Returns a topic's id, which a re-created topic does not share, or `None` where there is no such topic.
    pub fn topic_id(&self, name: &str) -> Result<Option<[u8; 16]>> {
        Ok(self
            .describe(name)?
            .map(|topic| topic.topic_id.into_bytes()))
    }

    /// Returns a partition's end offset: the high watermark.
    pub fn end_offset(&self, name: &str, partition: i32) -> Result<i64> {
        self.offset(name, partition, -1)
    }

    /// Waits until a partition ends at `offset`, or behind it.
    pub fn wait_for_end_offset(&self, name: &str, partition: i32, offset: i64) -> Result<()> {
        let start = Instant::now();
        loop {
            let end = self.end_offset(name, partition)?;
            if end >= offset {
                return Ok(());
            }
            ensure!(
                start.elapsed() < PATIENCE,
                "{name}/{partition} ends at {end}, not at {offset}"
            );
            thread::sleep(Duration::from_millis(20));
        }
    }

    /// Returns a partition's first offset.
    pub fn first_offset(&self, name: &str, partition: i32) -> Result<i64> {
        self.offset(name, partition, -2)
    }

    fn offset(&self, name: &str, partition: i32, timestamp: i64) -> Result<i64> {
        let partition = ListOffsetsPartition::default()
            .with_partition_index(partition)
            .with_timestamp(timestamp);
        let topic = ListOffsetsTopic::default()
            .with_name(topic_name(name))
            .with_partitions(vec![partition]);
        let request = ListOffsetsRequest::default()
            .with_replica_id((-1).into())
            .with_topics(vec![topic]);
        let answer = self.call(7, &request)?;
        let partition = answer
            .topics
            .first()
            .and_then(|topic| topic.partitions.first());
        let partition = partition.context("no answer for the partition")?;
        check(partition.error_code, None)?;
        Ok(partition.offset)
    }

    /// Allows `user` an operation. From its first rule on, a resource is closed to all others.
    pub fn allow(&self, user: &str, operation: Operation, resource: Resource<'_>) -> Result<()> {
        self.add_rule(user, operation, resource, ALLOW)
    }

    /// Denies `user` an operation, whatever else is allowed.
    pub fn deny(&self, user: &str, operation: Operation, resource: Resource<'_>) -> Result<()> {
        self.add_rule(user, operation, resource, DENY)
    }

    /// Removes all rules of a resource, which opens it to everybody.
    pub fn clear_rules(&self, resource: Resource<'_>) -> Result<()> {
        let (kind, name) = resource.code();
        let filter = DeleteAclsFilter::default()
            .with_resource_type_filter(kind)
            .with_resource_name_filter(Some(text(name)))
            .with_pattern_type_filter(LITERAL)
            .with_principal_filter(None)
            .with_host_filter(None)
            .with_operation(ANY)
            .with_permission_type(ANY);
        let answer = self.call(3, &DeleteAclsRequest::default().with_filters(vec![filter]))?;
        let result = answer
            .filter_results
            .first()
            .context("no answer for the filter")?;
        check(result.error_code, result.error_message.as_deref())
    }

    fn add_rule(
        &self,
        user: &str,
        operation: Operation,
        resource: Resource<'_>,
        permission: i8,
    ) -> Result<()> {
        let (kind, name) = resource.code();
        let rule = AclCreation::default()
            .with_resource_type(kind)
            .with_resource_name(text(name))
            .with_resource_pattern_type(LITERAL)
            .with_principal(text(&format!("User:{user}")))
            .with_host(text("*"))
            .with_operation(operation.code())
            .with_permission_type(permission);
        let answer = self.call(3, &CreateAclsRequest::default().with_creations(vec![rule]))?;
        let result = answer.results.first().context("no answer for the rule")?;
        check(result.error_code, result.error_message.as_deref())
    }

    fn describe(
        &self,
        name: &str,
    ) -> Result<Option<kafka_protocol::messages::metadata_response::MetadataResponseTopic>> {
        let topic = kafka_protocol::messages::metadata_request::MetadataRequestTopic::default();
        let request = MetadataRequest::default()
            .with_topics(Some(vec![topic.with_name(Some(topic_name(name)))]))
            .with_allow_auto_topic_creation(false);
        Ok(self
            .call(12, &request)?
            .topics
            .into_iter()
            .next()
            .filter(|topic| topic.error_code == 0))
    }

    /// Waits until a topic has `partitions` with leaders, or is gone.
    fn wait_for(&self, name: &str, partitions: Option<i32>) -> Result<()> {
        let start = Instant::now();
        loop {
            let led = self.describe(name)?.map(|topic| {
                topic
                    .partitions
                    .iter()
                    .filter(|partition| partition.error_code == 0 && partition.leader_id.0 >= 0)
                    .count()
            });
            if led == partitions.map(|count| count as usize) {
                return Ok(());
            }
            ensure!(
                start.elapsed() < PATIENCE,
                "{name} has {led:?} partitions, not {partitions:?}"
            );
            thread::sleep(Duration::from_millis(20));
        }
    }

    /// Sends one request and returns its answer.
    pub fn call<R: Request>(&self, version: i16, request: &R) -> Result<R::Response> {
        let header = RequestHeader::default()
            .with_request_api_key(R::KEY)
            .with_request_api_version(version)
            .with_client_id(Some(text("tests")));
        let mut bytes = BytesMut::new();
        header.encode(&mut bytes, R::header_version(version))?;
        request.encode(&mut bytes, version)?;

        let mut stream = TcpStream::connect(self.bootstrap())?;
        stream.set_read_timeout(Some(Duration::from_secs(40)))?;
        stream.write_all(&(bytes.len() as u32).to_be_bytes())?;
        stream.write_all(&bytes)?;
        let mut length = [0; 4];
        stream.read_exact(&mut length)?;
        let mut answer = vec![0; u32::from_be_bytes(length) as usize];
        stream.read_exact(&mut answer)?;

        let mut answer = Bytes::from(answer);
        ResponseHeader::decode(&mut answer, R::Response::header_version(version))?;
        R::Response::decode(&mut answer, version)
    }
}

const PATIENCE: Duration = Duration::from_secs(30);
const TIMEOUT_MS: i32 = 30_000;

// Kafka's numbers: clients/src/main/java/org/apache/kafka/common/{acl,resource}.
const ANY: i8 = 1;
const DENY: i8 = 2;
const ALLOW: i8 = 3;
const LITERAL: i8 = 3;

impl Operation {
    fn code(self) -> i8 {
        match self {
            Operation::All => 2,
            Operation::Read => 3,
            Operation::Describe => 8,
            Operation::DescribeConfigs => 10,
        }
    }
}

impl<'a> Resource<'a> {
    fn code(self) -> (i8, &'a str) {
        match self {
            Resource::Topic(name) => (2, name),
            Resource::Group(name) => (3, name),
            Resource::Cluster => (4, "kafka-cluster"),
        }
    }
}

fn text(text: &str) -> StrBytes {
    StrBytes::from_string(text.to_owned())
}

fn topic_name(name: &str) -> TopicName {
    TopicName(text(name))
}

pub(crate) fn check(code: i16, message: Option<&str>) -> Result<()> {
    match ResponseError::try_from_code(code) {
        None => Ok(()),
        Some(error) => Err(anyhow!("{error:?} {}", message.unwrap_or_default())),
    }
}
