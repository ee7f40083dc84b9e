package profile

import (
	"archive/tar"
	"archive/zip"
	"bytes"
	"compress/gzip"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"path"
	"slices"
	"strings"
)

// entry is one member of an archive.
type entry struct {
	name string
	mode fs.FileMode
	open func() (io.ReadCloser, error)
}

// unpacker collects the files of an archive and stops at the first thing that
// no honest archive has. Nothing is ever written to a disk.
type unpacker struct {
	f      *files
	seen   map[string]string // lower-case name to name
	tops   map[string]bool   // top-level directories; "" for files without one
	total  int64
	count  int
	byPath map[string][]byte
}

func readArchive(where string, data []byte) *files {
	u := &unpacker{
		f:    &files{name: archiveName(where), where: where, inside: "!/", data: map[string][]byte{}},
		seen: map[string]string{}, tops: map[string]bool{}, byPath: map[string][]byte{},
	}
	walk := walkTar
	if strings.HasSuffix(strings.ToLower(where), ".zip") {
		walk = walkZip
	}
	err := walk(data, u.add)
	if err != nil && !errors.Is(err, errStop) {
		u.f.fault(where, "archive-broken", fmt.Sprintf("the archive cannot be read: %v", err), "pack it again")
	}
	if len(u.f.faults) == 0 {
		u.finish()
	}
	return u.f
}

// errStop ends a walk after a fault was noted.
var errStop = errors.New("stop")

func walkZip(data []byte, add func(entry) error) error {
	r, err := zip.NewReader(bytes.NewReader(data), int64(len(data)))
	if err != nil && !errors.Is(err, zip.ErrInsecurePath) { // names are judged by add
		return err
	}
	for _, f := range r.File {
		if err := add(entry{f.Name, f.Mode(), f.Open}); err != nil {
			return err
		}
	}
	return nil
}

func walkTar(data []byte, add func(entry) error) error {
	gz, err := gzip.NewReader(bytes.NewReader(data))
	if err != nil {
		return err
	}
	// Headers and padding count too: a bomb need not be in a file's data.
	tr := tar.NewReader(&cappedReader{r: gz, left: 2 * maxUnpacked})
	for {
		h, err := tr.Next()
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil && !errors.Is(err, tar.ErrInsecurePath) {
			return err
		}
		mode := h.FileInfo().Mode()
		switch h.Typeflag {
		case tar.TypeReg, tar.TypeDir:
		case tar.TypeXGlobalHeader:
			continue // git archive writes one
		default:
			mode |= fs.ModeIrregular
			if h.Typeflag == tar.TypeLink || h.Typeflag == tar.TypeSymlink {
				mode |= fs.ModeSymlink
			}
		}
		open := func() (io.ReadCloser, error) { return io.NopCloser(tr), nil }
		if err := add(entry{h.Name, mode, open}); err != nil {
			return err
		}
	}
}

type cappedReader struct {
	r    io.Reader
	left int64
}

func (c *cappedReader) Read(p []byte) (int, error) {
	if c.left <= 0 {
		return 0, errTooBig
	}
	n, err := c.r.Read(p[:min(int64(len(p)), c.left)])
	c.left -= int64(n)
	return n, err
}

func (u *unpacker) stop(rule, message, fix string) error {
	u.f.fault(u.f.where, rule, message, fix)
	return errStop
}

func (u *unpacker) add(e entry) error {
	u.count++
	clean := path.Clean(strings.TrimSuffix(e.name, "/"))
	switch {
	case u.count > maxEntries:
		return u.stop("archive-count", fmt.Sprintf("the archive holds more than %d entries", maxEntries), "pack only the pack's own directory")
	case escapes(e.name):
		return u.stop("archive-escape", fmt.Sprintf("entry %q leads out of the archive", e.name),
			"pack the directory itself, with plain relative names")
	case e.mode&fs.ModeSymlink != 0:
		return u.stop("archive-link", fmt.Sprintf("entry %q is a link", e.name), "pack the file itself")
	case e.mode.IsDir():
		return nil
	case !e.mode.IsRegular():
		return u.stop("archive-special", fmt.Sprintf("entry %q is not a plain file", e.name), "pack plain files only")
	case isLitter(clean):
		return nil
	}
	if first, ok := u.seen[strings.ToLower(clean)]; ok {
		return u.stop("archive-duplicate", fmt.Sprintf("entries %q and %q are one file on many disks", first, e.name), "keep one")
	}
	u.seen[strings.ToLower(clean)] = e.name
	return u.take(clean, e)
}

func (u *unpacker) take(name string, e entry) error {
	r, err := e.open()
	if err != nil {
		return err
	}
	defer r.Close()
	data, err := readAtMost(r, maxFile)
	if errors.Is(err, errTooBig) {
		return u.stop("archive-size", fmt.Sprintf("entry %q is longer than %d bytes", e.name, maxFile), "a pack is nine short texts")
	}
	if err != nil {
		return err
	}
	u.total += int64(len(data))
	if u.total > maxUnpacked {
		return u.stop("archive-size", fmt.Sprintf("the archive unpacks to more than %d bytes", maxUnpacked), "a pack is nine short texts")
	}
	top, _, nested := strings.Cut(name, "/")
	if !nested {
		top = ""
	}
	u.tops[top] = true
	u.byPath[name] = data
	return nil
}

// finish finds the pack in the archive: one directory, or the files themselves.
func (u *unpacker) finish() {
	top := ""
	if len(u.tops) == 1 {
		for name := range u.tops {
			top = name
		}
	}
	if top != "" {
		u.f.name = top
	} else if len(u.tops) > 1 {
		u.f.fault(u.f.where, "archive-shape", "the archive holds more than one directory", "pack one pack: its directory, or its nine files")
		return
	}
	for name, data := range u.byPath {
		rest := strings.TrimPrefix(name, top+"/")
		if top == "" {
			rest = name
		}
		if !strings.Contains(rest, "/") && strings.EqualFold(path.Ext(rest), ".md") {
			u.f.data[rest] = data
		}
	}
	if top != "" {
		u.f.inside = "!/" + top + "/"
	}
}

// escapes reports a name that could leave the directory it is unpacked to, on
// any system.
func escapes(name string) bool {
	return name == "" || strings.HasPrefix(name, "/") || strings.ContainsAny(name, "\\:\x00") ||
		slices.Contains(strings.Split(name, "/"), "..")
}

// isLitter is what file managers put beside the files without being asked.
func isLitter(name string) bool {
	base := path.Base(name)
	return strings.HasPrefix(name, "__MACOSX/") || strings.HasPrefix(base, ".")
}
