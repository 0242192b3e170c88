# `make demo` runs it, `make test` proves it, `make package` ships it; `make help` lists the rest.
SHELL := bash
.SHELLFLAGS := -euo pipefail -c
.DEFAULT_GOAL := help
MAKEFLAGS += --no-print-directory

HOST := $(shell rustc -vV 2>/dev/null | sed -n 's/^host: //p')
CARGO_TARGET_DIR ?= $(CURDIR)/target
export CARGO_TARGET_DIR
PLUGIN := $(CARGO_TARGET_DIR)/$(HOST)/release/gpx_streamscope
WORKBENCH := $(CARGO_TARGET_DIR)/debug/workbench
FRONTEND := frontend/dist
PAGE := workbench/page/dist
# The Go name of this machine's processor, as Grafana looks for it.
ARCH := $(patsubst x86_64,amd64,$(patsubst aarch64,arm64,$(firstword $(subst -, ,$(HOST)))))
PORT ?= 3000

.PHONY: help
help: ## list the commands
	@awk -F ':.*## ' '/^[a-z-]+:.*## /{printf "make %-14s %s\n", $$1, $$2}' $(MAKEFILE_LIST)

# --- running it ---

.PHONY: demo
demo: ## a Kafka, producers, the plugin and a page with live panels (KAFKA=host:port takes yours, PORT=3000)
	@scripts/need.sh cargo cc make perl npm
	@$(MAKE) build
	@$(WORKBENCH) demo --plugin $(PLUGIN) --frontend $(FRONTEND) --page $(PAGE) --port $(PORT) $(if $(KAFKA),--kafka $(KAFKA))

.PHONY: build
build: plugin frontend page ## everything that the demo runs

.PHONY: plugin
plugin: ## the plugin's static binary, and the workbench
	@echo "building the plugin and the workbench; the first time it builds OpenSSL and librdkafka too, which takes some minutes"
	@OPENSSL_SRC_PERL=$(CURDIR)/scripts/openssl-perl.sh RUSTFLAGS="-C target-feature=+crt-static" cargo build --release --locked --target $(HOST) --features static --bin gpx_streamscope
	@grep -qs 'define OPENSSL_THREADS' $(CARGO_TARGET_DIR)/$(HOST)/release/build/openssl-sys-*/out/openssl-build/install/include/openssl/configuration.h \
		|| { echo 'the OpenSSL in the binary has no threads: `make clean`, then build again' >&2; exit 1; }
	@cargo build --locked -p workbench

.PHONY: frontend
frontend: frontend/node_modules/.package-lock.json ## the plugin's front end
	@echo "building the front end"
	@npm --prefix frontend run --silent build

.PHONY: page
page: workbench/page/node_modules/.package-lock.json ## the demo's page
	@echo "building the demo page"
	@npm --prefix workbench/page run --silent build

%/node_modules/.package-lock.json: %/package-lock.json
	@echo "installing the packages of $*"
	@npm --prefix $* ci --no-audit --no-fund --silent
	@touch $@

.PHONY: compose
compose: package .compose/workbench ## a real Grafana with the plugin, a Kafka, a schema registry and producers, in containers
	@scripts/need.sh docker
	@docker compose up

# Static, so that it runs in any image.
.PHONY: .compose/workbench
.compose/workbench:
	@RUSTFLAGS="-C target-feature=+crt-static" cargo build --locked --target $(HOST) -p workbench
	@mkdir -p $(@D) && cp $(CARGO_TARGET_DIR)/$(HOST)/debug/workbench $@

# --- proving it ---

.PHONY: test
test: ## everything that must hold, as CI runs it
	@scripts/test.sh

.PHONY: test-gohost
test-gohost: ## the built plugin in a host of Grafana's own Go libraries
	@scripts/need.sh go java mvn
	@GPX_STREAMSCOPE="$${GPX_STREAMSCOPE:-$(PLUGIN)}" scripts/go-host.sh

.PHONY: fuzz
fuzz: ## every parser with inputs nobody wrote (TIME=10 for each, TARGET=json for one)
	@scripts/fuzz.sh -s $(or $(TIME),10) $(TARGET)

.PHONY: bench
bench: ## the core alone, from bytes to packets, beside the plain twin (CASE=json_20fields for one)
	@cargo bench --quiet --locked -p benches -- $(CASE)

.PHONY: bench-matrix
bench-matrix: ## the same with rates, bytes and allocations, beside the Go plugin too (CASE=json RUNS=10)
	@cargo build --quiet --release --locked -p benches --bins
	@CASE=$(CASE) $(CARGO_TARGET_DIR)/release/compare matrix $(CARGO_TARGET_DIR)/release/sample $(CARGO_TARGET_DIR)/release/parse

.PHONY: bench-instructions
bench-instructions: ## the same in instructions a record (CASE=json_20fields for one, RECORD=1 writes the figures down)
	@scripts/need.sh valgrind python3
	@scripts/instructions.py $(if $(RECORD),--record) $(CASE)

.PHONY: bench-flags
bench-flags: ## each performance flag against the default, in alternation, with p-values (CASE=json RUNS=10)
	@cargo build --quiet --release --locked -p benches --bins
	@CASE=$(CASE) $(CARGO_TARGET_DIR)/release/compare flags $(CARGO_TARGET_DIR)/release/sample

.PHONY: bench-compare
bench-compare: ## two commits likewise (OLD=… NEW=… CASE=json RUNS=10)
	@CASE=$(CASE) scripts/bench-compare.sh $(OLD) $(NEW)

.PHONY: profile
profile: ## where one fixture's time, instructions and allocations go (CASE=json_20fields)
	@scripts/need.sh perf valgrind heaptrack c++filt inferno-flamegraph
	@scripts/profile.sh $(CASE)

.PHONY: bench-e2e
bench-e2e: plugin ## a real Kafka to packets, beside bare consumers (WHAT=throughput|streams|idle|latency RECORDS=2000000)
	@scripts/need.sh java mvn
	@cargo run --quiet --profile speed --locked -p speed -- $(PLUGIN) $(or $(WHAT),throughput) $(RECORDS)

# --- shipping it ---

.PHONY: package
package: plugin frontend ## dist/, ready for Grafana's plugin folder
	@rm -rf dist && mkdir -p dist/img
	@cp plugin.json README.md CHANGELOG.md LICENSE $(FRONTEND)/module.js $(wildcard $(FRONTEND)/*.map) dist/
	@cp frontend/img/* dist/img/
	@cp $(PLUGIN) dist/gpx_streamscope_linux_$(ARCH)
	@ls -l dist

.PHONY: clean
clean: ## what the builds made
	@rm -rf dist .compose $(FRONTEND) $(PAGE) && cargo clean
