//! Reads a fixture's JSON for some time by the core's own reader into columns that keep nothing, and prints what came of it as
//! `sample` does: what is left of a record's time without it is the time after parsing, which is where the Go plugin's own
//! benchmark begins.
//!
//! `parse core <fixture> noop <milliseconds>`, as `sample`

mod columns;
#[path = "../corpus/mod.rs"]
mod corpus;
mod decode;
#[allow(unreachable_pub, reason = "the core makes it public")]
#[path = "../../src/flatten/mod.rs"]
mod flatten;
#[path = "../measure/mod.rs"]
mod measure;

use std::hint::black_box;
use std::marker::PhantomData;
use std::time::Duration;

use streamscope::config::FlattenLimits;

use crate::decode::{JsonDecoder, RecordRows};
use crate::measure::{Counts, measure};

fn main() {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let arguments: Vec<&str> = arguments.iter().map(String::as_str).collect();
    let ["core", fixture, _, milliseconds] = arguments[..] else {
        eprintln!("usage: parse core <fixture> noop <milliseconds>");
        std::process::exit(2);
    };
    let fixture = corpus::fixtures()
        .into_iter()
        .find(|known| known.name == fixture && known.query["messageFormat"] == "json")
        .expect("a fixture of benches/corpus that is JSON");
    let time = Duration::from_millis(milliseconds.parse().expect("a number of milliseconds"));
    let limits = FlattenLimits::default();
    let mut decoder = JsonDecoder::for_values(limits.max_depth, limits.max_fields);
    let mut next = fixture.values.iter().cycle();
    let counts = measure(
        |counts: &mut Counts| {
            for value in next.by_ref().take(1_000) {
                let read = decoder.decode(black_box(value), &mut RecordRows(PhantomData));
                read.expect("fixtures are well formed");
                counts.records += 1;
                counts.read += value.len() as u64;
            }
        },
        time,
    );
    println!("{counts}");
}
