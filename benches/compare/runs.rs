//! Runs of `sample`, which measures one fixture in a process of its own, in alternation.

use std::env;
use std::process::Command;

use serde_json::Value;
use statrs::statistics::{Data, OrderStatistics};

pub(crate) const SINKS: [&str; 2] = ["noop", "sendframe_json"];

/// Is one program, who in it is measured, and its performance flags.
pub(crate) struct Side<'a> {
    sample: &'a str,
    who: &'static str,
    flags: Vec<&'a str>,
}

/// Is what one run counted, a second or a record.
pub(crate) struct Run {
    /// Records a second.
    pub(crate) records: f64,
    /// Packets a second.
    pub(crate) packets: f64,
    /// MB of records a second.
    pub(crate) read: f64,
    /// MB of packets a second.
    pub(crate) out: f64,
    /// Allocations a record.
    pub(crate) allocations: f64,
    /// Bytes allocated a record.
    pub(crate) allocated: f64,
}

/// Is how much is measured: `RUNS`, `MILLISECONDS` a run and `CASE`, with which fixtures' names begin, from the environment.
pub(crate) struct Effort {
    runs: usize,
    milliseconds: usize,
    case: String,
}

impl Effort {
    /// Reads the environment; no less than `least` runs.
    pub(crate) fn from_env(least: usize) -> Self {
        Self {
            runs: number("RUNS", 10).max(least),
            milliseconds: number("MILLISECONDS", 200),
            case: env::var("CASE").unwrap_or_default(),
        }
    }

    pub(crate) fn covers(&self, fixture: &str) -> bool {
        fixture.starts_with(&self.case)
    }

    /// Runs the sides in turn, and gives the runs of each; who is first changes from run to run, too.
    pub(crate) fn alternate<const N: usize>(
        &self,
        sides: [&Side<'_>; N],
        fixture: &str,
        sink: &str,
    ) -> [Vec<Run>; N] {
        let mut done = [const { vec![] }; N];
        for run in 0..self.runs {
            for side in (0..N).map(|place| (run + place) % N) {
                done[side].push(sides[side].run(fixture, sink, self.milliseconds));
            }
        }
        done
    }
}

impl<'a> Side<'a> {
    pub(crate) fn core(sample: &'a str) -> Self {
        Self::with_flags(sample, vec![])
    }

    pub(crate) fn with_flags(sample: &'a str, flags: Vec<&'a str>) -> Self {
        Self {
            sample,
            who: "core",
            flags,
        }
    }

    pub(crate) fn twin(sample: &'a str) -> Self {
        Self {
            sample,
            who: "twin",
            flags: vec![],
        }
    }

    /// Names the fixtures that the program knows.
    pub(crate) fn names(&self) -> Vec<String> {
        let output = Command::new(self.sample).arg("names").output();
        let output = output.expect("the sample program can be started");
        String::from_utf8_lossy(&output.stdout)
            .lines()
            .map(str::to_owned)
            .collect()
    }

    /// Runs a fixture for some time.
    fn run(&self, fixture: &str, sink: &str, milliseconds: usize) -> Run {
        let mut command = Command::new(self.sample);
        command.args([self.who, fixture, sink, &milliseconds.to_string()]);
        for flag in &self.flags {
            command.env(format!("KAFKA_DS_PERF_{flag}"), "true");
        }
        let output = command.output().expect("the sample program can be started");
        let counts: Value = serde_json::from_slice(&output.stdout).unwrap_or_else(|_| {
            let said = String::from_utf8_lossy(&output.stderr);
            panic!("{fixture} {sink}: {said}")
        });
        let count = |name: &str| counts[name].as_f64().expect("a number");
        let (seconds, records) = (count("seconds"), count("records"));
        Run {
            records: records / seconds,
            packets: count("packets") / seconds,
            read: count("in") / seconds / 1e6,
            out: count("out") / seconds / 1e6,
            allocations: count("allocations") / records,
            allocated: count("allocated") / records,
        }
    }
}

/// Gives the median of something over runs.
pub(crate) fn median(runs: &[Run], what: fn(&Run) -> f64) -> f64 {
    Data::new(runs.iter().map(what).collect::<Vec<f64>>()).median()
}

fn number(name: &str, default: usize) -> usize {
    env::var(name)
        .ok()
        .and_then(|text| text.parse().ok())
        .unwrap_or(default)
}
