//! Reading records: answers at once where there are enough, else waits for them.

use std::time::Duration;

use bytes::Bytes;
use kafka_protocol::ResponseError;
use kafka_protocol::messages::fetch_request::{FetchPartition, FetchTopic};
use kafka_protocol::messages::fetch_response::{FetchableTopicResponse, PartitionData};
use kafka_protocol::messages::{FetchRequest, FetchResponse};
use tokio::time::Instant;

use super::super::Node;
use super::super::store::Topic;

/// Reads until `min_bytes` are there, a partition has an error, or `max_wait_ms` are over.
///
/// There are no fetch sessions: session id 0 tells the client to send all partitions each time.
pub(super) async fn answer(node: &Node, version: i16, request: FetchRequest) -> FetchResponse {
    let wait = Duration::from_millis(u64::try_from(request.max_wait_ms).unwrap_or(0));
    let deadline = Instant::now() + wait;
    let mut appends = node.store.appends();
    loop {
        appends.mark_unchanged();
        let read = read(node, version, &request);
        let enough = read.bytes >= usize::try_from(request.min_bytes).unwrap_or(0);
        if enough || read.failed {
            return read.response;
        }
        // The store outlives the connection, so the sender is there.
        let waited = tokio::time::timeout_at(deadline, appends.changed()).await;
        if waited.is_err() {
            return read.response;
        }
    }
}

struct Read {
    response: FetchResponse,
    bytes: usize,
    failed: bool,
}

fn read(node: &Node, version: i16, request: &FetchRequest) -> Read {
    let by_id = version >= 13;
    let mut left = usize::try_from(request.max_bytes).unwrap_or(usize::MAX);
    let mut total = 0;
    let mut failed = false;
    let topics = request.topics.iter().map(|wanted| {
        let topic = find(node, wanted, by_id);
        let partitions = wanted.partitions.iter().map(|partition| {
            let data = match &topic {
                Ok(topic) => read_partition(topic, partition, version, left, total == 0),
                Err(error) => refused(partition, *error),
            };
            failed |= data.error_code != 0;
            let bytes = data.records.as_ref().map_or(0, Bytes::len);
            left = left.saturating_sub(bytes);
            total += bytes;
            data
        });
        let response = FetchableTopicResponse::default().with_partitions(partitions.collect());
        if by_id {
            response.with_topic_id(wanted.topic_id)
        } else {
            response.with_topic(wanted.topic.clone())
        }
    });
    let response = FetchResponse::default().with_responses(topics.collect());
    Read {
        response,
        bytes: total,
        failed,
    }
}

fn find(node: &Node, wanted: &FetchTopic, by_id: bool) -> Result<Topic, ResponseError> {
    if by_id {
        node.store
            .by_id(wanted.topic_id)
            .ok_or(ResponseError::UnknownTopicId)
    } else {
        node.store
            .by_name(&wanted.topic)
            .ok_or(ResponseError::UnknownTopicOrPartition)
    }
}

/// Reads one partition. The first one with records gives a batch however small the limits are,
/// so that a large batch stops nobody.
fn read_partition(
    topic: &Topic,
    wanted: &FetchPartition,
    version: i16,
    left: usize,
    first: bool,
) -> PartitionData {
    let Some(log) = topic.log(wanted.partition) else {
        return refused(wanted, ResponseError::UnknownTopicOrPartition);
    };
    let limit = left.min(usize::try_from(wanted.partition_max_bytes).unwrap_or(0));
    let records = match log.read(wanted.fetch_offset, limit) {
        Ok(records) if records.len() > limit && !first => Bytes::new(),
        Ok(records) => records,
        Err(_) => return refused(wanted, ResponseError::OffsetOutOfRange),
    };
    let data = PartitionData::default()
        .with_partition_index(wanted.partition)
        .with_high_watermark(log.end())
        .with_last_stable_offset(log.end())
        .with_aborted_transactions(Some(Vec::new()))
        .with_records(Some(records));
    if version >= 5 {
        data.with_log_start_offset(log.start())
    } else {
        data
    }
}

fn refused(wanted: &FetchPartition, error: ResponseError) -> PartitionData {
    PartitionData::default()
        .with_partition_index(wanted.partition)
        .with_error_code(error.code())
        .with_high_watermark(-1)
        .with_records(Some(Bytes::new()))
}
