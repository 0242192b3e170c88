//! Reads the answers to questions: all of it is copied, since it goes with the event.

use std::slice;

use base64::Engine;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use rdkafka::bindings as rd;
use rdkafka::error::RDKafkaErrorCode as Code;

use super::owned::{Event, is_error};
use super::{Offsets, Topic};

/// Reads what a topic is.
pub(super) fn described(event: &Event) -> Result<Topic, Code> {
    let mut count = 0;
    // SAFETY: the event is alive, and so is all that is reached from it until the end of this function. librdkafka
    // gives null for an event of another type, and `items` makes no slice of that.
    let topics = unsafe {
        let result = rd::rd_kafka_event_DescribeTopics_result(event.0.as_ptr());
        if result.is_null() {
            return Err(Code::Fail);
        }
        items(
            rd::rd_kafka_DescribeTopics_result_topics(result, &raw mut count),
            count,
        )
    };
    let &topic = topics.first().ok_or(Code::UnknownTopicOrPartition)?;
    // SAFETY: as above; an error, an id and the partitions belong to the topic's description.
    unsafe {
        let error = rd::rd_kafka_TopicDescription_error(topic);
        if !error.is_null() && is_error(rd::rd_kafka_error_code(error)) {
            return Err(rd::rd_kafka_error_code(error).into());
        }
        let id = rd::rd_kafka_TopicDescription_topic_id(topic);
        let id = (!id.is_null()).then(|| {
            (
                rd::rd_kafka_Uuid_most_significant_bits(id),
                rd::rd_kafka_Uuid_least_significant_bits(id),
            )
        });
        let mut count = 0;
        let infos = items(
            rd::rd_kafka_TopicDescription_partitions(topic, &raw mut count),
            count,
        );
        let (mut partitions, mut leaderless) = (Vec::with_capacity(count), Vec::new());
        for &info in infos {
            let partition = rd::rd_kafka_TopicPartitionInfo_partition(info);
            partitions.push(partition);
            if rd::rd_kafka_TopicPartitionInfo_leader(info).is_null() {
                leaderless.push(partition);
            }
        }
        partitions.sort_unstable();
        Ok(Topic {
            id: id.and_then(id_text),
            partitions,
            leaderless,
        })
    }
}

/// Reads the offsets of partitions.
pub(super) fn listed(event: &Event) -> Result<Offsets, Code> {
    let mut count = 0;
    // SAFETY: the event is alive, and so is all that is reached from it until the end of this function.
    unsafe {
        let result = rd::rd_kafka_event_ListOffsets_result(event.0.as_ptr());
        if result.is_null() {
            return Err(Code::Fail);
        }
        let infos = items(
            rd::rd_kafka_ListOffsets_result_infos(result, &raw mut count),
            count,
        );
        let offset = |&info: &*const rd::rd_kafka_ListOffsetsResultInfo_t| {
            let found = &*rd::rd_kafka_ListOffsetsResultInfo_topic_partition(info);
            let offset = match found.offset {
                _ if is_error(found.err) => Err(found.err.into()),
                // A partition whose broker has just died comes back as it was asked for, without an error.
                unknown if unknown < 0 => Err(Code::LeaderNotAvailable),
                offset => Ok(offset),
            };
            (found.partition, offset)
        };
        Ok(infos.iter().map(offset).collect())
    }
}

/// Writes a topic id as Kafka's tools do; all zeros stand for none.
pub(super) fn id_text((high, low): (i64, i64)) -> Option<String> {
    let mut bytes = [0; 16];
    bytes[..8].copy_from_slice(&high.to_be_bytes());
    bytes[8..].copy_from_slice(&low.to_be_bytes());
    (bytes != [0; 16]).then(|| URL_SAFE_NO_PAD.encode(bytes))
}

/// Makes a slice of an array of librdkafka's, which is null where it is empty.
///
/// # Safety
/// `first` is null or points to `count` items that live for `'a`.
unsafe fn items<'a, T>(first: *const T, count: usize) -> &'a [T] {
    // SAFETY: what the caller promises.
    if first.is_null() {
        &[]
    } else {
        unsafe { slice::from_raw_parts(first, count) }
    }
}
