// Package source finds the files that can be taken up: session files of agents'
// programs, records and logs. It looks at how a file begins to say what it is,
// and stores nothing.
package source

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"path/filepath"
	"slices"
	"strings"
	"sync"

	"conclave/internal/jsontext"
	"conclave/record"
	"conclave/session"
	"conclave/session/claude"
	"conclave/session/tree"
	"conclave/workspace"
)

// The kinds of sources that are no session files; those bear the name of their
// program (session.OfName).
const (
	Record = "record"
	Log    = "log"
	Bundle = "bundle"
)

// File is a file that was found.
type File struct {
	Path  string
	Size  int64
	MTime int64 // nanoseconds since 1970
}

// Find lists the files below roots that may be sources, each once: package tree
// says which links are followed. A root that does not exist has none. A bundle is
// one that is named itself: those below a directory are copies for others.
func Find(roots []string) ([]File, error) {
	var list []File
	named := make([]string, len(roots))
	for i, root := range roots {
		abs, err := filepath.Abs(root)
		if err != nil {
			return nil, err
		}
		named[i] = abs
	}
	err := tree.Walk(named, func(path string, d fs.DirEntry, err error) error {
		if errors.Is(err, fs.ErrNotExist) || errors.Is(err, fs.ErrPermission) {
			return nil // gone since, or not ours to read
		}
		if err != nil {
			return err
		}
		if d.IsDir() || !MayBe(path) && (!strings.HasSuffix(path, ".zip") || !slices.Contains(named, path)) {
			return nil
		}
		info, err := d.Info()
		if err != nil {
			return nil // gone since
		}
		list = append(list, File{path, info.Size(), info.ModTime().UnixNano()})
		return nil
	})
	if err != nil {
		return nil, fmt.Errorf("look for sessions: %w", err)
	}
	// Large files first: the last to be done is then a short one.
	slices.SortStableFunc(list, func(a, b File) int { return int(min(max(b.Size-a.Size, -1), 1)) })
	return list, nil
}

// MayBe says by its name whether a file may be a source.
func MayBe(path string) bool {
	return strings.HasSuffix(path, ".jsonl") || strings.HasSuffix(path, record.Extension)
}

// starts are how files begin: there may be thousands, one after the other.
var starts = sync.Pool{New: func() any { b := make([]byte, 256<<10); return &b }}

// Kind says what kind of source a file is, "" when it is none.
func Kind(path string) (string, error) {
	f, err := workspace.OpenNamed(path)
	if err != nil {
		return "", err
	}
	defer f.Close()
	held := starts.Get().(*[]byte)
	defer starts.Put(held)
	start := *held
	for n := 0; ; {
		more, err := io.ReadFull(f, start[n:])
		n += more
		end := err == io.EOF || err == io.ErrUnexpectedEOF
		if err != nil && !end {
			return "", err
		}
		if kind, known := kindOfBytes(start[:n], end || n >= session.MaxLine); known {
			return kind, nil
		}
		start = append(start, make([]byte, len(start))...) // a line is longer
	}
}

// kindOfBytes says what a file is that begins so; last says that no more of it can be
// had. It is not known where a line is not whole that may tell.
func kindOfBytes(start []byte, last bool) (kind string, known bool) {
	if record.IsRecord(start[:min(8, len(start))]) {
		return Record, true
	}
	if bytes.HasPrefix(start, []byte("PK\x03\x04")) {
		return Bundle, true
	}
	for range session.SniffLines {
		line, rest, whole := bytes.Cut(start, []byte("\n"))
		if !whole && !last {
			return "", false
		}
		if k := kindOfLine(line, whole); k != "" || !whole {
			return k, true
		}
		start = rest
	}
	return "", true
}

func kindOfLine(line []byte, whole bool) string {
	if !whole && !jsontext.Valid(line) {
		// It is being written, or longer than a line can be: what its beginning shows.
		if claude.SniffStart(line) {
			return claude.Kind.Name
		}
		return ""
	}
	if m := jsontext.Members(line, "event", "context"); m[0] != nil && m[1] != nil {
		return Log
	}
	if k := session.Sniff(line); k != nil {
		return k.Name
	}
	return ""
}
