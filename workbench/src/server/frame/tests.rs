use std::collections::HashMap;
use std::sync::Arc;

use arrow::array::{
    ArrayRef, BinaryArray, BooleanArray, Float32Array, Float64Array, Int32Array, Int64Array,
    LargeStringArray, StringArray, TimestampNanosecondArray, UInt16Array,
};
use arrow::ipc::writer::FileWriter;

use super::*;

fn file(schema: Schema, batches: Vec<Vec<ArrayRef>>) -> Vec<u8> {
    let schema = Arc::new(schema);
    let mut writer = FileWriter::try_new(Vec::new(), &schema).expect("a writer");
    for columns in batches {
        let batch = RecordBatch::try_new(schema.clone(), columns).expect("a batch");
        writer.write(&batch).expect("written");
    }
    writer.into_inner().expect("a file")
}

fn metadata(pairs: &[(&str, &str)]) -> HashMap<String, String> {
    pairs
        .iter()
        .map(|(key, value)| ((*key).into(), (*value).into()))
        .collect()
}

fn one(field: Field, array: ArrayRef) -> Value {
    to_json(&file(Schema::new(vec![field]), vec![vec![array]])).expect("a frame")
}

#[test]
fn columns() {
    let nanos = DataType::Timestamp(TimeUnit::Nanosecond, None);
    let json = Field::new("c", DataType::Binary, true);
    let tagged = metadata(&[("tstype", "enum")]);
    let cases: Vec<(Field, ArrayRef, &str, &str, Value)> = vec![
        (
            Field::new("c", DataType::Utf8, true),
            Arc::new(StringArray::from(vec![Some("a\"b"), None])),
            "string",
            "string",
            json!(["a\"b", null]),
        ),
        (
            Field::new("c", DataType::Boolean, false),
            Arc::new(BooleanArray::from(vec![true, false])),
            "boolean",
            "bool",
            json!([true, false]),
        ),
        (
            Field::new("c", DataType::Int32, true),
            Arc::new(Int32Array::from(vec![Some(-1), None])),
            "number",
            "int32",
            json!([-1, null]),
        ),
        (
            Field::new("c", DataType::Int64, false),
            Arc::new(Int64Array::from(vec![9_007_199_254_740_993])),
            "number",
            "int64",
            json!([9_007_199_254_740_993_i64]),
        ),
        (
            Field::new("c", DataType::Float32, false),
            Arc::new(Float32Array::from(vec![0.1])),
            "number",
            "float32",
            json!([0.1]),
        ),
        (
            Field::new("c", DataType::UInt16, false).with_metadata(tagged),
            Arc::new(UInt16Array::from(vec![1])),
            "enum",
            "enum",
            json!([1]),
        ),
        (
            json,
            Arc::new(BinaryArray::from(vec![Some(&b"{\"a\":[1]}"[..]), None])),
            "other",
            "json.RawMessage",
            json!([{"a": [1]}, null]),
        ),
        (
            Field::new("c", nanos, true),
            Arc::new(TimestampNanosecondArray::from(vec![
                Some(1_500_000_000),
                None,
            ])),
            "time",
            "time.Time",
            json!([1_500, null]),
        ),
    ];
    for (field, array, kind, go, values) in cases {
        let nullable = field.is_nullable();
        let frame = one(field, array);
        let shown = &frame["schema"]["fields"][0];
        assert_eq!(
            (&shown["type"], &shown["typeInfo"]["frame"]),
            (&json!(kind), &json!(go))
        );
        assert_eq!(shown["typeInfo"]["nullable"] == true, nullable, "{kind}");
        assert_eq!(frame["data"], json!({"values": [values]}), "{kind}");
    }
}

#[test]
fn what_json_has_no_number_for() {
    let values = vec![f64::NAN, 1.5, f64::INFINITY, f64::NEG_INFINITY];
    let frame = one(
        Field::new("c", DataType::Float64, false),
        Arc::new(Float64Array::from(values)),
    );
    let entities = json!([{"NaN": [0], "Inf": [2], "NegInf": [3]}]);
    let expected = json!({"values": [[null, 1.5, null, null]], "entities": entities});
    assert_eq!(frame["data"], expected);

    let nanos = DataType::Timestamp(TimeUnit::Nanosecond, Some("UTC".into()));
    let times = TimestampNanosecondArray::from(vec![1_000_001, -1]).with_timezone("UTC");
    let frame = one(Field::new("t", nanos, false), Arc::new(times));
    assert_eq!(
        frame["data"],
        json!({"values": [[1, -1]], "nanos": [[1, 999_999]]})
    );
}

#[test]
fn schema_and_batches() {
    let field = Field::new("v", DataType::Int32, false).with_metadata(metadata(&[
        ("labels", r#"{"a":"b"}"#),
        ("config", r#"{"unit":"s"}"#),
    ]));
    let schema = Schema::new(vec![field]).with_metadata(metadata(&[
        ("name", "topic"),
        ("refId", "A"),
        ("meta", r#"{"custom":{"x":1}}"#),
    ]));
    let batch = |value| vec![Arc::new(Int32Array::from(vec![value])) as ArrayRef];
    for (batches, values) in [
        (vec![], json!([[]])),
        (vec![batch(1)], json!([[1]])),
        (vec![batch(1), batch(2)], json!([[1, 2]])),
    ] {
        let frame = to_json(&file(schema.clone(), batches)).expect("a frame");
        assert_eq!(frame["data"]["values"], values);
        let expected = json!({
            "name": "topic",
            "refId": "A",
            "meta": {"custom": {"x": 1}},
            "fields": [{
                "name": "v",
                "type": "number",
                "typeInfo": {"frame": "int32"},
                "labels": {"a": "b"},
                "config": {"unit": "s"},
            }],
        });
        assert_eq!(frame["schema"], expected);
    }
}

#[test]
fn what_grafana_refuses() {
    let text = Field::new("c", DataType::LargeUtf8, false);
    let large = file(
        Schema::new(vec![text]),
        vec![vec![Arc::new(LargeStringArray::from(vec!["a"]))]],
    );
    let seconds = Field::new("c", DataType::Timestamp(TimeUnit::Second, None), false);
    for (file, words) in [
        (large, "LargeUtf8"),
        (file(Schema::new(vec![seconds]), vec![]), "Timestamp"),
        (b"no arrow".to_vec(), ""),
    ] {
        let error = to_json(&file).expect_err("refused").to_string();
        assert!(error.contains(words), "{error}");
    }
}
