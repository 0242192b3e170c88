//! A process of the tests that cannot outlive them.

use std::fs;
use std::io::Write;
use std::os::unix::process::CommandExt;
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::thread;
use std::time::{Duration, Instant};

use anyhow::{Context, Result, bail};

const SUPERVISE: &str = include_str!("supervise.sh");
const PATIENCE: Duration = Duration::from_mins(2);

/// A running process with a folder, which goes with it unless it is ended by a signal.
pub(crate) struct Supervised(Child);

impl Supervised {
    /// Starts the command; what it says goes to `log`, which is emptied first.
    pub(crate) fn start(folder: &Path, log: &Path, command: &[String]) -> Result<Supervised> {
        fs::write(log, "")?;
        let mut shell = Command::new("sh");
        shell.args(["-c", SUPERVISE, "supervise"]);
        shell.arg(folder).arg(log).args(command);
        // In a group of its own: an interrupt at the keyboard ends the tests, and they end the process.
        shell
            .stdin(Stdio::piped())
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .process_group(0);
        Ok(Supervised(shell.spawn().context("starting a shell")?))
    }

    /// Ends the process with a signal; its folder stays.
    pub(crate) fn end(mut self, signal: &str) -> Result<()> {
        let mut stdin = (self.0.stdin.take()).context("the supervisor has a standard input")?;
        writeln!(stdin, "{signal}")?;
        self.0.wait()?;
        Ok(())
    }
}

impl Drop for Supervised {
    fn drop(&mut self) {
        drop(self.0.stdin.take());
        // Nothing is left to tell a failure to.
        let _ = self.0.wait();
    }
}

/// Reads a log until `ready` finds in it what it looks for; an error with the log's end where one of `dead` comes, or nothing.
pub(crate) fn wait_for<T>(
    what: &str,
    log: &Path,
    dead: &[&str],
    ready: impl Fn(&str) -> Option<T>,
) -> Result<T> {
    let start = Instant::now();
    loop {
        let text = fs::read_to_string(log)?;
        if let Some(found) = ready(&text) {
            return Ok(found);
        }
        let java = [
            "Could not create the Java Virtual Machine",
            "UnsupportedClassVersionError",
        ];
        let mut dead = dead.iter().chain(&java);
        if start.elapsed() > PATIENCE || dead.any(|sign| text.contains(sign)) {
            let tail = text.len() - text.len().min(4_000);
            bail!(
                "{what} does not start:\n{}",
                text.get(tail..).unwrap_or(&text)
            );
        }
        thread::sleep(Duration::from_millis(50));
    }
}
