#!/usr/bin/env bash
# go-host.sh: holds the plugin in GPX_STREAMSCOPE against Grafana's own Go libraries, beside a fresh Kafka broker.
set -euo pipefail
cd "$(dirname "$0")/.."
: "${CARGO_TARGET_DIR:=$PWD/target}" "${GPX_STREAMSCOPE:?names the plugin to test}"
export CARGO_TARGET_DIR GPX_STREAMSCOPE
exec cargo run --quiet --locked -p real-kafka -- go -C tests/gohost test -count=1 ./...
