//! Electricity meters: JSON under Avro keys.

use std::time::Duration;

use apache_avro::types::Value;
use serde_json::json;

use super::schemas::AvroWriter;
use super::{About, Feed, Outgoing, Panel, wave};
use crate::registry::Ids;

pub(super) const KEY_SUBJECT: &str = "meters-key";

pub(super) const KEY: &str = r#"{
  "type": "record", "name": "Meter", "namespace": "demo", "fields": [
    {"name": "street", "type": "string"},
    {"name": "installed", "type": {"type": "int", "logicalType": "date"}}
  ]
}"#;

pub(super) struct Meters {
    key: AvroWriter,
    kwh: f64,
}

impl Meters {
    pub(super) fn new(ids: &Ids) -> Meters {
        Meters {
            key: AvroWriter::registered(ids, KEY_SUBJECT, 1),
            kwh: 81_204.0,
        }
    }
}

impl Feed for Meters {
    fn about(&self) -> About {
        About {
            topic: "meters",
            partitions: 1,
            every: Duration::from_millis(500),
            history: Duration::from_mins(5),
            text: "JSON with Avro keys, 2 a second",
        }
    }

    fn panel(&self) -> Panel {
        Panel::table(json!({
            "messageFormat": "json", "keyFormat": "avro", "keySchemaSource": "schemaRegistry",
        }))
    }

    fn turn(&mut self, now: i64) -> Vec<Outgoing> {
        let watts = wave(now, 120.0, 180.0, 2_400.0);
        self.kwh += watts / 1_000.0 / 7_200.0;
        let street = STREETS[fastrand::usize(..STREETS.len())];
        let key = self.key.write([
            ("street", Value::String(street.0.into())),
            ("installed", Value::Date(street.1)),
        ]);
        let value =
            json!({"watts": watts, "kwh": self.kwh, "volts": wave(now, 45.0, 226.0, 234.0)});
        vec![Outgoing {
            key: Some(key),
            value: Some(value.to_string().into()),
            ..Outgoing::default()
        }]
    }
}

/// With the days since 1970 of their meters.
const STREETS: [(&str, i32); 3] = [
    ("Lindenweg 3", 18_262),
    ("Hafenstraße 11", 19_358),
    ("Marktplatz 1", 20_089),
];
