package project

import (
	"errors"
	"hash/fnv"
	"io"
	"io/fs"
	"iter"
	"path"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"unicode/utf8"

	"conclave/internal/pattern"
)

// Limits bound what is looked at. Longer files are known by name alone.
type Limits struct {
	Names    int   // files whose names are taken
	Files    int   // files that are read
	Bytes    int64 // that are read in all
	FileSize int64
	LockSize int64 // of a lock file
}

// File is one regular file of the tree.
type File struct {
	Path string
	Dir  string
	Base string
	Kind Kind
	Lang string
	// Text is the whole file, "" when it was not read: Read tells.
	Text  string
	Read  bool
	Lines int
	Sum   uint64 // equal texts have equal sums
}

// Looked says how much was seen.
type Looked struct {
	Files int  // regular files in the tree, as far as it was walked
	Want  int  // that are worth reading
	Read  int  // that were read
	Long  int  // passed by because they are too long
	Cut   bool // the walk itself stopped at a limit
}

// Whole says that everything worth reading was read.
func (l Looked) Whole() bool { return !l.Cut && l.Read+l.Long >= l.Want }

// Project is what was seen of a tree.
type Project struct {
	Files  []*File // by path
	Looked Looked

	byPath map[string]*File
	names  map[string]bool   // files, directories, links
	folded map[string]string // by lower-cased name
	passed []string          // directories that were not entered
	opts   Limits

	once      sync.Once
	manifests []*Manifest
	pairOnce  sync.Once
	pairing   *pairing
}

var errLimit = errors.New("limit reached")

// Open walks the tree and reads what is worth it. Alive is asked now and then
// whether to go on. What cannot be read is passed by.
func Open(tree fs.FS, opts Limits, alive func() error) (*Project, error) {
	p := &Project{byPath: map[string]*File{}, names: map[string]bool{".": true}, folded: map[string]string{}, opts: opts}
	n := 0
	err := fs.WalkDir(tree, ".", func(at string, d fs.DirEntry, err error) error {
		if n++; n%256 == 0 {
			if err := alive(); err != nil {
				return err
			}
		}
		return p.visit(at, d, err)
	})
	if errors.Is(err, errLimit) {
		p.Looked.Cut, err = true, nil
	}
	if err != nil {
		return nil, err
	}
	p.findOutput()
	p.findModules(tree)
	if err := p.readAll(tree, alive); err != nil {
		return nil, err
	}
	p.findMade()
	return p, alive()
}

var madeHere = pattern.New(`(?i)(not meant to be edited|do not (edit|modify) (these|the) files|(this (folder` +
	`|directory)|files in this (folder|directory)) (is|are) (auto-?|automatically )?generated)`)

// findMade marks the files of directories whose README says that a program makes
// them.
func (p *Project) findMade() {
	for _, f := range p.Files {
		if !strings.HasPrefix(strings.ToUpper(f.Base), "README") || f.Dir == "." || !madeHere.MatchString(f.Text) {
			continue
		}
		for _, x := range p.Files {
			if strings.HasPrefix(x.Path, f.Dir+"/") && (x.Kind == Source || x.Kind == Config) {
				x.Kind = Generated
			}
		}
	}
}

func (p *Project) visit(at string, d fs.DirEntry, err error) error {
	if err != nil {
		if d != nil && d.IsDir() && at != "." {
			p.passed = append(p.passed, at)
			return fs.SkipDir
		}
		return nil
	}
	if at == "." {
		return nil
	}
	p.names[at] = true
	p.folded[strings.ToLower(at)] = at
	if d.IsDir() {
		if slices.Contains(passedDirs, d.Name()) || d.Name() == "target" && (p.names[path.Join(path.Dir(at),
			"Cargo.toml")] || p.names[path.Join(path.Dir(at), "pom.xml")]) {
			p.passed = append(p.passed, at)
			return fs.SkipDir
		}
		return nil
	}
	if d.Type()&fs.ModeSymlink != 0 {
		p.passed = append(p.passed, at) // it may lead to a directory
		return nil
	}
	if !d.Type().IsRegular() {
		return nil
	}
	if p.Looked.Files >= p.opts.Names {
		return errLimit
	}
	p.Looked.Files++
	f := &File{Path: at, Dir: path.Dir(at), Base: path.Base(at), Kind: Classify(at), Lang: Language(at)}
	p.Files = append(p.Files, f)
	p.byPath[at] = f
	return nil
}

// findModules passes the places of submodules by: what lies there is another
// repository's, and may not be in this tree at all.
func (p *Project) findModules(tree fs.FS) {
	f := p.byPath[".gitmodules"]
	if f == nil {
		return
	}
	f.read(tree, p.opts, nil)
	for _, line := range Lines(f.Text) {
		if key, value, ok := strings.Cut(line, "="); ok && strings.TrimSpace(key) == "path" {
			p.passed = append(p.passed, path.Clean(strings.TrimSpace(value)))
		}
	}
}

var scriptEnd = pattern.New(`(\.d)?\.[cm]?[jt]sx?$`)

// findOutput knows what a compiler wrote: a script or its declarations beside a
// TypeScript source of the same name, or where one lies at the same place below
// src.
func (p *Project) findOutput() {
	for _, f := range p.Files {
		if f.Kind != Source || f.Lang != "JavaScript" && f.Lang != "TypeScript" {
			continue
		}
		stem := scriptEnd.ReplaceAllString(f.Path, "")
		declares := strings.Contains(f.Base, ".d.")
		for _, source := range []string{"src/" + stem + ".ts", "src/" + stem + ".tsx", stem + ".ts", stem + ".tsx"} {
			if p.names[source] && source != f.Path && (f.Lang == "JavaScript" || declares) {
				f.Kind = Generated
			}
		}
	}
}

// deserves is the order of reading: what says most about the whole first. Zero
// is not read at all.
func (k Kind) deserves() int {
	switch k {
	case Config, Lock, Licence:
		return 1
	case Doc, Data:
		return 2
	case Source:
		return 3
	case Test:
		return 4
	case Example, Other, Generated:
		return 5
	}
	return 0
}

func (p *Project) readAll(tree fs.FS, alive func() error) error {
	var list []*File
	for _, f := range p.Files {
		if f.Kind.deserves() > 0 {
			list = append(list, f)
		}
	}
	slices.SortStableFunc(list, func(a, b *File) int { return a.Kind.deserves() - b.Kind.deserves() })
	p.Looked.Want = len(list)
	todo := list[:min(len(list), p.opts.Files)]
	var total int64
	for len(todo) > 0 && total < p.opts.Bytes {
		if err := alive(); err != nil {
			return err
		}
		batch := todo[:min(len(todo), 256)]
		todo = todo[len(batch):]
		total += p.readBatch(tree, batch)
	}
	return nil
}

// readBatch reads some files, several at a time, and returns how many bytes.
func (p *Project) readBatch(tree fs.FS, batch []*File) int64 {
	var at, total, read atomic.Int64
	var all sync.WaitGroup
	for range readers {
		all.Go(func() {
			var buf []byte
			for i := at.Add(1) - 1; int(i) < len(batch); i = at.Add(1) - 1 {
				var ok bool
				if buf, ok = batch[i].read(tree, p.opts, buf); ok {
					read.Add(1)
				}
				total.Add(int64(len(buf)))
			}
		})
	}
	all.Wait()
	p.Looked.Read += int(read.Load())
	p.Looked.Long += len(batch) - int(read.Load())
	return total.Load()
}

const readers = 4

// read takes a file; it says whether it could.
func (f *File) read(tree fs.FS, opts Limits, buf []byte) ([]byte, bool) {
	opened, err := tree.Open(f.Path)
	if err != nil {
		return buf[:0], false
	}
	defer opened.Close()
	limit := opts.FileSize
	if f.Kind == Lock {
		limit = opts.LockSize
	}
	buf, more, err := fill(opened, buf[:0], int(limit))
	if err != nil {
		return buf, false
	}
	f.settle(buf)
	if f.Kind == Binary {
		return buf, true
	}
	if more || !utf8.Valid(buf) {
		return buf, false
	}
	if machineMade(f, buf) {
		f.Kind = Generated
	}
	h := fnv.New64a()
	h.Write(buf)
	f.Text, f.Read, f.Sum = string(buf), true, h.Sum64()
	f.Lines = countLines(f.Text)
	return buf, true
}

// machineMade knows minified text by the length of its lines.
func machineMade(f *File, data []byte) bool {
	if f.Kind != Source && f.Kind != Example && f.Kind != Other || len(data) < 4<<10 {
		return false
	}
	return len(data)/(countLines(string(data))+1) > 300
}

func fill(r io.Reader, buf []byte, limit int) (_ []byte, more bool, _ error) {
	for {
		if len(buf) == cap(buf) {
			buf = slices.Grow(buf, max(8<<10, cap(buf)))
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
			return buf, false, err
		}
	}
}

func countLines(s string) int {
	n := strings.Count(s, "\n")
	if s != "" && s[len(s)-1] != '\n' {
		n++
	}
	return n
}

// Lines yields the lines of a text without their ends, and their numbers.
func Lines(text string) iter.Seq2[int, string] {
	return func(yield func(int, string) bool) {
		n := 0
		for line := range strings.Lines(text) {
			n++
			if !yield(n, strings.TrimRight(line, "\r\n")) {
				return
			}
		}
	}
}

// File returns the file at a path, nil if there is none.
func (p *Project) File(at string) *File { return p.byPath[at] }

// Of lists the files of some kinds, by path.
func (p *Project) Of(kinds ...Kind) []*File {
	var out []*File
	for _, f := range p.Files {
		if slices.Contains(kinds, f.Kind) {
			out = append(out, f)
		}
	}
	return out
}

// Has says whether a name is in the tree: a file, a directory or a link. A name
// below a directory that was passed by may be there, and counts as being so.
func (p *Project) Has(at string) bool {
	at = path.Clean(at)
	if p.names[at] || p.Looked.Cut || at == ".." || strings.HasPrefix(at, "../") || strings.HasPrefix(at, "/") {
		return true
	}
	return slices.ContainsFunc(p.passed, func(d string) bool { return at == d || strings.HasPrefix(at, d+"/") })
}

// IsDir says whether a name is a directory of the tree.
func (p *Project) IsDir(at string) bool {
	at = path.Clean(at)
	return at == "." || p.names[at] && p.byPath[at] == nil
}

// Spelled is how a name is spelled that differs in case only.
func (p *Project) Spelled(at string) (string, bool) {
	s, ok := p.folded[strings.ToLower(path.Clean(at))]
	return s, ok
}

// HasCode says whether people program in this tree.
func (p *Project) HasCode() bool {
	return slices.ContainsFunc(p.Files, func(f *File) bool { return f.Kind == Source || f.Kind == Test })
}
