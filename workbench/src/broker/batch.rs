//! The header of a record batch, format 2: <https://kafka.apache.org/documentation/#recordbatch>.

use bytes::{Bytes, BytesMut};
use kafka_protocol::records::{Record, RecordBatchDecoder};

/// A batch as it is stored.
#[derive(Clone, Debug)]
pub(super) struct Batch {
    pub(super) last_offset: i64,
    pub(super) max_timestamp: i64,
    pub(super) records: usize,
    pub(super) bytes: Bytes,
}

/// Bytes that are no batch of format 2.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct NotABatch;

impl Batch {
    /// Takes the first batch off `bytes` and gives it the offsets from `base_offset` on.
    pub(super) fn take(bytes: &mut Bytes, base_offset: i64) -> Result<Batch, NotABatch> {
        if bytes.len() < HEADER || bytes[MAGIC] != 2 {
            return Err(NotABatch);
        }
        let length = usize::try_from(i32_at(bytes, LENGTH)).map_err(|_| NotABatch)? + LENGTH + 4;
        let last_delta = i32_at(bytes, LAST_OFFSET_DELTA);
        let records = i32_at(bytes, RECORDS);
        if length < HEADER || length > bytes.len() || last_delta < 0 || records != last_delta + 1 {
            return Err(NotABatch);
        }
        // Neither field is under the batch's checksum.
        let mut batch = BytesMut::from(bytes.split_to(length));
        batch[..LENGTH].copy_from_slice(&base_offset.to_be_bytes());
        batch[LEADER_EPOCH..MAGIC].copy_from_slice(&0_i32.to_be_bytes());
        let max_timestamp = i64_at(&batch, MAX_TIMESTAMP);
        Ok(Batch {
            last_offset: base_offset + i64::from(last_delta),
            max_timestamp,
            records: records as usize,
            bytes: batch.freeze(),
        })
    }

    /// Decodes the records: for look-ups by time only.
    pub(super) fn decode(&self) -> Vec<Record> {
        RecordBatchDecoder::decode(&mut self.bytes.clone())
            .map(|set| set.records)
            .unwrap_or_default()
    }
}

const LENGTH: usize = 8;
const LEADER_EPOCH: usize = 12;
const MAGIC: usize = 16;
const LAST_OFFSET_DELTA: usize = 23;
const MAX_TIMESTAMP: usize = 35;
const RECORDS: usize = 57;
const HEADER: usize = 61;

fn i32_at(bytes: &[u8], at: usize) -> i32 {
    i32::from_be_bytes(bytes[at..at + 4].try_into().expect("four bytes"))
}

fn i64_at(bytes: &[u8], at: usize) -> i64 {
    i64::from_be_bytes(bytes[at..at + 8].try_into().expect("eight bytes"))
}

#[cfg(test)]
pub(super) mod tests {
    use super::*;
    use kafka_protocol::records::{
        Compression, RecordBatchEncoder, RecordEncodeOptions, TimestampType,
    };

    /// Encodes one batch with a record for each timestamp.
    pub(in super::super) fn encode(timestamps: &[i64], compression: Compression) -> Bytes {
        let records: Vec<Record> = timestamps
            .iter()
            .enumerate()
            .map(|(at, timestamp)| Record {
                transactional: false,
                control: false,
                delete_horizon: false,
                partition_leader_epoch: -1,
                producer_id: -1,
                producer_epoch: -1,
                timestamp_type: TimestampType::Creation,
                offset: at as i64,
                sequence: at as i32,
                timestamp: *timestamp,
                key: None,
                value: Some(format!("value {at}").into()),
                headers: indexmap::IndexMap::default(),
            })
            .collect();
        let mut bytes = BytesMut::new();
        let options = RecordEncodeOptions {
            version: 2,
            compression,
        };
        RecordBatchEncoder::encode(&mut bytes, &records, &options).expect("encoded");
        bytes.freeze()
    }

    #[test]
    fn batches_are_taken_one_by_one() {
        for compression in [Compression::None, Compression::Gzip, Compression::Lz4] {
            let mut bytes: Bytes = [
                encode(&[10, 30, 20], compression),
                encode(&[5], compression),
            ]
            .concat()
            .into();
            let first = Batch::take(&mut bytes, 100).expect("a batch");
            assert_eq!((first.last_offset, first.records), (102, 3));
            assert_eq!(first.max_timestamp, 30);
            let offsets: Vec<i64> = first.decode().iter().map(|record| record.offset).collect();
            assert_eq!(offsets, [100, 101, 102], "{compression:?}");
            let second = Batch::take(&mut bytes, 103).expect("a batch");
            assert_eq!((i64_at(&second.bytes, 0), second.last_offset), (103, 103));
            assert!(bytes.is_empty());
        }
    }

    #[test]
    fn other_bytes_are_refused() {
        let good = encode(&[1], Compression::None);
        for (name, at, byte) in [
            ("old magic", MAGIC, 1_u8),
            ("longer than the bytes", LENGTH + 2, 0x7f),
            ("negative length", LENGTH, 0xff),
            ("negative delta", LAST_OFFSET_DELTA, 0xff),
            ("count without offsets", RECORDS + 3, 2),
        ] {
            let mut bytes = BytesMut::from(good.clone());
            bytes[at] = byte;
            assert_eq!(
                Batch::take(&mut bytes.freeze(), 0).err(),
                Some(NotABatch),
                "{name}"
            );
        }
        assert_eq!(Batch::take(&mut good.slice(..60), 0).err(), Some(NotABatch));
    }
}
