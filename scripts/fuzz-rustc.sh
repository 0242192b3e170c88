#!/bin/sh
# The compiler for scripts/fuzz.sh: fast code with every check on, and in the core counters that tell the fuzzer where an input went.
if [ "$CARGO_CRATE_NAME" = streamscope ]; then
  set -- "$@" -Cpasses=sancov-module -Cllvm-args=-sanitizer-coverage-level=4 \
    -Cllvm-args=-sanitizer-coverage-inline-8bit-counters -Cllvm-args=-sanitizer-coverage-pc-table \
    -Cllvm-args=-sanitizer-coverage-trace-compares
fi
exec "$@" -Copt-level=2 -Cdebug-assertions=on -Coverflow-checks=on
