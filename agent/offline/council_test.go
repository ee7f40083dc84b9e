package offline

import (
	"bufio"
	"fmt"
	"io/fs"
	"os"
	"regexp"
	"strconv"
	"strings"
	"testing"
	"testing/fstest"
	"time"

	"conclave/internal/project"
	"conclave/internal/sample"
)

var citedForm = regexp.MustCompile("`([^`\\s]+):(\\d+)`(?: \\(`([^`]*)`\\))?")

// checkCitations holds every citation of a text against the tree, and returns
// how many there are.
func checkCitations(t testing.TB, text string, trees ...fs.FS) int {
	t.Helper()
	n := 0
	for _, m := range citedForm.FindAllStringSubmatch(text, -1) {
		n++
		line, err := strconv.Atoi(m[2])
		if err != nil {
			t.Fatal(err)
		}
		if err := says(m[1], line, m[3], trees); err != nil {
			t.Errorf("%s: %v", m[0], err)
		}
	}
	return n
}

func says(path string, line int, words string, trees []fs.FS) error {
	for _, tree := range trees {
		f, err := tree.Open(path)
		if err != nil {
			continue
		}
		defer f.Close()
		in := bufio.NewReader(f)
		for n := 1; ; n++ {
			text, err := in.ReadString('\n')
			if text == "" && err != nil {
				return fmt.Errorf("the file ends before line %d", line)
			}
			if n == line {
				if !strings.Contains(text, words) {
					return fmt.Errorf("the line is %q", text)
				}
				return nil
			}
		}
	}
	return fs.ErrNotExist
}

var itemForm = regexp.MustCompile(`(?m)^\d+\. .*$`)

// TestCouncilOnRealTrees: whatever the tree, each of the six says at most three
// things, each with a step, each true of the lines it cites, and none said twice.
func TestCouncilOnRealTrees(t *testing.T) {
	everywhere := map[string]string{} // finding → where it was made
	modules := []string{"github.com/spf13/cobra", "pgregory.net/rapid", "modernc.org/libc"}
	for _, i := range sample.Pick(t, sample.Count(2, 2, 3), 1, 1) {
		m := modules[i]
		t.Run(m, func(t *testing.T) {
			tree := os.DirFS(module(t, m))
			six := New() // one party, as in a council: it looks once
			for _, a := range animals() {
				r := startParty(t, six, a.name, identified{nested{"workspace", tree}}, purpose("Council session"))
				text := r.say(t, "A council is held.")
				items := itemForm.FindAllString(text, -1)
				if len(items) > maxFindings || len(items) == 0 && !strings.Contains(text, a.nothing) {
					t.Errorf("%s makes %d findings:\n%s", a.name, len(items), text)
				}
				if strings.Count(text, stepMark) != len(items) || strings.Count(text, costMark) != len(items) {
					t.Errorf("%s names no step, or not what it costs:\n%s", a.name, text)
				}
				for _, item := range items {
					if checkCitations(t, item, tree) == 0 {
						t.Errorf("%s cites nothing: %s", a.name, item)
					}
					plain := regexp.MustCompile(`^\d+\. `).ReplaceAllString(item, "")
					if where, twice := everywhere[plain]; twice {
						t.Errorf("%s says of %s what was said by %s: %s", a.name, m, where, plain)
					}
					everywhere[plain] = a.name + " of " + m
				}
				checkCitations(t, text, tree)
				r.store.Check(t)
			}
		})
	}
}

// TestSameTreeSameWords: two councils on one tree differ in nothing.
func TestSameTreeSameWords(t *testing.T) {
	tree := os.DirFS(module(t, "github.com/spf13/cobra"))
	for _, a := range animals() {
		var said []string
		for range 2 {
			said = append(said, start(t, a.name, nested{"workspace", tree}).say(t, "A council is held."))
		}
		if said[0] != said[1] {
			t.Errorf("%s:\n%s\nand then\n%s", a.name, said[0], said[1])
		}
	}
}

func TestNothingToSee(t *testing.T) {
	for _, files := range []fstest.MapFS{
		{"workspace": {Mode: fs.ModeDir}},
		mapFS(map[string]string{"workspace/empty.txt": ""}),
		mapFS(map[string]string{"workspace/logo.png": "\x89PNG\x00\x00"}),
	} {
		for _, a := range animals() {
			text := start(t, a.name, files, purpose("Council session")).say(t, "Look.")
			if len(itemForm.FindAllString(text, -1)) > 0 || !strings.Contains(text, a.nothing) {
				t.Errorf("%s sees something in nothing: %s", a.name, text)
			}
		}
	}
}

// TestLimitsAreSaid: whoever has not read everything says so, and says of nothing
// that it is not there.
func TestLimitsAreSaid(t *testing.T) {
	files := map[string]string{"workspace/go.mod": "module m\n\ngo 1.24\n\nrequire x.example/y v1.0.0\n", "workspace/go.sum": "x.example/y v1.0.0 h1:a\n"}
	for i := range 50 {
		files[fmt.Sprintf("workspace/f%02d.go", i)] = "package p\n\nfunc F() {\n}\n" + strings.Repeat("// x\n", 20)
	}
	all := usual
	for _, c := range []struct {
		files, names int
		want         string
	}{{10, all.names, "I have read 10 of the 52 files"}, {all.files, 10, "I stopped at 10 files"}, {all.files, all.names, ""}} {
		opts := all
		opts.files, opts.names = c.files, c.names
		for _, role := range []string{"cat", "rabbit"} {
			text := startParty(t, &party{opts: opts, minds: minds(), shared: &surveys{}, now: time.Now}, role, mapFS(files), purpose("Council session")).say(t, "Look.")
			if c.want == "" {
				if role == "rabbit" && !strings.Contains(text, "No Go file of the module imports it") || strings.Contains(text, "I have read") {
					t.Errorf("%s, who has read everything: %s", role, text)
				}
				continue
			}
			if !strings.Contains(text, c.want) || strings.Contains(text, "imports it") || strings.Contains(text, "there is no test") {
				t.Errorf("%s, with limits: %s", role, text)
			}
		}
	}
}

// TestOneLookForAll: who sees the same tree looks once, and who sees another
// does not get it.
func TestOneLookForAll(t *testing.T) {
	s := &surveys{}
	look := func(key, file string) *project.Project {
		p, err := s.open(key, mapFS(map[string]string{file: "x\n"}), usual, func() error { return nil })
		if err != nil {
			t.Fatal(err)
		}
		return p
	}
	first := look("a", "one.md")
	if look("a", "two.md") != first {
		t.Error("the same tree is looked at twice")
	}
	if look("b", "two.md").File("two.md") == nil || look("", "three.md").File("three.md") == nil {
		t.Error("another tree is taken for the first")
	}
	if _, err := s.open("c", mapFS(map[string]string{"x.md": "x"}), usual, func() error { return fs.ErrClosed }); err == nil {
		t.Error("a look that was stopped has no error")
	}
	if look("c", "x.md").File("x.md") == nil {
		t.Error("a look that was stopped is kept")
	}
}

func TestVerifyRefusesWhatALineDoesNotSay(t *testing.T) {
	tree := mapFS(map[string]string{"a.go": "one\ntwo\nthree"})
	for _, c := range []struct {
		cite cite
		ok   bool
	}{
		{cite{path: "a.go", line: 2, quote: "two"}, true},
		{cite{path: "a.go", line: 3, last: true}, true},
		{cite{path: "a.go", line: 2, quote: "three"}, false},
		{cite{path: "a.go", line: 4}, false},
		{cite{path: "a.go", line: 2, last: true}, false},
		{cite{path: "b.go", line: 1}, false},
	} {
		if err := c.cite.verify(nil, tree); (err == nil) != c.ok {
			t.Errorf("%v: %v", c.cite, err)
		}
	}
}

// FuzzCouncil: whatever stands in a file, whatever it is called, every citation
// of every animal is true.
func FuzzCouncil(f *testing.F) {
	f.Add("main.go", "package main\n\n// TODO: x\nfunc main() {\n}\n", "aaaa111 2026-02-20 M\n    s\n\nM\tmain.go\n")
	f.Add("README.md", "# X\n\nSee `a.go:12` and “quotes” http://x:80/ for the plan is planned.\r\n\xff\n", "")
	f.Add("odd name:3.py", "# FIXME\tnow\x01\nexcept:\n", "bbbb 2026-13-41 x\n")
	f.Add("a/go.mod", "module m\nrequire x.y/z v0.0.0-1 // indirect\n", "\n\t\n")
	f.Fuzz(func(t *testing.T, name, text, log string) {
		if !fs.ValidPath("workspace/"+name) || strings.Contains(name, "\x00") {
			return
		}
		files := fstest.MapFS{"workspace/x.go": {Data: []byte("package x\n")}, "workspace/" + name: {Data: []byte(text)},
			"history.txt": {Data: []byte(log)}}
		if fstest.TestFS(files, "history.txt") != nil {
			return // no tree at all
		}
		work, err := fs.Sub(files, "workspace")
		if err != nil {
			return
		}
		for _, a := range animals() {
			checkCitations(t, start(t, a.name, files, purpose("Council session")).say(t, "Look."), work, files)
		}
	})
}
