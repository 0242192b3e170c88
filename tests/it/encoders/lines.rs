//! Line protocol, by the Influx client.

use anyhow::Result;
use serde_json::json;

use super::Written;

/// A row a field, the Go plugin's layout; a field's value stands in the column of its type.
#[tokio::test]
async fn types() -> Result<()> {
    let table = r#"
        ["_measurement", "_field", "value", "value_str", "host"]
        ["cpu", "busy", 0, null, "web-0"]
        ["cpu", "cores", 8, null, "web-0"]
        ["cpu", "note", null, "all \"good\", \\ said\nthe kernel", "web-0"]
        ["cpu", "user", 12.5, null, "web-0"]
        ["cpu", "busy", 1, null, "web-1"]
        ["cpu", "cores", 8, null, "web-1"]
        ["cpu", "note", null, "all \"good\", \\ said\nthe kernel", "web-1"]
        ["cpu", "user", 13.5, null, "web-1"]
    "#;
    let written = Written::case("lines", "types").await?;
    written
        .shows(json!({"messageFormat": "lineprotocol"}), table)
        .await
}

#[tokio::test]
async fn types_in_wide_columns() -> Result<()> {
    let table = r#"
        ["cpu.busy{host=web-0}", "cpu.busy{host=web-1}", "cpu.cores{host=web-0}", "cpu.cores{host=web-1}", "cpu.note{host=web-0}", "cpu.note{host=web-1}", "cpu.user{host=web-0}", "cpu.user{host=web-1}"]
        [false, null, 8, null, "all \"good\", \\ said\nthe kernel", null, 12.5, null]
        [null, true, null, 8, null, "all \"good\", \\ said\nthe kernel", null, 13.5]
    "#;
    let written = Written::case("lines", "types").await?;
    let keys = json!({"messageFormat": "lineprotocol", "lineProtocolLayout": "wide"});
    written.shows(keys, table).await
}

#[tokio::test]
async fn escapes() -> Result<()> {
    let table = r#"
        ["_measurement", "_field", "value", "value_str", "t=g, h"]
        ["my m,x=y", "f,1 =", 1, null, "a b,c=d"]
        ["my m,x=y", "quoted", null, "a b,c=d", "a b,c=d"]
    "#;
    let written = Written::case("lines", "escapes").await?;
    written
        .shows(json!({"messageFormat": "lineprotocol"}), table)
        .await
}

#[tokio::test]
async fn several_lines_a_record() -> Result<()> {
    let table = r#"
        ["cpu.system{host=a}", "cpu.system{host=b}", "cpu.user{host=a}", "cpu.user{host=b}", "mem.free{host=a}"]
        [0.5, 1.5, 1.5, 2.5, 1024]
    "#;
    let written = Written::case("lines", "batch").await?;
    let keys = json!({"messageFormat": "lineprotocol", "lineProtocolLayout": "wide"});
    written.shows(keys, table).await
}

/// The unit of each time is told by its size.
#[tokio::test]
async fn precisions() -> Result<()> {
    let table = r#"
        ["time", "_measurement", "_field", "value", "value_str"]
        ["@2026-01-01T12:00:00Z", "m", "v", 1, null]
        ["@2026-01-01T12:00:00.123Z", "m", "v", 1, null]
        ["@2026-01-01T12:00:00.123Z", "m", "v", 1, null]
        ["@2026-01-01T12:00:00.123Z", "m", "v", 1, null]
    "#;
    let written = Written::case("lines", "precisions").await?;
    written
        .shows(json!({"messageFormat": "lineprotocol"}), table)
        .await
}
