//! Records that librdkafka would not write: without a timestamp, or with a header whose name is not text.

use anyhow::{Context, Result};
use bytes::{BufMut, Bytes, BytesMut};
use kafka_protocol::messages::produce_request::{PartitionProduceData, TopicProduceData};
use kafka_protocol::messages::{ProduceRequest, TopicName};
use kafka_protocol::protocol::StrBytes;

use crate::Kafka;
use crate::admin::check;

/// A record for `Kafka::produce_raw`.
#[derive(Clone, Copy, Debug, Default)]
pub struct RawRecord<'a> {
    /// Milliseconds since 1970; -1 is how a record says that it has none.
    pub timestamp: i64,
    pub value: Option<&'a [u8]>,
    pub headers: &'a [(&'a [u8], Option<&'a [u8]>)],
}

impl Kafka {
    /// Writes each record as a batch of its own to partition 0, as it is given.
    pub fn produce_raw(&self, topic: &str, records: &[RawRecord<'_>]) -> Result<()> {
        for record in records {
            let partition = PartitionProduceData::default()
                .with_index(0)
                .with_records(Some(batch(record)));
            let name = TopicName(StrBytes::from_string(topic.to_owned()));
            let data = TopicProduceData::default()
                .with_name(name)
                .with_partition_data(vec![partition]);
            let request = ProduceRequest::default()
                .with_acks(-1)
                .with_timeout_ms(30_000)
                .with_topic_data(vec![data]);
            let answer = self.call(9, &request)?;
            let partition = answer
                .responses
                .first()
                .and_then(|topic| topic.partition_responses.first());
            let partition = partition.context("no answer for the partition")?;
            check(partition.error_code, partition.error_message.as_deref())?;
        }
        Ok(())
    }
}

/// Encodes a record batch of one record: <https://kafka.apache.org/documentation/#recordbatch>
fn batch(record: &RawRecord<'_>) -> Bytes {
    let mut body = BytesMut::new();
    body.put_i8(0); // attributes
    varint(&mut body, 0); // timestamp delta
    varint(&mut body, 0); // offset delta
    varint(&mut body, -1); // no key
    bytes_or_null(&mut body, record.value);
    varint(&mut body, record.headers.len() as i64);
    for (name, value) in record.headers {
        bytes_or_null(&mut body, Some(name));
        bytes_or_null(&mut body, *value);
    }

    let mut checked = BytesMut::new();
    checked.put_i16(0); // attributes: no compression, the producer's time
    checked.put_i32(0); // last offset delta
    checked.put_i64(record.timestamp);
    checked.put_i64(record.timestamp);
    checked.put_i64(-1); // no producer id
    checked.put_i16(-1); // nor epoch
    checked.put_i32(-1); // nor sequence
    checked.put_i32(1); // records
    varint(&mut checked, body.len() as i64);
    checked.put_slice(&body);

    let mut batch = BytesMut::new();
    batch.put_i64(0); // base offset
    batch.put_i32((4 + 1 + 4 + checked.len()) as i32);
    batch.put_i32(-1); // leader epoch
    batch.put_i8(2); // magic
    batch.put_u32(crc32c::crc32c(&checked));
    batch.put_slice(&checked);
    batch.freeze()
}

fn bytes_or_null(buffer: &mut BytesMut, bytes: Option<&[u8]>) {
    varint(buffer, bytes.map_or(-1, |bytes| bytes.len() as i64));
    buffer.put_slice(bytes.unwrap_or_default());
}

fn varint(buffer: &mut BytesMut, value: i64) {
    let mut rest = ((value << 1) ^ (value >> 63)) as u64;
    while rest >= 0x80 {
        buffer.put_u8(rest as u8 | 0x80);
        rest >>= 7;
    }
    buffer.put_u8(rest as u8);
}
