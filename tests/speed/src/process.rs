//! What a process has used, from `/proc`.

use std::fs;
use std::time::Duration;

use anyhow::{Context, Result};

/// A clock tick: Linux counts processes' CPU in hundredths of a second on every architecture that Rust supports.
const TICK: Duration = Duration::from_millis(10);

/// Returns the CPU time that a process has used, user and system.
pub(crate) fn cpu(pid: u32) -> Result<Duration> {
    let stat = fs::read_to_string(format!("/proc/{pid}/stat"))?;
    // The second field is the command in parentheses, and may hold anything.
    let (_, fields) = stat.rsplit_once(')').context("no command")?;
    let ticks = fields
        .split_whitespace()
        .skip(11)
        .take(2)
        .map(str::parse::<u32>);
    Ok(TICK * ticks.sum::<Result<u32, _>>()?)
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
