//! Finds out when a topic brings more than its channel may carry, and for how long.

use std::time::{Duration, Instant};

/// Follows how a reader keeps up: its budget is full, or it has taken everything there is.
#[derive(Debug, Default)]
pub(super) struct Pace {
    /// Since when the budget has been full without the reader ever having run out of records.
    full_since: Option<Instant>,
    /// When the lag was last said.
    said: Option<Instant>,
}

impl Pace {
    /// Notes that the budget is spent while records wait.
    pub(super) fn full(&mut self, now: Instant) {
        self.full_since.get_or_insert(now);
    }

    /// Notes that no record waits; tells whether a lag that was said is over.
    pub(super) fn drained(&mut self) -> bool {
        self.full_since = None;
        self.said.take().is_some()
    }

    /// Forgets what has been counted: time without brokers is no fault of the topic's speed.
    pub(super) fn restart(&mut self) {
        self.full_since = None;
    }

    /// Tells whether records have been waiting for too long.
    pub(super) fn is_behind(&self, now: Instant) -> bool {
        self.full_since
            .is_some_and(|since| now.duration_since(since) >= PATIENCE)
    }

    /// Tells whether the lag is to be said now: at first, and then from time to time.
    pub(super) fn is_lag_news(&self, now: Instant) -> bool {
        self.is_behind(now)
            && self
                .said
                .is_none_or(|said| now.duration_since(said) >= REPEAT)
    }

    /// Notes that the lag was said.
    pub(super) fn said(&mut self, now: Instant) {
        self.said = Some(now);
    }
}

/// How long a channel's budget may be full before a viewer sees too old records.
const PATIENCE: Duration = Duration::from_secs(5);
/// How often a lag that goes on is said.
const REPEAT: Duration = Duration::from_mins(1);

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn behind_is_five_seconds_without_running_out_of_records() {
        enum Event {
            Full,
            Drained,
            Outage,
        }
        use Event::{Drained, Full, Outage};
        let start = Instant::now();
        for (events, at, want) in [
            (&[(0, Full)][..], 4.9, false),
            (&[(0, Full), (3, Full)], 5.0, true),
            (&[(0, Full), (3, Drained)], 9.0, false),
            (&[(0, Full), (3, Drained), (4, Full)], 8.9, false),
            (&[(0, Full), (3, Drained), (4, Full)], 9.0, true),
            (&[(0, Full), (4, Outage), (6, Full)], 10.9, false),
            (&[(0, Full), (4, Outage), (6, Full)], 11.0, true),
        ] {
            let mut pace = Pace::default();
            for (second, event) in events {
                match event {
                    Full => pace.full(start + Duration::from_secs(*second)),
                    Drained => drop(pace.drained()),
                    Outage => pace.restart(),
                }
            }
            assert_eq!(
                pace.is_behind(start + Duration::from_secs_f64(at)),
                want,
                "at {at}"
            );
        }
    }

    #[test]
    fn a_lag_is_said_once_a_minute_and_its_end_once() {
        let start = Instant::now();
        let after = |seconds| start + Duration::from_secs(seconds);
        let mut pace = Pace::default();
        assert!(!pace.drained());
        pace.full(start);
        assert!(!pace.is_lag_news(after(4)) && pace.is_lag_news(after(5)));
        pace.said(after(5));
        assert!(!pace.is_lag_news(after(64)) && pace.is_lag_news(after(65)));
        assert!(pace.drained() && !pace.drained());
    }
}
