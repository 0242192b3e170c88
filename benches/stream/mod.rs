//! The core as benches drive it: records of one topic in, packets of 32 rows out.

use std::sync::Arc;
use std::time::Instant;

use serde_json::json;
use streamscope::batch::Pacer;
use streamscope::columns::StreamSchema;
use streamscope::config::{FlattenLimits, PanelQuery};
use streamscope::decode::SchemaCache;
use streamscope::perf::PerfFlags;
use streamscope::pipeline::Pipeline;
use streamscope::record::{Now, Record};

/// The rows of a packet: what the micro-batcher collects.
pub(crate) const ROWS: usize = 32;

pub(crate) fn pipeline(format: &str) -> Pipeline {
    let query = json!({ "topicName": "bench-topic", "messageFormat": format }).to_string();
    let spec = PanelQuery::parse(query.as_bytes())
        .expect("the query is right")
        .spec;
    Pipeline::new(
        Arc::new(spec),
        FlattenLimits::default(),
        Arc::new(StreamSchema::new()),
        Pacer::off(),
        PerfFlags::default(),
        SchemaCache::new(&PerfFlags::default()),
    )
}

pub(crate) fn record(value: &[u8]) -> Record<'_> {
    Record {
        topic: "bench-topic",
        partition: 0,
        offset: 1,
        timestamp: Some(1_700_000_000_000),
        key: None,
        value: Some(value),
        headers: &[],
    }
}

pub(crate) fn now() -> Now {
    Now {
        monotonic: Instant::now(),
        wall_ms: 1_700_000_000_000,
    }
}
