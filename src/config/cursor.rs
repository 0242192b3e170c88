//! Where a reader is: the next offset of each partition of one topic.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

/// Names the next offset to read in each partition, and the topic that the offsets belong to.
///
/// As JSON: `{"topicId":"…","next":{"0":123}}`. A partition that is not named starts at its first offset.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Cursor {
    /// Kafka's id of the topic, base64; it changes when a topic is deleted and created again. Brokers before 2.8 have none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub topic_id: Option<String>,
    /// Partition to next offset. A negative number, -N, stands for the last N records of a partition that had no leader: where
    /// they begin is counted once it has one.
    pub next: BTreeMap<i32, i64>,
}
