package layers

import (
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"path"
	"path/filepath"
	"strings"
	"testing"
)

// fewNames is how many names a package may export: as many as a reader keeps
// in mind. Types, functions, constants and variables count, methods do not.
const fewNames = 60

// manyNames are the packages that export more, each with how many. Such a
// number may fall, and is then written down here; a package that needs more
// wants to be two.
var manyNames = map[string]int{"app": 180, "policy": 82, "quest": 177, "table": 127}

func TestExportedNames(t *testing.T) {
	for pkg, n := range exported(t, filepath.Join("..", "..")) {
		limit, big := manyNames[pkg]
		switch {
		case !big && n > fewNames:
			t.Errorf("%s exports %d names, and %d are enough: what could be its own room, or nobody's business?", pkg, n, fewNames)
		case big && n > limit:
			t.Errorf("%s exports %d names, %d more than it had", pkg, n, n-limit)
		case big && (n <= fewNames || n <= limit-10):
			t.Errorf("%s exports %d names by now: write that down instead of %d", pkg, n, limit)
		}
	}
}

// exported counts the names that each package of the product exports.
func exported(t *testing.T, root string) map[string]int {
	t.Helper()
	found := map[string]map[string]bool{}
	walkProduct(t, root, func(pkg string, file *ast.File, _ *token.FileSet) {
		names := found[pkg]
		if names == nil {
			names = map[string]bool{}
			found[pkg] = names
		}
		for _, decl := range file.Decls {
			switch d := decl.(type) {
			case *ast.FuncDecl:
				if d.Recv == nil {
					names[d.Name.Name] = d.Name.IsExported()
				}
			case *ast.GenDecl:
				for _, spec := range d.Specs {
					switch s := spec.(type) {
					case *ast.TypeSpec:
						names[s.Name.Name] = s.Name.IsExported()
					case *ast.ValueSpec:
						for _, name := range s.Names {
							names[name.Name] = name.IsExported()
						}
					}
				}
			}
		}
	})
	counts := map[string]int{}
	for pkg, names := range found {
		for _, exported := range names {
			if exported {
				counts[pkg]++
			}
		}
	}
	return counts
}

// walkProduct visits every file that is no test, whatever system it is for.
func walkProduct(t *testing.T, root string, visit func(pkg string, file *ast.File, set *token.FileSet)) {
	t.Helper()
	files, err := product(root)
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range files {
		visit(f.pkg, f.parsed, f.set)
	}
}

type source struct {
	pkg    string
	parsed *ast.File
	set    *token.FileSet
}

var parsed = map[string][]source{} // by root; the tests here run one after another

// product parses a tree once: nearly every test looks at all of it.
func product(root string) ([]source, error) {
	if files, ok := parsed[root]; ok {
		return files, nil
	}
	var files []source
	err := filepath.WalkDir(root, func(file string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if d.IsDir() {
			name := d.Name()
			if file != root && (strings.HasPrefix(name, ".") || name == "testdata" || name == "build") {
				return filepath.SkipDir
			}
			return nil
		}
		if !strings.HasSuffix(file, ".go") || strings.HasSuffix(file, "_test.go") {
			return nil
		}
		rel, err := filepath.Rel(root, file)
		if err != nil {
			return err
		}
		set := token.NewFileSet()
		tree, err := parser.ParseFile(set, file, nil, parser.ParseComments)
		if err != nil {
			return err
		}
		files = append(files, source{path.Dir(filepath.ToSlash(rel)), tree, set})
		return nil
	})
	if err == nil {
		parsed[root] = files
	}
	return files, err
}
