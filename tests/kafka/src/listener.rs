//! The broker's listeners: each way to connect, the right ones and the wrong ones.

use std::fmt::Write as _;
use std::net::TcpListener;
use std::path::Path;
use std::time::{SystemTime, UNIX_EPOCH};

use anyhow::{Result, bail};

/// A way to connect. Users: `admin` (may do everything), `alice` and `bob`; each one's password is the name and `-secret`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Listener {
    /// No TLS, nobody asks who comes; the client may do everything.
    Plaintext,
    /// `SASL_PLAINTEXT`: PLAIN (all users), SCRAM-SHA-256 and SCRAM-SHA-512 (admin, alice).
    Sasl,
    /// `SSL` with a client certificate of `ca.crt`, whose CN is the user.
    MutualTls,
    /// `SASL_SSL`: PLAIN (all users), SCRAM-SHA-512 (admin, alice).
    SaslTls,
    /// `SSL`, the broker's certificate only.
    Tls,
    /// As `Tls`, with a certificate for `kafka.example`.
    WrongHost,
    /// As `Tls`, with a certificate that ended in 2020.
    Expired,
    /// As `Plaintext`, but the broker calls itself `kafka.invalid`, a name that nothing resolves.
    Unresolvable,
}

impl Listener {
    const ALL: [Listener; 8] = [
        Listener::Plaintext,
        Listener::Sasl,
        Listener::MutualTls,
        Listener::SaslTls,
        Listener::Tls,
        Listener::WrongHost,
        Listener::Expired,
        Listener::Unresolvable,
    ];

    fn name(self) -> &'static str {
        match self {
            Listener::Plaintext => "PLAINTEXT",
            Listener::Sasl => "SASL",
            Listener::MutualTls => "MUTUAL_TLS",
            Listener::SaslTls => "SASL_TLS",
            Listener::Tls => "TLS",
            Listener::WrongHost => "WRONG_HOST",
            Listener::Expired => "EXPIRED",
            Listener::Unresolvable => "UNRESOLVABLE",
        }
    }

    /// Returns the security protocol that a client must speak here.
    pub fn protocol(self) -> &'static str {
        match self {
            Listener::Plaintext | Listener::Unresolvable => "PLAINTEXT",
            Listener::Sasl => "SASL_PLAINTEXT",
            Listener::SaslTls => "SASL_SSL",
            Listener::MutualTls | Listener::Tls | Listener::WrongHost | Listener::Expired => "SSL",
        }
    }

    fn advertised_host(self) -> &'static str {
        match self {
            Listener::Unresolvable => "kafka.invalid",
            _ => "127.0.0.1",
        }
    }
}

/// The ports of one broker: free ones, found at its start and kept over its restarts.
#[derive(Clone, Copy)]
pub(crate) struct Ports {
    first: u16,
}

/// Below the range from which Linux gives ports to outgoing connections, so that none takes a port in a restart.
const RANGE: std::ops::Range<u16> = 20_000..32_000;

impl Ports {
    /// Finds neighbouring free ports, one a listener and one for the controller.
    pub(crate) fn find() -> Result<Ports> {
        let count = Listener::ALL.len() as u16 + 1;
        let places = (RANGE.end - RANGE.start) / count;
        let now = SystemTime::now().duration_since(UNIX_EPOCH)?.subsec_nanos();
        let seed = now ^ std::process::id().wrapping_mul(2_654_435_761);
        for turn in 0..places {
            let place = (seed % u32::from(places)) as u16 + turn;
            let first = RANGE.start + place % places * count;
            if (first..first + count).all(|port| TcpListener::bind(("127.0.0.1", port)).is_ok()) {
                return Ok(Ports { first });
            }
        }
        bail!("no {count} free ports side by side in {RANGE:?}")
    }

    pub(crate) fn of(self, listener: Listener) -> u16 {
        self.first + 1 + listener as u16
    }

    pub(crate) fn controller(self) -> u16 {
        self.first
    }

    /// Returns the lines of `server.properties` that name ports and certificates; `folder` is the broker's, and
    /// `controller` the port of the cluster's controller: this node, or another.
    pub(crate) fn properties(self, folder: &Path, node: i32, controller: u16) -> String {
        let folder = folder.display();
        let list = |entry: &dyn Fn(Listener) -> String| Listener::ALL.map(entry).join(",");
        let listeners = list(&|l| format!("{}://127.0.0.1:{}", l.name(), self.of(l)));
        let advertised =
            list(&|l| format!("{}://{}:{}", l.name(), l.advertised_host(), self.of(l)));
        let protocols = list(&|l| format!("{}:{}", l.name(), l.protocol()));
        let (roles, own) = if controller == self.controller() {
            (
                "broker,controller",
                format!("CONTROLLER://127.0.0.1:{controller},"),
            )
        } else {
            ("broker", String::new())
        };
        let mut text = format!(
            "process.roles={roles}\n\
             node.id={node}\n\
             listeners={own}{listeners}\n\
             advertised.listeners={advertised}\n\
             listener.security.protocol.map=CONTROLLER:PLAINTEXT,{protocols}\n\
             controller.quorum.bootstrap.servers=127.0.0.1:{controller}\n\
             log.dirs={folder}/data\n\
             ssl.truststore.location={folder}/ca.crt\n\
             ssl.keystore.location={folder}/server.pem\n"
        );
        for (listener, certificate) in [
            (Listener::WrongHost, "wrong-host.pem"),
            (Listener::Expired, "expired.pem"),
        ] {
            let name = listener.name().to_lowercase();
            // Writing to a String cannot fail.
            let _ = writeln!(
                text,
                "listener.name.{name}.ssl.keystore.location={folder}/{certificate}"
            );
        }
        text
    }
}
