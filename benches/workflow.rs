//! From a record's bytes to rows (`noop`), and on to finished packets of at least 32 rows (`sendframe_json`): the core, and beside it
//! the plain twin. One thread; then a stream of which each processor has a partition (`workers`).

mod corpus;
mod stream;
mod twin;

use std::hint::black_box;
use std::sync::Barrier;
use std::thread::{self, ScopedJoinHandle};
use std::time::{Duration, Instant};

use criterion::{BenchmarkId, Criterion, Throughput, criterion_group, criterion_main};
use streamscope::perf::PerfFlags;
use streamscope::pipeline::Pipeline;

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

/// Measures one worker, and one for each processor, which share the stream's schema and have records and packets of their own.
fn workers(criterion: &mut Criterion) {
    let processors = thread::available_parallelism().map_or(1, usize::from);
    for fixture in corpus::fixtures() {
        let mut group = criterion.benchmark_group(format!("workers/{}", fixture.name));
        group.measurement_time(Duration::from_secs(3));
        let a_packet = records(&fixture);
        for count in [1, processors] {
            group.throughput(Throughput::Elements((a_packet * count) as u64));
            group.bench_function(BenchmarkId::from_parameter(count), |bencher| {
                bencher.iter_custom(|packets| {
                    let first = pipeline(&fixture.query, PerfFlags::default());
                    let mut workers: Vec<Pipeline> = (1..count).map(|_| first.sibling()).collect();
                    workers.push(first);
                    let begin = Barrier::new(count);
                    thread::scope(|scope| {
                        let threads: Vec<_> = workers
                            .iter_mut()
                            .map(|worker| {
                                let (begin, fixture) = (&begin, &fixture);
                                scope.spawn(move || {
                                    let mut next = fixture.values.iter().cycle();
                                    let mut packet = || {
                                        let now = now();
                                        for value in next.by_ref().take(a_packet) {
                                            black_box(worker.push(&record(value), now));
                                        }
                                        drop(
                                            black_box(worker.poll_packet(now)).expect("it is due"),
                                        );
                                    };
                                    packet();
                                    begin.wait();
                                    let start = Instant::now();
                                    (0..packets).for_each(|_| packet());
                                    start.elapsed()
                                })
                            })
                            .collect();
                        let times = threads.into_iter().map(ScopedJoinHandle::join);
                        times.map(|time| time.expect("no worker panics")).max()
                    })
                    .unwrap_or_default()
                });
            });
        }
        group.finish();
    }
}

criterion_group!(benches, workflow, workers);
criterion_main!(benches);
