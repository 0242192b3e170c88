//! The core as benches drive it: records of one topic in, packets of 32 rows out.

use std::sync::Arc;
use std::time::Instant;

use serde_json::{Value, json};
use streamscope::batch::Pacer;
use streamscope::columns::StreamSchema;
use streamscope::config::{FlattenLimits, PanelQuery};
use streamscope::decode::SchemaCache;
use streamscope::perf::PerfFlags;
use streamscope::pipeline::Pipeline;
use streamscope::record::{Now, Record};

use crate::corpus::Fixture;

/// The rows that are worth a packet: what the micro-batcher collects.
pub(crate) const ROWS: usize = 32;

pub(crate) const TOPIC: &str = "bench-topic";
/// The time and the offset of each record.
pub(crate) const TIME: i64 = 1_700_000_000_000;
pub(crate) const OFFSET: i64 = 1;

/// Counts the records of a packet; each of a fixture's records makes as many rows as the others.
pub(crate) fn records(fixture: &Fixture) -> usize {
    let mut pipeline = pipeline(&fixture.query, PerfFlags::default());
    pipeline.push(&record(&fixture.values[0]), now());
    ROWS.div_ceil(pipeline.pending_rows())
}

pub(crate) fn pipeline(query: &Value, flags: PerfFlags) -> Pipeline {
    let mut query = query.clone();
    query["topicName"] = json!(TOPIC);
    let query = query.to_string();
    let spec = PanelQuery::parse(query.as_bytes())
        .expect("the query is right")
        .spec;
    Pipeline::new(
        Arc::new(spec),
        FlattenLimits::default(),
        Arc::new(StreamSchema::new()),
        Pacer::off(),
        flags,
        SchemaCache::new(&flags),
    )
}

pub(crate) fn record(value: &[u8]) -> Record<'_> {
    Record {
        topic: TOPIC,
        partition: 0,
        offset: OFFSET,
        timestamp: Some(TIME),
        key: None,
        value: Some(value),
        headers: &[],
    }
}

pub(crate) fn now() -> Now {
    Now {
        monotonic: Instant::now(),
        wall_ms: TIME,
    }
}
