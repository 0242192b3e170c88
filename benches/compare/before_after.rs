//! Before and after, in alternation: each performance flag against the default, or one commit against another. A p-value is
//! that of a two-sided Mann-Whitney U test over the runs, which asks nothing of how they are distributed, by the normal
//! approximation: statrs 0.19 gives the complement of the exact one where both sides have as many runs.

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
    });
    let all = Comparison {
        title: "all flags (before) against the default (after)".to_owned(),
        before: Side::with_flags(sample, FLAGS.iter().map(|flag| flag.0).collect()),
        after: Side::core(sample),
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

impl Comparison<'_> {
    fn run(&self, effort: &Effort) {
        let (before, after) = (self.before.names(), self.after.names());
        let both = before.iter().filter(|name| after.contains(name));
        println!("\n## {}\n", self.title);
        println!(
            "| fixture | sink | msg/s before | after | change | p | packets/s before | after | in MB/s before | after | out MB/s before | after | allocations a record before | after | runs |"
        );
        println!("|---|---|--:|--:|--:|--:|--:|--:|--:|--:|--:|--:|--:|--:|--:|");
        let mut moved = Vec::new();
        for fixture in both.filter(|name| effort.covers(name)) {
            for sink in SINKS {
                let [before, after] = effort.alternate([&self.before, &self.after], fixture, sink);
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

/// Prints a row of medians, and gives the change of the rate in percent and its p-value.
fn print(fixture: &str, sink: &str, control: bool, before: &[Run], after: &[Run]) -> (f64, f64) {
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
