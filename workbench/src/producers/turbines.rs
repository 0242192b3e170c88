//! A wind farm: Avro by a schema registry, keys too, while half of the machines have a newer schema than the others.

use std::time::Duration;

use apache_avro::types::Value;
use serde_json::json;

use super::schemas::AvroWriter;
use super::{About, Feed, Outgoing, Panel, round, wave};
use crate::registry::Ids;

pub(super) const SUBJECT: &str = "turbines-value";
pub(super) const KEY_SUBJECT: &str = "turbines-key";

pub(super) const KEY: &str = r#"{
  "type": "record", "name": "Turbine", "namespace": "demo", "fields": [
    {"name": "farm", "type": "string"},
    {"name": "number", "type": "int"}
  ]
}"#;

pub(super) const FIRST: &str = r#"{
  "type": "record", "name": "Reading", "namespace": "demo", "fields": [
    {"name": "measured", "type": {"type": "long", "logicalType": "timestamp-millis"}},
    {"name": "wind", "type": "double"},
    {"name": "power", "type": "double"},
    {"name": "rotor", "type": "float"},
    {"name": "state", "type": {"type": "enum", "name": "State", "symbols": ["RUNNING", "IDLE", "STOPPED"]}}
  ]
}"#;

pub(super) const SECOND: &str = r#"{
  "type": "record", "name": "Reading", "namespace": "demo", "fields": [
    {"name": "measured", "type": {"type": "long", "logicalType": "timestamp-millis"}},
    {"name": "wind", "type": "double"},
    {"name": "power", "type": "double"},
    {"name": "rotor", "type": "float"},
    {"name": "state", "type": {"type": "enum", "name": "State", "symbols": ["RUNNING", "IDLE", "STOPPED"]}},
    {"name": "nacelle", "type": ["null", {"type": "record", "name": "Nacelle", "fields": [
      {"name": "temperature", "type": "double"},
      {"name": "direction", "type": "int"}
    ]}], "default": null}
  ]
}"#;

pub(super) struct Turbines {
    key: AvroWriter,
    first: AvroWriter,
    second: AvroWriter,
    turn: u64,
}

impl Turbines {
    pub(super) fn new(ids: &Ids) -> Turbines {
        Turbines {
            key: AvroWriter::registered(ids, KEY_SUBJECT, 1),
            first: AvroWriter::registered(ids, SUBJECT, 1),
            second: AvroWriter::registered(ids, SUBJECT, 2),
            turn: 0,
        }
    }
}

impl Feed for Turbines {
    fn about(&self) -> About {
        About {
            topic: "turbines",
            partitions: 2,
            every: Duration::from_millis(250),
            history: Duration::from_mins(5),
            text: "Avro by the schema registry, keys too, two versions of a schema, 4 a second, 2 partitions",
        }
    }

    fn panel(&self) -> Panel {
        Panel::table(json!({
            "messageFormat": "avro", "avroSchemaSource": "schemaRegistry",
            "keyFormat": "avro", "keySchemaSource": "schemaRegistry",
        }))
    }

    fn turn(&mut self, now: i64) -> Vec<Outgoing> {
        self.turn += 1;
        let number = (self.turn % 4) as i32;
        let wind = wave(now + i64::from(number) * 9_000, 80.0, 2.0, 14.0).max(0.0);
        let power = round(2.1 * wind.powi(3), 1);
        let state = match wind {
            ..3.0 => (1, "IDLE"),
            _ => (0, "RUNNING"),
        };
        let fields = [
            ("measured", Value::TimestampMillis(now)),
            ("wind", Value::Double(wind)),
            ("power", Value::Double(power)),
            ("rotor", Value::Float(round(wind * 1.25, 1) as f32)),
            ("state", Value::Enum(state.0, state.1.to_owned())),
        ];
        let value = if number < 2 {
            self.first.write(fields)
        } else {
            let nacelle = Value::Record(vec![
                (
                    "temperature".into(),
                    Value::Double(wave(now, 200.0, 30.0, 42.0)),
                ),
                (
                    "direction".into(),
                    Value::Int(wave(now, 300.0, 200.0, 320.0) as i32),
                ),
            ]);
            let [measured, wind, power, rotor, state] = fields;
            let nacelle = ("nacelle", Value::Union(1, Box::new(nacelle)));
            self.second
                .write([measured, wind, power, rotor, state, nacelle])
        };
        let key = self.key.write([
            ("farm", Value::String("Nordhorn".into())),
            ("number", Value::Int(number)),
        ]);
        vec![Outgoing {
            partition: number % 2,
            key: Some(key),
            value: Some(value),
            headers: Vec::new(),
        }]
    }
}
