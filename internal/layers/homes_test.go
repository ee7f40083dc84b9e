package layers

import (
	"fmt"
	"go/ast"
	"go/token"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
)

// A home is where a rule is decided. Its marks are what nobody can write who
// does not decide it again: words of a format, a function that only the rule
// needs, a package. A second home is found by them.
type home struct {
	rule  string
	at    []string // packages, or trees of them
	words []string // string literals that hold one of these
	calls []string // pkg.Name, wherever it is mentioned
	uses  []string // imports
}

// homes are the rules that had several (docs/house.md has the whole list).
var homes = []home{
	{
		rule: "what a line of a session means", at: []string{"session"},
		words: []string{"parentUuid", "isApiErrorMessage", "isAbortedMidStream", "session_meta", "turn_context",
			"event_msg", "response_item"},
	},
	{rule: "where agents' files lie", at: []string{"session"}, words: []string{"rollout-"}},
	{rule: "following a session file", at: []string{"session", "collect", "agent/claude"}, uses: []string{"conclave/internal/tail"}},
	{rule: "the words of a turn in a record", at: []string{"audit", "seat"}, words: []string{"turn.receipt"}},
	{rule: "which names are credentials", at: []string{"policy"}, words: []string{"id_ed25519", ".git-credentials"}},
	{rule: "casting a program", at: []string{"app"}, calls: []string{"acp.New", "claude.New", "codex.New", "scripted.Parse"}},
	{rule: "what may be spent", at: []string{"app", "seat"}, calls: []string{"gateway.Budget"}},
	{rule: "reading a JSON schema", at: []string{"internal/schema"}, uses: []string{"github.com/google/jsonschema-go/jsonschema"}},
	{rule: "SQLite", at: []string{"internal/sqlite"}, uses: []string{"modernc.org/sqlite"}},
	{rule: "who bears a token", at: []string{"internal/bearer"}, uses: []string{"crypto/subtle"}},
	{rule: "the terminal", at: []string{"terminal"}, uses: []string{"golang.org/x/term"}},
	{rule: "the standard streams", at: []string{"cmd/conclave", "room"}, calls: []string{"os.Stdout", "os.Stderr", "os.Stdin"}},
	{rule: "pages", at: []string{"archive/export", "table/story", "web"}, uses: []string{"html/template"}},
}

// apart are packages that are no part of the program: they make what tests use.
var apart = []string{"internal/sessiongen", "internal/modelstub", "internal/plant", "internal/hostile", "internal/hunt", "internal/testreport",
	"internal/clients", "engine/enginetest", "bench", "archive/archivetest", "internal/layers", "agent/agenttest",
	"web/browser"}

func TestHomes(t *testing.T) {
	root := filepath.Join("..", "..")
	used := map[string]bool{}
	walkProduct(t, root, func(pkg string, file *ast.File, set *token.FileSet) {
		if within(pkg, apart) {
			return
		}
		for _, m := range marks(file) {
			for _, h := range homes {
				mark := h.mark(m)
				if mark == "" {
					continue
				}
				if within(pkg, h.at) {
					used[h.rule+" "+mark] = true
				} else {
					t.Errorf("%s: %s is decided in %s, and %s here decides it again",
						set.Position(m.pos), h.rule, strings.Join(h.at, " and "), mark)
				}
			}
		}
	})
	for _, h := range homes {
		for _, mark := range slices.Concat(h.words, h.calls, h.uses) {
			if !used[h.rule+" "+mark] {
				t.Errorf("%s: %s does not stand in %s: the mark is worn off", h.rule, mark, strings.Join(h.at, " and "))
			}
		}
	}
}

func within(pkg string, trees []string) bool {
	return slices.ContainsFunc(trees, func(tree string) bool { return pkg == tree || strings.HasPrefix(pkg, tree+"/") })
}

// marking is something in a file that may be a mark.
type marking struct {
	pos              token.Pos
	word, call, used string
}

func (h *home) mark(m marking) string {
	for _, w := range h.words {
		if m.word != "" && strings.Contains(m.word, w) {
			return w
		}
	}
	for _, c := range h.calls {
		if m.call == c {
			return c
		}
	}
	for _, u := range h.uses {
		if m.used == u {
			return u
		}
	}
	return ""
}

func marks(file *ast.File) (list []marking) {
	for _, spec := range file.Imports {
		path, _ := strconv.Unquote(spec.Path.Value)
		list = append(list, marking{pos: spec.Pos(), used: path})
	}
	ast.Inspect(file, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.ImportSpec:
			return false
		case *ast.BasicLit:
			if n.Kind == token.STRING {
				if text, err := strconv.Unquote(n.Value); err == nil {
					list = append(list, marking{pos: n.Pos(), word: text})
				}
			}
		case *ast.SelectorExpr:
			if x, ok := n.X.(*ast.Ident); ok {
				list = append(list, marking{pos: n.Pos(), call: fmt.Sprintf("%s.%s", x.Name, n.Sel.Name)})
			}
		}
		return true
	})
	return list
}

// usageForms are the types that have a usage's members because a file has them
// so: they are converted, and nobody calculates with them.
var usageForms = map[string]string{
	"audit":         "as it stands in receipts",
	"gateway":       "as it stands in events",
	"session/codex": "as that program counts, the cache within the input",
	"transcript":    "the type itself",
}

// One type says how many tokens, one says what they cost: a struct that is made
// of such members is a second one.
func TestOneUsageAndOnePrice(t *testing.T) {
	root := filepath.Join("..", "..")
	walkProduct(t, root, func(pkg string, file *ast.File, set *token.FileSet) {
		if within(pkg, apart) {
			return
		}
		ast.Inspect(file, func(n ast.Node) bool {
			s, ok := n.(*ast.StructType)
			if !ok {
				return true
			}
			tokens, prices, others := 0, 0, 0
			for _, f := range s.Fields.List {
				typ, _ := f.Type.(*ast.Ident)
				for _, name := range f.Names {
					low := strings.ToLower(name.Name)
					part := low == "input" || low == "output" || strings.HasPrefix(low, "cacher") || strings.HasPrefix(low, "cachew")
					switch {
					case typ == nil || !part:
						others++
					case typ.Name == "float64":
						prices++
					case strings.HasPrefix(typ.Name, "int") || strings.HasPrefix(typ.Name, "uint"):
						tokens++
					}
				}
			}
			if tokens > 1 && others < 3 && usageForms[pkg] == "" {
				t.Errorf("%s: token usage has a type, transcript.Usage", set.Position(s.Pos()))
			}
			if prices > 1 && pkg != "internal/price" {
				t.Errorf("%s: prices have a type, price.Price", set.Position(s.Pos()))
			}
			return true
		})
	})
}

// Secrets are told apart by their regions, not by characters woven into a text.
// One is taken out of what a game master writes: nobody can see it.
func TestNoPrivateMarks(t *testing.T) {
	found := 0
	walkProduct(t, filepath.Join("..", ".."), func(pkg string, file *ast.File, set *token.FileSet) {
		if !within(pkg, []string{"table"}) {
			return
		}
		ast.Inspect(file, func(n ast.Node) bool {
			lit, ok := n.(*ast.BasicLit)
			if !ok || lit.Kind != token.STRING && lit.Kind != token.CHAR {
				return true
			}
			text, err := strconv.Unquote(lit.Value)
			if err == nil && strings.ContainsFunc(text, func(r rune) bool { return r >= 0xe000 && r <= 0xf8ff }) {
				found++
				if found > 1 || pkg != "table/gm" {
					t.Errorf("%s: a character for private use", set.Position(lit.Pos()))
				}
			}
			return true
		})
	})
}
