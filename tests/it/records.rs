//! Records to rows: start positions, partitions, codecs, tombstones, headers, sizes.

use std::time::Duration;

use anyhow::Result;
use real_kafka::{Kafka, RawRecord, Record};
use serde_json::{Value, json};

use super::support::{Host, query};

type Header = (&'static str, Option<&'static [u8]>);

fn numbers(range: std::ops::Range<i64>) -> Vec<String> {
    range.map(|n| format!(r#"{{"n":{n}}}"#)).collect()
}

#[tokio::test]
async fn every_record_once_and_in_order() -> Result<()> {
    let (kafka, host) = (Kafka::shared(), Host::shared().await?);
    kafka.create_topic("records-all", 3)?;
    let values = numbers(0..600);
    let records: Vec<_> = values
        .iter()
        .zip(0..)
        .map(|(value, n)| Record::value(value).to(n % 3))
        .collect();
    kafka.produce("records-all", &records[..300])?;

    let (answer, mut run) = host.watch(query("records-all", json!({}))).await?;
    assert_eq!(
        (answer.error.as_str(), answer.name.as_str()),
        ("", "records-all")
    );
    kafka.produce("records-all", &records[300..])?;
    run.until_records(300).await?;
    run.linger(Duration::from_millis(300)).await?;
    for partition in 0..3 {
        assert_eq!(
            answer.offsets(partition),
            (0..100).collect::<Vec<_>>(),
            "the answer, partition {partition}"
        );
        assert_eq!(
            run.offsets(partition),
            (100..200).collect::<Vec<_>>(),
            "the run, partition {partition}"
        );
    }
    for row in answer.records().chain(run.records()) {
        let (partition, offset) = row.place().expect("records have a place");
        assert_eq!(row.cell("n"), json!(offset * 3 + partition), "{row:?}");
    }
    assert_eq!(answer.topic_ids, run.topic_ids);
    assert_eq!(run.notices, []);
    Ok(())
}

#[tokio::test]
async fn latest_begins_at_the_end() -> Result<()> {
    let (kafka, host) = (Kafka::shared(), Host::shared().await?);
    kafka.create_topic("records-latest", 1)?;
    kafka.produce("records-latest", &[Record::value(r#"{"old":1}"#); 5])?;
    let (answer, mut run) = host
        .watch(query(
            "records-latest",
            json!({"autoOffsetReset": "latest"}),
        ))
        .await?;
    assert_eq!((answer.error.as_str(), answer.rows.len()), ("", 0));
    assert!(!answer.notices.is_empty(), "an empty answer says why");
    assert!(
        answer.live()?.data["cursor"].is_null() && answer.live()?.data["nonce"].is_null(),
        "one shared stream"
    );

    // The run may need a moment to find the end: what is produced before that is not its business.
    let producer = kafka.producer()?;
    for n in 0..200 {
        producer.send("records-latest", Record::value(&format!(r#"{{"n":{n}}}"#)))?;
        run.linger(Duration::from_millis(20)).await?;
        if run.count() >= 10 {
            break;
        }
    }
    let offsets = run.offsets(0);
    assert!(offsets.len() >= 10 && offsets[0] >= 5, "{offsets:?}");
    assert!(
        offsets.windows(2).all(|pair| pair[1] == pair[0] + 1),
        "{offsets:?}"
    );
    Ok(())
}

#[tokio::test]
async fn last_n_counts_per_partition() -> Result<()> {
    let (kafka, host) = (Kafka::shared(), Host::shared().await?);
    kafka.create_topic("records-last", 3)?;
    let values = numbers(0..22);
    // 20 records in partition 0, 2 in partition 1, none in partition 2
    let records: Vec<_> = values
        .iter()
        .enumerate()
        .map(|(n, value)| Record::value(value).to(i32::from(n >= 20)))
        .collect();
    kafka.produce("records-last", &records)?;
    let model = query(
        "records-last",
        json!({"autoOffsetReset": "lastN", "lastN": 7}),
    );
    let (answer, mut run) = host.watch(model).await?;
    assert_eq!(answer.offsets(0), (13..20).collect::<Vec<_>>());
    assert_eq!(answer.offsets(1), [0, 1]);
    kafka.produce("records-last", &[records[0], records[21], records[0].to(2)])?;
    run.until_records(3).await?;
    run.linger(Duration::from_millis(300)).await?;
    assert_eq!(
        (run.offsets(0), run.offsets(1), run.offsets(2)),
        (vec![20], vec![2], vec![0])
    );
    Ok(())
}

#[tokio::test]
async fn one_partition_of_several() -> Result<()> {
    let (kafka, host) = (Kafka::shared(), Host::shared().await?);
    kafka.create_topic("records-one", 2)?;
    let record = Record::value(r#"{"n":1}"#);
    kafka.produce("records-one", &[record, record.to(1), record])?;
    for partition in [json!(1), json!("1")] {
        let (answer, mut run) = host
            .watch(query("records-one", json!({"partition": partition})))
            .await?;
        let known = answer.offsets(1).len() as i64;
        assert_eq!(answer.offsets(0), Vec::<i64>::new());
        kafka.produce("records-one", &[record, record.to(1)])?;
        run.until_records(1).await?;
        run.linger(Duration::from_millis(300)).await?;
        assert_eq!(
            (run.offsets(0), run.offsets(1)),
            (vec![], vec![known]),
            "{partition}"
        );
    }
    Ok(())
}

#[tokio::test]
async fn all_codecs() -> Result<()> {
    let (kafka, host) = (Kafka::shared(), Host::shared().await?);
    let values = numbers(0..200);
    for codec in ["none", "gzip", "snappy", "lz4", "zstd"] {
        let topic = format!("records-codec-{codec}");
        kafka.create_topic(&topic, 1)?;
        let producer = kafka.producer_with(&[("compression.type", codec), ("linger.ms", "50")])?;
        for value in &values[..100] {
            producer.send(&topic, Record::value(value))?;
        }
        producer.flush()?;
        let (answer, mut run) = host.watch(query(&topic, json!({}))).await?;
        for value in &values[100..] {
            producer.send(&topic, Record::value(value))?;
        }
        producer.flush()?;
        run.until_records(100).await?;
        let seen: Vec<Value> = answer
            .column("n")
            .into_iter()
            .chain(run.column("n"))
            .collect();
        assert_eq!(
            seen,
            (0..200).map(|n| json!(n)).collect::<Vec<_>>(),
            "{codec}"
        );
    }
    Ok(())
}

/// cases.md K01: a tombstone, an empty value and a value are three things; each keeps its key and headers.
#[tokio::test]
async fn tombstones_and_empty_values_stay_apart() -> Result<()> {
    let (kafka, host) = (Kafka::shared(), Host::shared().await?);
    kafka.create_topic("records-tombstones", 1)?;
    let headers = [("trace", Some(&b"t1"[..]))];
    let tombstone = Record::default().keyed("k").with_headers(&headers);
    let records = [
        tombstone,
        Record {
            value: Some(b""),
            ..tombstone
        },
        Record {
            value: Some(b"7"),
            ..tombstone
        },
    ];
    kafka.produce("records-tombstones", &records)?;

    let keys = json!({"messageFormat": "plaintext", "keyFormat": "string", "headers": true});
    let answer = host.query(query("records-tombstones", keys)).await?;
    assert_eq!(
        answer.column("message"),
        [Value::Null, json!(""), json!("7")]
    );
    assert_eq!(answer.column("key"), vec![json!("k"); 3]);
    assert_eq!(answer.column("header.trace"), vec![json!("t1"); 3]);

    let answer = host
        .query(query("records-tombstones", json!({"keyFormat": "string"})))
        .await?;
    assert_eq!(answer.offsets(0), [0, 1, 2]);
    assert_eq!(answer.column("value"), [Value::Null, Value::Null, json!(7)]);
    assert_eq!(
        answer.column("_error")[0],
        Value::Null,
        "a tombstone is no error"
    );
    let empty = answer.column("_error")[1].to_string();
    assert!(empty.contains("0 bytes are not JSON"), "{empty}");
    assert_eq!(answer.column("key"), vec![json!("k"); 3]);
    Ok(())
}

/// cases.md K03.
#[tokio::test]
async fn headers() -> Result<()> {
    let (kafka, host) = (Kafka::shared(), Host::shared().await?);
    kafka.create_topic("records-headers", 1)?;
    let all: [&[Header]; 5] = [
        &[("h", None)],
        &[("h", Some(b""))],
        &[("h", Some(b"a")), ("h", None), ("h", Some(b"b"))],
        &[("h", Some(b"\xff\x00"))],
        &[("other", Some(b"x"))],
    ];
    let records: Vec<_> = all
        .iter()
        .map(|headers| Record::value("{}").with_headers(headers))
        .collect();
    kafka.produce("records-headers", &records)?;
    let answer = host
        .query(query("records-headers", json!({"headers": true})))
        .await?;
    let expected = [
        Value::Null,
        json!(""),
        json!(r#"["a",null,"b"]"#),
        json!("/wA="),
        Value::Null,
    ];
    assert_eq!(answer.column("header.h"), expected);
    assert_eq!(answer.column("header.other")[4], json!("x"));

    let answer = host.query(query("records-headers", json!({}))).await?;
    assert!(
        !answer
            .columns
            .iter()
            .any(|name| name.starts_with("header.")),
        "{:?}",
        answer.columns
    );
    Ok(())
}

/// cases.md K25: a record that is too large for a packet is a row with its size; those around it are shown.
#[tokio::test]
async fn a_record_of_twenty_megabytes() -> Result<()> {
    let (kafka, host) = (Kafka::shared(), Host::shared().await?);
    kafka.create_topic("records-large", 1)?;
    let large = format!(r#"{{"text":"{}"}}"#, "x".repeat(20_000_000));
    let (_, mut run) = host.watch(query("records-large", json!({}))).await?;
    let small = Record::value(r#"{"text":"small"}"#);
    kafka.produce("records-large", &[small, Record::value(&large), small])?;
    run.until_records(3).await?;
    assert_eq!(run.offsets(0), [0, 1, 2]);
    let rows: Vec<_> = run.records().collect();
    let error = rows[1].error().unwrap_or_default();
    assert!(
        error.contains("KiB") || error.contains("MiB"),
        "no size in {error:?}"
    );
    assert_eq!(
        (rows[0].cell("text"), rows[2].cell("text")),
        (json!("small"), json!("small"))
    );
    assert!(
        run.largest <= 1024 * 1024,
        "a packet of {} bytes",
        run.largest
    );

    // An answer's caps may leave out what follows it; the stream has that.
    let (answer, mut run) = host.watch(query("records-large", json!({}))).await?;
    let known = answer.offsets(0);
    run.until_records(3 - known.len()).await?;
    assert_eq!([known, run.offsets(0)].concat(), [0, 1, 2]);
    Ok(())
}

#[tokio::test]
async fn a_bad_record_is_a_row_among_the_good_ones() -> Result<()> {
    let (kafka, host) = (Kafka::shared(), Host::shared().await?);
    kafka.create_topic("records-bad", 1)?;
    let values = [r#"{"n":1}"#, "{", r#"{"n":"text"}"#, "\u{1}", r#"{"n":5}"#];
    let records: Vec<_> = values.iter().map(|value| Record::value(*value)).collect();
    let (_, mut run) = host.watch(query("records-bad", json!({}))).await?;
    kafka.produce("records-bad", &records)?;
    run.until_records(5).await?;
    assert_eq!(
        run.column("n"),
        [json!(1), Value::Null, Value::Null, Value::Null, json!(5)]
    );
    let bad: Vec<bool> = run.records().map(|row| row.error().is_some()).collect();
    assert_eq!(bad, [false, true, false, true, false]);
    Ok(())
}

#[tokio::test]
async fn time_is_the_records_or_its_arrival() -> Result<()> {
    let (kafka, host) = (Kafka::shared(), Host::shared().await?);
    kafka.create_topic_with("records-time", 1, &[("retention.ms", "-1")])?;
    let record = Record::value(r#"{"at":1600000000,"n":1}"#);
    kafka.produce(
        "records-time",
        &[record.at(1_500_000_000_123), record.at(1_400_000_000_000)],
    )?;
    let now = workbench::host::now_ms();
    for (keys, expected) in [
        // An answer is in time order.
        (json!({}), vec![1_400_000_000_000, 1_500_000_000_123]),
        (
            json!({"timeField": "at", "timeUnit": "s"}),
            vec![1_600_000_000_000, 1_600_000_000_000],
        ),
        (json!({"timestampMode": "now"}), vec![now, now]),
    ] {
        let answer = host.query(query("records-time", keys.clone())).await?;
        let times: Vec<i64> = answer
            .column("time")
            .iter()
            .filter_map(Value::as_i64)
            .collect();
        let close = times.iter().zip(&expected).all(|(time, expected)| {
            time == expected
                || keys["timestampMode"] == "now" && (0..60_000).contains(&(time - expected))
        });
        assert!(
            times.len() == 2 && close,
            "{keys}: {times:?}, expected {expected:?}"
        );
    }
    Ok(())
}

/// cases.md K23: a record without a timestamp takes its arrival, and that is said; one from the year 50,000 breaks nothing.
#[tokio::test]
async fn no_timestamp_and_a_strange_one() -> Result<()> {
    let (kafka, host) = (Kafka::shared(), Host::shared().await?);
    let far = [("message.timestamp.after.max.ms", "9223372036854775807")];
    kafka.create_topic_with("records-strange-time", 1, &far)?;
    let before = workbench::host::now_ms();
    let record = RawRecord {
        timestamp: -1,
        value: Some(br#"{"n":1}"#),
        headers: &[],
    };
    let strange = RawRecord {
        timestamp: 1_515_698_784_000_000,
        ..record
    };
    let (_, mut run) = host.watch(query("records-strange-time", json!({}))).await?;
    kafka.produce_raw("records-strange-time", &[record, strange, record])?;
    run.until_records(3).await?;
    let times: Vec<_> = run.column("time").iter().map(Value::as_i64).collect();
    assert!(
        times[0].is_some_and(|time| time >= before && time < before + 60_000),
        "{times:?}"
    );
    assert!(run.noticed("timestamp"), "{:?}", run.notices);
    let answer = host.query(query("records-strange-time", json!({}))).await?;
    assert_eq!((answer.error.as_str(), answer.count()), ("", 3));
    Ok(())
}

/// Kafka does not ask a header's name to be text.
#[tokio::test]
async fn a_header_whose_name_is_not_text() -> Result<()> {
    let (kafka, host) = (Kafka::shared(), Host::shared().await?);
    kafka.create_topic("records-header-name", 1)?;
    let headers: [(&[u8], Option<&[u8]>); 2] = [(b"\xff\xfe", Some(b"odd")), (b"good", Some(b"x"))];
    let record = RawRecord {
        timestamp: workbench::host::now_ms(),
        value: Some(b"{}"),
        headers: &headers,
    };
    let (_, mut run) = host
        .watch(query("records-header-name", json!({"headers": true})))
        .await?;
    kafka.produce_raw("records-header-name", &[record, record])?;
    run.until_records(2).await?;
    assert_eq!(run.column("header.good"), [json!("x"), json!("x")]);
    assert!(
        run.columns
            .iter()
            .any(|name| name.starts_with("header.") && name != "header.good"),
        "{:?}",
        run.columns
    );
    Ok(())
}
