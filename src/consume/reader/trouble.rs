//! Keeps a fault from being said twice, knows when it is over, and how soon to try again.

use std::time::{Duration, Instant};

use crate::consume::errors::{KafkaError, Stage};

/// Is what may be wrong with a stream at one time, each for itself.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Kind {
    /// Brokers cannot be reached, for a reason of this stage.
    Connection(Stage),
    /// The topic or its partition is not there, or may not be seen.
    Topic,
    /// Partitions have no leader.
    Leader,
    /// The right to read is missing.
    Read,
    /// Kafka answered something else, by its code.
    Answer(i32),
}

impl From<&KafkaError> for Kind {
    fn from(error: &KafkaError) -> Self {
        match error {
            error if error.is_about_topic() => Self::Topic,
            KafkaError::Answer { code, .. } => Self::Answer(*code as i32),
            error => Self::Connection(error.stage()),
        }
    }
}

/// Is the list of what is wrong now.
#[derive(Debug, Default)]
pub(super) struct Troubles(Vec<Trouble>);

#[derive(Debug)]
struct Trouble {
    kind: Kind,
    since: Instant,
    /// When it was seen last.
    seen: Instant,
}

impl Troubles {
    /// Notes a fault seen at `now`; tells whether it is news.
    pub(super) fn raise(&mut self, kind: Kind, now: Instant) -> bool {
        if let Some(trouble) = self.0.iter_mut().find(|trouble| trouble.kind == kind) {
            trouble.seen = now;
            return false;
        }
        self.0.push(Trouble {
            kind,
            since: now,
            seen: now,
        });
        true
    }

    /// Notes that faults are over, by their kind and the time since they were seen last; gives how long the first of
    /// them lasted.
    pub(super) fn over(
        &mut self,
        is_over: impl Fn(Kind, Duration) -> bool,
        now: Instant,
    ) -> Option<Duration> {
        let ended = self.0.extract_if(.., |trouble| {
            is_over(trouble.kind, now.duration_since(trouble.seen))
        });
        ended.map(|trouble| now.duration_since(trouble.since)).max()
    }

    /// Tells whether a fault of this kind has been said and is not over.
    pub(super) fn is(&self, kind: Kind) -> bool {
        self.are(|other| other == kind)
    }

    /// Tells whether a fault of such a kind has been said and is not over.
    pub(super) fn are(&self, such: impl Fn(Kind) -> bool) -> bool {
        self.0.iter().any(|trouble| such(trouble.kind))
    }

    /// Tells whether nothing is wrong.
    pub(super) fn is_empty(&self) -> bool {
        self.0.is_empty()
    }
}

/// Counts looks that failed, one after another.
#[derive(Debug, Default)]
pub(super) struct Failures {
    pub(super) count: u32,
    since: Option<Instant>,
}

impl Failures {
    /// Counts one; gives the time of the first.
    pub(super) fn add(&mut self, now: Instant) -> Instant {
        self.count += 1;
        *self.since.get_or_insert(now)
    }

    /// Gives the time until the next look: doubled with each failure.
    pub(super) fn backoff(&self) -> Duration {
        MIN_BACKOFF
            .saturating_mul(1 << self.count.saturating_sub(1).min(10))
            .min(MAX_BACKOFF)
    }
}

/// The time between two looks that fail.
pub(super) const MIN_BACKOFF: Duration = Duration::from_millis(500);
pub(super) const MAX_BACKOFF: Duration = Duration::from_secs(5);

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_fault_is_news_once_until_it_is_over() {
        let start = Instant::now();
        let refused = Kind::Connection(Stage::Connect);
        let password = Kind::Connection(Stage::Authentication);
        let mut troubles = Troubles::default();
        for (kind, news) in [
            (refused, true),
            (refused, false),
            (password, true),
            (refused, false),
            (Kind::Read, true),
        ] {
            assert_eq!(troubles.raise(kind, start), news, "{kind:?}");
        }
        let later = start + Duration::from_secs(3);
        let is_connection = |kind, _| matches!(kind, Kind::Connection(_));
        assert_eq!(
            troubles.over(is_connection, later),
            Some(Duration::from_secs(3))
        );
        assert_eq!(troubles.over(is_connection, later), None);
        assert!(!troubles.is(refused) && troubles.is(Kind::Read) && !troubles.is_empty());
        assert!(
            troubles.raise(refused, later),
            "said again after it was over"
        );
        let is_quiet = |_, quiet| quiet >= Duration::from_secs(2);
        assert_eq!(troubles.over(is_quiet, later), Some(Duration::from_secs(3)));
        assert!(!troubles.is(Kind::Read) && troubles.is(refused));
    }
}
