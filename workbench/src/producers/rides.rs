//! Taxis: Protobuf by a schema registry, with an imported schema.

use std::time::Duration;

use chrono::{DateTime, SecondsFormat};
use serde_json::{Value, json};

use super::schemas::ProtobufWriter;
use super::{About, Feed, Outgoing, Panel, pick, round, wave};
use crate::registry::Ids;

pub(super) const SUBJECT: &str = "rides-value";

pub(super) const GEO: &str = r#"syntax = "proto3";
package demo.geo;

message Point {
  double lat = 1;
  double lon = 2;
}
"#;

pub(super) const RIDE: &str = r#"syntax = "proto3";
package demo;

import "geo.proto";
import "google/protobuf/duration.proto";
import "google/protobuf/timestamp.proto";

message Ride {
  string taxi = 1;
  google.protobuf.Timestamp started = 2;
  google.protobuf.Duration taken = 3;
  geo.Point at = 4;
  Status status = 5;
  optional double fare = 6;
  repeated string tags = 7;
  map<string, int32> extras = 8;
  oneof payment {
    string card = 9;
    bool cash = 10;
  }
}

enum Status {
  UNKNOWN = 0;
  DRIVING = 1;
  DONE = 2;
}
"#;

pub(super) struct Rides {
    value: ProtobufWriter,
}

impl Rides {
    pub(super) fn new(ids: &Ids) -> Rides {
        Rides {
            value: ProtobufWriter::registered(ids, SUBJECT, "demo.Ride"),
        }
    }
}

impl Feed for Rides {
    fn about(&self) -> About {
        About {
            topic: "rides",
            partitions: 2,
            every: Duration::from_millis(500),
            history: Duration::from_mins(5),
            text: "Protobuf by the schema registry, 2 a second, 2 partitions",
        }
    }

    fn panel(&self) -> Panel {
        Panel::table(json!({
            "messageFormat": "protobuf", "protobufSchemaSource": "schemaRegistry", "keyFormat": "string",
        }))
    }

    fn turn(&mut self, now: i64) -> Vec<Outgoing> {
        let taxi = fastrand::u32(1..30);
        let seconds = fastrand::i64(40..1_800);
        let started = DateTime::from_timestamp_millis(now - seconds * 1_000).unwrap_or_default();
        let done = fastrand::bool();
        let mut ride = json!({
            "taxi": format!("T-{taxi}"),
            "started": started.to_rfc3339_opts(SecondsFormat::Millis, true),
            "taken": format!("{seconds}s"),
            "at": {"lat": wave(now, 300.0, 51.31, 51.37), "lon": wave(now, 220.0, 12.33, 12.42)},
            "status": if done { "DONE" } else { "DRIVING" },
            "tags": [pick(&["airport", "night", "shared"])],
            "extras": {"luggage": fastrand::u8(..3), "child seat": fastrand::u8(..2)},
        });
        if done {
            ride["fare"] = Value::from(round(4.2 + seconds as f64 / 90.0, 2));
            if fastrand::bool() {
                ride["cash"] = Value::from(true);
            } else {
                ride["card"] = Value::from(format!("…{}", fastrand::u32(1_000..10_000)));
            }
        }
        vec![Outgoing {
            partition: (taxi % 2) as i32,
            key: Some(format!("T-{taxi}").into()),
            value: Some(self.value.write(ride)),
            headers: Vec::new(),
        }]
    }
}
