//! Protobuf as its encoders write it: fields by number, what is default left out.

/// The schema of the first, in the words of the Go plugin's bench.
pub(super) const SENSOR: &str = r#"syntax = "proto3";
package benchdata;
message SensorReading {
  string id = 1;
  double value = 2;
  int64 count = 3;
}"#;

/// Thirty fields as telemetry has them: nested, with lists, an enum, a map, times, wrappers and parts that are optional.
pub(super) const TELEMETRY: &str = r#"syntax = "proto3";
package benchdata;
import "google/protobuf/timestamp.proto";
enum Status {
  UNKNOWN = 0;
  OK = 1;
  DEGRADED = 2;
  FAILED = 3;
}
message Location {
  double lat = 1;
  double lon = 2;
  string name = 3;
}
message Device {
  string serial = 1;
  string model = 2;
  string firmware = 3;
  uint32 revision = 4;
  Location location = 5;
  bool calibrated = 6;
}
message Telemetry {
  string id = 1;
  string site = 2;
  Status status = 3;
  google.protobuf.Timestamp at = 4;
  google.protobuf.Timestamp received = 5;
  double temperature = 6;
  double humidity = 7;
  double pressure = 8;
  int64 sequence = 9;
  sint32 drift = 10;
  uint64 uptime = 11;
  bool online = 12;
  Device device = 13;
  repeated string tags = 14;
  repeated int32 histogram = 15;
  map<string, double> limits = 16;
  optional string note = 17;
  oneof source {
    string host = 18;
    int64 gateway = 19;
  }
  bytes checksum = 20;
  fixed32 flags = 21;
  string operator = 22;
}"#;

/// `sensor-01`, 21.5 and 42: 22 bytes.
pub(super) fn sensor() -> Vec<u8> {
    let mut out = Vec::new();
    text(&mut out, 1, "sensor-01");
    double(&mut out, 2, 21.5);
    number(&mut out, 3, 42);
    out
}

/// 293 to 337 bytes.
pub(super) fn telemetry(i: usize) -> Vec<u8> {
    let n = i as u64;
    let time = |seconds: u64, nanos: u64| {
        let mut out = Vec::new();
        number(&mut out, 1, seconds);
        number(&mut out, 2, nanos);
        out
    };
    let mut location = Vec::new();
    double(&mut location, 1, 51.5 + i as f64 / 1e3);
    double(&mut location, 2, 9.25);
    text(&mut location, 3, "Göttingen, hall 3");
    let mut device = Vec::new();
    text(&mut device, 1, &format!("SN-{:08}", i * 7919));
    text(&mut device, 2, "TX-4100");
    text(&mut device, 3, "4.17.2-rc1");
    number(&mut device, 4, n % 5 + 1);
    bytes(&mut device, 5, &location);
    number(&mut device, 6, 1);
    let mut histogram = Vec::new();
    for value in [3, 14, 15, 92, 65, 358, n, 1979] {
        varint(&mut histogram, value);
    }

    let mut out = Vec::new();
    text(&mut out, 1, &format!("reading-{i:06}"));
    text(&mut out, 2, "plant-7/line-2");
    number(&mut out, 3, n % 3 + 1);
    bytes(&mut out, 4, &time(1_764_500_000 + n, 123_000_000));
    bytes(&mut out, 5, &time(1_764_500_001 + n, 456_789_000));
    double(&mut out, 6, 21.5 + i as f64 / 7.0);
    double(&mut out, 7, 0.425);
    double(&mut out, 8, 1013.25);
    number(&mut out, 9, 1_000_000 + n);
    number(&mut out, 10, n * 2 + 1);
    number(&mut out, 11, 86_400 * 365 + n);
    number(&mut out, 12, 1);
    bytes(&mut out, 13, &device);
    for tag in ["outdoor", "calibrated", "zone \"b\""] {
        text(&mut out, 14, tag);
    }
    bytes(&mut out, 15, &histogram);
    for (key, limit) in [("low", -10.0), ("high", 45.5)] {
        let mut entry = Vec::new();
        text(&mut entry, 1, key);
        double(&mut entry, 2, limit);
        bytes(&mut out, 16, &entry);
    }
    if i.is_multiple_of(3) {
        text(&mut out, 17, "checked by hand");
    }
    if i.is_multiple_of(4) {
        number(&mut out, 19, 40 + n);
    } else {
        text(&mut out, 18, "edge-03.eu-central.example");
    }
    bytes(&mut out, 20, &[0xde, 0xad, 0xbe, 0xef, i as u8, 1, 2, 3]);
    varint(&mut out, 21 << 3 | 5);
    out.extend_from_slice(&0x8000_0001_u32.to_le_bytes());
    text(&mut out, 22, "night shift");
    out
}

fn varint(out: &mut Vec<u8>, mut value: u64) {
    while value >= 0x80 {
        out.push(value as u8 | 0x80);
        value >>= 7;
    }
    out.push(value as u8);
}

fn number(out: &mut Vec<u8>, field: u64, value: u64) {
    varint(out, field << 3);
    varint(out, value);
}

fn double(out: &mut Vec<u8>, field: u64, value: f64) {
    varint(out, field << 3 | 1);
    out.extend_from_slice(&value.to_le_bytes());
}

fn bytes(out: &mut Vec<u8>, field: u64, value: &[u8]) {
    varint(out, field << 3 | 2);
    varint(out, value.len() as u64);
    out.extend_from_slice(value);
}

fn text(out: &mut Vec<u8>, field: u64, value: &str) {
    bytes(out, field, value.as_bytes());
}
