//! Runs one fixture through the core or the twin, and nothing else: `scripts/instructions.sh` counts its instructions.
//!
//! `instructions core|twin <fixture> <records>`

mod corpus;
mod stream;
mod twin;

use std::hint::black_box;

use crate::stream::{OFFSET, TIME, TOPIC, now, pipeline, record, records};
use crate::twin::Twin;

fn main() {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let [who, fixture, count] = &arguments[..] else {
        eprintln!("usage: instructions core|twin <fixture> <records>");
        std::process::exit(2);
    };
    let count: usize = count.parse().expect("a number of records");
    let fixture = corpus::fixtures()
        .into_iter()
        .find(|known| known.name == fixture)
        .expect("a fixture of benches/corpus");
    let (a_packet, mut next) = (records(&fixture), fixture.values.iter().cycle());
    let (mut pipeline, now) = (pipeline(&fixture.query), now());
    let twin = Twin::new(&fixture.query);
    for _ in 0..count.div_ceil(a_packet) {
        let values = next.by_ref().take(a_packet);
        if who == "core" {
            for value in values {
                pipeline.push(&record(value), now);
            }
            black_box(pipeline.poll_packet(now));
        } else {
            let rows: Vec<_> = values
                .flat_map(|value| twin.decode(value, TIME).expect("fixtures are well formed"))
                .collect();
            black_box(twin::packet(TOPIC, OFFSET, &rows));
        }
    }
}
