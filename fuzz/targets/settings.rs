//! The data source's settings: no secret is ever in what they say.
#![no_main]

use libfuzzer_sys::fuzz_target;
use streamscope::config::Settings;

fuzz_target!(|input: &[u8]| {
    let secrets = SECRETS
        .into_iter()
        .map(|name| (name.to_owned(), format!("{SECRET}{name}")))
        .collect();
    let said = format!("{:?}", Settings::parse(input, &secrets))
        + &Settings::parse(input, &secrets)
            .map_or_else(|error| error.to_string(), |_| String::new());
    assert!(!said.contains(SECRET), "{said}");
});

const SECRET: &str = "hunter2-";
/// Certificates are not among them: they are public.
const SECRETS: [&str; 8] = [
    "saslPassword",
    "schemaRegistryPassword",
    "schemaRegistryToken",
    "schemaRegistryOAuthClientSecret",
    "schemaRegistryTlsClientKey",
    "tlsClientKey",
    "sslKeyPassword",
    "anything",
];
