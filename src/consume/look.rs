//! SHELL: looks at a topic: its id, its partitions and their offsets, in two rounds of questions.
//!
//! A look is asked and answered on the thread that polls the client, so one client serves for reading and asking.

use std::collections::BTreeMap;
use std::time::{Duration, Instant};

use rdkafka::consumer::Consumer;
use rdkafka::error::{KafkaError as ClientError, RDKafkaErrorCode as Code};

use super::clients::{Client, Clients, REASON_DELAY, SETTLE};
use super::errors::{KafkaError, is_authorization, is_transport};
use super::identity::{End, OffsetQuestion, Topic, TopicQuestion, ask_offsets, ask_topic};
use super::start::{Extent, Look};
use crate::config::{IsolationLevel, PartitionSelection, StreamSpec, TopicName};

/// Names what is looked at.
#[derive(Debug, Clone)]
pub struct Subject {
    pub topic: TopicName,
    pub partition: PartitionSelection,
    pub isolation: IsolationLevel,
}

impl From<&StreamSpec> for Subject {
    fn from(spec: &StreamSpec) -> Self {
        Self {
            topic: spec.topic.clone(),
            partition: spec.partition,
            isolation: spec.isolation,
        }
    }
}

/// Is a look that is on its way.
pub struct Looking<'c> {
    client: &'c Client,
    subject: &'c Subject,
    deadline: Instant,
    limit: Duration,
    stage: Stage<'c>,
}

enum Stage<'c> {
    Topic(Asking<'c>),
    Offsets {
        topic: Topic,
        low: Half<'c>,
        high: Half<'c>,
    },
}

impl<'c> Looking<'c> {
    /// Asks. A broker that cannot be reached makes it fail after `limit`.
    pub fn new(client: &'c Client, subject: &'c Subject, limit: Duration) -> Self {
        let stage = Stage::Topic(Asking::new(client, &subject.topic, limit));
        Self {
            client,
            subject,
            deadline: Instant::now() + limit,
            limit,
            stage,
        }
    }

    /// Gives the answer once it is there; waits for at most `wait`. There is one answer.
    ///
    /// Why brokers cannot be reached is known only where the client is polled in between.
    pub fn answer(&mut self, wait: Duration) -> Option<Result<Look, KafkaError>> {
        if let Stage::Topic(asking) = &mut self.stage {
            let found = asking.answer(wait)?.map_err(|code| self.explain(code));
            match found.and_then(|found| select(found, &self.subject.topic, self.subject.partition))
            {
                Ok(topic) => {
                    let mut led = topic.partitions.clone();
                    led.retain(|partition| !topic.leaderless.contains(partition));
                    // Nobody answers a question about no partition.
                    if led.is_empty() {
                        let nothing = || Half::Known(BTreeMap::new());
                        return Some(Ok(join(&topic, &nothing(), &nothing())));
                    }
                    let low = Half::Asked(self.ask(&led, End::Low));
                    let high = Half::Asked(self.ask(&led, End::High));
                    self.stage = Stage::Offsets { topic, low, high };
                }
                Err(error) => return Some(Err(error)),
            }
        }
        let Stage::Offsets { topic, low, high } = &mut self.stage else {
            return None;
        };
        let filled = match low.fill(wait)? {
            Ok(()) => high.fill(wait)?,
            failed => failed,
        };
        Some(match filled {
            Ok(()) => Ok(join(topic, low, high)),
            // The cluster has just answered: one of its brokers is away, and nobody says which partitions it leads.
            Err(code) if is_transport(code) => Ok(Look {
                topic_id: topic.id.clone(),
                closed: topic
                    .partitions
                    .iter()
                    .map(|&partition| (partition, code))
                    .collect(),
                ..Look::default()
            }),
            Err(code) => Err(self.explain(code)),
        })
    }

    fn ask(&self, partitions: &[i32], end: End) -> Result<OffsetQuestion<'c>, Code> {
        let left = self.deadline.saturating_duration_since(Instant::now());
        let Subject {
            topic: name,
            isolation,
            ..
        } = self.subject;
        ask_offsets(
            self.client.client().native_client(),
            name.as_str(),
            partitions,
            end,
            *isolation,
            left,
        )
    }

    fn explain(&self, code: Code) -> KafkaError {
        explain(self.client, &self.subject.topic, code, self.limit)
    }
}

/// Is the question what a topic is, to whoever answers it.
struct Asking<'c> {
    client: &'c Client,
    topic: &'c TopicName,
    question: Result<TopicQuestion<'c>, Code>,
    asked: Instant,
    deadline: Instant,
    is_second: bool,
}

impl<'c> Asking<'c> {
    fn new(client: &'c Client, topic: &'c TopicName, limit: Duration) -> Self {
        let question = ask_topic(client.client().native_client(), topic.as_str(), None, limit);
        let asked = Instant::now();
        Self {
            client,
            topic,
            question,
            asked,
            deadline: asked + limit,
            is_second: false,
        }
    }

    fn answer(&mut self, wait: Duration) -> Option<Result<Topic, Code>> {
        let answer = match &self.question {
            Ok(question) => question.answer(wait),
            Err(code) => Some(Err(*code)),
        };
        if answer.is_none() && !self.is_second && self.asked.elapsed() > CONTROLLER_PATIENCE {
            self.is_second = true;
            self.ask_another();
        }
        answer
    }

    /// Asks a broker that answers. The one that is called controller may be down without harm to the topic, and some
    /// services that speak Kafka's protocol name one that is not there.
    fn ask_another(&mut self) {
        let Ok(metadata) = self
            .client
            .fetch_metadata(Some(self.topic.as_str()), METADATA_LIMIT)
        else {
            return;
        };
        let broker = metadata.orig_broker_id();
        if broker >= 0 {
            let left = self.deadline.saturating_duration_since(Instant::now());
            let client = self.client.client().native_client();
            self.question = ask_topic(client, self.topic.as_str(), Some(broker), left);
        }
    }
}

/// Is one end of all partitions: first the question, then the answer.
enum Half<'c> {
    Asked(Result<OffsetQuestion<'c>, Code>),
    Known(BTreeMap<i32, Result<i64, Code>>),
}

impl Half<'_> {
    fn fill(&mut self, wait: Duration) -> Option<Result<(), Code>> {
        let Self::Asked(question) = self else {
            return Some(Ok(()));
        };
        let answer = match question {
            Ok(question) => question.answer(wait)?,
            Err(code) => Err(*code),
        };
        Some(answer.map(|offsets| *self = Self::Known(offsets.into_iter().collect())))
    }

    fn of(&self, partition: i32) -> Result<i64, Code> {
        match self {
            Self::Known(offsets) => offsets
                .get(&partition)
                .copied()
                .unwrap_or(Err(Code::LeaderNotAvailable)),
            Self::Asked(_) => Err(Code::InProgress),
        }
    }
}

fn join(topic: &Topic, low: &Half<'_>, high: &Half<'_>) -> Look {
    let mut look = Look {
        topic_id: topic.id.clone(),
        ..Look::default()
    };
    for &partition in &topic.partitions {
        match (low.of(partition), high.of(partition)) {
            (Ok(low), Ok(high)) => look.extents.push(Extent {
                partition,
                low,
                high,
            }),
            (Err(code), _) | (_, Err(code)) => look.closed.push((partition, code)),
        }
    }
    look
}

/// Looks at a topic and waits for the answer, for at most `limit`; nobody else may poll the client meanwhile.
///
/// Gives up ahead of that where there is no use in waiting.
pub fn look(
    client: &Client,
    subject: &Subject,
    bootstrap: &[String],
    limit: Duration,
) -> Result<Look, KafkaError> {
    let mut looking = Looking::new(client, subject, limit);
    let begin = Instant::now();
    loop {
        match looking.answer(STEP) {
            Some(Err(KafkaError::Timeout(_))) => return Err(reason(client, limit)),
            Some(answer) => return answer,
            None => {}
        }
        // Nothing is assigned: this runs the callbacks, which say why brokers cannot be reached.
        while client.poll(Duration::ZERO).is_some() {}
        let is_late = begin.elapsed() >= SETTLE;
        if client.faults().is_conclusive(bootstrap, is_late) {
            return Err(KafkaError::Connection(client.faults().faults()));
        }
    }
}

/// Says why there was no answer, which librdkafka may tell a moment later than that there is none.
fn reason(client: &Client, limit: Duration) -> KafkaError {
    let until = Instant::now() + REASON_DELAY;
    while client.faults().faults().is_empty() && Instant::now() < until {
        // Nothing is assigned: this runs the callbacks.
        client.poll(STEP);
    }
    unreached(client, limit)
}

impl Clients {
    /// Asks what a topic is now, through the shared client: its id, and the partitions of the selection.
    pub async fn describe(
        &self,
        topic: &TopicName,
        partition: PartitionSelection,
    ) -> Result<Topic, KafkaError> {
        let name = topic.clone();
        let found = self.ask(move |client, left| {
            let mut asking = Asking::new(client, &name, left);
            loop {
                match asking.answer(STEP) {
                    Some(Err(code)) if is_transport(code) => {
                        return Err(ClientError::MetadataFetch(code));
                    }
                    Some(answer) => return Ok(answer),
                    None => {}
                }
            }
        });
        let found = found.await?.map_err(|code| of_topic(topic, code))?;
        select(found, topic, partition)
    }
}

/// Leaves only the partitions that are to be read.
fn select(
    found: Topic,
    topic: &TopicName,
    partition: PartitionSelection,
) -> Result<Topic, KafkaError> {
    match partition {
        PartitionSelection::All => Ok(found),
        PartitionSelection::One(partition) if found.partitions.contains(&partition) => Ok(Topic {
            partitions: vec![partition],
            ..found
        }),
        PartitionSelection::One(partition) => {
            let last = found.partitions.last().copied().unwrap_or(0);
            Err(KafkaError::UnknownPartition {
                topic: topic.clone(),
                partition,
                last,
            })
        }
    }
}

/// Puts a code into words: what a client's callbacks said says more than the code of a call that failed.
pub(super) fn explain(
    client: &Client,
    topic: &TopicName,
    code: Code,
    limit: Duration,
) -> KafkaError {
    if !is_transport(code) {
        return of_topic(topic, code);
    }
    unreached(client, limit)
}

/// Likewise for reading, after a look that was answered: the topic may be seen.
pub(super) fn explain_read(
    client: &Client,
    topic: &TopicName,
    error: &ClientError,
    limit: Duration,
) -> KafkaError {
    match error.rdkafka_error_code().unwrap_or(Code::Fail) {
        Code::TopicAuthorizationFailed => KafkaError::Unreadable(topic.clone()),
        code => explain(client, topic, code, limit),
    }
}

fn unreached(client: &Client, limit: Duration) -> KafkaError {
    match client.faults().faults() {
        faults if faults.is_empty() => KafkaError::Timeout(limit),
        faults => KafkaError::Connection(faults),
    }
}

fn of_topic(topic: &TopicName, code: Code) -> KafkaError {
    match code {
        Code::UnknownTopicOrPartition
        | Code::UnknownTopic
        | Code::UnknownPartition
        | Code::InvalidTopic => KafkaError::UnknownTopic(topic.clone()),
        code if is_authorization(code) => KafkaError::Forbidden(topic.clone()),
        code => KafkaError::Answer {
            code,
            text: code.to_string(),
        },
    }
}

/// How long the controller may take before another broker is asked.
const CONTROLLER_PATIENCE: Duration = Duration::from_millis(700);
/// How long the names of the other brokers may take.
const METADATA_LIMIT: Duration = Duration::from_millis(500);
/// How long one wait for an answer takes before callbacks are served.
const STEP: Duration = Duration::from_millis(5);

#[cfg(test)]
mod tests;
