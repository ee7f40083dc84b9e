package main

import (
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
)

// rawWriters are the functions whose purpose is bytes, and why. They are exact
// in a pipe and shown on a terminal; nothing else may ask for them.
var rawWriters = map[string]string{
	"addLog":                  "Raw: the log stream, lines of JSON",
	"attach":                  "Session: a shell that a person drives in a room",
	"handedOn":                "File: a program in a room writes into a pipe itself",
	"newGateCommand":          "Raw: a report for another program where its file is -; its own forms escape",
	"newMCPCommand":           "Raw: JSON-RPC to a client in a pipe",
	"newPolicyCommand":        "Raw: the page docs/ISOLATION.md, which is our own",
	"newQuestShowCommand":     "Raw: a quest or a conversation as it is kept",
	"newTableExport":          "Raw: the story, to be kept in a file",
	"newTableJournal":         "Raw: a journal as it is kept",
	"newTranscriptMapCommand": "Raw: canonical records, as lines of JSON",
	"newBundleOpenCommand":    "Raw: a file of a bundle",
	"newExportCommand":        "Raw: export without a file",
	"printEntry":              "Raw: record show --json and --raw",
	"query":                   "Raw: log lines as they are, and CSV and JSON, whose cells are escaped",
}

// formatted are the functions whose first string is a format of the program's
// own, with the place of that argument.
var formatted = map[string]int{
	"Printf": 0, "Progress": 0, "Sprintf": 0, "say": 0, "aside": 0, "note": 0, "Word": 1, "ErrorOf": 1, "noError": 0, "usageError": 0, "environmentError": 0,
	"namedError": 0,
}

// passOn are those that hand their own format on.
var passOn = []string{"say", "aside", "note", "Word", "ErrorOf", "noError", "usageError", "environmentError", "namedError"}

// TestNothingIsWrittenPastTheScreen reads the program: whatever a command says
// goes through screen.Writer, and no foreign text is a format (W9).
func TestNothingIsWrittenPastTheScreen(t *testing.T) {
	files, used := 0, map[string]bool{}
	root := filepath.Join("..", "..")
	for _, name := range slices.Concat(sources(t, "."), sources(t, filepath.Join(root, "terminal")), sources(t, filepath.Join(root, "app"))) {
		files++
		for _, f := range parsed(t, name).Decls {
			fn, _ := f.(*ast.FuncDecl)
			for _, fault := range waysPast(f, fn, used) {
				t.Errorf("%s: %s", name, fault)
			}
		}
	}
	if files < 40 {
		t.Fatalf("only %d files were read: the walk is broken", files)
	}
	for fn := range rawWriters {
		if !used[fn] {
			t.Errorf("%s writes no bytes any more: take it out of the list", fn)
		}
	}
}

// TestTheScreenTestCanFail: the rules find what they are for.
func TestTheScreenTestCanFail(t *testing.T) {
	for _, bad := range []string{
		`fmt.Fprintf(env.Stdout, "%s", x)`, `fmt.Println(x)`, `os.Stdout.Write(x)`, `io.WriteString(os.Stderr, x)`, `println(x)`,
		`tabwriter.NewWriter(w, 0, 0, 0, 0, 0)`, `json.NewEncoder(w)`, `env.Stdout.Printf(x)`, `env.Stdout.Printf("a" + x)`, `noError(err.Error())`,
		`env.Stdout.Printf("\x1b[1m")`, `env.Stdout.Raw().Write(x)`, `screen.New(os.Stdout, o)`, `os.Open("/dev/tty")`, `log.Print(x)`, `screen.Sprintf(x)`,
		`env.Stdout.Session()`, `w.File()`,
	} {
		f, err := parser.ParseFile(token.NewFileSet(), "x.go", "package p\nfunc f() {\n"+bad+"\n}", 0)
		if err != nil {
			t.Fatalf("%s: %v", bad, err)
		}
		if len(waysPast(f.Decls[0], f.Decls[0].(*ast.FuncDecl), map[string]bool{})) == 0 {
			t.Errorf("%s passes", bad)
		}
	}
}

// TestNoPackagePrints: what is below the commands has no screen at all.
func TestNoPackagePrints(t *testing.T) {
	root := filepath.Join("..", "..")
	others := []string{"cmd/", "bench/", "internal/testreport/", "engine/enginetest/", "internal/sample/", "room/witness_linux.go", "web/browser/shot/"} // tools of ours, and a byte in a room
	files := 0
	for _, name := range sources(t, root) {
		rel := filepath.ToSlash(strings.TrimPrefix(name, root+string(filepath.Separator)))
		if slices.ContainsFunc(others, func(o string) bool { return strings.HasPrefix(rel, o) }) {
			continue
		}
		files++
		ast.Inspect(parsed(t, name), func(n ast.Node) bool {
			if call, ok := n.(*ast.SelectorExpr); ok {
				switch text := selector(call); text {
				case "os.Stdout", "os.Stderr", "fmt.Print", "fmt.Printf", "fmt.Println", "log.Print", "log.Printf", "log.Println", "slog.Default":
					t.Errorf("%s uses %s", rel, text)
				}
			}
			return true
		})
	}
	if files < 100 {
		t.Fatalf("only %d files were read: the walk is broken", files)
	}
}

// waysPast are the ways past the screen in one declaration.
func waysPast(d ast.Decl, fn *ast.FuncDecl, used map[string]bool) (faults []string) {
	name := ""
	if fn != nil {
		name = fn.Name.Name
	}
	say := func(format string, args ...any) { faults = append(faults, name+": "+fmt.Sprintf(format, args...)) }
	ast.Inspect(d, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.BasicLit:
			if text, err := strconv.Unquote(n.Value); n.Kind == token.STRING && err == nil && (strings.ContainsAny(text, "\x1b\u009b") || text == "/dev/tty") {
				say("%s is for the screen package alone", n.Value)
			}
		case *ast.SelectorExpr:
			text := selector(n)
			pkg, what, _ := strings.Cut(text, ".")
			switch {
			case (text == "os.Stdout" || text == "os.Stderr") && name != "run":
				say("%s is not for commands: use env's", text)
			case pkg == "fmt" && (strings.HasPrefix(what, "Fprint") || strings.HasPrefix(what, "Print")):
				say("%s writes past the screen: use Printf of env.Stdout", text)
			case text == "json.NewEncoder" || pkg == "tabwriter" || pkg == "log" && what[0] < 'a' && what != "Close":
				say("%s writes past the screen: JSON and Table of env.Stdout do it", text)
			}
		case *ast.CallExpr:
			callFaults(n, name, used, say)
		}
		return true
	})
	return faults
}

func callFaults(call *ast.CallExpr, in string, used map[string]bool, say func(string, ...any)) {
	if id, ok := call.Fun.(*ast.Ident); ok && (id.Name == "print" || id.Name == "println") {
		say("%s writes past the screen", id.Name)
	}
	name := called(call)
	switch {
	case len(call.Args) == 0 && (name == "Raw" || name == "Session" || name == "File"):
		if _, known := rawWriters[in]; !known {
			say("%s is for commands whose purpose is bytes: say so in rawWriters", name)
		}
		used[in] = true
	case name == "New" && selectorOf(call) == "screen.New" && in != "screenOn" && in != "table":
		say("screen.New is for main alone")
	}
	at, ok := formatted[name]
	if !ok || len(call.Args) <= at || selectorOf(call) == "fmt.Sprintf" {
		return
	}
	if !constant(call.Args[at]) && !(slices.Contains(passOn, in) && leansOn(call.Args[at], "format")) {
		say("the format of %s must be a constant: foreign text is an argument", name)
	}
}

// constant says whether an expression is made of literals and our own names
// for them.
func constant(e ast.Expr) bool {
	switch e := e.(type) {
	case *ast.BasicLit:
		return e.Kind == token.STRING
	case *ast.BinaryExpr:
		return e.Op == token.ADD && constant(e.X) && constant(e.Y)
	case *ast.ParenExpr:
		return constant(e.X)
	}
	return false
}

// leansOn says whether an expression is the parameter, or made from it and
// constants alone.
func leansOn(e ast.Expr, param string) bool {
	switch e := e.(type) {
	case *ast.Ident:
		return e.Name == param
	case *ast.BinaryExpr:
		return (leansOn(e.X, param) || constant(e.X)) && (leansOn(e.Y, param) || constant(e.Y))
	case *ast.CallExpr:
		return selectorOf(e) == "strings.ReplaceAll" && leansOn(e.Args[0], param)
	}
	return false
}

func called(call *ast.CallExpr) string {
	switch f := call.Fun.(type) {
	case *ast.SelectorExpr:
		return f.Sel.Name
	case *ast.Ident:
		return f.Name
	}
	return ""
}

func selectorOf(call *ast.CallExpr) string {
	if s, ok := call.Fun.(*ast.SelectorExpr); ok {
		return selector(s)
	}
	return ""
}

func selector(s *ast.SelectorExpr) string {
	if id, ok := s.X.(*ast.Ident); ok {
		return id.Name + "." + s.Sel.Name
	}
	return ""
}

func sources(t *testing.T, root string) (list []string) {
	t.Helper()
	err := filepath.WalkDir(root, func(path string, d fs.DirEntry, err error) error {
		if err == nil && d.IsDir() && d.Name() == "testdata" {
			return filepath.SkipDir // material, which no program of ours is built from
		}
		if err == nil && strings.HasSuffix(path, ".go") && !strings.HasSuffix(path, "_test.go") {
			list = append(list, path)
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return list
}

func parsed(t *testing.T, name string) *ast.File {
	t.Helper()
	f, err := parser.ParseFile(token.NewFileSet(), name, nil, parser.SkipObjectResolution)
	if err != nil {
		t.Fatal(err)
	}
	return f
}
