//! A bank: JSON keys, headers, and a tombstone now and then.

use std::time::Duration;

use serde_json::json;

use super::{About, Feed, Outgoing, Panel, pick, round};

pub(super) struct Payments;

impl Feed for Payments {
    fn about(&self) -> About {
        About {
            topic: "payments",
            partitions: 3,
            every: Duration::from_millis(333),
            history: Duration::from_mins(5),
            text: "JSON keys, headers, some tombstones, 3 a second, 3 partitions",
        }
    }

    fn panel(&self) -> Panel {
        Panel::table(json!({"keyFormat": "json", "headers": true}))
    }

    fn turn(&mut self, _: i64) -> Vec<Outgoing> {
        let account = fastrand::u32(1..40);
        let region = pick(&["eu", "us"]);
        let value = json!({
            "amount": round(fastrand::f64() * 200.0 + 1.0, 2),
            "balance": round(fastrand::f64() * 2_000.0 - 200.0, 2),
            "approved": fastrand::u8(..20) != 0,
            "merchant": pick(&["Bakery Lind", "Radhaus", "Kiosk 24", "Tea & Co"]),
        });
        let tombstone = fastrand::u8(..15) == 0;
        vec![Outgoing {
            partition: (account % 3) as i32,
            key: Some(
                json!({"account": account, "region": region})
                    .to_string()
                    .into(),
            ),
            value: (!tombstone).then(|| value.to_string().into()),
            headers: vec![
                ("trace-id", format!("{:016x}", fastrand::u64(..))),
                ("source", pick(&["app", "terminal", "web"]).to_owned()),
            ],
        }]
    }
}
