package layers

import (
	"go/ast"
	"go/scanner"
	"go/token"
	"os"
	"strings"
	"testing"
)

// mostCode bounds the lines of code, neither blank nor comment and tests aside,
// of packages that once were too big for a reader. One that comes near its bound
// wants to be two rooms: docs/house.md says which there are.
var mostCode = map[string]int{"cmd/conclave": 4500, "table/flow": 4000}

func TestPackagesAreSmall(t *testing.T) {
	found := map[string]int{}
	eachFile(t, func(pkg string, set *token.FileSet, file *ast.File) {
		if mostCode[pkg] == 0 {
			return
		}
		text, err := os.ReadFile(set.File(file.Pos()).Name())
		if err != nil {
			t.Fatal(err)
		}
		found[pkg] += codeLines(text)
	})
	for pkg, most := range mostCode {
		switch n := found[pkg]; {
		case n < 100:
			t.Errorf("%s has %d lines of code: the search is broken", pkg, n)
		case n > most:
			t.Errorf("%s has %d lines of code, and %d may: move what could be its own room", pkg, n, most)
		}
	}
}

// codeLines counts the lines of a file on which more than a comment stands.
func codeLines(text []byte) int {
	set := token.NewFileSet()
	file := set.AddFile("", set.Base(), len(text))
	var s scanner.Scanner
	s.Init(file, text, nil, 0)
	n, last := 0, 0
	for {
		pos, tok, lit := s.Scan()
		switch {
		case tok == token.EOF:
			return n
		case tok == token.SEMICOLON && lit == "\n": // at the end of every statement
			continue
		}
		first := file.Line(pos)
		end := first + strings.Count(lit, "\n")
		n += end - max(first-1, last)
		last = max(last, end)
	}
}

func TestCodeLines(t *testing.T) {
	for text, want := range map[string]int{
		"": 0, "// a\n\n/* b\n c */\n": 0, "package a\n": 1, "package a // b\n\nvar x, y = 1, 2\n": 2,
		"package a\n\nvar s = `\none\n\n` + `\n`\n": 6, "package a\n\nvar s = 1 + /* a\nb */ 2\n": 3,
	} {
		if got := codeLines([]byte(text)); got != want {
			t.Errorf("%q has %d lines of code, not %d", text, got, want)
		}
	}
}
