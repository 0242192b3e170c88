//! Two computers: line protocol, several lines a record, as agents write it.

use std::time::Duration;

use serde_json::json;

use super::{About, Feed, Outgoing, Panel, wave};

pub(super) struct Hosts;

impl Feed for Hosts {
    fn about(&self) -> About {
        About {
            topic: "hosts",
            partitions: 1,
            every: Duration::from_millis(500),
            history: Duration::from_mins(5),
            text: "line protocol, 4 lines a record, 2 a second",
        }
    }

    fn panel(&self) -> Panel {
        Panel::series(json!({
            "messageFormat": "lineprotocol", "lineProtocolLayout": "wide", "lineProtocolMeasurements": "cpu",
        }))
    }

    fn turn(&mut self, now: i64) -> Vec<Outgoing> {
        let ns = now * 1_000_000;
        let lines: Vec<String> = ["web-1", "web-2"]
            .iter()
            .zip([0, 31_000])
            .flat_map(|(host, later)| {
                let user = wave(now + later, 50.0, 5.0, 70.0);
                let system = wave(now + later, 35.0, 2.0, 20.0);
                let free = wave(now + later, 400.0, 1.0, 6.0);
                [
                    format!("cpu,host={host},region=eu user={user},system={system} {ns}"),
                    format!(
                        r#"mem,host={host},region=eu free={free},swapping={},note="of 8 GiB" {ns}"#,
                        free < 1.5
                    ),
                ]
            })
            .collect();
        vec![Outgoing {
            value: Some(lines.join("\n").into()),
            ..Outgoing::default()
        }]
    }
}
