//! The librdkafka clients: one of a data source for everything that is asked, and one for each stream.

use std::ops::Deref;
use std::sync::{Arc, Mutex, PoisonError, Weak};
use std::thread;
use std::time::Duration;

use rdkafka::ClientConfig;
use rdkafka::consumer::{BaseConsumer, Consumer};
use rdkafka::error::{KafkaError as ClientError, KafkaResult};
use tokio::sync::{OwnedSemaphorePermit, Semaphore};
use tokio::task::spawn_blocking;
use tokio::time::{Instant, sleep, timeout, timeout_at};
use tracing::debug;

use super::errors::{KafkaError, is_transport};
use super::faults::FaultLog;
use super::login::Login;
use super::properties;
use crate::config::{IsolationLevel, Settings};

/// Calls that may block a thread at the same time: a black-holed broker keeps a thread past the deadline of its call.
const MAX_BLOCKED_CALLS: usize = 16;
/// How long the reason for a failed call may take from librdkafka's queue to the fault log.
pub(super) const REASON_DELAY: Duration = Duration::from_millis(150);
/// Bounded reads at the same time. Each has a client of its own: a dashboard of a hundred panels must not make as many.
const MAX_SCANS: usize = 8;
/// How long one attempt of a call waits before it looks whether waiting is of any use. It doubles.
const FIRST_ATTEMPT: Duration = Duration::from_secs(1);
/// How long brokers that fail are tried again before a call gives up ahead of its deadline.
pub(super) const SETTLE: Duration = Duration::from_secs(2);
/// How often the thread that serves callbacks looks whether its client is still wanted.
const SERVE_INTERVAL: Duration = Duration::from_millis(250);

/// How long a broker may hold back the answer that a partition has no more records, in milliseconds.
const SCAN_WAIT_MS: &str = "10";

/// Is one librdkafka client. Dropping it blocks for about 100 ms, so that happens on a thread of its own.
pub struct Client {
    consumer: Option<BaseConsumer<FaultLog>>,
    /// Given back once the consumer is closed: until then it has its threads and connections.
    turn: Option<Turn>,
}

impl Client {
    fn create(config: &ClientConfig) -> Result<Self, KafkaError> {
        config
            .create_with_context(FaultLog::default())
            .map(|consumer| Self {
                consumer: Some(consumer),
                turn: None,
            })
            .map_err(|error| KafkaError::from_creation(&error))
    }

    /// Calls `wake`, on a thread of librdkafka's, whenever there is something to poll where there was nothing.
    pub fn wake_by(&mut self, wake: impl Fn() + Send + Sync + 'static) {
        if let Some(consumer) = &mut self.consumer {
            consumer.set_nonempty_callback(wake);
        }
    }

    /// Gives what librdkafka said beside its calls; filled while the client is polled.
    pub fn faults(&self) -> &Arc<FaultLog> {
        self.context()
    }
}

impl Deref for Client {
    type Target = BaseConsumer<FaultLog>;

    fn deref(&self) -> &Self::Target {
        self.consumer
            .as_ref()
            .expect("only drop takes the consumer out")
    }
}

impl Drop for Client {
    fn drop(&mut self) {
        let (consumer, turn) = (self.consumer.take(), self.turn.take());
        if let Err(error) = thread::Builder::new()
            .name("kafka-close".to_owned())
            .spawn(move || {
                drop(consumer);
                drop(turn);
            })
        {
            debug!(%error, "a Kafka client was closed on the caller's thread");
        }
    }
}

/// Makes the clients of one data source.
///
/// Metadata, watermarks and the health check share one client. It is replaced after a call that could not reach
/// Kafka: librdkafka tells the reason for a broken connection once in 30 s and waits longer from attempt to attempt,
/// while a new client tells and tries at once.
pub struct Clients {
    shared: ClientConfig,
    stream: StreamConfigs,
    bootstrap: Vec<String>,
    shortcomings: Vec<String>,
    timeout: Duration,
    current: Mutex<Option<Arc<Client>>>,
    calls: Arc<Semaphore>,
    scans: Arc<Semaphore>,
    login: Arc<Login>,
}

/// Is the right of one bounded read to have a client; dropping it lets the next one in.
pub struct Turn(#[expect(dead_code, reason = "dropping it is its use")] OwnedSemaphorePermit);

struct StreamConfigs {
    committed: ClientConfig,
    uncommitted: ClientConfig,
}

impl Clients {
    /// Prepares the clients; connects nowhere. Fails where the settings cannot be given to librdkafka.
    pub fn new(settings: &Settings) -> Result<Self, KafkaError> {
        Ok(Self {
            shared: properties::shared(settings)?,
            stream: StreamConfigs {
                committed: properties::stream(settings, IsolationLevel::ReadCommitted)?,
                uncommitted: properties::stream(settings, IsolationLevel::ReadUncommitted)?,
            },
            bootstrap: properties::bootstrap(settings),
            shortcomings: properties::shortcomings(settings),
            timeout: settings.timeout,
            current: Mutex::new(None),
            calls: Arc::new(Semaphore::new(MAX_BLOCKED_CALLS)),
            scans: Arc::new(Semaphore::new(MAX_SCANS)),
            login: Arc::default(),
        })
    }

    /// Gives the servers that the settings name, as `host:port`.
    pub fn bootstrap(&self) -> &[String] {
        &self.bootstrap
    }

    /// Says what of the settings the Kafka library cannot do as asked.
    pub fn shortcomings(&self) -> &[String] {
        &self.shortcomings
    }

    /// Gives the time that one question to Kafka may take.
    pub fn timeout(&self) -> Duration {
        self.timeout
    }

    /// Gives what a stream's own thread needs to make its client, and to make it again.
    pub fn reader(&self, isolation: IsolationLevel) -> ClientMaker {
        let config = match isolation {
            IsolationLevel::ReadCommitted => self.stream.committed.clone(),
            IsolationLevel::ReadUncommitted => self.stream.uncommitted.clone(),
        };
        ClientMaker {
            config,
            bootstrap: self.bootstrap.clone(),
            login: Arc::clone(&self.login),
        }
    }

    /// Waits until a bounded read may begin, for at most the data source's timeout.
    pub async fn turn(&self) -> Result<Turn, KafkaError> {
        let turn = Arc::clone(&self.scans).acquire_owned();
        match timeout(self.timeout, turn).await {
            Ok(turn) => Ok(Turn(turn.expect("nobody closes the semaphore"))),
            Err(_) => Err(KafkaError::Busy {
                others: MAX_SCANS,
                waited: self.timeout,
            }),
        }
    }

    /// Gives what a bounded read needs to make its client. It learns at once that a partition has no more records.
    pub fn scanner(&self, isolation: IsolationLevel) -> ClientMaker {
        let mut maker = self.reader(isolation);
        maker.config.set("fetch.wait.max.ms", SCAN_WAIT_MS);
        maker
    }

    /// Asks Kafka through the shared client, within the data source's timeout.
    pub async fn ask<T: Send + 'static>(
        &self,
        question: impl Fn(&Client, Duration) -> KafkaResult<T> + Send + 'static,
    ) -> Result<T, KafkaError> {
        self.ask_within(self.timeout, question).await
    }

    /// Gives the time until a log-in that was refused is tried again.
    pub fn login_pause(&self) -> Option<Duration> {
        self.login.pause(std::time::Instant::now())
    }

    /// Asks Kafka through the shared client; `question` is given the client and the time that it may take. It is asked
    /// again where that was not enough.
    ///
    /// The answer comes within `limit` even where librdkafka blocks for longer, and earlier where waiting is of no use: at
    /// once while a log-in that was refused is not to be repeated.
    pub async fn ask_within<T: Send + 'static>(
        &self,
        limit: Duration,
        question: impl Fn(&Client, Duration) -> KafkaResult<T> + Send + 'static,
    ) -> Result<T, KafkaError> {
        if let Some(error) = self.login.refused(std::time::Instant::now()) {
            return Err(error);
        }
        let result = self.ask_now(limit, question).await;
        match &result {
            Ok(_) => self.login.succeeded(),
            Err(error) => self.login.failed(error, std::time::Instant::now()),
        }
        result
    }

    async fn ask_now<T: Send + 'static>(
        &self,
        limit: Duration,
        question: impl Fn(&Client, Duration) -> KafkaResult<T> + Send + 'static,
    ) -> Result<T, KafkaError> {
        let deadline = Instant::now() + limit;
        let timed_out = || KafkaError::Timeout(limit);
        let permit = timeout_at(deadline, Arc::clone(&self.calls).acquire_owned())
            .await
            .map_err(|_| timed_out())?;
        let client = timeout_at(deadline, self.client())
            .await
            .map_err(|_| timed_out())??;

        let (asked, bootstrap) = (Arc::clone(&client), self.bootstrap.clone());
        let mut call = tokio::spawn(blocking(move || {
            let _permit = permit;
            ask_in_attempts(&asked, &bootstrap, deadline, question)
        }));
        let result = tokio::select! {
            biased;
            result = &mut call => Some(result.expect("the call neither panics nor is cancelled")),
            () = client.faults().conclusive(&self.bootstrap, SETTLE) => None,
            () = tokio::time::sleep_until(deadline) => None,
        };
        match result {
            Some(Ok(answer)) => {
                client.faults().clear();
                Ok(answer)
            }
            Some(Err(error)) => Err(self.explain(&client, Some(error), limit).await),
            None => Err(self.explain(&client, None, limit).await),
        }
    }

    /// Puts a failed call into words, by what the client's callbacks said about it.
    async fn explain(
        &self,
        client: &Arc<Client>,
        error: Option<ClientError>,
        limit: Duration,
    ) -> KafkaError {
        let code = error.as_ref().and_then(ClientError::rdkafka_error_code);
        match code {
            Some(code) if !is_transport(code) => {
                return KafkaError::Answer {
                    code,
                    text: code.to_string(),
                };
            }
            _ => {}
        }
        if client.faults().faults().is_empty() {
            sleep(REASON_DELAY).await;
        }
        self.retire(client);
        match client.faults().faults() {
            faults if faults.is_empty() => KafkaError::Timeout(limit),
            faults => KafkaError::Connection(faults),
        }
    }

    /// Gives the shared client, and makes it where there is none.
    async fn client(&self) -> Result<Arc<Client>, KafkaError> {
        if let Some(client) = self.current().clone() {
            return Ok(client);
        }
        let config = self.shared.clone();
        let made = Arc::new(blocking(move || Client::create(&config)).await?);
        // Two callers may have made one each: the first one stays.
        let mut current = self.current();
        if let Some(client) = &*current {
            return Ok(Arc::clone(client));
        }
        serve_callbacks(&made);
        *current = Some(Arc::clone(&made));
        Ok(made)
    }

    fn retire(&self, client: &Arc<Client>) {
        let mut current = self.current();
        if current
            .as_ref()
            .is_some_and(|shared| Arc::ptr_eq(shared, client))
        {
            *current = None;
        }
    }

    fn current(&self) -> std::sync::MutexGuard<'_, Option<Arc<Client>>> {
        self.current.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Makes clients that read: whoever has one polls it, from one thread only.
pub struct ClientMaker {
    config: ClientConfig,
    bootstrap: Vec<String>,
    login: Arc<Login>,
}

impl ClientMaker {
    /// Makes a client with nothing assigned; it connects by itself. Reading certificates takes some milliseconds.
    ///
    /// Fails with what brokers said while a log-in that they refused is not to be repeated.
    pub fn make(&self) -> Result<Client, KafkaError> {
        match self.login.refused(std::time::Instant::now()) {
            Some(error) => Err(error),
            None => Client::create(&self.config),
        }
    }

    /// Makes the client of a bounded read, which keeps its turn until it is closed.
    pub fn make_for(&self, turn: Turn) -> Result<Client, KafkaError> {
        let mut client = self.make()?;
        client.turn = Some(turn);
        Ok(client)
    }

    /// Gives what is known of the data source's log-in: whoever uses the client notes there how that ended.
    pub fn login(&self) -> &Login {
        &self.login
    }

    /// Gives the servers that the settings name, as `host:port`.
    pub fn bootstrap(&self) -> &[String] {
        &self.bootstrap
    }
}

/// Asks until there is an answer, time is up, or brokers refuse for good: a call that waits on keeps its client alive, which
/// tries to log in again and again.
fn ask_in_attempts<T>(
    client: &Client,
    bootstrap: &[String],
    deadline: Instant,
    question: impl Fn(&Client, Duration) -> KafkaResult<T>,
) -> KafkaResult<T> {
    let mut attempt = FIRST_ATTEMPT;
    loop {
        let left = deadline.saturating_duration_since(Instant::now());
        let begin = Instant::now();
        let result = question(client, left.min(attempt));
        let is_slow = matches!(&result, Err(error) if error.rdkafka_error_code().is_some_and(is_transport))
            && begin.elapsed() >= attempt.mul_f64(0.9);
        if !is_slow || left <= attempt || client.faults().is_final(bootstrap) {
            return result;
        }
        attempt *= 2;
    }
}

/// Runs callbacks of a client that nobody polls, until the client is dropped everywhere else.
fn serve_callbacks(client: &Arc<Client>) {
    let client = Arc::downgrade(client);
    let serve = move || {
        while let Some(client) = Weak::upgrade(&client) {
            if let Some(Err(error)) = client.poll(SERVE_INTERVAL) {
                debug!(%error, "kafka client");
            }
        }
    };
    if let Err(error) = thread::Builder::new()
        .name("kafka-callbacks".to_owned())
        .spawn(serve)
    {
        debug!(%error, "no thread for the Kafka client's callbacks: failed calls will not say why");
    }
}

async fn blocking<T: Send + 'static>(work: impl FnOnce() -> T + Send + 'static) -> T {
    match spawn_blocking(work).await {
        Ok(result) => result,
        Err(stopped) => std::panic::resume_unwind(stopped.into_panic()),
    }
}
