//! Protobuf bytes under schemas that use every type, in every framing.
#![no_main]

use fuzz::{Stream, record, records};
use libfuzzer_sys::fuzz_target;
use serde_json::json;

fuzz_target!(|input: &[u8]| {
    let Some((&choice, rest)) = input.split_first() else {
        return;
    };
    let framings = [
        "auto",
        "none",
        "confluent",
        "confluentHeader",
        "apicurio",
        "glue",
    ];
    let messages = ["", "M", "Scalars", "Known"];
    let choice = usize::from(choice);
    let query = json!({
        "messageFormat": "protobuf",
        "protobufSchemaSource": "inlineSchema",
        "protobufSchema": SCHEMA,
        "protobufMessage": messages[choice % messages.len()],
        "framing": framings[choice / messages.len() % framings.len()],
    });
    let mut stream = Stream::new(query).expect("the query is right");
    for value in records(rest) {
        assert_eq!(stream.show(&record(value)).rows, 1);
    }
});

const SCHEMA: &str = r#"syntax = "proto2";
import "google/protobuf/any.proto";
import "google/protobuf/duration.proto";
import "google/protobuf/field_mask.proto";
import "google/protobuf/struct.proto";
import "google/protobuf/timestamp.proto";
import "google/protobuf/wrappers.proto";
message M {
  optional M child = 1;
  repeated M children = 2;
  map<string, Scalars> by_name = 3;
  map<int32, bytes> by_number = 4;
  oneof one {
    int32 number = 5;
    Scalars message = 6;
    string text = 7;
  }
  optional group Group = 8 {
    optional int32 a = 1;
    repeated group Inner = 2 {
      optional M m = 1;
    }
  }
  optional Scalars scalars = 9;
  optional Known known = 2000;
}
message Scalars {
  optional bool a = 1;
  optional int32 b = 2;
  optional sint64 c = 3;
  optional fixed64 d = 4;
  optional sfixed32 e = 5;
  optional float f = 6;
  optional double g = 7;
  optional string h = 8;
  optional bytes i = 9;
  optional Kind j = 10;
  repeated uint64 k = 11 [packed = true];
  repeated Kind l = 12;
  repeated double m = 13;
}
enum Kind {
  A = 0;
  B = 1;
  C = -1;
}
message Known {
  optional google.protobuf.Any any = 1;
  optional google.protobuf.Duration duration = 2;
  optional google.protobuf.FieldMask mask = 3;
  optional google.protobuf.Struct object = 4;
  optional google.protobuf.Value value = 5;
  optional google.protobuf.Timestamp time = 6;
  optional google.protobuf.BytesValue bytes = 7;
  repeated google.protobuf.Timestamp times = 8;
}
"#;
