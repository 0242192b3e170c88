//! What schemas build on.

use super::*;

#[tokio::test]
async fn references_come_first_and_once() {
    let server = book_server(
        Book::default()
            .entry(referring("t-value", 1, &[("a", "A"), ("b", "B")]))
            .entry(referring("A", 2, &[("c", "C"), ("d", "D")]))
            .entry(referring("B", 3, &[("d", "D"), ("c", "C")]))
            .entry(referring("C", 4, &[("d", "D")]))
            .entry(referring("D", 5, &[])),
    );
    let found = ask(&at(&server.url()), SchemaId::Id(1)).await.unwrap();
    let names: Vec<_> = found
        .references
        .iter()
        .map(|reference| (reference.name.as_str(), reference.text.as_str()))
        .collect();
    assert_eq!(
        names,
        [
            ("d", "text of D"),
            ("c", "text of C"),
            ("a", "text of A"),
            ("b", "text of B")
        ]
    );
    // One more asks for the context.
    assert_eq!(server.requests().len(), 6);
}

#[tokio::test]
async fn references_are_bounded() {
    let circle = Book::default()
        .entry(referring("t-value", 1, &[("a", "A")]))
        .entry(referring("A", 2, &[("b", "B")]))
        .entry(referring("B", 3, &[("a", "A")]));
    let itself = Book::default()
        .entry(referring("t-value", 1, &[("a", "A")]))
        .entry(referring("A", 2, &[("a", "A")]));
    let mut deep = Book::default().entry(referring("t-value", 1, &[("0", "0")]));
    for n in 0..100 {
        let next = (n + 1).to_string();
        deep = deep.entry(referring(&n.to_string(), 2 + n, &[(&next, &next)]));
    }
    let names: Vec<String> = (0..400).map(|n| format!("s{n}")).collect();
    let all: Vec<_> = names
        .iter()
        .map(|name| (name.as_str(), name.as_str()))
        .collect();
    let mut wide = Book::default().entry(referring("t-value", 1, &all));
    for name in &names {
        wide = wide.entry(referring(name, 2, &[]));
    }
    let missing = Book::default().entry(referring("t-value", 1, &[("a", "A")]));
    for (name, book, says) in [
        (
            "circle",
            circle,
            &["A, version 1", "cannot build on itself"][..],
        ),
        (
            "itself",
            itself,
            &["A, version 1", "cannot build on itself"],
        ),
        ("deep", deep, &["32 deep"]),
        ("wide", wide, &["more than 256"]),
        ("missing", missing, &["reference A, version 1", "404"]),
    ] {
        let server = book_server(book);
        let error = ask(&at(&server.url()), SchemaId::Id(1))
            .await
            .unwrap_err()
            .to_string();
        for part in says {
            assert!(error.contains(part), "{name}: {error}");
        }
        assert!(server.requests().len() <= 300, "{name}");
    }
}
