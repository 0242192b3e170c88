//! A web server's log: plain text.

use std::time::Duration;

use chrono::{DateTime, SecondsFormat};
use serde_json::json;

use super::{About, Feed, Outgoing, Panel, pick};

pub(super) struct Logs;

impl Feed for Logs {
    fn about(&self) -> About {
        About {
            topic: "logs",
            partitions: 2,
            every: Duration::from_millis(200),
            history: Duration::from_mins(5),
            text: "plain text, 5 a second, 2 partitions",
        }
    }

    fn panel(&self) -> Panel {
        Panel::table(json!({"messageFormat": "plaintext"}))
    }

    fn turn(&mut self, now: i64) -> Vec<Outgoing> {
        let time = DateTime::from_timestamp_millis(now).unwrap_or_default();
        let time = time.to_rfc3339_opts(SecondsFormat::Millis, true);
        let (level, status) = match fastrand::u8(..100) {
            0..2 => ("ERROR", 500),
            2..8 => ("WARN ", 404),
            8..15 => ("INFO ", 304),
            _ => ("INFO ", 200),
        };
        let method = pick(&["GET", "GET", "GET", "POST"]);
        let path = pick(&[
            "/",
            "/cart",
            "/api/orders",
            "/api/stock/17",
            "/static/app.js",
        ]);
        let taken = fastrand::u32(2..40) + if status == 500 { 900 } else { 0 };
        let line = format!("{time} {level} {method} {path} {status} {taken}ms");
        vec![Outgoing {
            partition: fastrand::i32(0..2),
            value: Some(line.into()),
            ..Outgoing::default()
        }]
    }
}
