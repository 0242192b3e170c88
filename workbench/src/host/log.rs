//! What a plugin writes to its standard error: hclog lines, kept for tests and passed on.

use std::sync::{Arc, Mutex, PoisonError};

use serde_json::Value;

/// Lines kept in memory; older ones are forgotten.
const KEPT: usize = 10_000;

/// The levels of hclog.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Level {
    Trace,
    Debug,
    Info,
    Warn,
    Error,
}

/// One line of a plugin's log.
#[derive(Clone, Debug)]
pub struct LogLine {
    pub level: Level,
    pub message: String,
    /// The other fields, `@timestamp` left out.
    pub fields: serde_json::Map<String, Value>,
    /// Whether the line was hclog JSON; Grafana shows other lines at debug.
    pub structured: bool,
    /// The line as it came.
    pub raw: String,
}

impl LogLine {
    /// Reads a line as go-plugin does: JSON with `@level` and `@message`, or plain text.
    pub fn parse(raw: &str) -> LogLine {
        match serde_json::from_str::<Value>(raw) {
            Ok(Value::Object(mut fields)) if fields.contains_key("@message") => {
                let mut text = |key| match fields.remove(key) {
                    Some(Value::String(text)) => text,
                    other => other.map(|value| value.to_string()).unwrap_or_default(),
                };
                let (level, message) = (text("@level"), text("@message"));
                text("@timestamp");
                LogLine {
                    level: level_of(&level),
                    message,
                    fields,
                    structured: true,
                    raw: raw.into(),
                }
            }
            _ => LogLine {
                level: if raw.starts_with("panic: ") {
                    Level::Error
                } else {
                    Level::Debug
                },
                message: raw.into(),
                fields: serde_json::Map::new(),
                structured: false,
                raw: raw.into(),
            },
        }
    }
}

impl std::fmt::Display for LogLine {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let level = format!("{:?}", self.level).to_lowercase();
        write!(f, "{level:5} {}", self.message)?;
        self.fields
            .iter()
            .try_for_each(|(key, value)| write!(f, " {key}={value}"))
    }
}

/// Called for each line.
pub type OnLine = Arc<dyn Fn(&LogLine) + Send + Sync>;

/// The lines of one process so far.
#[derive(Clone, Default)]
pub struct Log {
    lines: Arc<Mutex<Vec<LogLine>>>,
    on_line: Option<OnLine>,
}

impl Log {
    pub(super) fn new(on_line: Option<OnLine>) -> Log {
        Log {
            lines: Arc::default(),
            on_line,
        }
    }

    pub(super) fn take(&self, raw: &str) {
        let line = LogLine::parse(raw);
        if let Some(on_line) = &self.on_line {
            on_line(&line);
        }
        let mut lines = self.lines.lock().unwrap_or_else(PoisonError::into_inner);
        if lines.len() == KEPT {
            lines.remove(0);
        }
        lines.push(line);
    }

    /// Copies the lines kept so far, oldest first.
    pub fn lines(&self) -> Vec<LogLine> {
        self.lines
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .clone()
    }
}

fn level_of(name: &str) -> Level {
    match name {
        "trace" => Level::Trace,
        "debug" => Level::Debug,
        "warn" => Level::Warn,
        "error" => Level::Error,
        _ => Level::Info,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines() {
        for (raw, level, message, structured) in [
            (
                r#"{"@level":"warn","@message":"m","@timestamp":"t","a":1}"#,
                Level::Warn,
                "m",
                true,
            ),
            (r#"{"@level":"odd","@message":"m"}"#, Level::Info, "m", true),
            (
                r#"{"level":"warn"}"#,
                Level::Debug,
                r#"{"level":"warn"}"#,
                false,
            ),
            ("plain text", Level::Debug, "plain text", false),
            (
                "panic: at the disco",
                Level::Error,
                "panic: at the disco",
                false,
            ),
        ] {
            let line = LogLine::parse(raw);
            assert_eq!(
                (line.level, &*line.message, line.structured),
                (level, message, structured)
            );
            assert!(!line.fields.contains_key("@timestamp"), "{raw}");
        }
        let shown = LogLine::parse(r#"{"@level":"info","@message":"up","n":2}"#).to_string();
        assert_eq!(shown, "info  up n=2");
    }
}
