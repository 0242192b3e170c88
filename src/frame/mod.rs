//! From columns to what Grafana reads: a packet of frame JSON, or an Arrow file.

mod arrow;
mod buffer;
mod notice;
mod number;
mod values;

use serde_json::{Map, Value, json};

pub use arrow::QueryFrame;
pub use notice::{Notice, Notices, Severity};

use crate::columns::{COORDINATES, ColumnSet, ERROR, Kind, SchemaView};
use buffer::Buffer;

/// Is one finished packet of a live channel.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Packet {
    /// A data frame with schema and data, in Grafana's JSON.
    pub json: Vec<u8>,
    pub rows: usize,
}

/// Writes packets; the text of the fields is kept until the stream's schema changes.
#[derive(Debug, Clone)]
pub struct FrameWriter {
    topic: Box<str>,
    /// What every packet says of the stream in `meta.custom`: the topic's id, the run's.
    custom: Map<String, Value>,
    /// `{"schema":{"name":…,"meta":{"custom":{…}`
    head: Vec<u8>,
    /// The JSON array of the fields, and the schema's version that it is of.
    fields: Vec<u8>,
    version: Option<u64>,
    /// The last packet's size: the next one is likely to be as large.
    last_len: usize,
}

impl FrameWriter {
    /// Makes a writer of frames that are called as the topic.
    pub fn new(topic: &str) -> Self {
        let mut writer = Self {
            topic: topic.into(),
            custom: Map::new(),
            head: Vec::new(),
            fields: Vec::new(),
            version: None,
            last_len: 0,
        };
        writer.write_head();
        writer
    }

    /// Says something of the stream, `key`, in every packet from now on; `None` says nothing of it any more.
    pub fn describe(&mut self, key: &str, text: Option<&str>) {
        match text {
            Some(text) => self.custom.insert(key.to_owned(), text.into()),
            None => self.custom.remove(key),
        };
        self.write_head();
    }

    /// Tells what a packet takes beside its rows, by the last one.
    pub fn fixed_bytes(&self) -> usize {
        self.head.len() + self.fields.len()
    }

    fn write_head(&mut self) {
        let (name, custom) = (Value::from(&*self.topic), Value::from(self.custom.clone()));
        self.head =
            format!(r#"{{"schema":{{"name":{name},"meta":{{"custom":{custom}"#).into_bytes();
    }

    /// Writes all rows of `set` into a packet, with `notices`.
    pub fn write(&mut self, set: &ColumnSet, notices: &[Notice]) -> Packet {
        if self.version != Some(set.view().version) {
            self.fields = serde_json::to_vec(&fields(set.view())).expect("fields are JSON");
            self.version = Some(set.view().version);
        }
        let room = self.last_len + self.last_len / 4 + self.fields.len() + 256;
        let mut out = Buffer::with_room(room);
        out.extend(&self.head);
        if !notices.is_empty() {
            out.extend(b",\"notices\":");
            out.extend(&serde_json::to_vec(notices).expect("notices are JSON"));
        }
        out.extend(b"},\"fields\":");
        out.extend(&self.fields);
        out.extend(b"},\"data\":{\"values\":");
        values::write(set, &mut out);
        out.extend(b"}}");
        self.last_len = out.len();
        Packet {
            json: out.into_bytes(),
            rows: set.rows(),
        }
    }
}

fn fields(view: &SchemaView) -> Vec<Value> {
    let field = |name: &str, kind: Kind, nullable: bool| {
        let (kind, frame) = match kind {
            Kind::Float => ("number", "float64"),
            Kind::Integer => ("number", "int64"),
            Kind::Unsigned => ("number", "uint64"),
            Kind::Boolean => ("boolean", "bool"),
            Kind::Text => ("string", "string"),
            Kind::Time => ("time", "time.Time"),
        };
        json!({ "name": name, "type": kind, "typeInfo": { "frame": frame, "nullable": nullable } })
    };
    let [time, partition, offset] = COORDINATES;
    let mut fields = vec![
        json!({ "name": time, "type": "time", "typeInfo": { "frame": "time.Time" } }),
        json!({ "name": partition, "type": "number", "typeInfo": { "frame": "int32", "nullable": true } }),
        json!({ "name": offset, "type": "number", "typeInfo": { "frame": "int64", "nullable": true } }),
    ];
    for &id in &view.order {
        let known = &view.fields[id as usize];
        let mut field = field(&known.name, known.kind, true);
        if let (Some(labels), Some(config)) = (known.labels_json(), known.config_json()) {
            field["labels"] = labels;
            field["config"] = config;
        }
        fields.push(field);
    }
    if view.error {
        fields.push(field(ERROR, Kind::Text, true));
    }
    fields
}
