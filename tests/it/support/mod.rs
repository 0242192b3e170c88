//! What the tests share: a running plugin with a data source, its answers as rows, its packets as rows.

mod answer;
mod host;
mod rows;
mod run;

pub(crate) use answer::{Answer, Live};
pub(crate) use host::{Host, query, settings_for};
pub(crate) use rows::{Row, Seen};
pub(crate) use run::Run;
