package workspace

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"strings"
	"testing"
)

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

func write(t *testing.T, file, text string) {
	t.Helper()
	must(t, os.MkdirAll(filepath.Dir(file), 0o755))
	must(t, os.WriteFile(file, []byte(text), 0o644))
}

func open(t *testing.T, dir string) *os.Root {
	t.Helper()
	root, err := os.OpenRoot(dir)
	must(t, err)
	t.Cleanup(func() { root.Close() })
	return root
}

// TestNoPartOfAPathIsALink: a link at every component of a path, to inside and
// to outside, by a relative and by an absolute name, is refused by its name.
func TestNoPartOfAPathIsALink(t *testing.T) {
	const name = "a/b/c/file.md"
	parts := strings.Split(name, "/")
	for i := range parts {
		for _, kind := range []string{"inside", "outside", "absolute inside"} {
			dir := t.TempDir()
			inside, outside := filepath.Join(dir, "in"), filepath.Join(dir, "out")
			for _, base := range []string{filepath.Join(inside, "twin"), outside} {
				write(t, filepath.Join(base, filepath.FromSlash(name)), "secret")
			}
			linked := path.Join(parts[:i+1]...)
			target := filepath.Join(inside, "twin", filepath.FromSlash(linked))
			switch kind {
			case "outside":
				target = filepath.Join(outside, filepath.FromSlash(linked))
			case "inside":
				target = strings.Repeat("../", i) + "twin/" + linked
			}
			at := filepath.Join(inside, filepath.FromSlash(linked))
			must(t, os.MkdirAll(filepath.Dir(at), 0o755))
			must(t, os.Symlink(target, at))
			root := open(t, inside)
			data, err := ReadFile(root, name, 100)
			refused := (*Refused)(nil)
			if !errors.As(err, &refused) || refused.name != linked || len(data) > 0 {
				t.Errorf("%s is a link to the %s: %q, %v", linked, kind, data, err)
			}
			if i < len(parts)-1 {
				if _, err := ReadDir(root, path.Dir(name)); !errors.As(err, &refused) {
					t.Errorf("the list behind %s: %v", linked, err)
				}
			}
		}
	}
}

func TestWhatIsReadIsWholeAndBounded(t *testing.T) {
	dir := t.TempDir()
	root := open(t, dir)
	write(t, filepath.Join(dir, "a", "ten"), "0123456789")
	if data, err := ReadFile(root, "a/ten", 10); err != nil || string(data) != "0123456789" {
		t.Errorf("%q, %v", data, err)
	}
	big := (*SizeError)(nil)
	if data, err := ReadFile(root, "a/ten", 9); !errors.As(err, &big) || len(data) > 0 || !strings.Contains(err.Error(), "a/ten: 10 bytes, at most 9") {
		t.Errorf("%q, %v", data, err)
	}
	huge, err := os.Create(filepath.Join(dir, "huge"))
	must(t, err)
	must(t, errors.Join(huge.Truncate(1<<40), huge.Close()))
	if _, err := ReadFile(root, "huge", MaxFile); !errors.As(err, &big) {
		t.Errorf("a terabyte: %v", err)
	}
	for _, name := range []string{"../x", "/etc/passwd", "a//ten", "a/../a/ten", "", "a/ten/"} {
		if _, err := ReadFile(root, name, 10); err == nil || errors.Is(err, fs.ErrNotExist) {
			t.Errorf("ReadFile(%q) = %v", name, err)
		}
	}
	for _, name := range []string{"none", "none/none", "a/none"} {
		if _, err := ReadFile(root, name, 10); !errors.Is(err, fs.ErrNotExist) {
			t.Errorf("ReadFile(%q) = %v", name, err)
		}
	}
	if _, err := ReadFile(root, "a", 10); err == nil {
		t.Error("a directory was read")
	}
	if _, err := ReadFile(root, "a/ten/x", 10); err == nil {
		t.Error("a file is a directory")
	}
}

// TestTheBytesThatWereJudgedAreUsed: a Dir hands out what it read first, and
// says of what was not there then that it is not there.
func TestTheBytesThatWereJudgedAreUsed(t *testing.T) {
	dir := t.TempDir()
	write(t, filepath.Join(dir, "conclave.yaml"), "judged")
	d, err := Open(dir)
	must(t, err)
	defer d.Close()
	for range 2 {
		data, err := d.Read("conclave.yaml", 100)
		if err != nil || string(data) != "judged" {
			t.Fatalf("%q, %v", data, err)
		}
		if _, err := d.Read("later", 100); !errors.Is(err, fs.ErrNotExist) {
			t.Fatal(err)
		}
		must(t, os.Remove(filepath.Join(dir, "conclave.yaml")))
		write(t, filepath.Join(dir, "conclave.yaml"), "replaced")
		write(t, filepath.Join(dir, "later"), "put there")
	}
}

func TestFilesNamesWhatItDoesNotOpen(t *testing.T) {
	dir := t.TempDir()
	write(t, filepath.Join(dir, "packs", "one", "cat.md"), "cat")
	write(t, filepath.Join(dir, "packs", "one", "notes.txt"), "whatever it ends with")
	write(t, filepath.Join(dir, "packs", "one", "big.md"), strings.Repeat("x", 1000))
	must(t, os.Symlink("cat.md", filepath.Join(dir, "packs", "one", "link.md")))
	must(t, os.Symlink("one", filepath.Join(dir, "packs", "two")))
	d, err := Open(dir)
	must(t, err)
	defer d.Close()
	var got []string
	for _, f := range d.Files("packs", 100) {
		got = append(got, fmt.Sprintf("%s %s %v", f.Name, f.Text, f.Err != nil))
	}
	want := []string{"packs/one/big.md  true", "packs/one/cat.md cat false", "packs/one/link.md  true", "packs/one/notes.txt whatever it ends with false", "packs/two  true"}
	if strings.Join(got, "\n") != strings.Join(want, "\n") {
		t.Errorf("got\n%s\nwant\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
	}
	if files := d.Files("none", 100); len(files) > 0 {
		t.Errorf("a directory that is not there: %v", files)
	}
	deep := filepath.Join(append([]string{dir, "deep"}, strings.Split(strings.Repeat("d", 40), "")...)...)
	must(t, os.MkdirAll(deep, 0o755))
	if files := d.Files("deep", 100); len(files) != 1 || files[0].Err == nil {
		t.Errorf("a bottomless directory: %v", files)
	}
}

// TestOurOwnPlacesAreWhatTheySeem (W14, W15, W17): each is refused as a link and
// as the other kind, with its name, by Find and by Open.
func TestOurOwnPlacesAreWhatTheySeem(t *testing.T) {
	for _, m := range marks {
		for _, how := range []string{"link", "kind", "nothing"} {
			dir, target := t.TempDir(), t.TempDir()
			at := filepath.Join(dir, m.name)
			switch {
			case how == "link" && m.dir:
				must(t, os.Symlink(target, at))
			case how == "link":
				must(t, os.Symlink("/dev/zero", at))
			case how == "kind" && m.dir:
				write(t, at, "")
			case how == "kind":
				must(t, os.Mkdir(at, 0o755))
			default:
				must(t, os.Symlink("nowhere", at))
			}
			refused := (*Refused)(nil)
			if _, err := Find(dir, nil, ""); !errors.As(err, &refused) || refused.name != at {
				t.Errorf("%s, %s: %v", m.name, how, err)
			}
			if _, err := Open(dir); !errors.As(err, &refused) {
				t.Errorf("%s, %s: %v", m.name, how, err)
			}
		}
	}
	for _, name := range []string{"records", "records/x.record", "engine/quest.db", "tables/a/saves/b"} {
		dir := t.TempDir()
		at := filepath.Join(dir, ".conclave", filepath.FromSlash(name))
		must(t, os.MkdirAll(filepath.Dir(at), 0o700))
		must(t, os.Symlink(t.TempDir(), at))
		if err := Check(dir); err == nil || !strings.Contains(err.Error(), at+": a link") {
			t.Errorf("%s: %v", name, err)
		}
	}
}

func TestFindWalksUp(t *testing.T) {
	dir := t.TempDir()
	below := filepath.Join(dir, "a", "b")
	must(t, os.MkdirAll(below, 0o755))
	if root, err := Find(below, nil, ""); err != nil || root != below {
		t.Errorf("without a workspace: %q, %v", root, err)
	}
	must(t, os.Mkdir(filepath.Join(dir, ".conclave"), 0o755))
	if root, err := Find(below, nil, ""); err != nil || root != below {
		t.Errorf("the engine's directory alone makes no workspace: %q, %v", root, err)
	}
	must(t, os.Mkdir(filepath.Join(dir, ".campaign"), 0o755))
	if root, err := Find(below, nil, ""); err != nil || root != dir {
		t.Errorf("%q, %v", root, err)
	}
}

// TestNamedFiles: a link that the person names is followed, but for one in a
// workspace that leads out of it.
func TestNamedFiles(t *testing.T) {
	dir := t.TempDir()
	write(t, filepath.Join(dir, "out", "secret"), "secret")
	write(t, filepath.Join(dir, "in", "conclave.yaml"), "")
	write(t, filepath.Join(dir, "in", "plan.md"), "plan")
	for name, target := range map[string]string{"in/leak": "../out/secret", "in/again": "plan.md", "in/away": "../out", "mine": "out/secret", "door": "in"} {
		must(t, os.Symlink(filepath.FromSlash(target), filepath.Join(dir, filepath.FromSlash(name))))
	}
	for name, want := range map[string]string{
		"in/leak": "", "in/away/secret": "", "in/again": "plan", "in/plan.md": "plan", "mine": "secret", "out/secret": "secret", "door/plan.md": "plan",
	} {
		data, err := ReadNamed(filepath.Join(dir, filepath.FromSlash(name)), 100)
		if string(data) != want || (err == nil) != (want != "") {
			t.Errorf("%s is %q, %v; want %q", name, data, err, want)
		}
	}
}
