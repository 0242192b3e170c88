//! A schema registry: Apicurio, with its own API and Confluent's.

use std::env;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::OnceLock;

use anyhow::{Context, Result};

use crate::cache;
use crate::supervised::{Supervised, wait_for};

/// As in `registry.pom.xml`; names the cache folder.
const REGISTRY_VERSION: &str = "3.3.3";
const POM: &str = include_str!("../registry.pom.xml");
/// What the registry is compiled for.
const JAVA: u32 = 21;

/// A running registry, empty at its start and kept in memory. It stops when this is dropped, and when the process ends.
pub struct Registry {
    url: String,
    process: Option<Supervised>,
}

impl Registry {
    /// Starts a registry of one's own: takes about 5 s.
    pub fn start() -> Result<Registry> {
        let program = folder()?.join("app");
        let folder = tempfile::Builder::new()
            .prefix("streamscope-registry-")
            .tempdir()?
            .keep();
        let log = folder.join("registry.log");
        let mut command = vec![java()?.display().to_string()];
        command.extend(
            [
                "-Xmx384m",
                "-XX:+UseSerialGC",
                "-XX:TieredStopAtLevel=1",
                "-Dquarkus.http.host=127.0.0.1",
                "-Dquarkus.http.port=0",
                "-Dquarkus.management.host=127.0.0.1",
                "-Dquarkus.management.port=0",
                "-jar",
            ]
            .map(str::to_owned),
        );
        command.push(program.join("quarkus-run.jar").display().to_string());
        let process = Supervised::start(&folder, &log, &command)?;
        let url = wait_for(
            "the schema registry",
            &log,
            &["Failed to start application"],
            listening,
        )?;
        Ok(Registry {
            url,
            process: Some(process),
        })
    }

    /// Returns the registry that the tests of this process share. Use subject names of your own in it.
    ///
    /// # Panics
    /// When it does not start; the text says why.
    pub fn shared() -> &'static Registry {
        static SHARED: OnceLock<Registry> = OnceLock::new();
        SHARED.get_or_init(|| match Registry::start() {
            Ok(registry) => registry,
            Err(error) => panic!("{error:#}"),
        })
    }

    /// Returns the address of Confluent's API, version 7.
    pub fn confluent(&self) -> String {
        format!("{}/apis/ccompat/v7", self.url)
    }

    /// Returns the address of Apicurio's own API, version 3.
    pub fn apicurio(&self) -> String {
        format!("{}/apis/registry/v3", self.url)
    }

    /// Stops the registry; its address answers no more.
    pub fn stop(&mut self) {
        self.process = None;
    }
}

fn folder() -> Result<PathBuf> {
    let name = format!("apicurio-registry-{REGISTRY_VERSION}");
    cache::kept(&name, |folder| {
        eprintln!("fetching Apicurio Registry {REGISTRY_VERSION} with Maven");
        let goal = ["dependency:unpack-dependencies", "-DoutputDirectory=app"];
        cache::maven(folder, POM, &goal, "the schema registry")
    })
}

/// Finds the address in the line that a registry says once it is ready.
fn listening(log: &str) -> Option<String> {
    let (_, rest) = log.split_once("Listening on: ")?;
    let (url, _) = rest.split_once(". ")?;
    Some(url.to_owned())
}

/// Finds a Java that is new enough: `JAVA_HOME`'s, the path's, or one beside them where systems keep them.
fn java() -> Result<PathBuf> {
    let home = env::var_os("JAVA_HOME").map(|home| PathBuf::from(home).join("bin/java"));
    let beside = ["/usr/lib/jvm", "/Library/Java/JavaVirtualMachines"]
        .into_iter()
        .filter_map(|folder| Path::new(folder).read_dir().ok())
        .flat_map(Iterator::flatten)
        .flat_map(|entry| {
            ["bin/java", "Contents/Home/bin/java"].map(|java| entry.path().join(java))
        });
    home.into_iter()
        .chain([PathBuf::from("java")])
        .chain(beside)
        .find(|java| version(java).is_some_and(|version| version >= JAVA))
        .with_context(|| {
            format!(
                "the tests' schema registry needs Java {JAVA} or later: apt-get install openjdk-{JAVA}-jre-headless, \
                 brew install openjdk, or https://adoptium.net"
            )
        })
}

/// Asks a Java for its version: `openjdk version "25.0.1" …`.
fn version(java: &Path) -> Option<u32> {
    let output = Command::new(java).arg("-version").output().ok()?;
    let text = String::from_utf8_lossy(&output.stderr).into_owned();
    let (_, quoted) = text.split_once('"')?;
    let digits = quoted.split(|c: char| !c.is_ascii_digit()).next()?;
    digits.parse().ok()
}

#[cfg(test)]
mod tests {
    use super::listening;

    #[test]
    fn the_address_is_found() {
        for (log, url) in [
            (
                "started in 3.6s. Listening on: http://127.0.0.1:461. Management interface listening on http://127.0.0.1:4.",
                Some("http://127.0.0.1:461"),
            ),
            ("started in 3.6s. Listening on: http://127.0.0.1:4", None),
            ("", None),
        ] {
            assert_eq!(listening(log).as_deref(), url, "{log}");
        }
    }
}
