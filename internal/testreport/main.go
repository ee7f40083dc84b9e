// Command testreport reads the output of go test -json on its standard input
// and prints a line for each package as it ends, everything that a failed
// test printed, which tests took longest, and one closing line: "N passed,
// N failed, N skipped". It exits with 1 when anything failed or nothing ran.
//
// It runs no test and keeps nothing: make test pipes into it. A test that was
// skipped is counted as such and never as passed.
package main

import (
	"bufio"
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"slices"
	"strings"
)

type event struct {
	Action, Package, Test, Output, ImportPath string
	Elapsed                                   float64
}

type report struct {
	out                     io.Writer
	passed, failed, skipped int
	broken                  bool
	lines                   map[string][]string // package and test → what it printed
	tests                   []event             // that have ended and are no part of another
}

func main() {
	r := &report{out: os.Stdout, lines: map[string][]string{}}
	if err := r.read(os.Stdin); err != nil {
		fmt.Fprintln(os.Stderr, "testreport:", err)
		os.Exit(1)
	}
	r.slowest()
	fmt.Fprintf(r.out, "%d passed, %d failed, %d skipped\n", r.passed, r.failed, r.skipped)
	if r.broken || r.failed > 0 || r.passed == 0 {
		os.Exit(1)
	}
}

func (r *report) read(in io.Reader) error {
	br := bufio.NewReader(in)
	for {
		line, err := br.ReadString('\n')
		if len(line) > 0 {
			var e event
			if json.Unmarshal([]byte(line), &e) == nil && e.Action != "" {
				r.take(e)
			} else {
				fmt.Fprint(r.out, line) // a message of the go command itself
			}
		}
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			return err
		}
	}
}

func (r *report) take(e event) {
	key := e.Package + " " + e.Test
	switch e.Action {
	case "output":
		r.lines[key] = append(r.lines[key], e.Output)
	case "build-output":
		fmt.Fprint(r.out, e.Output)
	case "pass", "fail", "skip":
		if e.Test == "" {
			r.packageEnd(e)
		} else {
			r.testEnd(e, key)
		}
		delete(r.lines, key)
	}
}

// slowest names the tests that took longest: who adds one sees what it costs.
func (r *report) slowest() {
	slices.SortFunc(r.tests, func(a, b event) int { return cmp.Compare(b.Elapsed, a.Elapsed) })
	for _, e := range r.tests[:min(len(r.tests), 10)] {
		fmt.Fprintf(r.out, "%5.0fs %s %s\n", e.Elapsed, e.Package, e.Test)
	}
}

func (r *report) testEnd(e event, key string) {
	if !strings.Contains(e.Test, "/") {
		r.tests = append(r.tests, e)
	}
	switch e.Action {
	case "pass":
		r.passed++
	case "skip":
		r.skipped++
		fmt.Fprintf(r.out, "skipped: %s %s\n%s", e.Package, e.Test, strings.Join(r.lines[key], ""))
	case "fail":
		r.failed++
		fmt.Fprintf(r.out, "FAILED: %s %s\n%s", e.Package, e.Test, strings.Join(r.lines[key], ""))
	}
}

func (r *report) packageEnd(e event) {
	if e.Action == "fail" {
		r.broken = true
		// What belongs to no test: a panic, a race at exit, a failed TestMain.
		for key, lines := range r.lines {
			if strings.HasPrefix(key, e.Package+" ") {
				fmt.Fprint(r.out, strings.Join(lines, ""))
				delete(r.lines, key)
			}
		}
	}
	fmt.Fprintf(r.out, "%-5s %s  %.1fs\n", map[string]string{"pass": "ok", "fail": "FAIL", "skip": "-"}[e.Action], e.Package, e.Elapsed)
}
