//! What the targets share: a stream that takes records and shows what each became.

use std::sync::Arc;
use std::time::{Duration, Instant};

use serde_json::{Map, Value};
use streamscope::batch::Pacer;
use streamscope::columns::StreamSchema;
use streamscope::config::{FlattenLimits, PanelQuery};
use streamscope::decode::SchemaCache;
use streamscope::perf::PerfFlags;
use streamscope::pipeline::{Pipeline, Step};
use streamscope::record::{Now, Record};
use streamscope::schema::{SchemaFault, SchemaId, SchemaKind, SchemaText};

/// Parts records within one input: a stream learns from the one for the next.
pub const BETWEEN: &[u8] = b"\xff\xff";

/// Is one stream, and the time that passes in it.
#[derive(Debug)]
pub struct Stream {
    pipeline: Pipeline,
    now: Now,
}

/// Is what one record became: cells by column, row by row, and the notices' texts.
#[derive(Debug)]
pub struct Shown {
    pub columns: Map<String, Value>,
    pub rows: usize,
    pub notices: Vec<Value>,
}

impl Stream {
    /// Makes a stream for `query`; `None` where the query is refused.
    pub fn new(mut query: Value) -> Option<Self> {
        query["topicName"] = "t".into();
        let spec = PanelQuery::parse(query.to_string().as_bytes()).ok()?.spec;
        let pipeline = Pipeline::new(
            Arc::new(spec),
            FlattenLimits::default(),
            Arc::new(StreamSchema::new()),
            Pacer::off(),
            PerfFlags::default(),
            SchemaCache::new(&PerfFlags::default()),
        );
        let now = Now {
            monotonic: Instant::now(),
            wall_ms: TIME,
        };
        Some(Self { pipeline, now })
    }

    /// Takes `record` and shows what it became, from a packet that must be JSON with columns of one length.
    pub fn show(&mut self, record: &Record<'_>) -> Shown {
        // A registry that knows one schema, and a few times over: keys and values.
        let mut waits = 0;
        while let Step::NeedSchema(need) = self.pipeline.push(record, self.now) {
            waits += 1;
            assert!(waits < 10, "the record waits for {need:?} again and again");
            let schema = SchemaText {
                kind: SchemaKind::Avro,
                text: r#"["null","long","string"]"#.to_owned(),
                references: Vec::new(),
            };
            let answer = if matches!(need.id, SchemaId::Id(13)) {
                Err(SchemaFault::new("there is no such schema"))
            } else {
                Ok(Arc::new(schema))
            };
            self.pipeline.provide_schema(&need, answer, self.now);
        }
        self.now.monotonic += Duration::from_secs(1);
        let mut shown = Shown {
            columns: Map::new(),
            rows: 0,
            notices: Vec::new(),
        };
        let Some(packet) = self.pipeline.poll_packet(self.now) else {
            return shown;
        };
        let frame: Value = serde_json::from_slice(&packet.json).expect("a packet is JSON");
        let list = |value: &Value| value.as_array().cloned().unwrap_or_default();
        for (field, cells) in list(&frame["schema"]["fields"])
            .iter()
            .zip(list(&frame["data"]["values"]))
        {
            let name = field["name"].as_str().expect("a field has a name");
            assert_eq!(list(&cells).len(), packet.rows, "the cells of {name:?}");
            let before = shown.columns.insert(name.to_owned(), cells);
            assert!(before.is_none(), "{name:?} stands twice");
        }
        shown.rows = packet.rows;
        shown.notices = list(&frame["schema"]["meta"]["notices"]);
        shown
    }
}

impl Shown {
    /// Gives the text of the first row's cell in `column`.
    pub fn text(&self, column: &str) -> Option<&str> {
        self.columns.get(column)?[0].as_str()
    }
}

/// Lets a panic pass that begins in a file whose path holds `place`, and that somebody catches; any other ends the run.
pub fn pass_panics_of(place: &'static str) {
    let end = std::panic::take_hook();
    std::panic::set_hook(Box::new(move |panic| {
        let began = panic.location().map_or("", |location| location.file());
        if !began.contains(place) {
            end(panic);
        }
    }));
}

/// Gives a record of `value` without key and headers.
pub fn record(value: &[u8]) -> Record<'_> {
    Record {
        topic: "t",
        partition: 0,
        offset: 0,
        timestamp: Some(TIME),
        key: None,
        value: Some(value),
        headers: &[],
    }
}

/// Gives the records of an input.
pub fn records(input: &[u8]) -> impl Iterator<Item = &[u8]> {
    let mut rest = Some(input);
    std::iter::from_fn(move || {
        let bytes = rest?;
        let end = bytes
            .windows(BETWEEN.len())
            .position(|window| window == BETWEEN);
        rest = end.map(|end| &bytes[end + BETWEEN.len()..]);
        Some(&bytes[..end.unwrap_or(bytes.len())])
    })
}

const TIME: i64 = 1_700_000_000_000;
