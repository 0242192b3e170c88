//! What a process has used, from `/proc`.

use std::fs;
use std::time::{Duration, Instant};

use anyhow::{Context, Result};

use crate::median;

/// What a process did while it was watched.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Measured {
    records: u64,
    took: Duration,
    cpu: Duration,
    /// Memory in bytes: its peak since the process began, and at the end.
    memory: (u64, u64),
}

impl Measured {
    /// The columns of `cells`, and how they stand.
    pub(crate) const HEAD: [&str; 2] = [
        "records a second | CPU a record | memory | at peak |",
        "--:|--:|--:|--:|",
    ];

    /// Gives the medians of some rounds as a table's cells.
    pub(crate) fn cells(rounds: &[Self]) -> String {
        let of = |what: fn(&Self) -> f64| median(rounds.iter().map(what));
        let rate = of(|m| m.records as f64 / m.took.as_secs_f64());
        let cpu = of(|m| m.cpu.as_secs_f64() * 1e6 / m.records as f64);
        let mebibytes = |bytes: f64| bytes / f64::from(1 << 20);
        let now = mebibytes(of(|m| m.memory.1 as f64));
        let peak = mebibytes(of(|m| m.memory.0 as f64));
        format!("{rate:.0} | {cpu:.2} µs | {now:.0} MiB | {peak:.0} MiB")
    }
}

/// Is a process that is watched from now on.
pub(crate) struct Watch {
    pid: u32,
    cpu: Duration,
    begin: Instant,
}

impl Watch {
    pub(crate) fn start(pid: u32) -> Result<Self> {
        Ok(Self {
            pid,
            cpu: cpu(pid)?,
            begin: Instant::now(),
        })
    }

    /// Tells how long the process has been watched.
    pub(crate) fn elapsed(&self) -> Duration {
        self.begin.elapsed()
    }

    /// Says what the process used for `records` of all its readers together. None of their threads has ended meanwhile.
    pub(crate) fn end(self, records: u64) -> Result<Measured> {
        Ok(Measured {
            records,
            took: self.elapsed(),
            cpu: cpu(self.pid)?.saturating_sub(self.cpu),
            memory: memory(self.pid)?,
        })
    }
}

/// Returns the CPU time that a process's threads have used, user and system; those that ended are not counted.
///
/// The scheduler's own count in nanoseconds: the hundredths of a second in `/proc/PID/stat` are samples, and miss a
/// thread that only ever runs for a moment.
pub(crate) fn cpu(pid: u32) -> Result<Duration> {
    let mut cpu = Duration::ZERO;
    for thread in fs::read_dir(format!("/proc/{pid}/task"))? {
        // A thread may end meanwhile.
        if let Ok(stat) = fs::read_to_string(thread?.path().join("schedstat")) {
            let running = stat.split_whitespace().next().context("no time")?;
            cpu += Duration::from_nanos(running.parse()?);
        }
    }
    Ok(cpu)
}

/// Returns a process's memory in bytes: its peak, and now.
pub(crate) fn memory(pid: u32) -> Result<(u64, u64)> {
    let status = fs::read_to_string(format!("/proc/{pid}/status"))?;
    let field = |name: &str| -> Result<u64> {
        let line = status
            .lines()
            .find_map(|line| line.strip_prefix(name))
            .context("no such line")?;
        Ok(line.trim().trim_end_matches(" kB").parse::<u64>()? * 1024)
    };
    Ok((field("VmHWM:")?, field("VmRSS:")?))
}
