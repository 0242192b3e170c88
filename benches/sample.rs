//! Runs one fixture through the core for some time, under the performance flags of its environment, and prints what came of it
//! as one line of JSON. `compare` runs it, again and again.
//!
//! `sample <fixture> noop|sendframe_json <milliseconds>`, or `sample names`: the fixtures' names, a line each

mod corpus;
mod stream;

use std::alloc::{GlobalAlloc, Layout, System};
use std::hint::black_box;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};

use serde_json::json;
use streamscope::perf::PerfFlags;
use streamscope::pipeline::Pipeline;

use crate::corpus::Fixture;
use crate::stream::{now, pipeline, record, records};

fn main() {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    if arguments == ["names"] {
        for fixture in corpus::fixtures() {
            println!("{}", fixture.name);
        }
        return;
    }
    let [fixture, sink, milliseconds] = &arguments[..] else {
        eprintln!("usage: sample <fixture> noop|sendframe_json <milliseconds>");
        std::process::exit(2);
    };
    let fixture = corpus::fixtures()
        .into_iter()
        .find(|known| known.name == fixture)
        .expect("a fixture of benches/corpus");
    let time = Duration::from_millis(milliseconds.parse().expect("a number of milliseconds"));
    let flags = PerfFlags::from_env(|name| std::env::var(name).ok());
    let mut pipeline = pipeline(&fixture.query, flags);
    let frames = sink == "sendframe_json";
    // What the first records cost falls out.
    run(&mut pipeline, &fixture, frames, time / 4);
    let counts = run(&mut pipeline, &fixture, frames, time);
    println!(
        "{}",
        json!({
            "records": counts.records, "packets": counts.packets, "out": counts.out, "in": counts.read,
            "allocations": counts.allocations, "seconds": counts.time.as_secs_f64(),
        })
    );
}

/// Says what a run did.
#[derive(Debug, Default)]
struct Counts {
    records: u64,
    packets: u64,
    /// Bytes of packets.
    out: u64,
    /// Bytes of records.
    read: u64,
    allocations: u64,
    time: Duration,
}

fn run(pipeline: &mut Pipeline, fixture: &Fixture, frames: bool, time: Duration) -> Counts {
    let (now, mut counts, a_packet) = (now(), Counts::default(), records(fixture) as u64);
    let mut next = fixture.values.iter().cycle();
    let (start, allocated) = (Instant::now(), ALLOCATIONS.load(Ordering::Relaxed));
    while counts.time < time {
        // The clock is looked at once in a thousand records.
        for value in next.by_ref().take(1_000) {
            black_box(pipeline.push(&record(value), now));
            counts.records += 1;
            counts.read += value.len() as u64;
            if frames {
                while let Some(packet) = pipeline.poll_packet(now) {
                    counts.packets += 1;
                    counts.out += black_box(packet).json.len() as u64;
                }
            } else if counts.records.is_multiple_of(a_packet) {
                black_box(pipeline.discard_pending());
            }
        }
        counts.time = start.elapsed();
    }
    counts.allocations = ALLOCATIONS.load(Ordering::Relaxed) - allocated;
    counts
}

static ALLOCATIONS: AtomicU64 = AtomicU64::new(0);

struct Counting;

#[expect(
    unsafe_code,
    reason = "an allocator that counts what it passes on to the system's"
)]
// SAFETY: every call is passed on as it came.
unsafe impl GlobalAlloc for Counting {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        ALLOCATIONS.fetch_add(1, Ordering::Relaxed);
        unsafe { System.alloc(layout) }
    }

    unsafe fn dealloc(&self, pointer: *mut u8, layout: Layout) {
        unsafe { System.dealloc(pointer, layout) }
    }

    unsafe fn realloc(&self, pointer: *mut u8, layout: Layout, size: usize) -> *mut u8 {
        ALLOCATIONS.fetch_add(1, Ordering::Relaxed);
        unsafe { System.realloc(pointer, layout, size) }
    }
}

#[global_allocator]
static ALLOCATOR: Counting = Counting;
