//! A shop: nested JSON with arrays, keyed by customer.

use std::time::Duration;

use serde_json::{Value, json};

use super::{About, Feed, Outgoing, Panel, pick, round};

#[derive(Default)]
pub(super) struct Orders {
    number: u64,
}

impl Feed for Orders {
    fn about(&self) -> About {
        About {
            topic: "orders",
            partitions: 3,
            every: Duration::from_millis(500),
            history: Duration::from_mins(5),
            text: "nested JSON with arrays, 2 a second, 3 partitions",
        }
    }

    fn panel(&self) -> Panel {
        Panel::table(json!({"keyFormat": "string"}))
    }

    fn turn(&mut self, _: i64) -> Vec<Outgoing> {
        self.number += 1;
        let customer = fastrand::u32(100..160);
        let items: Vec<Value> = (0..fastrand::usize(1..4)).map(|_| item()).collect();
        let total: f64 = items
            .iter()
            .map(|item| {
                item["price"].as_f64().unwrap_or(0.0) * item["quantity"].as_f64().unwrap_or(0.0)
            })
            .sum();
        let (country, city) = PLACES[fastrand::usize(..PLACES.len())];
        let value = json!({
            "id": format!("o-{}", 10_000 + self.number),
            "customer": {
                "id": customer,
                "tier": pick(&["basic", "silver", "gold"]),
                "address": {"country": country, "city": city},
            },
            "items": items,
            "total": round(total, 2),
            "currency": "EUR",
            "shipping": {"method": pick(&["standard", "express", "pickup"]), "cost": 4.9},
            "coupon": if fastrand::u8(..10) == 0 { Value::from("WINTER26") } else { Value::Null },
        });
        vec![Outgoing {
            partition: (customer % 3) as i32,
            key: Some(format!("customer-{customer}").into()),
            value: Some(value.to_string().into()),
            headers: Vec::new(),
        }]
    }
}

fn item() -> Value {
    let (sku, price) = GOODS[fastrand::usize(..GOODS.len())];
    json!({"sku": sku, "quantity": fastrand::u32(1..4), "price": price})
}

const GOODS: [(&str, f64); 5] = [
    ("tea-darjeeling", 8.5),
    ("tea-assam", 6.9),
    ("kettle", 39.0),
    ("cup-blue", 12.25),
    ("honey", 7.4),
];

const PLACES: [(&str, &str); 6] = [
    ("DE", "Leipzig"),
    ("FR", "Nantes"),
    ("NL", "Utrecht"),
    ("PT", "Porto"),
    ("SE", "Malmö"),
    ("IT", "Torino"),
];
