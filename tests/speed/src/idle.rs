//! What a process costs that has nothing to do: from its start to its end, with 1 and with 100 quiet streams, beside as many bare
//! consumers.

use std::path::Path;
use std::time::{Duration, Instant};

use anyhow::{Context, Result, ensure};
use real_kafka::{Kafka, Record};
use serde_json::json;
use workbench::host::{Packets, Plugin};

use crate::bare::Quiet;
use crate::live::Channel;
use crate::{live, median, process};

const STARTS: usize = 10;
const SHUTDOWNS: usize = 5;
const QUIET: &str = "quiet";
const MANY: usize = 100;
/// How long a process is watched, after a while in which it comes to rest.
const WATCHED: Duration = Duration::from_mins(1);
const REST: Duration = Duration::from_secs(3);

/// What a process used while it was watched.
#[derive(Clone, Copy)]
pub(crate) struct Load {
    cpu: Duration,
    resident: u64,
}

impl Load {
    /// Watches a process.
    pub(crate) async fn of(pid: u32) -> Result<Load> {
        tokio::time::sleep(REST).await;
        let before = process::cpu(pid)?;
        tokio::time::sleep(WATCHED).await;
        Ok(Load {
            cpu: process::cpu(pid)?.saturating_sub(before),
            resident: process::memory(pid)?.1,
        })
    }

    fn print(self, what: &str) {
        let cores = self.cpu.as_secs_f64() / WATCHED.as_secs_f64();
        let mebibytes = self.resident as f64 / f64::from(1 << 20);
        println!(
            "| {what} | {:.2}% of a core | {mebibytes:.0} MiB |",
            cores * 100.0
        );
    }
}

pub(crate) async fn print(binary: &Path, kafka: &Kafka) -> Result<()> {
    kafka.create_topic(QUIET, 1)?;
    kafka.produce(QUIET, &[Record::value("{}")])?;
    let mut handshakes = Vec::new();
    for _ in 0..STARTS {
        let begin = Instant::now();
        let plugin = live::start(binary).await?;
        handshakes.push(begin.elapsed().as_secs_f64() * 1e3);
        plugin.shutdown().await;
    }
    let mut shutdowns = Vec::new();
    for _ in 0..SHUTDOWNS {
        let plugin = live::start(binary).await?;
        let _packets = quiet(&plugin, kafka).await?;
        let ended = plugin.shutdown().await;
        ensure!(!ended.killed, "the plugin had to be killed");
        shutdowns.push(ended.took.as_secs_f64() * 1e3);
    }
    let least = handshakes.iter().copied().reduce(f64::min);
    println!(
        "| from start to handshake, the least of {STARTS} | {:.1} ms |\n|---|--:|",
        least.context("none")?
    );
    println!(
        "| shutdown with a stream, median of {SHUTDOWNS} | {:.1} ms |",
        median(shutdowns.into_iter())
    );

    println!(
        "\n| over {} s | CPU | memory |\n|---|--:|--:|",
        WATCHED.as_secs()
    );
    let plugin = live::start(binary).await?;
    Load::of(plugin.pid()).await?.print("no stream");
    let mut packets = vec![quiet(&plugin, kafka).await?];
    Load::of(plugin.pid()).await?.print("1 quiet stream");
    while packets.len() < MANY {
        packets.push(quiet(&plugin, kafka).await?);
    }
    let bare = Quiet::start(kafka, QUIET, MANY)?;
    let (streams, consumers) = tokio::join!(Load::of(plugin.pid()), Load::of(bare.pid()));
    streams?.print(&format!("{MANY} quiet streams"));
    consumers?.print(&format!("{MANY} bare librdkafka consumers, meanwhile"));
    plugin.shutdown().await;
    Ok(())
}

async fn quiet(plugin: &Plugin, kafka: &Kafka) -> Result<Packets> {
    let keys = json!({"messageFormat": "json"});
    let channel = Channel::ask(plugin, kafka, QUIET, &keys, true).await?;
    channel.run(plugin).await
}
