package layers

import (
	"go/ast"
	"go/token"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
)

const module = "conclave"

// house says what each package may import of the others, tests aside. Arrows
// point to words: cmd → faces → flows → engine, rules and mechanisms →
// transcript.
var house = map[string]string{
	"agent":               "transcript",
	"agent/acp":           "agent agent/home agent/rpc agent/structured internal/jsonrpc internal/jsontext internal/nearest session/acp session/kind transcript",
	"agent/agenttest":     "agent transcript",
	"agent/claude":        "agent agent/home agent/structured internal/jsontext internal/tail session session/claude session/kind transcript",
	"agent/codex":         "agent agent/home agent/rpc internal/jsonrpc internal/jsontext internal/price session/codex transcript",
	"agent/home":          "agent",
	"agent/local":         "agent transcript",
	"agent/model":         "agent agent/local agent/structured gateway internal/jsontext internal/price internal/schema transcript",
	"agent/offline":       "agent agent/local internal/jsontext internal/markdown internal/pattern internal/project internal/schema policy quest transcript",
	"agent/rpc":           "agent internal/jsonrpc transcript",
	"agent/scripted":      "agent agent/local transcript",
	"agent/structured":    "agent internal/schema",
	"app":                 "agent agent/acp agent/claude agent/codex agent/model agent/offline agent/scripted archive archive/export archive/runs archive/search archive/sql audit bundle bundle/redact collect config dice engine gate gate/calibrate gate/flow gate/report gateway internal/atomicfile internal/git internal/jsontext internal/lockfile internal/newer internal/ownpath internal/price internal/proc internal/screen internal/wire means plugin policy profile quest quest/flow quest/judging receipt record room seat session session/claude table table/adventure table/calls table/desk table/draft table/flow table/look table/offline table/people table/relay table/rolls table/seating table/story table/talk table/told transcript trust usage workspace",
	"archive":             "archive/index archive/segment archive/source audit bundle bundle/redact internal/jsontext internal/lockfile internal/newer internal/pack internal/price internal/sqlite record session session/claude session/codex transcript workspace",
	"archive/archivetest": "archive archive/sql internal/sessiongen record transcript",
	"archive/export":      "archive internal/jsontext internal/markdown internal/parquet internal/screen transcript",
	"archive/index":       "transcript",
	"archive/runs":        "archive archive/search archive/source internal/atomicfile internal/jsontext internal/kept internal/price record session transcript",
	"archive/search":      "archive archive/index transcript",
	"archive/segment":     "",
	"archive/source":      "internal/jsontext record session session/claude session/tree workspace",
	"archive/sql":         "archive internal/jsontext internal/price internal/sqlite transcript",
	"audit":               "internal/jsontext internal/shingle policy record transcript",
	"bench":               "",
	"bench/against":       "internal/sessiongen",
	"bundle":              "audit bundle/redact internal/atomicfile internal/git internal/jsontext internal/newer internal/pack policy record session transcript workspace",
	"bundle/redact":       "internal/jsontext",
	"cmd/conclave":        "app mcp internal/screen terminal web",
	"collect":             "internal/atomicfile internal/jsontext internal/lockfile internal/tail record session session/tree transcript workspace",
	"config":              "frontmatter gateway internal/nearest internal/price policy workspace",
	"dice":                "internal/atomicfile internal/newer workspace",
	"engine":              "agent internal/atomicfile internal/lockfile internal/newer",
	"engine/enginetest":   "engine internal/sample",
	"forwarder":           "internal/bearer internal/oneconn",
	"frontmatter":         "",
	"gate":                "internal/git internal/textdiff policy quest workspace",
	"gate/calibrate":      "audit frontmatter gate transcript",
	"gate/flow":           "agent audit gate gateway internal/shingle policy profile quest quest/instructions quest/judging receipt record room seat transcript",
	"gate/report":         "gate internal/markdown internal/screen receipt",
	"gateway":             "internal/bearer internal/jsontext internal/oneconn internal/price transcript",
	"internal/atomicfile": "",
	"internal/bearer":     "",
	"internal/clients":    "",
	"internal/corpus":     "",
	"internal/git":        "internal/ownpath internal/screen",
	"internal/hostile":    "",
	"internal/hunt":       "gateway record",
	"internal/jsonrpc":    "internal/jsontext",
	"internal/jsontext":   "",
	"internal/layers":     "",
	"internal/kept":       "",
	"internal/lockfile":   "",
	"internal/markdown":   "",
	"internal/modelstub":  "",
	"internal/nearest":    "",
	"internal/newer":      "",
	"internal/oneconn":    "",
	"internal/origin":     "",
	"internal/ownpath":    "",
	"internal/pack":       "",
	"internal/parquet":    "internal/pack",
	"internal/readers":    "internal/clients",
	"internal/pattern":    "",
	"internal/plant":      "",
	"internal/price":      "transcript",
	"internal/proc":       "agent",
	"internal/program":    "",
	"internal/project":    "internal/pattern",
	"internal/redteam":    "",

	"internal/redteam/judge": "",

	"internal/sample":     "internal/git",
	"internal/schema":     "internal/jsontext",
	"internal/screen":     "",
	"internal/sessiongen": "",
	"internal/shingle":    "",
	"internal/sqlite":     "",
	"internal/tail":       "",
	"internal/testreport": "",
	"internal/textdiff":   "",
	"internal/tracer":     "",
	"internal/vendorstub": "",
	"internal/wire":       "internal/atomicfile internal/bearer workspace",
	"mcp":                 "app internal/bearer internal/origin",
	"means":               "config gateway internal/atomicfile internal/nearest internal/price workspace",
	"plugin":              "internal/atomicfile internal/lockfile",
	"policy":              "",
	"policy/policytest":   "policy",
	"profile":             "frontmatter internal/atomicfile internal/lockfile internal/newer workspace",
	"quest":               "frontmatter internal/markdown internal/nearest internal/shingle policy profile workspace",
	"quest/flow":          "agent audit engine internal/atomicfile internal/git internal/markdown internal/price internal/shingle policy profile quest quest/instructions quest/judging record room seat toolbox workspace",
	"quest/instructions":  "policy",
	"quest/judging":       "agent policy quest room toolbox",
	"receipt":             "agent audit gate internal/jsontext internal/newer internal/ownpath policy quest record transcript",
	"record":              "internal/atomicfile internal/lockfile internal/newer workspace",
	"room":                "agent internal/lockfile internal/proc",
	"seat":                "agent audit engine forwarder gateway internal/jsontext internal/price internal/shingle record room session/claude toolbox transcript",
	"session":             "internal/jsontext internal/tail session/acp session/claude session/cline session/codex session/copilot session/gemini session/kind session/opencode session/plain session/qwen session/unfold transcript workspace",
	"session/acp":         "internal/jsontext session/kind session/plain transcript",
	"session/claude":      "internal/jsontext session/kind session/unfold transcript workspace",
	"session/codex":       "internal/jsonrpc internal/jsontext session/kind transcript",
	"session/cline":       "internal/jsontext session/kind session/plain session/unfold transcript workspace",
	"session/copilot":     "internal/jsontext session/kind session/plain transcript",
	"session/gemini":      "internal/jsontext session/kind session/plain session/unfold transcript workspace",
	"session/kind":        "transcript",
	"session/opencode":    "internal/jsontext session/kind session/plain session/unfold transcript",
	"session/plain":       "internal/jsontext session/kind transcript",
	"session/qwen":        "internal/jsontext session/kind session/plain transcript",
	"session/tree":        "workspace",
	"session/unfold":      "internal/atomicfile internal/jsontext internal/lockfile internal/pack internal/sqlite session/kind session/tree transcript workspace",
	"table":               "internal/atomicfile internal/markdown internal/nearest internal/shingle policy workspace",
	"table/adventure":     "",
	"table/desk":          "internal/markdown policy table table/story",
	"table/calls":         "internal/jsontext policy record table",
	"table/combat":        "",
	"table/draft":         "internal/markdown table",
	"table/flow":          "dice engine internal/atomicfile internal/markdown internal/shingle policy seat table table/calls table/combat table/desk table/gm table/journal table/look table/people table/relay table/rolls table/seating table/story table/told workspace",
	"table/gm":            "dice internal/markdown policy table table/combat table/desk table/story toolbox",
	"table/journal":       "internal/markdown table workspace",
	"table/look":          "dice engine internal/lockfile internal/shingle policy table table/journal table/people table/rolls table/story table/told",
	"table/offline":       "agent agent/local transcript",
	"table/people":        "agent dice engine internal/atomicfile policy table table/desk table/gm table/relay table/story transcript workspace",
	"table/relay":         "table",
	"table/rolls":         "dice table table/gm table/story toolbox",
	"table/seating":       "agent audit engine internal/shingle policy room seat table table/calls table/gm table/people table/relay toolbox",
	"table/story":         "dice internal/markdown internal/newer policy table table/combat workspace",
	"table/talk":          "agent audit engine internal/shingle seat table table/calls table/journal table/look table/seating table/story",
	"table/told":          "policy table table/journal table/story",
	"terminal":            "app internal/screen",
	"toolbox":             "agent internal/bearer internal/jsontext internal/schema",
	"transcript":          "internal/jsontext",
	"trust":               "internal/atomicfile internal/lockfile internal/newer",
	"usage":               "archive archive/source internal/atomicfile internal/kept internal/price session session/claude transcript workspace",
	"web":                 "app internal/bearer internal/origin internal/screen",
	"web/browser":         "internal/clients",
	"web/browser/shot":    "web/browser",
	"workspace":           "",
}

// outside says which package uses which outside module. Each has one user, so
// that it can be exchanged, but for the system calls of x/sys; tests may use
// testing libraries anywhere.
var outside = map[string]string{
	"github.com/dbos-inc/dbos-transact-golang": "engine",
	"github.com/fsnotify/fsnotify":             "collect",
	"github.com/google/jsonschema-go":          "internal/schema",
	"github.com/jackc/pgx/v5":                  "engine",
	"github.com/klauspost/compress":            "internal/pack",
	"github.com/landlock-lsm/go-landlock":      "room",
	"github.com/modelcontextprotocol/go-sdk":   "mcp",
	"github.com/chromedp":                      "web/browser",
	"github.com/pelletier/go-toml/v2":          "internal/project",
	"github.com/rivo/uniseg":                   "profile",
	"github.com/spf13/cobra":                   "cmd/conclave",
	"go.yaml.in/yaml/v3":                       "frontmatter",
	"golang.org/x/crypto":                      "receipt",
	"golang.org/x/sys":                         "internal/proc internal/wire profile room",
	"golang.org/x/term":                        "terminal",
	"modernc.org/libc":                         "internal/sqlite",
	"modernc.org/sqlite":                       "internal/sqlite",
}

func TestImports(t *testing.T) {
	root := filepath.Join("..", "..")
	if _, err := os.Stat(filepath.Join(root, "go.mod")); err != nil {
		t.Fatal(err)
	}
	found := imports(t, root)
	if len(found) < 5 {
		t.Fatalf("found only %d packages: the walk is broken", len(found))
	}
	for pkg, list := range found {
		line, ok := house[pkg]
		if !ok {
			t.Errorf("%s: no line in the table; say what it may import", pkg)
			continue
		}
		allowed := strings.Fields(line)
		for _, imp := range list {
			if mine, ok := strings.CutPrefix(imp, module+"/"); ok && !slices.Contains(allowed, mine) {
				t.Errorf("%s imports %s, which the table does not allow", pkg, mine)
			}
		}
		for _, a := range allowed {
			if !slices.Contains(list, module+"/"+a) {
				t.Errorf("%s may import %s and does not: take it out of the table", pkg, a)
			}
		}
		checkOutside(t, pkg, list)
	}
	for pkg := range house {
		if _, ok := found[pkg]; !ok {
			t.Errorf("%s is in the table and not in the house", pkg)
		}
	}
}

func checkOutside(t *testing.T, pkg string, list []string) {
	t.Helper()
	for _, imp := range list {
		if first, _, _ := strings.Cut(imp, "/"); !strings.Contains(first, ".") {
			continue // standard library, or ours
		}
		user := ""
		for mod, by := range outside {
			if imp == mod || strings.HasPrefix(imp, mod+"/") {
				user = by
			}
		}
		if user == "" {
			t.Errorf("%s imports %s: no line says who may use it", pkg, imp)
		} else if !slices.Contains(strings.Fields(user), pkg) {
			t.Errorf("%s imports %s, which is for %s", pkg, imp, user)
		}
	}
}

// imports returns what each package imports outside its tests. It parses the
// files itself: a test that asks the go command is served from the test cache
// and does not see a change.
func imports(t *testing.T, root string) map[string][]string {
	t.Helper()
	found := map[string][]string{}
	walkProduct(t, root, func(pkg string, file *ast.File, _ *token.FileSet) {
		list := found[pkg]
		for _, spec := range file.Imports {
			imp, err := strconv.Unquote(spec.Path.Value)
			if err != nil {
				t.Fatal(err)
			}
			if !slices.Contains(list, imp) {
				list = append(list, imp)
			}
		}
		found[pkg] = list
	})
	return found
}
