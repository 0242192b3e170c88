//! Pipelines and records for the tests of this program.

use std::sync::Arc;
use std::time::{Duration, Instant};

use serde_json::{Map, Value};
use streamscope::batch::Pacer;
use streamscope::columns::StreamSchema;
use streamscope::config::{FlattenLimits, PanelQuery};
use streamscope::decode::SchemaCache;
use streamscope::frame::Packet;
use streamscope::perf::PerfFlags;
use streamscope::pipeline::Pipeline;
use streamscope::record::{Now, Record};

pub(crate) const TIME: i64 = 1_700_000_000_000;

/// Makes a pipeline for a query on the topic `t`, without a budget.
pub(crate) fn pipeline(query: &Value, flags: PerfFlags) -> Pipeline {
    build(query, FlattenLimits::default(), flags)
}

/// Makes one with other limits.
pub(crate) fn pipeline_with(query: &Value, limits: FlattenLimits) -> Pipeline {
    build(query, limits, PerfFlags::default())
}

fn build(query: &Value, limits: FlattenLimits, flags: PerfFlags) -> Pipeline {
    let mut query = query.clone();
    query["topicName"] = "t".into();
    let spec = PanelQuery::parse(query.to_string().as_bytes())
        .unwrap()
        .spec;
    Pipeline::new(
        Arc::new(spec),
        limits,
        Arc::new(StreamSchema::new()),
        Pacer::off(),
        flags,
        SchemaCache::new(&flags),
    )
}

pub(crate) fn record(value: &[u8], offset: i64) -> Record<'_> {
    Record {
        topic: "t",
        partition: 0,
        offset,
        timestamp: Some(TIME),
        key: None,
        value: Some(value),
        headers: &[],
    }
}

/// Is a clock that stands still until it is told to go on.
pub(crate) struct Clock(pub Now);

impl Clock {
    pub(crate) fn new() -> Self {
        Self(Now {
            monotonic: Instant::now(),
            wall_ms: TIME + 5,
        })
    }

    /// Goes on until every batch is due.
    pub(crate) fn flush(&mut self, pipeline: &mut Pipeline) -> Option<Packet> {
        self.0.monotonic += Duration::from_millis(10);
        pipeline.poll_packet(self.0)
    }
}

/// Gives a packet's columns by name, but `partition` and `offset`, and its notices' texts.
pub(crate) fn read(packet: &Packet) -> (Map<String, Value>, String) {
    let frame: Value = serde_json::from_slice(&packet.json).expect("a packet is JSON");
    let schema = &frame["schema"];
    let names = schema["fields"].as_array().unwrap().iter();
    let columns = names
        .map(|field| field["name"].as_str().unwrap().to_owned())
        .zip(frame["data"]["values"].as_array().unwrap().iter().cloned())
        .filter(|(name, _)| name != "partition" && name != "offset")
        .collect();
    let notices = schema["meta"]["notices"].as_array().into_iter().flatten();
    let notices = notices.map(|n| n["text"].as_str().unwrap());
    (columns, notices.collect::<Vec<_>>().join("\n"))
}

/// Gives what one packet shows of `records`.
pub(crate) fn show(query: &Value, records: &[Record<'_>]) -> (Map<String, Value>, String) {
    let (mut pipeline, mut clock) = (pipeline(query, PerfFlags::default()), Clock::new());
    for record in records {
        pipeline.push(record, clock.0);
    }
    read(&clock.flush(&mut pipeline).expect("there are rows"))
}
