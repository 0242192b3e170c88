//! Writers of demo records, each into a topic of its own, over TCP as any producer.

mod client;
mod hosts;
mod logs;
mod meters;
mod orders;
mod payments;
mod rides;
mod schemas;
mod sensors;
mod ticks;
mod turbines;
mod weather;

use std::time::Duration;

use serde::Serialize;
use serde_json::{Value, json};
use tokio::task::JoinSet;

use crate::host::now_ms;
use crate::registry::Ids;
use client::Client;
pub use schemas::SCHEMAS;

/// A record to write.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Outgoing {
    pub partition: i32,
    pub key: Option<Vec<u8>>,
    /// `None` is a tombstone.
    pub value: Option<Vec<u8>>,
    pub headers: Vec<(&'static str, String)>,
}

/// A source of records.
trait Feed: Send {
    /// The topic and what is in it.
    fn about(&self) -> About;
    /// How a panel shows it.
    fn panel(&self) -> Panel {
        Panel::series(json!({}))
    }
    /// Makes the records of one turn.
    fn turn(&mut self, now_ms: i64) -> Vec<Outgoing>;
}

/// A topic that is written to.
#[derive(Clone, Copy, Debug)]
pub struct About {
    pub topic: &'static str,
    pub partitions: i32,
    /// Between two turns.
    pub every: Duration,
    /// How far back the records of a new topic go, so that a first panel is not empty.
    pub history: Duration,
    /// For a person.
    pub text: &'static str,
}

/// How a panel shows a topic.
#[derive(Clone, Debug, Serialize)]
pub struct Panel {
    /// The visualization: `timeseries` or `table`.
    pub kind: &'static str,
    /// Of the query, what is not as in a new one.
    pub query: Value,
}

impl Panel {
    fn series(query: Value) -> Panel {
        let kind = "timeseries";
        Panel { kind, query }
    }

    fn table(query: Value) -> Panel {
        let kind = "table";
        Panel { kind, query }
    }
}

/// A topic to show: what is in it, and the panel for it.
#[derive(Clone, Debug, Serialize)]
pub struct Example {
    pub topic: &'static str,
    pub text: &'static str,
    #[serde(flatten)]
    pub panel: Panel,
}

/// Running writers. Dropping it stops them.
pub struct Producers {
    topics: Vec<About>,
    examples: Vec<Example>,
    _tasks: JoinSet<()>,
}

impl Producers {
    /// Creates the topics, and starts a writer for each; `ids` are those of [`SCHEMAS`] where they are registered.
    pub async fn start(bootstrap: &str, ids: &Ids) -> anyhow::Result<Producers> {
        let mut client = Client::connect(bootstrap).await?;
        let mut tasks = JoinSet::new();
        let (mut topics, mut examples) = (Vec::new(), Vec::new());
        for mut feed in feeds(ids) {
            let about = feed.about();
            if client.create_topic(about.topic, about.partitions).await? {
                write_history(&mut *feed, about, &mut client).await?;
            }
            topics.push(about);
            examples.push(Example {
                topic: about.topic,
                text: about.text,
                panel: feed.panel(),
            });
            tasks.spawn(write(feed, bootstrap.to_owned()));
        }
        Ok(Producers {
            topics,
            examples,
            _tasks: tasks,
        })
    }

    /// Gives a panel for each topic.
    pub fn examples(&self) -> &[Example] {
        &self.examples
    }

    /// Lists what is written.
    pub fn topics(&self) -> &[About] {
        &self.topics
    }
}

fn feeds(ids: &Ids) -> Vec<Box<dyn Feed>> {
    vec![
        Box::new(sensors::Sensors),
        Box::new(orders::Orders::default()),
        Box::new(logs::Logs),
        Box::new(ticks::Ticks::default()),
        Box::new(payments::Payments),
        Box::new(turbines::Turbines::new(ids)),
        Box::new(weather::Weather::default()),
        Box::new(rides::Rides::new(ids)),
        Box::new(hosts::Hosts),
        Box::new(meters::Meters::new(ids)),
    ]
}

/// Writes the turns of the time before now, with the timestamps that they would have had.
async fn write_history(
    feed: &mut dyn Feed,
    about: About,
    client: &mut Client,
) -> anyhow::Result<()> {
    let now = now_ms();
    let step = about.every.as_millis() as i64;
    let turns = about.history.as_millis() as i64 / step;
    let times: Vec<i64> = (1..=turns).rev().map(|turn| now - turn * step).collect();
    for times in times.chunks(TURNS_A_REQUEST) {
        let records = times
            .iter()
            .flat_map(|time| stamped(*time, feed.turn(*time)));
        client.produce(about.topic, records).await?;
    }
    Ok(())
}

/// Writes turn after turn; where the broker is away, it tries again each second.
async fn write(mut feed: Box<dyn Feed>, bootstrap: String) {
    let about = feed.about();
    loop {
        if let Err(error) = write_until_failure(&mut *feed, about, &bootstrap).await {
            eprintln!("producer of {}: {error:#}", about.topic);
        }
        tokio::time::sleep(Duration::from_secs(1)).await;
    }
}

async fn write_until_failure(
    feed: &mut dyn Feed,
    about: About,
    bootstrap: &str,
) -> anyhow::Result<()> {
    let mut client = Client::connect(bootstrap).await?;
    let mut turns = tokio::time::interval(about.every);
    turns.set_missed_tick_behavior(tokio::time::MissedTickBehavior::Delay);
    loop {
        turns.tick().await;
        let now = now_ms();
        client
            .produce(about.topic, stamped(now, feed.turn(now)))
            .await?;
    }
}

fn stamped(time: i64, records: Vec<Outgoing>) -> impl Iterator<Item = (i64, Outgoing)> {
    records.into_iter().map(move |record| (time, record))
}

/// Small enough for one request of any topic here.
const TURNS_A_REQUEST: usize = 100;

/// A smooth wave between `low` and `high`, with a little noise: `seconds` a period.
fn wave(now_ms: i64, seconds: f64, low: f64, high: f64) -> f64 {
    let angle = now_ms as f64 / 1_000.0 / seconds * std::f64::consts::TAU;
    let noise = (fastrand::f64() - 0.5) * 0.03;
    round(low + (high - low) * (0.5 + angle.sin() / 2.0 + noise), 2)
}

fn round(value: f64, digits: i32) -> f64 {
    let scale = 10_f64.powi(digits);
    (value * scale).round() / scale
}

/// Picks one of a few.
fn pick<'a>(of: &[&'a str]) -> &'a str {
    of[fastrand::usize(..of.len())]
}

#[cfg(test)]
mod tests {
    use std::collections::{BTreeMap, BTreeSet};

    use super::*;

    #[test]
    fn feeds_are_what_they_say() {
        for mut feed in feeds(&Ids::of(SCHEMAS)) {
            let about = feed.about();
            let turns: Vec<_> = (0..200).flat_map(|turn| feed.turn(turn * 1_000)).collect();
            assert!(!turns.is_empty(), "{about:?}");
            for record in &turns {
                assert!(
                    (0..about.partitions).contains(&record.partition),
                    "{record:?}"
                );
                let Some(value) = &record.value else {
                    assert_eq!(about.topic, "payments", "a tombstone: {record:?}");
                    continue;
                };
                let json = serde_json::from_slice::<serde_json::Value>(value);
                let is_json = about.text.contains("JSON");
                assert_eq!(json.is_ok(), is_json, "{} {record:?}", about.topic);
            }
            let tombstones = turns.iter().filter(|record| record.value.is_none()).count();
            assert_eq!(tombstones > 0, about.topic == "payments", "{tombstones}");
            let keyed = feed.panel().query["keyFormat"].is_string();
            assert_eq!(turns[0].key.is_some(), keyed, "{}", about.topic);
            assert_eq!(turns[0].headers.is_empty(), about.topic != "payments");
        }
    }

    #[test]
    fn frames_name_the_registered_schemas() {
        let ids = Ids::of(SCHEMAS);
        let mut named = BTreeMap::new();
        for mut feed in feeds(&ids) {
            let records = (0..8).flat_map(|turn| feed.turn(turn * 1_000));
            for record in records.collect::<Vec<_>>() {
                for (part, bytes) in [("key", record.key), ("value", record.value)] {
                    let Some(&[0, a, b, c, d]) =
                        bytes.as_deref().and_then(|bytes| bytes.first_chunk())
                    else {
                        continue;
                    };
                    let about = (feed.about().topic, part);
                    let ids: &mut BTreeSet<u32> = named.entry(about).or_default();
                    ids.insert(u32::from_be_bytes([a, b, c, d]));
                }
            }
        }
        let id = |subject, version| ids.find(subject, version).expect("registered");
        let expected = [
            (("meters", "key"), vec![id("meters-key", 1)]),
            (("rides", "value"), vec![id("rides-value", 1)]),
            (("turbines", "key"), vec![id("turbines-key", 1)]),
            (
                ("turbines", "value"),
                vec![id("turbines-value", 1), id("turbines-value", 2)],
            ),
        ];
        let named: Vec<_> = named
            .into_iter()
            .map(|(about, ids)| (about, Vec::from_iter(ids)))
            .collect();
        assert_eq!(named, expected);
    }

    #[test]
    fn waves_stay_near_their_bounds() {
        for second in 0..200 {
            let value = wave(second * 1_000, 60.0, 10.0, 20.0);
            assert!((9.8..=20.2).contains(&value), "{value}");
        }
    }
}
