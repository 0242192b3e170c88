//! What a process has used, from `/proc`.

use std::fs;
use std::time::Duration;

use anyhow::{Context, Result};

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
