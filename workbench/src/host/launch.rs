//! The environment and the start of a plugin process, as Grafana does both since 12.4.

use std::path::{Path, PathBuf};
use std::process::Stdio;
use std::time::Duration;

use tokio::io::{AsyncBufReadExt as _, BufReader, Lines};
use tokio::process::{Child, ChildStdout, Command};

use super::context::GRAFANA_VERSION;
use super::handshake::{self, APP_PROTOCOL, HandshakeError};
use super::log::{Log, OnLine};

/// How a plugin is started.
#[derive(Clone, Default)]
pub struct Options {
    /// Added to the environment: what `[plugin.<id>]` and `forward_host_env_vars` give a plugin.
    pub env: Vec<(String, String)>,
    /// `PLUGIN_UNIX_SOCKET_DIR`, where set.
    pub socket_dir: Option<PathBuf>,
    /// Called for each log line.
    pub on_log: Option<OnLine>,
}

/// Why a plugin did not start.
#[derive(Debug)]
pub enum StartError {
    /// The file cannot be run.
    Spawn(PathBuf, std::io::Error),
    /// It ended, or closed its output, before it said where it listens.
    Ended { log: String },
    /// It said nothing in time.
    Silent(Duration),
    /// It said something else.
    Handshake(HandshakeError),
    /// Its socket does not answer.
    Connect(PathBuf, String),
    /// Its health service does not say SERVING for `plugin`.
    Unhealthy(String),
}

impl std::fmt::Display for StartError {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            StartError::Spawn(path, error) => write!(f, "cannot run {}: {error}", path.display()),
            StartError::Ended { log } => {
                write!(f, "the plugin ended before its handshake; it wrote: {log}")
            }
            StartError::Silent(after) => write!(f, "no handshake within {after:?}"),
            StartError::Handshake(error) => write!(f, "{error}"),
            StartError::Connect(path, error) => {
                write!(f, "cannot connect to {}: {error}", path.display())
            }
            StartError::Unhealthy(error) => {
                write!(
                    f,
                    "expected the health service to serve \"plugin\": {error}"
                )
            }
        }
    }
}

impl std::error::Error for StartError {}

/// A process that has said where it listens.
pub(super) struct Launched {
    pub(super) child: Child,
    pub(super) socket: PathBuf,
    pub(super) stdout: Lines<BufReader<ChildStdout>>,
}

/// Starts the process, forwards its log, and waits for its handshake.
pub(super) async fn launch(
    binary: &Path,
    options: &Options,
    log: &Log,
) -> Result<Launched, StartError> {
    let mut child = Command::new(binary)
        .env_clear()
        .envs(environment(options, std::env::vars()))
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .kill_on_drop(true)
        .spawn()
        .map_err(|error| StartError::Spawn(binary.into(), error))?;
    let mut stdout = BufReader::new(child.stdout.take().expect("stdout is piped")).lines();
    let mut stderr = BufReader::new(child.stderr.take().expect("stderr is piped"));
    let forward = tokio::spawn({
        let log = log.clone();
        async move {
            let mut line = Vec::new();
            while stderr
                .read_until(b'\n', &mut line)
                .await
                .is_ok_and(|read| read > 0)
            {
                log.take(String::from_utf8_lossy(&line).trim_end());
                line.clear();
            }
        }
    });
    let line = match tokio::time::timeout(HANDSHAKE_TIMEOUT, stdout.next_line()).await {
        Err(_) => return Err(StartError::Silent(HANDSHAKE_TIMEOUT)),
        Ok(Ok(Some(line))) => line,
        Ok(Ok(None) | Err(_)) => {
            // The reason is in the log, which ends with the process.
            let _ = tokio::time::timeout(Duration::from_secs(2), forward).await;
            let lines: Vec<String> = log.lines().iter().map(ToString::to_string).collect();
            return Err(StartError::Ended {
                log: lines.join("\n"),
            });
        }
    };
    let socket = handshake::parse(&line).map_err(StartError::Handshake)?;
    Ok(Launched {
        child,
        socket,
        stdout,
    })
}

/// Builds a plugin's environment: go-plugin's variables, the server's own, and those few of the
/// host that Grafana lets through.
fn environment(
    options: &Options,
    host: impl Iterator<Item = (String, String)>,
) -> Vec<(String, String)> {
    let mut env: Vec<(String, String)> = host.filter(|(name, _)| passes(name)).collect();
    let own = [
        ("grafana_plugin_type", "datasource"),
        ("PLUGIN_MIN_PORT", "10000"),
        ("PLUGIN_MAX_PORT", "25000"),
        ("PLUGIN_PROTOCOL_VERSIONS", APP_PROTOCOL),
        ("GF_VERSION", GRAFANA_VERSION),
        ("GF_EDITION", "Open Source"),
    ];
    env.extend(own.map(|(name, value)| (name.into(), value.into())));
    if let Some(dir) = &options.socket_dir {
        env.push((
            "PLUGIN_UNIX_SOCKET_DIR".into(),
            dir.to_string_lossy().into_owned(),
        ));
    }
    env.extend(options.env.iter().cloned());
    env
}

fn passes(name: &str) -> bool {
    name.starts_with("GF_")
        || ["HTTP_PROXY", "HTTPS_PROXY", "NO_PROXY"].contains(&name.to_uppercase().as_str())
        || ["PLUGIN_UNIX_SOCKET_DIR", "SSL_CERT_FILE", "SSL_CERT_DIR"].contains(&name)
}

/// go-plugin's start timeout.
const HANDSHAKE_TIMEOUT: Duration = Duration::from_mins(1);

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_what_grafana_passes() {
        let host = [
            ("PATH", "/bin"),
            ("RUST_LOG", "trace"),
            ("GF_PLUGIN_KAFKA_DS_PERF_X", "1"),
            ("https_proxy", "p"),
            ("SSL_CERT_FILE", "c"),
            ("KRB5_CONFIG", "k"),
        ];
        let options = Options {
            env: vec![("EXTRA".into(), "1".into())],
            socket_dir: Some("/run/x".into()),
            on_log: None,
        };
        let host = host
            .into_iter()
            .map(|(name, value)| (name.into(), value.into()));
        let names: Vec<String> = environment(&options, host)
            .into_iter()
            .map(|(name, _)| name)
            .collect();
        for (name, expected) in [
            ("PATH", false),
            ("RUST_LOG", false),
            ("KRB5_CONFIG", false),
            ("GF_PLUGIN_KAFKA_DS_PERF_X", true),
            ("https_proxy", true),
            ("SSL_CERT_FILE", true),
            ("grafana_plugin_type", true),
            ("PLUGIN_PROTOCOL_VERSIONS", true),
            ("PLUGIN_UNIX_SOCKET_DIR", true),
            ("EXTRA", true),
        ] {
            assert_eq!(names.iter().any(|have| have == name), expected, "{name}");
        }
    }
}
