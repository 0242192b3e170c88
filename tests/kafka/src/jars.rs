//! The broker's jars: fetched once by Maven, kept in the user's cache.

use std::io::ErrorKind;
use std::path::PathBuf;
use std::process::Command;
use std::{env, fs};

use anyhow::{Context, Result, bail, ensure};

/// As in `pom.xml`; names the cache folder.
pub const KAFKA_VERSION: &str = "4.3.1";

const POM: &str = include_str!("../pom.xml");

/// Returns the folder with the jars, after fetching them (45 MB) where the cache has none.
pub(crate) fn folder() -> Result<PathBuf> {
    let cache = match env::var_os("XDG_CACHE_HOME") {
        Some(folder) => PathBuf::from(folder),
        None => PathBuf::from(
            env::var_os("HOME").context("HOME is not set: no place for Kafka's jars")?,
        )
        .join(".cache"),
    };
    let jars = cache
        .join("streamscope")
        .join(format!("kafka-{KAFKA_VERSION}"));
    if jars.is_dir() {
        return Ok(jars);
    }
    eprintln!(
        "fetching Apache Kafka {KAFKA_VERSION} with Maven into {}",
        jars.display()
    );
    let parent = jars.parent().context("a cache folder has a parent")?;
    fs::create_dir_all(parent)?;
    // Two test processes may fetch at once: each in a folder of its own, and the first one's stays.
    let fresh = tempfile::tempdir_in(parent)?;
    fs::write(fresh.path().join("pom.xml"), POM)?;
    let output = Command::new("mvn")
        .args([
            "--batch-mode",
            "--quiet",
            "--no-transfer-progress",
            "dependency:copy-dependencies",
        ])
        .args(["-DincludeScope=runtime", "-DoutputDirectory=jars"])
        .current_dir(fresh.path())
        .output();
    let output = match output {
        Err(error) if error.kind() == ErrorKind::NotFound => bail!(
            "the tests against a real Kafka need Maven (`mvn`) once, to fetch the broker's jars: \
             apt-get install maven, brew install maven, or https://maven.apache.org/install.html"
        ),
        other => other.context("running mvn")?,
    };
    ensure!(
        output.status.success(),
        "mvn could not fetch Kafka {KAFKA_VERSION}:\n{}{}",
        String::from_utf8_lossy(&output.stdout),
        String::from_utf8_lossy(&output.stderr)
    );
    match fs::rename(fresh.path().join("jars"), &jars) {
        Err(error) if !jars.is_dir() => Err(error).context("keeping the jars"),
        _ => Ok(jars),
    }
}
