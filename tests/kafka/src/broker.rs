//! Starting, killing and restarting the broker.

use std::fs;
use std::io::ErrorKind;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::{Mutex, OnceLock, PoisonError};

use anyhow::{Context, Result, bail, ensure};

use crate::listener::{Listener, Ports};
use crate::supervised::{Supervised, wait_for};
use crate::{certificates, jars};

const PROPERTIES: &str = include_str!("../server.properties");
const LOGGING: &str = include_str!("../log4j2.properties");

/// A running Apache Kafka broker: a cluster of its own, or a second node (`join`).
///
/// It stops when this is dropped, and when the process ends in any other way.
pub struct Kafka {
    folder: PathBuf,
    ports: Ports,
    process: Mutex<Option<Supervised>>,
}

impl Kafka {
    /// Starts a broker of one's own: to kill it, or where nothing else may be there. Takes about 8 s.
    pub fn start() -> Result<Kafka> {
        let ports = Ports::find()?;
        Kafka::start_node(ports, 1, ports.controller())
    }

    /// Starts a second broker, node 2, in the cluster of this one, which stays its only controller.
    pub fn join(&self) -> Result<Kafka> {
        Kafka::start_node(Ports::find()?, 2, self.ports.controller())
    }

    fn start_node(ports: Ports, node: i32, controller: u16) -> Result<Kafka> {
        let folder = tempfile::Builder::new()
            .prefix("streamscope-kafka-")
            .tempdir()?
            .keep();
        let kafka = Kafka {
            folder,
            ports,
            process: Mutex::new(None),
        };
        certificates::write(&kafka.folder)?;
        fs::write(kafka.file("log4j2.properties"), LOGGING)?;
        let properties = ports.properties(&kafka.folder, node, controller);
        fs::write(kafka.file("server.properties"), properties + PROPERTIES)?;
        kafka.format(controller == ports.controller())?;
        kafka.restart()?;
        Ok(kafka)
    }

    /// Returns the broker that the tests of this process share. Use topic names of your own in it.
    ///
    /// # Panics
    /// When it does not start; the text says why.
    pub fn shared() -> &'static Kafka {
        static SHARED: OnceLock<Kafka> = OnceLock::new();
        SHARED.get_or_init(|| match Kafka::start() {
            Ok(kafka) => kafka,
            Err(error) => panic!("{error:#}"),
        })
    }

    /// Returns `127.0.0.1:port` of a listener.
    pub fn address(&self, listener: Listener) -> String {
        format!("127.0.0.1:{}", self.ports.of(listener))
    }

    /// Returns the address of the plaintext listener.
    pub fn bootstrap(&self) -> String {
        self.address(Listener::Plaintext)
    }

    /// Returns the text of a certificate or key: `ca.crt`, `other-ca.crt`, `client.crt`, `client.key`,
    /// `stranger.crt`, `stranger.key`.
    pub fn pem(&self, name: &str) -> String {
        fs::read_to_string(self.file(name)).unwrap_or_else(|error| panic!("{name}: {error}"))
    }

    /// Kills the broker as a power cut would (SIGKILL). Its data and ports stay for `restart`.
    pub fn kill(&self) -> Result<()> {
        self.end("KILL")
    }

    /// Stops the broker in order (SIGTERM). Its data and ports stay for `restart`.
    pub fn stop(&self) -> Result<()> {
        self.end("TERM")
    }

    /// Starts the broker again, with its data, and waits until it is ready: about 6 s.
    pub fn restart(&self) -> Result<()> {
        let log = self.file("kafka.log");
        let mut command = java(&self.folder, "256m")?;
        command.push("kafka.Kafka".to_owned());
        command.push(self.file("server.properties").display().to_string());
        *self.lock() = Some(Supervised::start(&self.folder, &log, &command)?);
        wait_for("Kafka", &log, &["fatal exception"], |text| {
            text.contains("Kafka Server started").then_some(())
        })
    }

    fn end(&self, signal: &str) -> Result<()> {
        let process = self.lock().take().context("the broker is not running")?;
        process.end(signal)
    }

    fn format(&self, first: bool) -> Result<()> {
        let command = java(&self.folder, "128m")?;
        let mut format = Command::new(&command[0]);
        format
            .args(&command[1..])
            .args(["kafka.tools.StorageTool", "format"]);
        format
            .args(["--cluster-id", "c3RyZWFtc2NvcGV0ZXN0cw", "--config"])
            .arg(self.file("server.properties"));
        if first {
            format.arg("--standalone");
            for user in ["admin", "alice"] {
                for mechanism in ["SCRAM-SHA-256", "SCRAM-SHA-512"] {
                    let scram = format!("{mechanism}=[name={user},password={user}-secret]");
                    format.args(["--add-scram", &scram]);
                }
            }
        }
        let output = match format.output() {
            Err(error) if error.kind() == ErrorKind::NotFound => bail!(
                "the tests against a real Kafka need Java 17 or later (`java`): \
                 apt-get install default-jre-headless, brew install openjdk, or https://adoptium.net"
            ),
            other => other.context("running java")?,
        };
        ensure!(
            output.status.success(),
            "Kafka's storage tool failed:\n{}{}",
            String::from_utf8_lossy(&output.stdout),
            String::from_utf8_lossy(&output.stderr)
        );
        Ok(())
    }

    fn file(&self, name: &str) -> PathBuf {
        self.folder.join(name)
    }

    fn lock(&self) -> std::sync::MutexGuard<'_, Option<Supervised>> {
        self.process.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Drop for Kafka {
    fn drop(&mut self) {
        drop(self.lock().take());
        // Nothing is left to tell a failure to.
        let _ = fs::remove_dir_all(&self.folder);
    }
}

/// Returns the command line up to the class name.
fn java(folder: &Path, heap: &str) -> Result<Vec<String>> {
    let (jars, folder) = (jars::folder()?, folder.display());
    Ok(vec![
        "java".to_owned(),
        format!("-Xmx{heap}"),
        "-XX:+UseSerialGC".to_owned(),
        "-XX:TieredStopAtLevel=1".to_owned(),
        "-Djava.awt.headless=true".to_owned(),
        format!("-Dlog4j2.configurationFile={folder}/log4j2.properties"),
        "-cp".to_owned(),
        format!("{}/*", jars.display()),
    ])
}
