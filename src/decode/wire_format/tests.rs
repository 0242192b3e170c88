use super::*;
use crate::config::PanelQuery;

fn wire(framing: Framing, role: Role) -> Wire {
    let spec = PanelQuery::parse(br#"{"topicName":"t"}"#).unwrap().spec;
    Wire::new(&spec, role, framing, &SubjectSelection::Topic)
}

fn id(kind: ApicurioId, id: u64) -> SchemaId {
    SchemaId::Apicurio { kind, id }
}

#[test]
fn frames() {
    use Framing::{Apicurio, Auto, Confluent, ConfluentHeader, Glue, None};
    let latest = || SchemaId::Latest("t-value".into());
    for (framing, bytes, want) in [
        (
            Confluent,
            &[0, 0, 0, 1, 7][..],
            Some((SchemaId::Id(263), 5)),
        ),
        (Confluent, &[0, 0, 0, 0], Option::None),
        (Confluent, &[1, 0, 0, 0, 7], Option::None),
        (
            Apicurio,
            &[0, 0, 0, 0, 0, 0, 0, 0, 7],
            Some((id(ApicurioId::Global, 7), 9)),
        ),
        (Apicurio, &[0, 0, 0, 0, 7], Option::None),
        (None, &[0, 0, 0, 0, 7], Some((latest(), 0))),
        (ConfluentHeader, &[0, 0, 0, 0, 7], Option::None),
        (Glue, &[3; 20], Option::None),
        (Auto, &[0, 0, 0, 0, 7], Some((SchemaId::Id(7), 5))),
        (Auto, &[2, 0, 0, 0, 7], Some((latest(), 0))),
        (Auto, &[0, 0, 0, 7], Some((latest(), 0))),
        (
            Auto,
            &[0, 0, 0, 0, 0, 0, 0, 0, 7, 1],
            Some((id(ApicurioId::Global, 7), 9)),
        ),
        (Auto, &[0, 0, 0, 0, 0], Some((SchemaId::Id(0), 5))),
    ] {
        let got = wire(framing, Role::Value).frame(bytes, &[]).ok();
        assert_eq!(
            got.map(|frame| (frame.id, frame.start)),
            want,
            "{framing:?} {bytes:?}"
        );
    }
}

#[test]
fn headers_name_schemas() {
    use Framing::{Apicurio, Auto, Confluent, ConfluentHeader};
    let guid = [&[1][..], &[9; 16]].concat();
    let eight = [0, 0, 0, 0, 0, 0, 1, 0];
    // The value begins like a frame: the header wins, and the value stays as it is.
    let framed = [0, 0, 0, 0, 7];
    for (framing, role, headers, want) in [
        (
            Auto,
            Role::Value,
            vec![("__value_schema_id", &guid[..])],
            Ok((SchemaId::Guid([9; 16]), 0)),
        ),
        (
            Auto,
            Role::Key,
            vec![("__value_schema_id", &guid[..])],
            Ok((SchemaId::Id(7), 5)),
        ),
        (
            Auto,
            Role::Key,
            vec![("__key_schema_id", &[0, 0, 0, 0, 5])],
            Ok((SchemaId::Id(5), 0)),
        ),
        (
            Auto,
            Role::Value,
            vec![("x", b"y"), ("apicurio.value.globalId", &eight)],
            Ok((id(ApicurioId::Global, 256), 0)),
        ),
        (
            Apicurio,
            Role::Key,
            vec![("apicurio.key.contentId", &eight)],
            Ok((id(ApicurioId::Content, 256), 0)),
        ),
        (
            ConfluentHeader,
            Role::Value,
            vec![
                ("__value_schema_id", &[0, 0, 0, 0, 5]),
                ("__value_schema_id", &guid),
            ],
            Ok((SchemaId::Guid([9; 16]), 0)),
        ),
        (
            Confluent,
            Role::Value,
            vec![("__value_schema_id", &guid)],
            Ok((SchemaId::Id(7), 5)),
        ),
        (
            ConfluentHeader,
            Role::Value,
            vec![("apicurio.value.globalId", &eight)],
            Err("expected a header"),
        ),
        (
            Auto,
            Role::Value,
            vec![("__value_schema_id", b"12")],
            Err("found 2 bytes"),
        ),
        (
            Auto,
            Role::Value,
            vec![("apicurio.value.globalId", b"12")],
            Err("an id of 8 bytes"),
        ),
    ] {
        let list: Vec<_> = headers
            .iter()
            .map(|(name, value)| Header {
                name: name.as_bytes(),
                value: Some(value),
            })
            .collect();
        let got = wire(framing, role).frame(&framed, &list);
        match (got, want) {
            (Ok(frame), Ok(want)) => {
                assert_eq!((frame.id, frame.start), want, "{framing:?} {headers:?}");
            }
            (Err(error), Err(part)) => {
                assert!(error.to_string().contains(part), "{headers:?}: {error}");
            }
            (got, want) => panic!("{framing:?} {headers:?}: {got:?}, not {want:?}"),
        }
    }
}

#[test]
fn values_of_0_bytes() {
    use Framing::{Auto, Confluent, None};
    let latest = || Ok(SchemaId::Latest("t-value".into()));
    let error = Err("expected a schema id at the start, found 0 bytes");
    for (framing, is_protobuf, want) in [
        (Auto, false, error.clone()),
        (Auto, true, latest()),
        (None, false, latest()),
        (Confluent, true, error),
    ] {
        let mut wire = wire(framing, Role::Value);
        if is_protobuf {
            wire = wire.of_protobuf();
        }
        let got = wire.frame(b"", &[]).map_err(|error| error.to_string());
        match want {
            Ok(id) => assert_eq!(got.map(|frame| (frame.id, frame.start)), Ok((id, 0))),
            Err(part) => assert!(got.as_ref().is_err_and(|e| e.contains(part)), "{got:?}"),
        }
    }
}

#[test]
fn bodies_of_schemas_in_the_query() {
    use Framing::{Apicurio, Auto, Confluent, ConfluentHeader, Glue, None};
    let glue = |compression: u8| [&[3, compression][..], &[9; 16], b"x"].concat();
    let confluent = vec![0, 0, 0, 0, 7];
    for (framing, bytes, want) in [
        (None, &confluent, Some((Body::At(0), Option::None))),
        (
            ConfluentHeader,
            &confluent,
            Some((Body::At(0), Option::None)),
        ),
        (Confluent, &confluent, Some((Body::At(5), Option::None))),
        (Confluent, &vec![0; 4], Option::None),
        (Apicurio, &vec![0; 9], Some((Body::At(9), Option::None))),
        (Apicurio, &confluent, Option::None),
        (Glue, &glue(0), Some((Body::At(18), Option::None))),
        (Glue, &glue(5), Some((Body::Zlib(18), Option::None))),
        (Glue, &glue(6), Option::None),
        (Glue, &confluent, Option::None),
        (Auto, &confluent, Some((Body::At(0), Some(Body::At(5))))),
        (Auto, &glue(5), Some((Body::At(0), Some(Body::Zlib(18))))),
        (Auto, &glue(6), Some((Body::At(0), Option::None))),
        (Auto, &vec![1; 30], Some((Body::At(0), Option::None))),
    ] {
        let got = wire(framing, Role::Value).body(bytes, &[]).ok();
        assert_eq!(got, want, "{framing:?} {bytes:?}");
    }
}

#[test]
fn compressed_bodies() {
    let zlib = miniz_oxide::deflate::compress_to_vec_zlib(b"body", 6);
    let huge = miniz_oxide::deflate::compress_to_vec_zlib(&vec![0; MAX_INFLATED + 1], 6);
    for (bytes, want) in [
        (&zlib[..], Some(&b"body"[..])),
        (&zlib[..5], None),
        (b"", None),
        (&huge, None),
    ] {
        let got = Body::Zlib(0).inflated(bytes).ok().flatten();
        assert_eq!(got.as_deref(), want, "{} bytes", bytes.len());
    }
}

#[test]
fn frames_before_json() {
    let zlib = miniz_oxide::deflate::compress_to_vec_zlib(b"{}", 6);
    let packed = [b"\x03\x05aaaaaaaaaaaaaaaa", &zlib[..]].concat();
    for (bytes, want) in [
        (&b"{}"[..], &b"{}"[..]),
        (b"\0\0\0\0\x07{}", b"{}"),
        (b"\0\0\0\0\0\0\0\0\x07{}", b"{}"),
        (b"\x03\0aaaaaaaaaaaaaaaa{}", b"{}"),
        (&packed, b"{}"),
        (b"\x03\x05aaaa", b"\x03\x05aaaa"),
        (b"\x03\x07aaaaaaaaaaaaaaaa{}", b"\x03\x07aaaaaaaaaaaaaaaa{}"),
        (b"\0\0", b"\0\0"),
        (b"", b""),
    ] {
        assert_eq!(without_frame(bytes).unwrap(), want, "{bytes:?}");
    }
    let error = without_frame(&packed[..20]).unwrap_err();
    assert!(error.to_string().contains("zlib"), "{error}");
}
