#!/usr/bin/env bash
# Instructions a record, from bytes to finished packet: callgrind over N and over 2N records, so that what the start costs falls out.
set -euo pipefail
cd "$(dirname "$0")/.."
export CARGO_TARGET_DIR="${CARGO_TARGET_DIR:-$PWD/target}"
cargo build --quiet --release --locked -p benches
run=$CARGO_TARGET_DIR/release/instructions

count() { # who fixture records
  valgrind --tool=callgrind --callgrind-out-file=/dev/null "$run" "$1" "$2" "$3" 2>&1 | sed -n 's/.*Collected : //p'
}

fixtures=("$@")
[ $# -gt 0 ] || fixtures=(plaintext lineprotocol protobuf protobuf_30fields json_20fields json_100fields json_nested json_shuffled)
printf '%-16s %10s %10s\n' fixture core twin
for fixture in "${fixtures[@]}"; do
  row=()
  for who in core twin; do
    records=$([ $who = core ] && echo 6400 || echo 640)
    once=$(count $who "$fixture" "$records")
    twice=$(count $who "$fixture" $((2 * records)))
    row+=($(((twice - once) / records)))
  done
  printf '%-16s %10d %10d\n' "$fixture" "${row[@]}"
done
