//! Schemas that records need and the pipeline has not met.

use crate::schema::{Need, SchemaFault};

/// Says that nobody can be asked for a schema.
pub(super) fn no_registry(need: &Need) -> SchemaFault {
    SchemaFault::new(format!(
        "{}: the data source has no schema registry: set its URL in the data source's settings, or choose `Inline Schema` in the query",
        need.id
    ))
}
