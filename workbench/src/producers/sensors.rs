//! A greenhouse: flat JSON whose numbers share one scale, so that they look well on one axis.

use std::time::Duration;

use serde_json::json;

use super::{About, Feed, Outgoing, wave};

pub(super) struct Sensors;

impl Feed for Sensors {
    fn about(&self) -> About {
        About {
            topic: "sensors",
            partitions: 1,
            every: Duration::from_millis(100),
            history: Duration::from_mins(5),
            text: "flat JSON, 10 a second",
        }
    }

    fn turn(&mut self, now: i64) -> Vec<Outgoing> {
        let value = json!({
            "site": "greenhouse-1",
            "temperature": wave(now, 60.0, 18.0, 31.0),
            "humidity": wave(now, 95.0, 45.0, 72.0),
            "soilMoisture": wave(now, 140.0, 30.0, 42.0),
            "light": wave(now, 40.0, 5.0, 95.0),
            "heating": wave(now, 60.0, 0.0, 1.0) < 0.3,
        });
        vec![Outgoing {
            value: Some(value.to_string().into()),
            ..Outgoing::default()
        }]
    }
}
