#!/usr/bin/env bash
# fuzz.sh [-s SECONDS] [TARGET…]: runs each fuzz target for some seconds (10), from fuzz/corpus on. What fails is kept in fuzz/found.
# libFuzzer by the compiler's own coverage passes, which the wrapper turns on for our crates: no nightly compiler, no cargo-fuzz.
set -euo pipefail
cd "$(dirname "$0")/.."
seconds=10
while getopts s: option; do
  [ "$option" = s ] && seconds=$OPTARG || exit 2
done
shift $((OPTIND - 1))
export CARGO_TARGET_DIR="${CARGO_TARGET_DIR:-$PWD/target}"
RUSTC_WORKSPACE_WRAPPER=$PWD/scripts/fuzz-rustc.sh cargo build --quiet --locked -p fuzz

targets=("$@")
[ $# -gt 0 ] || mapfile -t targets < <(basename -as .rs fuzz/targets/*.rs)
new=$(mktemp -d)
trap 'rm -rf "$new"' EXIT
for target in "${targets[@]}"; do
  mkdir -p "$new/$target" fuzz/found
  if ! "$CARGO_TARGET_DIR/debug/fuzz_$target" -max_total_time="$seconds" -timeout=10 -rss_limit_mb=1024 -malloc_limit_mb=256 \
    -max_len=65536 -print_final_stats=1 -artifact_prefix=fuzz/found/ "$new/$target" "fuzz/corpus/$target" >"$new/log" 2>&1; then
    tail -n 40 "$new/log" >&2
    echo "the fuzz target $target failed: its input is in fuzz/found" >&2
    exit 1
  fi
  printf '%-14s %s\n' "$target" "$(grep -aoE 'cov: [0-9]+ ft: [0-9]+ corp: [0-9]+|^stat::number_of_executed_units: [0-9]+' "$new/log" | tail -n 2 | tr '\n' ' ')"
done
