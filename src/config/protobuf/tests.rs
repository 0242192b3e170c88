//! Schemas: texts, descriptors in base64, imports that are there, broken or missing.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use prost_reflect::MessageDescriptor;
use prost_reflect::prost_types::{FileDescriptorProto, FileDescriptorSet};
use protox::file::File;

use super::*;
use crate::schema::Reference;

fn references(of: &[(&str, &str)]) -> Vec<Reference> {
    let reference = |&(name, text): &(&str, &str)| Reference {
        name: name.to_owned(),
        text: text.to_owned(),
    };
    of.iter().map(reference).collect()
}

fn descriptor(name: &str, text: &str) -> FileDescriptorProto {
    let file = File::from_source(name, text).unwrap();
    file.file_descriptor_proto().clone()
}

fn base64(message: &impl prost_reflect::prost::Message) -> String {
    STANDARD.encode(message.encode_to_vec())
}

const A: &str = "syntax = 'proto3'; package p; message A { int32 a = 1; enum E { X = 0; } }";

#[test]
fn what_is_read() {
    let a = descriptor("dir/a.proto", A);
    let b = descriptor(
        "b.proto",
        "syntax = 'proto3'; import 'dir/a.proto'; message B { p.A a = 1; }",
    );
    let set = FileDescriptorSet {
        file: vec![a.clone(), b.clone()],
    };
    let lines: Vec<_> = base64(&set)
        .into_bytes()
        .chunks(76)
        .map(<[u8]>::to_vec)
        .collect();
    let lines = String::from_utf8(lines.join(&b"\r\n"[..])).unwrap();
    for (name, text, want) in [
        ("a text", A.to_owned(), "`p.A`"),
        ("one file", base64(&a), "`p.A`"),
        ("a file with an empty line around", format!("\n{}\n", base64(&a)), "`p.A`"),
        ("a set, of which the last file counts", base64(&set), "`B`"),
        ("a set in lines", lines, "`B`"),
        ("a set of one", base64(&FileDescriptorSet { file: vec![a] }), "`p.A`"),
        ("nested messages", "message A { message B { message C {} } } message D {}".to_owned(), "`A`, `A.B`, `A.B.C`, `D`"),
        ("no syntax is proto2", "message A { optional int32 a = 1 [default = 5]; }".to_owned(), "`A`"),
        ("Google's own imports", [
            "any", "api", "descriptor", "duration", "empty", "field_mask", "source_context", "struct", "timestamp", "type", "wrappers",
        ].map(|name| format!("import 'google/protobuf/{name}.proto';")).concat() + "message A { optional google.protobuf.Timestamp t = 1; }", "`A`"),
        ("options that nobody declares", "import 'buf/validate.proto'; option (a.b) = 1; message A { option (c) = { d: 1 }; optional int32 a = 1 [(buf.validate.field).required = true, deprecated = true]; enum E { option allow_alias = true; X = 0 [(e) = 1]; Y = 0; } oneof o { option (f) = 1; int32 b = 2; } } service S { rpc R(Missing) returns (A); }".to_owned(), "`A`"),
        ("an import that nothing needs", "import 'missing.proto'; message A { optional B b = 1; } message B {}".to_owned(), "`A`, `B`"),
        ("an import twice, and its own name", "import 'google/protobuf/any.proto'; import 'google/protobuf/any.proto'; message A {}".to_owned(), "`A`"),
        ("extensions", "message A { extensions 100 to 199; } extend A { optional int32 e = 100; }".to_owned(), "`A`"),
        ("comments and strings with brackets", format!("// {0}\n/* {0} */ message A {{ optional string a = 1 [default = '{0}']; }}", "{".repeat(100)), "`A`"),
    ] {
        match ProtobufSchema::parse(&text) {
            Ok(schema) => assert_eq!(schema.message_names(), want, "{name}"),
            Err(reason) => panic!("{name}: {reason}"),
        }
    }
}

#[test]
fn what_is_refused() {
    let missing = "message A { optional x.B b = 1; }";
    for (name, text, want) in [
        ("no schema", "hello world", "schema.proto:1:1"),
        (
            "a place in the text",
            "message A {\n  optional B b = 1;\n}",
            "schema.proto:2:12: name 'B' is not defined",
        ),
        (
            "an edition that is not read as text",
            "// x\nedition = \"2024\"; message A {}",
            "its edition is not supported as text, other than 2023",
        ),
        (
            "an unknown syntax",
            "syntax = 'proto4';",
            "unknown syntax 'proto4'",
        ),
        ("nothing", "   ", "no message"),
        (
            "a number twice",
            "message A { optional int32 a = 1; optional int32 b = 1; }",
            "number",
        ),
        (
            "brackets",
            &format!("message A {{ {}", "message B {".repeat(70)),
            "deeper than 64",
        ),
        ("a long text", &" ".repeat((1 << 20) + 1), "1024 KiB"),
        (
            "an import that is needed",
            &format!("import 'x.proto'; {missing}"),
            "its import `x.proto`: it is not there",
        ),
    ] {
        let reason = ProtobufSchema::parse(text).map(|of| of.message_names());
        assert!(
            reason.as_ref().is_err_and(|reason| reason.contains(want)),
            "{name}: {reason:?}"
        );
    }
}

/// What is broken, or missing, is an error for the messages that need it.
#[test]
fn imports() {
    let main = "syntax = 'proto3'; package q; import 'dir/a.proto'; import public 'broken.proto'; import 'loop.proto'; import 'missing.proto'; \
        message Good { p.A a = 1; p.A.E e = 2; } \
        message Bad { int32 i = 1; Lost l = 2; message In { int32 i = 1; } } \
        message Far { Bad b = 1; } \
        message Map { map<string, Lost> m = 1; } \
        message Round { Loop l = 1; }";
    let schema = Descriptors::compile(
        main,
        &references(&[
            ("never.proto", "{"),
            ("broken.proto", "syntax = 'proto3'; package q; message Lost {"),
            ("dir/a.proto", A),
            ("loop.proto", "syntax = 'proto3'; package q; import 'schema.proto'; import 'loop.proto'; message Loop {}"),
        ]),
    )
    .unwrap();
    for (name, want) in [
        ("q.Good", None),
        (".q.Bad.In", None),
        ("q.Far", None),
        ("q.Bad", Some("its import `broken.proto`: expected")),
        ("q.Map", Some("its import `broken.proto`")),
        ("q.Round", None),
        ("p.A", None),
        ("google.protobuf.Timestamp", None),
    ] {
        let message = schema.by_name(name).unwrap_or_else(|| panic!("{name}"));
        let broken = schema.broken(message.full_name());
        match want {
            None => assert_eq!(broken, None, "{name}"),
            Some(want) => assert!(
                broken.is_some_and(|reason| reason.contains(want)),
                "{name}: {broken:?}"
            ),
        }
    }
    // As a registry has them whose clients register descriptors: each is base64.
    let b = "syntax = 'proto3'; import 'other/name.proto'; message B { p.A a = 1; }";
    let text = base64(&descriptor("b.proto", b));
    let a = base64(&descriptor("a.proto", A));
    let schema = Descriptors::compile(&text, &references(&[("other/name.proto", &a)])).unwrap();
    assert_eq!(
        (schema.message_names(), schema.any_broken()),
        ("`B`".to_owned(), None)
    );
}

/// Presence and groups as an edition's features say, from descriptors that protoc wrote and from the same as text.
#[test]
fn editions() {
    const A: &str = r#"edition = "2023";
package e;
enum Late { ONE = 1; option features.enum_type = CLOSED; }
message A {
  int32 explicit = 1;
  repeated int32 list = 3;
  A child = 4;
  A group = 5 [features.message_encoding = DELIMITED];
  map<string, A> map = 6;
  oneof o { int32 member = 7; }
  Late late = 8;
}
"#;
    const B: &str = r#"// A comment before it.
edition = "2023";
package e;
option features.field_presence = IMPLICIT;
option features.message_encoding = DELIMITED;
message B {
  int32 implicit = 1;
  int32 explicit = 2 [features.field_presence = EXPLICIT];
  B child = 3 [features.message_encoding = LENGTH_PREFIXED];
  B group = 4;
  map<string, B> map = 5;
  oneof o { int32 member = 6; }
  message In { string implicit = 1; int32 required = 2 [features = { field_presence: LEGACY_REQUIRED }]; }
  In in = 7;
}
"#;
    const BOTH: &str = "CsACCgdhLnByb3RvEgFlIo0CCgFBEhoKCGV4cGxpY2l0GAEgASgFUghleHBsaWNpdBISCgRsaXN0GAMgAygFUgRsaXN0EhoKBWNoaWxkGAQgAS\
        gLMgQuZS5BUgVjaGlsZBIhCgVncm91cBgFIAEoCzIELmUuQUIFqgECKAJSBWdyb3VwEh8KA21hcBgGIAMoCzINLmUuQS5NYXBFbnRyeVIDbWFw\
        EhgKBm1lbWJlchgHIAEoBUgAUgZtZW1iZXISGwoEbGF0ZRgIIAEoDjIHLmUuTGF0ZVIEbGF0ZRo8CghNYXBFbnRyeRIQCgNrZXkYASABKAlSA2\
        tleRIaCgV2YWx1ZRgCIAEoCzIELmUuQVIFdmFsdWU6AjgBQgMKAW8qFQoETGF0ZRIHCgNPTkUQARoEOgIQAmIIZWRpdGlvbnNw6AcKggMKB2Iu\
        cHJvdG8SAWUi3QIKAUISGgoIaW1wbGljaXQYASABKAVSCGltcGxpY2l0EiEKCGV4cGxpY2l0GAIgASgFQgWqAQIIAVIIZXhwbGljaXQSIQoFY2\
        hpbGQYAyABKAsyBC5lLkJCBaoBAigBUgVjaGlsZBIaCgVncm91cBgEIAEoCzIELmUuQlIFZ3JvdXASHwoDbWFwGAUgAygLMg0uZS5CLk1hcEVu\
        dHJ5UgNtYXASGAoGbWVtYmVyGAYgASgFSABSBm1lbWJlchIXCgJpbhgHIAEoCzIHLmUuQi5JblICaW4aPAoITWFwRW50cnkSEAoDa2V5GAEgAS\
        gJUgNrZXkSGgoFdmFsdWUYAiABKAsyBC5lLkJSBXZhbHVlOgI4ARpDCgJJbhIaCghpbXBsaWNpdBgBIAEoCVIIaW1wbGljaXQSIQoIcmVxdWly\
        ZWQYAiABKAVCBaoBAggDUghyZXF1aXJlZEIDCgFvQgeSAwQIAigCYghlZGl0aW9uc3DoBw==";
    let both = Descriptors::compile(BOTH, &[]).unwrap();
    // The parser takes enums for proto3's, which begin at 0.
    let a = A.replace("ONE = 1;", "NONE = 0; ONE = 1;");
    let (a, b) = (
        Descriptors::compile(&a, &[]).unwrap(),
        Descriptors::compile(B, &[]).unwrap(),
    );
    for (message, field, presence) in [
        ("e.A", "explicit", true),
        ("e.A", "list", false),
        ("e.A", "child", true),
        ("e.A", "group", true),
        ("e.A", "map", false),
        ("e.A", "member", true),
        ("e.A", "late", true),
        ("e.B", "implicit", false),
        ("e.B", "explicit", true),
        ("e.B", "child", true),
        ("e.B", "group", true),
        ("e.B", "map", false),
        ("e.B", "member", true),
        ("e.B.In", "implicit", false),
        ("e.B.In", "required", true),
    ] {
        for schema in [&both, if message == "e.A" { &a } else { &b }] {
            let of = schema.by_name(message).unwrap();
            let found = of.get_field_by_name(field).unwrap();
            assert_eq!(found.supports_presence(), presence, "{message}.{field}");
            assert_eq!(found.is_group(), field == "group", "{message}.{field}");
            assert_eq!(found.is_map(), field == "map", "{message}.{field}");
        }
    }
    let mut bytes = STANDARD.decode(BOTH).unwrap();
    let number = memchr::memmem::rfind(&bytes, b"\x70\xe8\x07").unwrap();
    bytes[number + 1] = 0xea;
    let future = STANDARD.encode(bytes);
    let reason = Descriptors::compile(&future, &[]).map(|_| ());
    assert!(
        reason
            .as_ref()
            .is_err_and(|reason| reason.contains("edition is not supported")),
        "{reason:?}"
    );
}

/// A message's place, as clients count that register text, and those that register descriptors.
#[test]
fn places() {
    let text = "syntax = 'proto3'; message A { message B {} map<int32, int32> m = 1; message C { message D {} } } message E {}";
    let encoded = base64(&descriptor("a.proto", text));
    for (path, of_text, of_base64) in [
        (&[0][..], Some("A"), Some("A")),
        (&[1], Some("E"), Some("E")),
        (&[2], None, None),
        (&[0, 0], Some("A.B"), Some("A.B")),
        (&[0, 1], Some("A.C"), Some("A.C")),
        (&[0, 2], Some("A.C"), Some("A.C")),
        (&[0, 2, 0], Some("A.C.D"), Some("A.C.D")),
        (&[0, 1, 0], Some("A.C.D"), Some("A.C.D")),
        (&[], None, None),
    ] {
        for (schema, want) in [(text, of_text), (&encoded, of_base64)] {
            let schema = Descriptors::compile(schema, &[]).unwrap();
            let found = schema.by_path(path);
            assert_eq!(
                found.as_ref().map(MessageDescriptor::full_name),
                want,
                "{path:?}"
            );
        }
    }
}
