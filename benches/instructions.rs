//! Runs one fixture through the core or the twin, and nothing else: `scripts/instructions.sh` counts its instructions.
//!
//! `instructions core|twin <fixture> <packets>`

mod corpus;
mod stream;
mod twin;

use std::hint::black_box;

use crate::stream::{ROWS, now, pipeline, record};

fn main() {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let [who, fixture, packets] = &arguments[..] else {
        eprintln!("usage: instructions core|twin <fixture> <packets>");
        std::process::exit(2);
    };
    let packets: usize = packets.parse().expect("a number of packets");
    let values = corpus::fixtures()
        .into_iter()
        .find(|(name, _)| name == fixture)
        .expect("a fixture of benches/corpus")
        .1;
    let mut next = values.iter().cycle();
    let (mut pipeline, now) = (pipeline(corpus::format(fixture)), now());
    for _ in 0..packets {
        let values = next.by_ref().take(ROWS);
        if who == "core" {
            for value in values {
                pipeline.push(&record(value), now);
            }
            black_box(pipeline.poll_packet(now));
        } else {
            let rows: Vec<_> = values
                .map(|value| twin::decode(corpus::format(fixture), value).expect("it is JSON"))
                .collect();
            black_box(twin::packet("bench-topic", 1_700_000_000_000, 1, &rows));
        }
    }
}
