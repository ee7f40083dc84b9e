package bundle

import (
	"archive/zip"
	"bytes"
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"math"
	"slices"
	"strconv"
	"strings"

	"conclave/internal/newer"
	"conclave/internal/pack"
	"conclave/workspace"
)

// Limits bound what is read of a bundle that may be anyone's. The zero value
// means the usual ones.
type Limits struct {
	Files    int   // in a bundle; 50,000
	Bytes    int64 // of all files, unpacked; 16 GiB
	Lines    int64 // of the log of one that is verified; any number
	manifest int64 // unpacked; 32 MiB
	// ratio is how much larger than its packed form a file of more than 16
	// MiB may be; 500. Text of a run packs to a tenth.
	ratio int64
}

func (l Limits) complete() Limits {
	l.Files, l.Bytes, l.Lines = cmp.Or(l.Files, 50_000), cmp.Or(l.Bytes, 16<<30), cmp.Or(l.Lines, math.MaxInt64)
	l.manifest, l.ratio = cmp.Or(l.manifest, 32<<20), cmp.Or(l.ratio, 500)
	return l
}

const ratioFrom = 16 << 20

// Problem is something wrong with a bundle.
type Problem struct {
	File string `json:"file,omitempty"` // in the bundle; "" is the bundle itself
	What string `json:"what"`
}

func (p Problem) String() string {
	if p.File == "" {
		return p.What
	}
	return fmt.Sprintf("%q: %s", p.File, p.What)
}

// Unsafe is why a bundle is not opened.
type Unsafe struct{ Problems []Problem }

func (u *Unsafe) Error() string {
	s := u.Problems[0].String()
	if n := len(u.Problems) - 1; n > 0 {
		s += fmt.Sprintf(" (and %d more)", n)
	}
	return s
}

// Reader reads a bundle. Its names, sizes and numbers were checked when it was
// opened; contents are checked while they are read (size and CRC) and by
// verify. It is safe for concurrent use.
type Reader struct {
	path     string
	closer   io.Closer
	src      io.ReaderAt
	zip      *zip.Reader
	limits   Limits
	manifest Manifest
	files    map[string]*zip.File // without the root
	names    []string
}

// Open opens the bundle at path with the usual limits. A bundle that is not
// safe to read gives an *Unsafe.
func Open(path string) (*Reader, error) { return openWithin(path, Limits{}) }

func openWithin(path string, l Limits) (*Reader, error) {
	f, err := workspace.OpenNamed(path)
	if err != nil {
		return nil, fmt.Errorf("open bundle: %w", err)
	}
	info, err := f.Stat()
	var r *Reader
	if err == nil {
		r, err = newReader(f, info.Size(), l)
	}
	if err != nil {
		return nil, errors.Join(fmt.Errorf("open bundle %s: %w", path, err), f.Close())
	}
	r.path, r.closer = path, f
	return r, nil
}

// newReader reads a bundle of size bytes from src.
func newReader(src io.ReaderAt, size int64, limits Limits) (*Reader, error) {
	limits = limits.complete()
	z, err := zip.NewReader(src, size)
	if err != nil && !errors.Is(err, zip.ErrInsecurePath) {
		return nil, fmt.Errorf("it is no whole zip: %w", err)
	}
	z.RegisterDecompressor(zip.Deflate, pack.Inflate)
	r := &Reader{src: src, zip: z, limits: limits, files: map[string]*zip.File{}}
	if problems := r.inspect(z, size); len(problems) > 0 {
		return nil, &Unsafe{problems}
	}
	if err := r.readManifest(); err != nil {
		return nil, err
	}
	return r, nil
}

// inspect looks at every entry of the directory, and at nothing else.
func (r *Reader) inspect(z *zip.Reader, size int64) []Problem {
	if len(z.File) > r.limits.Files {
		return []Problem{{What: fmt.Sprintf("it has %d files, more than the %d that are read", len(z.File), r.limits.Files)}}
	}
	var problems []Problem
	folded := map[string]string{}
	var total uint64
	for _, f := range z.File {
		what := r.inspectFile(f)
		name := strings.TrimPrefix(f.Name, Root+"/")
		if other, ok := folded[strings.ToLower(f.Name)]; what == "" && ok {
			what = fmt.Sprintf("its name stands twice (%q)", other)
		}
		folded[strings.ToLower(f.Name)] = f.Name
		if total += f.UncompressedSize64; total > uint64(r.limits.Bytes) || total < f.UncompressedSize64 {
			return append(problems, Problem{What: fmt.Sprintf("its files are over %d bytes unpacked", r.limits.Bytes)})
		}
		if what != "" {
			problems = append(problems, Problem{f.Name, what})
		} else if !strings.HasSuffix(name, "/") {
			r.files[name] = f
			r.names = append(r.names, name)
		}
	}
	slices.Sort(r.names)
	if len(problems) == 0 {
		problems = overlaps(z, size)
	}
	return problems
}

func (r *Reader) inspectFile(f *zip.File) string {
	if what := checkName(f.Name); what != "" {
		return what
	}
	mode := f.Mode()
	switch {
	case strings.HasSuffix(f.Name, "/"):
		if f.UncompressedSize64 != 0 {
			return "it is a directory with contents"
		}
		return ""
	case !mode.IsRegular():
		return fmt.Sprintf("it is no regular file (%v)", mode.Type())
	case f.Flags&1 != 0:
		return "it is encrypted"
	case f.Method != zip.Store && f.Method != zip.Deflate:
		return fmt.Sprintf("it is compressed with method %d: only store and deflate are read", f.Method)
	case f.Method == zip.Store && f.CompressedSize64 != f.UncompressedSize64:
		return "its two sizes contradict each other"
	case f.UncompressedSize64 > ratioFrom && f.UncompressedSize64/max(f.CompressedSize64, 1) > uint64(r.limits.ratio):
		return fmt.Sprintf("it would unpack %d bytes to %d", f.CompressedSize64, f.UncompressedSize64)
	}
	return ""
}

// overlaps finds files that share their bytes: how a small zip pretends to be
// endless.
func overlaps(z *zip.Reader, size int64) []Problem {
	type extent struct {
		start, end int64
		name       string
	}
	var all []extent
	for _, f := range z.File {
		start, err := f.DataOffset()
		if err != nil {
			return []Problem{{f.Name, "its place in the file cannot be found: " + err.Error()}}
		}
		if f.CompressedSize64 > uint64(size) || start+int64(f.CompressedSize64) > size {
			return []Problem{{f.Name, "it reaches beyond the end of the zip"}}
		}
		all = append(all, extent{start, start + int64(f.CompressedSize64), f.Name})
	}
	slices.SortFunc(all, func(a, b extent) int { return cmp.Or(cmp.Compare(a.start, b.start), cmp.Compare(a.end, b.end)) })
	for i := 1; i < len(all); i++ {
		if all[i].start < all[i-1].end {
			return []Problem{{all[i].name, fmt.Sprintf("it shares bytes with %q", all[i-1].name)}}
		}
	}
	return nil
}

func (r *Reader) readManifest() error {
	text, err := r.ReadFile(manifestFile, r.limits.manifest)
	if errors.Is(err, fs.ErrNotExist) {
		return errors.New("it has no " + Root + "/" + manifestFile + ": it is no debug bundle")
	}
	if err != nil {
		return err
	}
	if err := json.Unmarshal(bytes.TrimPrefix(text, []byte("\xef\xbb\xbf")), &r.manifest); err != nil {
		return fmt.Errorf("%s: %w", manifestFile, err)
	}
	v := r.manifest.FormatVersion
	if major, err := strconv.Atoi(strings.Split(v, ".")[0]); err == nil && major > 1 {
		return fmt.Errorf("%s says format version %q: %w", manifestFile, v, &newer.Error{Version: v, Known: "1.x"})
	}
	if v != "1" && !strings.HasPrefix(v, "1.") {
		return fmt.Errorf("%s says format version %q: this program reads 1.x", manifestFile, v)
	}
	return nil
}

// Manifest is what the bundle says of itself.
func (r *Reader) Manifest() Manifest { return r.manifest }

// Files lists the files in the bundle, without the root, in order.
func (r *Reader) Files() []string {
	names := slices.Clone(r.names)
	if r.assembled() {
		names = append(names, RecordFile)
		slices.Sort(names)
	}
	return names
}

// Has says whether there is such a file.
func (r *Reader) Has(name string) bool {
	return r.files[name] != nil || name == RecordFile && r.assembled()
}

// Size is the unpacked size of a file as the zip or the manifest states it; reading gives
// exactly so much or an error. It is zero for a file that is not there.
func (r *Reader) Size(name string) int64 {
	if f := r.files[name]; f != nil {
		return int64(f.UncompressedSize64)
	}
	if name == RecordFile && r.assembled() {
		return r.recordSize()
	}
	return 0
}

// Open opens a file for reading. Reading ends with an error when size or CRC
// are not as stated.
func (r *Reader) Open(name string) (io.ReadCloser, error) {
	if name == RecordFile && r.assembled() {
		return r.openRecord()
	}
	return r.openFile(name)
}

func (r *Reader) openFile(name string) (io.ReadCloser, error) {
	f := r.files[name]
	if f == nil {
		return nil, &fs.PathError{Op: "open", Path: name, Err: fs.ErrNotExist}
	}
	in, err := f.Open()
	if err != nil {
		return nil, fmt.Errorf("%s: %w", name, err)
	}
	return &bounded{in: in, left: int64(f.UncompressedSize64), name: name}, nil
}

// ReadFile reads a whole file of at most limit bytes.
func (r *Reader) ReadFile(name string, limit int64) ([]byte, error) {
	if size := r.Size(name); size > limit {
		return nil, fmt.Errorf("%s: it is %d bytes long, more than the %d that are read", name, size, limit)
	}
	in, err := r.Open(name)
	if err != nil {
		return nil, err
	}
	text, err := io.ReadAll(in)
	return text, errors.Join(err, in.Close())
}

// Close closes the file that Open opened.
func (r *Reader) Close() error {
	if r.closer == nil {
		return nil
	}
	c := r.closer
	r.closer = nil
	return c.Close()
}

// bounded ends with an error as soon as a file gives more bytes than it
// should, and names the file.
type bounded struct {
	in   io.ReadCloser
	left int64
	name string
}

func (b *bounded) Read(p []byte) (int, error) {
	n, err := b.in.Read(p)
	if b.left -= int64(n); b.left < 0 {
		return 0, fmt.Errorf("%s: it unpacks to more than it says", b.name)
	}
	if err != nil && err != io.EOF {
		err = fmt.Errorf("%s: %w", b.name, err)
	}
	return n, err
}

func (b *bounded) Close() error { return b.in.Close() }
