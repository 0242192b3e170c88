use super::*;

#[test]
fn redirects() {
    let (url, _) = RegistryUrl::parse("http://sr:8081/base").unwrap();
    for (location, want) in [
        ("/other?x=1", Ok("/other?x=1")),
        ("http://sr:8081/other/?x=1#y", Ok("/other?x=1")),
        ("HTTP://SR:8081/other", Ok("/other")),
        ("//sr:8081/other", Ok("/other")),
        ("8", Ok("/base/schemas/ids/8")),
        ("https://sr:8081/other", Err("https://sr:8081")),
        ("http://sr/other", Err("http://sr")),
        ("http://evil:8081/x", Err("http://evil:8081")),
        ("http://sr:8081@evil/x", Err("http://evil")),
        ("//evil/x", Err("http://evil")),
        ("javascript://x", Err("an address that is no URL")),
        ("", Err("nowhere")),
    ] {
        let found = redirected(&url, "/base/schemas/ids/7?a=b", location);
        let found = match &found {
            Ok(target) => Ok(target.as_str()),
            Err(Cause::Redirect { to, .. }) => Err(to.as_str()),
            Err(other) => panic!("{location}: {other}"),
        };
        assert_eq!(found, want, "{location}");
    }
}

#[test]
fn escapes() {
    for (text, want) in [
        ("t-value", "t-value"),
        ("ns/Type", "ns%2FType"),
        ("a b", "a%20b"),
        ("a%20b", "a%2520b"),
        ("other.proto", "other.proto"),
        (":.ctx:t", "%3A.ctx%3At"),
        ("ä?&#", "%C3%A4%3F%26%23"),
    ] {
        assert_eq!(escaped(text), want);
    }
}
