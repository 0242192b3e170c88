//! SHELL: keeps a data source from repeating a log-in that brokers refuse: servers lock accounts over that.

use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use super::errors::KafkaError;

/// Remembers that the brokers refused a data source's log-in, for all its clients.
#[derive(Debug, Default)]
pub struct Login(Mutex<Option<Refused>>);

#[derive(Debug)]
struct Refused {
    error: KafkaError,
    /// How often in a row, not counting what came before it was time to try again.
    times: u32,
    until: Instant,
}

impl Login {
    /// Gives what the brokers said, as long as it is too early to try again.
    pub fn refused(&self, now: Instant) -> Option<KafkaError> {
        self.last()
            .as_ref()
            .filter(|last| now < last.until)
            .map(|last| last.error.clone())
    }

    /// Gives the time until a log-in is tried again.
    pub fn pause(&self, now: Instant) -> Option<Duration> {
        let until = self.last().as_ref()?.until;
        until
            .checked_duration_since(now)
            .filter(|wait| !wait.is_zero())
    }

    /// Notes why brokers could not be reached; only a log-in that all of them refused counts.
    pub fn failed(&self, error: &KafkaError, now: Instant) {
        if !error.is_refused_login() {
            return;
        }
        let mut last = self.last();
        let times = match &*last {
            Some(last) if now < last.until => return,
            Some(last) => last.times + 1,
            None => 0,
        };
        let pause = FIRST_PAUSE.saturating_mul(1 << times.min(10)).min(PAUSE);
        *last = Some(Refused {
            error: error.clone(),
            times,
            until: now + pause,
        });
    }

    /// Notes that brokers answer.
    pub fn succeeded(&self) {
        *self.last() = None;
    }

    fn last(&self) -> MutexGuard<'_, Option<Refused>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// The first pause after a log-in that was refused; each one is twice as long as the one before.
const FIRST_PAUSE: Duration = Duration::from_secs(5);
/// The longest pause.
const PAUSE: Duration = Duration::from_mins(1);

#[cfg(test)]
mod tests {
    use super::super::errors::Fault;
    use super::*;

    #[test]
    fn pauses_grow_until_a_log_in_succeeds() {
        let error = |texts: &[&str]| {
            KafkaError::Connection(texts.iter().map(|text| Fault::parse(None, text)).collect())
        };
        let password = error(&["a:1/bootstrap: SASL authentication error: Authentication failed"]);
        let mixed = error(&[
            "a:1/bootstrap: SASL authentication error: Authentication failed",
            "b:1/bootstrap: Connect to ipv4#127.0.0.1:1 failed: Connection refused",
        ]);
        let login = Login::default();
        let start = Instant::now();
        let at = |second| start + Duration::from_secs(second);
        for (second, error, until) in [
            (0, &mixed, 0),
            (0, &error(&[]), 0),
            (0, &password, 5),
            // What was under way when it became known.
            (1, &password, 5),
            (6, &password, 16),
            (20, &password, 40),
            (50, &password, 90),
            (100, &password, 160),
            (200, &password, 260),
        ] {
            login.failed(error, at(second));
            for (second, want) in [(until.max(1) - 1, until > 0), (until, false)] {
                assert_eq!(
                    login.refused(at(second)).is_some(),
                    want,
                    "{second} {until}"
                );
            }
        }
        login.succeeded();
        assert_eq!(login.refused(at(201)), None);
        login.failed(&password, at(300));
        assert_eq!(login.refused(at(304)), Some(password));
        assert_eq!(login.pause(at(304)), Some(Duration::from_secs(1)));
        assert_eq!(login.refused(at(305)), None);
        assert_eq!(login.pause(at(305)), None);
    }
}
