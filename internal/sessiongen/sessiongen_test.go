package sessiongen

import (
	"bytes"
	"encoding/json"
	"os"
	"regexp"
	"testing"
)

func TestWrite(t *testing.T) {
	var a, b bytes.Buffer
	o := Options{Seed: 7, Bytes: 3 << 20, Hard: true}
	w, err := Write(&a, o)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := Write(&b, o); err != nil || !bytes.Equal(a.Bytes(), b.Bytes()) {
		t.Fatalf("two runs of the same seed differ: %v", err)
	}
	if w.Bytes != int64(a.Len()) || w.Bytes < o.Bytes {
		t.Errorf("says %d bytes, wrote %d", w.Bytes, a.Len())
	}
	lines := bytes.Split(bytes.TrimSuffix(a.Bytes(), []byte("\n")), []byte("\n"))
	if int64(len(lines)) != w.Lines {
		t.Errorf("says %d lines, wrote %d", w.Lines, len(lines))
	}
	var bad, longest int
	for _, l := range lines {
		if !json.Valid(l) {
			bad++
		}
		longest = max(longest, len(l))
	}
	if int64(bad) != w.BadLines || bad == 0 {
		t.Errorf("%d lines are no JSON, %d were meant to be", bad, w.BadLines)
	}
	if longest < 1<<20 {
		t.Errorf("the longest line has %d bytes only", longest)
	}
}

// TestWriteTree: the same seed gives the same tree, laid out as the program
// does, with ids that are nobody else's.
func TestWriteTree(t *testing.T) {
	o := TreeOptions{Seed: 3, Bytes: 2 << 20, FileBytes: 200_000, Words: 500}
	one, err := WriteTree(t.TempDir(), o)
	if err != nil {
		t.Fatal(err)
	}
	two, err := WriteTree(t.TempDir(), o)
	if err != nil {
		t.Fatal(err)
	}
	if one.Written != two.Written || len(one.Files) != len(two.Files) || one.Bytes < o.Bytes {
		t.Fatalf("%+v and %+v", one.Written, two.Written)
	}
	ids, agents := map[string]string{}, 0
	for i, file := range one.Files {
		a, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		b, err := os.ReadFile(two.Files[i])
		if err != nil || !bytes.Equal(a, b) {
			t.Fatalf("%s differs (%v)", file, err)
		}
		if bytes.Contains(a, []byte(`"agentId"`)) {
			agents++
		}
		for _, m := range regexp.MustCompile(`"id":"msg_[^"]+"`).FindAllString(string(a), -1) {
			if other := ids[m]; other != "" && other != file {
				t.Fatalf("%s is in %s and %s", m, file, other)
			}
			ids[m] = file
		}
	}
	if agents == 0 || int64(len(ids)) != one.Messages {
		t.Errorf("%d files of subagents, %d messages, said are %d", agents, len(ids), one.Messages)
	}
}
