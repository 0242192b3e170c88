//! Runs one fixture through the core, under the performance flags of its environment, or through the plain twin for some time, and
//! prints what came of it as one line of JSON. `compare` runs it, again and again.
//!
//! `sample core|twin <fixture> noop|sendframe_json <milliseconds>`, or `sample names`: the fixtures' names, a line each

mod corpus;
mod measure;
mod stream;
mod twin;

use std::hint::black_box;
use std::time::Duration;

use streamscope::perf::PerfFlags;
use streamscope::pipeline::Pipeline;

use crate::corpus::Fixture;
use crate::measure::{Counts, measure};
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
