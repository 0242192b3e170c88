//! SHELL: what librdkafka knows and rdkafka does not give: topic ids, the offsets of many partitions in one question,
//! and headers with any name.
//!
//! rdkafka 0.39 has no topic ids, asks for watermarks one partition at a time while its caller blocks, and its
//! `Headers::try_get` panics on a name that is not UTF-8. A question here is sent at once and its answer fetched when
//! it suits, so a reader can ask while it reads, on its own thread.
//!
//! This is the only module with `unsafe`: `owned` keeps what is librdkafka's, `answers` and `headers` read it.
#![allow(unsafe_code)]

mod answers;
mod headers;
mod owned;

use std::ffi::CString;
use std::time::Duration;

use rdkafka::bindings as rd;
use rdkafka::client::NativeClient;
use rdkafka::error::RDKafkaErrorCode as Code;
use rdkafka::topic_partition_list::{Offset, TopicPartitionList};

use self::answers::{described, listed};
pub use self::headers::headers;
use self::owned::{Options, Reply};
use crate::config::IsolationLevel;

/// Is what Kafka says about a topic.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Topic {
    /// Kafka's id of the topic, in base64 as its tools print it; `None` from brokers before 2.8.
    pub id: Option<String>,
    /// Ascending.
    pub partitions: Vec<i32>,
    /// Those of them that no broker leads now.
    pub leaderless: Vec<i32>,
}

/// Names one end of a partition.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum End {
    /// The first offset that Kafka still has.
    Low,
    /// The offset after the last one that the asker may see.
    High,
}

/// Lists partitions and their offsets, or why there is none.
pub type Offsets = Vec<(i32, Result<i64, Code>)>;

/// Is a question about a topic that is on its way.
pub struct TopicQuestion<'c>(Reply<'c>);

/// Is a question about the offsets of partitions that is on its way.
pub struct OffsetQuestion<'c>(Reply<'c>);

/// Asks what a topic is now: its id and its partitions. Never creates it.
///
/// The question goes to `broker`, by its id, and otherwise to the one that the cluster calls its controller. It fails
/// with `OperationTimedOut` after `timeout` where that one cannot be reached.
pub fn ask_topic<'c>(
    client: &'c NativeClient,
    topic: &str,
    broker: Option<i32>,
    timeout: Duration,
) -> Result<TopicQuestion<'c>, Code> {
    let topic = CString::new(topic).map_err(|_| Code::InvalidTopic)?;
    let options = Options::new(
        client,
        rd::rd_kafka_admin_op_t::RD_KAFKA_ADMIN_OP_DESCRIBETOPICS,
        timeout,
    )?;
    if let Some(broker) = broker {
        options.send_to(broker)?;
    }
    let reply = Reply::new(client)?;
    let mut names = [topic.as_ptr()];
    // SAFETY: `names` holds one valid C string, which librdkafka copies into the collection.
    let topics =
        unsafe { rd::rd_kafka_TopicCollection_of_topic_names(names.as_mut_ptr(), names.len()) };
    // SAFETY: client, collection, options and queue are alive, and librdkafka copies what it keeps of them. The
    // collection is ours to destroy, once.
    unsafe {
        rd::rd_kafka_DescribeTopics(
            client.ptr(),
            topics,
            options.0.as_ptr(),
            reply.queue.as_ptr(),
        );
        rd::rd_kafka_TopicCollection_destroy(topics);
    }
    Ok(TopicQuestion(reply))
}

impl TopicQuestion<'_> {
    /// Gives the answer once it is there; waits for it for at most `wait`. There is one answer.
    pub fn answer(&self, wait: Duration) -> Option<Result<Topic, Code>> {
        self.0
            .event(wait)
            .map(|event| event.and_then(|event| described(&event)))
    }
}

/// Asks for one end of each of `partitions`, as a reader with this isolation sees it.
pub fn ask_offsets<'c>(
    client: &'c NativeClient,
    topic: &str,
    partitions: &[i32],
    end: End,
    isolation: IsolationLevel,
    timeout: Duration,
) -> Result<OffsetQuestion<'c>, Code> {
    let options = Options::new(
        client,
        rd::rd_kafka_admin_op_t::RD_KAFKA_ADMIN_OP_LISTOFFSETS,
        timeout,
    )?;
    options.isolate(isolation)?;
    let reply = Reply::new(client)?;
    let mut wanted = TopicPartitionList::with_capacity(partitions.len());
    for &partition in partitions {
        // librdkafka's logical offsets have the numbers of the offset specifications.
        let spec = match end {
            End::Low => Offset::Beginning,
            End::High => Offset::End,
        };
        wanted
            .add_partition_offset(topic, partition, spec)
            .map_err(|_| Code::InvalidArgument)?;
    }
    // SAFETY: client, list, options and queue are alive, and librdkafka copies what it keeps of them.
    unsafe {
        rd::rd_kafka_ListOffsets(
            client.ptr(),
            wanted.ptr(),
            options.0.as_ptr(),
            reply.queue.as_ptr(),
        );
    };
    Ok(OffsetQuestion(reply))
}

impl OffsetQuestion<'_> {
    /// Gives the answer once it is there; waits for it for at most `wait`. There is one answer.
    pub fn answer(&self, wait: Duration) -> Option<Result<Offsets, Code>> {
        self.0
            .event(wait)
            .map(|event| event.and_then(|event| listed(&event)))
    }
}

#[cfg(test)]
mod tests;
