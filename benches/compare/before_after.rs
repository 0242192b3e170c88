//! Before and after, in alternation: each performance flag against the default, or one commit against another. A p-value is
//! that of a two-sided Mann-Whitney U test over the runs, which asks nothing of how they are distributed, by the normal
//! approximation: statrs 0.19 gives the complement of the exact one where both sides have as many runs.

use std::fmt::{Display, Formatter};

use statrs::stats_tests::Alternative;
use statrs::stats_tests::mannwhitneyu::{MannWhitneyUMethod, mannwhitneyu};

use crate::runs::{Effort, Run, SINKS, Side, median};

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
/// Is a flag's name, the beginnings of fixtures' names, and sinks.
type Flag = (
    &'static str,
    &'static [&'static str],
    &'static [&'static str],
);
/// A control has moved where its p-value is below this, and its median by more than a percent.
const SIGNIFICANT: f64 = 0.01;

/// Measures each performance flag of `sample`.
pub(crate) fn flags(sample: &str, effort: &Effort) {
    for comparison in each_flag(sample) {
        comparison.run(effort);
    }
}

/// Measures two programs.
pub(crate) fn commits(old: &str, new: &str, effort: &Effort) {
    let comparison = Comparison {
        title: "the old commit (before) against the new one (after)".to_owned(),
        before: Side::core(old),
        after: Side::core(new),
        flags: vec![],
        twins: Some([Side::twin(old), Side::twin(new)]),
    };
    comparison.run(effort);
}

/// Gives each flag alone, then all together; before is with the flag, which turns an optimisation off.
fn each_flag(sample: &str) -> Vec<Comparison<'_>> {
    let alone = FLAGS.iter().map(|flag| Comparison {
        title: format!(
            "`KAFKA_DS_PERF_{}` (before) against the default (after)",
            flag.0
        ),
        before: Side::with_flags(sample, vec![flag.0]),
        after: Side::core(sample),
        flags: vec![flag],
        twins: None,
    });
    let all = Comparison {
        title: "all flags (before) against the default (after)".to_owned(),
        before: Side::with_flags(sample, FLAGS.iter().map(|flag| flag.0).collect()),
        after: Side::core(sample),
        flags: FLAGS.iter().collect(),
        twins: None,
    };
    alone.chain([all]).collect()
}

struct Comparison<'a> {
    title: String,
    before: Side<'a>,
    after: Side<'a>,
    /// What is compared; nothing where it is commits.
    flags: Vec<&'static Flag>,
    /// The controls of two commits, which may change every fixture: both have the same plain twin.
    twins: Option<[Side<'a>; 2]>,
}

impl Comparison<'_> {
    fn run(&self, effort: &Effort) {
        let (before, after) = (self.before.names(), self.after.names());
        let both = before.iter().filter(|name| after.contains(name));
        println!("\n## {}\n", self.title);
        println!(
            "| fixture | sink | msg/s before | after | change | p | packets/s before | after | in MB/s before | after | out MB/s before | after | allocations a record before | after | runs |"
        );
        println!("|---|---|--:|--:|--:|--:|--:|--:|--:|--:|--:|--:|--:|--:|--:|");
        let mut controls = Controls::default();
        for fixture in both.filter(|name| effort.covers(name)) {
            for sink in SINKS {
                let [before, after] = effort.alternate([&self.before, &self.after], fixture, sink);
                if self.touches(fixture, sink) {
                    print(fixture, sink, &before, &after);
                } else {
                    controls.print(fixture, sink, &before, &after);
                }
            }
            if let Some([old, new]) = &self.twins {
                let [before, after] = effort.alternate([old, new], fixture, "sendframe_json");
                controls.print(
                    &format!("{fixture}, twin"),
                    "sendframe_json",
                    &before,
                    &after,
                );
            }
        }
        println!("{controls}");
    }
}

/// Is what a comparison cannot touch.
#[derive(Default)]
struct Controls {
    rows: usize,
    moved: Vec<String>,
}

impl Controls {
    /// Prints a row, its fixture in brackets, and remembers whether it moved.
    fn print(&mut self, fixture: &str, sink: &str, before: &[Run], after: &[Run]) {
        let (change, p) = print(&format!("({fixture})"), sink, before, after);
        self.rows += 1;
        if p < SIGNIFICANT && change.abs() > 1.0 {
            let row = format!("{fixture} {sink} ({change:+.1}%, p = {p:.4})");
            self.moved.push(row);
        }
    }
}

impl Display for Controls {
    fn fmt(&self, f: &mut Formatter<'_>) -> std::fmt::Result {
        if self.rows == 0 {
            return write!(f, "\nThere are no controls among these fixtures.");
        }
        write!(f, "\nControls, which this cannot touch, are in brackets. ")?;
        match self.moved.len() {
            0 => write!(f, "None of them moved."),
            _ => write!(
                f,
                "**These moved: {}.** The machine was not quiet, or this touches more than is said.",
                self.moved.join(", ")
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

/// Prints a row of medians, and gives the change of the rate in percent and its p-value.
fn print(fixture: &str, sink: &str, before: &[Run], after: &[Run]) -> (f64, f64) {
    let both = |what: fn(&Run) -> f64| [before, after].map(|runs| median(runs, what));
    let rate = both(|run| run.records);
    let change = (rate[1] / rate[0] - 1.0) * 100.0;
    let rates = [before, after].map(|runs| runs.iter().map(|run| run.records).collect::<Vec<_>>());
    let test = mannwhitneyu(
        &rates[0],
        &rates[1],
        MannWhitneyUMethod::AsymptoticInclContinuityCorrection,
        Alternative::TwoSided,
    );
    let p = test.map_or(1.0, |(_, p)| p.min(1.0));
    let pair =
        |[before, after]: [f64; 2], digits: usize| format!("{before:.digits$} | {after:.digits$}");
    println!(
        "| {fixture} | {sink} | {} | {change:+.1}% | {p:.4} | {} | {} | {} | {} | {} |",
        pair(rate, 0),
        pair(both(|run| run.packets), 0),
        pair(both(|run| run.read), 1),
        pair(both(|run| run.out), 1),
        pair(both(|run| run.allocations), 2),
        before.len(),
    );
    (change, p)
}
