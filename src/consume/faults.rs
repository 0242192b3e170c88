//! What librdkafka says beside its calls: the reasons for their bare codes.

use std::collections::BTreeMap;
use std::collections::hash_map::{Entry, HashMap};
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use rdkafka::ClientContext;
use rdkafka::config::RDKafkaLogLevel;
use rdkafka::consumer::ConsumerContext;
use rdkafka::error::{KafkaError as ClientError, RDKafkaErrorCode as Code};
use tokio::sync::Notify;
use tokio::time::sleep;
use tracing::{debug, warn};

use super::errors::{Cause, Fault};

/// How long the log is spared the same cause at the same broker.
const LOG_INTERVAL: Duration = Duration::from_mins(1);

/// Keeps the last fault of each broker of one client.
///
/// librdkafka reports through callbacks that run inside the client's `poll`, and it says the same fault of a broker
/// only once in 30 s: so the last one stays here until [`FaultLog::clear`].
#[derive(Debug, Default)]
pub struct FaultLog {
    said: Mutex<Said>,
    news: Notify,
    /// The id by which a reader's client fetches its topic from now on.
    topic_id: Mutex<Option<String>>,
    has_topic_id: AtomicBool,
    /// How many callbacks there were.
    callbacks: AtomicU64,
}

#[derive(Debug, Default)]
struct Said {
    brokers: BTreeMap<String, Fault>,
    general: Option<Fault>,
    logged: HashMap<(Option<String>, Cause), Instant>,
}

impl Said {
    /// Tells whether the log has not had this cause at this broker for a while: a broker is tried every second.
    fn is_worth_a_line(&mut self, fault: &Fault) -> bool {
        let now = Instant::now();
        self.logged
            .retain(|_, logged| now.duration_since(*logged) < LOG_INTERVAL);
        match self.logged.entry((fault.broker.clone(), fault.cause)) {
            Entry::Occupied(_) => false,
            Entry::Vacant(entry) => {
                entry.insert(now);
                true
            }
        }
    }
}

impl FaultLog {
    /// Counts the callbacks that ran so far: a poll that ran one may have left records behind it.
    pub fn callbacks(&self) -> u64 {
        self.callbacks.load(Ordering::Relaxed)
    }

    /// Gives the last fault of each broker, in the order of their addresses.
    pub fn faults(&self) -> Vec<Fault> {
        let said = self.said();
        let faults: Vec<Fault> = said.brokers.values().cloned().collect();
        if faults.is_empty() {
            said.general.clone().into_iter().collect()
        } else {
            faults
        }
    }

    /// Forgets all faults of brokers: the client has just had an answer.
    pub fn clear(&self) {
        let mut said = self.said();
        said.brokers.clear();
        said.general = None;
    }

    /// Gives the id by which librdkafka fetches a reader's topic from now on, once after each change.
    ///
    /// It comes before the first record that is fetched by it, and is as Kafka's tools print it.
    pub fn new_topic_id(&self) -> Option<String> {
        // Asked before each record: the lock is for the rare change.
        if !self.has_topic_id.load(Ordering::Relaxed) {
            return None;
        }
        self.has_topic_id.store(false, Ordering::Relaxed);
        self.topic_id
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .take()
    }

    /// Waits until there is no use in waiting for an answer.
    ///
    /// That is so at once when each of `bootstrap` (`host:port`) has failed for a reason that waiting cannot mend. After
    /// `settle` it is also so when each has failed for any reason, again and again by then, or when a broker that calls
    /// itself by another name can never be reached by that name.
    pub async fn conclusive(&self, bootstrap: &[String], settle: Duration) {
        let settled = sleep(settle);
        tokio::pin!(settled);
        loop {
            let news = self.news.notified();
            if self.is_conclusive(bootstrap, settled.is_elapsed()) {
                return;
            }
            tokio::select! {
                () = news => {}
                () = &mut settled, if !settled.is_elapsed() => {}
            }
        }
    }

    /// Tells what [`FaultLog::conclusive`] waits for; `is_late` says that its time to settle is over.
    pub fn is_conclusive(&self, bootstrap: &[String], is_late: bool) -> bool {
        self.is_final(bootstrap) || is_late && self.is_settled(bootstrap)
    }

    /// Tells whether each of `bootstrap` has failed for a reason that waiting cannot mend.
    pub fn is_final(&self, bootstrap: &[String]) -> bool {
        let said = self.said();
        let is_final = |server: &String| {
            said.brokers
                .get(server)
                .is_some_and(|fault| fault.cause.is_final())
        };
        !bootstrap.is_empty() && bootstrap.iter().all(is_final)
    }

    fn is_settled(&self, bootstrap: &[String]) -> bool {
        let said = self.said();
        let advertised = said
            .brokers
            .iter()
            .any(|(broker, fault)| !bootstrap.contains(broker) && fault.cause.is_final());
        advertised
            || !bootstrap.is_empty()
                && bootstrap
                    .iter()
                    .all(|server| said.brokers.contains_key(server))
    }

    fn record(&self, fault: Fault) {
        let mut said = self.said();
        if said.is_worth_a_line(&fault) {
            let broker = fault.broker.as_deref().unwrap_or_default();
            warn!(broker, cause = ?fault.cause, "kafka: {}", fault.text);
        }
        let Said {
            brokers, general, ..
        } = &mut *said;
        let known = match &fault.broker {
            Some(broker) => brokers.get(broker),
            None => general.as_ref(),
        };
        if known.is_none_or(|known| supersedes(&fault, known)) {
            match fault.broker.clone() {
                Some(broker) => drop(brokers.insert(broker, fault)),
                None => *general = Some(fault),
            }
        }
        drop(said);
        self.news.notify_waiters();
    }

    fn said(&self) -> MutexGuard<'_, Said> {
        self.said.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Compares causes, not texts: two texts for one cause come in turns, at each attempt to connect.
fn supersedes(fault: &Fault, known: &Fault) -> bool {
    let differs =
        fault.cause != known.cause || (fault.cause == Cause::Other && fault.text != known.text);
    differs && (fault.cause.is_final() || !known.cause.is_final())
}

impl ClientContext for FaultLog {
    fn error(&self, error: ClientError, reason: &str) {
        self.callbacks.fetch_add(1, Ordering::Relaxed);
        let code = error.rdkafka_error_code();
        match code {
            // All brokers down: their own faults say why. A group right is never needed. The others belong to one topic
            // or partition and come out of the reader's poll as well.
            Some(
                Code::AllBrokersDown
                | Code::GroupAuthorizationFailed
                | Code::PartitionEOF
                | Code::AutoOffsetReset
                | Code::OffsetOutOfRange
                | Code::TopicAuthorizationFailed
                | Code::UnknownTopicOrPartition
                | Code::UnknownTopic
                | Code::UnknownPartition,
            ) => debug!("kafka: {reason}"),
            code => self.record(Fault::parse(code, reason)),
        }
    }

    fn log(&self, level: RDKafkaLogLevel, facility: &str, line: &str) {
        self.callbacks.fetch_add(1, Ordering::Relaxed);
        if matches!(level, RDKafkaLogLevel::Debug) {
            // A reader's client has this level for one line.
            if let Some(id) = changed_topic_id(line) {
                *self.topic_id.lock().unwrap_or_else(PoisonError::into_inner) = Some(id);
                self.has_topic_id.store(true, Ordering::Relaxed);
            }
            return;
        }
        // Some connections end without a callback: the log line is then all there is.
        if facility == "FAIL" {
            self.record(Fault::parse(None, line));
        } else {
            debug!(facility, "librdkafka: {line}");
        }
    }
}

impl ConsumerContext for FaultLog {}

/// Finds the new id in librdkafka's `Topic NAME changed id from A to B`, the only word that it gives of a topic that was
/// deleted and created again.
fn changed_topic_id(line: &str) -> Option<String> {
    let (_, ids) = line.split_once(" changed id from ")?;
    let (_, id) = ids.split_once(" to ")?;
    Some(id.trim().replace('+', "-").replace('/', "_"))
}

#[cfg(test)]
mod tests {
    use super::*;

    const REFUSED: &str = "a:1/bootstrap: Connect to ipv4#127.0.0.1:1 failed: Connection refused (after 0ms in state CONNECT)";
    const PASSWORD: &str = "sasl_ssl://a:1/bootstrap: SASL authentication error: Authentication failed (after 9ms in state AUTH_REQ)";
    const DISCONNECTED: &str = "sasl_ssl://a:1/bootstrap: Disconnected: connection closed by peer (after 9ms in state AUTH_REQ)";

    fn say(log: &FaultLog, code: Code, text: &str) {
        log.error(ClientError::Global(code), text);
    }

    #[test]
    fn the_last_fault_of_a_broker_stands_unless_it_is_vaguer() {
        let log = FaultLog::default();
        say(&log, Code::BrokerTransportFailure, REFUSED);
        say(&log, Code::Authentication, PASSWORD);
        say(&log, Code::BrokerTransportFailure, DISCONNECTED);
        say(&log, Code::AllBrokersDown, "1/1 brokers are down");
        let faults = log.faults();
        assert_eq!(faults.len(), 1, "{faults:?}");
        assert!(
            faults[0].text.contains("SASL authentication error"),
            "{faults:?}"
        );
        log.clear();
        assert_eq!(log.faults(), []);
    }

    #[test]
    fn the_log_gets_a_cause_once_a_minute() {
        let mut said = Said::default();
        let (refused, password) = (Fault::parse(None, REFUSED), Fault::parse(None, PASSWORD));
        let lines = [&refused, &refused, &password, &refused, &password]
            .map(|fault| said.is_worth_a_line(fault));
        assert_eq!(lines, [true, false, true, false, false]);
    }

    #[test]
    fn topics_and_groups_are_no_faults_of_brokers() {
        let log = FaultLog::default();
        say(
            &log,
            Code::UnknownTopicOrPartition,
            "orders [0]: topic does not exist",
        );
        say(
            &log,
            Code::GroupAuthorizationFailed,
            "FindCoordinator response error: Group authorization failed.",
        );
        assert_eq!(log.faults(), []);
    }

    /// The line is librdkafka's own: a new version must be held against it.
    #[test]
    fn another_topic_id_is_told_once() {
        let log = FaultLog::default();
        let debug = |line| log.log(RDKafkaLogLevel::Debug, "METADATA", line);
        debug("Topic orders [0] Leader 1 Epoch 0");
        assert_eq!(log.new_topic_id(), None);
        debug("Topic orders changed id from AAAAAAAAAAAAAAAAAAAAAA to 7Jd+xfW4TkC/h0NQ8e1c2Q");
        assert_eq!(
            log.new_topic_id().as_deref(),
            Some("7Jd-xfW4TkC_h0NQ8e1c2Q")
        );
        assert_eq!(log.new_topic_id(), None);
    }

    #[tokio::test(start_paused = true)]
    async fn waiting_ends_when_it_is_of_no_use() {
        const PASSWORD_B: &str =
            "sasl_ssl://b:2/bootstrap: SASL authentication error: Authentication failed";
        const REFUSED_B: &str =
            "b:2/bootstrap: Connect to ipv4#127.0.0.1:2 failed: Connection refused";
        const UNKNOWN_C: &str = "c:3/7: Failed to resolve 'c:3': Name or service not known";
        const REFUSED_C: &str = "c:3/7: Connect to ipv4#127.0.0.1:3 failed: Connection refused";
        let bootstrap = ["a:1".to_owned(), "b:2".to_owned()];
        let (at_once, settled, never) = (Some(0), Some(2), None);
        for (lines, want) in [
            (&[][..], never),
            (&[PASSWORD], never),
            (&[PASSWORD, PASSWORD_B], at_once),
            (&[PASSWORD, REFUSED_B], settled),
            (&[REFUSED, REFUSED_B], settled),
            (&[UNKNOWN_C], settled),
            (&[REFUSED_C], never),
        ] {
            let log = FaultLog::default();
            for line in lines {
                log.record(Fault::parse(None, line));
            }
            let start = tokio::time::Instant::now();
            let wait = log.conclusive(&bootstrap, Duration::from_secs(2));
            let ended = tokio::time::timeout(Duration::from_mins(1), wait)
                .await
                .is_ok();
            assert_eq!(ended.then(|| start.elapsed().as_secs()), want, "{lines:?}");
        }
    }
}
