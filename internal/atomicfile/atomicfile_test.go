package atomicfile

import (
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
)

func TestWrites(t *testing.T) {
	in := func(name string, data []byte, mode fs.FileMode) error {
		root, err := os.OpenRoot(filepath.Dir(filepath.Dir(name)))
		if err != nil {
			return err
		}
		defer root.Close()
		return WriteIn(root, filepath.Base(filepath.Dir(name))+"/"+filepath.Base(name), data, mode)
	}
	fill := func(name string, data []byte, mode fs.FileMode) error {
		return Fill(name, mode, func(w io.Writer) error {
			_, err := w.Write(data)
			return err
		})
	}
	for what, write := range map[string]func(string, []byte, fs.FileMode) error{
		"Write": Write, "WriteIn": in, "Replace": Replace, "Fill": fill,
	} {
		t.Run(what, func(t *testing.T) {
			name := filepath.Join(t.TempDir(), "x.json")
			for _, text := range []string{"first", "second", ""} {
				if err := write(name, []byte(text), 0o600); err != nil {
					t.Fatal(err)
				}
				check(t, name, text)
			}
			replacesLinks(t, write)
			namesTheFile(t, write)
			if err := write(filepath.Join(t.TempDir(), strings.Repeat("n", 250)), nil, 0o600); err != nil {
				t.Errorf("a long name: %v", err)
			}
		})
	}
}

// check says that a file is there, whole, private and alone.
func check(t *testing.T, name, text string) {
	t.Helper()
	data, err := os.ReadFile(name)
	if err != nil || string(data) != text {
		t.Errorf("%q, %v; want %q", data, err, text)
	}
	info, err := os.Lstat(name)
	if err != nil || runtime.GOOS != "windows" && info.Mode() != 0o600 {
		t.Errorf("%v, %v", info, err)
	}
	if list, err := os.ReadDir(filepath.Dir(name)); err != nil || len(list) != 1 {
		t.Errorf("%v, %v", list, err)
	}
}

func replacesLinks(t *testing.T, write func(string, []byte, fs.FileMode) error) {
	t.Helper()
	dir, outside := t.TempDir(), filepath.Join(t.TempDir(), "theirs")
	if err := os.WriteFile(outside, []byte("theirs"), 0o600); err != nil {
		t.Fatal(err)
	}
	name := filepath.Join(dir, "x")
	if err := os.Symlink(outside, name); err != nil {
		t.Skip(err)
	}
	if err := write(name, []byte("ours"), 0o600); err != nil {
		t.Fatal(err)
	}
	check(t, name, "ours")
	check(t, outside, "theirs")
}

func namesTheFile(t *testing.T, write func(string, []byte, fs.FileMode) error) {
	t.Helper()
	dir := t.TempDir()
	name := filepath.Join(dir, "x")
	if err := os.MkdirAll(filepath.Join(name, "full"), 0o700); err != nil {
		t.Fatal(err)
	}
	err := write(name, []byte("y"), 0o600) // a directory stands there
	if pe := (*fs.PathError)(nil); !errors.As(err, &pe) || filepath.Base(pe.Path) != "x" || pe.Op != "write" {
		t.Errorf("%v", err)
	}
	if list, _ := os.ReadDir(dir); len(list) != 1 {
		t.Errorf("left behind: %v", list)
	}
	gone := filepath.Join(dir, "gone", "x")
	if err := write(gone, nil, 0o600); !errors.Is(err, fs.ErrNotExist) || strings.Contains(err.Error(), ".new") {
		t.Errorf("%v", err)
	}
}

func TestFillFails(t *testing.T) {
	name := filepath.Join(t.TempDir(), "x")
	if err := Write(name, []byte("old"), 0o600); err != nil {
		t.Fatal(err)
	}
	mine := errors.New("mine")
	err := Fill(name, 0o600, func(w io.Writer) error {
		_, err := io.WriteString(w, "half")
		return errors.Join(err, mine)
	})
	if !errors.Is(err, mine) || err.Error() != "mine" {
		t.Errorf("%v", err)
	}
	check(t, name, "old")
}

func TestTemporaryNames(t *testing.T) {
	root, err := os.OpenRoot(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	defer root.Close()
	for _, name := range []string{"x", ".x", "é.md", strings.Repeat("n", 255)} {
		temp, err := Stage(root, name, []byte("y"), 0o600)
		if err != nil || !IsTemp(temp) {
			t.Errorf("%q, %v", temp, err)
		}
	}
	for _, name := range []string{"x", "a.new", ".keep", ".x.new", "x.0123456789abcdef.new", ".x.0123456789ABCDEF.new"} {
		if IsTemp(name) {
			t.Errorf("%s is somebody's file", name)
		}
	}
}

func TestSyncDir(t *testing.T) {
	dir := t.TempDir()
	root, err := os.OpenRoot(dir)
	if err != nil {
		t.Fatal(err)
	}
	defer root.Close()
	if err := errors.Join(SyncDir(dir), SyncDirIn(root, ".")); err != nil {
		t.Error(err)
	}
	if runtime.GOOS == "windows" {
		return
	}
	for _, err := range []error{SyncDir(filepath.Join(dir, "x")), SyncDirIn(root, "x")} {
		if !errors.Is(err, fs.ErrNotExist) {
			t.Errorf("a directory that is not there: %v", err)
		}
	}
}
