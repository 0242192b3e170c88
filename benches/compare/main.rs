//! What `sample` measures, as tables.
//!
//! `compare matrix <sample> <parse>`: every fixture and sink beside the plain twin, and beside the Go plugin, of JSON also without
//! what `parse` takes;
//! `compare check <sample>`: fails where the core is not as many times the twin as it has to be;
//! `compare flags <sample>`: each performance flag against the default;
//! `compare commits <sample of the old one> <sample of the new one>`.
//!
//! `RUNS`, `CASE` (all fixtures whose names begin so) and `MILLISECONDS` a run from the environment.

mod before_after;
mod matrix;
mod runs;

use std::env;
use std::process::ExitCode;

use crate::runs::Effort;

fn main() -> ExitCode {
    let arguments: Vec<String> = env::args().skip(1).collect();
    let arguments: Vec<&str> = arguments.iter().map(String::as_str).collect();
    // With fewer runs than eight the p-values are no approximation.
    let (few, many) = (Effort::from_env(1), Effort::from_env(8));
    match arguments[..] {
        ["matrix", sample, parse] => matrix::print(sample, parse, &few),
        ["check", sample] => return matrix::check(sample, &few),
        ["flags", sample] => before_after::flags(sample, &many),
        ["commits", old, new] => before_after::commits(old, new, &many),
        _ => {
            eprintln!(
                "usage: compare matrix <sample> <parse>, compare check|flags <sample>, compare commits <old sample> <new sample>"
            );
            return ExitCode::from(2);
        }
    }
    ExitCode::SUCCESS
}
