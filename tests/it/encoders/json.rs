//! JSON, by Confluent's serializer for JSON Schema: the text stands behind a frame that names its schema.

use anyhow::Result;
use serde_json::json;

use super::Written;

#[tokio::test]
async fn evolved() -> Result<()> {
    let table = r#"
        ["a", "b"]
        [0, null]
        [1, "x"]
        [2, null]
    "#;
    let written = Written::case("json", "evolved").await?;
    written.shows(json!({"messageFormat": "json"}), table).await
}

#[tokio::test]
async fn references_and_keys() -> Result<()> {
    let table = r#"
        ["key.id", "at.x", "name"]
        [0, 0.5, "p0"]
        [1, 1.5, "p1"]
    "#;
    let written = Written::case("json", "references").await?;
    written
        .shows(json!({"messageFormat": "json", "keyFormat": "json"}), table)
        .await
}
