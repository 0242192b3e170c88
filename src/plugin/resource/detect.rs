//! Which format a topic has: its last records are read, the registry is asked for the schemas that they name, and the core says
//! what fits.

use std::sync::Arc;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use serde_json::{Map, Value, json};
use tokio::task::{JoinSet, spawn_blocking};
use tokio::time::{Instant, timeout_at};

use super::{Answer, BAD_REQUEST, FAILED, FORBIDDEN, NOT_FOUND, permitted};
use crate::config::{IsolationLevel, PartitionSelection, TopicName};
use crate::consume::errors::KafkaError;
use crate::consume::look::Subject;
use crate::consume::sample::{Bounds, sample};
use crate::detect::{Answers, Found, Proposal, Sample, Topic, detect};
use crate::plugin::instance::Instance;
use crate::record::Now;
use crate::schema::{Need, SchemaFault};

/// What is read of a topic.
const BOUNDS: Bounds = Bounds {
    records: 20,
    bytes: 1 << 20,
    time: Duration::from_secs(3),
    look: Duration::from_secs(5),
};
/// How long the registry may take for all schemas.
const SCHEMAS_LIMIT: Duration = Duration::from_secs(5);
/// The most schemas that are asked for.
const MAX_SCHEMAS: usize = 20;
/// How often the schemas of one look may lead to others.
const MAX_ROUNDS: usize = 4;

/// Answers with proposals for value and key, and the first rows.
pub(super) async fn answer(instance: &Arc<Instance>, topic: &str, partition: &str) -> Answer {
    let topic = permitted(instance, topic)?;
    let subject = Subject {
        topic: topic.clone(),
        partition: selection(partition)?,
        isolation: IsolationLevel::ReadCommitted,
    };
    let samples = read(Arc::clone(instance), subject).await?;
    let found = search(instance, &topic, &samples).await?;
    Ok(as_json(&topic, samples.len(), &found))
}

fn selection(text: &str) -> Result<PartitionSelection, (u16, String)> {
    match text.trim() {
        "" | "all" => Ok(PartitionSelection::All),
        text => text
            .parse()
            .ok()
            .filter(|&partition| partition >= 0)
            .map(PartitionSelection::One)
            .ok_or_else(|| {
                (
                    BAD_REQUEST,
                    format!(
                        "invalid partition value: `{text}`; choose `all` or a partition's number"
                    ),
                )
            }),
    }
}

async fn read(instance: Arc<Instance>, subject: Subject) -> Result<Arc<[Sample]>, (u16, String)> {
    let turn = instance
        .clients
        .turn()
        .await
        .map_err(|error| (FAILED, error.to_string()))?;
    let work = spawn_blocking(move || {
        let clients = instance.clients.scanner(subject.isolation);
        let bounds = Bounds {
            look: instance.settings.timeout.min(BOUNDS.look),
            ..BOUNDS
        };
        let sampled = sample(
            &clients.make_for(turn)?,
            clients.bootstrap(),
            &subject,
            &bounds,
        );
        sampled.inspect_err(|error| clients.login().failed(error, std::time::Instant::now()))
    });
    let read = work.await.map_err(|_| internal())?;
    read.map(Into::into).map_err(|error| match error {
        KafkaError::UnknownTopic(topic) => (NOT_FOUND, format!("topic {topic} not found")),
        KafkaError::UnknownPartition { .. } => (NOT_FOUND, error.to_string()),
        KafkaError::Forbidden(_) | KafkaError::Unreadable(_) => (FORBIDDEN, error.to_string()),
        error => (FAILED, format!("Failed to read the topic: {error}")),
    })
}

/// Looks, asks for the schemas that are missing, and looks again.
async fn search(
    instance: &Arc<Instance>,
    topic: &TopicName,
    samples: &Arc<[Sample]>,
) -> Result<Found, (u16, String)> {
    let until = Instant::now() + SCHEMAS_LIMIT;
    let mut answers = Answers::new();
    for round in 1.. {
        let work = (Arc::clone(samples), topic.clone(), answers.clone());
        let (limits, has_registry) = (instance.settings.flatten, instance.registry.is_configured());
        let work = spawn_blocking(move || {
            let (samples, name, answers) = work;
            detect(&Topic {
                name: &name,
                samples: &samples,
                limits,
                has_registry,
                answers: &answers,
                now: now(),
            })
        });
        let found = work.await.map_err(|_| internal())?;
        if found.missing.is_empty() || round >= MAX_ROUNDS {
            return Ok(found);
        }
        ask(instance, topic, found.missing, &mut answers, until).await;
    }
    Err(internal())
}

/// Asks for schemas, all at the same time.
async fn ask(
    instance: &Arc<Instance>,
    topic: &TopicName,
    missing: Vec<Need>,
    answers: &mut Answers,
    until: Instant,
) {
    let left = MAX_SCHEMAS.saturating_sub(answers.len());
    let mut asking = JoinSet::new();
    for need in missing.iter().take(left).cloned() {
        let (registry, topic) = (instance.registry.clone(), topic.clone());
        asking.spawn(async move {
            let answer = registry.schema(&need.id, need.role, &topic).await;
            (need, answer.map_err(SchemaFault::from))
        });
    }
    while let Ok(Some(answered)) = timeout_at(until, asking.join_next()).await {
        if let Ok((need, answer)) = answered {
            answers.insert(need, answer);
        }
    }
    for need in missing {
        let fault = || {
            SchemaFault::new(format!(
                "schema {}: it was not asked for within this look's bounds",
                need.id
            ))
        };
        let fault = fault();
        answers.entry(need).or_insert(Err(fault));
    }
}

fn as_json(topic: &TopicName, records: usize, found: &Found) -> Value {
    let mut answer = Map::new();
    answer.insert("topic".to_owned(), topic.as_str().into());
    answer.insert("records".to_owned(), records.into());
    let halves = [("value", &found.value), ("key", &found.key)];
    for (name, proposal) in halves {
        if let Some(proposal) = proposal {
            answer.insert(name.to_owned(), shown(proposal));
        }
    }
    if let Some(table) = &found.table {
        answer.insert(
            "rows".to_owned(),
            json!({ "columns": table.columns, "rows": table.rows }),
        );
    }
    if !found.hex.is_empty() {
        answer.insert("hex".to_owned(), json!(found.hex));
    }
    Value::Object(answer)
}

fn shown(proposal: &Proposal) -> Value {
    let mut shown =
        json!({ "format": proposal.format, "query": proposal.query, "why": proposal.why });
    if !proposal.alternatives.is_empty() {
        shown["alternatives"] = proposal.alternatives.iter().map(self::shown).collect();
    }
    shown
}

fn now() -> Now {
    let wall = SystemTime::now()
        .duration_since(UNIX_EPOCH)
        .unwrap_or_default();
    Now {
        monotonic: std::time::Instant::now(),
        wall_ms: wall.as_millis() as i64,
    }
}

fn internal() -> (u16, String) {
    (
        FAILED,
        "the look at the topic stopped over an internal fault, which is in the plugin's log"
            .to_owned(),
    )
}
