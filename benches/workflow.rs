//! From a record's bytes to rows (`noop`), and on to finished packets of 32 rows (`sendframe_json`): the core, and beside it
//! the plain twin. One thread.

mod corpus;
mod stream;
mod twin;

use std::hint::black_box;
use std::time::Duration;

use criterion::{BenchmarkId, Criterion, Throughput, criterion_group, criterion_main};

use crate::stream::{ROWS, now, pipeline, record};

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

criterion_group!(benches, workflow);
criterion_main!(benches);
