//! From the Arrow files that a plugin answers with to the frames' JSON that a browser reads.

mod column;

use std::io::Cursor;

use arrow::datatypes::{DataType, Field, Schema, TimeUnit};
use arrow::ipc::reader::FileReader;
use arrow::record_batch::RecordBatch;
use serde_json::{Map, Value, json};

use column::{Column, Values};

/// Converts one Arrow IPC file. Its record batches are one frame.
pub(super) fn to_json(file: &[u8]) -> anyhow::Result<Value> {
    let reader = FileReader::try_new(Cursor::new(file), None)?;
    let schema = reader.schema();
    let mut columns = schema
        .fields()
        .iter()
        .map(|field| Column::new(field))
        .collect::<anyhow::Result<Vec<_>>>()?;
    for batch in reader {
        let batch: RecordBatch = batch?;
        for (column, array) in columns.iter_mut().zip(batch.columns()) {
            column.extend(array)?;
        }
    }
    let values = Values::collect(columns);
    let mut data = Map::from_iter([("values".to_owned(), Value::from(values.columns))]);
    if let Some(entities) = values.entities {
        data.insert("entities".into(), entities.into());
    }
    if let Some(nanos) = values.nanos {
        data.insert("nanos".into(), nanos.into());
    }
    Ok(json!({"schema": schema_json(&schema)?, "data": data}))
}

fn schema_json(schema: &Schema) -> anyhow::Result<Value> {
    let mut json = Map::new();
    for key in ["name", "refId"] {
        if let Some(text) = schema.metadata().get(key).filter(|text| !text.is_empty()) {
            json.insert(key.into(), text.as_str().into());
        }
    }
    if let Some(meta) = schema.metadata().get("meta") {
        json.insert("meta".into(), serde_json::from_str(meta)?);
    }
    let fields = schema.fields().iter().map(|field| field_json(field));
    json.insert(
        "fields".into(),
        fields.collect::<anyhow::Result<Vec<_>>>()?.into(),
    );
    Ok(json.into())
}

fn field_json(field: &Field) -> anyhow::Result<Value> {
    let (kind, frame) = types(field)?;
    let mut info = json!({"frame": frame});
    if field.is_nullable() {
        info["nullable"] = true.into();
    }
    let mut json = json!({"name": field.name(), "type": kind, "typeInfo": info});
    for key in ["labels", "config"] {
        if let Some(text) = field.metadata().get(key) {
            json[key] = serde_json::from_str(text)?;
        }
    }
    Ok(json)
}

/// The browser's type and the Go type of a column. An Arrow type that Grafana does not know is an
/// error for the whole response, as it is there.
fn types(field: &Field) -> anyhow::Result<(&'static str, &'static str)> {
    let tagged = field.metadata().get("tstype").map(String::as_str);
    Ok(match field.data_type() {
        DataType::Utf8 => ("string", "string"),
        DataType::Boolean => ("boolean", "bool"),
        DataType::Int8 => ("number", "int8"),
        DataType::Int16 => ("number", "int16"),
        DataType::Int32 => ("number", "int32"),
        DataType::Int64 => ("number", "int64"),
        DataType::UInt8 => ("number", "uint8"),
        DataType::UInt16 if tagged == Some("enum") => ("enum", "enum"),
        DataType::UInt16 => ("number", "uint16"),
        DataType::UInt32 => ("number", "uint32"),
        DataType::UInt64 => ("number", "uint64"),
        DataType::Float32 => ("number", "float32"),
        DataType::Float64 => ("number", "float64"),
        DataType::Binary => ("other", "json.RawMessage"),
        // Grafana reads other units as nanoseconds without a word: a plugin that sends them is wrong.
        DataType::Timestamp(TimeUnit::Nanosecond, _) => ("time", "time.Time"),
        other => anyhow::bail!(
            "unsupported conversion from Arrow type {other} of {}",
            field.name()
        ),
    })
}

#[cfg(test)]
mod tests;
