//! One event as a line of hclog's JSON: `{"@level":…,"@message":…,"@timestamp":…,"@module":…,…}`.

use std::fmt::{self, Write as _};
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use serde_json::{Map, Value};
use tracing::field::{Field, Visit};
use tracing::{Event, Level};

/// The most bytes of one field. Grafana reads lines of up to 64 KiB, and JSON escapes take up to six bytes for one.
const MAX_FIELD: usize = 1024;
/// The most fields beside the message.
const MAX_FIELDS: usize = 8;

/// Formats `event` with a line feed at its end.
pub(super) fn of(event: &Event<'_>, now: SystemTime) -> String {
    let metadata = event.metadata();
    let mut fields = Fields::default();
    event.record(&mut fields);
    let mut line = Map::new();
    line.insert("@level".to_owned(), level(*metadata.level()).into());
    line.insert("@message".to_owned(), fields.message.into());
    line.insert("@module".to_owned(), metadata.target().into());
    line.insert("@timestamp".to_owned(), timestamp(now).into());
    line.extend(fields.others);
    let mut line = Value::Object(line).to_string();
    line.push('\n');
    line
}

#[derive(Default)]
struct Fields {
    message: String,
    others: Map<String, Value>,
}

impl Fields {
    fn insert(&mut self, field: &Field, value: Value) {
        if self.others.len() < MAX_FIELDS {
            self.others.insert(field.name().to_owned(), value);
        }
    }

    fn insert_text(&mut self, field: &Field, text: String) {
        if field.name() == "message" {
            self.message = text;
        } else {
            self.insert(field, text.into());
        }
    }
}

impl Visit for Fields {
    fn record_debug(&mut self, field: &Field, value: &dyn fmt::Debug) {
        self.insert_text(field, limited(format_args!("{value:?}")));
    }

    fn record_str(&mut self, field: &Field, value: &str) {
        self.insert_text(field, limited(format_args!("{value}")));
    }

    fn record_i64(&mut self, field: &Field, value: i64) {
        self.insert(field, value.into());
    }

    fn record_u64(&mut self, field: &Field, value: u64) {
        self.insert(field, value.into());
    }

    fn record_bool(&mut self, field: &Field, value: bool) {
        self.insert(field, value.into());
    }
}

fn limited(text: fmt::Arguments<'_>) -> String {
    let mut limited = Limited(String::new());
    // The limit is the one error there is, and the mark at the end says it.
    let _ = limited.write_fmt(text);
    limited.0
}

struct Limited(String);

impl fmt::Write for Limited {
    fn write_str(&mut self, text: &str) -> fmt::Result {
        let room = MAX_FIELD.saturating_sub(self.0.len());
        if text.len() <= room {
            self.0.push_str(text);
            return Ok(());
        }
        let end = (0..=room)
            .rev()
            .find(|&end| text.is_char_boundary(end))
            .unwrap_or(0);
        self.0.push_str(&text[..end]);
        self.0.push('…');
        Err(fmt::Error)
    }
}

fn level(level: Level) -> &'static str {
    match level {
        Level::ERROR => "error",
        Level::WARN => "warn",
        Level::INFO => "info",
        Level::DEBUG => "debug",
        Level::TRACE => "trace",
    }
}

/// Writes RFC 3339 with microseconds in UTC, hclog's one format.
fn timestamp(now: SystemTime) -> String {
    let since = now.duration_since(UNIX_EPOCH).unwrap_or(Duration::ZERO);
    let (days, second) = (since.as_secs() / 86_400, since.as_secs() % 86_400);
    let (year, month, day) = civil(days as i64);
    let (hour, minute, second, micros) = (
        second / 3600,
        second / 60 % 60,
        second % 60,
        since.subsec_micros(),
    );
    format!("{year:04}-{month:02}-{day:02}T{hour:02}:{minute:02}:{second:02}.{micros:06}Z")
}

/// Gives year, month and day of a day counted from 1970-01-01, by Hinnant's `civil_from_days`: years begin in March,
/// so that the leap day is the last one.
fn civil(days: i64) -> (i64, i64, i64) {
    let days = days + 719_468;
    let era = days.div_euclid(146_097);
    let day_of_era = days.rem_euclid(146_097);
    let year_of_era =
        (day_of_era - day_of_era / 1460 + day_of_era / 36_524 - day_of_era / 146_096) / 365;
    let day_of_year = day_of_era - (365 * year_of_era + year_of_era / 4 - year_of_era / 100);
    let month = (5 * day_of_year + 2) / 153;
    let day = day_of_year - (153 * month + 2) / 5 + 1;
    let month = if month < 10 { month + 3 } else { month - 9 };
    let year = year_of_era + era * 400 + i64::from(month <= 2);
    (year, month, day)
}

#[cfg(test)]
mod tests {
    use std::sync::{Arc, Mutex};

    use tracing::Subscriber;
    use tracing_subscriber::layer::{Context, Layer, SubscriberExt};

    use super::*;

    struct Lines(Arc<Mutex<Vec<String>>>);

    impl<S: Subscriber> Layer<S> for Lines {
        fn on_event(&self, event: &Event<'_>, _: Context<'_, S>) {
            self.0.lock().unwrap().push(of(event, UNIX_EPOCH));
        }
    }

    fn lines(log: impl FnOnce()) -> Vec<String> {
        let lines = Arc::new(Mutex::new(Vec::new()));
        let subscriber = tracing_subscriber::registry().with(Lines(Arc::clone(&lines)));
        tracing::subscriber::with_default(subscriber, log);
        Arc::into_inner(lines).unwrap().into_inner().unwrap()
    }

    #[test]
    fn a_line_is_hclogs_and_has_nothing_of_spans() {
        let lines = lines(|| {
            let span = tracing::info_span!("request", password = "hunter2");
            let _inside = span.enter();
            tracing::warn!(target: "streamscope::x", broker = "a:1", count = 3, "two\nlines: {}", "\"quoted\"");
        });
        let line: Value = serde_json::from_str(&lines[0]).unwrap();
        let want = serde_json::json!({
            "@level": "warn", "@message": "two\nlines: \"quoted\"", "@module": "streamscope::x",
            "@timestamp": "1970-01-01T00:00:00.000000Z", "broker": "a:1", "count": 3,
        });
        assert_eq!(line, want);
        assert_eq!(
            lines[0].matches('\n').count(),
            1,
            "one line feed, at its end"
        );
    }

    #[test]
    fn lines_are_short_whatever_is_in_them() {
        for text in [
            "\u{1}".repeat(1 << 20),
            "é".repeat(1 << 20),
            "a".repeat(MAX_FIELD),
        ] {
            let lines = lines(|| tracing::error!(a = text, b = ?text, c = %text, "{text}"));
            assert!(lines[0].len() < 64 << 10, "{}", lines[0].len());
            assert!(serde_json::from_str::<Value>(&lines[0]).is_ok());
        }
    }

    #[test]
    fn timestamps() {
        for (micros, want) in [
            (0, "1970-01-01T00:00:00.000000Z"),
            (951_782_400_000_001, "2000-02-29T00:00:00.000001Z"),
            (1_796_083_199_999_999, "2026-11-30T23:59:59.999999Z"),
            (4_107_542_400_000_000, "2100-03-01T00:00:00.000000Z"),
        ] {
            assert_eq!(timestamp(UNIX_EPOCH + Duration::from_micros(micros)), want);
        }
    }
}
