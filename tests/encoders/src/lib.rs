//! Records as the field's own serializers write them: Confluent's Python client with Avro, Protobuf and JSON Schema, fastavro,
//! the Influx client, and protoc.
//!
//! A script in `python/` holds the schemas and the values of its format, a function a case; `write` runs one of them, which
//! registers its schemas and produces into a topic. What the plugin must show of it stands in the test.
//!
//! It needs `python3` (3.10 or later) with `venv`, and Python's package index once.

use std::hash::{DefaultHasher, Hash, Hasher};
use std::io::ErrorKind;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};
use std::sync::OnceLock;

use anyhow::{Context, Result, bail, ensure};
use real_kafka::{Kafka, Registry, cache};

const REQUIREMENTS: &str = include_str!("../requirements.txt");

/// Runs the case `case` of `python/write_<format>.py`: it writes into `topic` of the shared broker, with the schemas in the shared
/// registry. Returns what it printed.
pub fn write(format: &str, case: &str, topic: &str) -> Result<String> {
    let script = Path::new(env!("CARGO_MANIFEST_DIR")).join(format!("python/write_{format}.py"));
    let mut command = Command::new(python()?);
    command.arg(script).args([case, topic]);
    command
        .env("STREAMSCOPE_KAFKA", Kafka::shared().bootstrap())
        .env("STREAMSCOPE_REGISTRY", Registry::shared().confluent())
        .env("STREAMSCOPE_APICURIO", Registry::shared().apicurio());
    said(&format!("{format}, {case}"), &run(&mut command)?)
}

/// Returns the Python that has the packages of `requirements.txt`, after installing them where the cache has none.
fn python() -> Result<PathBuf> {
    static PYTHON: OnceLock<PathBuf> = OnceLock::new();
    if let Some(python) = PYTHON.get() {
        return Ok(python.clone());
    }
    // Another list of packages is another folder: std's hasher of a text is the same in each process.
    let mut hasher = DefaultHasher::new();
    REQUIREMENTS.hash(&mut hasher);
    let name = format!("encoders-{:016x}", hasher.finish());
    let folder = cache::kept(&name, install)?;
    Ok(PYTHON.get_or_init(|| folder.join("bin/python")).clone())
}

/// Makes a virtual environment with the packages. It is moved afterwards, which its `bin/python` does not mind.
fn install(folder: &Path) -> Result<()> {
    eprintln!("installing the Python packages of tests/encoders/requirements.txt");
    let mut venv = Command::new("python3");
    venv.args(["-m", "venv"]).arg(folder);
    said("making a virtual environment", &run(&mut venv)?)?;
    let list = folder.join("requirements.txt");
    std::fs::write(&list, REQUIREMENTS)?;
    let mut pip = Command::new(folder.join("bin/python"));
    pip.args([
        "-m",
        "pip",
        "install",
        "--quiet",
        "--disable-pip-version-check",
    ]);
    pip.arg("--requirement").arg(list);
    said("installing the packages", &run(&mut pip)?)?;
    Ok(())
}

fn run(command: &mut Command) -> Result<Output> {
    match command.output() {
        Err(error) if error.kind() == ErrorKind::NotFound => bail!(
            "the tests with other encoders need Python 3.10 or later with venv: apt-get install python3-venv, \
             or https://www.python.org/downloads"
        ),
        other => other.context("running python3"),
    }
}

/// Returns the standard output; an error with everything it said where it failed.
fn said(what: &str, output: &Output) -> Result<String> {
    let text = |bytes| String::from_utf8_lossy(bytes).into_owned();
    ensure!(
        output.status.success(),
        "{what}:\n{}{}",
        text(&output.stdout),
        text(&output.stderr)
    );
    Ok(text(&output.stdout))
}
