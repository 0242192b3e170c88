//! The values of one column, as JSON.

use arrow::array::{Array, ArrayRef, AsArray as _, PrimitiveArray};
use arrow::datatypes::{
    ArrowPrimitiveType, DataType, Field, Float32Type, Float64Type, Int8Type, Int16Type, Int32Type,
    Int64Type, TimestampNanosecondType, UInt8Type, UInt16Type, UInt32Type, UInt64Type,
};
use serde_json::{Value, json};

/// A column that grows batch by batch.
pub(super) struct Column {
    values: Vec<Value>,
    /// Rows of what JSON has no number for.
    nan: Vec<usize>,
    inf: Vec<usize>,
    neg_inf: Vec<usize>,
    /// What milliseconds leave of a time, 0 to 999,999.
    nanos: Vec<i64>,
}

/// The columns of a frame. `entities` and `nanos` are there only where a column has some.
pub(super) struct Values {
    pub(super) columns: Vec<Value>,
    pub(super) entities: Option<Vec<Value>>,
    pub(super) nanos: Option<Vec<Value>>,
}

impl Values {
    pub(super) fn collect(columns: Vec<Column>) -> Values {
        let entities = columns.iter().map(Column::entities).collect::<Vec<_>>();
        let nanos = columns.iter().map(Column::nanos).collect::<Vec<_>>();
        let some = |list: Vec<Value>| list.iter().any(|value| !value.is_null()).then_some(list);
        Values {
            entities: some(entities),
            nanos: some(nanos),
            columns: columns
                .into_iter()
                .map(|column| column.values.into())
                .collect(),
        }
    }
}

impl Column {
    /// Makes an empty column, or refuses its type.
    pub(super) fn new(field: &Field) -> anyhow::Result<Column> {
        super::types(field)?;
        Ok(Column {
            values: Vec::new(),
            nan: Vec::new(),
            inf: Vec::new(),
            neg_inf: Vec::new(),
            nanos: Vec::new(),
        })
    }

    /// Appends a batch's values.
    pub(super) fn extend(&mut self, array: &ArrayRef) -> anyhow::Result<()> {
        match array.data_type() {
            DataType::Utf8 => self.each(array.as_string::<i32>().iter(), Value::from),
            DataType::Boolean => self.each(array.as_boolean().iter(), Value::from),
            DataType::Int8 => self.numbers::<Int8Type>(array),
            DataType::Int16 => self.numbers::<Int16Type>(array),
            DataType::Int32 => self.numbers::<Int32Type>(array),
            DataType::Int64 => self.numbers::<Int64Type>(array),
            DataType::UInt8 => self.numbers::<UInt8Type>(array),
            DataType::UInt16 => self.numbers::<UInt16Type>(array),
            DataType::UInt32 => self.numbers::<UInt32Type>(array),
            DataType::UInt64 => self.numbers::<UInt64Type>(array),
            DataType::Float32 => self.floats(array.as_primitive::<Float32Type>().iter().map(
                // The shortest text of a float32, as Go writes it.
                |value| value.map(|value| value.to_string().parse().unwrap_or(f64::from(value))),
            )),
            DataType::Float64 => self.floats(array.as_primitive::<Float64Type>().iter()),
            DataType::Binary => {
                for value in array.as_binary::<i32>() {
                    let value = value.map(serde_json::from_slice::<Value>).transpose()?;
                    self.values.push(value.unwrap_or_default());
                }
            }
            DataType::Timestamp(..) => self.times(array.as_primitive()),
            other => anyhow::bail!("unsupported Arrow type {other}"),
        }
        Ok(())
    }

    fn each<T>(&mut self, values: impl Iterator<Item = Option<T>>, json: impl Fn(T) -> Value) {
        self.values
            .extend(values.map(|value| value.map_or(Value::Null, &json)));
    }

    fn numbers<T: ArrowPrimitiveType<Native: Into<Value>>>(&mut self, array: &ArrayRef) {
        self.each(array.as_primitive::<T>().iter(), Into::into);
    }

    fn floats(&mut self, values: impl Iterator<Item = Option<f64>>) {
        for value in values {
            let row = self.values.len();
            match value {
                Some(value) if value.is_nan() => self.nan.push(row),
                Some(f64::INFINITY) => self.inf.push(row),
                Some(f64::NEG_INFINITY) => self.neg_inf.push(row),
                _ => {}
            }
            // Not a finite number: null, which the entities explain.
            self.values.push(value.map_or(Value::Null, Value::from));
        }
    }

    fn times(&mut self, array: &PrimitiveArray<TimestampNanosecondType>) {
        for value in array {
            let value =
                value.map(|nanos| (nanos.div_euclid(1_000_000), nanos.rem_euclid(1_000_000)));
            self.values
                .push(value.map_or(Value::Null, |(millis, _)| millis.into()));
            self.nanos.push(value.map_or(0, |(_, rest)| rest));
        }
    }

    fn entities(&self) -> Value {
        let lists = [
            ("NaN", &self.nan),
            ("Inf", &self.inf),
            ("NegInf", &self.neg_inf),
        ];
        if lists.iter().all(|(_, rows)| rows.is_empty()) {
            return Value::Null;
        }
        let mut json = json!({});
        for (name, rows) in lists {
            if !rows.is_empty() {
                json[name] = json!(rows);
            }
        }
        json
    }

    fn nanos(&self) -> Value {
        if self.nanos.iter().all(|rest| *rest == 0) {
            return Value::Null;
        }
        json!(self.nanos)
    }
}
