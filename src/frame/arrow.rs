//! An Arrow IPC file, as Grafana reads the answer to a query.

use std::collections::HashMap;
use std::iter::repeat_n;
use std::sync::Arc;

use arrow::array::{
    ArrayRef, AsArray, BooleanArray, Float64Array, Int32Array, Int64Array, RecordBatch,
    StringArray, TimestampNanosecondArray, UInt32Array, UInt64Array,
};
use arrow::buffer::{BooleanBuffer, Buffer, NullBuffer, OffsetBuffer, ScalarBuffer};
use arrow::compute;
use arrow::datatypes::{DataType, Field, Schema, TimeUnit, TimestampNanosecondType};
use arrow::error::ArrowError;
use arrow::ipc::writer::FileWriter;
use serde_json::{Value, json};

use super::Notice;
use crate::columns::{COORDINATES, Cells, Column, ColumnSet, ERROR, Group, Kind, Place};

/// Is the answer to a bounded query: rows in time order, and what should be known beside them.
#[derive(Debug)]
pub struct QueryFrame {
    batch: RecordBatch,
    notices: Vec<Notice>,
}

impl QueryFrame {
    /// Moves the columns' buffers into Arrow. Cells of a place with several rows are copied to each; rows are sorted by time only
    /// where they are not.
    pub(crate) fn new(mut set: ColumnSet, notices: Vec<Notice>) -> Self {
        let (rows, places) = (set.rows, set.places.len());
        let place_of: Option<UInt32Array> = (!set.is_flat()).then(|| {
            let places = set.places.iter().zip(0..);
            let of_each = |(at, i): (&Place, u32)| repeat_n(i, at.rows as usize);
            places.flat_map(of_each).collect()
        });
        let spread = |array: ArrayRef| match &place_of {
            Some(place_of) => compute::take(&array, place_of, None).expect("each row has a place"),
            None => array,
        };
        let column = |column: Column| {
            if column.by_row {
                into_array(column, rows)
            } else {
                spread(into_array(column, places))
            }
        };
        let [time, partition, offset] = COORDINATES;
        let nanos = DataType::Timestamp(TimeUnit::Nanosecond, None);
        let mut fields = vec![
            Field::new(time, nanos, false),
            Field::new(partition, DataType::Int32, true),
            Field::new(offset, DataType::Int64, true),
        ];
        let at = || set.places.iter().map(|place| place.at);
        let times: Vec<i64> = at().map(|at| at.time).collect();
        let is_sorted = times.is_sorted();
        let mut arrays: Vec<ArrayRef> = vec![
            spread(Arc::new(TimestampNanosecondArray::from(times))),
            spread(Arc::new(
                at().map(|at| at.partition).collect::<Int32Array>(),
            )),
            spread(Arc::new(at().map(|at| at.offset).collect::<Int64Array>())),
        ];
        let (view, columns) = set.parts();
        for &id in &view.order {
            let array = column(take(&mut columns[id as usize]));
            let known = &view.fields[id as usize];
            let metadata = [(LABELS, known.labels_json()), (CONFIG, known.config_json())];
            let metadata = metadata
                .into_iter()
                .filter_map(|(key, value)| Some((key.to_owned(), value?.to_string())));
            fields.push(
                Field::new(&*known.name, array.data_type().clone(), true)
                    .with_metadata(metadata.collect::<HashMap<_, _>>()),
            );
            arrays.push(array);
        }
        if set.view().error {
            fields.push(Field::new(ERROR, DataType::Utf8, true));
            arrays.push(column(take(&mut set.error)));
        }
        let mut batch = RecordBatch::try_new(Arc::new(Schema::new(fields)), arrays)
            .expect("columns are of one length");
        if !is_sorted {
            let times = batch.column(0).as_primitive::<TimestampNanosecondType>();
            let mut order: Vec<u32> = (0..rows as u32).collect();
            order.sort_by_key(|&row| times.value(row as usize));
            batch = compute::take_record_batch(&batch, &UInt32Array::from(order))
                .expect("the order names each row once");
        }
        Self { batch, notices }
    }

    /// Gives the number of rows.
    pub fn rows(&self) -> usize {
        self.batch.num_rows()
    }

    /// Writes an Arrow IPC file as Grafana's Go SDK does: `name`, `refId` and `meta` in the schema's metadata, and in each
    /// field's the name that `display_name` gives it. The frame's own notices are added to those of `meta`.
    pub fn to_arrow_file(
        &self,
        name: &str,
        ref_id: &str,
        meta: &Value,
        display_name: &dyn Fn(&str) -> Option<String>,
    ) -> Vec<u8> {
        let fields: Vec<Field> = self
            .batch
            .schema()
            .fields()
            .iter()
            .map(|field| with_name(field, display_name))
            .collect();
        let metadata: HashMap<_, _> = [
            ("name".to_owned(), name.to_owned()),
            ("refId".to_owned(), ref_id.to_owned()),
            ("meta".to_owned(), self.with_notices(meta).to_string()),
        ]
        .into();
        let schema = Arc::new(Schema::new_with_metadata(fields, metadata));
        self.write(schema)
            .expect("plain columns and a buffer in memory")
    }

    fn write(&self, schema: Arc<Schema>) -> Result<Vec<u8>, ArrowError> {
        let mut writer = FileWriter::try_new(Vec::new(), &schema)?;
        if self.batch.num_rows() > 0 {
            writer.write(&RecordBatch::try_new(
                schema,
                self.batch.columns().to_vec(),
            )?)?;
        }
        writer.finish()?;
        writer.into_inner()
    }

    fn with_notices(&self, meta: &Value) -> Value {
        let mut meta = meta.clone();
        if !self.notices.is_empty() {
            let told = meta["notices"].as_array().cloned().unwrap_or_default();
            meta["notices"] = told
                .into_iter()
                .chain(self.notices.iter().map(|notice| json!(notice)))
                .collect();
        }
        meta
    }
}

fn with_name(field: &Field, display_name: &dyn Fn(&str) -> Option<String>) -> Field {
    let Some(name) = display_name(field.name()) else {
        return field.clone();
    };
    let mut metadata = field.metadata().clone();
    let own = metadata
        .get(CONFIG)
        .and_then(|own| serde_json::from_str(own).ok());
    let mut config = own.unwrap_or_else(|| json!({}));
    config["displayNameFromDS"] = name.into();
    metadata.insert(CONFIG.to_owned(), config.to_string());
    field.clone().with_metadata(metadata)
}

fn take(column: &mut Column) -> Column {
    std::mem::replace(column, Column::new(Group::Value, Kind::Float))
}

fn into_array(mut column: Column, cells: usize) -> ArrayRef {
    column.align(cells);
    let nulls = column.validity.into_nulls(cells);
    match column.cells {
        Cells::Float(values) => Arc::new(Float64Array::new(values.into(), nulls)),
        Cells::Integer(values) => Arc::new(Int64Array::new(values.into(), nulls)),
        Cells::Unsigned(values) => Arc::new(UInt64Array::new(values.into(), nulls)),
        Cells::Time(values) => Arc::new(TimestampNanosecondArray::new(values.into(), nulls)),
        Cells::Boolean(values) => Arc::new(BooleanArray::new(BooleanBuffer::from(values), nulls)),
        Cells::Text(text) => Arc::new(StringArray::new(
            OffsetBuffer::new(ScalarBuffer::from(text.offsets)),
            Buffer::from_vec(text.bytes),
            nulls,
        )),
    }
}

impl crate::columns::Validity {
    fn into_nulls(self, cells: usize) -> Option<NullBuffer> {
        (self.nulls() > 0).then(|| {
            NullBuffer::new(BooleanBuffer::new(
                Buffer::from_vec(self.into_bits(cells)),
                0,
                cells,
            ))
        })
    }
}

/// A field's metadata, as Grafana's Go SDK writes it: JSON objects.
const LABELS: &str = "labels";
const CONFIG: &str = "config";
