//! What the settings page says of the schema registry, and what the buttons say of schemas.

use std::time::{Duration, Instant};

use anyhow::Result;
use odd_registry::{Book, Reply, Server};
use real_kafka::Kafka;
use serde_json::{Value, json};
use workbench::host::proto::HealthStatus;

use super::support::Host;

fn book() -> Result<Server> {
    let book = Book::default();
    Server::start(move |request| book.answer(request))
}

#[tokio::test]
async fn health_says_both() -> Result<()> {
    let (kafka, good) = (Kafka::shared(), book()?);
    let closed = Server::start(|_| Reply::text(401, "text/html", "<h1>no</h1>"))?;
    let slow = Server::start(|_| Reply::json(200, &json!({})).after(Duration::from_mins(1)))?;
    let dead = "127.0.0.1:1";
    for (brokers, url, status, says) in [
        (
            &kafka.bootstrap()[..],
            good.url(),
            HealthStatus::Ok,
            ["Connected to Kafka", "schema registry is accessible"],
        ),
        (
            &kafka.bootstrap(),
            closed.url(),
            HealthStatus::Ok,
            ["Connected to Kafka", "Warning: the schema registry: "],
        ),
        (
            &kafka.bootstrap(),
            closed.url(),
            HealthStatus::Ok,
            ["401 Unauthorized", "credentials"],
        ),
        (
            &kafka.bootstrap(),
            slow.url(),
            HealthStatus::Ok,
            ["Connected to Kafka", "no answer within 1500 ms"],
        ),
        (
            &kafka.bootstrap(),
            "http://127.0.0.1:1".to_owned(),
            HealthStatus::Ok,
            ["Connected to Kafka", "refused"],
        ),
        (
            &kafka.bootstrap(),
            "sr:8081".to_owned(),
            HealthStatus::Ok,
            ["Connected to Kafka", "Invalid schema registry URL format"],
        ),
        (
            dead,
            good.url(),
            HealthStatus::Error,
            [dead, "schema registry is accessible"],
        ),
        (
            dead,
            closed.url(),
            HealthStatus::Error,
            [dead, "401 Unauthorized"],
        ),
    ] {
        let settings = json!({ "bootstrapServers": brokers, "schemaRegistryUrl": url, "healthcheckTimeout": 1500 });
        let host = Host::with(settings, &[]).await?;
        let start = Instant::now();
        let health = host.plugin.check_health(&host.source).await?;
        assert_eq!(health.status, status, "{brokers} {url}: {}", health.message);
        for part in says {
            assert!(
                health.message.contains(part),
                "{brokers} {url}: {}",
                health.message
            );
        }
        assert!(start.elapsed() < Duration::from_secs(3), "{brokers} {url}");
    }
    let host = Host::shared().await?;
    let health = host.plugin.check_health(&host.source).await?;
    assert!(!health.message.contains("registry"), "{}", health.message);
    Ok(())
}

#[tokio::test]
async fn the_registry_button() -> Result<()> {
    let good = book()?;
    let closed =
        Server::start(|_| Reply::json(403, &json!({ "error_code": 40301, "message": "denied" })))?;
    let page = Server::start(|_| Reply::text(200, "text/html", "<h1>hello</h1>"))?;
    for (url, code, says) in [
        (Some(good.url()), 200, "Schema registry is accessible"),
        (
            Some(closed.url()),
            400,
            "Cannot connect to schema registry: ",
        ),
        (Some(page.url()), 400, "login page"),
        (
            Some("ftp://sr".to_owned()),
            400,
            "Invalid schema registry URL format: ",
        ),
        (None, 400, "Schema registry URL is not configured"),
    ] {
        let mut settings = json!({ "bootstrapServers": "127.0.0.1:1" });
        if let Some(url) = &url {
            settings["schemaRegistryUrl"] = json!(url);
        }
        let answer = Host::with(settings, &[])
            .await?
            .get("validate-schema-registry")
            .await?;
        let (status, message) = (
            answer.json()["status"].clone(),
            answer.json()["message"].clone(),
        );
        assert_eq!(
            (answer.status, status),
            (code, json!(if code == 200 { 1 } else { 2 })),
            "{url:?}"
        );
        assert!(
            message
                .as_str()
                .is_some_and(|message| message.contains(says)),
            "{url:?}: {message}"
        );
    }
    Ok(())
}

#[tokio::test]
async fn the_schema_buttons() -> Result<()> {
    let host = Host::with(json!({ "bootstrapServers": "127.0.0.1:1" }), &[]).await?;
    let cases: [(&str, Value, u32, Value); 5] = [
        (
            "validate-avro-schema",
            json!({ "schema": "\"long\"" }),
            200,
            json!({ "status": 1, "message": "Schema is valid" }),
        ),
        (
            "validate-avro-schema",
            json!({ "schema": "" }),
            400,
            json!({ "status": 2, "message": "Schema cannot be empty" }),
        ),
        (
            "validate-avro-schema",
            json!({}),
            400,
            json!({ "status": 2, "message": "Schema cannot be empty" }),
        ),
        (
            "validate-avro-schema",
            json!(5),
            400,
            json!({ "error": "Invalid JSON in request body: it must be {\"schema\": text}" }),
        ),
        (
            "validate-schema-registry",
            json!({}),
            404,
            json!({ "error": "Not found" }),
        ),
    ];
    for (url, body, code, want) in cases {
        let answer = host.post(url, &body).await?;
        assert_eq!(
            (u32::try_from(answer.status)?, answer.json()),
            (code, want),
            "{url} {body}"
        );
    }
    Ok(())
}
