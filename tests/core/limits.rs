//! Fields, rows and packets have an end.

use std::fmt::Write as _;

use serde_json::{Value, json};
use streamscope::perf::PerfFlags;

use crate::support::{Clock, pipeline, read, record, show};

/// Past the field limit the first fields win, the same ones each time, whatever stands in those that are left out.
#[test]
fn the_field_limit() {
    let mut wide = String::from("{");
    (0..1_000).for_each(|i| write!(wide, "\"f{i:04}\":{i},").unwrap());
    wide.push_str(r#""late":{"deep":[1,{"x":2}]},"last":[[]],"z":1}"#);
    let turned = r#"{"z":2,"late":{"deep":[1]},"f0000":3}"#;
    let mut records = vec![
        record(wide.as_bytes(), 0),
        record(turned.as_bytes(), 1),
        record(wide.as_bytes(), 2),
    ];
    // Ever new keys stop being remembered.
    let strange: Vec<String> = (0..5_000)
        .map(|i| format!(r#"{{"s{i}":{{"a":[{i}]}},"f0001":7}}"#))
        .collect();
    records.extend(strange.iter().map(|text| record(text.as_bytes(), 3)));
    let (mut pipeline, mut clock) = (pipeline(&json!({}), PerfFlags::default()), Clock::new());
    let mut packets = Vec::new();
    for record in &records {
        pipeline.push(record, clock.0);
        if !pipeline.has_room() {
            packets.extend(clock.flush(&mut pipeline));
        }
    }
    packets.extend(std::iter::from_fn(|| clock.flush(&mut pipeline)));
    assert_eq!(
        packets.iter().map(|packet| packet.rows).sum::<usize>(),
        records.len()
    );
    let (first, notices) = read(&packets[0]);
    let (last, _) = read(&packets[packets.len() - 1]);
    for columns in [&first, &last] {
        assert_eq!(columns.len(), 1_001);
        assert!(!columns.contains_key("_error") && !columns.contains_key("z"));
    }
    assert_eq!(
        first["f0000"].as_array().unwrap()[..3],
        [json!(0), json!(3), json!(0)]
    );
    assert_eq!(last["f0001"].as_array().unwrap().last(), Some(&json!(7)));
    assert!(
        notices.contains("the field limit is reached: "),
        "{notices}"
    );
}

/// A field that is left out counts once, however often it comes; one of a bad record does not count.
#[test]
fn fields_left_out_are_counted() {
    let mut wide = String::from("{");
    (0..1_000).for_each(|i| write!(wide, "\"f{i:04}\":{i},").unwrap());
    let with = |rest: &str| format!("{wide}{rest}");
    let (mut pipeline, mut clock) = (pipeline(&json!({}), PerfFlags::default()), Clock::new());
    for (value, want) in [
        (with(r#""y":1,"z":{"a":2,"b":[]}}"#), Some(3)),
        (with(r#""y":2,"y":3,"z":{"a":4}}"#), None),
        (with(r#""bad":1,"z":2"#), None),
        (with(r#""z":2,"y":"x","n":null}"#), Some(4)),
    ] {
        pipeline.push(&record(value.as_bytes(), 0), clock.0);
        let (_, notices) = read(&clock.flush(&mut pipeline).unwrap());
        let said = notices.lines().find_map(|line| {
            line.strip_prefix("Fields left out because the field limit is reached: ")
        });
        let want = want.map(|n| format!("{n}. The first: `y`"));
        assert_eq!(said, want.as_deref(), "{}", &value[wide.len()..]);
    }
}

#[test]
fn a_record_may_be_too_large() {
    let elements = |n: usize| format!("[{}1]", "1,".repeat(n - 1));
    let (most, more) = (elements(10_000), elements(10_001));
    let text = format!(r#"{{"t":"{}"}}"#, "x".repeat(512 * 1024));
    // Few bytes, but a row of many nulls for each.
    let mut wide = String::from("{\"f\":0");
    (0..900).for_each(|i| write!(wide, ",\"f{i}\":0").unwrap());
    wide.push('}');
    let rows = format!("[{}{{}}]", "{},".repeat(999));
    for (value, error) in [
        (&most, None),
        (&more, Some("more than 10000 elements")),
        (&text, Some("take 516 KiB")),
        (&rows, Some("KiB")),
    ] {
        let (mut pipeline, mut clock) = (pipeline(&json!({}), PerfFlags::default()), Clock::new());
        pipeline.push(&record(wide.as_bytes(), 0), clock.0);
        clock.flush(&mut pipeline);
        let value = if error.is_none() { "[1,2,3]" } else { value };
        pipeline.push(&record(value.as_bytes(), 0), clock.0);
        let (columns, _) = read(&clock.flush(&mut pipeline).unwrap());
        let shown = columns
            .get("_error")
            .map(|cells| cells[0].as_str().unwrap().to_owned());
        assert!(
            shown
                .as_deref()
                .unwrap_or_default()
                .contains(error.unwrap_or_default())
                && shown.is_some() == error.is_some(),
            "{error:?}: {shown:?}"
        );
    }
    let (columns, _) = show(&json!({}), &[record(most.as_bytes(), 0)]);
    assert_eq!(columns["value"].as_array().unwrap().len(), 10_000);
}

/// A large record travels alone, what waited before it leaves first, and escapes count as what they take.
#[test]
fn a_packet_has_an_end() {
    let query = json!({ "messageFormat": "plaintext" });
    let rows = |n: usize, bytes: usize| vec!["a".repeat(bytes); n];
    let with = |mut rows: Vec<String>, last: String| {
        rows.push(last);
        rows
    };
    for (values, want) in [
        (rows(20, 1_000), &[20][..]),
        (with(rows(20, 6_000), "b".repeat(500 * 1024)), &[20, 1]),
        (with(rows(30, 4_300), "b".repeat(4_300)), &[30, 1]),
        (with(rows(3, 10), "\u{1}".repeat(30 * 1024)), &[3, 1]),
        // As an error row it is small: its escapes would take 600 KiB.
        (with(rows(3, 10), "\u{1}".repeat(100 * 1024)), &[4]),
        (with(rows(3, 10), "\"".repeat(100 * 1024)), &[3, 1]),
    ] {
        let (mut pipeline, mut clock) = (pipeline(&query, PerfFlags::default()), Clock::new());
        for (offset, value) in values.iter().enumerate() {
            pipeline.push(&record(value.as_bytes(), offset as i64), clock.0);
        }
        let packets: Vec<_> = std::iter::from_fn(|| clock.flush(&mut pipeline)).collect();
        let sent: Vec<_> = packets.iter().map(|packet| packet.rows).collect();
        assert_eq!(sent, want, "{} values", values.len());
        assert!(packets.iter().all(|packet| packet.json.len() < 520 * 1024));
        let texts = packets
            .iter()
            .flat_map(|packet| match &read(packet).0["message"] {
                Value::Array(cells) => cells.clone(),
                other => panic!("{other}"),
            });
        for (text, value) in texts.zip(&values) {
            assert!(text.is_null() || text == **value, "{value:.20}");
        }
    }
}
