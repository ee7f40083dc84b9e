package app

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"conclave/internal/sample"
	"conclave/record"
	"conclave/transcript"
)

// What a tool gave back in a file of its own stands on the record in the midst of
// its session: whoever reads on behind it repeats nothing, leaves nothing out, and
// counts as if the session were read at once.
func TestResultFileInTheMidst(t *testing.T) {
	t.Parallel()
	const fixture, session = "../testdata/fixtures/claude/34-tool-results-file/home/.claude/projects/-home-u-lab-work-proj",
		"a19fe56b-0559-4f5b-a105-5d1f1a7feba6"
	whole, err := os.ReadFile(filepath.Join(fixture, session+".jsonl"))
	if err != nil {
		t.Fatal(err)
	}
	result, err := os.ReadFile(filepath.Join(fixture, session, "tool-results", "btlcfv8cy.txt"))
	if err != nil {
		t.Fatal(err)
	}
	lines := bytes.SplitAfter(whole, []byte("\n"))
	told := 0 // the first lines with which the session tells of the file
	for !bytes.Contains(lines[told], []byte("btlcfv8cy.txt")) {
		told++
	}
	place := func(l *life, n int) {
		dir := filepath.Join(l.home, ".claude", "projects", "-home-u-lab-work-proj")
		l.write(filepath.Join(dir, session+".jsonl"), bytes.Join(lines[:n], nil))
		l.write(filepath.Join(dir, session, "tool-results", "btlcfv8cy.txt"), result)
	}
	alone := newLife(t)
	place(alone, len(lines))
	want := alone.numbers("47113")
	if strings.Count(want, "hit: tool_result 2") != 1 || strings.Count(want, "hit: ") != 1 {
		t.Fatalf("the word of the file is not found once: %s", want)
	}
	cuts := []int{told, told + 1, told + 4, len(lines) - 3}
	for _, i := range sample.Pick(t, len(cuts), 1, 1) {
		cut := cuts[i]
		l := newLife(t)
		var entries int64
		for _, n := range []int{cut, cut, len(lines), len(lines)} {
			place(l, n)
			b, err := l.a.Import(t.Context(), []string{filepath.Join(l.home, ".claude")}, DefaultFollow())
			if err != nil || !b.OK() || b.Records != 1 {
				t.Fatalf("%d lines: %+v %v", n, b, err)
			}
			entries = b.Entries
		}
		l.same("in two parts", l.numbers("47113"), want)
		var recorded, files int64
		for e, err := range l.a.Entries(t.Context(), "claude-"+session, EntryPick{}) {
			l.must(err)
			if recorded++; bytes.Contains(e.Detail, []byte(`"subtype":"tool_result_file"`)) {
				if files++; e.Type != transcript.ToolResult || e.Source != transcript.Main {
					t.Errorf("the file is a %s of %s", e.Type, e.Source)
				}
			}
		}
		if recorded != entries || files != 1 {
			t.Errorf("cut at %d: %d entries on the record, %d of the file, %d of all files", cut, recorded, files, entries)
		}
		if list, err := record.List(record.Dir(l.a.Root)); err != nil || len(list) != 1 {
			t.Errorf("records: %v %v", list, err)
		}
	}
}
