//! Runs one fixture through the core or the twin, and nothing else: `scripts/instructions.py` counts its instructions.
//!
//! `instructions core|twin <fixture> <records>`; `instructions list` names the fixtures, `instructions features` what
//! libraries choose their code by.

mod corpus;
mod stream;
mod twin;

use std::hint::black_box;

use streamscope::perf::PerfFlags;
use streamscope::pipeline::Pipeline;

use crate::corpus::Fixture;
use crate::stream::{OFFSET, TIME, TOPIC, now, pipeline, record, records};
use crate::twin::Twin;

fn main() {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let arguments: Vec<&str> = arguments.iter().map(String::as_str).collect();
    let (who, fixture, count) = match arguments[..] {
        ["list"] => {
            let fixtures = corpus::fixtures();
            return fixtures.iter().for_each(|known| println!("{}", known.name));
        }
        ["features"] => return println!("{}", features()),
        [who, fixture, count] => (who, fixture, count),
        _ => {
            eprintln!(
                "usage: instructions core|twin <fixture> <records>, instructions list|features"
            );
            std::process::exit(2);
        }
    };
    let count: usize = count.parse().expect("a number of records");
    let fixture = corpus::fixtures()
        .into_iter()
        .find(|known| known.name == fixture)
        .expect("a fixture of benches/corpus");
    let a_packet = records(&fixture);
    let packets = count.div_ceil(a_packet);
    if who == "core" {
        let mut pipeline = pipeline(&fixture.query, PerfFlags::default());
        through_core(&mut pipeline, &fixture, a_packet, packets);
    } else {
        through_twin(&Twin::new(&fixture.query), &fixture, a_packet, packets);
    }
}

/// Makes packets of `a_packet` records each by the core; `scripts/profile.sh` counts what is in here.
#[inline(never)]
fn through_core(pipeline: &mut Pipeline, fixture: &Fixture, a_packet: usize, packets: usize) {
    let now = now();
    let mut next = fixture.values.iter().cycle();
    for _ in 0..packets {
        for value in next.by_ref().take(a_packet) {
            pipeline.push(&record(value), now);
        }
        black_box(pipeline.poll_packet(now));
    }
}

/// Makes packets by the twin, likewise.
#[inline(never)]
fn through_twin(twin: &Twin, fixture: &Fixture, a_packet: usize, packets: usize) {
    let mut next = fixture.values.iter().cycle();
    for _ in 0..packets {
        let rows: Vec<_> = next
            .by_ref()
            .take(a_packet)
            .flat_map(|value| twin.decode(value, TIME).expect("fixtures are well formed"))
            .collect();
        black_box(twin::packet(TOPIC, OFFSET, &rows));
    }
}

/// Names the processor's features that libraries ask for.
fn features() -> String {
    let mut features = std::env::consts::ARCH.to_owned();
    #[cfg(target_arch = "x86_64")]
    for (name, there) in [
        ("sse4.2", is_x86_feature_detected!("sse4.2")),
        ("avx2", is_x86_feature_detected!("avx2")),
        ("bmi2", is_x86_feature_detected!("bmi2")),
        ("avx512bw", is_x86_feature_detected!("avx512bw")),
    ] {
        if there {
            features = features + " " + name;
        }
    }
    features
}

/// Stands in for the system's: hash maps have the same seeds in each run, so that a count repeats.
///
/// # Safety
///
/// `buffer` takes `len` bytes.
#[expect(
    unsafe_code,
    reason = "the standard library asks the system for seeds in no other way"
)]
#[unsafe(no_mangle)]
unsafe extern "C" fn getrandom(buffer: *mut u8, len: usize, _flags: u32) -> isize {
    // The caller's buffer has `len` bytes.
    unsafe { buffer.write_bytes(7, len) };
    len as isize
}
