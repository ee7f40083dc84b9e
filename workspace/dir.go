package workspace

import (
	"errors"
	"io/fs"
	"os"
	"path"
	"sync"
)

// Dir is a workspace held open. It may be used by several goroutines.
type Dir struct {
	root *os.Root

	mu   sync.Mutex
	read map[string]content
}

type content struct {
	data []byte
	err  error
}

// Open opens a workspace that was found or named.
func Open(root string) (*Dir, error) {
	if err := Check(root); err != nil {
		return nil, err
	}
	held, err := os.OpenRoot(root)
	if err != nil {
		return nil, err
	}
	return &Dir{root: held, read: map[string]content{}}, nil
}

// Close releases the directory. What was read stays.
func (d *Dir) Close() error { return d.root.Close() }

// Read returns a file's bytes as they were when they were first asked for. A
// file that was not there then is never there.
func (d *Dir) Read(name string, most int64) ([]byte, error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	c, ok := d.read[name]
	if !ok {
		c.data, c.err = ReadFile(d.root, name, most)
		d.read[name] = c
	}
	return c.data, c.err
}

// File is something found below a directory: its text, or why it has none.
type File struct {
	Name string
	Text []byte
	Err  error
}

// The most that Files reads of one directory.
const (
	mostFiles = 2_000
	mostBytes = 32 << 20
	mostDepth = 8
)

// Files reads everything below a directory, each file once, whatever its name
// ends with. What is not opened is in the list with the reason; a directory that
// is not there is empty.
func (d *Dir) Files(dir string, most int64) []File {
	var out []File
	d.walk(dir, most, 0, &out)
	return out
}

func (d *Dir) walk(dir string, most int64, depth int, out *[]File) {
	entries, err := ReadDir(d.root, dir)
	if err != nil {
		if !isMissing(err) {
			*out = append(*out, File{Name: dir, Err: err})
		}
		return
	}
	for _, e := range entries {
		name := path.Join(dir, e.Name())
		switch {
		case len(*out) >= mostFiles || depth >= mostDepth || bytesOf(*out) >= mostBytes:
			*out = append(*out, File{Name: name, Err: &Refused{name, "more or deeper files than anybody can look at; move them away"}})
			return
		case e.IsDir():
			d.walk(name, most, depth+1, out)
		default:
			text, err := d.Read(name, most)
			*out = append(*out, File{name, text, err})
		}
	}
}

func bytesOf(files []File) (n int) {
	for _, f := range files {
		n += len(f.Text)
	}
	return n
}

func isMissing(err error) bool { return errors.Is(err, fs.ErrNotExist) }
