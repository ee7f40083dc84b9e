package layers

import (
	"go/ast"
	"go/parser"
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
	"internal/proc":     "what an agent's driver was given",
	"quest/flow":        "the checks of a quest, in a room and once the person trusts them",
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
