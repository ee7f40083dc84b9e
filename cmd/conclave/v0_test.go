package main_test

import (
	"archive/tar"
	"bytes"
	"compress/gzip"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"runtime"
	"slices"
	"strings"
	"testing"

	"conclave/internal/sample"
)

var updateV0 = flag.Bool("update-v0", false, "write the answers in testdata/v0/expect anew: only when one is added")

const (
	v0Dir = "../../testdata/v0"
	// v0Root is where the files of testdata/v0 were written. Answers name it
	// instead of the directory that they were asked in.
	v0Root = "/srv/v0"
)

// TestV0 asks a copy of what the first version wrote and compares the answers
// with those that this version gave. Each file in testdata/v0/expect is a
// session: commands and what they said.
func TestV0(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("the answers name paths as other systems have them")
	}
	files := v0Sessions(t)
	for _, i := range sample.Pick(t, len(files), len(files)/4, len(files)/2) {
		file := files[i]
		t.Run(strings.TrimSuffix(filepath.Base(file), ".txt"), func(t *testing.T) {
			t.Parallel()
			want, err := os.ReadFile(file)
			if err != nil {
				t.Fatal(err)
			}
			got := newV0Session(t).replay(string(want))
			if *updateV0 && got != string(want) {
				err = os.WriteFile(file, []byte(got), 0o644)
			} else if got != string(want) {
				t.Errorf("%s: the answers are others now:\n%s", file, differing(string(want), got))
			}
			if err != nil {
				t.Error(err)
			}
		})
	}
}

func v0Sessions(t *testing.T) []string {
	t.Helper()
	files, err := filepath.Glob(filepath.Join(v0Dir, "expect", "*.txt"))
	if err != nil || len(files) == 0 {
		t.Fatalf("no sessions in %s (%v)", v0Dir, err)
	}
	return files
}

// v0Session is a copy of everything and what was asked and said in it.
type v0Session struct {
	t         *testing.T
	root, dir string
	said      strings.Builder
}

func newV0Session(t *testing.T) *v0Session {
	t.Helper()
	root, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	unpackV0(t, root)
	return &v0Session{t: t, root: root, dir: root}
}

// replay runs the commands of a session and returns it with the answers of now.
func (s *v0Session) replay(session string) string {
	s.t.Helper()
	for line := range strings.Lines(session) {
		if command, ok := strings.CutPrefix(line, "$ "); ok {
			s.do(strings.TrimSpace(command))
		}
	}
	return s.said.String()
}

// do runs one line: a command of conclave, or cd, cp, rm.
func (s *v0Session) do(line string) {
	s.t.Helper()
	args := splitWords(line)
	fmt.Fprintf(&s.said, "$ %s\n", line)
	var err error
	switch name, rest := args[0], args[1:]; name {
	case "conclave":
		err = s.ask(rest)
	case "cd":
		s.dir = filepath.Join(s.root, rest[0])
	case "rm":
		err = os.RemoveAll(s.path(rest[0]))
	case "cp":
		var data []byte
		if data, err = os.ReadFile(s.path(rest[0])); err == nil {
			err = os.WriteFile(s.path(rest[1]), data, 0o600)
		}
	default:
		err = errors.New("no such command in a session")
	}
	if err != nil {
		s.t.Fatalf("%s: %v", line, err)
	}
}

// keptNow is the name of a save point that a restore makes.
var keptNow = regexp.MustCompile(`before-\d{8}t\d{6}-[0-9a-f]{8}`)

func (s *v0Session) path(name string) string { return filepath.Join(s.dir, filepath.FromSlash(name)) }

func (s *v0Session) ask(args []string) error {
	cmd := exec.Command("conclave", args...)
	cmd.Dir = s.dir
	cmd.Env = []string{"TZ=UTC", "GORACE=" + os.Getenv("GORACE")}
	for _, kv := range os.Environ() {
		if name, _, _ := strings.Cut(kv, "="); slices.Contains([]string{"PATH", "TMPDIR", "GOCOVERDIR"}, name) {
			cmd.Env = append(cmd.Env, kv)
		}
	}
	for _, name := range []string{"HOME=home", "XDG_CONFIG_HOME=config", "XDG_DATA_HOME=data", "XDG_CACHE_HOME=cache"} {
		name, dir, _ := strings.Cut(name, "=")
		cmd.Env = append(cmd.Env, name+"="+filepath.Join(s.root, dir))
	}
	var stderr bytes.Buffer
	cmd.Stderr = &stderr
	out, err := cmd.Output()
	exit := (*exec.ExitError)(nil)
	if err != nil && !errors.As(err, &exit) {
		return err
	}
	said := strings.ReplaceAll(string(out)+stderr.String(), s.root, v0Root)
	s.said.WriteString(keptNow.ReplaceAllString(said, "before-STAMP"))
	if exit != nil {
		fmt.Fprintf(&s.said, "[exit %d]\n", exit.ExitCode())
	}
	return nil
}

// splitWords splits at blanks outside of single quotes.
func splitWords(line string) []string {
	var words []string
	for i, part := range strings.Split(line, "'") {
		if i%2 == 1 {
			words = append(words, part)
		} else {
			words = append(words, strings.Fields(part)...)
		}
	}
	return words
}

// movedV0 are the files whose paths move along with them. Records, archives and
// caches keep the paths of where they were made.
var movedV0 = []string{"data/conclave/trust", "ledger/.conclave/collect/"}

// unpackV0 writes the archives out, with the modes and times that git would lose.
func unpackV0(t *testing.T, root string) {
	t.Helper()
	archives, err := filepath.Glob(filepath.Join(v0Dir, "*.tar.gz"))
	if err != nil || len(archives) == 0 {
		t.Fatalf("no archives in %s (%v)", v0Dir, err)
	}
	type stamp struct {
		file string
		head *tar.Header
	}
	var dirs []stamp
	for _, file := range archives {
		eachV0File(t, file, func(h *tar.Header, data []byte) {
			to := filepath.Join(root, filepath.FromSlash(h.Name))
			if h.Typeflag == tar.TypeDir {
				dirs = append(dirs, stamp{to, h})
				if err := os.MkdirAll(to, 0o700); err != nil {
					t.Fatal(err)
				}
				return
			}
			if slices.ContainsFunc(movedV0, func(p string) bool { return strings.HasPrefix(h.Name, p) }) {
				data = bytes.ReplaceAll(data, []byte(v0Root), []byte(root))
			}
			if err := errors.Join(os.WriteFile(to, data, 0o600), stampV0(to, h)); err != nil {
				t.Fatal(err)
			}
		})
	}
	for _, d := range slices.Backward(dirs) {
		if err := stampV0(d.file, d.head); err != nil {
			t.Fatal(err)
		}
	}
}

func stampV0(file string, h *tar.Header) error {
	return errors.Join(os.Chmod(file, h.FileInfo().Mode().Perm()), os.Chtimes(file, h.ModTime, h.ModTime))
}

func eachV0File(t *testing.T, archive string, visit func(*tar.Header, []byte)) {
	t.Helper()
	f, err := os.Open(archive)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	z, err := gzip.NewReader(f)
	if err != nil {
		t.Fatalf("%s: %v", archive, err)
	}
	for r := tar.NewReader(z); ; {
		h, err := r.Next()
		if errors.Is(err, io.EOF) {
			return
		}
		var data []byte
		if err == nil {
			data, err = io.ReadAll(r)
		}
		if err != nil {
			t.Fatalf("%s: %v", archive, err)
		}
		visit(h, data)
	}
}

// differing shows the first lines that differ.
func differing(want, got string) string {
	w, g := strings.Split(want, "\n"), strings.Split(got, "\n")
	i, command := 0, ""
	for i < min(len(w), len(g)) && w[i] == g[i] {
		if strings.HasPrefix(w[i], "$ ") {
			command = w[i]
		}
		i++
	}
	return fmt.Sprintf("line %d, in %s\nwant %q\n got %q", i+1, command, first(w[i:], 4), first(g[i:], 4))
}

func first(lines []string, n int) []string { return lines[:min(n, len(lines))] }
