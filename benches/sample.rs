//! Runs one fixture through the core, under the performance flags of its environment, or through the plain twin for some time, and
//! prints what came of it as one line of JSON. `compare` and `matrix` run it, again and again.
//!
//! `sample core|twin <fixture> noop|sendframe_json <milliseconds>`, or `sample names`: the fixtures' names, a line each

mod corpus;
mod stream;
mod twin;

use std::alloc::{GlobalAlloc, Layout, System};
use std::hint::black_box;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};

use serde_json::{Value, json};
use streamscope::perf::PerfFlags;
use streamscope::pipeline::Pipeline;

use crate::corpus::Fixture;
use crate::stream::{OFFSET, TIME, TOPIC, now, pipeline, record, records};
use crate::twin::Twin;

fn main() {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let arguments: Vec<&str> = arguments.iter().map(String::as_str).collect();
    let (who, fixture, sink, milliseconds) = match arguments[..] {
        ["names"] => {
            let fixtures = corpus::fixtures();
            return fixtures.iter().for_each(|known| println!("{}", known.name));
        }
        [who @ ("core" | "twin"), fixture, sink, milliseconds] => {
            (who, fixture, sink, milliseconds)
        }
        _ => {
            eprintln!(
                "usage: sample core|twin <fixture> noop|sendframe_json <milliseconds>, sample names"
            );
            std::process::exit(2);
        }
    };
    let fixture = corpus::fixtures()
        .into_iter()
        .find(|known| known.name == fixture)
        .expect("a fixture of benches/corpus");
    let time = Duration::from_millis(milliseconds.parse().expect("a number of milliseconds"));
    let frames = sink == "sendframe_json";
    let counts = match who {
        "core" => {
            let flags = PerfFlags::from_env(|name| std::env::var(name).ok());
            measure(
                core(&mut pipeline(&fixture.query, flags), &fixture, frames),
                time,
            )
        }
        _ => measure(plain(&Twin::new(&fixture.query), &fixture, frames), time),
    };
    println!("{counts}");
}

/// Says what was done.
#[derive(Debug, Default)]
struct Counts {
    records: u64,
    packets: u64,
    /// Bytes of packets.
    out: u64,
    /// Bytes of records.
    read: u64,
}

/// Works for some time, as JSON says; what the first records cost falls out.
fn measure(mut work: impl FnMut(&mut Counts), time: Duration) -> Value {
    let mut run = |time| {
        let (mut counts, start) = (Counts::default(), Instant::now());
        let before = [&ALLOCATIONS, &ALLOCATED].map(|count| count.load(Ordering::Relaxed));
        while start.elapsed() < time {
            work(&mut counts);
        }
        let seconds = start.elapsed().as_secs_f64();
        json!({
            "records": counts.records, "packets": counts.packets, "out": counts.out, "in": counts.read, "seconds": seconds,
            "allocations": ALLOCATIONS.load(Ordering::Relaxed) - before[0],
            "allocated": ALLOCATED.load(Ordering::Relaxed) - before[1],
        })
    };
    run(time / 4);
    run(time)
}

/// Gives a thousand records at a time, between which the clock is looked at, to the core.
fn core(pipeline: &mut Pipeline, fixture: &Fixture, frames: bool) -> impl FnMut(&mut Counts) {
    let (now, a_packet) = (now(), records(fixture) as u64);
    let mut next = fixture.values.iter().cycle();
    move |counts| {
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
    }
}

/// Gives a packet's records at a time to the plain twin.
fn plain(twin: &Twin, fixture: &Fixture, frames: bool) -> impl FnMut(&mut Counts) {
    let a_packet = records(fixture);
    let mut next = fixture.values.iter().cycle();
    move |counts| {
        let mut rows = Vec::new();
        for value in next.by_ref().take(a_packet) {
            rows.extend(twin.decode(value, TIME).expect("fixtures are well formed"));
            counts.records += 1;
            counts.read += value.len() as u64;
        }
        if frames {
            counts.packets += 1;
            counts.out += black_box(twin::packet(TOPIC, OFFSET, &rows)).len() as u64;
        } else {
            drop(black_box(rows));
        }
    }
}

static ALLOCATIONS: AtomicU64 = AtomicU64::new(0);
/// Is how many bytes they asked for.
static ALLOCATED: AtomicU64 = AtomicU64::new(0);

fn count(bytes: usize) {
    ALLOCATIONS.fetch_add(1, Ordering::Relaxed);
    ALLOCATED.fetch_add(bytes as u64, Ordering::Relaxed);
}

struct Counting;

#[expect(
    unsafe_code,
    reason = "an allocator that counts what it passes on to the system's"
)]
// SAFETY: every call is passed on as it came.
unsafe impl GlobalAlloc for Counting {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        count(layout.size());
        unsafe { System.alloc(layout) }
    }

    unsafe fn dealloc(&self, pointer: *mut u8, layout: Layout) {
        unsafe { System.dealloc(pointer, layout) }
    }

    unsafe fn realloc(&self, pointer: *mut u8, layout: Layout, size: usize) -> *mut u8 {
        count(size);
        unsafe { System.realloc(pointer, layout, size) }
    }
}

#[global_allocator]
static ALLOCATOR: Counting = Counting;
