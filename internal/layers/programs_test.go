package layers

import (
	"bytes"
	"go/ast"
	"go/parser"
	"go/printer"
	"go/token"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// starters are the packages that may look for programs or start them, each
// with which. What a workspace could name or put on the way to a program is a
// question that each of them has to answer.
var starters = map[string]string{
	"agent/claude":      "Claude Code",
	"bench/against":     "the two programs that it compares",
	"app":               "programs of agents, and what a person starts in a room",
	"bundle":            "the program that a person names to store a bundle",
	"engine/enginetest": "the test itself",
	"internal/git":      "git, and nobody else does",
	"internal/ownpath":  "none: it looks for them",
	"internal/hostile":  "a shell that makes hostile repositories, for tests",
	"internal/program":  "go, which builds the program for tests",
	"internal/sample":   "the test itself, for the list of its tests",
	"internal/readers":  "node, with readers that are not ours, for tests",
	"internal/proc":     "what an agent's driver was given",
	"quest/judging":     "the checks of a quest, in a room and once the person trusts them",
	"receipt":           "ssh-keygen, which signs with the person's key",
	"web/browser":       "Chromium and the program itself, for tests",
	"room":              "what its plan names, behind the walls",
}

func TestWhoStartsPrograms(t *testing.T) {
	for pkg, list := range imports(t, filepath.Join("..", "..")) {
		if slices.Contains(list, "os/exec") != (starters[pkg] != "") {
			t.Errorf("%s: does it start programs? The table says %q, its imports say %v", pkg, starters[pkg], slices.Contains(list, "os/exec"))
		}
	}
}

// git runs what a repository's settings name: it is called in one place (W2).
func TestOneCallerOfGit(t *testing.T) {
	root := filepath.Join("..", "..")
	for pkg, list := range imports(t, root) {
		if pkg == "internal/git" || !slices.Contains(list, "os/exec") {
			continue
		}
		files, err := filepath.Glob(filepath.Join(root, filepath.FromSlash(path.Clean(pkg)), "*.go"))
		if err != nil {
			t.Fatal(err)
		}
		for _, file := range files {
			if !strings.HasSuffix(file, "_test.go") {
				checkNoGit(t, file)
			}
		}
	}
}

func checkNoGit(t *testing.T, file string) {
	t.Helper()
	set := token.NewFileSet()
	parsed, err := parser.ParseFile(set, file, nil, 0)
	if err != nil {
		t.Fatal(err)
	}
	ast.Inspect(parsed, func(n ast.Node) bool {
		call, ok := n.(*ast.CallExpr)
		if !ok {
			return true
		}
		for _, arg := range call.Args {
			if text, ok := arg.(*ast.BasicLit); ok && text.Kind == token.STRING && strings.Trim(text.Value, "`\"") == "git" {
				t.Errorf("%s: git is for internal/git to call", set.Position(text.Pos()))
			}
		}
		return true
	})
}

// program is what people run.
const program = "cmd/conclave"

// What people run carries nothing that is for tests: package testing adds its
// flags to the program, and promises less than others.
func TestNoTestingInTheProgram(t *testing.T) {
	all := imports(t, filepath.Join("..", ".."))
	for pkg := range reachable(all, program) {
		for _, imp := range all[pkg] {
			if imp == "testing" || strings.HasPrefix(imp, "testing/") {
				t.Errorf("%s imports %s, and %s reaches it", pkg, imp, program)
			}
		}
	}
}

// reachable are the packages of the house that one imports, and so on.
func reachable(all map[string][]string, from string) map[string]bool {
	found := map[string]bool{}
	var visit func(pkg string)
	visit = func(pkg string) {
		if found[pkg] {
			return
		}
		found[pkg] = true
		for _, imp := range all[pkg] {
			if mine, ok := strings.CutPrefix(imp, module+"/"); ok {
				visit(mine)
			}
		}
	}
	visit(from)
	return found
}

// dials are the places of the program that say how a vendor's host is reached:
// each hands on what it was given, and a test is all that gives anything.
var dials = map[string][]string{
	"app":          {"w.app.Dial"},
	"cmd/conclave": {"env.dial"},
	"forwarder":    {"dialPublic"},
	"seat":         {"s.plan.Dial", "s.gateway.Dial"}, // whose other end is the gateway
}

// Nobody can be led to lend a login to a stand-in: no flag, variable or file says
// where a vendor's host is.
func TestNobodyStandsInForAVendor(t *testing.T) {
	found := map[string]bool{}
	see := func(pkg string, set *token.FileSet, name string, value ast.Expr) {
		var text bytes.Buffer
		if err := printer.Fprint(&text, set, value); err != nil {
			t.Fatal(err)
		}
		switch want := dials[pkg]; {
		case !strings.EqualFold(name, "dial"):
		case slices.Contains(want, text.String()):
			found[pkg] = true
		case pkg != "internal/wire":
			t.Errorf("%s: a way to a vendor's host is %s, and not one of %q", set.Position(value.Pos()), text.String(), want)
		}
	}
	eachFile(t, func(pkg string, set *token.FileSet, file *ast.File) {
		ast.Inspect(file, func(n ast.Node) bool {
			switch n := n.(type) {
			case *ast.KeyValueExpr:
				if key, ok := n.Key.(*ast.Ident); ok {
					see(pkg, set, key.Name, n.Value)
				}
			case *ast.AssignStmt:
				for i, left := range n.Lhs {
					if field, ok := left.(*ast.SelectorExpr); ok && len(n.Rhs) == len(n.Lhs) {
						see(pkg, set, field.Sel.Name, n.Rhs[i])
					}
				}
			}
			return true
		})
	})
	if len(found) != len(dials) {
		t.Errorf("of %v only %v were found", dials, found)
	}
}
