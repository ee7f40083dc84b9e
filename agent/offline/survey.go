package offline

import (
	"bytes"
	"errors"
	"fmt"
	"hash/crc32"
	"io"
	"io/fs"
	"path"
	"slices"
	"strings"
)

// file is what a survey keeps of a file.
type file struct {
	path  string
	dir   string
	kind  kind
	lang  string
	size  int64
	lines int    // 0 when it was not read to its end
	head  hit    // the first line that says something
	sum   uint64 // size and checksum: equal files have equal sums
	long  span   // the longest function, where that can be told
	found map[string]*found
}

// hit is a line of a file. Text is the whole line, and at is where in it the
// word stands that was looked for.
type hit struct {
	line int
	text string
	at   int
}

// found is what a probe met in a file: how often, and the first lines.
type found struct {
	n    int
	hits []hit
}

// span is a function from its first line on.
type span struct {
	hit
	lines int
}

// survey is one bounded look at a tree.
type survey struct {
	tree    fs.FS
	opts    limits
	probes  []probe
	alive   func() error
	files   []*file
	texts   map[string]string // small files that are worth reading whole
	skipped []string          // directories that were passed by
	read    int64
	cut     bool // a limit was reached
	buf     []byte
	history history
	quest   []criterion
}

var errLimit = errors.New("limit reached")

// look walks the tree once. Files that cannot be read are passed by, as a
// person would; what could not be looked at is in no count.
func look(tree fs.FS, opts limits, probes []probe, alive func() error) (*survey, error) {
	s := &survey{tree: tree, opts: opts, probes: probes, alive: alive, texts: map[string]string{}, buf: make([]byte, 0, 64<<10)}
	err := fs.WalkDir(tree, ".", s.visit)
	if errors.Is(err, errLimit) {
		s.cut, err = true, nil
	}
	return s, err
}

func (s *survey) visit(p string, d fs.DirEntry, err error) error {
	if err != nil {
		if d != nil && d.IsDir() && p != "." {
			return fs.SkipDir
		}
		return nil
	}
	if d.IsDir() {
		if p != "." && slices.Contains(skippedDirs, d.Name()) {
			s.skipped = append(s.skipped, p)
			return fs.SkipDir
		}
		return nil
	}
	if !d.Type().IsRegular() {
		return nil
	}
	if len(s.files) >= s.opts.files || s.read >= s.opts.bytes {
		return errLimit
	}
	if len(s.files)%32 == 0 {
		if err := s.alive(); err != nil {
			return err
		}
	}
	f := &file{path: p, dir: path.Dir(p), kind: kindByName(p), lang: languages[strings.ToLower(path.Ext(p))]}
	if !citable(p) {
		f.kind = fixture // counted, and never pointed to
	}
	if s.take(f) == nil {
		s.files = append(s.files, f)
	}
	return nil
}

// take reads a file as far as it deserves.
func (s *survey) take(f *file) error {
	opened, err := s.tree.Open(f.path)
	if err != nil {
		return err
	}
	defer opened.Close()
	data, more, err := s.fill(opened, s.buf[:0], 8<<10)
	if err != nil {
		return err
	}
	f.size = int64(len(data))
	var says int
	f.kind, says = kindByHead(f, data)
	f.head = firstLine(data)
	if says >= 0 {
		line, _, _ := bytes.Cut(data[says:], []byte("\n"))
		f.head = hit{line: 1 + bytes.Count(data[:says], []byte("\n")), text: strings.TrimRight(string(line), "\r")}
	}
	whole := !more
	if more {
		if info, err := opened.Stat(); err == nil {
			f.size = info.Size()
		}
		if f.kind != binary && f.kind != generated && f.kind != fixture && f.size <= s.opts.fileSize {
			if data, more, err = s.fill(opened, data, int(s.opts.fileSize)); err != nil {
				return err
			}
			whole = !more
		}
	}
	s.buf = data
	s.read += int64(len(data))
	if whole && f.kind != binary {
		s.examine(f, data)
	}
	return nil
}

// fill reads up to limit bytes; more says that something is left.
func (s *survey) fill(r io.Reader, buf []byte, limit int) (_ []byte, more bool, _ error) {
	for {
		if len(buf) == cap(buf) {
			buf = slices.Grow(buf, cap(buf))
		}
		room := buf[len(buf):cap(buf)]
		if len(buf)+len(room) > limit+1 {
			room = room[:limit+1-len(buf)]
		}
		n, err := r.Read(room)
		buf = buf[:len(buf)+n]
		if len(buf) > limit {
			return buf, true, nil
		}
		if errors.Is(err, io.EOF) {
			return buf, false, nil
		}
		if err != nil {
			return nil, false, err
		}
	}
}

func (s *survey) examine(f *file, data []byte) {
	f.lines = countLines(data)
	f.sum = uint64(len(data))<<32 | uint64(crc32.Checksum(data, crc32.MakeTable(crc32.Castagnoli)))
	if f.kind == fixture || f.kind == generated {
		return
	}
	if f.lang == "Go" && f.kind == code {
		f.long = longestGo(data)
	}
	for i := range s.probes {
		s.probes[i].run(f, data)
	}
	if f.size <= 256<<10 && strings.Count(f.path, "/") <= 2 && (f.kind == doc || f.kind == config) {
		s.texts[f.path] = string(data)
	}
}

func countLines(data []byte) int {
	n := bytes.Count(data, []byte("\n"))
	if len(data) > 0 && data[len(data)-1] != '\n' {
		n++
	}
	return n
}

// firstLine is the first line of code or prose: no comment marks, no fences.
func firstLine(data []byte) hit {
	n := 0
	for line := range bytes.Lines(data[:min(len(data), 8<<10)]) {
		n++
		text := strings.TrimRight(string(line), "\r\n")
		t := strings.TrimSpace(text)
		if len(t) < 4 || strings.HasPrefix(t, "//") || strings.HasPrefix(t, "/*") || strings.HasPrefix(t, "*") || strings.HasPrefix(t, "#!") || strings.HasPrefix(t, "<!--") || t == "---" {
			continue
		}
		return hit{line: n, text: text}
	}
	return hit{}
}

// longestGo measures functions by gofmt's shape: from "func" to the brace in
// the first column.
func longestGo(data []byte) span {
	var best span
	line, at := 1, 0
	for {
		var start int
		if at == 0 && bytes.HasPrefix(data, []byte("func ")) {
			start = 0
		} else if i := bytes.Index(data[at:], []byte("\nfunc ")); i >= 0 {
			start = at + i + 1
		} else {
			return best
		}
		line += bytes.Count(data[at:start], []byte("\n"))
		stop := bytes.Index(data[start:], []byte("\n}"))
		if stop < 0 {
			return best
		}
		body := data[start : start+stop]
		first, _, _ := bytes.Cut(body, []byte("\n"))
		if n := bytes.Count(body, []byte("\n")) + 2; n > best.lines && bytes.HasSuffix(bytes.TrimSpace(first), []byte("{")) {
			best = span{hit{line: line, text: string(first)}, n}
		}
		at = start + 1
	}
}

// of lists files of the kinds, in the order of the walk.
func (s *survey) of(kinds ...kind) []*file {
	var out []*file
	for _, f := range s.files {
		if slices.Contains(kinds, f.kind) {
			out = append(out, f)
		}
	}
	return out
}

func (s *survey) file(p string) *file {
	i := slices.IndexFunc(s.files, func(f *file) bool { return f.path == p })
	if i < 0 {
		return nil
	}
	return s.files[i]
}

// summary says what was looked at, for the record.
func (s *survey) summary() string {
	kinds := map[kind]int{}
	for _, f := range s.files {
		kinds[f.kind]++
	}
	text := fmt.Sprintf("%s, %d bytes read: %d code, %d test, %d documents, %d generated, %d binary",
		count(len(s.files), "file"), s.read, kinds[code], kinds[test], kinds[doc], kinds[generated], kinds[binary])
	if len(s.skipped) > 0 {
		text += "; passed by: " + strings.Join(s.skipped[:min(len(s.skipped), 10)], ", ")
	}
	if s.cut {
		text += "; stopped at the limit, the rest was not looked at"
	}
	return text
}

func readLimited(tree fs.FS, name string, limit int64) ([]byte, error) {
	f, err := tree.Open(name)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	b, err := io.ReadAll(io.LimitReader(f, limit+1))
	if err == nil && int64(len(b)) > limit {
		err = fmt.Errorf("read %s: longer than %d bytes", name, limit)
	}
	return b, err
}

// readHead reads the beginning of a file.
func readHead(tree fs.FS, name string, n int64) ([]byte, error) {
	f, err := tree.Open(name)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	return io.ReadAll(io.LimitReader(f, n))
}
