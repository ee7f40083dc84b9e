package room

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"golang.org/x/sys/unix"

	"conclave/agent"
)

const (
	secret = "the-dragon-sleeps-at-noon"
	key    = "-----BEGIN PRIVATE KEY-----\n" + secret
)

// guard withholds by name and by content, as the real rule does.
func guard(rel string, _ bool, open func() (io.ReadCloser, error)) string {
	switch name := path.Base(rel); {
	case strings.HasPrefix(name, ".env"), name == ".netrc", name == ".git", name == ".campaign":
		return "is private by its name"
	case path.Ext(name) == ".pem":
		f, err := open()
		if err != nil {
			return "cannot be read"
		}
		defer f.Close()
		if b, err := io.ReadAll(f); err != nil || bytes.Contains(b, []byte("PRIVATE KEY")) {
			return "holds a private key"
		}
	}
	return ""
}

// secrets makes a workspace whose every withheld file holds the secret.
func secrets(t testing.TB) string {
	t.Helper()
	dir := t.TempDir()
	for _, at := range []string{".env", "app/.env", "app/deep/.env", ".campaign/quest.md", ".campaign/old/quest.md"} {
		write(t, secret, dir, at)
	}
	for _, at := range []string{"README.md", "app/main.go", "cert.pem", "other/x.md"} {
		write(t, "visible", dir, at)
	}
	return dir
}

// prowler reads every file of the workspace again and again until a file named
// stop is there. It says what it saw of the secret.
const prowler = `cd workspace; echo up
while ! [ -e stop ]; do
	grep -rsh ` + secret + ` . && echo "SEEN by looking"
	for f in .env app/.env app/deep/.env .netrc new/.env app/config.txt .campaign/quest.md .campaign; do
		[ -e $f ] && echo "SEEN $f by name"
	done
done
echo done`

// prowl starts the prowler, and returns when it is about.
func prowl(t *testing.T, r *Room) agent.Process {
	t.Helper()
	p, err := r.Launch(t.Context(), shell(prowler))
	fine(t, err)
	t.Cleanup(func() { _ = stopNow(p) })
	up := make([]byte, 3)
	if _, err := io.ReadFull(p.Stdout(), up); err != nil || string(up) != "up\n" {
		t.Fatalf("%q %v", up, err)
	}
	return p
}

func fine(t testing.TB, errs ...error) {
	t.Helper()
	if err := errors.Join(errs...); err != nil {
		t.Fatal(err)
	}
}

// replace puts a file in another's place, as editors do, from elsewhere.
func replace(t testing.TB, content string, elem ...string) {
	t.Helper()
	from := filepath.Join(t.TempDir(), "new")
	fine(t, os.WriteFile(from, []byte(content), 0o644), os.Rename(from, filepath.Join(elem...)))
}

func git(t testing.TB, dir string, args ...string) {
	t.Helper()
	cmd := exec.Command("git", append([]string{"-C", dir, "-c", "user.name=a", "-c", "user.email=a@example.org"}, args...)...)
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("git %v: %v %s", args, err, out)
	}
}

// What is withheld stays absent whatever becomes of the file behind the name: a
// mount over it would fall off when it is replaced by renaming (W4, issue H).
func TestWithheldStaysAbsent(t *testing.T) {
	dir := secrets(t)
	git(t, dir, "init", "-q", "-b", "one")
	git(t, dir, "add", "-A")
	git(t, dir, "commit", "-qm", "one")
	git(t, dir, "checkout", "-qb", "two")
	write(t, secret+" another", dir, "app", ".env")
	git(t, dir, "commit", "-qam", "two")
	r := open(t, Plan{Workspace: &View{Source: dir, Withheld: guard, Absent: []string{".netrc", "shown"}}})
	p := prowl(t, r)
	for i := range 20 {
		again := fmt.Sprintf("%s %d", secret, i)
		replace(t, again, dir, ".env")
		replace(t, again, dir, "app", "deep", ".env")
		git(t, dir, "checkout", "-q", "one")
		git(t, dir, "checkout", "-q", "two")
		fine(t, os.Remove(filepath.Join(dir, ".env")), os.WriteFile(filepath.Join(dir, ".env"), []byte(again), 0o644))
		fine(t, os.WriteFile(filepath.Join(dir, ".netrc"), []byte(again), 0o644), os.Remove(filepath.Join(dir, ".netrc")))
		fine(t, os.RemoveAll(filepath.Join(dir, ".campaign")))
		write(t, again, dir, ".campaign", "quest.md")
		replace(t, fmt.Sprint("visible ", i), dir, "README.md")
	}
	write(t, "", dir, "stop")
	if out, err := io.ReadAll(p.Stdout()); err != nil || string(out) != "done\n" {
		t.Errorf("%v %q", err, out)
	}
	<-p.Done()
	if err := p.Err(); err != nil {
		t.Error(err)
	}
}

// What comes into view ends the seat, which says what it was.
func TestWhatComesIntoViewEndsTheRoom(t *testing.T) {
	at := func(dir, name string) string { return filepath.Join(dir, filepath.FromSlash(name)) }
	for _, c := range []struct {
		name  string
		names string // what the error names
		do    func(dir, away string) error
	}{
		{"create", "other/.env", func(dir, _ string) error { return os.WriteFile(at(dir, "other/.env"), []byte(secret), 0o644) }},
		{"rename into place", "other/.env", func(dir, away string) error {
			return errors.Join(os.WriteFile(at(away, "x"), []byte(secret), 0o644), os.Rename(at(away, "x"), at(dir, "other/.env")))
		}},
		{"replace from a name in view", "app/tmp", func(dir, _ string) error {
			return errors.Join(os.WriteFile(at(dir, "app/tmp"), []byte(secret), 0o644), os.Rename(at(dir, "app/tmp"), at(dir, "app/.env")))
		}},
		{"replace from a name that is withheld", "app/.env.tmp", func(dir, _ string) error {
			return errors.Join(os.WriteFile(at(dir, "app/.env.tmp"), []byte(secret), 0o644), os.Rename(at(dir, "app/.env.tmp"), at(dir, "app/.env")))
		}},
		{"rename out of its place", "app/config.txt", func(dir, _ string) error { return os.Rename(at(dir, ".env"), at(dir, "app/config.txt")) }},
		{"rename out of a withheld directory", "q.md", func(dir, _ string) error { return os.Rename(at(dir, ".campaign/old/quest.md"), at(dir, "q.md")) }},
		{"rename a withheld directory", "shown", func(dir, _ string) error { return os.Rename(at(dir, ".campaign"), at(dir, "shown")) }},
		{"rename a directory", "moved/.env", func(dir, _ string) error { return os.Rename(at(dir, "app"), at(dir, "moved")) }},
		{"move a directory in", "came/a/b/.env", func(dir, away string) error {
			return errors.Join(os.MkdirAll(at(away, "d/a/b"), 0o755), os.WriteFile(at(away, "d/a/b/.env"), []byte(secret), 0o644), os.Rename(at(away, "d"), at(dir, "came")))
		}},
		{"make a directory", "other/.git", func(dir, _ string) error { return os.Mkdir(at(dir, "other/.git"), 0o755) }},
		{"deep in new directories", "n/e/w/.env", func(dir, _ string) error {
			return errors.Join(os.MkdirAll(at(dir, "n/e/w"), 0o755), os.WriteFile(at(dir, "n/e/w/.env"), []byte(secret), 0o644))
		}},
		{"hard link", "app/config.txt", func(dir, _ string) error { return os.Link(at(dir, ".env"), at(dir, "app/config.txt")) }},
		{"hard link into a withheld directory", "q.md", func(dir, _ string) error { return os.Link(at(dir, ".campaign/quest.md"), at(dir, "q.md")) }},
		{"content", "cert.pem", func(dir, _ string) error { return os.WriteFile(at(dir, "cert.pem"), []byte(key), 0o644) }},
		{"content through another name", "cert.pem", func(dir, away string) error {
			return errors.Join(os.Link(at(dir, "cert.pem"), at(away, "other")), os.WriteFile(at(away, "other"), []byte(key), 0o644))
		}},
		{"content of a new file", "other/new.pem", func(dir, _ string) error { return os.WriteFile(at(dir, "other/new.pem"), []byte(key), 0o644) }},
		{"content by renaming", "cert.pem", func(dir, away string) error {
			return errors.Join(os.WriteFile(at(away, "x"), []byte(key), 0o644), os.Rename(at(away, "x"), at(dir, "cert.pem")))
		}},
	} {
		t.Run(c.name, func(t *testing.T) {
			dir := secrets(t)
			r := open(t, Plan{Workspace: &View{Source: dir, Withheld: guard}})
			p := prowl(t, r)
			away := filepath.Join(filepath.Dir(dir), "away")
			fine(t, os.MkdirAll(away, 0o755), c.do(dir, away))
			_, _ = io.Copy(io.Discard, p.Stdout())
			<-p.Done()
			if err := p.Err(); !errors.Is(err, ErrExposed) || !strings.Contains(err.Error(), c.names+" came into") {
				t.Errorf("%v", err)
			}
			if _, err := r.Launch(t.Context(), shell("true")); !errors.Is(err, ErrExposed) {
				t.Errorf("and then another starts: %v", err)
			}
		})
	}
}

// What is as innocent as before is seen as it is now.
func TestViewIsFresh(t *testing.T) {
	dir := secrets(t)
	r := open(t, Plan{Workspace: &View{Source: dir, Withheld: guard}})
	p, err := r.Launch(t.Context(), shell(`cd workspace; while read -r f; do cat "$f"; ls -A "${f%/*}" | tr '\n' ' '; echo; done`))
	if err != nil {
		t.Fatal(err)
	}
	defer stopNow(p)
	ask := func(f, want string) {
		t.Helper()
		var got string
		eventually(t, want, func() bool {
			if _, err := io.WriteString(p.Stdin(), f+"\n"); err != nil {
				t.Fatal(err)
			}
			b := make([]byte, 4096)
			n, err := p.Stdout().Read(b)
			if err != nil {
				t.Fatal(err)
			}
			got = string(b[:n])
			return strings.Contains(got, want)
		})
	}
	ask("./app/main.go", "visible")
	replace(t, "edited", dir, "app", "main.go")
	ask("./app/main.go", "edited")
	ask("./other/x.md", "visible")
	replace(t, "edited", dir, "other", "x.md")
	ask("./other/x.md", "edited")
	fine(t, os.Rename(filepath.Join(dir, "other"), filepath.Join(dir, "moved")))
	write(t, "again", dir, "other", "x.md")
	ask("./other/x.md", "again")
	ask("./moved/x.md", "edited")
}

// Between the survey and the program nothing is missed.
func TestExposedBeforeTheStart(t *testing.T) {
	dir := secrets(t)
	r := open(t, Plan{Workspace: &View{Source: dir, Withheld: guard}})
	write(t, secret, dir, "other", ".env")
	if _, err := r.Launch(t.Context(), shell("cat workspace/other/.env")); !errors.Is(err, ErrExposed) || !strings.Contains(err.Error(), "other/.env") {
		t.Error(err)
	}
}

// A watch that no longer knows ends the room, and says which setting to raise.
func TestWatchThatDoesNotKnow(t *testing.T) {
	dir := secrets(t)
	r := open(t, Plan{Workspace: &View{Source: dir, Withheld: guard}})
	r.watch.turn.Lock()
	r.watch.handle(event{mask: unix.IN_Q_OVERFLOW})
	r.watch.turn.Unlock()
	if _, err := r.Launch(t.Context(), shell("true")); !errors.Is(err, ErrExposed) || !strings.Contains(err.Error(), "fs.inotify.max_queued_events") {
		t.Error(err)
	}
	for err, want := range map[error]string{unix.ENOSPC: "sysctl fs.x", unix.EMFILE: "sysctl fs.x", unix.EACCES: ""} {
		if got := raise(err, "fs.x"); !strings.Contains(got, want) || want == "" && got != "" {
			t.Errorf("%v: %q", err, got)
		}
	}
}

// Where there is no overlay the names are covered, and when a cover falls off
// the room ends.
func TestCoveredView(t *testing.T) {
	dir := secrets(t)
	r := open(t, Plan{Workspace: &View{Source: dir, Withheld: guard}})
	r.covered = true
	p, err := r.Launch(t.Context(), shell(`cd workspace; grep -rsh `+secret+` .; cat app/main.go; echo; cat`))
	if err != nil {
		t.Fatal(err)
	}
	defer stopNow(p)
	b := make([]byte, 8)
	if _, err := io.ReadFull(p.Stdout(), b); err != nil || string(b) != "visible\n" {
		t.Fatalf("%q %v", b, err)
	}
	if gaps := r.Enforcement().Gaps; !slices.ContainsFunc(gaps, func(g string) bool { return strings.Contains(g, "the project holds mounts") }) {
		t.Errorf("%q", gaps)
	}
	replace(t, secret, dir, "app", ".env")
	<-p.Done()
	if err := p.Err(); !errors.Is(err, ErrExposed) || !strings.Contains(err.Error(), "app/.env") {
		t.Error(err)
	}
}

// A project made under umask 077 reads in the room as it does for its owner,
// and is no more writable for that.
func TestViewOfAPrivateProject(t *testing.T) {
	for _, owner := range []int{os.Getuid(), 54322} {
		if owner != os.Getuid() && os.Getuid() != 0 {
			continue // an ordinary user has projects of its own alone
		}
		dir := secrets(t)
		fine(t, filepath.WalkDir(dir, func(p string, d os.DirEntry, err error) error {
			mode := os.FileMode(0o600)
			if err == nil && d.IsDir() {
				mode = 0o700
			}
			return errors.Join(err, os.Chmod(p, mode), os.Lchown(p, owner, owner))
		}))
		r := open(t, Plan{Workspace: &View{Source: dir, Withheld: guard}})
		res := sh(t, r, `cd workspace; cat app/main.go README.md; ls -A app; stat -c %u README.md; cat .env
			for try in 'touch app/new' 'touch -d 2001-01-01 README.md' 'chmod 666 README.md' 'rm README.md' 'mv README.md x' 'truncate -s0 README.md' 'ln README.md y'; do $try && echo "$try"; done`)
		if res.out != "visiblevisibledeep\nmain.go\n1000\n" {
			t.Errorf("%d: %q %q", owner, res.out, res.errs)
		}
	}
}

// A name need not be text, a directory need not be readable to have names in
// it, and a symbolic link is absent with what it leads to.
func TestOddNames(t *testing.T) {
	dir := secrets(t)
	odd := "caf\xe9 ,:\\\n%s"
	write(t, secret, dir, odd, ".env")
	write(t, "visible", dir, odd, "x")
	write(t, secret, dir, "shut", ".env")
	write(t, "visible", dir, "linked.txt")
	fine(t, os.Symlink("../linked.txt", filepath.Join(dir, "other", ".env")), os.Symlink("../.env", filepath.Join(dir, "other", "to-env")), os.Chmod(filepath.Join(dir, "shut"), 0o311))
	t.Cleanup(func() { _ = os.Chmod(filepath.Join(dir, "shut"), 0o755) })
	r := open(t, Plan{Workspace: &View{Source: dir, Withheld: guard}})
	res := sh(t, r, `cd workspace; grep -rsh `+secret+` .; cat shut/.env other/to-env other/.env linked.txt; cat caf*/x; ls -A caf* other`)
	if !strings.HasPrefix(res.out, "visiblecaf") && !strings.HasPrefix(res.out, "visible") || strings.Contains(res.out, secret) || strings.Contains(res.out, ".env\n") {
		t.Errorf("%q %q", res.out, res.errs)
	}
}
