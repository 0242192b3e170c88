//! From a record's bytes to rows (`noop`), and on to finished packets of at least 32 rows (`sendframe_json`): the core, and beside it
//! the plain twin. One thread.

mod corpus;
mod stream;
mod twin;

use std::hint::black_box;
use std::time::Duration;

use criterion::{BenchmarkId, Criterion, Throughput, criterion_group, criterion_main};
use streamscope::perf::PerfFlags;

use crate::stream::{OFFSET, TIME, TOPIC, now, pipeline, record, records};
use crate::twin::Twin;

fn workflow(criterion: &mut Criterion) {
    for sink in ["noop", "sendframe_json"] {
        let mut group = criterion.benchmark_group(format!("workflow/{sink}"));
        group.measurement_time(Duration::from_secs(3));
        for fixture in corpus::fixtures() {
            let a_packet = records(&fixture);
            group.throughput(Throughput::Elements(a_packet as u64));
            group.bench_function(BenchmarkId::new("core", fixture.name), |bencher| {
                let (mut pipeline, now) = (pipeline(&fixture.query, PerfFlags::default()), now());
                let mut next = fixture.values.iter().cycle();
                bencher.iter(|| {
                    for value in next.by_ref().take(a_packet) {
                        black_box(pipeline.push(&record(value), now));
                    }
                    match sink {
                        "noop" => drop(black_box(pipeline.discard_pending())),
                        _ => drop(black_box(pipeline.poll_packet(now)).expect("a packet is due")),
                    }
                });
            });
            group.bench_function(BenchmarkId::new("twin", fixture.name), |bencher| {
                let (twin, mut next) = (Twin::new(&fixture.query), fixture.values.iter().cycle());
                bencher.iter(|| {
                    let rows: Vec<_> = next
                        .by_ref()
                        .take(a_packet)
                        .flat_map(|value| {
                            twin.decode(value, TIME).expect("fixtures are well formed")
                        })
                        .collect();
                    match sink {
                        "noop" => drop(black_box(rows)),
                        _ => drop(black_box(twin::packet(TOPIC, OFFSET, &rows))),
                    }
                });
            });
        }
        group.finish();
    }
}

criterion_group!(benches, workflow);
criterion_main!(benches);
