//! Schemas by all that names one.

use super::*;

#[tokio::test]
async fn schemas_by_every_name() {
    let guid = *b"\x01\x23\x45\x67\x89\xab\xcd\xef\x01\x23\x45\x67\x89\xab\xcd\xef";
    let book = Book::default()
        .entry(entry("t-value", 1, 7, "\"int\""))
        .entry(entry("t-value", 2, 8, "\"long\""))
        .entry(Entry {
            kind: Kind::Protobuf,
            guid: "01234567-89ab-cdef-0123-456789abcdef".into(),
            ..entry("p", 1, 9, "syntax = \"proto3\";")
        })
        .entry(Entry {
            kind: Kind::Json,
            references: vec![("x".into(), "nowhere".into(), 1)],
            ..entry("j", 1, 10, "{}")
        });
    let server = book_server(book);
    let registry = at(&format!("{}/", server.url()));
    for (id, kind, text) in [
        (SchemaId::Id(7), SchemaKind::Avro, "\"int\""),
        (SchemaId::Id(8), SchemaKind::Avro, "\"long\""),
        (
            SchemaId::Id(9),
            SchemaKind::Protobuf,
            "syntax = \"proto3\";",
        ),
        (SchemaId::Id(10), SchemaKind::Json, "{}"),
        (
            SchemaId::Guid(guid),
            SchemaKind::Protobuf,
            "syntax = \"proto3\";",
        ),
        (latest("t-value"), SchemaKind::Avro, "\"long\""),
    ] {
        let found = ask(&registry, id.clone()).await.unwrap();
        assert_eq!((found.kind, found.text.as_str()), (kind, text), "{id}");
    }
    registry.check().await.unwrap();
}

/// S05
#[tokio::test]
async fn subjects_are_escaped_once() {
    for (subject, path) in [
        ("ns/Type", "/base/subjects/ns%2FType/versions/latest"),
        ("a b", "/base/subjects/a%20b/versions/latest"),
        ("other.proto", "/base/subjects/other.proto/versions/latest"),
        ("50%25", "/base/subjects/50%2525/versions/latest"),
        (
            ":.ctx:t-value",
            "/base/subjects/%3A.ctx%3At-value/versions/latest",
        ),
    ] {
        let server = Server::start(|_| Reply::json(200, &json!({ "schema": "\"int\"" }))).unwrap();
        let registry = at(&format!("{}/base/", server.url()));
        ask(&registry, latest(subject)).await.unwrap();
        assert_eq!(server.requests()[0].target, path, "{subject}");
    }
}

/// S11
#[tokio::test]
async fn soft_deleted_schemas_are_still_read() {
    let deleted = |entry: Entry| Entry {
        deleted: true,
        ..entry
    };
    let server = book_server(
        Book::default()
            .entry(deleted(entry("t-value", 1, 7, "\"int\"")))
            .entry(deleted(referring("a", 8, &[("b", "b")])))
            .entry(deleted(referring("b", 9, &[]))),
    );
    let registry = at(&server.url());
    assert_eq!(text_of(&registry, SchemaId::Id(7)).await, "\"int\"");
    assert_eq!(text_of(&registry, latest("t-value")).await, "\"int\"");
    assert_eq!(
        ask(&registry, SchemaId::Id(8))
            .await
            .unwrap()
            .references
            .len(),
        1
    );
}

/// S13
#[tokio::test]
async fn contexts_have_ids_of_their_own() {
    let server = book_server(
        Book::default()
            .entry(entry("t-value", 1, 1, "\"int\""))
            .entry(entry(":.a:u-value", 1, 1, "\"long\""))
            .entry(Entry {
                references: vec![("x".into(), "dep".into(), 1)],
                ..entry(":.a:r-value", 1, 2, "r")
            })
            .entry(Entry {
                references: vec![("x".into(), "dep".into(), 1)],
                ..entry("s-value", 1, 2, "s")
            })
            .entry(entry(":.a:dep", 1, 3, "dep of a"))
            .entry(entry("dep", 1, 3, "dep of none")),
    );
    let registry = at(&server.url());
    for (topic, want) in [("t", "\"int\""), ("u", "\"long\""), ("t", "\"int\"")] {
        let topic = TopicName::parse(topic).unwrap();
        let found = registry
            .schema(&SchemaId::Id(1), Role::Value, &topic)
            .await
            .unwrap();
        assert_eq!(found.text, want, "{topic}");
    }
    let found = ask(&registry, latest(":.a:r-value")).await.unwrap();
    assert_eq!(found.references[0].text, "dep of a");
    for (topic, want) in [("r", "dep of a"), ("s", "dep of none")] {
        let topic = TopicName::parse(topic).unwrap();
        let found = registry
            .schema(&SchemaId::Id(2), Role::Value, &topic)
            .await
            .unwrap();
        assert_eq!(found.references[0].text, want, "{topic}");
    }
}

/// The one version that every record needs is asked for again after a while, and not for each record.
#[tokio::test]
async fn the_latest_version_is_remembered() {
    let count = Arc::new(AtomicUsize::new(0));
    let asked = Arc::clone(&count);
    let server = Server::start(move |_| {
        Reply::json(
            200,
            &json!({ "schema": asked.fetch_add(1, Ordering::Relaxed).to_string() }),
        )
    })
    .unwrap();
    let registry = at(&server.url());
    for _ in 0..10 {
        assert_eq!(text_of(&registry, latest("t-value")).await, "0");
    }
    assert_eq!(count.load(Ordering::Relaxed), 1);
}
