#!/usr/bin/env bash
# check-package.sh: makes dist/ and checks that Grafana could load it, on any Linux: the binary runs in an empty root folder.
set -euo pipefail
cd "$(dirname "$0")/.."
make package >/dev/null

fail() { echo "package: $*" >&2; exit 1; }

for file in plugin.json module.js README.md CHANGELOG.md LICENSE img/logo.svg; do
  [ -s "dist/$file" ] || fail "dist/$file is missing"
done
binary=$(ls dist/gpx_streamscope_linux_*)
[ -x "$binary" ] || fail "$binary cannot be executed"
! grep -q STREAMSCOPE_DRILL "$binary" || fail "$binary panics on demand, as only a debug build may"

python3 - <<'PY'
import json, os, re
plugin = json.load(open('dist/plugin.json'))
assert re.fullmatch(r'[0-9a-z]+-([0-9a-z]+-)?datasource', plugin['id']), plugin['id']
for key in ('type', 'name', 'info', 'dependencies'):
    assert key in plugin, key
for path in [*plugin['info']['logos'].values(), *(s['path'] for s in plugin['info'].get('screenshots', []))]:
    assert os.path.getsize(f'dist/{path}'), path
module = open('dist/module.js').read()
assert 'react/jsx-runtime' not in module, 'module.js asks for react/jsx-runtime'
assert re.match(r'(/\*.*?\*/\s*)?define\(\[', module, re.S), 'module.js is no AMD module'
PY

# By hand it says what it is and exits with 1; in an empty root folder that shows that it needs no library.
root=$(mktemp -d)
trap 'rm -rf "$root"' EXIT
cp "$binary" "$root/plugin"
run=(env -i "$root/plugin")
[ "$(id -u)" = 0 ] && run=(env -i "$(command -v chroot)" "$root" /plugin)
set +e
said=$("${run[@]}" 2>&1)
code=$?
set -e
[ $code = 1 ] || fail "run by hand it exits with $code, not 1"
grep -qi grafana <<<"$said" || fail "run by hand it says: $said"
echo "package: dist/ is whole, $(stat -c %s "$binary") bytes of binary"
