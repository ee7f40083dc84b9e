package hostile

import (
	builder "conclave/internal/program"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"
)

// Users: an ordinary one, and somebody else.
const (
	ordinary = 54321
	stranger = 54322
)

const canaryWord = "canarybird"

// stock is what is made once: the program, and for each user a plain
// workspace, the home of a person, and what lies outside.
type stock struct {
	dir, program, canary string
}

// stage is a directory in which a user runs commands in one workspace after
// the other.
type stage struct {
	*stock
	dir, ws, home, outside, marks, tmp string
	uid                                int
	trust                              []byte // the person's word about the workspace at hand
	before                             map[string]state
}

// newStock builds the program and makes what the workspaces are copied from.
func newStock(t *testing.T, users []int) *stock {
	t.Helper()
	dir, err := os.MkdirTemp(inMemory(), "hostile-")
	must(t, err)
	t.Cleanup(func() { os.RemoveAll(dir) })
	must(t, os.Chmod(dir, 0o755))
	built, err := builder.Build(installed(t))
	must(t, err)
	s := &stock{dir: dir, program: built, canary: canaryWord + "ofalongwinter"}
	for _, uid := range users {
		s.furnish(t, uid)
	}
	return s
}

// installed is where the program is: some systems run nothing in memory.
func installed(t *testing.T) string {
	t.Helper()
	dir, err := os.MkdirTemp("", "hostile-bin-")
	must(t, err)
	t.Cleanup(func() { os.RemoveAll(dir) })
	must(t, os.Chmod(dir, 0o755))
	return dir
}

// inMemory is a directory in memory, where there is room for workspaces: they
// are made by the thousand.
func inMemory() string {
	var st syscall.Statfs_t
	const shm = "/dev/shm"
	const noDevices, noPrograms = 4, 8
	if err := syscall.Statfs(shm, &st); err != nil || st.Flags&(noDevices|noPrograms) != 0 || st.Bavail*uint64(st.Bsize) < 2<<30 {
		return ""
	}
	return shm
}

// furnish makes a user's originals, with the program itself.
func (k *stock) furnish(t *testing.T, uid int) {
	t.Helper()
	s := k.at(fmt.Sprintf("original-%d", uid), uid)
	for _, dir := range []string{s.ws, s.home, s.outside, s.marks, s.tmp} {
		must(t, os.MkdirAll(dir, 0o755))
	}
	must(t, s.own())
	must(t, Plain(s.ws, func(args ...string) error {
		return errors.Join(s.own(), s.quietly(s.ws, args...))
	}))
	must(t, Furnish(s.place(), func(dir string, args ...string) error {
		return errors.Join(s.own(), s.quietly(dir, args...))
	}))
	must(t, hostileDatabase(filepath.Join(s.outside, "stock", "hostile.db")))
	must(t, os.Remove(filepath.Join(s.home, ".local", "share", "conclave", "trust.json")))
	must(t, Place{Root: s.home}.write(".ssh/id_rsa", s.canary+"\n", 0o600))
	must(t, Place{Root: s.home}.write(".claude/projects/-p/22222222-2222-4222-8222-222222222222.jsonl", sessionText("at home"), 0o600))
	must(t, s.own())
}

// at is a stage in a directory of its own.
func (k *stock) at(name string, uid int) *stage {
	dir := filepath.Join(k.dir, name)
	return &stage{stock: k, dir: dir, ws: filepath.Join(dir, "ws"), home: filepath.Join(dir, "home"), outside: filepath.Join(dir, "outside"),
		marks: filepath.Join(dir, "marks"), tmp: filepath.Join(dir, "tmp"), uid: uid}
}

func (s *stage) place() Place {
	return Place{Root: s.ws, Outside: s.outside, Marks: s.marks, Canary: s.canary, Stranger: stranger}
}

func (s *stage) environ() []string {
	return []string{"HOME=" + s.home, "TMPDIR=" + s.tmp, "PATH=" + RelativePath + "/usr/local/bin:/usr/bin:/bin", "TERM=xterm-256color",
		"LANG=C.UTF-8", "SHELL=/bin/sh",
		"USER=ada", "CANARY_API_TOKEN=" + canaryWord + "oftheenvironment",
		"STUB_KEY=a-key-that-opens-nothing", "ANTHROPIC_API_KEY=" + canaryWord + "whoisakey"}
}

// set makes a workspace, or its twin, anew, with the person's word about it.
func (s *stage) set(w Workspace, twin bool) error {
	if err := s.make(w, twin || w.Trust == Before); err != nil {
		return err
	}
	s.trust = nil
	if twin || w.Trust != Fresh {
		_, _ = s.run(filepath.Join(s.ws, w.Dir), line{}, "trust", "--yes")
		s.trust, _ = os.ReadFile(s.trustFile())
	}
	return s.again(w, twin)
}

func (s *stage) trustFile() string {
	return filepath.Join(s.home, ".local", "share", "conclave", "trust.json")
}

// again makes the workspace of the last set anew.
func (s *stage) again(w Workspace, twin bool) error {
	if err := s.make(w, twin); err != nil {
		return err
	}
	if s.trust != nil {
		if err := os.WriteFile(s.trustFile(), s.trust, 0o600); err != nil {
			return err
		}
	}
	if err := s.own(); err != nil {
		return err
	}
	s.before = s.look()
	return s.keep()
}

// keep puts a copy of the workspace aside, to mend what a command changes.
func (s *stage) keep() error {
	if err := os.RemoveAll(s.kept()); err != nil {
		return err
	}
	if exec.Command("cp", "-a", s.dir, s.kept()).Run() != nil {
		return os.RemoveAll(s.kept()) // deeper than cp can: it is made anew each time
	}
	return nil
}

func (s *stage) kept() string { return s.dir + "-kept" }

// mend undoes what a command changed, if that is a few plain files; else the
// workspace is made anew.
func (s *stage) mend(w Workspace, twin bool, changes []string) error {
	if len(changes) == 0 {
		return nil
	}
	if _, err := os.Stat(s.kept()); err != nil || len(changes) > 50 || w.Dir != "" || s.linked(changes) {
		return s.again(w, twin)
	}
	slices.Sort(changes)
	for _, path := range changes {
		kept := s.kept() + strings.TrimPrefix(path, s.dir)
		is, err := os.Lstat(kept)
		switch {
		case errors.Is(err, fs.ErrNotExist):
			err = os.RemoveAll(path)
		case err == nil && is.Mode().IsRegular() && is.Size() < 16<<20:
			err = copyBack(kept, path, is)
		case err == nil && !is.IsDir():
			return s.again(w, twin)
		case err == nil:
			if now, gone := os.Lstat(path); gone != nil || now.Mode() != is.Mode() {
				return s.again(w, twin)
			}
		}
		if err != nil {
			return err
		}
	}
	s.before = s.look()
	return errors.Join(s.forget(), s.own())
}

// linked says whether a file that changed has several names.
func (s *stage) linked(changes []string) bool {
	return slices.ContainsFunc(changes, func(path string) bool {
		info, err := os.Lstat(path)
		return inside(path, s.outside) || err == nil && !info.IsDir() && info.Sys().(*syscall.Stat_t).Nlink > 1
	})
}

// copyBack puts a file back as it was.
func copyBack(from, to string, is fs.FileInfo) error {
	if err := os.RemoveAll(to); err != nil {
		return err
	}
	if err := copyFile(from, to); err != nil {
		return err
	}
	return errors.Join(os.Chmod(to, is.Mode()), os.Chtimes(to, time.Time{}, is.ModTime()))
}

// make copies the originals and plants.
func (s *stage) make(w Workspace, twin bool) error {
	if err := s.clear(); err != nil {
		return err
	}
	original := s.at(fmt.Sprintf("original-%d", s.uid), s.uid)
	for _, name := range []string{"ws", "home", "outside"} {
		if out, err := exec.Command("cp", "-a", filepath.Join(original.dir, name), s.dir).CombinedOutput(); err != nil {
			return fmt.Errorf("copy the plain workspace: %w: %s", err, out)
		}
	}
	for _, dir := range []string{s.marks, s.tmp} {
		if err := os.MkdirAll(dir, 0o777); err != nil {
			return err
		}
		if err := os.Chmod(dir, 0o777|os.ModeSticky); err != nil {
			return err
		}
	}
	plant := w.Plant
	if twin {
		plant = w.PlantTwin
	}
	if err := plant(s.place()); err != nil {
		return err
	}
	return errors.Join(s.forget(), s.own())
}

// forget removes the marks that planting itself left.
func (s *stage) forget() error {
	found, err := filepath.Glob(filepath.Join(s.marks, "*"))
	for _, f := range found {
		err = errors.Join(err, os.Remove(f))
	}
	return err
}

// clear removes the stage, closed directories too.
func (s *stage) clear() error {
	if err := os.RemoveAll(s.dir); err != nil {
		_ = filepath.WalkDir(s.dir, func(path string, d fs.DirEntry, _ error) error {
			if d != nil && d.IsDir() {
				_ = os.Chmod(path, 0o700)
			}
			return nil
		})
		if err := os.RemoveAll(s.dir); err != nil {
			return err
		}
	}
	return os.MkdirAll(s.dir, 0o755)
}

// own gives the stage to its user, but for what is a stranger's.
func (s *stage) own() error {
	if s.uid == os.Getuid() {
		return nil
	}
	return filepath.WalkDir(s.dir, func(path string, d fs.DirEntry, err error) error {
		if errors.Is(err, syscall.ENAMETOOLONG) {
			return fs.SkipDir
		}
		if err != nil {
			return err
		}
		info, err := d.Info()
		if errors.Is(err, syscall.ENAMETOOLONG) {
			return fs.SkipDir
		}
		if err != nil {
			return err
		}
		if st := info.Sys().(*syscall.Stat_t); int(st.Uid) == stranger || int(st.Uid) == s.uid {
			return nil
		}
		return os.Lchown(path, s.uid, s.uid)
	})
}

// state is what a look at a file tells.
type state struct {
	mode fs.FileMode
	size int64
	time time.Time
	id   uint64
}

// look notes every file of the workspace, the home and the outside.
func (s *stage) look() map[string]state {
	seen := map[string]state{}
	for _, dir := range []string{s.ws, s.home, s.outside} {
		_ = filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
			if err != nil {
				return nil
			}
			if info, err := d.Info(); err == nil {
				seen[path] = state{info.Mode(), info.Size(), info.ModTime(), info.Sys().(*syscall.Stat_t).Ino}
			}
			return nil
		})
	}
	return seen
}

// changes are the files that are new or different since the workspace was made,
// and the outside ones that are gone.
func (s *stage) changes() []string {
	var list []string
	now := s.look()
	for path, is := range now {
		if was, ok := s.before[path]; !ok || was != is {
			list = append(list, path)
		}
	}
	for path := range s.before {
		if _, ok := now[path]; !ok {
			list = append(list, path)
		}
	}
	return list
}

// inside says whether a path lies in a directory.
func inside(path, dir string) bool {
	return strings.HasPrefix(path, dir+string(filepath.Separator)) || path == dir
}
