//! An answer of `QueryData`: its Arrow frame as rows, its error, its channel.

use std::io::Cursor;
use std::ops::Deref;

use anyhow::{Context, Result, ensure};
use arrow::array::{
    Array, AsArray, BooleanArray, Float64Array, Int32Array, Int64Array, StringArray,
    TimestampNanosecondArray, UInt64Array,
};
use arrow::datatypes::DataType;
use arrow::ipc::reader::FileReader;
use serde_json::{Value, json};
use workbench::host::proto::DataResponse;

use super::Seen;

/// What a frame says about the channel behind it.
#[derive(Clone, Debug)]
pub(crate) struct Live {
    pub(crate) path: String,
    pub(crate) data: Value,
    pub(crate) key: String,
}

/// One query's answer. Derefs to its rows.
#[derive(Debug)]
pub(crate) struct Answer {
    pub(crate) error: String,
    pub(crate) error_source: String,
    pub(crate) status: i32,
    /// The frame's name.
    pub(crate) name: String,
    live: Option<Live>,
    rows: Seen,
}

impl Answer {
    pub(super) fn read(response: DataResponse) -> Result<Answer> {
        ensure!(
            response.frames.len() <= 1,
            "{} frames for one query",
            response.frames.len()
        );
        let mut answer = Answer {
            error: response.error,
            error_source: response.error_source,
            status: response.status,
            name: String::new(),
            live: None,
            rows: Seen::default(),
        };
        if let Some(frame) = response.frames.into_iter().next() {
            answer.take_frame(frame)?;
        }
        Ok(answer)
    }

    /// Returns the channel behind the frame.
    pub(crate) fn live(&self) -> Result<&Live> {
        self.live
            .as_ref()
            .with_context(|| format!("no live in the answer; error {:?}", self.error))
    }

    /// Says whether the answer names a channel.
    pub(crate) fn has_live(&self) -> bool {
        self.live.is_some()
    }

    fn take_frame(&mut self, frame: Vec<u8>) -> Result<()> {
        let reader = FileReader::try_new(Cursor::new(frame), None)?;
        let schema = reader.schema();
        let meta: Value = match schema.metadata().get("meta") {
            Some(meta) => serde_json::from_str(meta)?,
            None => Value::Null,
        };
        self.name = schema.metadata().get("name").cloned().unwrap_or_default();
        assert_eq!(
            schema.metadata().get("refId").map(String::as_str),
            Some("A"),
            "the frame's refId"
        );
        assert!(
            meta["channel"].is_null(),
            "meta.channel makes Grafana start a stream of its own"
        );
        self.rows.take_meta(&meta);
        let live = &meta["custom"]["live"];
        let text = |key: &str| live[key].as_str().map(ToOwned::to_owned);
        if let (Some(path), Some(key)) = (text("path"), text("key")) {
            self.live = Some(Live {
                path,
                key,
                data: live["data"].clone(),
            });
        }
        for batch in reader {
            let batch = batch?;
            let columns = schema.fields().iter().zip(batch.columns());
            let columns: Vec<_> = columns
                .map(|(field, values)| (field.name().clone(), cells(values)))
                .collect();
            self.rows.take_columns(&columns);
        }
        for field in schema.fields() {
            if !self.rows.columns.contains(field.name()) {
                self.rows.columns.push(field.name().clone());
            }
        }
        Ok(())
    }
}

impl Deref for Answer {
    type Target = Seen;

    fn deref(&self) -> &Seen {
        &self.rows
    }
}

/// Returns a column as JSON, times as milliseconds: as a packet has it.
fn cells(column: &dyn Array) -> Vec<Value> {
    let cell = |row: usize| -> Value {
        if column.is_null(row) {
            return Value::Null;
        }
        match column.data_type() {
            DataType::Timestamp(_, _) => {
                let times: &TimestampNanosecondArray = column.as_primitive();
                json!(times.value(row).div_euclid(1_000_000))
            }
            DataType::Int32 => json!(
                column
                    .as_any()
                    .downcast_ref::<Int32Array>()
                    .map(|array| array.value(row))
            ),
            DataType::Int64 => json!(
                column
                    .as_any()
                    .downcast_ref::<Int64Array>()
                    .map(|array| array.value(row))
            ),
            DataType::UInt64 => json!(
                column
                    .as_any()
                    .downcast_ref::<UInt64Array>()
                    .map(|array| array.value(row))
            ),
            DataType::Float64 => {
                let floats: &Float64Array = column.as_primitive();
                let float = floats.value(row);
                // As JSON in a packet has it: without a fraction of zero.
                if float.fract() == 0.0 && float.abs() < 9e15 {
                    json!(float as i64)
                } else {
                    json!(float)
                }
            }
            DataType::Boolean => json!(
                column
                    .as_any()
                    .downcast_ref::<BooleanArray>()
                    .map(|array| array.value(row))
            ),
            DataType::Utf8 => json!(
                column
                    .as_any()
                    .downcast_ref::<StringArray>()
                    .map(|array| array.value(row))
            ),
            other => panic!("a column of type {other}, which Grafana's decoder may not take"),
        }
    };
    (0..column.len()).map(cell).collect()
}
