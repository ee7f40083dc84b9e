//go:build unix

package workspace

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
)

// A file that comes and goes is there or not there: nobody is told that it has
// other names because it had none for a moment.
func TestOpenWhatComesAndGoes(t *testing.T) {
	dir := t.TempDir()
	root, err := os.OpenRoot(dir)
	if err != nil {
		t.Fatal(err)
	}
	defer root.Close()
	done := make(chan error)
	go func() {
		var err error
		for range 3000 {
			name := filepath.Join(dir, "notes")
			err = errors.Join(err, os.WriteFile(name, []byte("x"), 0o600), os.Remove(name))
		}
		done <- err
	}()
	for {
		select {
		case err := <-done:
			if err != nil {
				t.Error(err)
			}
			return
		default:
		}
		f, _, err := OpenIn(root, "notes", os.O_RDONLY, fs.FileMode.IsRegular)
		if err == nil {
			f.Close()
		} else if !errors.Is(err, fs.ErrNotExist) {
			t.Fatalf("%v (%#v)", err, err)
		}
	}
}

// TestFIFOsDevicesAndSocketsAreNotOpened (W17, W18): none waits, none is read.
func TestFIFOsDevicesAndSocketsAreNotOpened(t *testing.T) {
	dir := t.TempDir()
	root := open(t, dir)
	must(t, syscall.Mkfifo(filepath.Join(dir, "fifo"), 0o600))
	must(t, os.Symlink("/dev/zero", filepath.Join(dir, "zero")))
	for _, name := range []string{"fifo", "zero"} {
		refused := (*Refused)(nil)
		if _, err := ReadFile(root, name, 100); !errors.As(err, &refused) || refused.name != name {
			t.Errorf("ReadFile(%s) = %v", name, err)
		}
		if _, err := ReadNamed(filepath.Join(dir, name), 100); !errors.As(err, &refused) {
			t.Errorf("ReadNamed(%s) = %v", name, err)
		}
	}
	if _, err := ReadFile(open(t, "/dev"), "null", 100); err == nil || !strings.Contains(err.Error(), "device") {
		t.Errorf("a device: %v", err)
	}
	must(t, os.MkdirAll(filepath.Join(dir, ".conclave", "records"), 0o700))
	must(t, syscall.Mkfifo(filepath.Join(dir, ".conclave", "records", "x.record"), 0o600))
	if err := Check(dir); err == nil || !strings.Contains(err.Error(), "x.record: a FIFO") {
		t.Errorf("a FIFO among the records: %v", err)
	}
}

// TestCheckAndSockets: a socket of the person's own beside a lock is let be, and no
// other: not elsewhere, not under another name, not somebody else's, not what only
// leads to one.
func TestCheckAndSockets(t *testing.T) {
	socket := func(name string) { must(t, syscall.Mknod(name, syscall.S_IFSOCK|0o600, 0)) }
	for _, x := range []struct {
		what, at string
		plant    func(name string)
		refused  string
	}{
		{"our own", "locks/table-ash.sock", socket, ""},
		{"without its ending", "locks/table-ash", socket, "a socket, not a regular file"},
		{"elsewhere", "records/table-ash.sock", socket, "a socket, not a regular file"},
		{"below the locks", "locks/deep/table-ash.sock", socket, "a socket, not a regular file"},
		{"a link to one", "locks/table-ash.sock", func(name string) {
			to := filepath.Join(t.TempDir(), "s")
			socket(to)
			must(t, os.Symlink(to, name))
		}, "a link"},
		{"a FIFO", "locks/table-ash.sock", func(name string) { must(t, syscall.Mkfifo(name, 0o600)) }, "a FIFO"},
		{"somebody else's", "locks/table-ash.sock", func(name string) {
			socket(name)
			if os.Getuid() == 0 {
				must(t, os.Lchown(name, 4711, 4711))
			}
		}, "a socket, not a regular file"},
	} {
		if x.what == "somebody else's" && os.Getuid() != 0 {
			continue // only root can make it
		}
		dir := t.TempDir()
		name := filepath.Join(dir, ".conclave", filepath.FromSlash(x.at))
		must(t, os.MkdirAll(filepath.Dir(name), 0o700))
		x.plant(name)
		err := Check(dir)
		if x.refused == "" && err != nil || x.refused != "" && (err == nil || !strings.Contains(err.Error(), x.refused)) {
			t.Errorf("%s: %v", x.what, err)
		}
	}
}

// TestAFileThatIsExchanged: whatever takes turns at a name while it is read, a
// reader gets the file that stood there, or an error; never what a link leads to.
func TestAFileThatIsExchanged(t *testing.T) {
	dir := t.TempDir()
	inside := filepath.Join(dir, "in")
	write(t, filepath.Join(dir, "out", "file"), "secret")
	write(t, filepath.Join(inside, "real", "file"), "plain")
	at := func(name string) string { return filepath.Join(inside, name) }
	must(t, os.Symlink("../out", at("link")))
	must(t, os.Symlink("../out/file", at("f.link")))
	must(t, os.Rename(at("real"), at("d")))
	write(t, at("f"), "plain")
	root := open(t, inside)
	stop, done := make(chan struct{}), make(chan struct{})
	go func() {
		defer close(done)
		for {
			select {
			case <-stop:
				return
			default:
			}
			for _, move := range [][2]string{
				{"d", "hold"}, {"link", "d"}, {"d", "link"}, {"hold", "d"},
				{"f", "f.hold"}, {"f.link", "f"}, {"f", "f.link"}, {"f.hold", "f"},
			} {
				_ = os.Rename(at(move[0]), at(move[1]))
			}
		}
	}()
	read, refused := 0, 0
	for range 2000 {
		for _, name := range []string{"d/file", "f"} {
			data, err := ReadFile(root, name, 100)
			switch {
			case err != nil:
				refused++
			case string(data) == "plain":
				read++
			default:
				t.Fatalf("%s led to %q", name, data)
			}
		}
	}
	close(stop)
	<-done
	if read == 0 || refused == 0 {
		t.Errorf("read %d times, refused %d times: the test shows nothing", read, refused)
	}
}

// TestSomebodyElsesWorkspace (W1): a root, or a mark at it, of another owner is
// not adopted by walking up, from the directory itself or from below, by root or
// by anybody; naming it adopts it, and the refusal prints the line.
func TestSomebodyElsesWorkspace(t *testing.T) {
	defer func() { euid = os.Geteuid }()
	dir := t.TempDir()
	below := filepath.Join(dir, "mine")
	must(t, os.Mkdir(below, 0o755))
	for _, me := range []int{0, 1000} {
		euid = func() int { return me + os.Getuid() + 1 } // never the owner
		for _, m := range marks {
			if err := os.RemoveAll(filepath.Join(dir, m.name)); err != nil {
				t.Fatal(err)
			}
		}
		if root, err := Find(below, nil, ""); err != nil || root != below {
			t.Errorf("a directory without anything of ours: %q, %v", root, err)
		}
		write(t, filepath.Join(dir, "conclave.yaml"), "")
		for _, from := range []string{dir, below} {
			_, err := Find(from, nil, "/home/me/config.yaml")
			foreign := (*ForeignError)(nil)
			if !errors.As(err, &foreign) || foreign.root != dir {
				t.Fatalf("from %s: %v", from, err)
			}
			for _, want := range []string{`--root "` + dir + `"`, "in /home/me/config.yaml:\n  workspaces: [\"" + dir + `"]`} {
				if !strings.Contains(err.Error(), want) {
					t.Errorf("the refusal does not say %q:\n%v", want, err)
				}
			}
			if root, err := Find(from, []string{dir}, ""); err != nil || root != dir {
				t.Errorf("named: %q, %v", root, err)
			}
		}
	}
}

// TestHardLinksAreNotOpened: another name of a file that lies elsewhere shows
// nothing of it, as a link would not (W3).
func TestHardLinksAreNotOpened(t *testing.T) {
	dir, elsewhere := t.TempDir(), t.TempDir()
	root := open(t, dir)
	write(t, filepath.Join(elsewhere, "key"), "secret")
	must(t, os.Link(filepath.Join(elsewhere, "key"), filepath.Join(dir, "cat.md")))
	refused := (*Refused)(nil)
	if data, err := ReadFile(root, "cat.md", 100); !errors.As(err, &refused) {
		t.Errorf("ReadFile = %q, %v", data, err)
	}
	must(t, os.Remove(filepath.Join(elsewhere, "key")))
	if data, err := ReadFile(root, "cat.md", 100); string(data) != "secret" || err != nil {
		t.Errorf("with one name only: %q, %v", data, err)
	}
}
