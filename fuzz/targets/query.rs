//! A panel's query: what is taken means the same when the browser sends it back.
#![no_main]

use libfuzzer_sys::fuzz_target;
use streamscope::config::{PanelQuery, Subscription, data, key, path};

fuzz_target!(|input: &[u8]| {
    let _ = Subscription::parse(input);
    match PanelQuery::parse(input) {
        Ok(query) => {
            let data = data(&query.spec).to_string();
            let again = Subscription::parse(data.as_bytes()).expect("what we wrote is right");
            assert_eq!(again.spec, query.spec);
            assert_eq!(path(&again.spec), path(&query.spec));
            assert_eq!(key(&again.spec), key(&query.spec));
        }
        Err(error) => assert!(!error.to_string().is_empty()),
    }
});
