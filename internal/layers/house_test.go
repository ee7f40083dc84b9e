package layers

import (
	"go/ast"
	"go/token"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

var quoted = regexp.MustCompile("`([^`]+)`")

// TestHouseIsDescribed holds docs/house.md against the table of packages: each
// has a line in "The rooms", and each line there is of a package.
func TestHouseIsDescribed(t *testing.T) {
	named := map[string]bool{}
	for line := range strings.Lines(described(t, "The rooms")) {
		cells := strings.SplitN(line, "|", 3)
		if len(cells) < 3 {
			continue
		}
		for _, name := range quoted.FindAllStringSubmatch(cells[1], -1) {
			pkg := name[1]
			if _, ok := house[pkg]; !ok {
				t.Errorf("docs/house.md describes %s, which is no package of the house", pkg)
			}
			if named[pkg] {
				t.Errorf("docs/house.md describes %s twice", pkg)
			}
			named[pkg] = true
		}
	}
	for pkg := range house {
		if !named[pkg] {
			t.Errorf(`%s: no line in "The rooms" of docs/house.md; say what it decides that no other does`, pkg)
		}
	}
}

// TestPathsExist holds the paths of docs/house.md against the code: each of
// their steps names a function, package.Function or package.Type.Method.
func TestPathsExist(t *testing.T) {
	declared := map[string]bool{}
	eachFile(t, func(pkg string, _ *token.FileSet, file *ast.File) {
		for _, d := range file.Decls {
			if f, ok := d.(*ast.FuncDecl); ok {
				declared[pkg+"."+receiverOf(f)+f.Name.Name] = true
			}
		}
	})
	steps := regexp.MustCompile("[0-9]+\\. `([^`]+)`").FindAllStringSubmatch(described(t, "Three paths"), -1)
	if len(steps) < 60 {
		t.Fatalf("only %d steps were found: the walk is broken", len(steps))
	}
	for _, s := range steps {
		if !declared[s[1]] {
			t.Errorf("docs/house.md walks through %s, which is not there", s[1])
		}
	}
}

// receiverOf is the name of a method's type, with its point.
func receiverOf(f *ast.FuncDecl) string {
	if f.Recv == nil {
		return ""
	}
	typ := f.Recv.List[0].Type
	if star, ok := typ.(*ast.StarExpr); ok {
		typ = star.X
	}
	name, _ := typ.(*ast.Ident)
	if name == nil {
		return "" // of a generic type
	}
	return name.Name + "."
}

// described is a part of docs/house.md.
func described(t *testing.T, part string) string {
	t.Helper()
	text, err := os.ReadFile(filepath.Join("..", "..", "docs", "house.md"))
	if err != nil {
		t.Fatal(err)
	}
	_, rest, ok := strings.Cut(string(text), "\n## "+part+"\n")
	if !ok {
		t.Fatalf("docs/house.md has no part %q", part)
	}
	body, _, _ := strings.Cut(rest, "\n## ")
	return body
}
