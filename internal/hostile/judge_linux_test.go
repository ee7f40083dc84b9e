package hostile

import (
	"archive/zip"
	"bytes"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"syscall"

	"conclave/internal/screen"
)

// judge says what is wrong with a run.
func (s *stage) judge(r result) (faults, changes []string) {
	fault := func(format string, args ...any) { faults = append(faults, fmt.Sprintf(format, args...)) }
	if marks, _ := os.ReadDir(s.marks); len(marks) > 0 {
		fault("a planted program ran: %s", marks[0].Name())
	}
	if i := bytes.Index(r.output, []byte(canaryWord)); i >= 0 {
		fault("what lies outside was printed: %q", around(r.output, i))
	}
	if found := screen.Foreign(r.output); len(found) > 0 {
		fault("something acts on the terminal: %q", around(r.output, found[0]))
	}
	if i := bytes.Index(r.output, []byte("\n"+Forged)); i >= 0 {
		fault("a line was forged: %q", around(r.output, i))
	}
	if r.stuck != "" {
		fault("it did not end %s: %q", r.stuck, goroutine(r.output))
	} else if crashed(r) {
		fault("it crashed: %q", tail(r.output))
	}
	if r.resident > maxResident {
		fault("it took %d MB", r.resident>>10)
	}
	changes = s.changes()
	for _, path := range changes {
		if inside(path, s.outside) {
			fault("the outside was changed: %s", strings.TrimPrefix(path, s.dir))
			break
		} else if where := canaryIn(path); where != "" {
			fault("what lies outside was written to %s", strings.TrimPrefix(where, s.dir))
		}
	}
	_ = filepath.WalkDir(s.tmp, func(path string, d os.DirEntry, err error) error {
		if err == nil && d.Type().IsRegular() && canaryIn(path) != "" {
			fault("what lies outside was left in %s", strings.TrimPrefix(path, s.dir))
		}
		return nil
	})
	return faults, changes
}

// crashed: Go's own end of a program that fell over.
func crashed(r result) bool {
	return r.code < 0 && r.signal != syscall.SIGINT || bytes.Contains(r.output, []byte("panic: ")) && bytes.Contains(r.output,
		[]byte("goroutine ")) || bytes.Contains(r.output, []byte("fatal error: "))
}

// goroutine is the part of a dump that tells where the program stood.
func goroutine(output []byte) []byte {
	if i := bytes.Index(output, []byte("goroutine 1 ")); i >= 0 {
		output = output[i:]
	}
	if len(output) > 1500 {
		output = output[:1500]
	}
	return output
}

func around(b []byte, i int) []byte { return b[max(0, i-80):min(len(b), i+80)] }

// canaryIn finds the canary in a file, or in what a zip holds.
func canaryIn(path string) string {
	info, err := os.Lstat(path)
	if err != nil || !info.Mode().IsRegular() || info.Size() > 64<<20 {
		return ""
	}
	data, err := os.ReadFile(path)
	if err != nil {
		return ""
	}
	if bytes.Contains(data, []byte(canaryWord)) {
		return path
	}
	z, err := zip.NewReader(bytes.NewReader(data), int64(len(data)))
	if err != nil {
		return ""
	}
	for _, f := range z.File {
		if r, err := f.Open(); err == nil {
			part, _ := io.ReadAll(io.LimitReader(r, 16<<20))
			r.Close()
			if bytes.Contains(part, []byte(canaryWord)) {
				return path + "/" + f.Name
			}
		}
	}
	return ""
}
