//! From a record's bytes to rows (`noop`), and on to finished packets of 32 rows (`sendframe_json`): the core, and beside it
//! the plain twin. One thread.

mod corpus;
mod twin;

use std::hint::black_box;
use std::sync::Arc;
use std::time::{Duration, Instant};

use criterion::{BenchmarkId, Criterion, Throughput, criterion_group, criterion_main};
use serde_json::json;
use streamscope::batch::Pacer;
use streamscope::columns::StreamSchema;
use streamscope::config::{FlattenLimits, PanelQuery};
use streamscope::perf::PerfFlags;
use streamscope::pipeline::Pipeline;
use streamscope::record::{Now, Record};

const ROWS: usize = 32;

fn workflow(criterion: &mut Criterion) {
    for sink in ["noop", "sendframe_json"] {
        let mut group = criterion.benchmark_group(format!("workflow/{sink}"));
        group
            .throughput(Throughput::Elements(ROWS as u64))
            .measurement_time(Duration::from_secs(3));
        for (name, values) in corpus::fixtures() {
            group.bench_function(BenchmarkId::new("core", name), |bencher| {
                let (mut pipeline, now) = (pipeline(corpus::format(name)), now());
                let mut next = values.iter().cycle();
                bencher.iter(|| {
                    for value in next.by_ref().take(ROWS) {
                        black_box(pipeline.push(&record(value), now));
                    }
                    match sink {
                        "noop" => drop(black_box(pipeline.discard_pending())),
                        _ => drop(
                            black_box(pipeline.poll_packet(now)).expect("32 rows are a packet"),
                        ),
                    }
                });
            });
            group.bench_function(BenchmarkId::new("twin", name), |bencher| {
                let mut next = values.iter().cycle();
                bencher.iter(|| {
                    let rows: Vec<_> = next
                        .by_ref()
                        .take(ROWS)
                        .map(|value| {
                            twin::decode(corpus::format(name), value)
                                .expect("fixtures are well formed")
                        })
                        .collect();
                    match sink {
                        "noop" => drop(black_box(rows)),
                        _ => drop(black_box(twin::packet(
                            "bench-topic",
                            1_700_000_000_000,
                            1,
                            &rows,
                        ))),
                    }
                });
            });
        }
        group.finish();
    }
}

fn pipeline(format: &str) -> Pipeline {
    let query = json!({ "topicName": "bench-topic", "messageFormat": format }).to_string();
    let spec = PanelQuery::parse(query.as_bytes())
        .expect("the query is right")
        .spec;
    let schema = Arc::new(StreamSchema::new());
    Pipeline::new(
        Arc::new(spec),
        FlattenLimits::default(),
        schema,
        Pacer::off(),
        PerfFlags::default(),
    )
}

fn record(value: &[u8]) -> Record<'_> {
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

fn now() -> Now {
    Now {
        monotonic: Instant::now(),
        wall_ms: 1_700_000_000_000,
    }
}

criterion_group!(benches, workflow);
criterion_main!(benches);
