#!/usr/bin/env bash
# browser.sh: the released module.js on the demo's page, in Chromium, as Grafana 10 and as 13. `make build` comes first.
set -euo pipefail
cd "$(dirname "$0")/.."
[ -d tests/browser/node_modules ] || npm --prefix tests/browser ci --silent
npm --prefix workbench/page run --silent typecheck
npm --prefix workbench/page test --silent
npm --prefix tests/browser test
