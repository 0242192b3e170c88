//! A weather station: Avro without a frame, whose schema only the reader's query has.

use std::time::Duration;

use apache_avro::Decimal;
use apache_avro::types::Value;
use serde_json::json;

use super::schemas::AvroWriter;
use super::{About, Feed, Outgoing, Panel, wave};

const SCHEMA: &str = r#"{
  "type": "record", "name": "Weather", "namespace": "demo", "fields": [
    {"name": "station", "type": "string"},
    {"name": "temperature", "type": "double"},
    {"name": "humidity", "type": "int"},
    {"name": "pressure", "type": {"type": "bytes", "logicalType": "decimal", "precision": 6, "scale": 1}},
    {"name": "rain", "type": ["null", "double"]}
  ]
}"#;

pub(super) struct Weather {
    value: AvroWriter,
}

impl Default for Weather {
    fn default() -> Self {
        Weather {
            value: AvroWriter::raw(SCHEMA),
        }
    }
}

impl Feed for Weather {
    fn about(&self) -> About {
        About {
            topic: "weather",
            partitions: 1,
            every: Duration::from_millis(500),
            history: Duration::from_mins(5),
            text: "Avro with an inline schema, 2 a second",
        }
    }

    fn panel(&self) -> Panel {
        Panel::series(json!({
            "messageFormat": "avro", "avroSchemaSource": "inlineSchema", "avroSchema": SCHEMA,
        }))
    }

    fn turn(&mut self, now: i64) -> Vec<Outgoing> {
        let pressure = (wave(now, 250.0, 990.0, 1_020.0) * 10.0) as i32;
        let rain = wave(now, 90.0, -4.0, 6.0);
        let rain = if rain > 0.0 {
            Value::Union(1, Box::new(Value::Double(rain)))
        } else {
            Value::Union(0, Box::new(Value::Null))
        };
        let value = self.value.write([
            ("station", Value::String("Brocken".into())),
            ("temperature", Value::Double(wave(now, 120.0, -6.0, 14.0))),
            ("humidity", Value::Int(wave(now, 75.0, 40.0, 98.0) as i32)),
            (
                "pressure",
                Value::Decimal(Decimal::from(pressure.to_be_bytes())),
            ),
            ("rain", rain),
        ]);
        vec![Outgoing {
            value: Some(value),
            ..Outgoing::default()
        }]
    }
}
