//! Channel names: `<organisation>/ds/<uid>/<path>`.

/// A data source's channel.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Address {
    pub(super) uid: String,
    pub(super) path: String,
}

impl Address {
    /// Reads a name as it comes over the wire. The prefix is the organisation's id up to Grafana
    /// 12.3, and `default` or `org-1` later; only scope `ds` is served.
    pub(super) fn parse(wire: &str) -> Option<Address> {
        let (prefix, name) = wire.split_once('/')?;
        let mut parts = name.splitn(3, '/');
        let (scope, uid, path) = (parts.next()?, parts.next()?, parts.next()?);
        let plain = |c: char| c.is_ascii_alphanumeric() || "_-.".contains(c);
        let valid = ["1", "default", "org-1"].contains(&prefix)
            && name.len() <= LONGEST
            && scope == "ds"
            && !uid.is_empty()
            && uid.chars().all(plain)
            && !path.is_empty()
            && path.chars().all(|c| plain(c) || "/=".contains(c));
        valid.then(|| Address {
            uid: uid.into(),
            path: path.into(),
        })
    }

    /// Gives the name without the prefix: what all viewers share.
    pub(super) fn channel(&self) -> String {
        format!("ds/{}/{}", self.uid, self.path)
    }
}

/// Of scope, namespace and path together.
const LONGEST: usize = 160;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names() {
        let long = format!("1/ds/k/{}", "x".repeat(155));
        for (wire, expected) in [
            ("1/ds/k/p", Some(("k", "p"))),
            ("default/ds/k/p/q=1", Some(("k", "p/q=1"))),
            ("org-1/ds/k.l_m-n/p", Some(("k.l_m-n", "p"))),
            ("2/ds/k/p", None),
            ("ds/k/p", None),
            ("1/plugin/k/p", None),
            ("1/ds/k", None),
            ("1/ds/k/", None),
            ("1/ds//p", None),
            ("1/ds/undefined/p", Some(("undefined", "p"))),
            ("1/ds/k/p%20q", None),
            ("1/ds/k/p:q", None),
            (
                &long[..long.len() - 1],
                Some(("k", &long[7..long.len() - 1])),
            ),
            (&long, Some(("k", &long[7..]))),
        ] {
            let expected = expected
                .filter(|_| wire.len() <= LONGEST + 2)
                .map(|(uid, path)| Address {
                    uid: uid.into(),
                    path: path.into(),
                });
            assert_eq!(Address::parse(wire), expected, "{wire}");
        }
    }
}
