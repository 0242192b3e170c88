#!/usr/bin/env bash
# Two commits, measured in alternation by the benches of this one: `scripts/bench-compare.sh OLD NEW`.
set -euo pipefail
cd "$(dirname "$0")/.."
[ $# -eq 2 ] || { echo "usage: make bench-compare OLD=<commit> NEW=<commit>" >&2; exit 2; }
export CARGO_TARGET_DIR="${CARGO_TARGET_DIR:-$PWD/target}"
trees=$(mktemp -d)
remove() {
  for tree in "$trees"/*/; do git worktree remove --force "$tree"; done
  rm -rf "$trees"
}
trap remove EXIT

build() { # side commit
  git worktree add --quiet --detach "$trees/$1" "$2"
  # The same harness for both: what differs is the core.
  rm -rf "$trees/$1/benches"
  cp -R benches "$trees/$1/benches"
  cargo build --quiet --release --manifest-path "$trees/$1/Cargo.toml" -p benches --bin sample ||
    { echo "the core of $2 is too old for the benches of this commit" >&2; exit 1; }
  cp "$CARGO_TARGET_DIR/release/sample" "$trees/sample-$1"
}

build old "$1"
build new "$2"
mv "$trees"/sample-* "$CARGO_TARGET_DIR/release/"
cargo build --quiet --release --locked -p benches --bin compare
"$CARGO_TARGET_DIR/release/compare" commits "$CARGO_TARGET_DIR/release/sample-old" "$CARGO_TARGET_DIR/release/sample-new"
