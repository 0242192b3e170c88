//! `real-kafka COMMAND…` runs a command beside a fresh broker: its address is in `STREAMSCOPE_KAFKA`.
//! Without a command the broker runs until the end of standard input.

use std::process::{Command, ExitCode};

use anyhow::{Context, Result};
use real_kafka::Kafka;

fn main() -> Result<ExitCode> {
    let kafka = Kafka::start()?;
    let mut words = std::env::args_os().skip(1);
    let Some(program) = words.next() else {
        println!("{}", kafka.bootstrap());
        std::io::copy(&mut std::io::stdin(), &mut std::io::sink())?;
        return Ok(ExitCode::SUCCESS);
    };
    let status = Command::new(&program)
        .args(words)
        .env("STREAMSCOPE_KAFKA", kafka.bootstrap())
        .status()
        .with_context(|| format!("running {}", program.display()))?;
    Ok(ExitCode::from(
        u8::try_from(status.code().unwrap_or(1)).unwrap_or(1),
    ))
}
