//! `CheckHealth`: whether Kafka can be reached and, if not, which stage failed at which broker and what to do.

use std::fmt::Write as _;
use std::sync::Arc;
use std::time::{Duration, Instant};

use grafana_plugin_sdk::pluginv2::check_health_response::HealthStatus;
use grafana_plugin_sdk::pluginv2::diagnostics_server::Diagnostics as DiagnosticsService;
use grafana_plugin_sdk::pluginv2::{
    CheckHealthRequest, CheckHealthResponse, CollectMetricsRequest, CollectMetricsResponse,
};
use tokio::task::JoinSet;
use tokio::time::timeout;
use tonic::{Request, Response, Status};

use super::instance::{Instance, Instances};
use crate::consume::errors::{Cause, Fault, KafkaError};
use crate::consume::probe;
use crate::consume::topics::Cluster;
use crate::registry::Registry;

/// How long a broker that is not needed may keep the answer waiting.
const PATIENCE: Duration = Duration::from_secs(1);
/// How much later than a call's deadline the probes that began with it may end.
const PROBES_END: Duration = Duration::from_millis(50);
/// The most brokers that are tried one by one.
const MAX_PROBED: usize = 64;

/// Answers `CheckHealth`.
pub(super) struct Diagnostics {
    instances: Arc<Instances>,
}

impl Diagnostics {
    /// Serves the data sources of `instances`.
    pub(super) fn new(instances: Arc<Instances>) -> Self {
        Self { instances }
    }
}

#[tonic::async_trait]
impl DiagnosticsService for Diagnostics {
    async fn check_health(
        &self,
        request: Request<CheckHealthRequest>,
    ) -> Result<Response<CheckHealthResponse>, Status> {
        let report = match self
            .instances
            .of(request.into_inner().plugin_context.as_ref())
        {
            Ok(instance) => check(&instance).await,
            Err(error) => Report::failure(&error.to_string(), &[]),
        };
        Ok(Response::new(report.into_response()))
    }

    async fn collect_metrics(
        &self,
        _: Request<CollectMetricsRequest>,
    ) -> Result<Response<CollectMetricsResponse>, Status> {
        // The plugin counts nothing that Grafana could scrape.
        Ok(Response::new(CollectMetricsResponse::default()))
    }
}

/// Is what the settings page shows.
#[derive(Debug, PartialEq, Eq)]
struct Report {
    status: HealthStatus,
    message: String,
}

impl Report {
    fn failure(reason: &str, problems: &[String]) -> Self {
        let mut message = reason.to_owned();
        append(&mut message, " Settings: ", problems);
        Self {
            status: HealthStatus::Error,
            message,
        }
    }

    /// The bootstrap servers answer, and no broker can be reached.
    fn unreachable(faults: &[Fault], problems: &[String]) -> Self {
        let faults: Vec<String> = faults.iter().map(ToString::to_string).collect();
        let reason = format!(
            "Kafka answers, but none of the addresses that its brokers advertise can be reached: {}",
            faults.join(" ")
        );
        Self::failure(&reason, problems)
    }

    fn success(cluster: &Cluster, permitted: usize, faults: &[Fault], problems: &[String]) -> Self {
        let mut message = format!(
            "Connected to Kafka: {} and {} can be seen.",
            counted(cluster.brokers.len(), "broker"),
            counted(permitted, "topic")
        );
        if cluster.topics.is_empty() {
            message +=
                " If there should be topics, the Kafka user lacks the right Describe on them.";
        } else if permitted == 0 {
            message += " The settings topicAllow and topicDeny leave none of the cluster's topics.";
        }
        if cluster.leaderless > 0 {
            let _ = write!(
                message,
                " Warning: {} without a leader.",
                counted(cluster.leaderless, "partition")
            );
        }
        let faults: Vec<String> = faults.iter().map(ToString::to_string).collect();
        append(&mut message, " Warning: ", &faults);
        append(&mut message, " Settings: ", problems);
        Self {
            status: HealthStatus::Ok,
            message,
        }
    }

    /// Adds what is to be said of the schema registry; a Kafka that fails is said first.
    fn with_registry(mut self, registry: Option<&str>) -> Self {
        if let Some(registry) = registry {
            if !self.message.ends_with(['.', '!', '?']) {
                self.message.push('.');
            }
            self.message.push(' ');
            self.message += registry;
        }
        self
    }

    fn into_response(self) -> CheckHealthResponse {
        CheckHealthResponse {
            status: self.status.into(),
            message: self.message,
            json_details: b"{}".to_vec(),
        }
    }
}

async fn check(instance: &Instance) -> Report {
    let settings = &instance.settings;
    let (report, registry) = tokio::join!(
        check_kafka(instance),
        check_registry(&instance.registry, settings.health_timeout)
    );
    report.with_registry(registry.as_deref())
}

/// Gives what Save & test says of the schema registry, if there is one. Topics without schemas do not need it, so that it cannot
/// be had is a warning.
async fn check_registry(registry: &Registry, limit: Duration) -> Option<String> {
    if !registry.is_configured() {
        return None;
    }
    Some(match timeout(limit, registry.check()).await {
        Ok(Ok(())) => "The schema registry is accessible.".to_owned(),
        Ok(Err(error)) => format!("Warning: {error}."),
        Err(_) => format!(
            "Warning: the schema registry gave no answer within {} ms.",
            limit.as_millis()
        ),
    })
}

async fn check_kafka(instance: &Instance) -> Report {
    let settings = &instance.settings;
    let problems = [
        settings.problems.as_slice(),
        instance.clients.shortcomings(),
    ]
    .concat();
    let servers = instance.clients.bootstrap();
    let deadline = Instant::now() + settings.health_timeout;
    let probes = Probes::start(servers, settings.health_timeout);
    let pause = instance.clients.login_pause();
    let cluster = match instance.clients.cluster(settings.health_timeout).await {
        Ok(cluster) => cluster,
        Err(error) => {
            let error = with_probes(error, probes, settings.health_timeout, servers).await;
            let mut text = error.to_string();
            if let Some(pause) = pause {
                let _ = write!(
                    text,
                    ". This is what the brokers said last: the log-in is tried again in {} s, since servers lock accounts over \
                     one that is repeated",
                    pause.as_secs() + 1
                );
            }
            return Report::failure(&text, &problems);
        }
    };
    let patience = PATIENCE.min(deadline.saturating_duration_since(Instant::now()));
    let advertised: Vec<String> = cluster.brokers.iter().map(ToString::to_string).collect();
    let others = advertised.iter().filter(|broker| !servers.contains(broker));
    let others = Probes::start(others, patience);
    let (mut faults, other_faults) = tokio::join!(probes.faults(patience), others.faults(patience));
    faults.extend(other_faults);

    let fails = |broker| {
        faults
            .iter()
            .any(|fault| fault.broker.as_ref() == Some(broker))
    };
    // Records come from the addresses that the brokers advertise, and from nowhere else.
    if !advertised.is_empty() && advertised.iter().all(fails) {
        return Report::unreachable(&faults, &problems);
    }
    let permitted = cluster
        .topics
        .iter()
        .filter(|topic| settings.topics.permits(topic))
        .count();
    Report::success(&cluster, permitted, &faults, &problems)
}

/// Where librdkafka gave no reason, says how far a bare connection to each server came.
async fn with_probes(
    error: KafkaError,
    probes: Probes,
    limit: Duration,
    servers: &[String],
) -> KafkaError {
    if !matches!(error, KafkaError::Timeout(_)) {
        return error;
    }
    // The probes have had the same time: theirs is just about over.
    let mut faults = probes.faults(PROBES_END).await;
    for server in servers {
        if !faults
            .iter()
            .any(|fault| fault.broker.as_ref() == Some(server))
        {
            faults.push(Fault {
                cause: Cause::NoAnswer,
                broker: Some(server.clone()),
                text: format!("connected, but no answer within {} ms", limit.as_millis()),
            });
        }
    }
    KafkaError::Connection(faults)
}

/// Are bare connections under way, one to each broker.
struct Probes {
    /// Each gives its broker, and what failed.
    running: JoinSet<(String, Option<Fault>)>,
    /// The brokers that are not known to be reached or not.
    open: Vec<String>,
    begun: Instant,
}

impl Probes {
    fn start<'a>(servers: impl IntoIterator<Item = &'a String>, limit: Duration) -> Self {
        let (mut running, mut open) = (JoinSet::new(), Vec::new());
        for server in servers.into_iter().take(MAX_PROBED) {
            if let Some((host, port)) = probe::split(server) {
                let (host, broker) = (host.to_owned(), probe::address(host, port));
                open.push(broker.clone());
                running.spawn(async move { (broker, probe::reach(&host, port, limit).await) });
            }
        }
        Self {
            running,
            open,
            begun: Instant::now(),
        }
    }

    /// Gives what has failed, at most `patience` from now, in the order of the brokers' addresses. A broker that has not answered
    /// by then has failed too.
    async fn faults(mut self, patience: Duration) -> Vec<Fault> {
        let mut faults = Vec::new();
        let until = tokio::time::Instant::now() + patience;
        while let Ok(Some(done)) = tokio::time::timeout_at(until, self.running.join_next()).await {
            let Ok((broker, fault)) = done else { continue };
            self.open.retain(|open| *open != broker);
            faults.extend(fault);
        }
        let waited = self.begun.elapsed().as_millis();
        faults.extend(self.open.into_iter().map(|broker| Fault {
            cause: Cause::ConnectTimeout,
            broker: Some(broker),
            text: format!("no connection within {waited} ms"),
        }));
        faults.sort_by(|a, b| a.broker.cmp(&b.broker));
        faults
    }
}

fn counted(count: usize, noun: &str) -> String {
    format!("{count} {noun}{}", if count == 1 { "" } else { "s" })
}

fn append(message: &mut String, before: &str, texts: &[String]) {
    if texts.is_empty() {
        return;
    }
    *message += before;
    *message += &texts.join("; ");
    if !message.ends_with('.') {
        message.push('.');
    }
}

#[cfg(test)]
mod tests {
    use tokio::net::{TcpSocket, TcpStream};

    use super::*;

    /// A broker behind a firewall that drops packets: here, one whose queue of connections is full.
    #[tokio::test]
    async fn silence_is_a_fault() {
        let silent = TcpSocket::new_v4().unwrap();
        silent.bind("127.0.0.1:0".parse().unwrap()).unwrap();
        let silent = silent.listen(1).unwrap();
        let address = silent.local_addr().unwrap();
        let limit = Duration::from_millis(300);
        let mut waiting = Vec::new();
        while let Ok(Ok(stream)) = timeout(limit, TcpStream::connect(address)).await {
            waiting.push(stream);
        }
        let open = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
        let servers = [address, open.local_addr().unwrap()].map(|address| address.to_string());
        // Their own limit is later than the time that Save & test has.
        let probes = Probes::start(&servers, 10 * limit);
        let faults = probes.faults(limit).await;
        let found: Vec<_> = faults
            .iter()
            .map(|f| (f.cause, f.broker.as_ref()))
            .collect();
        assert_eq!(found, [(Cause::ConnectTimeout, Some(&servers[0]))]);
    }
}
