//! The plain twin stays as it is: the core is measured against it, so nobody may slow it unseen.

use std::fmt::Write as _;
use std::path::Path;

use sha2::{Digest, Sha256};

#[test]
fn the_twin_is_frozen() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("benches/twin");
    let mut files: Vec<_> = std::fs::read_dir(&folder)
        .unwrap()
        .map(|entry| entry.unwrap().path())
        .filter(|path| path.extension().is_some_and(|end| end == "rs"))
        .collect();
    files.sort();
    let mut got = String::new();
    for path in files {
        let hash = Sha256::digest(std::fs::read(&path).unwrap());
        let name = path.file_name().unwrap().display();
        writeln!(got, "{hash:x}  {name}").unwrap();
    }
    let frozen = folder.join("SHA256");
    if std::env::var_os("UPDATE_GOLDEN").is_some() {
        std::fs::write(&frozen, &got).unwrap();
    }
    let want = std::fs::read_to_string(&frozen).unwrap();
    assert_eq!(
        got, want,
        "the twin changed: on purpose, UPDATE_GOLDEN=1 writes {frozen:?} anew, and docs/performance.md its new figures"
    );
}
