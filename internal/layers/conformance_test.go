package layers

import (
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"
)

// openStatements is how many statements of the specifications nobody has proved
// yet. The number only becomes smaller, and is then written down here.
const openStatements = 0

// statements is how many each specification has.
var statements = map[string]int{"000": 116, "001": 146, "002": 73, "003": 90, "004": 205}

// mayBeOpen are the specifications that still have open statements, each with
// the letter of the plan that closes them.
var mayBeOpen = map[string]string{"004": "L"}

var (
	statementRow = regexp.MustCompile(`^\| (\d{3})-(\d{2,3}) \| (.+) \| ([^|]+) \|$`)
	deviationRow = regexp.MustCompile(`^\| (D-\d{2,3}) \| `)
	namedTest    = regexp.MustCompile("^`([a-z0-9_/]+) (Test[A-Za-z0-9_]*)(?:/([^`]+))?`$")
)

// TestConformance holds docs/conformance.md against the tests and the deviations:
// every statement has a proof, and every proof is there.
func TestConformance(t *testing.T) {
	deviations, tests := deviationIDs(t), testsOf(t)
	seen, open := map[string]bool{}, 0
	for line := range strings.Lines(document(t, "conformance.md")) {
		m := statementRow.FindStringSubmatch(strings.TrimSuffix(line, "\n"))
		if m == nil {
			if strings.HasPrefix(line, "| 0") {
				t.Errorf("docs/conformance.md: not a row: %s", line)
			}
			continue
		}
		doc, n := m[1], m[2]
		id := doc + "-" + n
		if number, _ := strconv.Atoi(n); seen[id] || number < 1 || number > statements[doc] {
			t.Errorf("%s stands twice, or is none of the %d", id, statements[doc])
		}
		seen[id] = true
		if m[4] == fmt.Sprintf("open (%s)", mayBeOpen[doc]) {
			open++
			continue
		}
		for proof := range strings.SplitSeq(m[4], ", ") {
			if err := proved(proof, deviations, tests); err != nil {
				t.Errorf("%s: %v", id, err)
			}
		}
	}
	for doc, n := range statements {
		for i := 1; i <= n; i++ {
			if id := fmt.Sprintf("%s-%02d", doc, i); !seen[id] {
				t.Errorf("%s has neither a test nor a deviation in docs/conformance.md", id)
			}
		}
	}
	t.Logf("%d of %d statements are open", open, len(seen))
	if open > openStatements {
		t.Errorf("%d statements are open, and %d were: name what proves them", open, openStatements)
	}
	if open < openStatements {
		t.Errorf("%d statements are open by now: write that down instead of %d", open, openStatements)
	}
}

// proved looks whether the test or the deviation is there.
func proved(proof string, deviations map[string]bool, tests map[string]map[string]*testFile) error {
	if strings.HasPrefix(proof, "D-") {
		if !deviations[proof] {
			return fmt.Errorf("docs/deviations.md has no row %s", proof)
		}
		return nil
	}
	m := namedTest.FindStringSubmatch(proof)
	if m == nil {
		return fmt.Errorf("%q is neither `package TestName[/part]` nor a row of docs/deviations.md", proof)
	}
	pkg, name, part := m[1], m[2], m[3]
	file := tests[pkg][name]
	switch {
	case file == nil:
		return fmt.Errorf("package %s has no %s", pkg, name)
	case part == "":
		return nil
	case name == "TestScripts":
		if _, err := os.Stat(filepath.Join("..", "..", pkg, "testdata", "script", part+".txtar")); err != nil {
			return fmt.Errorf("there is no such scenario: %w", err)
		}
		return nil
	case !file.words[part]:
		return fmt.Errorf("%s has no part %q", name, part)
	}
	return nil
}

// testFile is a file with tests: every text in it, one of which is the name of
// the part that is looked for.
type testFile struct{ words map[string]bool }

// testsOf finds the tests of every package, by package and name, whatever system
// they are for.
func testsOf(t *testing.T) map[string]map[string]*testFile {
	t.Helper()
	root := filepath.Join("..", "..")
	found, n := map[string]map[string]*testFile{}, 0
	err := filepath.WalkDir(root, func(name string, d fs.DirEntry, err error) error {
		if err != nil || !strings.HasSuffix(name, "_test.go") {
			return err
		}
		rel, err := filepath.Rel(root, filepath.Dir(name))
		if err != nil {
			return err
		}
		pkg := filepath.ToSlash(rel)
		if found[pkg] == nil {
			found[pkg] = map[string]*testFile{}
		}
		names, file, err := readTests(name)
		for _, test := range names {
			found[pkg][test] = file
			n++
		}
		return err
	})
	if err != nil || n < 500 {
		t.Fatalf("only %d tests were found: %v", n, err)
	}
	return found
}

func readTests(name string) (names []string, file *testFile, err error) {
	parsed, err := parser.ParseFile(token.NewFileSet(), name, nil, parser.SkipObjectResolution)
	if err != nil {
		return nil, nil, err
	}
	file = &testFile{map[string]bool{}}
	ast.Inspect(parsed, func(node ast.Node) bool {
		if lit, ok := node.(*ast.BasicLit); ok && lit.Kind == token.STRING {
			if text, err := strconv.Unquote(lit.Value); err == nil {
				file.words[text] = true
			}
		}
		return true
	})
	for _, d := range parsed.Decls {
		if f, ok := d.(*ast.FuncDecl); ok && f.Recv == nil && strings.HasPrefix(f.Name.Name, "Test") {
			names = append(names, f.Name.Name)
		}
	}
	return names, file, nil
}

// deviationIDs are those of docs/deviations.md: every row has one of its own.
func deviationIDs(t *testing.T) map[string]bool {
	t.Helper()
	ids := map[string]bool{}
	for line := range strings.Lines(document(t, "deviations.md")) {
		m := deviationRow.FindStringSubmatch(line)
		switch {
		case m == nil && strings.HasPrefix(line, "| ") && !strings.HasPrefix(line, "| id |"):
			t.Errorf("docs/deviations.md: give the row the next free id (D-NN): %.80s", line)
		case m != nil && ids[m[1]]:
			t.Errorf("docs/deviations.md: %s stands twice", m[1])
		case m != nil:
			ids[m[1]] = true
		}
	}
	if len(ids) < 30 {
		t.Fatalf("only %d deviations were found", len(ids))
	}
	return ids
}

// document is a page of docs.
func document(t *testing.T, name string) string {
	t.Helper()
	text, err := os.ReadFile(filepath.Join("..", "..", "docs", name))
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}
