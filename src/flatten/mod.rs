//! Dotted paths: how a nested field is called as a column.

/// Appends `key` to `path`, as in `a.b.c`.
///
/// A key that is empty or holds `.`, `[`, `]` or `"` is written `["…"]` with JSON's escapes and no dot before it, so that
/// `{"a.b":1}` and `{"a":{"b":2}}` stay apart.
pub fn push_segment(path: &mut String, key: &str) {
    if key.is_empty() || key.contains(['.', '[', ']', '"']) {
        path.push('[');
        path.push_str(&serde_json::Value::from(key).to_string());
        path.push(']');
        return;
    }
    if !path.is_empty() {
        path.push('.');
    }
    path.push_str(key);
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn paths() {
        for (keys, want) in [
            (&["a"][..], "a"),
            (&["a", "b", "c"], "a.b.c"),
            (&["a.b"], r#"["a.b"]"#),
            (&["c", "a.b", "v"], r#"c["a.b"].v"#),
            (&[""], r#"[""]"#),
            (&["c", "", "v"], r#"c[""].v"#),
            (&["a[0]"], r#"["a[0]"]"#),
            (&["say \"hi\""], r#"["say \"hi\""]"#),
            (&["grün"], "grün"),
        ] {
            let mut path = String::new();
            for key in keys {
                push_segment(&mut path, key);
            }
            assert_eq!(path, want, "{keys:?}");
        }
    }
}
