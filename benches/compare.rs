//! Before and after, in alternation: each performance flag against the default, or one commit against another. A p-value is
//! that of a two-sided Mann-Whitney U test over the runs, which asks nothing of how they are distributed, by the normal
//! approximation: statrs 0.19 gives the complement of the exact one where both sides have as many runs.
//!
//! `compare flags <sample>` or `compare commits <sample of the old one> <sample of the new one>`; `RUNS` (10, at least 8), `CASE` (all
//! fixtures whose names begin so) and `MILLISECONDS` a run (200) from the environment.

use std::env;
use std::process::Command;

use serde_json::Value;
use statrs::statistics::{Data, OrderStatistics};
use statrs::stats_tests::Alternative;
use statrs::stats_tests::mannwhitneyu::{MannWhitneyUMethod, mannwhitneyu};

/// The flags, and the fixtures (by the beginning of their names) and sinks that each can touch; the others are controls.
const FLAGS: [Flag; 4] = [
    ("DISABLE_AVRO_CODEC_CACHE", &["avro"], &SINKS),
    ("DISABLE_PROTOBUF_SCHEMA_CACHE", &["protobuf"], &SINKS),
    (
        "DISABLE_FIELD_ORDER_CACHE",
        &["json", "avro", "protobuf", "lineprotocol"],
        &SINKS,
    ),
    // A record of line protocol is a packet in any case.
    (
        "DISABLE_STREAM_MICROBATCH",
        &["plaintext", "json", "avro", "protobuf"],
        &["sendframe_json"],
    ),
];
const SINKS: [&str; 2] = ["noop", "sendframe_json"];
/// Is a flag's name, the beginnings of fixtures' names, and sinks.
type Flag = (
    &'static str,
    &'static [&'static str],
    &'static [&'static str],
);
/// A control has moved where its p-value is below this, and its median by more than a percent.
const SIGNIFICANT: f64 = 0.01;

fn main() {
    let arguments: Vec<String> = env::args().skip(1).collect();
    let number = |name: &str, default: usize| {
        env::var(name)
            .ok()
            .and_then(|text| text.parse().ok())
            .unwrap_or(default)
    };
    // With fewer runs the approximation is none.
    let (runs, milliseconds) = (
        number("RUNS", 10).max(8),
        number("MILLISECONDS", 200).to_string(),
    );
    let case = env::var("CASE").unwrap_or_default();
    let arguments: Vec<&str> = arguments.iter().map(String::as_str).collect();
    let comparisons: Vec<Comparison<'_>> = match arguments[..] {
        ["flags", sample] => flags(sample),
        ["commits", old, new] => vec![Comparison {
            title: "the old commit (before) against the new one (after)".to_owned(),
            before: Side {
                sample: old,
                flags: vec![],
            },
            after: Side {
                sample: new,
                flags: vec![],
            },
            flags: vec![],
        }],
        _ => {
            eprintln!("usage: compare flags <sample> | compare commits <old sample> <new sample>");
            std::process::exit(2);
        }
    };
    for comparison in comparisons {
        comparison.run(&case, runs, &milliseconds);
    }
}

/// Gives each flag alone, then all together; before is with the flag, which turns an optimisation off.
fn flags(sample: &str) -> Vec<Comparison<'_>> {
    let default = || Side {
        sample,
        flags: vec![],
    };
    let alone = FLAGS.iter().map(|flag| Comparison {
        title: format!(
            "`KAFKA_DS_PERF_{}` (before) against the default (after)",
            flag.0
        ),
        before: Side {
            sample,
            flags: vec![flag.0],
        },
        after: default(),
        flags: vec![flag],
    });
    let all = Comparison {
        title: "all flags (before) against the default (after)".to_owned(),
        before: Side {
            sample,
            flags: FLAGS.iter().map(|flag| flag.0).collect(),
        },
        after: default(),
        flags: FLAGS.iter().collect(),
    };
    alone.chain([all]).collect()
}

struct Comparison<'a> {
    title: String,
    before: Side<'a>,
    after: Side<'a>,
    /// What is compared; nothing where it is commits.
    flags: Vec<&'static Flag>,
}

/// Is one program with its flags.
struct Side<'a> {
    sample: &'a str,
    flags: Vec<&'a str>,
}

/// Is what one run counted, a second or a record.
struct Run {
    records: f64,
    packets: f64,
    read: f64,
    out: f64,
    allocations: f64,
}

impl Comparison<'_> {
    fn run(&self, case: &str, runs: usize, milliseconds: &str) {
        let (before, after) = (self.before.names(), self.after.names());
        let both = before.iter().filter(|name| after.contains(name));
        println!("\n## {}\n", self.title);
        println!(
            "| fixture | sink | msg/s before | after | change | p | packets/s before | after | in MB/s before | after | out MB/s before | after | allocations a record before | after | runs |"
        );
        println!("|---|---|--:|--:|--:|--:|--:|--:|--:|--:|--:|--:|--:|--:|--:|");
        let mut moved = Vec::new();
        for fixture in both.filter(|name| name.starts_with(case)) {
            for sink in SINKS {
                let (mut before, mut after) = (Vec::new(), Vec::new());
                for run in 0..runs {
                    // Who is first changes from run to run, too.
                    let mut sides = [(&self.before, &mut before), (&self.after, &mut after)];
                    sides.rotate_left(run % 2);
                    for (side, runs) in sides {
                        runs.push(side.run(fixture, sink, milliseconds));
                    }
                }
                let control = !self.touches(fixture, sink);
                let (change, p) = print(fixture, sink, control, &before, &after);
                if control && p < SIGNIFICANT && change.abs() > 1.0 {
                    moved.push(format!("{fixture} {sink} ({change:+.1}%, p = {p:.4})"));
                }
            }
        }
        println!("\nControls, which this cannot touch, are in brackets.");
        match moved.len() {
            0 => println!("None of them moved."),
            _ => println!(
                "**These moved: {}.** The machine was not quiet, or this touches more than is said.",
                moved.join(", ")
            ),
        }
    }
}

impl Comparison<'_> {
    /// Tells whether a fixture with a sink may change at all.
    fn touches(&self, fixture: &str, sink: &str) -> bool {
        let touches = |(_, fixtures, sinks): &&Flag| {
            sinks.contains(&sink) && fixtures.iter().any(|begin| fixture.starts_with(begin))
        };
        self.flags.is_empty() || self.flags.iter().any(touches)
    }
}

impl Side<'_> {
    /// Names the fixtures that the program knows.
    fn names(&self) -> Vec<String> {
        let output = Command::new(self.sample).arg("names").output();
        let output = output.expect("the sample program can be started");
        String::from_utf8_lossy(&output.stdout)
            .lines()
            .map(str::to_owned)
            .collect()
    }

    fn run(&self, fixture: &str, sink: &str, milliseconds: &str) -> Run {
        let mut command = Command::new(self.sample);
        command.args([fixture, sink, milliseconds]);
        for flag in &self.flags {
            command.env(format!("KAFKA_DS_PERF_{flag}"), "true");
        }
        let output = command.output().expect("the sample program can be started");
        let counts: Value = serde_json::from_slice(&output.stdout).unwrap_or_else(|_| {
            panic!(
                "{fixture} {sink}: {}",
                String::from_utf8_lossy(&output.stderr)
            )
        });
        let count = |name: &str| counts[name].as_f64().expect("a number");
        let seconds = count("seconds");
        Run {
            records: count("records") / seconds,
            packets: count("packets") / seconds,
            read: count("in") / seconds / 1e6,
            out: count("out") / seconds / 1e6,
            allocations: count("allocations") / count("records"),
        }
    }
}

/// Prints a row of medians, and gives the change of the rate in percent and its p-value.
fn print(fixture: &str, sink: &str, control: bool, before: &[Run], after: &[Run]) -> (f64, f64) {
    let of = |runs: &[Run], what: fn(&Run) -> f64| runs.iter().map(what).collect::<Vec<f64>>();
    let both =
        |what: fn(&Run) -> f64| [before, after].map(|runs| Data::new(of(runs, what)).median());
    let rate = both(|run| run.records);
    let change = (rate[1] / rate[0] - 1.0) * 100.0;
    let rates = [before, after].map(|runs| of(runs, |run| run.records));
    let test = mannwhitneyu(
        &rates[0],
        &rates[1],
        MannWhitneyUMethod::AsymptoticInclContinuityCorrection,
        Alternative::TwoSided,
    );
    let p = test.map_or(1.0, |(_, p)| p.min(1.0));
    let pair =
        |[before, after]: [f64; 2], digits: usize| format!("{before:.digits$} | {after:.digits$}");
    let name = if control {
        format!("({fixture})")
    } else {
        fixture.to_owned()
    };
    println!(
        "| {name} | {sink} | {} | {change:+.1}% | {p:.4} | {} | {} | {} | {} | {} |",
        pair(rate, 0),
        pair(both(|run| run.packets), 0),
        pair(both(|run| run.read), 1),
        pair(both(|run| run.out), 1),
        pair(both(|run| run.allocations), 2),
        before.len(),
    );
    (change, p)
}
