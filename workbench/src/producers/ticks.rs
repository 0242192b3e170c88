//! A market: small JSON, many a second.

use std::time::Duration;

use super::{About, Feed, Outgoing, round};

pub(super) struct Ticks {
    sequence: u64,
    price: f64,
}

impl Default for Ticks {
    fn default() -> Self {
        Ticks {
            sequence: 0,
            price: 100.0,
        }
    }
}

impl Feed for Ticks {
    fn about(&self) -> About {
        About {
            topic: "ticks",
            partitions: 3,
            every: Duration::from_millis(50),
            history: Duration::from_secs(5),
            text: "small JSON, 2,000 a second, 3 partitions",
        }
    }

    fn turn(&mut self, _: i64) -> Vec<Outgoing> {
        (0..A_TURN)
            .map(|_| {
                self.sequence += 1;
                // A walk that is drawn back to 100, so that it neither runs away nor stands still.
                self.price += (fastrand::f64() - 0.5) * 0.2 + (100.0 - self.price) * 0.000_2;
                let bid = round(self.price - 0.05, 3);
                let ask = round(self.price + 0.05, 3);
                let size = fastrand::u32(1..50);
                Outgoing {
                    partition: (self.sequence % 3) as i32,
                    value: Some(
                        format!(r#"{{"symbol":"TEA","bid":{bid},"ask":{ask},"size":{size}}}"#)
                            .into(),
                    ),
                    ..Outgoing::default()
                }
            })
            .collect()
    }
}

/// 20 turns a second.
const A_TURN: usize = 100;
