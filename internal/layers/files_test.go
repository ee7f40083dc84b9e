package layers

import (
	"go/ast"
	"go/token"
	"path/filepath"
	"testing"
)

// renamers are the packages that may give a file or a directory another name,
// each with why internal/atomicfile does not do it for them.
var renamers = map[string]string{
	"app":                 "a new campaign is a directory, whole or not there",
	"archive":             "a query cache is a database, built by SQLite beside its place",
	"bundle":              "never replaces: a link where there are links; takes a file aside before it is removed",
	"engine":              "moves files on order; its temporary names are always the same, and tests die between the steps",
	"internal/atomicfile": "it is what it is for",
	"internal/hostile":    "an attacker, for tests",
	"profile":             "exchanges directories, and tests die between the steps",
	"table":               "moves a file out of tmp",
	"table/story":         "a save point is a directory",
}

func TestWhoRenames(t *testing.T) {
	found := map[string]bool{}
	eachFile(t, func(pkg string, set *token.FileSet, file *ast.File) {
		ast.Inspect(file, func(n ast.Node) bool {
			receiver, name := selected(n)
			if name != "Rename" || receiver != "os" && receiver != "root" {
				return true
			}
			found[pkg] = true
			if renamers[pkg] == "" {
				t.Errorf("%s: a file takes the place of another by internal/atomicfile", set.Position(n.Pos()))
			}
			return true
		})
	})
	for pkg := range renamers {
		if !found[pkg] {
			t.Errorf("%s renames nothing: take it out of the table", pkg)
		}
	}
}

// Directories are synced in one place, which knows where they cannot be.
func TestWhoSyncsDirectories(t *testing.T) {
	eachFile(t, func(pkg string, set *token.FileSet, file *ast.File) {
		for _, d := range file.Decls {
			f, ok := d.(*ast.FuncDecl)
			if !ok || pkg == "internal/atomicfile" {
				continue
			}
			opens, syncs := false, token.NoPos
			ast.Inspect(f, func(n ast.Node) bool {
				receiver, name := selected(n)
				opens = opens || name == "Open" && (receiver == "os" || receiver == "root")
				if name == "Sync" {
					syncs = n.Pos()
				}
				return true
			})
			if opens && syncs != token.NoPos {
				t.Errorf("%s: what is opened for reading and synced is a directory: atomicfile.SyncDir", set.Position(syncs))
			}
		}
	})
}

// selected is a name after a point, and the last one before it.
func selected(n ast.Node) (receiver, name string) {
	sel, ok := n.(*ast.SelectorExpr)
	if !ok {
		return "", ""
	}
	switch x := sel.X.(type) {
	case *ast.Ident:
		return x.Name, sel.Sel.Name
	case *ast.SelectorExpr:
		return x.Sel.Name, sel.Sel.Name
	}
	return "", sel.Sel.Name
}

// eachFile visits every file of the house, tests aside.
func eachFile(t *testing.T, do func(pkg string, set *token.FileSet, file *ast.File)) {
	t.Helper()
	walkProduct(t, filepath.Join("..", ".."), func(pkg string, file *ast.File, set *token.FileSet) { do(pkg, set, file) })
}
