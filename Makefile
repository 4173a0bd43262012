# thresh — make help lists the targets.

GO       ?= go
BIN      := bin
TOOLS    := $(CURDIR)/.bin
SAMPLES  := $(wildcard examples/sessions/*.json examples/sessions/*.jsonl)
FUZZTIME ?= 10s

# What 'thresh --version' prints. A tree without git is "(devel)".
VERSION  ?= $(shell git describe --tags --always --dirty 2>/dev/null)
COMMIT   ?= $(shell git rev-parse HEAD 2>/dev/null)
INFO     := github.com/thresh-dev/thresh/internal/buildinfo
STAMP    := $(if $(VERSION),-X $(INFO).version=$(VERSION)) $(if $(COMMIT),-X $(INFO).commit=$(COMMIT))

# Programs carry no symbol table and no paths of the machine that built them.
BUILD    := CGO_ENABLED=0 $(GO) build -trimpath -ldflags='-s -w $(STAMP)'

# Packages whose tests take minutes because they build programs or run npm: 'make test-slow'.
SLOW := ./docs/guidetest
# 'make test' vets and builds tests with the flags that programs ship with, and so do tests that build programs (through
# the environment) and the tools that it needs: each package is compiled once, and clones in other directories share the
# build cache. With a larger heap the compiler collects garbage less often, which saves a fifth of its time.
FLAGS := GOGC=400 GOFLAGS='$(shell $(GO) env GOFLAGS) -trimpath'
LEAN  := $(FLAGS) CGO_ENABLED=0
# 'make lint' vets; debug information is left out because linking it takes longer than most tests. Many tests wait for
# processes, so that twice as many packages are tested at a time as there are processors.
CPUS      := $(shell getconf _NPROCESSORS_ONLN 2>/dev/null || echo 2)
TESTFLAGS := -vet=off -ldflags='-s -w' -timeout 20m -p $(shell expr 2 '*' $(CPUS))
ALL        = $(filter-out $(shell $(GO) list $(SLOW)),$(shell $(GO) list ./...))

# The race detector needs a C compiler; without one 'make race' does nothing, and says so.
RACE := $(shell command -v $${CC:-cc} >/dev/null 2>&1 && echo -race)
RACED = $(FLAGS) $(if $(RACE),CGO_ENABLED=1,CGO_ENABLED=0) $(GO) test $(TESTFLAGS) $(RACE)
# In these packages nothing runs concurrently but what is named below: they compute, convert, or start programs as a user
# does. Under the race detector they take 3 to 10 times as long to build and to run, and show little more. Every other
# package, new ones too, runs under it. What is named of host/cmd/thresh also builds 'thresh run' with the detector.
PURE := ./docs/doctest ./docs/scalesim ./host/cmd/thresh ./host/config ./host/internal/lab/compare/htmlreport \
	./host/internal/lab/explain ./host/internal/lab/verify ./host/internal/plugins/fault ./host/internal/pricing \
	./host/internal/prompts ./host/internal/todos ./host/internal/tokens/... ./host/internal/transcript ./internal/... ./plugins/... \
	./sdk/content/... ./sdk/prune ./sdk/sdktest ./sdk/summary ./sdk/tools ./sdk/turns
WATCHED := ./host/internal/tokens ./host/internal/lab/verify
CONCURRENT := Share|CountAll|BadPlugin/(one-at-a-time|ignores-cancellation)
USED := Disturbed|Acknowledged|AtRandomMoments|Pipelined|DuringAPrepare|CancelEnds|ServesMetrics
# These do one thing after another, many times or with much memory, or are about the limits of another process: with the
# detector they take most of the time of their packages, in which other tests run the same code concurrently.
SEQUENTIAL := WhatIsSaid|OneChangedByte|WithAndWithoutMirrors|TheLogExplains|OptimizeVectors|MemoryOfSessionsIsCounted \
	WouldSeeOfAFullSend|TooMuchIsNotTakenIntoMemory|ATurnSendsWhatIsNew|FloodsTheHost/(floods-estimates|sends-unasked) \
	CannotTakeMemory|EatsMemory|AnyNumberOfThreads|CannotFillTheDisk|IsExchangedIsNoticed/(a_link|one_further) \
	AListOfNamesGains|PricedIsHardly|RecordedSessionsWereBilled|RecallOfNothing|AHostileClient

.PHONY: help build demo docs picture test test-slow test-clients test-ui test-vm test-postgres check lint fmt-check proto proto-check generate race soak chaos kills bench bench-docs fuzz vuln clean tools

help: ## list the targets
	@grep -hE '^[a-z-]+:.*## ' $(MAKEFILE_LIST) | awk -F':.*## ' '{printf "  %-12s %s\n", $$1, $$2}'

build: ## build bin/thresh, which is all there is
	$(BUILD) -o $(BIN)/thresh ./host/cmd/thresh

demo: build ## replay the sample sessions through the strategies and show what that saves
	@echo; echo "== the strategies that ship"
	@$(BIN)/thresh plugins list
	@echo; echo "== distill on the sample sessions, with a context limit of 30,000 tokens"
	@$(BIN)/thresh compare --strategy distill --set model.contextLimit=30000 $(SAMPLES)
	@echo; echo "== the same with high-density"
	@$(BIN)/thresh compare --strategy high-density --set model.contextLimit=30000 $(SAMPLES)
	@echo; echo "== side by side, with what that costs and what later turns would have missed"
	@$(BIN)/thresh compare --strategy distill,high-density --vary compression.density.cadence=every-turn,gated,priced \
		--prices anthropic-sonnet,no-cache --set model.contextLimit=30000 $(SAMPLES)

test: check unit ## lint, generated code, and all tests but the slow ones, with real processes

FULL = THRESH_TEST_FULL=1 $(LEAN) $(GO) test $(TESTFLAGS)
# The tests that have more cases in a full run; a test of internal/testkit/full holds that no package is missing.
THOROUGH := AFileThatIsNoSession ABadPluginFails APluginSees ASessionGoesOnWhere AnAgentsLoop OneChangedByte PageHasTheTable \
	PricedIsHardly TheExampleInTheREADME TheShippedPluginsPass VocabulariesAreCurrent WhatIsSaid WhenTheModelFails
space := $() $()
docs: ## write what commands print, programs of examples/ and the settings into the pages that show them
	$(LEAN) $(GO) test $(TESTFLAGS) ./docs/doctest -update

test-slow: build ## the guide for authors, npm, long recordings, the stamp of the programs
	@test -z "$(VERSION)" || $(BIN)/thresh --version | grep -qF '$(VERSION)' || { echo "thresh --version does not print $(VERSION)"; exit 1; }
	$(LEAN) $(GO) test $(TESTFLAGS) $(SLOW)
	$(FULL) -run '$(subst $(space),|,$(THOROUGH))' ./docs/scalesim ./host/cmd/thresh ./host/internal/engine ./host/internal/lab/compare \
		./host/internal/lab/verify ./host/internal/plugins ./host/internal/tokens

# The agents run where only loopback is, if this user may make such a network namespace.
AGENTS  := $(CURDIR)/.bin/agents
OFFLINE := $(shell unshare -rn true 2>/dev/null && echo "unshare -rn sh -c 'ip link set lo up && exec \"\$$@\"' sh")
test-clients: ## Claude Code, Codex and others through thresh wrap against a strict server; needs node, npm and python3
	@if command -v npm >/dev/null && command -v python3 >/dev/null; then host/internal/door/proxy/clienttest/install.sh $(AGENTS); \
	else echo "NOTE: without npm and python3 no agent runs here"; fi
	$(LEAN) $(GO) test -c -o $(BIN)/clienttest.test ./host/internal/door/proxy/clienttest
	cd host/internal/door/proxy/clienttest && AGENTS_DIR=$(AGENTS) $(OFFLINE) $(CURDIR)/$(BIN)/clienttest.test -test.v \
		-test.timeout 60m -test.parallel $(shell expr 2 '*' $(CPUS))

test-vm: ## the tests of isolation on another kernel, in QEMU: KERNEL=image [VMARCH=arm64] [BUSYBOX=static binary]
	tools/vm/test.sh $(KERNEL) $(VMARCH)

test-ui: ## the page /ui and the report in headless Chromium, with the Debian package chromium; SCREENSHOTS=DIR keeps pictures
	@if command -v chromium >/dev/null; then CHROMIUM=$$(command -v chromium) $(GO) test -count=1 -run InABrowser ./host/internal/door/watch ./host/internal/lab/compare/htmlreport; \
	else echo "NOTE: chromium is not installed: the pages are not tested in a browser"; fi

picture: build ## take docs/report.png, the picture in README.md; with the Debian package chromium
	$(BIN)/thresh compare --set model.contextLimit=40000 --prices anthropic-sonnet --report $(BIN)/report.html \
		--strategy distill,high-density,top-down-truncation $(SAMPLES) > $(BIN)/report.txt
	chromium --headless --no-sandbox --disable-gpu --hide-scrollbars --window-size=1000,690 \
		--screenshot=$(CURDIR)/docs/report.png file://$(CURDIR)/$(BIN)/report.html

check: fmt-check lint proto-check vuln ## all but the tests

fmt-check:
	@bad=$$(gofmt -l $$(git ls-files -co --exclude-standard '*.go')); test -z "$$bad" || { echo "not gofmt-clean:"; echo "$$bad"; exit 1; }

lint: tools ## golangci-lint, with what .golangci.yml names
	$(LEAN) $(TOOLS)/golangci-lint run ./...
	cd tools && $(LEAN) $(GO) vet ./...

unit: ## all tests but the slow ones, with real processes
	@ls $(or $(THRESH_POSTGRES_BIN),/usr/lib/postgresql/*/bin)/initdb >/dev/null 2>&1 || \
		echo "NOTE: PostgreSQL is not installed: sessions that are stored there are not tested"
	$(LEAN) $(GO) test $(TESTFLAGS) $(ALL)

race: ## the tests again, under the race detector, of all packages in which things run concurrently
ifdef RACE
	$(RACED) -skip '$(subst $(space),|,$(SEQUENTIAL))' $(filter-out $(shell $(GO) list $(PURE)),$(ALL))
	$(RACED) -run '$(CONCURRENT)' $(WATCHED)
	$(RACED) -run '$(USED)' ./host/cmd/thresh
else
	@echo "NOTE: no C compiler: nothing runs under the race detector"
endif

test-postgres: ## the tests that need PostgreSQL, longer than in 'make test', where they are skipped without it
	THRESH_POSTGRES=require $(RACED) ./host/internal/store/postgres -faults 15s
	THRESH_POSTGRES=require $(RACED) ./host/internal/engine -run 'TestHosts.*/postgres'
	THRESH_POSTGRES=require $(LEAN) $(GO) test $(TESTFLAGS) ./host/cmd/thresh -run '(TestKilledAtRandomMoments|TestServicesOnOneStoreAreOne)/.*postgres|TestADatabaseThatIsAway'

SOAK ?= 60s
soak: ## 200 sessions for $(SOAK) while their plugins are killed at random
	$(GO) test ./host/internal/soaktest -count=1 -v -soak $(SOAK)

CHAOS ?= 60
KILLS ?= 200
kills: ## kill 'thresh run' and 'thresh serve' $(KILLS) times while agents work; nothing acknowledged is lost
	THRESH_KILLS=$(KILLS) $(GO) test ./host/cmd/thresh -run 'TestKilledAtRandomMoments|TestServicesOnOneStoreAreOne' -v -count=1 -timeout 60m

chaos: ## 50 sessions over 'thresh run' for $(CHAOS) s, plugins killed, stopped, replaced and removed
	THRESH_CHAOS=$(CHAOS) $(GO) test ./host/cmd/thresh -run TestPluginsDisturbed -v -count=1 -timeout 60m

# What a release is made for.
PLATFORMS ?= linux/amd64 linux/arm64 darwin/amd64 darwin/arm64
STAGE     := $(BIN)/stage
# Packages need a version that begins with a number; before the first tag there is only a commit.
RELEASE   := $(if $(filter v%,$(VERSION)),$(VERSION),v0.0.0-g$(or $(VERSION),unknown))
EPOCH     := $(or $(SOURCE_DATE_EPOCH),$(shell git log -1 --format=%ct 2>/dev/null),0)
.PHONY: dist test-dist
# SIGNING_KEY is a file with a private key of minisign, whose password is in the environment variable SIGNING_PASSWORD.
dist: ## everything a release has, in dist/, for PLATFORMS; SIGNING_KEY=FILE signs it; the same commit gives the same bytes
	rm -rf $(STAGE)
	@set -e; for p in $(PLATFORMS); do \
		GOOS=$${p%/*} GOARCH=$${p#*/} $(MAKE) --no-print-directory build BIN=$(STAGE)/$${p%/*}_$${p#*/}; \
	done
	$(GO) build -tags man -o $(BIN)/thresh-man ./host/cmd/thresh
	@set -e; mkdir -p $(BIN)/pages/man/man1 $(BIN)/pages/completions; \
	SOURCE_DATE_EPOCH=$(EPOCH) $(BIN)/thresh-man man $(BIN)/pages/man/man1; \
	$(BIN)/thresh-man completion bash > $(BIN)/pages/completions/thresh.bash; \
	$(BIN)/thresh-man completion zsh > $(BIN)/pages/completions/_thresh; \
	$(BIN)/thresh-man completion fish > $(BIN)/pages/completions/thresh.fish; \
	for s in $(STAGE)/*; do cp -R LICENSE README.md packaging/thresh.service packaging/thresh.socket $(BIN)/pages/man $(BIN)/pages/completions $$s; done
	@mkdir -p $(TOOLS)
	cd tools/dist && $(GO) build -o $(TOOLS)/dist .
	$(TOOLS)/dist -version '$(RELEASE)' -time $(EPOCH) -stage $(STAGE) -out dist $(if $(SIGNING_KEY),-key '$(SIGNING_KEY)')
	@ls -l dist

test-dist: ## make the release for this platform; install and run each of its files, as far as this machine can
	$(MAKE) dist PLATFORMS=$$($(GO) env GOOS)/$$($(GO) env GOARCH)
	cd tools/dist && $(GO) vet ./... && $(GO) test -count=1 ./...

INSTALL := mkdir -p $(TOOLS) && cd tools && $(LEAN) GOBIN=$(TOOLS) $(GO) install
tools:
	@$(INSTALL) github.com/golangci/golangci-lint/v2/cmd/golangci-lint@v2.15.0
	@$(INSTALL) google.golang.org/protobuf/cmd/protoc-gen-go \
		google.golang.org/grpc/cmd/protoc-gen-go-grpc connectrpc.com/connect/cmd/protoc-gen-connect-go ./protogen

proto: tools ## regenerate the Go code of proto/ with the pinned tools
	$(TOOLS)/protogen -plugin-dir $(TOOLS) proto

generate: proto ## regenerate the code of proto/ and the token vocabularies; tests check that they are current
	$(GO) generate ./host/internal/tokens

proto-check: tools ## fail if the generated code is not current
	@$(TOOLS)/protogen -plugin-dir $(TOOLS) -check proto

# Counting, turns, first contact, memory, the proxy, and the default strategy: what docs/performance.md shows. Memory is
# measured with 200 sessions, a tenth of what 24 GB have room for.
BENCH     ?= ^Benchmark(Count|Hostile|Load|Recount|ThreeEntries|Turn|Window|Restore|Optimize|Delta|Mirror|PrepareThroughTheService|Request|FirstByte)$$
BENCHPKGS ?= ./host/internal/tokens ./host/internal/engine ./host/internal/plugins ./plugins/distill ./plugins/highdensity ./sdk ./sdk/prune ./host/internal/door/network ./host/internal/door/proxy
BENCHTIME ?= 1s
bench: ## measure what docs/performance.md shows, as a table; BENCH=REGEXP BENCHPKGS=./... for others
	@mkdir -p $(BIN)
	@$(INSTALL) golang.org/x/perf/cmd/benchstat ./benchreport
	$(GO) test -run '^$$' -bench '$(BENCH)' -benchmem -benchtime $(BENCHTIME) -count $(or $(COUNT),5) -timeout 2h $(BENCHPKGS) > $(BIN)/bench.txt || { cat $(BIN)/bench.txt; exit 1; }
ifeq ($(origin BENCH),file)
	$(GO) test -run '^$$' -bench '^BenchmarkSessionMemory$$' -benchtime $(or $(SESSIONS),200)x ./host/internal/engine >> $(BIN)/bench.txt
endif
	@$(TOOLS)/benchreport < $(BIN)/bench.txt
	@echo "every measurement: $(BIN)/bench.txt; 'make bench-docs' puts them into docs/performance.md"

bench-docs: ## put what the last 'make bench' measured into the tables and the plot of docs/performance.md
	@$(INSTALL) ./benchreport
	@$(TOOLS)/benchreport -docs docs/performance.md -plot docs/turn-time.svg < $(BIN)/bench.txt

fuzz: ## run every fuzz target for FUZZTIME (default 10s)
	@set -e; for pkg in $$($(GO) list ./...); do \
		for f in $$($(GO) test -list '^Fuzz' $$pkg | grep '^Fuzz' || true); do \
			echo "== $$pkg $$f"; $(GO) test -run '^$$' -fuzz "^$$f$$" -fuzztime $(FUZZTIME) $$pkg; \
		done; \
	done

VULNDB := https://vuln.go.dev/index/modules.json.gz
vuln: ## known vulnerabilities, where the database can be reached
	@if command -v curl >/dev/null && ! curl -sfL -m 10 -o /dev/null $(VULNDB); then \
		echo "NOTE: govulncheck was skipped: its database cannot be reached from here"; \
	else ($(INSTALL) golang.org/x/vuln/cmd/govulncheck) && $(TOOLS)/govulncheck ./...; fi

clean: ## remove what was built
	rm -rf $(BIN) $(TOOLS) dist
