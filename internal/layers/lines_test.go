package layers

import (
	"bytes"
	"go/ast"
	"go/token"
	"os"
	"testing"
	"unicode/utf8"
)

// longLines is how many lines of the house, tests aside, are longer than people
// read. New ones are not written: the number only becomes smaller.
const (
	longLines = 530
	longest   = 120
)

func TestLinesAreShort(t *testing.T) {
	found := 0
	eachFile(t, func(_ string, set *token.FileSet, file *ast.File) {
		text, err := os.ReadFile(set.File(file.Pos()).Name())
		if err != nil {
			t.Fatal(err)
		}
		for line := range bytes.SplitSeq(text, []byte("\n")) {
			if utf8.RuneCount(line) > longest {
				found++
			}
		}
	})
	if found > longLines {
		t.Errorf("%d lines have more than %d characters, and %d may: wrap what is new", found, longest, longLines)
	}
	if found < longLines-50 {
		t.Errorf("%d lines have more than %d characters: write that number down in place of %d", found, longest, longLines)
	}
}
