# Two commands do all set-up: make demo and make test.

GO       ?= go
VERSION  ?= $(shell git describe --tags --always --dirty 2>/dev/null || echo 0.1.0-dev)
BIN      := build/conclave
PLATFORMS := linux/arm64 darwin/arm64 windows/amd64
ALL_PLATFORMS := linux/amd64 linux/arm64 darwin/amd64 darwin/arm64 windows/amd64 windows/arm64
STATICCHECK := honnef.co/go/tools/cmd/staticcheck@v0.8.2
DEADCODE := golang.org/x/tools/cmd/deadcode@v0.52.0

# The race detector lets every process wait a second at its end, and tests start
# thousands: a moment is enough to tell of a race.
export GORACE ?= atexit_sleep_ms=20

# So that go's cache knows a package wherever the clone lies.
export GOFLAGS := $(strip $(GOFLAGS) -trimpath)

# The race detector is for what is written here. SQLite, which is C translated to
# Go, is built without: in it, it takes two thirds of the time of every test with an
# engine. That package alone: others share copies of generic code with ours.
RACE := -race -gcflags=modernc.org/sqlite/lib=-race=false

.PHONY: build demo test check redteam matrix full bench bench-against soak fuzz fast lint dead cross prepare clients corpus clean help

help: ## what there is to make
	@grep -hE '^[a-z-]+:.*##' $(MAKEFILE_LIST) | sed -E 's/:[^#]*## /\t/' | expand -t 15

build: ## the program, into build/
	@mkdir -p build
	CGO_ENABLED=0 $(GO) build -ldflags "-X main.version=$(VERSION)" -o $(BIN) ./cmd/conclave

demo: build ## the main job on the embedded default: no key, no network
	@$(BIN) demo

check: lint cross fast ## what a developer runs before every commit

lint:
	@unformatted=$$(gofmt -l $$(git ls-files '*.go')); if [ -n "$$unformatted" ]; then echo "gofmt differs: $$unformatted"; exit 1; fi
	$(GO) vet ./...
	$(GO) run $(STATICCHECK) ./...
	$(GO) mod tidy -diff
	$(GO) -C web/browser vet ./...
	cd web/browser && $(GO) run $(STATICCHECK) ./...
	$(GO) -C web/browser mod tidy -diff

dead: ## functions that the program does not reach, but for those that a list keeps
	@script/deadcode.sh "$(GO) run $(DEADCODE)"

cross:
	@for p in $(PLATFORMS); do echo "build $$p"; \
	  CGO_ENABLED=0 GOOS=$${p%/*} GOARCH=$${p#*/} $(GO) build -o /dev/null ./... || exit 1; done

# Every package in its short form (internal/sample says what that leaves out).
# Results of packages that did not change come from go's cache.
fast: clients
	$(GO) test $(RACE) -short -vet=off -ldflags=-w ./...
	$(GO) -C web/browser test -short -vet=off -ldflags=-w ./...

clients: ## the real agent programs, at pinned versions, into the cache directory
	@script/clients.sh

corpus: ## the real projects that the embedded advisors are judged by, into the cache directory
	@script/corpus.sh

prepare:
	@script/prepare.sh

# The page's tests wait for a browser most of the time: they run beside all others, and
# before them where both want the processor.
test: prepare clients lint dead cross build ## everything
	@$(GO) build -o build/testreport ./internal/testreport
	@CGO_ENABLED=0 $(GO) build -o build/tested/conclave ./cmd/conclave
	@export CONCLAVE_BUILT=$(CURDIR)/build/tested/conclave; { \
	  $(GO) -C web/browser test -timeout 20m -json ./... >build/browser.json 2>&1 & \
	  nice $(GO) test $(RACE) -p 3 -vet=off -ldflags=-w -shuffle=on -timeout 20m -json ./...; \
	  wait; cat build/browser.json; } | build/testreport

redteam: prepare clients ## go for the secrets, as root and as an ordinary user; every command in every hostile workspace
	CONCLAVE_SAMPLE=all $(GO) test -count=1 -timeout 60m -run 'TestRedTeam|TestLevels' -v ./internal/redteam
	CONCLAVE_SAMPLE=all $(GO) test -count=1 -timeout 30m -v ./internal/redteam/judge
	CONCLAVE_SAMPLE=all $(GO) test -count=1 -timeout 20m -run TestSecretsProperty ./table/flow
	CONCLAVE_SAMPLE=all $(GO) test -count=1 -timeout 60m -v ./internal/hostile

matrix: prepare clients corpus ## every case of what make test only samples
	CONCLAVE_SAMPLE=all $(GO) test -count=1 -timeout 60m ./agent/claude
	CONCLAVE_SAMPLE=all $(GO) test -count=1 -timeout 60m -run 'TestKill|TestDesignSurvives|TestWithoutOneProbe|TestLoad|TestKindOfLongLines|TestLongFirstLine|TestLanesGrowLikeReadingOnce|TestV0|TestBudgetStops|TestMutations|TestCorpus|TestLeakHistories|TestIrregularTrees|TestScripts|TestSQLIsTheJSON|TestTenThousandFiles|TestCouncilOnReal|TestPartyUnderEveryPack|TestRealPrograms|TestScenesAlike|TestCutAtEveryByte|TestNothingIsPaidTwice|TestSQLIsTheLog|TestRealPlayers|TestRealClientsCallATool|TestSessionLifeCycle|TestTheSameStory|TestBudgetCutsRealPrograms|TestAsOrdinaryUser|TestWindowsTile|TestGrowthCosts|TestResultFileInTheMidst|TestSessionElsewhere|ComeBack|ComesBack|TestAloneIsAsTogether|TestVerbatim|TestEvery|TestRealClientsShowRefusals|TestRealGM|TestNothingHiddenIsTold' \
	  ./agent/acp ./agent/crosstest ./agent/model ./app ./agent/offline ./archive/runs ./archive/source ./archive/sql ./bundle ./collect ./engine ./gateway ./internal/corpus ./internal/tracer ./mcp ./profile ./quest ./receipt ./record ./room ./table/flow ./quest/flow ./transcript ./cmd/conclave
	CONCLAVE_SAMPLE=all $(GO) -C web/browser test -count=1 -timeout 30m ./...

full: test redteam matrix ## every platform, every matrix whole: make test, make redteam, make matrix, and every fuzz target for a moment
	@$(MAKE) cross PLATFORMS='$(ALL_PLATFORMS)'
	@$(MAKE) fuzz FUZZTIME=15s

bench: clients ## what the documents call fast, each as a ratio to its peer
	$(GO) test -run '^$$' -bench . -benchtime 1s ./...
	$(GO) -C web/browser test -run '^$$' -bench . -benchtime 1x .

bench-against: ## compare the program with that of another commit: REV=main, ARGS='-runs 9 -only search'
	@script/bench-against.sh '$(REV)' $(ARGS)

soak: clients ## what needs gigabytes or hours
	CONCLAVE_SOAK=1 $(GO) test $(RACE) -shuffle=on -timeout 4h -run Soak ./...
	CONCLAVE_SOAK=1 $(GO) test -timeout 2h -run SoakMemory -v ./table/flow

FUZZTIME ?= 30s

fuzz: build ## every fuzz target, for FUZZTIME each
	@grep -rn --include=*_test.go '^func Fuzz' . | sed -E 's|^(.*)/[^/]*:[0-9]+:func (Fuzz[A-Za-z0-9]*).*|\1 \2|' | sort -u | \
	  while read -r dir name; do echo "fuzz $$dir $$name"; \
	    $(GO) test -run '^$$' -fuzz "^$$name\$$" -fuzztime $(FUZZTIME) "$$dir" >build/fuzz.log 2>&1 </dev/null || { cat build/fuzz.log; exit 1; }; done

clean:
	rm -rf build
