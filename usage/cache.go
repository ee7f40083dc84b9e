package usage

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"hash/crc32"
	"os"
	"path/filepath"

	"conclave/internal/atomicfile"
	"conclave/session"
	"conclave/transcript"
)

// The cache of usage is a version, the names, the files with their rows, and a
// checksum. A cache that is damaged or of another version is not there.
const cacheVersion = "conclave usage 5\n"

var castagnoli = crc32.MakeTable(crc32.Castagnoli)

type encoder struct {
	b     []byte
	names map[string]uint64
	list  []string
}

func (e *encoder) number(n int64) { e.b = binary.AppendVarint(e.b, n) }
func (e *encoder) text(s string)  { e.number(int64(len(s))); e.b = append(e.b, s...) }
func (e *encoder) name(s string) {
	n, ok := e.names[s]
	if !ok {
		n = uint64(len(e.list))
		e.names[s] = n
		e.list = append(e.list, s)
	}
	e.number(int64(n))
}

func (e *encoder) usage(u transcript.Usage) {
	for _, n := range []int64{u.Input, u.Output, u.CacheRead, u.CacheWrite, u.CacheWrite1h, u.Searches} {
		e.number(n)
	}
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
	e := &encoder{names: map[string]uint64{}}
	e.number(int64(len(all)))
	for _, f := range all {
		e.text(f.path)
		e.name(f.kind)
		e.name(f.project)
		e.name(f.role)
		e.number(f.began)
		e.number(f.size)
		e.number(f.mtime)
		e.number(f.pos)
		e.number(int64(len(f.rows)))
		last := int64(0)
		for _, r := range f.rows {
			e.b = append(e.b, r.key[:]...)
			e.number(r.at - last)
			last = r.at
			e.name(r.model)
			e.name(r.session)
			e.name(r.role)
			e.usage(r.Usage)
			whole := int64(0)
			if r.whole {
				whole = 1
			}
			e.number(whole)
		}
		e.number(int64(len(f.sums)))
		for _, s := range f.sums {
			e.name(s.Session)
			e.number(s.at)
			e.number(s.Started)
			e.number(int64(len(s.Models)))
			for _, m := range s.Models {
				e.name(m.Model)
				e.usage(m.Usage)
			}
		}
	}
	head := &encoder{b: []byte(cacheVersion)}
	head.number(int64(len(e.list)))
	for _, s := range e.list {
		head.text(s)
	}
	out := append(head.b, e.b...)
	out = binary.LittleEndian.AppendUint32(out, crc32.Checksum(out, castagnoli))
	return replaceFile(path, out)
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

type decoder struct {
	b     []byte
	bad   bool
	names []string
}

func (d *decoder) number() int64 {
	n, size := binary.Varint(d.b)
	if size <= 0 {
		d.bad, d.b = true, nil
		return 0
	}
	d.b = d.b[size:]
	return n
}

func (d *decoder) bytes(n int64) []byte {
	if n < 0 || n > int64(len(d.b)) {
		d.bad, d.b = true, nil
		return nil
	}
	out := d.b[:n]
	d.b = d.b[n:]
	return out
}

func (d *decoder) text() string { return string(d.bytes(d.number())) }

func (d *decoder) name() string {
	n := d.number()
	if n < 0 || n >= int64(len(d.names)) {
		d.bad = true
		return ""
	}
	return d.names[n]
}

func (d *decoder) usage() transcript.Usage {
	return transcript.Usage{Input: d.number(), Output: d.number(), CacheRead: d.number(), CacheWrite: d.number(),
		CacheWrite1h: d.number(), Searches: d.number()}
}

// readCache reads the cache; what it cannot use it takes as empty.
func readCache(path string) map[string]*file {
	known := map[string]*file{}
	if path == "" {
		return known
	}
	data, err := os.ReadFile(path)
	if err != nil || len(data) < len(cacheVersion)+4 || !bytes.HasPrefix(data, []byte(cacheVersion)) {
		return known
	}
	body, sum := data[:len(data)-4], data[len(data)-4:]
	if crc32.Checksum(body, castagnoli) != binary.LittleEndian.Uint32(sum) {
		return known
	}
	d := &decoder{b: body[len(cacheVersion):]}
	for n := d.number(); n > 0 && !d.bad; n-- {
		d.names = append(d.names, d.text())
	}
	for n := d.number(); n > 0 && !d.bad; n-- {
		f := &file{path: d.text(), kind: d.name(), project: d.name(), role: d.name(), began: d.number(),
			size: d.number(), mtime: d.number(), pos: d.number()}
		rows := d.number()
		if rows < 0 || rows > int64(len(d.b)) {
			return map[string]*file{}
		}
		f.rows = make([]response, rows)
		last := int64(0)
		for i := range f.rows {
			r := &f.rows[i]
			copy(r.key[:], d.bytes(16))
			last += d.number()
			r.at, r.model, r.session, r.role = last, d.name(), d.name(), d.name()
			r.Usage, r.whole = d.usage(), d.number() == 1
		}
		for n := d.number(); n > 0 && !d.bad; n-- {
			var s programSum
			s.Session, s.at, s.Started = d.name(), d.number(), d.number()
			for m := d.number(); m > 0 && !d.bad; m-- {
				s.Models = append(s.Models, session.ModelSum{Model: d.name(), Usage: d.usage()})
			}
			f.sums = append(f.sums, s)
		}
		known[f.path] = f
	}
	if d.bad {
		return map[string]*file{}
	}
	return known
}
