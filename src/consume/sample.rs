//! SHELL: the last records of a topic, kept whole, for a look at what they are.

use std::time::{Duration, Instant};

use rdkafka::Message;
use rdkafka::consumer::Consumer;
use rdkafka::error::KafkaError as ClientError;
use rdkafka::message::BorrowedMessage;
use rdkafka::topic_partition_list::{Offset, TopicPartitionList};

use super::clients::Client;
use super::errors::{KafkaError, gives_no_records};
use super::identity::headers;
use super::last::count_back;
use super::look::{Subject, explain, explain_read, look};
use super::start::{Begin, Extent, Look};
use crate::detect::Sample;

/// Says how much is read.
#[derive(Debug, Clone, Copy)]
pub struct Bounds {
    pub records: usize,
    /// Bytes of keys and values; the record that passes them is the last.
    pub bytes: usize,
    /// How long records are counted and read.
    pub time: Duration,
    /// How long Kafka may take to say what there is.
    pub look: Duration,
}

/// Reads the last records of the partitions that hold most, within `bounds`. Blocks.
///
/// Nobody else may poll the client.
pub fn sample(
    client: &Client,
    bootstrap: &[String],
    subject: &Subject,
    bounds: &Bounds,
) -> Result<Vec<Sample>, KafkaError> {
    let look = look(client, subject, bootstrap, bounds.look)?;
    if let (true, Some(&(_, code))) = (look.extents.is_empty(), look.closed.first()) {
        return Err(explain(client, &subject.topic, code, bounds.look));
    }
    let look = fullest(look, bounds.records);
    if look.extents.is_empty() {
        return Ok(Vec::new());
    }
    let until = Instant::now() + bounds.time;
    let failed = |error: ClientError| explain_read(client, &subject.topic, &error, bounds.time);
    let each = bounds.records.div_ceil(look.extents.len());
    let half = Instant::now() + bounds.time / 2;
    let mut begin = Begin::last(each as u32, &look);
    count_back(client, &subject.topic, &mut begin, &look, || {
        Instant::now() < half
    })
    .map_err(failed)?;
    let Begin::At(start) = begin else {
        return Ok(Vec::new());
    };

    let mut partitions = TopicPartitionList::with_capacity(look.extents.len());
    let mut open: Vec<Extent> = Vec::new();
    for extent in &look.extents {
        let start = start
            .next
            .get(&extent.partition)
            .copied()
            .unwrap_or(extent.low);
        if start < extent.high {
            let start = Offset::Offset(start);
            partitions
                .add_partition_offset(subject.topic.as_str(), extent.partition, start)
                .map_err(failed)?;
            open.push(*extent);
        }
    }
    client.assign(&partitions).map_err(failed)?;
    let mut samples = Vec::new();
    let mut bytes = 0;
    while !open.is_empty()
        && samples.len() < bounds.records
        && bytes < bounds.bytes
        && Instant::now() < until
    {
        match client.poll(POLL) {
            Some(Ok(record)) => {
                let (partition, offset) = (record.partition(), record.offset());
                let Some(at) = open.iter().position(|extent| extent.partition == partition) else {
                    continue;
                };
                if offset < open[at].high {
                    bytes += record.key_len() + record.payload_len();
                    samples.push(keep(&record));
                }
                if offset + 1 >= open[at].high {
                    open.remove(at);
                }
            }
            Some(Err(ClientError::PartitionEOF(partition))) => {
                open.retain(|extent| extent.partition != partition);
            }
            Some(Err(error)) if gives_no_records(&error) => return Err(failed(error)),
            Some(Err(_)) | None => {}
        }
    }
    samples.sort_by_key(|sample: &Sample| (sample.timestamp, sample.partition, sample.offset));
    Ok(samples)
}

/// Leaves the partitions that hold most offsets, at most `most`.
fn fullest(mut look: Look, most: usize) -> Look {
    let offsets = |extent: &Extent| extent.high.saturating_sub(extent.low);
    look.extents.retain(|extent| offsets(extent) > 0);
    look.extents
        .sort_by_key(|extent| std::cmp::Reverse(offsets(extent)));
    look.extents.truncate(most);
    look.extents.sort_by_key(|extent| extent.partition);
    look
}

fn keep(record: &BorrowedMessage<'_>) -> Sample {
    let headers = headers(record).into_iter();
    Sample {
        partition: record.partition(),
        offset: record.offset(),
        timestamp: record.timestamp().to_millis().filter(|&ms| ms >= 0),
        key: record.key().map(<[u8]>::to_vec),
        value: record.payload().map(<[u8]>::to_vec),
        headers: headers
            .map(|header| (header.name.to_vec(), header.value.map(<[u8]>::to_vec)))
            .collect(),
    }
}

/// How long one wait for a record takes; time that is up is noticed after it.
const POLL: Duration = Duration::from_millis(50);

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_fullest_partitions_are_read() {
        let extent = |partition, low, high| Extent {
            partition,
            low,
            high,
        };
        let look = Look {
            extents: vec![
                extent(0, 0, 5),
                extent(1, 7, 7),
                extent(2, 0, 100),
                extent(3, 90, 99),
                extent(4, 0, 1),
            ],
            ..Look::default()
        };
        for (most, want) in [
            (1, &[2][..]),
            (2, &[2, 3]),
            (3, &[0, 2, 3]),
            (9, &[0, 2, 3, 4]),
        ] {
            let found: Vec<i32> = fullest(look.clone(), most)
                .extents
                .iter()
                .map(|extent| extent.partition)
                .collect();
            assert_eq!(found, want, "{most}");
        }
    }
}
