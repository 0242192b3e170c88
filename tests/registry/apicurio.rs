//! Apicurio's own API.

use super::*;

/// Answers like Apicurio 3 with three schemas; `R` builds on `D`.
fn apicurio(request: &Request) -> Reply {
    let path = request
        .path()
        .strip_prefix("/x/apis/registry/v3")
        .unwrap_or("outside");
    let avro = |text: &str| {
        Reply::text(200, "application/json", text).header("X-Registry-ArtifactType", "AVRO")
    };
    match path {
        "/system/info" => Reply::text(
            200,
            "application/json",
            r#"{"name":"Apicurio Registry","version":"3"}"#,
        ),
        "/ids/globalIds/5" => avro("\"five\""),
        "/ids/contentIds/5" => avro("\"content five\""),
        "/ids/globalIds/6" => avro("\"six\""),
        "/ids/globalIds/4294967301" => {
            Reply::text(200, "application/x-protobuf", "syntax = \"proto3\";")
                .header("X-Registry-ArtifactType", "PROTOBUF")
        }
        "/ids/globalIds/5/references" => Reply::text(
            200,
            "application/json",
            r#"[{"groupId":null,"artifactId":"D d","version":"2","name":"acme.D"},{"groupId":"g","artifactId":"E","name":"acme.E"}]"#,
        ),
        "/groups/default/artifacts/D%20d/versions/2/content"
        | "/groups/g/artifacts/E/versions/branch%3Dlatest/content" => avro("\"dependency\""),
        "/groups/default/artifacts/t-value/versions/branch%3Dlatest/content" => {
            Reply::text(200, "application/json", "\"latest\"")
        }
        path if path.ends_with("/references") => Reply::text(200, "application/json", "[]"),
        _ => Reply::text(
            404,
            "application/json",
            r#"{"detail":"No artifact","title":"No artifact","status":404,"name":"ArtifactNotFoundException"}"#,
        ),
    }
}

#[tokio::test]
async fn by_its_own_ids() {
    let server = Server::start(apicurio).unwrap();
    let own = |base: &str, kind: &str| {
        client(
            json!({ "schemaRegistryUrl": format!("{}{base}", server.url()), "schemaRegistryType": kind }),
            &[],
        )
    };
    let number = |kind, id| SchemaId::Apicurio { kind, id };
    let (global, content) = (ApicurioId::Global, ApicurioId::Content);
    for (base, kind, id, want) in [
        ("/x", "apicurio", number(global, 5), Ok("\"five\"")),
        (
            "/x/apis/registry/v3",
            "apicurio",
            number(content, 5),
            Ok("\"content five\""),
        ),
        (
            "/x/apis/ccompat/v7",
            "confluent",
            number(global, 5),
            Ok("\"five\""),
        ),
        (
            "/x",
            "apicurio",
            number(global, (1 << 32) + 5),
            Ok("syntax = \"proto3\";"),
        ),
        ("/x", "apicurio", SchemaId::Id(5), Ok("\"content five\"")),
        ("/x", "apicurio", SchemaId::Id(6), Ok("\"six\"")),
        ("/x", "apicurio", latest("t-value"), Ok("\"latest\"")),
        ("/x", "apicurio", number(global, 99), Err("global id 99")),
        ("/x", "apicurio", SchemaId::Guid([0; 16]), Err("ccompat")),
    ] {
        let found = ask(&own(base, kind), id.clone()).await;
        match (found, want) {
            (Ok(found), Ok(text)) => assert_eq!(found.text, text, "{id} at {base}"),
            (Err(error), Err(says)) => {
                assert!(error.to_string().contains(says), "{id} at {base}: {error}");
            }
            (found, _) => panic!("{id} at {base}: {found:?}"),
        }
    }
    let found = ask(&own("/x", "apicurio"), number(global, 5))
        .await
        .unwrap();
    let names: Vec<_> = found
        .references
        .iter()
        .map(|reference| reference.name.as_str())
        .collect();
    assert_eq!(names, ["acme.D", "acme.E"]);
    own("/x", "apicurio").check().await.unwrap();
    assert!(own("/y", "apicurio").check().await.is_err());
}
