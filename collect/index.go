package collect

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"time"

	"conclave/internal/atomicfile"
	"conclave/workspace"
)

// index remembers files that were read to their end, so that a start need not
// read again what has not changed. It is memory, not truth: without it, or when
// a file or its record has another size or time, both are read.
type index struct {
	file    string
	Version int              `json:"version"`
	Files   map[string]entry `json:"files"` // by path
}

type entry struct {
	Run        string           `json:"run"`
	Size       int64            `json:"size"`
	Modified   time.Time        `json:"modified"`
	RecordSize int64            `json:"record_size"`
	Lines      int64            `json:"lines"`
	Entries    int64            `json:"entries"`
	Unknown    map[string]int64 `json:"unknown,omitempty"`
}

const indexVersion = 1

func loadIndex(dir string) *index {
	x := &index{file: filepath.Join(dir, "index.json")}
	if b, err := workspace.ReadOwn(x.file, workspace.MaxFile); err == nil && json.Unmarshal(b, x) != nil || x.Version != indexVersion {
		x.Files = nil
	}
	if x.Version = indexVersion; x.Files == nil {
		x.Files = map[string]entry{}
	}
	return x
}

// run is the record that a path went into last.
func (x *index) run(path string) (string, bool) {
	e, ok := x.Files[path]
	return e.Run, ok
}

// same says whether the file is as the index has it.
func (x *index) same(path string) bool {
	e, ok := x.Files[path]
	info, err := os.Stat(path)
	return ok && err == nil && info.Size() == e.Size && info.ModTime().Equal(e.Modified)
}

// restore makes a source settled if nothing has changed.
func (x *index) restore(s *source) bool {
	e := x.Files[s.t.Path]
	if !x.same(s.t.Path) || s.sess.size() != e.RecordSize {
		return false
	}
	s.settled = true
	s.size, s.lines, s.entries = e.Size, e.Lines, e.Entries
	s.unknown = e.Unknown
	s.active = s.active.Add(-coolAfter)
	return true
}

// keep notes a file that was read to its end; it is false for one that was not.
func (x *index) keep(s *source) bool {
	path := s.t.Path
	delete(x.Files, path)
	info, err := os.Stat(path)
	if err != nil || s.file == nil || s.file.Offset() != info.Size() || len(s.faults) > 0 || s.file.Lost() > 0 {
		return false
	}
	x.Files[path] = entry{Run: s.sess.run, Size: info.Size(), Modified: info.ModTime(),
		RecordSize: s.sess.size(), Lines: s.lines, Entries: s.entries, Unknown: s.unknown}
	return true
}

// save writes down what is true now.
func (x *index) save(sources map[string]*source) error {
	for path, s := range sources {
		if s.settled {
			e := x.Files[path]
			e.RecordSize = s.sess.size()
			x.Files[path] = e
			continue
		}
		x.keep(s)
	}
	b, err := json.Marshal(x)
	if err != nil {
		return fmt.Errorf("write the index of collected files: %w", err)
	}
	if err := atomicfile.Replace(x.file, b, 0o600); err != nil {
		return fmt.Errorf("write the index of collected files: %w", err)
	}
	return nil
}
