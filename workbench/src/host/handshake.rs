//! The line by which a plugin says where it listens: `1|2|unix|/path/to/socket|grpc|`.

use std::path::PathBuf;

/// The only core protocol of go-plugin.
const CORE_PROTOCOL: &str = "1";
/// The version of Grafana's plugin protocol.
pub(super) const APP_PROTOCOL: &str = "2";

/// What is wrong with a handshake line.
#[derive(Debug, PartialEq, Eq)]
pub struct HandshakeError(String);

impl std::fmt::Display for HandshakeError {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(&self.0)
    }
}

impl std::error::Error for HandshakeError {}

/// Reads the socket's path from a handshake line.
pub(super) fn parse(line: &str) -> Result<PathBuf, HandshakeError> {
    let fail = |what: String| Err(HandshakeError(format!("{what} in handshake {line:?}")));
    let parts: Vec<&str> = line.trim().split('|').collect();
    let [core, app, network, address, protocol, ..] = parts.as_slice() else {
        return fail(format!("expected 5 parts or more, found {}", parts.len()));
    };
    for (name, expected, found) in [
        ("core protocol", CORE_PROTOCOL, core),
        ("plugin protocol", APP_PROTOCOL, app),
        ("network", "unix", network),
        ("protocol", "grpc", protocol),
    ] {
        if expected != *found {
            return fail(format!("expected {name} {expected:?}, found {found:?}"));
        }
    }
    if address.is_empty() {
        return fail("expected a socket path, found nothing".into());
    }
    // AutoMTLS is never asked for, so a certificate would mean a confused plugin.
    if parts.get(5).is_some_and(|cert| !cert.is_empty()) {
        return fail("expected no certificate, found one".into());
    }
    Ok(PathBuf::from(address))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn handshakes() {
        for (line, expected) in [
            ("1|2|unix|/tmp/a/plugin|grpc|", Ok("/tmp/a/plugin")),
            ("1|2|unix|/tmp/a/plugin|grpc|\n", Ok("/tmp/a/plugin")),
            ("1|2|unix|/tmp/a/plugin|grpc", Ok("/tmp/a/plugin")),
            ("1|2|unix|/tmp/a/plugin|grpc||false", Ok("/tmp/a/plugin")),
            ("1|2|unix|/tmp/a/plugin", Err("5 parts")),
            ("2|2|unix|/x|grpc|", Err("core protocol")),
            ("1|1|unix|/x|grpc|", Err("plugin protocol")),
            ("1|2|tcp|127.0.0.1:1|grpc|", Err("network")),
            ("1|2|unix|/x|netrpc|", Err("\"grpc\"")),
            ("1|2|unix||grpc|", Err("socket path")),
            ("1|2|unix|/x|grpc|MIIB", Err("certificate")),
            ("This is a plugin", Err("5 parts")),
        ] {
            match (parse(line), expected) {
                (Ok(path), Ok(expected)) => assert_eq!(path, PathBuf::from(expected), "{line}"),
                (Err(error), Err(words)) => {
                    assert!(error.to_string().contains(words), "{line}: {error}");
                }
                (got, _) => panic!("{line}: {got:?}"),
            }
        }
    }
}
