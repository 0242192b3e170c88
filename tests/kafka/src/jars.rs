//! The broker's jars, fetched by Maven.

use std::path::PathBuf;

use anyhow::Result;

use crate::cache;

/// As in `pom.xml`; names the cache folder.
pub const KAFKA_VERSION: &str = "4.3.1";

const POM: &str = include_str!("../pom.xml");

/// Returns the folder with the jars, after fetching them (45 MB) where the cache has none.
pub(crate) fn folder() -> Result<PathBuf> {
    let name = format!("kafka-{KAFKA_VERSION}");
    cache::kept(&name, |folder| {
        eprintln!("fetching Apache Kafka {KAFKA_VERSION} with Maven");
        let goal = [
            "dependency:copy-dependencies",
            "-DincludeScope=runtime",
            "-DoutputDirectory=.",
        ];
        cache::maven(folder, POM, &goal, "the broker's jars")
    })
}
