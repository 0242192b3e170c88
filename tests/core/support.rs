//! Pipelines and records for the tests of this program.

use std::sync::Arc;
use std::time::{Duration, Instant};

use serde_json::Value;
use streamscope::batch::Pacer;
use streamscope::columns::StreamSchema;
use streamscope::config::{FlattenLimits, PanelQuery};
use streamscope::frame::Packet;
use streamscope::perf::PerfFlags;
use streamscope::pipeline::Pipeline;
use streamscope::record::{Now, Record};

pub(crate) const TIME: i64 = 1_700_000_000_000;

/// Makes a pipeline for a query on the topic `t`, without a budget.
pub(crate) fn pipeline(query: &Value, flags: PerfFlags) -> Pipeline {
    let mut query = query.clone();
    query["topicName"] = "t".into();
    let spec = PanelQuery::parse(query.to_string().as_bytes())
        .unwrap()
        .spec;
    Pipeline::new(
        Arc::new(spec),
        FlattenLimits::default(),
        Arc::new(StreamSchema::new()),
        Pacer::off(),
        flags,
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
