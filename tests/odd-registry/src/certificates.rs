//! Certificates for servers and clients, new for each test.

use anyhow::Result;
use rcgen::{
    BasicConstraints, CertificateParams, CertifiedIssuer, DistinguishedName, DnType,
    ExtendedKeyUsagePurpose, IsCa, KeyPair, KeyUsagePurpose, date_time_ymd,
};

/// Is a CA of a test's own.
pub struct Authority(CertifiedIssuer<'static, KeyPair>);

/// Is a certificate and its key, both PEM.
pub struct Identity {
    pub certificate: String,
    pub key: String,
}

impl Authority {
    /// Makes a CA that nobody trusts yet.
    pub fn new(name: &str) -> Result<Self> {
        let mut params = CertificateParams::default();
        params.distinguished_name.push(DnType::CommonName, name);
        params.is_ca = IsCa::Ca(BasicConstraints::Unconstrained);
        params.key_usages = vec![KeyUsagePurpose::KeyCertSign, KeyUsagePurpose::CrlSign];
        Ok(Self(CertifiedIssuer::self_signed(
            params,
            KeyPair::generate()?,
        )?))
    }

    /// Gives the CA's certificate, PEM.
    pub fn pem(&self) -> String {
        self.0.pem()
    }

    /// Signs a certificate for these hosts or names.
    pub fn sign(&self, names: &[&str]) -> Result<Identity> {
        self.issue(names, false)
    }

    /// Signs a certificate that expired years ago.
    pub fn sign_expired(&self, names: &[&str]) -> Result<Identity> {
        self.issue(names, true)
    }

    fn issue(&self, names: &[&str], expired: bool) -> Result<Identity> {
        let mut params =
            CertificateParams::new(names.iter().map(ToString::to_string).collect::<Vec<_>>())?;
        params.distinguished_name = DistinguishedName::new();
        params.distinguished_name.push(
            DnType::CommonName,
            names.first().copied().unwrap_or_default(),
        );
        params.extended_key_usages = vec![
            ExtendedKeyUsagePurpose::ServerAuth,
            ExtendedKeyUsagePurpose::ClientAuth,
        ];
        if expired {
            params.not_after = date_time_ymd(2020, 1, 1);
        }
        let key = KeyPair::generate()?;
        Ok(Identity {
            certificate: params.signed_by(&key, &self.0)?.pem(),
            key: key.serialize_pem(),
        })
    }
}
