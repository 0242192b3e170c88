//! SHELL: the log, one JSON object a line on stderr, as Grafana reads it (hclog).
//!
//! Only events are written, never the fields of spans: the SDK's spans hold whole requests, with decrypted secrets.
//! Lines are few, none per record, and none holds a payload.

mod line;

use std::io::{self, Write};
use std::panic;
use std::sync::OnceLock;

use tracing::level_filters::LevelFilter;
use tracing::{Event, Subscriber, error};
use tracing_subscriber::filter::Targets;
use tracing_subscriber::layer::{Context, Layer, SubscriberExt};
use tracing_subscriber::reload;
use tracing_subscriber::util::SubscriberInitExt;

use crate::config::LogLevel;

/// This crate's own events; everything else is another library's.
const OWN: &str = "streamscope";
/// Set by `[plugin.streamscope-kafka-datasource] log_level = …` in Grafana's configuration.
const LEVEL_VARIABLE: &str = "GF_PLUGIN_LOG_LEVEL";

static FILTER: OnceLock<reload::Handle<Targets, tracing_subscriber::Registry>> = OnceLock::new();

/// Starts the log at the level that Grafana's configuration names, `info` without one.
///
/// `variable` looks an environment variable up.
pub(super) fn init(variable: impl Fn(&str) -> Option<String>) {
    let level = variable(LEVEL_VARIABLE)
        .and_then(|text| parse_level(&text))
        .unwrap_or(LevelFilter::INFO);
    let (filter, handle) = reload::Layer::new(targets(level));
    if tracing_subscriber::registry()
        .with(filter)
        .with(Hclog)
        .try_init()
        .is_ok()
    {
        // The first one stays, as does the subscriber.
        let _ = FILTER.set(handle);
    }
    panic::set_hook(Box::new(|info| {
        // The message may quote a payload; the place is enough to find it.
        let place = info.location().map(ToString::to_string).unwrap_or_default();
        error!(
            place,
            "panic: a defect in Streamscope; the call or record was given up, all others go on"
        );
    }));
}

/// Makes the log more talkative if a data source asks for it (`logLevel`); it never gets quieter before a restart.
pub(super) fn raise(level: LogLevel) {
    let level = match level {
        LogLevel::Error => LevelFilter::ERROR,
        LogLevel::Warn => LevelFilter::WARN,
        LogLevel::Info => LevelFilter::INFO,
        LogLevel::Debug => LevelFilter::DEBUG,
    };
    let Some(filter) = FILTER.get() else { return };
    let wanted = targets(level);
    // An error would mean that the subscriber is gone, and the log with it.
    let _ = filter.modify(|current| {
        if current
            .iter()
            .any(|(target, now)| target == OWN && now < level)
        {
            *current = wanted;
        }
    });
}

fn targets(level: LevelFilter) -> Targets {
    Targets::new()
        .with_default(LevelFilter::WARN)
        .with_target(OWN, level)
}

fn parse_level(text: &str) -> Option<LevelFilter> {
    match text.trim().to_ascii_lowercase().as_str() {
        "trace" => Some(LevelFilter::TRACE),
        "debug" => Some(LevelFilter::DEBUG),
        "info" => Some(LevelFilter::INFO),
        "warn" | "warning" => Some(LevelFilter::WARN),
        "error" => Some(LevelFilter::ERROR),
        _ => None,
    }
}

/// Writes each event as one line.
struct Hclog;

impl<S: Subscriber> Layer<S> for Hclog {
    fn on_event(&self, event: &Event<'_>, _: Context<'_, S>) {
        let line = line::of(event, std::time::SystemTime::now());
        // One write a line keeps the lines of two threads apart; a log that nobody reads is no reason to stop.
        let _ = io::stderr().lock().write_all(line.as_bytes());
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn levels() {
        for (text, level) in [
            ("debug", Some(LevelFilter::DEBUG)),
            (" INFO ", Some(LevelFilter::INFO)),
            ("Warning", Some(LevelFilter::WARN)),
            ("error", Some(LevelFilter::ERROR)),
            ("", None),
            ("loud", None),
        ] {
            assert_eq!(parse_level(text), level, "{text:?}");
        }
    }

    #[test]
    fn libraries_are_pinned_whatever_the_level() {
        let filter = targets(LevelFilter::TRACE);
        for target in [
            "grafana_plugin_sdk::backend",
            "h2::codec",
            "tonic::transport",
            "hyper",
            "rdkafka",
            "log",
        ] {
            assert!(
                !filter.would_enable(target, &tracing::Level::INFO),
                "{target}"
            );
            assert!(
                filter.would_enable(target, &tracing::Level::WARN),
                "{target}"
            );
        }
        assert!(filter.would_enable("streamscope::consume", &tracing::Level::TRACE));
    }
}
