//! The address of a registry, or of the server that gives tokens for it.

use std::fmt;

use percent_encoding::percent_decode_str;
use thiserror::Error;

/// Is an http or https URL, taken apart; `Display` shows it without credentials.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RegistryUrl {
    pub https: bool,
    /// Without brackets, where it is an IPv6 address.
    pub host: String,
    pub port: u16,
    /// What stands before each path: empty, or with a leading and without a trailing slash.
    pub base: String,
}

impl fmt::Display for RegistryUrl {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let scheme = if self.https { "https" } else { "http" };
        write!(f, "{scheme}://{}{}", self.authority(), self.base)
    }
}

impl RegistryUrl {
    /// Gives the host, with the port where it is not the scheme's own.
    pub fn authority(&self) -> String {
        let host = if self.host.contains(':') {
            format!("[{}]", self.host)
        } else {
            self.host.clone()
        };
        match (self.https, self.port) {
            (true, 443) | (false, 80) => host,
            (_, port) => format!("{host}:{port}"),
        }
    }

    /// Says whether both have scheme, host and port in common.
    pub fn same_origin(&self, other: &Self) -> bool {
        (self.https, self.port) == (other.https, other.port)
            && self.host.eq_ignore_ascii_case(&other.host)
    }

    /// Takes an absolute URL apart; a user name and password in it are given beside it.
    pub fn parse(text: &str) -> Result<(Self, Option<(String, String)>), UrlFault> {
        let (scheme, rest) = text.split_once("://").ok_or(UrlFault::Scheme)?;
        let https = match scheme.to_ascii_lowercase().as_str() {
            "http" => false,
            "https" => true,
            _ => return Err(UrlFault::Scheme),
        };
        let end = rest.find(['/', '?', '#']).unwrap_or(rest.len());
        let (authority, path) = rest.split_at(end);
        if path.contains(['?', '#']) {
            return Err(UrlFault::Query);
        }
        if !path.bytes().all(|byte| byte.is_ascii_graphic()) {
            return Err(UrlFault::Path);
        }
        let (user, authority) = match authority.rsplit_once('@') {
            Some((user, authority)) => (Some(user), authority),
            None => (None, authority),
        };
        let (host, port) = split_port(authority).ok_or(UrlFault::Host)?;
        let port = match port {
            None if https => 443,
            None => 80,
            Some(port) => port
                .parse()
                .ok()
                .filter(|&port| port > 0)
                .ok_or(UrlFault::Port)?,
        };
        let known = |c: char| c.is_ascii_alphanumeric() || matches!(c, '.' | '-' | '_' | ':' | '%');
        if host.is_empty() || !host.chars().all(known) {
            return Err(UrlFault::Host);
        }
        let url = Self {
            https,
            host: host.to_owned(),
            port,
            base: path.trim_end_matches('/').to_owned(),
        };
        let user = user.map(|user| {
            let (name, password) = user.split_once(':').unwrap_or((user, ""));
            (unescaped(name), unescaped(password))
        });
        Ok((url, user))
    }
}

/// Gives host and port of an authority; an IPv6 address stands in brackets.
fn split_port(authority: &str) -> Option<(&str, Option<&str>)> {
    if let Some(rest) = authority.strip_prefix('[') {
        let (host, rest) = rest.split_once(']')?;
        return match rest.strip_prefix(':') {
            Some(port) => Some((host, Some(port))),
            None => rest.is_empty().then_some((host, None)),
        };
    }
    match authority.split_once(':') {
        Some((_, port)) if port.contains(':') => None,
        Some((host, port)) => Some((host, Some(port))),
        None => Some((authority, None)),
    }
}

/// Undoes the escapes of a URL's user name or password.
fn unescaped(text: &str) -> String {
    percent_decode_str(text).decode_utf8_lossy().into_owned()
}

/// Says what is wrong with a URL; never the URL, which may hold a password.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Error)]
pub enum UrlFault {
    #[error("it must begin with http:// or https://")]
    Scheme,
    #[error("its host is missing or is no host name; an IPv6 address stands in brackets")]
    Host,
    #[error("its port must be a number from 1 to 65535")]
    Port,
    #[error("leave out `?` or `#` and what follows")]
    Query,
    #[error("its path has a space or a character that must be percent-encoded")]
    Path,
}
