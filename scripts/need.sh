#!/usr/bin/env bash
# need.sh TOOL…: checks that each tool is there, and says how to get those that are not.
# On Debian and Ubuntu as root it installs what the system's packages have.
set -euo pipefail

declare -A package=(
  [cc]=build-essential [make]=make [perl]=perl [pkg-config]=pkg-config [openssl-headers]=libssl-dev
  [java]=openjdk-17-jre-headless [mvn]=maven [chromium]=chromium [valgrind]=valgrind
  [perf]=linux-perf [heaptrack]=heaptrack [c++filt]=binutils
  [python3]=python3 [python-venv]=python3-venv
)
declare -A hint=(
  [cargo]='with Rust 1.95 or later, by rustup: https://rustup.rs'
  [npm]='with Node.js 20.19 or later with npm: https://nodejs.org'
  [pyyaml]='by: python3 -m pip install pyyaml'
  [java21]='21 or later, for the tests'"'"' schema registry: openjdk-21-jre-headless where your system has it, or https://adoptium.net'
  [inferno-flamegraph]='by: cargo install --locked inferno'
  [docker]='with its compose plugin: https://docs.docker.com/engine/install'
  [go]='from https://go.dev/dl, 1.26.4 or later'
)

java_of() { # java_of VERSION: a Java of this version or later is where the tests look for it (tests/kafka/src/registry.rs)
  local java version
  for java in "${JAVA_HOME:+$JAVA_HOME/bin/java}" java /usr/lib/jvm/*/bin/java /Library/Java/JavaVirtualMachines/*/Contents/Home/bin/java; do
    version=$("$java" -version 2>&1 | sed -n 's/.*version "\([0-9]*\).*/\1/p') || continue
    [ "${version:-0}" -ge "$1" ] && return
  done
  return 1
}

present() {
  case $1 in
    openssl-headers) pkg-config --exists openssl 2>/dev/null ;;
    java21) java_of 21 ;;
    python-venv) python3 -c 'import ensurepip, venv' 2>/dev/null ;;
    pyyaml) python3 -c 'import yaml' 2>/dev/null ;;
    *) command -v "$1" >/dev/null 2>&1 ;;
  esac
}

missing=() packages=()
for tool in "$@"; do
  present "$tool" && continue
  missing+=("$tool")
  [ -n "${package[$tool]:-}" ] && packages+=("${package[$tool]}")
done

if [ ${#packages[@]} -gt 0 ] && [ "$(id -u)" = 0 ] && command -v apt-get >/dev/null; then
  echo "installing ${packages[*]}"
  apt-get update -qq && DEBIAN_FRONTEND=noninteractive apt-get install -y -qq "${packages[@]}" >/dev/null
fi

if [[ " ${missing[*]-} " == *' pyyaml '* ]]; then
  python3 -m pip install --quiet pyyaml || true
fi

failed=0
for tool in "${missing[@]}"; do
  present "$tool" && continue
  failed=1
  advice=${hint[$tool]:-"by your system's packages; on Debian and Ubuntu: apt-get install ${package[$tool]:-$tool}"}
  echo "missing: $tool. Get it $advice" >&2
done
exit $failed
