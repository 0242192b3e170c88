//! Avro, by Confluent's serializer and by fastavro.

use anyhow::Result;
use serde_json::json;

use super::Written;

#[tokio::test]
async fn logical_types_with_an_inline_schema() -> Result<()> {
    let written = Written::case("avro", "logical_raw").await?;
    let schema = json!({"avroSchemaSource": "inlineSchema", "avroSchema": written.said, "messageFormat": "avro"});
    written.shows(schema, LOGICAL).await
}

const LOGICAL: &str = r#"
    ["at_ms", "at_us", "clock_ms", "clock_us", "day", "id", "maybe", "price", "rate", "wall_ms", "wall_us"]
    ["@2026-03-29T01:30:15.123Z", "@2026-03-29T01:30:15.123Z", "23:59:59.999", "01:02:03.000004", "@2026-03-29T00:00:00Z", "6f9619ff-8b86-d011-b42d-00cf4fc964ff", null, -123.45, 0.0001, "2026-03-29T01:30:15.123", "2026-03-29T01:30:15.123456"]
    ["@1969-12-31T23:59:59.999Z", "@1969-12-31T23:59:59.999Z", "00:00:00.000", "00:00:00.000000", "@1969-12-31T00:00:00Z", "6f9619ff-8b86-d011-b42d-00cf4fc964ff", "@2026-03-29T01:30:15.123Z", 99999999.99, -99999999.9999, "1969-12-31T23:59:59.999", "1969-12-31T23:59:59.999999"]
"#;
