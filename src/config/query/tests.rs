//! `tests/contract/queries.json` holds the cases: the front end's tests read the same file.

use serde_json::{Value, json};

use super::*;
use crate::config::data;

#[test]
fn contract() {
    let cases: Vec<Value> =
        serde_json::from_str(include_str!("../../../tests/contract/queries.json")).unwrap();
    for case in cases {
        let parsed = PanelQuery::parse(case["query"].to_string().as_bytes());
        match (parsed, case.get("error")) {
            (Ok(query), None) => assert_eq!(data(&query.spec), case["data"], "{}", case["name"]),
            (Err(error), Some(text)) => {
                let (error, text) = (error.to_string(), text.as_str().unwrap());
                assert!(error.contains(text), "{}: {error}", case["name"]);
            }
            (parsed, _) => panic!("{}: {parsed:?}", case["name"]),
        }
    }
}

#[test]
fn what_the_panel_keeps() {
    let query = json!({ "topicName": "t", "refId": "B", "alias": "{{topic}}", "resumeAt": { "next": { "0": 5 } },
        "cursor": { "next": {} }, "nonce": "mine", "datasource": { "uid": "x" }, "hide": false });
    let query = PanelQuery::parse(query.to_string().as_bytes()).unwrap();
    assert_eq!(
        (query.ref_id.as_str(), query.alias.as_str()),
        ("B", "{{topic}}")
    );
    assert_eq!(
        query.resume_at,
        Some(Cursor {
            topic_id: None,
            next: [(0, 5)].into()
        })
    );
    // These two are the plugin's to give.
    assert_eq!((query.spec.cursor, query.spec.nonce), (None, None));
}
