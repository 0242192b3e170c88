//! Takes the packets of a reader and keeps what they brought.

use std::sync::{Arc, OnceLock};
use std::thread;
use std::time::{Duration, Instant};

use serde_json::{Value, json};
use streamscope::batch::{Pacer, SlotBudget};
use streamscope::columns::StreamSchema;
use streamscope::config::{Cursor, PanelQuery, Settings, StreamSpec};
use streamscope::consume::clients::Clients;
use streamscope::consume::reader::{Packets, Reader};
use streamscope::consume::schemas::SchemaClient;
use streamscope::decode::SchemaCache;
use streamscope::perf::PerfFlags;
use streamscope::pipeline::Pipeline;
use streamscope::registry::Registry;
use tokio::runtime::{Handle, Runtime};

/// Takes the packets of a reader.
pub(crate) struct Viewer {
    pub(crate) packets: Option<Packets>,
    pub(crate) spec: Arc<StreamSpec>,
    pub(crate) seen: Seen,
}

/// Is what packets brought.
#[derive(Debug, Default)]
pub(crate) struct Seen {
    pub(crate) rows: Vec<(i64, i64)>,
    pub(crate) errors: Vec<String>,
    pub(crate) notices: Vec<String>,
    /// Without repetitions.
    pub(crate) topic_ids: Vec<String>,
}

impl Viewer {
    pub(crate) fn start(
        settings: &Value,
        secrets: &[(&str, &str)],
        query: &Value,
        cursor: Option<Cursor>,
    ) -> Self {
        let secrets = secrets
            .iter()
            .map(|&(key, value)| (key.to_owned(), value.to_owned()))
            .collect();
        let settings = Settings::parse(settings.to_string().as_bytes(), &secrets).unwrap();
        let spec = PanelQuery::parse(query.to_string().as_bytes())
            .unwrap()
            .spec;
        let spec = Arc::new(StreamSpec { cursor, ..spec });
        let schema = Arc::new(StreamSchema::new());
        // Most tests are about records and not about how many a browser can show.
        let pacer = if query["pacing"] == json!(true) {
            Pacer::new(Arc::new(SlotBudget::new(settings.slot_bytes)))
        } else {
            Pacer::off()
        };
        let reader = Reader {
            clients: Clients::new(&settings).unwrap().reader(spec.isolation),
            spec: Arc::clone(&spec),
            pipeline: Pipeline::new(
                Arc::clone(&spec),
                settings.flatten,
                schema,
                pacer,
                PerfFlags::default(),
                SchemaCache::new(&PerfFlags::default()),
            ),
            schemas: SchemaClient {
                registry: Registry::new(&settings.registry),
                runtime: runtime(),
            },
            metadata_interval: Duration::from_millis(300),
        };
        Self {
            packets: Some(reader.start().unwrap()),
            spec,
            seen: Seen::default(),
        }
    }

    /// Takes packets until `enough`.
    pub(crate) fn until(&mut self, what: &str, enough: impl Fn(&Seen) -> bool) -> &Seen {
        let deadline = Instant::now() + Duration::from_secs(30);
        while !enough(&self.seen) {
            assert!(
                Instant::now() < deadline,
                "waiting for {what}: {:?}",
                self.seen
            );
            self.take();
            thread::sleep(Duration::from_millis(2));
        }
        &self.seen
    }

    pub(crate) fn rows(&mut self, count: usize) -> &[(i64, i64)] {
        &self
            .until(&format!("{count} rows"), |seen| seen.rows.len() >= count)
            .rows
    }

    pub(crate) fn error(&mut self, words: &str) {
        self.until(words, |seen| {
            seen.errors.iter().any(|error| error.contains(words))
        });
    }

    pub(crate) fn notice(&mut self, words: &str) {
        self.until(words, |seen| {
            seen.notices.iter().any(|notice| notice.contains(words))
        });
    }

    /// Waits until the reader is at work: the topic id comes with a first row of `topic`, which is passed over.
    pub(crate) fn is_at_work(&mut self, mut produce_one: impl FnMut()) {
        let deadline = Instant::now() + Duration::from_secs(10);
        while self.seen.rows.is_empty() && Instant::now() < deadline {
            produce_one();
            thread::sleep(Duration::from_millis(20));
            self.take();
        }
        assert!(!self.seen.rows.is_empty(), "{:?}", self.seen);
    }

    /// Takes the packets that are there.
    pub(crate) fn take(&mut self) {
        while let Ok(packets) = self.packets.as_mut().unwrap().try_recv() {
            for packet in packets.unwrap() {
                self.seen
                    .add(&serde_json::from_slice(&packet.json).unwrap());
            }
        }
    }
}

impl Seen {
    pub(crate) fn add(&mut self, packet: &Value) {
        let fields = packet["schema"]["fields"].as_array().unwrap();
        let column = |name: &str| {
            let at = fields.iter().position(|field| field["name"] == name)?;
            packet["data"]["values"][at].as_array()
        };
        let (partitions, offsets) = (column("partition").unwrap(), column("offset").unwrap());
        for row in 0..offsets.len() {
            match column("_error").and_then(|errors| errors[row].as_str()) {
                Some(error) => self.errors.push(error.to_owned()),
                None => self.rows.push((
                    partitions[row].as_i64().unwrap(),
                    offsets[row].as_i64().unwrap(),
                )),
            }
        }
        let meta = &packet["schema"]["meta"];
        for notice in meta["notices"].as_array().into_iter().flatten() {
            self.notices
                .push(notice["text"].as_str().unwrap().to_owned());
        }
        if let Some(id) = meta["custom"]["topicId"].as_str()
            && self.topic_ids.last().is_none_or(|last| last != id)
        {
            self.topic_ids.push(id.to_owned());
        }
    }
}

pub(crate) fn partition(partition: i64, offsets: std::ops::Range<i64>) -> Vec<(i64, i64)> {
    offsets.map(|offset| (partition, offset)).collect()
}

/// Gives the runtime on which registries are asked.
fn runtime() -> Handle {
    static RUNTIME: OnceLock<Runtime> = OnceLock::new();
    let runtime = RUNTIME.get_or_init(|| Runtime::new().unwrap());
    runtime.handle().clone()
}
