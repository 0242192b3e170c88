//! SHELL: from which offset each partition is read: at a start position, at a cursor, and after the topic has changed.
//!
//! Nothing here asks or waits: a [`Look`] at the topic comes in, and offsets and what is worth saying come out.

use std::collections::BTreeMap;

use rdkafka::error::RDKafkaErrorCode as Code;

use crate::config::{Cursor, MAX_LAST_N, TopicName};
use crate::frame::{Notice, Severity};

/// Is what one look at a topic found, of the partitions that are to be read.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Look {
    /// `None` from brokers before 2.8.
    pub topic_id: Option<String>,
    /// Ascending.
    pub extents: Vec<Extent>,
    /// Partitions whose offsets nobody gives now: they have no leader, or it does not answer.
    pub closed: Vec<(i32, Code)>,
}

/// Says which offsets a partition holds: `low..high`, though some of them may be no records.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Extent {
    pub partition: i32,
    pub low: i64,
    /// The last stable offset for a reader of committed records, the high watermark otherwise.
    pub high: i64,
}

/// Says where a reader begins.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Begin {
    /// At the end: only records that arrive from now on.
    Newest,
    /// At the first record.
    Oldest,
    /// Where somebody stopped; a partition that it does not name begins at its first record.
    At(Cursor),
}

impl Begin {
    /// Begins at the last `n` records of each partition, also of those that are closed now.
    pub fn last(n: u32, look: &Look) -> Self {
        let open = look.extents.iter().map(|extent| extent.partition);
        let closed = look.closed.iter().map(|&(partition, _)| partition);
        let back = -i64::from(n);
        Self::At(Cursor {
            topic_id: look.topic_id.clone(),
            next: open
                .chain(closed)
                .map(|partition| (partition, back))
                .collect(),
        })
    }

    /// Gives the partitions of `look` whose start must be counted back to, each with how many records it begins before its
    /// end.
    pub fn uncounted(&self, look: &Look) -> Vec<(Extent, i64)> {
        let Self::At(cursor) = self else {
            return Vec::new();
        };
        if differ(cursor.topic_id.as_ref(), look.topic_id.as_ref()) {
            return Vec::new();
        }
        let back = |extent: &Extent| {
            let next = cursor.next.get(&extent.partition).copied()?;
            (next < 0).then(|| (*extent, next.saturating_neg().min(MAX_LAST_N)))
        };
        look.extents.iter().filter_map(back).collect()
    }

    /// Notes where the partitions begin that were counted back to.
    pub fn counted(&mut self, starts: BTreeMap<i32, i64>) {
        if let Self::At(cursor) = self {
            cursor.next.extend(starts);
        }
    }
}

/// Says why a reader looked at its topic again.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Reason {
    /// It looks from time to time; what is being read stays as it is.
    Routine,
    /// Kafka refused an offset: a partition stands still until it is given one that exists.
    Refused,
}

/// Is something that happened to a topic and that its viewer should know.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Change {
    /// Another topic of the same name.
    Recreated,
    /// Partitions that were added.
    Added(Vec<i32>),
    /// A partition that had no leader when reading began.
    Opened(i32),
    /// Kafka deleted records before they were read: `offsets` of them, at most.
    Lost { partition: i32, offsets: i64 },
    /// A position after the end, which is `end`: the log was cut, or the cursor is wrong.
    BeyondEnd {
        partition: i32,
        wanted: i64,
        end: i64,
    },
}

/// Is where a reader stands: the next offset of each partition.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Progress {
    begin: Begin,
    topic_id: Option<String>,
    /// Ascending by partition.
    positions: Vec<Position>,
    /// Partitions that were closed when the reader began: they begin as the others did, not as added ones do.
    closed: Vec<i32>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Position {
    partition: i32,
    next: i64,
}

impl Progress {
    /// Begins to read a topic as `look` found it.
    pub fn begin(begin: Begin, look: &Look) -> (Self, Vec<Change>) {
        let mut progress = Self {
            topic_id: look.topic_id.clone(),
            positions: Vec::with_capacity(look.extents.len()),
            closed: look
                .closed
                .iter()
                .map(|&(partition, _)| partition)
                .collect(),
            begin,
        };
        let mut changes = Vec::new();
        if let Begin::At(cursor) = &progress.begin
            && differ(cursor.topic_id.as_ref(), look.topic_id.as_ref())
        {
            progress.begin = Begin::Oldest;
            changes.push(Change::Recreated);
        }
        for extent in &look.extents {
            let next = progress.first_of(extent, &mut changes);
            progress.positions.push(Position {
                partition: extent.partition,
                next,
            });
        }
        (progress, changes)
    }

    /// Gives where partitions begin that are not read yet.
    pub fn origin(&mut self) -> &mut Begin {
        &mut self.begin
    }

    /// Compares with a later look. Where anything is returned, [`Progress::next`] has changed and is to be assigned
    /// anew; after [`Reason::Refused`] in any case.
    pub fn follow(&mut self, look: &Look, reason: Reason) -> Vec<Change> {
        let mut changes = Vec::new();
        if differ(self.topic_id.as_ref(), look.topic_id.as_ref()) {
            self.begin = Begin::Oldest;
            self.positions.clear();
            self.closed.clear();
            changes.push(Change::Recreated);
        }
        if look.topic_id.is_some() {
            self.topic_id.clone_from(&look.topic_id);
        }
        let is_new = self.positions.is_empty() && !changes.is_empty();
        let mut added = Vec::new();
        for extent in &look.extents {
            match self.place(extent.partition) {
                Ok(at) if reason == Reason::Refused => {
                    let wanted = self.positions[at].next;
                    self.positions[at].next = self.inside(extent, wanted, &mut changes);
                }
                Ok(_) => {}
                Err(at) => {
                    let was_closed = self
                        .closed
                        .iter()
                        .position(|&closed| closed == extent.partition);
                    let next = if let Some(was_closed) = was_closed {
                        self.closed.swap_remove(was_closed);
                        changes.push(Change::Opened(extent.partition));
                        self.first_of(extent, &mut changes)
                    } else {
                        if !is_new {
                            added.push(extent.partition);
                        }
                        extent.low
                    };
                    self.positions.insert(
                        at,
                        Position {
                            partition: extent.partition,
                            next,
                        },
                    );
                }
            }
        }
        if !added.is_empty() {
            changes.push(Change::Added(added));
        }
        changes
    }

    /// Notes that a record was taken.
    pub fn took(&mut self, partition: i32, offset: i64) {
        if let Ok(at) = self.place(partition) {
            self.positions[at].next = offset + 1;
        }
    }

    /// Notes that a record has to be read again, and all that came behind it.
    pub fn put_back(&mut self, partition: i32, offset: i64) {
        if let Ok(at) = self.place(partition) {
            self.positions[at].next = self.positions[at].next.min(offset);
        }
    }

    /// Notes that everything before `end` was seen: what stood there beside records is no record.
    pub fn reached(&mut self, partition: i32, end: i64) {
        if let Ok(at) = self.place(partition) {
            self.positions[at].next = self.positions[at].next.max(end);
        }
    }

    /// Goes on with the newest records, a few of each partition, and tells how many offsets that passes over.
    pub fn skip(&mut self, look: &Look) -> i64 {
        let mut passed = 0;
        for extent in &look.extents {
            if let Ok(at) = self.place(extent.partition) {
                let next = &mut self.positions[at].next;
                let to = (extent.high - NEWEST).max(*next);
                passed += to - *next;
                *next = to;
            }
        }
        passed
    }

    /// Tells how many offsets are still to be read.
    pub fn lag(&self, look: &Look) -> i64 {
        let behind = |extent: &Extent| {
            self.of(extent.partition)
                .map_or(0, |next| (extent.high - next).max(0))
        };
        look.extents.iter().map(behind).sum()
    }

    /// Gives partition and next offset, ascending.
    pub fn next(&self) -> impl ExactSizeIterator<Item = (i32, i64)> + '_ {
        self.positions
            .iter()
            .map(|position| (position.partition, position.next))
    }

    /// Gives the next offset of one partition.
    pub fn of(&self, partition: i32) -> Option<i64> {
        self.place(partition).ok().map(|at| self.positions[at].next)
    }

    /// Gives the id of the topic that the offsets belong to.
    pub fn topic_id(&self) -> Option<&str> {
        self.topic_id.as_deref()
    }

    /// Gives what another reader needs to go on from here.
    pub fn cursor(&self) -> Cursor {
        let mut next: BTreeMap<i32, i64> = self.next().collect();
        if let Begin::At(begin) = &self.begin {
            for (&partition, &back) in begin.next.iter().filter(|&(_, &back)| back < 0) {
                next.entry(partition).or_insert(back);
            }
        }
        Cursor {
            topic_id: self.topic_id.clone(),
            next,
        }
    }

    fn first_of(&self, extent: &Extent, changes: &mut Vec<Change>) -> i64 {
        match &self.begin {
            Begin::Newest => extent.high,
            Begin::Oldest => extent.low,
            Begin::At(cursor) => match cursor.next.get(&extent.partition) {
                Some(&back) if back < 0 => extent.high.saturating_add(back).max(extent.low),
                Some(&wanted) => self.inside(extent, wanted, changes),
                None => extent.low,
            },
        }
    }

    /// Moves an offset that is not there to the nearest one that is.
    fn inside(&self, extent: &Extent, wanted: i64, changes: &mut Vec<Change>) -> i64 {
        let &Extent {
            partition,
            low,
            high,
        } = extent;
        if wanted < low {
            changes.push(Change::Lost {
                partition,
                offsets: low - wanted,
            });
            return low;
        }
        if wanted > high {
            changes.push(Change::BeyondEnd {
                partition,
                wanted,
                end: high,
            });
            // Without ids nobody can tell a shortened log from another topic: read it all, rather than miss it.
            return if self.topic_id.is_some() { high } else { low };
        }
        wanted
    }

    fn place(&self, partition: i32) -> Result<usize, usize> {
        self.positions
            .binary_search_by_key(&partition, |position| position.partition)
    }
}

impl Change {
    /// Puts it into words.
    pub fn notice(&self, topic: &TopicName) -> Notice {
        let (severity, text) = match self {
            Self::Recreated => (
                Severity::Warning,
                format!(
                    "topic {topic} was deleted and created again: reading the new one from its start"
                ),
            ),
            Self::Added(partitions) => {
                let which = match partitions.as_slice() {
                    [one] => format!("partition {one}"),
                    many => format!("{} partitions", many.len()),
                };
                (
                    Severity::Info,
                    format!("topic {topic} has grown by {which}, now read too"),
                )
            }
            Self::Opened(partition) => (
                Severity::Info,
                format!("partition {partition} of topic {topic} has a leader again, and is read"),
            ),
            Self::Lost { partition, offsets } => (
                Severity::Warning,
                format!(
                    "up to {offsets} records of partition {partition} are missing: Kafka had deleted them (retention) \
                     before they were read"
                ),
            ),
            Self::BeyondEnd {
                partition,
                wanted,
                end,
            } => (
                Severity::Warning,
                format!(
                    "partition {partition} ends at offset {end}, before {wanted}, where reading was to go on: its log \
                     was cut, or the topic was created again"
                ),
            ),
        };
        Notice { severity, text }
    }
}

/// Offsets of each partition that a reader keeps where it skips: a topic that falls silent then shows how it ended.
const NEWEST: i64 = 100;

/// Brokers before 2.8 give no id, and a cursor may come from their time: only two ids can differ.
fn differ(known: Option<&String>, found: Option<&String>) -> bool {
    matches!((known, found), (Some(known), Some(found)) if known != found)
}

#[cfg(test)]
mod tests;
