//! The topics of a broker.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, RwLock};

use tokio::sync::watch;
use uuid::Uuid;

use super::log::Log;

/// How much each partition keeps; the oldest batches go first.
#[derive(Clone, Copy, Debug)]
pub struct Retention {
    pub bytes: usize,
    pub records: usize,
}

impl Default for Retention {
    /// 16 MiB and half a million records.
    fn default() -> Self {
        Retention {
            bytes: 16 << 20,
            records: 500_000,
        }
    }
}

/// Why a topic was not created, grown or deleted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TopicError {
    Unknown,
    Exists,
    InvalidName,
    InvalidPartitions,
}

impl std::fmt::Display for TopicError {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(match self {
            TopicError::Unknown => "no such topic",
            TopicError::Exists => "a topic of this name exists",
            TopicError::InvalidName => "not a valid topic name",
            TopicError::InvalidPartitions => "not a valid number of partitions",
        })
    }
}

impl std::error::Error for TopicError {}

/// Topics and their records. Clones share them.
#[derive(Clone, Debug)]
pub struct Store(Arc<Inner>);

#[derive(Debug)]
struct Inner {
    topics: RwLock<BTreeMap<String, Topic>>,
    retention: Retention,
    /// Counts appends, for those who wait for records.
    appended: watch::Sender<u64>,
}

/// One topic.
#[derive(Clone, Debug)]
pub(super) struct Topic {
    pub(super) name: String,
    pub(super) id: Uuid,
    pub(super) partitions: Vec<Arc<Mutex<Log>>>,
}

impl Topic {
    /// Locks a partition's log.
    pub(super) fn log(&self, partition: i32) -> Option<MutexGuard<'_, Log>> {
        let partition = self.partitions.get(usize::try_from(partition).ok()?)?;
        Some(partition.lock().unwrap_or_else(PoisonError::into_inner))
    }
}

impl Store {
    pub fn new(retention: Retention) -> Store {
        Store(Arc::new(Inner {
            topics: RwLock::default(),
            retention,
            appended: watch::channel(0).0,
        }))
    }

    /// Creates a topic with a fresh id.
    pub fn create(&self, name: &str, partitions: usize) -> Result<Uuid, TopicError> {
        let allowed = |c: char| c.is_ascii_alphanumeric() || "._-".contains(c);
        if !(1..=249).contains(&name.len())
            || !name.chars().all(allowed)
            || [".", ".."].contains(&name)
        {
            return Err(TopicError::InvalidName);
        }
        if !(1..=MAX_PARTITIONS).contains(&partitions) {
            return Err(TopicError::InvalidPartitions);
        }
        let mut topics = self
            .0
            .topics
            .write()
            .unwrap_or_else(PoisonError::into_inner);
        if topics.contains_key(name) {
            return Err(TopicError::Exists);
        }
        let id = Uuid::new_v4();
        let partitions = (0..partitions).map(|_| Arc::default()).collect();
        topics.insert(
            name.into(),
            Topic {
                name: name.into(),
                id,
                partitions,
            },
        );
        Ok(id)
    }

    /// Adds partitions, so that there are `partitions` of them.
    pub fn grow(&self, name: &str, partitions: usize) -> Result<(), TopicError> {
        let mut topics = self
            .0
            .topics
            .write()
            .unwrap_or_else(PoisonError::into_inner);
        let topic = topics.get_mut(name).ok_or(TopicError::Unknown)?;
        if partitions <= topic.partitions.len() || partitions > MAX_PARTITIONS {
            return Err(TopicError::InvalidPartitions);
        }
        topic.partitions.resize_with(partitions, Arc::default);
        Ok(())
    }

    /// Deletes a topic and its records.
    pub fn delete(&self, name: &str) -> Result<(), TopicError> {
        let mut topics = self
            .0
            .topics
            .write()
            .unwrap_or_else(PoisonError::into_inner);
        topics.remove(name).map(|_| ()).ok_or(TopicError::Unknown)?;
        drop(topics);
        self.0.appended.send_modify(|count| *count += 1);
        Ok(())
    }

    /// Lists the topics' names.
    pub fn topics(&self) -> Vec<String> {
        self.all().into_iter().map(|topic| topic.name).collect()
    }

    /// Gives the first and the next offset of a partition.
    pub fn offsets(&self, name: &str, partition: i32) -> Option<(i64, i64)> {
        let topic = self.by_name(name)?;
        let log = topic.log(partition)?;
        Some((log.start(), log.end()))
    }

    pub(super) fn all(&self) -> Vec<Topic> {
        let topics = self.0.topics.read().unwrap_or_else(PoisonError::into_inner);
        topics.values().cloned().collect()
    }

    pub(super) fn by_name(&self, name: &str) -> Option<Topic> {
        let topics = self.0.topics.read().unwrap_or_else(PoisonError::into_inner);
        topics.get(name).cloned()
    }

    pub(super) fn by_id(&self, id: Uuid) -> Option<Topic> {
        let topics = self.0.topics.read().unwrap_or_else(PoisonError::into_inner);
        topics.values().find(|topic| topic.id == id).cloned()
    }

    pub(super) fn retention(&self) -> Retention {
        self.0.retention
    }

    /// Wakes those who wait for records.
    pub(super) fn notify(&self) {
        self.0.appended.send_modify(|count| *count += 1);
    }

    /// Changes with each append.
    pub(super) fn appends(&self) -> watch::Receiver<u64> {
        self.0.appended.subscribe()
    }
}

const MAX_PARTITIONS: usize = 1_000;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn topics_come_and_go() {
        let store = Store::new(Retention::default());
        let long = "x".repeat(250);
        for (name, partitions, expected) in [
            ("a", 3, Ok(())),
            ("a", 3, Err(TopicError::Exists)),
            ("b.c_d-e", 1, Ok(())),
            ("", 1, Err(TopicError::InvalidName)),
            ("..", 1, Err(TopicError::InvalidName)),
            ("a/b", 1, Err(TopicError::InvalidName)),
            (&*long, 1, Err(TopicError::InvalidName)),
            ("c", 0, Err(TopicError::InvalidPartitions)),
        ] {
            assert_eq!(
                store.create(name, partitions).map(|_| ()),
                expected,
                "{name}"
            );
        }
        assert_eq!(store.topics(), ["a", "b.c_d-e"]);

        let id = |name| store.by_name(name).map(|topic| topic.id);
        let first = id("a");
        assert_eq!(store.grow("a", 3), Err(TopicError::InvalidPartitions));
        assert_eq!(store.grow("a", 4), Ok(()));
        assert_eq!(store.grow("z", 4), Err(TopicError::Unknown));
        assert_eq!(id("a"), first, "a topic keeps its id as it grows");
        assert_eq!(
            (store.offsets("a", 3), store.offsets("a", 4)),
            (Some((0, 0)), None)
        );
        assert_eq!(store.delete("a"), Ok(()));
        assert_eq!(store.delete("a"), Err(TopicError::Unknown));
        store.create("a", 1).expect("created again");
        assert_ne!(
            id("a"),
            first,
            "a topic that is created again is another one"
        );
    }
}
