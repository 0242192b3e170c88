//! A small Kafka producer: one connection, one request at a time.

use std::time::Duration;

use anyhow::{Context as _, bail};
use bytes::{BufMut as _, Bytes, BytesMut};
use indexmap::IndexMap;
use kafka_protocol::ResponseError;
use kafka_protocol::messages::create_topics_request::CreatableTopic;
use kafka_protocol::messages::produce_request::{PartitionProduceData, TopicProduceData};
use kafka_protocol::messages::{
    ApiKey, CreateTopicsRequest, ProduceRequest, RequestHeader, ResponseHeader, TopicName,
};
use kafka_protocol::protocol::{
    Decodable, HeaderVersion, Request, StrBytes, encode_request_header_into_buffer,
};
use kafka_protocol::records::{
    Compression, NO_PARTITION_LEADER_EPOCH, NO_PRODUCER_EPOCH, NO_PRODUCER_ID, Record,
    RecordBatchEncoder, RecordEncodeOptions, TimestampType,
};
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::TcpStream;

use super::Outgoing;

/// A connection to the broker that leads all partitions.
pub(super) struct Client {
    socket: TcpStream,
    correlation: i32,
}

impl Client {
    pub(super) async fn connect(bootstrap: &str) -> anyhow::Result<Client> {
        let socket = TcpStream::connect(bootstrap)
            .await
            .with_context(|| format!("cannot connect to {bootstrap}"))?;
        socket.set_nodelay(true)?;
        Ok(Client {
            socket,
            correlation: 0,
        })
    }

    /// Creates a topic, and tells whether it is new.
    pub(super) async fn create_topic(
        &mut self,
        name: &str,
        partitions: i32,
    ) -> anyhow::Result<bool> {
        let topic = CreatableTopic::default()
            .with_name(topic_name(name))
            .with_num_partitions(partitions)
            .with_replication_factor(1);
        let request = CreateTopicsRequest::default()
            .with_topics(vec![topic])
            .with_timeout_ms(TIMEOUT_MS);
        let response = self.call(request, 7).await?;
        match response.topics.first().map(|topic| topic.error_code) {
            Some(0) => Ok(true),
            Some(code) if code == ResponseError::TopicAlreadyExists.code() => Ok(false),
            code => bail!("topic {name} was not created: error {code:?}"),
        }
    }

    /// Writes records with their timestamps: one batch a partition.
    pub(super) async fn produce(
        &mut self,
        topic: &str,
        records: impl IntoIterator<Item = (i64, Outgoing)>,
    ) -> anyhow::Result<()> {
        let mut partitions = IndexMap::<i32, Vec<Record>>::new();
        for (timestamp, record) in records {
            let batch = partitions.entry(record.partition).or_default();
            batch.push(encode_record(record, timestamp, batch.len()));
        }
        let mut data = partitions
            .iter()
            .map(|(partition, records)| {
                let mut bytes = BytesMut::new();
                let options = RecordEncodeOptions {
                    version: 2,
                    compression: Compression::None,
                };
                RecordBatchEncoder::encode(&mut bytes, records, &options)?;
                Ok(PartitionProduceData::default()
                    .with_index(*partition)
                    .with_records(Some(bytes.freeze())))
            })
            .collect::<anyhow::Result<Vec<_>>>()?;
        // The partitions of a topic that was just created have no leader for a moment.
        for _ in 0..ATTEMPTS {
            let failed = self.send(topic, data.clone()).await?;
            if failed.is_empty() {
                return Ok(());
            }
            data.retain(|partition| failed.contains(&partition.index));
            tokio::time::sleep(BETWEEN_ATTEMPTS).await;
        }
        bail!("topic {topic} has partitions without a leader")
    }

    /// Sends one request, and gives the partitions to send again; an error that will not pass is one.
    async fn send(
        &mut self,
        topic: &str,
        data: Vec<PartitionProduceData>,
    ) -> anyhow::Result<Vec<i32>> {
        let topic = TopicProduceData::default()
            .with_name(topic_name(topic))
            .with_partition_data(data);
        let request = ProduceRequest::default()
            .with_acks(1)
            .with_timeout_ms(TIMEOUT_MS)
            .with_topic_data(vec![topic]);
        let response = self.call(request, 9).await?;
        let mut failed = Vec::new();
        for topic in &response.responses {
            for partition in &topic.partition_responses {
                match ResponseError::try_from_code(partition.error_code) {
                    None => {}
                    Some(error) if error.is_retriable() => failed.push(partition.index),
                    Some(error) => bail!("partition {}: {error}", partition.index),
                }
            }
        }
        Ok(failed)
    }

    async fn call<R: Request>(&mut self, request: R, version: i16) -> anyhow::Result<R::Response> {
        self.correlation += 1;
        let key = ApiKey::try_from(R::KEY).expect("a request has a key");
        let header = RequestHeader::default()
            .with_request_api_key(R::KEY)
            .with_request_api_version(version)
            .with_correlation_id(self.correlation)
            .with_client_id(Some(StrBytes::from_static_str("workbench")));
        let mut frame = BytesMut::new();
        frame.put_i32(0);
        encode_request_header_into_buffer(&mut frame, &header)?;
        request.encode(&mut frame, version)?;
        let length = frame.len() as i32 - 4;
        frame[..4].copy_from_slice(&length.to_be_bytes());
        self.socket.write_all(&frame).await?;

        let length = usize::try_from(self.socket.read_i32().await?)?;
        let mut answer = BytesMut::zeroed(length);
        self.socket.read_exact(&mut answer).await?;
        let mut answer = answer.freeze();
        let header = ResponseHeader::decode(&mut answer, R::Response::header_version(version))?;
        if header.correlation_id != self.correlation {
            bail!(
                "expected the answer to {key:?} {}, found another",
                self.correlation
            );
        }
        R::Response::decode(&mut answer, version)
    }
}

fn encode_record(record: Outgoing, timestamp: i64, at: usize) -> Record {
    let headers = record
        .headers
        .into_iter()
        .map(|(name, value)| (StrBytes::from_static_str(name), Some(Bytes::from(value))));
    Record {
        transactional: false,
        control: false,
        delete_horizon: false,
        partition_leader_epoch: NO_PARTITION_LEADER_EPOCH,
        producer_id: NO_PRODUCER_ID,
        producer_epoch: NO_PRODUCER_EPOCH,
        timestamp_type: TimestampType::Creation,
        offset: at as i64,
        sequence: at as i32,
        timestamp,
        key: record.key.map(Bytes::from),
        value: record.value.map(Bytes::from),
        headers: headers.collect(),
    }
}

fn topic_name(name: &str) -> TopicName {
    TopicName(StrBytes::from_string(name.to_owned()))
}

const TIMEOUT_MS: i32 = 10_000;
const ATTEMPTS: u32 = 100;
const BETWEEN_ATTEMPTS: Duration = Duration::from_millis(100);
