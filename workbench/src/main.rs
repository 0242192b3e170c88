//! `workbench demo`: the plugin in a stand-in for Grafana, with a Kafka of its own or yours.
//! `workbench broker`: that Kafka and a schema registry alone. `workbench producers`: their records into another Kafka.

use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::sync::Arc;

use anyhow::bail;
use clap::{Args, Parser, Subcommand};
use serde_json::json;
use tokio::signal::unix::{Signal, SignalKind, signal};
use workbench::broker::{self, Broker};
use workbench::host::{self, DataSource, Level, LogLine};
use workbench::producers::{self, Example, Producers};
use workbench::registry::{self, Registry};
use workbench::server::{LiveOptions, Options, Server};

#[derive(Parser)]
#[command(about = "Runs the data source as Grafana does, without Grafana")]
struct Cli {
    #[command(subcommand)]
    command: Command,
}

#[derive(Subcommand)]
enum Command {
    /// Shows live panels of a Kafka's topics on a page
    Demo(Demo),
    /// Runs an embedded Kafka with demo topics and a schema registry, and nothing else
    Broker {
        /// The port to listen on; 0 takes any
        #[arg(long, default_value_t = 9092)]
        port: u16,
        /// The schema registry's port; 0 takes any
        #[arg(long, default_value_t = 8081)]
        registry_port: u16,
    },
    /// Writes the demo topics into a Kafka of one broker, and their schemas into a registry
    Producers {
        /// The broker, host:port
        #[arg(long)]
        kafka: String,
        /// Confluent's API of a schema registry, http://host:port/path
        #[arg(long)]
        registry: String,
    },
}

#[derive(Args)]
struct Demo {
    /// A Kafka of your own, host:port; nothing is written to it
    #[arg(long)]
    kafka: Option<String>,
    /// The page's port; 0 takes any
    #[arg(long, default_value_t = 3000)]
    port: u16,
    /// The plugin's executable; without it, the one beside this program
    #[arg(long)]
    plugin: Option<PathBuf>,
    /// The folder of the plugin's built front end
    #[arg(long, default_value = "frontend/dist")]
    frontend: PathBuf,
    /// The folder of the built page
    #[arg(long, default_value = "workbench/page/dist")]
    page: PathBuf,
    /// Shows all lines of the plugin's log, not only warnings and errors
    #[arg(long)]
    verbose: bool,
}

#[tokio::main]
async fn main() -> ExitCode {
    let run = match Cli::parse().command {
        Command::Demo(options) => demo(options).await,
        Command::Broker {
            port,
            registry_port,
        } => broker(port, registry_port).await,
        Command::Producers { kafka, registry } => produce(&kafka, &registry).await,
    };
    match run {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("workbench: {error:#}");
            ExitCode::FAILURE
        }
    }
}

async fn demo(options: Demo) -> anyhow::Result<()> {
    let found = built(options)?;
    let stop = Stop::listen()?;
    let kafka = Kafka::start(found.kafka, 0, 0).await?;
    let mut settings = json!({"bootstrapServers": kafka.bootstrap});
    if let Some(embedded) = &kafka.embedded {
        settings["schemaRegistryUrl"] = embedded.registry.url().into();
    }
    let source = DataSource::new("kafka", settings);
    println!("plugin   {}", found.binary.display());
    let verbose = found.verbose;
    let show = move |line: &LogLine| {
        if verbose || line.level >= Level::Warn {
            eprintln!("plugin:  {line}");
        }
    };
    let server = Server::start(Options {
        port: found.port,
        plugin: found.binary,
        plugin_options: host::Options {
            on_log: Some(Arc::new(show)),
            ..Default::default()
        },
        frontend: Some(found.frontend),
        page: Some(found.page),
        source,
        examples: kafka.examples(),
        live: LiveOptions::default(),
    })
    .await?;
    println!("open     http://{}/", server.address());
    println!("         ?grafana=10 shows it with Grafana 10's parts, ?theme=light in the light");
    println!("Ctrl-C stops everything.");
    stop.wait().await;

    println!("\nstopping");
    if let Some(ended) = server.shutdown().await
        && ended.killed
    {
        eprintln!("the plugin was still there 2 seconds after Shutdown and was killed");
    }
    Ok(())
}

async fn broker(port: u16, registry_port: u16) -> anyhow::Result<()> {
    let stop = Stop::listen()?;
    let _kafka = Kafka::start(None, port, registry_port).await?;
    println!("Ctrl-C stops it.");
    stop.wait().await;
    Ok(())
}

async fn produce(kafka: &str, registry: &str) -> anyhow::Result<()> {
    let stop = Stop::listen()?;
    let ids = registry::register(registry, producers::SCHEMAS).await?;
    let producers = Producers::start(kafka, &ids).await?;
    say(&producers);
    println!("Ctrl-C stops it.");
    stop.wait().await;
    Ok(())
}

/// Says what is written.
fn say(producers: &Producers) {
    for about in producers.topics() {
        println!("topic    {:9} {}", about.topic, about.text);
    }
}

/// A Kafka to show: the user's, which is only read, or an embedded one with producers and a schema registry.
struct Kafka {
    bootstrap: String,
    embedded: Option<Embedded>,
}

struct Embedded {
    producers: Producers,
    registry: Registry,
    _broker: Broker,
}

impl Kafka {
    async fn start(theirs: Option<String>, port: u16, registry_port: u16) -> anyhow::Result<Kafka> {
        if let Some(bootstrap) = theirs {
            println!("kafka    {bootstrap} (yours: it is only read)");
            return Ok(Kafka {
                bootstrap,
                embedded: None,
            });
        }
        let options = broker::Options {
            port,
            ..broker::Options::default()
        };
        let broker = match Broker::start(options).await {
            Ok(broker) => broker,
            Err(error) => bail!("cannot start a Kafka on port {port}: {error}"),
        };
        let bootstrap = broker.bootstrap();
        println!("kafka    {bootstrap} (embedded)");
        let registry = Registry::start(registry_port, producers::SCHEMAS).await?;
        println!("schemas  {} (embedded registry)", registry.address());
        let producers = Producers::start(&bootstrap, registry.ids()).await?;
        say(&producers);
        Ok(Kafka {
            bootstrap,
            embedded: Some(Embedded {
                producers,
                registry,
                _broker: broker,
            }),
        })
    }

    /// Gives panels for what is written; nothing is known of a user's topics.
    fn examples(&self) -> Vec<Example> {
        match &self.embedded {
            Some(embedded) => embedded.producers.examples().to_vec(),
            None => Vec::new(),
        }
    }
}

/// Options of which each file has been found.
struct Built {
    kafka: Option<String>,
    port: u16,
    binary: PathBuf,
    frontend: PathBuf,
    page: PathBuf,
    verbose: bool,
}

/// Finds what has been built, or says how to build it.
fn built(options: Demo) -> anyhow::Result<Built> {
    let binary = match options.plugin {
        Some(path) => path,
        None => std::env::current_exe()?.with_file_name("gpx_streamscope"),
    };
    require(&binary, "the plugin", "plugin")?;
    require(
        &options.frontend.join("module.js"),
        "the plugin's front end",
        "frontend",
    )?;
    require(&options.page.join("v13/index.html"), "the page", "page")?;
    Ok(Built {
        kafka: options.kafka,
        port: options.port,
        binary,
        frontend: options.frontend,
        page: options.page,
        verbose: options.verbose,
    })
}

fn require(file: &Path, what: &str, target: &str) -> anyhow::Result<()> {
    if file.is_file() {
        return Ok(());
    }
    bail!(
        "{what} is not built: no file {}; `make {target}` builds it",
        file.display()
    )
}

/// Ctrl-C, and the signal by which systems stop a program. They count from when this is made, so
/// that one which comes early still ends everything in order.
struct Stop {
    interrupted: Signal,
    terminated: Signal,
}

impl Stop {
    fn listen() -> std::io::Result<Stop> {
        Ok(Stop {
            interrupted: signal(SignalKind::interrupt())?,
            terminated: signal(SignalKind::terminate())?,
        })
    }

    async fn wait(mut self) {
        tokio::select! {
            _ = self.interrupted.recv() => {}
            _ = self.terminated.recv() => {}
        }
    }
}
