//! The records that benches measure: what they are, and that the twin shows the same of them as the core.

use serde_json::{Map, Value, json};
use streamscope::perf::PerfFlags;

use crate::corpus;
use crate::support::{Clock, TIME, pipeline, record};
use crate::twin::{self, Twin};

/// Gives a packet's columns by name, numbers as float64 and without nulls at the end.
fn columns(packet: &[u8]) -> Map<String, Value> {
    let frame: Value = serde_json::from_slice(packet).unwrap();
    let names = frame["schema"]["fields"].as_array().unwrap().iter();
    let values = frame["data"]["values"].as_array().unwrap().iter();
    let plain = |cell: &Value| cell.as_f64().map_or_else(|| cell.clone(), |n| json!(n));
    names
        .map(|field| field["name"].as_str().unwrap().to_owned())
        .zip(values.map(|cells| cells.as_array().unwrap().iter().map(plain).collect()))
        .collect()
}

#[test]
fn twin_and_core_show_the_same() {
    for fixture in corpus::fixtures() {
        let (mut pipeline, mut clock) =
            (pipeline(&fixture.query, PerfFlags::default()), Clock::new());
        let (twin, mut rows) = (Twin::new(&fixture.query), Vec::new());
        for value in &fixture.values {
            pipeline.push(&record(value, 1), clock.0);
            rows.extend(twin.decode(value, TIME).unwrap());
        }
        let core = columns(&clock.flush(&mut pipeline).unwrap().json);
        let mut twin = columns(&twin::packet("t", 1, &rows));
        // The core's line protocol always has the column of texts.
        if fixture.name == "lineprotocol" {
            twin.insert("value_str".to_owned(), json!(vec![Value::Null; rows.len()]));
        }
        for (name, cells) in &core {
            assert_eq!(twin.get(name), Some(cells), "{}: {name}", fixture.name);
        }
        assert_eq!(core.len(), twin.len(), "{}", fixture.name);
    }
}

/// Bytes, rows and columns of each: those of the Go plugin's own fixtures are as it has them.
#[test]
fn fixtures_are_as_their_names_say() {
    let sizes: Vec<_> = corpus::fixtures()
        .into_iter()
        .map(|fixture| {
            let bytes = fixture.values.iter().map(Vec::len).sum::<usize>() / fixture.values.len();
            let (mut pipeline, mut clock) =
                (pipeline(&fixture.query, PerfFlags::default()), Clock::new());
            pipeline.push(&record(&fixture.values[0], 1), clock.0);
            let packet = clock.flush(&mut pipeline).unwrap();
            let frame: Value = serde_json::from_slice(&packet.json).unwrap();
            let columns = frame["schema"]["fields"].as_array().unwrap().len() - 3;
            (fixture.name, bytes, packet.rows, columns)
        })
        .collect();
    assert_eq!(
        sizes,
        [
            ("plaintext", 41, 1, 1),
            ("lineprotocol", 1_068, 50, 7),
            ("avro", 19, 1, 3),
            ("avro_30fields", 299, 1, 30),
            ("protobuf", 22, 1, 3),
            ("protobuf_30fields", 318, 1, 30),
            ("json_20fields", 319, 1, 20),
            ("json_100fields", 1_667, 1, 100),
            ("json_nested", 733, 1, 29),
            ("json_shuffled", 283, 1, 17),
        ]
    );
}
