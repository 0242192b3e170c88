//! The broker's and its clients' certificates, new for each broker.

use std::fs;
use std::path::Path;

use anyhow::Result;
use rcgen::{
    BasicConstraints, CertificateParams, CertifiedIssuer, DnType, ExtendedKeyUsagePurpose, IsCa,
    KeyPair, KeyUsagePurpose, date_time_ymd,
};

type Authority = CertifiedIssuer<'static, KeyPair>;

/// Writes into `folder`: `ca.crt`, `other-ca.crt`, `client.{crt,key}` (CN client), `stranger.{crt,key}` (of the other
/// authority), and for the broker's listeners `server.pem`, `wrong-host.pem` and `expired.pem` (key, then chain).
pub(crate) fn write(folder: &Path) -> Result<()> {
    let authority = authority("Streamscope test authority")?;
    let other = self::authority("Another authority")?;
    fs::write(folder.join("ca.crt"), authority.pem())?;
    fs::write(folder.join("other-ca.crt"), other.pem())?;

    let here = ["localhost", "127.0.0.1"];
    for (name, subject, hosts, expired) in [
        ("server", "localhost", &here[..], false),
        ("wrong-host", "kafka.example", &["kafka.example"], false),
        ("expired", "localhost", &here, true),
    ] {
        let (certificate, key) = leaf(&authority, subject, hosts, expired)?;
        fs::write(
            folder.join(name).with_extension("pem"),
            key + &certificate + &authority.pem(),
        )?;
    }
    for (name, issuer) in [("client", &authority), ("stranger", &other)] {
        let (certificate, key) = leaf(issuer, name, &[name], false)?;
        fs::write(folder.join(name).with_extension("crt"), certificate)?;
        fs::write(folder.join(name).with_extension("key"), key)?;
    }
    Ok(())
}

fn authority(name: &str) -> Result<Authority> {
    let mut params = CertificateParams::default();
    params.distinguished_name.push(DnType::CommonName, name);
    params.is_ca = IsCa::Ca(BasicConstraints::Unconstrained);
    params.key_usages = vec![KeyUsagePurpose::KeyCertSign, KeyUsagePurpose::CrlSign];
    Ok(CertifiedIssuer::self_signed(params, KeyPair::generate()?)?)
}

/// Returns the certificate and its key, both PEM.
fn leaf(
    issuer: &Authority,
    subject: &str,
    hosts: &[&str],
    expired: bool,
) -> Result<(String, String)> {
    let mut params =
        CertificateParams::new(hosts.iter().map(ToString::to_string).collect::<Vec<_>>())?;
    params.distinguished_name = rcgen::DistinguishedName::new();
    params.distinguished_name.push(DnType::CommonName, subject);
    params.extended_key_usages = vec![
        ExtendedKeyUsagePurpose::ServerAuth,
        ExtendedKeyUsagePurpose::ClientAuth,
    ];
    if expired {
        params.not_after = date_time_ymd(2020, 1, 1);
    }
    let key = KeyPair::generate()?;
    Ok((params.signed_by(&key, issuer)?.pem(), key.serialize_pem()))
}
