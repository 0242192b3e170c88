//! Schemas that records need and the pipeline has not met: asked for while everything else goes on. Only the partition of such a
//! record waits, with the record and those behind it.

use std::collections::{BTreeMap, VecDeque};
use std::sync::{Arc, mpsc};
use std::time::Duration;

use rdkafka::consumer::Consumer;
use rdkafka::error::KafkaResult;
use rdkafka::topic_partition_list::TopicPartitionList;
use tokio::runtime::Handle;
use tracing::debug;

use super::clients::Client;
use super::clock::now;
use crate::config::TopicName;
use crate::pipeline::Pipeline;
use crate::record::{Header, Record};
use crate::registry::Registry;
use crate::schema::{Need, SchemaFault, SchemaText};

/// Is where a data source's schemas come from, and the runtime that asks.
#[derive(Clone)]
pub struct SchemaClient {
    pub registry: Registry,
    pub runtime: Handle,
}

/// Keeps the records of one client that wait for schemas.
pub(super) struct Waiting<'c> {
    client: &'c Client,
    topic: &'c TopicName,
    schemas: &'c SchemaClient,
    /// The partitions that are paused.
    partitions: BTreeMap<i32, Held>,
    /// What is being asked for.
    asked: Vec<Need>,
    sender: mpsc::Sender<Answer>,
    answers: mpsc::Receiver<Answer>,
}

type Answer = (Need, Result<Arc<SchemaText>, SchemaFault>);

/// Is a partition's first record that waits, and what came behind it.
struct Held {
    /// `None`: the answer is here.
    need: Option<Need>,
    records: VecDeque<Kept>,
}

impl<'c> Waiting<'c> {
    /// Starts with nothing that waits.
    pub(super) fn new(client: &'c Client, topic: &'c TopicName, schemas: &'c SchemaClient) -> Self {
        let (sender, answers) = mpsc::channel();
        Self {
            client,
            topic,
            schemas,
            partitions: BTreeMap::new(),
            asked: Vec::new(),
            sender,
            answers,
        }
    }

    /// Tells whether no record waits.
    pub(super) fn is_empty(&self) -> bool {
        self.partitions.is_empty()
    }

    /// Tells whether an earlier record of this partition waits: later ones come behind it.
    pub(super) fn holds(&self, partition: i32) -> bool {
        self.partitions.contains_key(&partition)
    }

    /// Keeps a record behind an earlier one.
    pub(super) fn queue(&mut self, record: &Record<'_>) {
        if let Some(held) = self.partitions.get_mut(&record.partition) {
            held.records.push_back(Kept::from(record));
        }
    }

    /// Keeps a record, asks for the schema that it needs, and pauses its partition.
    pub(super) fn hold(&mut self, record: &Record<'_>, need: Need) {
        self.ask(&need);
        let held = self
            .partitions
            .entry(record.partition)
            .or_insert_with(|| Held {
                need: None,
                records: VecDeque::new(),
            });
        held.need = Some(need);
        held.records.push_front(Kept::from(record));
        self.pause_or_resume(record.partition, true);
    }

    /// Gives the pipeline what was answered.
    pub(super) fn answered(&mut self, pipeline: &mut Pipeline) {
        if self.asked.is_empty() {
            return;
        }
        for (need, answer) in self.answers.try_iter() {
            if let Err(fault) = &answer {
                debug!(topic = self.topic.as_str(), "no schema: {fault}");
            }
            pipeline.provide_schema(&need, answer, now());
            self.asked.retain(|asked| *asked != need);
            for held in self.partitions.values_mut() {
                held.need.take_if(|waits_for| *waits_for == need);
            }
        }
    }

    /// Gives the next record that need not wait any more. A partition whose last one it is goes on.
    pub(super) fn next(&mut self) -> Option<Kept> {
        let mut ready = self.partitions.iter_mut();
        let (&partition, held) = ready.find(|(_, held)| held.need.is_none())?;
        let record = held.records.pop_front();
        if held.records.is_empty() {
            self.partitions.remove(&partition);
            self.pause_or_resume(partition, false);
        }
        record
    }

    /// Gives partition and offset of the first record that waits in each.
    pub(super) fn first(&self) -> Vec<(i32, i64)> {
        let firsts = self
            .partitions
            .values()
            .filter_map(|held| held.records.front());
        firsts.map(|kept| (kept.partition, kept.offset)).collect()
    }

    /// Forgets the records that wait: Kafka will send them again.
    pub(super) fn clear(&mut self) {
        for partition in std::mem::take(&mut self.partitions).into_keys() {
            self.pause_or_resume(partition, false);
        }
    }

    fn ask(&mut self, need: &Need) {
        if self.asked.contains(need) {
            return;
        }
        self.asked.push(need.clone());
        let registry = self.schemas.registry.clone();
        let (need, topic, sender) = (need.clone(), self.topic.clone(), self.sender.clone());
        self.schemas.runtime.spawn(async move {
            let answer = registry.schema(&need.id, need.role, &topic).await;
            // The reader may have ended meanwhile.
            let _ = sender.send((need, answer.map_err(SchemaFault::from)));
        });
    }

    fn pause_or_resume(&self, partition: i32, pause: bool) {
        if let Err(error) = self.try_pause_or_resume(partition, pause) {
            debug!(partition, pause, %error, "pause or resume");
        }
    }

    fn try_pause_or_resume(&self, partition: i32, pause: bool) -> KafkaResult<()> {
        let mut partitions = TopicPartitionList::with_capacity(1);
        partitions.add_partition(self.topic.as_str(), partition);
        if pause {
            self.client.pause(&partitions)
        } else {
            self.client.resume(&partitions)
        }
    }
}

/// Is a copy of a record, since librdkafka's own goes with the poll.
pub(super) struct Kept {
    partition: i32,
    offset: i64,
    timestamp: Option<i64>,
    key: Option<Vec<u8>>,
    value: Option<Vec<u8>>,
    headers: Vec<(Vec<u8>, Option<Vec<u8>>)>,
}

impl From<&Record<'_>> for Kept {
    fn from(record: &Record<'_>) -> Self {
        let headers = record.headers.iter();
        Self {
            partition: record.partition,
            offset: record.offset,
            timestamp: record.timestamp,
            key: record.key.map(<[u8]>::to_vec),
            value: record.value.map(<[u8]>::to_vec),
            headers: headers
                .map(|header| (header.name.to_vec(), header.value.map(<[u8]>::to_vec)))
                .collect(),
        }
    }
}

impl Kept {
    /// Shows the record as it came.
    pub(super) fn with<T>(&self, topic: &TopicName, show: impl FnOnce(&Record<'_>) -> T) -> T {
        let headers: Vec<_> = self
            .headers
            .iter()
            .map(|(name, value)| Header {
                name,
                value: value.as_deref(),
            })
            .collect();
        show(&Record {
            topic: topic.as_str(),
            partition: self.partition,
            offset: self.offset,
            timestamp: self.timestamp,
            key: self.key.as_deref(),
            value: self.value.as_deref(),
            headers: &headers,
        })
    }
}

/// How often an answer is looked for while records wait.
pub(super) const ANSWER_POLL: Duration = Duration::from_millis(2);
