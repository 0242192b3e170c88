//! SHELL: a message of librdkafka's as a record.

use rdkafka::message::{BorrowedMessage, Message};

use super::identity::headers;
use crate::config::StreamSpec;
use crate::record::{Header, Record};

/// Gives a message's headers, where the stream reads them.
pub(super) fn headers_read<'a>(
    spec: &StreamSpec,
    message: &'a BorrowedMessage<'_>,
) -> Vec<Header<'a>> {
    if spec.reads_headers() {
        headers(message)
    } else {
        Vec::new()
    }
}

/// Gives the record that a message is, with its headers.
pub(super) fn record<'a>(
    spec: &'a StreamSpec,
    message: &'a BorrowedMessage<'_>,
    headers: &'a [Header<'a>],
) -> Record<'a> {
    Record {
        topic: spec.topic.as_str(),
        partition: message.partition(),
        offset: message.offset(),
        // librdkafka has -1 where there is none.
        timestamp: message.timestamp().to_millis().filter(|&ms| ms >= 0),
        key: message.key(),
        value: message.payload(),
        headers,
    }
}
