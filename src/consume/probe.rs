//! How far a bare connection to a broker gets: name lookup and TCP, without Kafka.
//!
//! librdkafka connects only to the brokers that it needs, and says nothing about the others; nor about one that does
//! not answer at all, before its own long timeout.

use std::io;
use std::net::SocketAddr;
use std::time::Duration;

use tokio::net::{TcpStream, lookup_host};
use tokio::time::timeout;

use super::errors::{Cause, Fault};

/// Looks `host` up and connects to one of its addresses within `limit`; gives what failed.
pub async fn reach(host: &str, port: u16, limit: Duration) -> Option<Fault> {
    let fault = |cause, text: String| {
        Some(Fault {
            cause,
            broker: Some(address(host, port)),
            text,
        })
    };
    if host.is_empty() {
        return fault(
            Cause::NameUnknown,
            "the broker advertises an empty host name".to_owned(),
        );
    }
    let attempt = async {
        let addresses: Vec<SocketAddr> = match lookup_host((host, port)).await {
            Ok(found) => found.collect(),
            Err(error) => return fault(lookup_cause(&error), error.to_string()),
        };
        let mut last = None;
        for address in addresses {
            match TcpStream::connect(address).await {
                Ok(_) => return None,
                Err(error) => last = Some(error),
            }
        }
        match last {
            Some(error) => fault(connect_cause(&error), error.to_string()),
            None => fault(Cause::NameUnknown, "the name has no address".to_owned()),
        }
    };
    match timeout(limit, attempt).await {
        Ok(result) => result,
        Err(_) => fault(
            Cause::ConnectTimeout,
            format!("no connection within {} ms", limit.as_millis()),
        ),
    }
}

/// Takes `host:port` apart, `[v6]:port` too; without a port it is Kafka's usual 9092.
pub fn split(server: &str) -> Option<(&str, u16)> {
    const USUAL: u16 = 9092;
    if let Some((host, rest)) = server
        .strip_prefix('[')
        .and_then(|rest| rest.split_once(']'))
    {
        return match rest.strip_prefix(':') {
            Some(port) => Some((host, port.parse().ok()?)),
            None => rest.is_empty().then_some((host, USUAL)),
        };
    }
    match server.split_once(':') {
        // Which of the colons would be the port's?
        Some((_, port)) if port.contains(':') => None,
        Some((host, port)) => Some((host, port.parse().ok()?)),
        None => Some((server, USUAL)),
    }
}

/// Writes an address as Kafka does, an IPv6 one in brackets.
pub fn address(host: &str, port: u16) -> String {
    if host.contains(':') {
        format!("[{host}]:{port}")
    } else {
        format!("{host}:{port}")
    }
}

fn lookup_cause(error: &io::Error) -> Cause {
    // The standard library gives the resolver's text only.
    if error.to_string().contains("Temporary failure") || error.to_string().contains("Try again") {
        Cause::NameLookupFailed
    } else {
        Cause::NameUnknown
    }
}

fn connect_cause(error: &io::Error) -> Cause {
    match error.kind() {
        io::ErrorKind::ConnectionRefused => Cause::Refused,
        io::ErrorKind::TimedOut => Cause::ConnectTimeout,
        _ => Cause::Unreachable,
    }
}

#[cfg(test)]
mod tests {
    use tokio::net::TcpListener;

    use super::*;

    #[test]
    fn servers() {
        for (server, want) in [
            ("kafka:29092", Some(("kafka", 29092))),
            ("kafka", Some(("kafka", 9092))),
            ("[2001:db8::5]:9093", Some(("2001:db8::5", 9093))),
            ("[::1]", Some(("::1", 9092))),
            ("2001:db8::5", None),
            ("[::1]x", None),
            ("kafka:http", None),
            ("kafka:99999", None),
        ] {
            assert_eq!(split(server), want, "{server}");
        }
    }

    #[tokio::test]
    async fn what_fails_is_named() {
        let open = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let port = open.local_addr().unwrap().port();
        let closed = TcpListener::bind("127.0.0.1:0")
            .await
            .unwrap()
            .local_addr()
            .unwrap()
            .port();
        let limit = Duration::from_secs(5);
        for (host, port, want) in [
            ("127.0.0.1", port, None),
            ("127.0.0.1", closed, Some(Cause::Refused)),
            ("", 9092, Some(Cause::NameUnknown)),
        ] {
            let fault = reach(host, port, limit).await;
            assert_eq!(
                fault.as_ref().map(|fault| fault.cause),
                want,
                "{host}:{port} {fault:?}"
            );
        }
        let fault = reach("nohost.invalid", 9092, limit).await.unwrap();
        assert!(
            matches!(fault.cause, Cause::NameUnknown | Cause::NameLookupFailed),
            "{fault:?}"
        );
        assert_eq!(fault.broker.as_deref(), Some("nohost.invalid:9092"));
    }
}
