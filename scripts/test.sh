#!/usr/bin/env bash
# test.sh: everything that must hold, the cheapest first, with the minutes of each stage.
set -euo pipefail
cd "$(dirname "$0")/.."
: "${CARGO_TARGET_DIR:=$PWD/target}"
export CARGO_TARGET_DIR
tools="${XDG_CACHE_HOME:-$HOME/.cache}/streamscope/tools"
export PATH="$tools/bin:$PATH"
host=$(rustc -vV | sed -n 's/^host: //p')
export GPX_STREAMSCOPE="$CARGO_TARGET_DIR/$host/release/gpx_streamscope"
export WORKBENCH="$CARGO_TARGET_DIR/debug/workbench"

times=()
stage() { # stage NAME COMMAND…
  local name=$1 start=$SECONDS
  shift
  printf '\n=== %s\n' "$name"
  "$@" || {
    echo "=== $name FAILED after $((SECONDS - start)) s" >&2
    exit 1
  }
  times+=("$(printf '%5.1f min  %s' "$(echo "$((SECONDS - start))" | awk '{print $1 / 60}')" "$name")")
}

need() { scripts/need.sh cargo cc make perl pkg-config openssl-headers npm go java java21 mvn chromium python3 python-venv pyyaml valgrind; }

rust_style() {
  cargo fmt --all --check
  cargo clippy --locked --workspace --all-targets -- -D warnings
  cargo check --locked -p streamscope --lib --no-default-features
  RUSTDOCFLAGS='-D warnings' cargo doc --locked --workspace --no-deps --quiet
}

core_stays_apart() { # the core names no crate that waits
  local crates
  crates=$(cargo tree --locked -p streamscope --no-default-features -e normal --prefix none | awk '{print $1}' | sort -u)
  if grep -xE 'tokio|rdkafka|rdkafka-sys|tonic|tracing|hyper|mio|socket2' <<<"$crates"; then
    echo 'the core depends on these crates of the shell' >&2
    return 1
  fi
}

dependencies() {
  command -v cargo-deny >/dev/null || CARGO_PROFILE_RELEASE_LTO=off CARGO_PROFILE_RELEASE_OPT_LEVEL=1 \
    cargo install --quiet --locked --root "$tools" --target-dir "$CARGO_TARGET_DIR/tools" cargo-deny@0.20.2
  cargo deny --log-level error check bans licenses sources
}

no_machine_in_files() { # no path of a machine and no download host in what we ship
  ! git grep -nIE '"resolved": "http|(^|[^A-Za-z0-9_./-])/(root|work)/' -- . ':!scripts/test.sh'
}

frontend() {
  make frontend
  npm --prefix frontend run --silent lint
  npm --prefix frontend run --silent typecheck
  npm --prefix frontend test
}

times_the_twin() { # the core's time beside the plain twin's, in the same run
  cargo build --quiet --release --locked -p benches --bins
  RUNS=5 MILLISECONDS=100 "$CARGO_TARGET_DIR/release/compare" check "$CARGO_TARGET_DIR/release/sample"
}

stage 'tools' need
stage 'files' no_machine_in_files
stage 'rust: format, lints, docs' rust_style
stage 'rust: the core stands alone' core_stays_apart
stage 'dependencies: licences and sources' dependencies
stage 'front end: build, lints, types, tests' frontend
stage 'plugin and workbench: build' make plugin
stage 'rust: tests, with a real Kafka' cargo test --locked --workspace
stage 'fuzz: every parser' scripts/fuzz.sh
stage 'speed: instructions a record' scripts/instructions.py --check
stage 'speed: times the plain twin' times_the_twin
stage 'page: build' make page
stage 'package' scripts/check-package.sh
stage 'compose' scripts/check-compose.py
stage 'Go host: tests' scripts/go-host.sh
stage 'browser: tests' scripts/browser.sh

printf '\n'
printf '%s\n' "${times[@]}"
