//! What tests need and no test makes: fetched once, kept in the user's cache.

use std::io::ErrorKind;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::{env, fs};

use anyhow::{Context, Result, bail, ensure};

/// Returns the folder `name` of the project's cache; where there is none, `fill` makes its content in the folder it is given.
///
/// Two test processes may fill at once: each does so in a folder of its own, and the first one's stays.
pub fn kept(name: &str, fill: impl FnOnce(&Path) -> Result<()>) -> Result<PathBuf> {
    let cache = match env::var_os("XDG_CACHE_HOME") {
        Some(folder) => PathBuf::from(folder),
        None => PathBuf::from(
            env::var_os("HOME").with_context(|| format!("HOME is not set: no place for {name}"))?,
        )
        .join(".cache"),
    };
    let folder = cache.join("streamscope");
    let kept = folder.join(name);
    if kept.is_dir() {
        return Ok(kept);
    }
    fs::create_dir_all(&folder)?;
    let fresh = tempfile::tempdir_in(&folder)?;
    fill(fresh.path())?;
    match fs::rename(fresh.path(), &kept) {
        Err(error) if !kept.is_dir() => Err(error).with_context(|| format!("keeping {name}")),
        _ => Ok(kept),
    }
}

/// Runs a Maven goal on this `pom.xml` in `folder`; `what` is said where it fails.
pub(crate) fn maven(folder: &Path, pom: &str, goal: &[&str], what: &str) -> Result<()> {
    fs::write(folder.join("pom.xml"), pom)?;
    let output = Command::new("mvn")
        .args(["--batch-mode", "--quiet", "--no-transfer-progress"])
        .args(goal)
        .current_dir(folder)
        .output();
    let output = match output {
        Err(error) if error.kind() == ErrorKind::NotFound => bail!(
            "the tests against a real Kafka need Maven (`mvn`) once, to fetch {what}: \
             apt-get install maven, brew install maven, or https://maven.apache.org/install.html"
        ),
        other => other.context("running mvn")?,
    };
    ensure!(
        output.status.success(),
        "mvn could not fetch {what}:\n{}{}",
        String::from_utf8_lossy(&output.stdout),
        String::from_utf8_lossy(&output.stderr)
    );
    Ok(())
}
