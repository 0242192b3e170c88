//! Registration, as a producer's build does it.

use anyhow::{Context as _, bail, ensure};
use serde_json::{Value, json};
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::TcpStream;

use super::{Ids, Kind, Registered};

/// Registers the schemas, in their order, in the registry at `url` (`http://host:port/path`), and gives their ids.
pub async fn register(url: &str, schemas: &[Registered]) -> anyhow::Result<Ids> {
    let (host, base) = split(url)?;
    let mut ids = Ids::default();
    for schema in schemas {
        let path = format!("{base}/subjects/{}/versions", schema.subject);
        let body = json!({
            "schema": schema.text,
            "schemaType": match schema.kind {
                Kind::Avro => "AVRO",
                Kind::Protobuf => "PROTOBUF",
            },
            "references": schema.references,
        });
        let answer = post(host, &path, &body)
            .await
            .with_context(|| format!("registering {} at {url}", schema.subject))?;
        let id = answer["id"].as_u64().context("the answer has no id")?;
        ids.0
            .insert((schema.subject, schema.version), u32::try_from(id)?);
    }
    Ok(ids)
}

/// Splits `http://host:port/path` into `host:port` and `/path`.
fn split(url: &str) -> anyhow::Result<(&str, &str)> {
    let rest = url.strip_prefix("http://").with_context(|| {
        format!("expected a registry's address as http://host:port/path, found {url}")
    })?;
    let at = rest.find('/').unwrap_or(rest.len());
    Ok((&rest[..at], rest[at..].trim_end_matches('/')))
}

/// Sends one request on a connection of its own.
async fn post(host: &str, path: &str, body: &Value) -> anyhow::Result<Value> {
    let body = body.to_string();
    // HTTP/1.0: the answer ends with the connection.
    let request = format!(
        "POST {path} HTTP/1.0\r\nHost: {host}\r\nContent-Type: application/vnd.schemaregistry.v1+json\r\n\
         Content-Length: {}\r\n\r\n{body}",
        body.len()
    );
    let mut socket = TcpStream::connect(host).await?;
    socket.write_all(request.as_bytes()).await?;
    let mut answer = Vec::new();
    socket.take(LARGEST_ANSWER).read_to_end(&mut answer).await?;
    let answer = String::from_utf8_lossy(&answer);
    let Some((head, body)) = answer.split_once("\r\n\r\n") else {
        bail!("the registry answered no HTTP");
    };
    let status = head.split_whitespace().nth(1).unwrap_or_default();
    ensure!(status == "200", "the registry answered {status}: {body}");
    Ok(serde_json::from_str(body)?)
}

const LARGEST_ANSWER: u64 = 1 << 20;

#[cfg(test)]
mod tests {
    use super::split;

    #[test]
    fn addresses() {
        for (url, parts) in [
            (
                "http://a:1/apis/ccompat/v7/",
                Some(("a:1", "/apis/ccompat/v7")),
            ),
            ("http://a:1", Some(("a:1", ""))),
            ("https://a:1", None),
            ("a:1", None),
        ] {
            assert_eq!(split(url).ok(), parts, "{url}");
        }
    }
}
