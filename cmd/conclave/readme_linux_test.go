package main

import (
	"os"
	"regexp"
	"strings"
	"testing"
)

// TestReadmeShowsTheDemo: what README.md quotes of the demonstration are lines of it,
// in their order; by what the walls are made is the machine's.
func TestReadmeShowsTheDemo(t *testing.T) {
	t.Parallel()
	page, err := os.ReadFile("../../README.md")
	if err != nil {
		t.Fatal(err)
	}
	_, rest, _ := strings.Cut(string(page), "\n## What you see\n")
	_, rest, _ = strings.Cut(rest, "\n```\n")
	quoted, _, found := strings.Cut(rest, "\n```\n")
	if !found || strings.Count(quoted, "\n") < 10 {
		t.Fatalf("README.md quotes %q", quoted)
	}
	w := newReal(t, "")
	w.run(0, "demo")
	walls := regexp.MustCompile(`(?m)^sealed by .*: \d+ things`)
	inOrder(t, walls.ReplaceAllString(w.out.String(), "sealed"),
		strings.Split(walls.ReplaceAllString(quoted, "sealed")+"\n", "\n")...)
}
