#!/usr/bin/env bash
# Where the core's work on one fixture goes: `scripts/profile.sh json_20fields`, or `twin` as a second word. In target/profile:
# a flame graph of time, a table of instructions by line, and a table of allocations by place. None of them has what the start of
# the program costs: the first two begin at `through_core` of benches/instructions.rs, the third is the difference of two runs.
set -euo pipefail
cd "$(dirname "$0")/.."
case=${1:?usage: make profile CASE=json_20fields} who=${2:-core}
export CARGO_TARGET_DIR="${CARGO_TARGET_DIR:-$PWD/target}"
cargo build --quiet --profile profiling --locked -p benches --bin instructions
run=$CARGO_TARGET_DIR/profiling/instructions out=$CARGO_TARGET_DIR/profile/$case few=640 many=6400
rm -rf "$out" && mkdir -p "$out"

# As many records as take two seconds, which are two thousand samples.
records=$many
until took=$(date +%s%N); "$run" "$who" "$case" "$records"; [ $(($(date +%s%N) - took)) -gt 2000000000 ]; do
  records=$((records * 2))
done
# By the processor's clock, which every machine has; a virtual one seldom has counters.
perf record --quiet -e cpu-clock -F 997 --call-graph dwarf,16384 -o "$out/perf.data" "$run" "$who" "$case" "$records"
perf script -i "$out/perf.data" 2>/dev/null | inferno-collapse-perf --quiet >"$out/stacks.txt"
grep -oE "through_$who[; ].*" "$out/stacks.txt" | inferno-flamegraph --title "$case" >"$out/flame.svg"
rm "$out/perf.data" "$out/stacks.txt"

valgrind --quiet --tool=callgrind --dump-instr=no --toggle-collect="instructions::through_$who" \
  --callgrind-out-file="$out/callgrind" "$run" "$who" "$case" "$many"
callgrind_annotate --auto=yes --threshold=95 "$out/callgrind" >"$out/lines.txt"

heaps=()
for records in "$few" "$many"; do
  heaptrack --output "$out/heap-$records" "$run" "$who" "$case" "$records" >/dev/null 2>&1
  heaps+=("$out/heap-$records".*)
done
heaptrack_print --print-peaks=0 --print-leaks=0 --diff "${heaps[0]}" "${heaps[1]}" 2>/dev/null | c++filt >"$out/allocations.txt"

sed -n '/file:function/,/^$/p' "$out/lines.txt" | head -20
echo "allocations by $((many - few)) records:"
sed -n '/MOST CALLS/,/^$/p' "$out/allocations.txt" | grep -E 'calls (to|with)|at src/' | head -12
echo "$out: flame.svg, lines.txt, allocations.txt"
