package usage

import (
	"fmt"
	"os"
	"path/filepath"

	"conclave/internal/atomicfile"
	"conclave/internal/kept"
	"conclave/session"
	"conclave/transcript"
)

// The cache of usage is a version, the names, the files with their rows, and a
// checksum. A cache that is damaged or of another version is not there.
const cacheVersion = "conclave usage 5\n"

func writeUsage(w *kept.Writer, u transcript.Usage) {
	w.Number(u.Input, u.Output, u.CacheRead, u.CacheWrite, u.CacheWrite1h, u.Searches)
}

func readUsage(r *kept.Reader) (u transcript.Usage) {
	r.Numbers(&u.Input, &u.Output, &u.CacheRead, &u.CacheWrite, &u.CacheWrite1h, &u.Searches)
	return u
}

// writeCache replaces the cache as a whole. Files of other roots stay in
// it.
func writeCache(path string, files []*file, known map[string]*file) error {
	all := append([]*file(nil), files...)
	have := map[string]bool{}
	for _, f := range files {
		have[f.path] = true
	}
	for p, f := range known {
		if !have[p] {
			if _, err := os.Stat(p); err == nil {
				all = append(all, f)
			}
		}
	}
	var w kept.Writer
	w.Number(int64(len(all)))
	for _, f := range all {
		w.Text(f.path)
		w.Name(f.kind)
		w.Name(f.project)
		w.Name(f.role)
		w.Number(f.began, f.size, f.mtime, f.pos, int64(len(f.rows)))
		last := int64(0)
		for _, r := range f.rows {
			w.Bytes(r.key[:])
			w.Number(r.at - last)
			last = r.at
			w.Name(r.model)
			w.Name(r.session)
			w.Name(r.role)
			writeUsage(&w, r.Usage)
			w.Yes(r.whole)
		}
		w.Number(int64(len(f.sums)))
		for _, s := range f.sums {
			w.Name(s.Session)
			w.Number(s.at, s.Started, int64(len(s.Models)))
			for _, m := range s.Models {
				w.Name(m.Model)
				writeUsage(&w, m.Usage)
			}
		}
	}
	return replaceFile(path, w.Seal(cacheVersion))
}

func replaceFile(path string, data []byte) error {
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		return fmt.Errorf("keep the usage: %w", err)
	}
	if err := atomicfile.Replace(path, data, 0o600); err != nil {
		return fmt.Errorf("keep the usage: %w", err)
	}
	return nil
}

// readCache reads the cache; what it cannot use it takes as empty.
func readCache(path string) map[string]*file {
	known := map[string]*file{}
	if path == "" {
		return known
	}
	data, err := os.ReadFile(path)
	if err != nil {
		return known
	}
	r, ok := kept.Open(cacheVersion, data)
	if !ok {
		return known
	}
	for range r.Count() {
		f := &file{path: r.Text(), kind: r.Name(), project: r.Name(), role: r.Name()}
		r.Numbers(&f.began, &f.size, &f.mtime, &f.pos)
		f.rows = make([]response, r.Count())
		last := int64(0)
		for i := range f.rows {
			row := &f.rows[i]
			copy(row.key[:], r.Bytes(len(row.key)))
			last += r.Number()
			row.at, row.model, row.session, row.role = last, r.Name(), r.Name(), r.Name()
			row.Usage, row.whole = readUsage(r), r.Yes()
		}
		for range r.Count() {
			s := programSum{}
			s.Session, s.at, s.Started = r.Name(), r.Number(), r.Number()
			for range r.Count() {
				s.Models = append(s.Models, session.ModelSum{Model: r.Name(), Usage: readUsage(r)})
			}
			f.sums = append(f.sums, s)
		}
		known[f.path] = f
	}
	if !r.Whole() {
		return map[string]*file{}
	}
	return known
}
