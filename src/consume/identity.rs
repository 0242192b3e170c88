//! SHELL: what librdkafka knows and rdkafka does not give: topic ids, the offsets of many partitions in one question,
//! and headers with any name.
//!
//! rdkafka 0.39 has no topic ids, asks for watermarks one partition at a time while its caller blocks, and its
//! `Headers::try_get` panics on a name that is not UTF-8. A question here is sent at once and its answer fetched when
//! it suits, so a reader can ask while it reads, on its own thread.
//!
//! This is the only module with `unsafe`.
#![allow(unsafe_code)]

use std::ffi::{CStr, CString, c_char, c_int};
use std::marker::PhantomData;
use std::ptr::{self, NonNull};
use std::slice;
use std::time::Duration;

use base64::Engine;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use rdkafka::bindings as rd;
use rdkafka::client::NativeClient;
use rdkafka::error::RDKafkaErrorCode as Code;
use rdkafka::message::BorrowedMessage;
use rdkafka::topic_partition_list::{Offset, TopicPartitionList};

use crate::config::IsolationLevel;
use crate::record::Header;

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

/// Gives the headers of `message`, in their order. A name is any bytes; a null value stays apart from an empty one.
pub fn headers<'m>(message: &'m BorrowedMessage<'_>) -> Vec<Header<'m>> {
    let mut headers = Vec::new();
    let mut list = ptr::null_mut();
    // SAFETY: the message is alive. The list that librdkafka hands out belongs to the message.
    let found = unsafe { rd::rd_kafka_message_headers(message.ptr(), &raw mut list) };
    if is_error(found) || list.is_null() {
        return headers;
    }
    for index in 0.. {
        let (mut name, mut value, mut size) = (ptr::null(), ptr::null(), 0);
        // SAFETY: the list is alive as long as the message; librdkafka checks the index and answers with an error
        // past the last header.
        let got = unsafe {
            rd::rd_kafka_header_get_all(list, index, &raw mut name, &raw mut value, &raw mut size)
        };
        if is_error(got) {
            break;
        }
        // SAFETY: name (zero-terminated) and value (`size` bytes) lie in the message's own memory, which `'m` borrows.
        headers.push(unsafe {
            Header {
                name: CStr::from_ptr(name).to_bytes(),
                value: (!value.is_null()).then(|| slice::from_raw_parts(value.cast::<u8>(), size)),
            }
        });
    }
    headers
}

fn described(event: &Event) -> Result<Topic, Code> {
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

fn listed(event: &Event) -> Result<Offsets, Code> {
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
fn id_text((high, low): (i64, i64)) -> Option<String> {
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

fn is_error(code: rd::rd_kafka_resp_err_t) -> bool {
    code != rd::rd_kafka_resp_err_t::RD_KAFKA_RESP_ERR_NO_ERROR
}

/// Owns the options of one question.
struct Options(NonNull<rd::rd_kafka_AdminOptions_t>);

impl Options {
    fn new(
        client: &NativeClient,
        question: rd::rd_kafka_admin_op_t,
        timeout: Duration,
    ) -> Result<Self, Code> {
        // SAFETY: the client is alive.
        let options = unsafe { rd::rd_kafka_AdminOptions_new(client.ptr(), question) };
        let options = Self(NonNull::new(options).ok_or(Code::InvalidArgument)?);
        let mut text: [c_char; 128] = [0; 128];
        // SAFETY: the options are alive; librdkafka writes at most `text.len()` bytes.
        let set = unsafe {
            rd::rd_kafka_AdminOptions_set_request_timeout(
                options.0.as_ptr(),
                milliseconds(timeout).max(1),
                text.as_mut_ptr(),
                text.len(),
            )
        };
        if is_error(set) {
            Err(set.into())
        } else {
            Ok(options)
        }
    }

    fn send_to(&self, broker: i32) -> Result<(), Code> {
        let mut text: [c_char; 128] = [0; 128];
        // SAFETY: the options are alive; librdkafka writes at most `text.len()` bytes.
        let set = unsafe {
            rd::rd_kafka_AdminOptions_set_broker(
                self.0.as_ptr(),
                broker,
                text.as_mut_ptr(),
                text.len(),
            )
        };
        if is_error(set) {
            Err(set.into())
        } else {
            Ok(())
        }
    }

    fn isolate(&self, isolation: IsolationLevel) -> Result<(), Code> {
        let level = match isolation {
            IsolationLevel::ReadCommitted => {
                rd::rd_kafka_IsolationLevel_t::RD_KAFKA_ISOLATION_LEVEL_READ_COMMITTED
            }
            IsolationLevel::ReadUncommitted => {
                rd::rd_kafka_IsolationLevel_t::RD_KAFKA_ISOLATION_LEVEL_READ_UNCOMMITTED
            }
        };
        // SAFETY: the options are alive; an error is handed over to us, and destroyed once.
        unsafe {
            let error = rd::rd_kafka_AdminOptions_set_isolation_level(self.0.as_ptr(), level);
            if error.is_null() {
                return Ok(());
            }
            let code = rd::rd_kafka_error_code(error);
            rd::rd_kafka_error_destroy(error);
            Err(code.into())
        }
    }
}

impl Drop for Options {
    fn drop(&mut self) {
        // SAFETY: they are ours, and nothing uses them any more: librdkafka has copied what it needs.
        unsafe { rd::rd_kafka_AdminOptions_destroy(self.0.as_ptr()) };
    }
}

/// Owns the queue that one answer comes to.
struct Reply<'c> {
    queue: NonNull<rd::rd_kafka_queue_t>,
    /// The queue must not outlive its client.
    client: PhantomData<&'c NativeClient>,
}

impl<'c> Reply<'c> {
    fn new(client: &'c NativeClient) -> Result<Self, Code> {
        // SAFETY: the client is alive, and `'c` keeps it so for as long as the queue lives.
        let queue = unsafe { rd::rd_kafka_queue_new(client.ptr()) };
        Ok(Self {
            queue: NonNull::new(queue).ok_or(Code::Fail)?,
            client: PhantomData,
        })
    }

    fn event(&self, wait: Duration) -> Option<Result<Event, Code>> {
        // SAFETY: the queue is alive; an event that comes out is ours.
        let event = unsafe { rd::rd_kafka_queue_poll(self.queue.as_ptr(), milliseconds(wait)) };
        let event = Event(NonNull::new(event)?);
        // SAFETY: the event is alive.
        let code = unsafe { rd::rd_kafka_event_error(event.0.as_ptr()) };
        Some(if is_error(code) {
            Err(code.into())
        } else {
            Ok(event)
        })
    }
}

impl Drop for Reply<'_> {
    fn drop(&mut self) {
        // SAFETY: the queue is ours. librdkafka drops an answer that comes to a destroyed queue.
        unsafe { rd::rd_kafka_queue_destroy(self.queue.as_ptr()) };
    }
}

/// Owns one event.
struct Event(NonNull<rd::rd_kafka_event_t>);

impl Drop for Event {
    fn drop(&mut self) {
        // SAFETY: the event is ours, and what was read from it has been copied.
        unsafe { rd::rd_kafka_event_destroy(self.0.as_ptr()) };
    }
}

/// Rounds up: a wait that is cut short would be a spin.
fn milliseconds(time: Duration) -> c_int {
    c_int::try_from(time.as_nanos().div_ceil(1_000_000)).unwrap_or(c_int::MAX)
}

#[cfg(test)]
mod tests;
