//! A running channel, read packet by packet.

use std::collections::BTreeMap;
use std::ops::Deref;
use std::time::Duration;

use anyhow::{Context, Result, bail};
use serde_json::Value;
use tokio::time::{Instant, timeout_at};
use workbench::host::Packets;

use super::Seen;

/// How long a test waits for what must come. Long: the machine may be busy, and a good run does not wait.
const PATIENCE: Duration = Duration::from_mins(1);

/// A running channel. Derefs to all that came so far; dropping it cancels the run.
pub(crate) struct Run {
    packets: Packets,
    rows: Seen,
    /// Seen of each packet.
    pub(crate) sizes: Vec<usize>,
    /// Bytes of the largest packet.
    pub(crate) largest: usize,
    types: BTreeMap<String, String>,
}

impl Run {
    pub(super) fn new(packets: Packets) -> Run {
        Run {
            packets,
            rows: Seen::default(),
            sizes: Vec::new(),
            largest: 0,
            types: BTreeMap::new(),
        }
    }

    /// Reads packets until `done`.
    pub(crate) async fn until(&mut self, what: &str, done: impl Fn(&Seen) -> bool) -> Result<()> {
        self.within(PATIENCE, what, done).await
    }

    /// Reads packets until `done`, for `limit` at most.
    pub(crate) async fn within(
        &mut self,
        limit: Duration,
        what: &str,
        done: impl Fn(&Seen) -> bool,
    ) -> Result<()> {
        let deadline = Instant::now() + limit;
        while !done(&self.rows) {
            match timeout_at(deadline, self.packets.next()).await {
                Ok(Ok(Some(packet))) => self.take(&packet)?,
                Ok(Ok(None)) => bail!("the run ended while waiting for {what}"),
                Ok(Err(status)) => bail!("the run failed while waiting for {what}: {status}"),
                Err(_) => bail!("{what} did not come within {limit:?}; {}", self.summary()),
            }
        }
        Ok(())
    }

    /// Reads packets until `count` rows stand for records.
    pub(crate) async fn until_records(&mut self, count: usize) -> Result<()> {
        self.until(&format!("record {count}"), |rows| rows.count() >= count)
            .await
    }

    /// Reads whatever comes in this time.
    pub(crate) async fn linger(&mut self, time: Duration) -> Result<()> {
        let deadline = Instant::now() + time;
        loop {
            match timeout_at(deadline, self.packets.next()).await {
                Ok(Ok(Some(packet))) => self.take(&packet)?,
                Ok(other) => bail!("the run ended: {other:?}"),
                Err(_) => return Ok(()),
            }
        }
    }

    /// Forgets what came so far.
    pub(crate) fn forget(&mut self) {
        self.rows = Seen::default();
    }

    /// Reads one packet, and holds it to what each packet must be.
    fn take(&mut self, packet: &[u8]) -> Result<()> {
        self.largest = self.largest.max(packet.len());
        let packet: Value = serde_json::from_slice(packet).context("a packet is not JSON")?;
        let fields = packet["schema"]["fields"]
            .as_array()
            .context("a packet without schema")?;
        let values = packet["data"]["values"]
            .as_array()
            .context("a packet without data")?;
        assert_eq!(fields.len(), values.len(), "fields and columns: {packet}");
        let mut columns = Vec::new();
        for (field, values) in fields.iter().zip(values) {
            let name = field["name"]
                .as_str()
                .context("a field without name")?
                .to_owned();
            let kind = field["type"]
                .as_str()
                .context("a field without type")?
                .to_owned();
            let settled = self
                .types
                .entry(name.clone())
                .or_insert_with(|| kind.clone());
            assert_eq!(*settled, kind, "column {name} changed its type");
            columns.push((
                name,
                values
                    .as_array()
                    .context("a column that is no array")?
                    .clone(),
            ));
        }
        let names: Vec<&String> = columns.iter().map(|column| &column.0).collect();
        assert_eq!(
            names[..3],
            ["time", "partition", "offset"],
            "the first columns"
        );
        let known = self.rows.rows.len();
        self.rows.take_columns(&columns);
        self.rows.take_meta(&packet["schema"]["meta"]);
        self.sizes.push(self.rows.rows.len() - known);
        Ok(())
    }

    fn summary(&self) -> String {
        let tail: Vec<_> = self.rows.rows.iter().rev().take(3).collect();
        let (rows, records) = (self.rows.rows.len(), self.rows.count());
        format!(
            "{rows} rows came, {records} of records; notices {:?}; last {tail:?}",
            self.rows.notices
        )
    }
}

impl Deref for Run {
    type Target = Seen;

    fn deref(&self) -> &Seen {
        &self.rows
    }
}
