#!/usr/bin/env bash
# Where the core's work on one fixture goes: `scripts/profile.sh json_20fields`, or `twin` as a second word. In target/profile:
# a flame graph of time, a table of instructions by line, and a table of allocations by place.
set -euo pipefail
cd "$(dirname "$0")/.."
case=${1:?usage: make profile CASE=json_20fields} who=${2:-core}
export CARGO_TARGET_DIR="${CARGO_TARGET_DIR:-$PWD/target}"
cargo build --quiet --profile profiling --locked -p benches --bin instructions
run=$CARGO_TARGET_DIR/profiling/instructions out=$CARGO_TARGET_DIR/profile/$case
mkdir -p "$out"

# By the processor's clock, which every machine has; a virtual one seldom has counters.
perf record --quiet -e cpu-clock -F 997 --call-graph dwarf,16384 -o "$out/perf.data" "$run" "$who" "$case" 200000
perf script -i "$out/perf.data" 2>/dev/null | inferno-collapse-perf --quiet | inferno-flamegraph --title "$case" >"$out/flame.svg"

valgrind --quiet --tool=callgrind --dump-instr=no --callgrind-out-file="$out/callgrind" "$run" "$who" "$case" 6400
callgrind_annotate --auto=yes --threshold=95 "$out/callgrind" >"$out/lines.txt"

heaptrack --output "$out/heap" "$run" "$who" "$case" 6400 >/dev/null
heaptrack_print --print-peaks=0 --print-leaks=0 "$out"/heap.* >"$out/allocations.txt" 2>/dev/null

sed -n '/file:function/,/^$/p' "$out/lines.txt" | head -20
sed -n '/MOST CALLS/,/^$/p' "$out/allocations.txt" | head -12
echo "$out: flame.svg, lines.txt, allocations.txt"
