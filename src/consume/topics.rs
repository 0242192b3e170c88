//! Which brokers, topics and partitions there are. Nothing here creates a topic, whatever the broker allows.

use std::fmt;

use rdkafka::consumer::Consumer;
use rdkafka::error::RDKafkaErrorCode as Code;
use rdkafka::metadata::{Metadata, MetadataTopic};

use super::clients::Clients;
use super::errors::{KafkaError, is_authorization};
use super::probe::address;
use crate::config::{TopicName, TopicPolicy};

/// Is what the cluster says about itself.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Cluster {
    /// The brokers' advertised addresses, in the order of their ids.
    pub brokers: Vec<Broker>,
    /// The topics that the data source's user may describe, by name.
    pub topics: Vec<String>,
    /// Partitions without a leader: they can be neither read nor written now.
    pub leaderless: usize,
}

/// Is one broker as it advertises itself.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Broker {
    pub id: i32,
    pub host: String,
    pub port: u16,
}

impl fmt::Display for Broker {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&address(&self.host, self.port))
    }
}

impl Clients {
    /// Asks for all brokers and topics.
    pub async fn cluster(&self, limit: std::time::Duration) -> Result<Cluster, KafkaError> {
        self.ask_within(limit, |client, left| {
            client
                .fetch_metadata(None, left)
                .map(|metadata| cluster(&metadata))
        })
        .await
    }

    /// Gives the partitions of a topic, ascending.
    pub async fn partitions(&self, topic: &TopicName) -> Result<Vec<i32>, KafkaError> {
        let name = topic.as_str().to_owned();
        let partitions = self
            .ask(move |client, left| {
                client
                    .fetch_metadata(Some(&name), left)
                    .map(|found| partitions(&found, &name))
            })
            .await?;
        match partitions {
            Ok(partitions) => Ok(partitions),
            Err(Code::UnknownTopicOrPartition | Code::UnknownTopic | Code::InvalidTopic) => {
                Err(KafkaError::UnknownTopic(topic.clone()))
            }
            Err(code) if is_authorization(code) => Err(KafkaError::Forbidden(topic.clone())),
            Err(code) => Err(KafkaError::Answer {
                code,
                text: code.to_string(),
            }),
        }
    }
}

/// Picks the topics for a topic field: those that the administrator lets through and whose name contains `search`.
///
/// Upper and lower case are the same; names that begin with `search` come first.
pub fn search(
    topics: &[String],
    policy: &TopicPolicy,
    search: &str,
    internal: bool,
    limit: usize,
) -> Vec<String> {
    let search = search.to_lowercase();
    let mut found: Vec<(bool, &String)> = topics
        .iter()
        .filter(|name| (internal || !name.starts_with("__")) && policy.permits(name))
        .filter_map(|name| name.to_lowercase().find(&search).map(|at| (at > 0, name)))
        .collect();
    found.sort();
    found
        .into_iter()
        .take(limit)
        .map(|(_, name)| name.clone())
        .collect()
}

fn cluster(metadata: &Metadata) -> Cluster {
    let mut brokers: Vec<Broker> = metadata
        .brokers()
        .iter()
        .map(|broker| Broker {
            id: broker.id(),
            host: broker.host().to_owned(),
            port: broker.port() as u16,
        })
        .collect();
    brokers.sort_by_key(|broker| broker.id);
    let mut seen = Cluster {
        brokers,
        ..Cluster::default()
    };
    for topic in metadata
        .topics()
        .iter()
        .filter(|topic| topic.error().is_none())
    {
        seen.topics.push(topic.name().to_owned());
        seen.leaderless += topic
            .partitions()
            .iter()
            .filter(|partition| partition.leader() < 0)
            .count();
    }
    seen.topics.sort();
    seen
}

fn partitions(metadata: &Metadata, name: &str) -> Result<Vec<i32>, Code> {
    let topic: &MetadataTopic = metadata
        .topics()
        .iter()
        .find(|topic| topic.name() == name)
        .ok_or(Code::UnknownTopicOrPartition)?;
    if let Some(error) = topic.error() {
        return Err(error.into());
    }
    let mut ids: Vec<i32> = topic
        .partitions()
        .iter()
        .map(rdkafka::metadata::MetadataPartition::id)
        .collect();
    ids.sort_unstable();
    Ok(ids)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn topics_are_searched_as_people_type() {
        let topics: Vec<String> = [
            "Orders",
            "__consumer_offsets",
            "eu.orders",
            "orders",
            "payments",
        ]
        .map(str::to_owned)
        .to_vec();
        let all = TopicPolicy::default();
        for (text, internal, limit, want) in [
            (
                "",
                false,
                10,
                &["Orders", "eu.orders", "orders", "payments"][..],
            ),
            ("ORD", false, 10, &["Orders", "orders", "eu.orders"]),
            ("ord", false, 1, &["Orders"]),
            ("consumer", false, 10, &[]),
            ("consumer", true, 10, &["__consumer_offsets"]),
            ("nothing", true, 10, &[]),
        ] {
            assert_eq!(
                search(&topics, &all, text, internal, limit),
                want,
                "{text:?}"
            );
        }
    }
}
