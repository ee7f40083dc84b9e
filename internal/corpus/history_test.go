package corpus

import (
	"bufio"
	"bytes"
	"cmp"
	"fmt"
	"hash/fnv"
	"io"
	"io/fs"
	"maps"
	"os"
	"os/exec"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"
	"unicode/utf8"
)

// A history is made for a tree that came without one: the same commits every
// time, by people who do not exist. Each directory has somebody who does most of
// it; some eighty files are changed now and then, eight of them often; two
// commits touch a fifth of everything. An early version of a file is its first
// lines, so that every version is the project's own text and the last one is the
// file as it came.
type history struct {
	project string
	owners  map[string]string // a directory's only author
	churn   map[string]int    // how often a file was changed after it came
}

// people are who works on a project: those of our own workspaces, or six.
func (h *history) people() []string {
	switch h.project {
	case "family":
		return []string{"Gareth", "Mair", "Seren", "Tomos"}
	case "manuscript":
		return []string{"Rosalind", "Idris", "Maud"}
	}
	return []string{"Amina Yusuf", "Bence Halmi", "Carys Pugh", "Dario Conti", "Edda Lund", "Femi Adeyemi"}
}

// The first commit and the last lie between these.
var (
	first = time.Date(2024, 11, 4, 9, 0, 0, 0, time.UTC)
	last  = time.Date(2026, 10, 30, 17, 0, 0, 0, time.UTC)
)

func (h *history) own(dir, who string) {
	if h.owners == nil {
		h.owners = map[string]string{}
	}
	h.owners[dir] = who
}

func (h *history) change(path string, times int) {
	if h.churn == nil {
		h.churn = map[string]int{}
	}
	h.churn[path] = times
}

// draw is a number below n that depends on the words alone.
func (h *history) draw(n int, words ...any) int {
	sum := fnv.New64a()
	fmt.Fprintln(sum, h.project, words)
	v := sum.Sum64()
	v ^= v >> 29
	v *= 0xbf58476d1ce4e5b9
	v ^= v >> 32
	return int(v % uint64(n))
}

// A tracked file has as many versions as it was changed, and one more.
type tracked struct {
	path  string
	mode  string
	data  []byte
	times int // how often it was changed
	bulk  int // in which of the two great changes it was, if any
}

// version is the file after it was changed so many times.
func (f *tracked) version(times int) []byte {
	if times >= f.times {
		return f.data
	}
	lines := bytes.SplitAfter(f.data, []byte("\n"))
	return bytes.Join(lines[:max(1, len(lines)*(times+1)/(f.times+1))], nil)
}

// A commit is what is written into the repository.
type commit struct {
	at      int // thousandths of the time between the first and the last
	who     string
	message string
	changes []change
}

type change struct {
	file  *tracked
	times int
}

func (h *history) write(t *testing.T, dir string) {
	t.Helper()
	files := h.files(t, dir)
	h.schedule(files)
	run := func(in io.Reader, args ...string) {
		t.Helper()
		cmd := exec.Command("git", args...)
		cmd.Dir, cmd.Stdin = dir, in
		cmd.Env = append(os.Environ(), "GIT_CONFIG_GLOBAL=/dev/null", "GIT_CONFIG_NOSYSTEM=1")
		if out, err := cmd.CombinedOutput(); err != nil {
			t.Fatalf("git %s: %v\n%s", strings.Join(args, " "), err, out)
		}
	}
	run(nil, "init", "-q", "-b", "main")
	r, w := io.Pipe()
	go func() { w.CloseWithError(stream(w, h.commits(files))) }()
	run(r, "-c", "pack.compression=0", "-c", "core.compression=0", "fast-import", "--quiet")
	run(nil, "reset", "-q")
}

// files reads what is tracked: what git can hold, in order.
func (h *history) files(t *testing.T, dir string) (list []*tracked) {
	t.Helper()
	err := filepath.WalkDir(dir, func(file string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		rel, err := filepath.Rel(dir, file)
		if err != nil {
			return err
		}
		f := &tracked{path: filepath.ToSlash(rel), mode: "100644"}
		if !utf8.ValidString(f.path) || strings.ContainsAny(f.path, "\"\\\n") || strings.Contains("/"+f.path, "/.git/") {
			return nil
		}
		info, err := d.Info()
		if err != nil {
			return err
		}
		switch {
		case info.Mode().IsRegular():
			f.data, err = os.ReadFile(file)
			if info.Mode()&0o100 != 0 {
				f.mode = "100755"
			}
		case info.Mode()&fs.ModeSymlink != 0:
			f.mode = "120000"
			var target string
			target, err = os.Readlink(file)
			f.data = []byte(target)
		default:
			return nil
		}
		list = append(list, f)
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return list
}

// schedule says how often each file was changed.
func (h *history) schedule(files []*tracked) {
	var some []*tracked
	for _, f := range files {
		lines := bytes.Count(f.data, []byte("\n"))
		if f.mode == "120000" || lines < 15 || lines > 4000 || bytes.IndexByte(f.data, 0) >= 0 {
			continue
		}
		some = append(some, f)
		if h.draw(5, "bulk", f.path) == 0 {
			f.times, f.bulk = 1, 1+h.draw(2, "which", f.path)
		}
	}
	some = h.ranked(some)
	for i, f := range some[:min(len(some)/3, 80)] {
		f.bulk, f.times = 0, 1+h.draw(4, "times", f.path)
		if i < 8 {
			f.times += 5 + h.draw(6, "more", f.path)
		}
	}
	for _, f := range files {
		if times, ok := h.churn[f.path]; ok {
			f.bulk, f.times = 0, times
		}
	}
}

// aside are trees that people do not work in every day.
var aside = regexp.MustCompile(`(?i)(^|/)(tests?|testdata|fixtures?|baselines?|examples?|vendor|v3|v4|locales|loc)(/|$)|\.(json|ya?ml|rst|txt|svg|xml|lock)$`)

// ranked orders files by how likely they are to be changed: every fourth is from
// the trees that lie aside.
func (h *history) ranked(files []*tracked) []*tracked {
	rank := make(map[*tracked]int, len(files))
	var daily, other []*tracked
	for _, f := range files {
		rank[f] = h.draw(1<<30, "rank", f.path)
		if aside.MatchString(f.path) {
			other = append(other, f)
		} else {
			daily = append(daily, f)
		}
	}
	for _, list := range [][]*tracked{daily, other} {
		slices.SortFunc(list, func(a, b *tracked) int {
			return cmp.Or(cmp.Compare(rank[a], rank[b]), strings.Compare(a.path, b.path))
		})
	}
	var list []*tracked
	for len(daily)+len(other) > 0 {
		n, m := min(3, len(daily)), min(1, len(other))
		list = append(append(list, daily[:n]...), other[:m]...)
		daily, other = daily[n:], other[m:]
	}
	return list
}

// author is who made a change.
func (h *history) author(file string, words ...any) string {
	for dir := path.Dir(file); ; dir = path.Dir(dir) {
		if who, ok := h.owners[dir]; ok {
			return who
		}
		if dir == "." || dir == "/" {
			break
		}
	}
	parts := strings.SplitN(path.Dir(file), "/", 3)
	if len(parts) > 2 {
		parts = parts[:2]
	}
	people := h.people()
	if h.draw(100, "alone", words) < 65 {
		return people[h.draw(len(people), "who", parts)]
	}
	return people[h.draw(len(people), "another", file, words)]
}

func (h *history) commits(files []*tracked) []commit {
	arrivals := map[string]*commit{}
	great := []commit{{}, {at: 350, who: h.people()[0], message: "Bring headers and endings into one form"},
		{at: 700, who: h.people()[2], message: "Apply the new formatter"}}
	var list []commit
	for _, f := range files {
		top, _, found := strings.Cut(f.path, "/")
		if !found {
			top = "the root"
		}
		c := arrivals[top]
		if c == nil {
			c = &commit{who: h.author(f.path, "arrival", top), message: "Add " + top}
			arrivals[top] = c
		}
		c.changes = append(c.changes, change{f, 0})
		if f.bulk > 0 {
			great[f.bulk].changes = append(great[f.bulk].changes, change{f, 1})
			continue
		}
		for i := range f.times {
			at := (i*1000+h.draw(1000, "when", f.path, i))/f.times + 1
			message := []string{"Fix an edge case in %s", "Extend %s", "Tidy %s", "Rework a part of %s"}[h.draw(4, "message", f.path, i)]
			list = append(list, commit{at: at, who: h.author(f.path, "change", f.path, i),
				message: fmt.Sprintf(message, path.Base(f.path)), changes: []change{{f, i + 1}}})
		}
	}
	for _, c := range great[1:] {
		if len(c.changes) > 0 {
			list = append(list, c)
		}
	}
	slices.SortStableFunc(list, func(a, b commit) int { return cmp.Compare(a.at, b.at) })
	for _, top := range slices.Backward(slices.Sorted(maps.Keys(arrivals))) {
		list = slices.Insert(list, 0, *arrivals[top])
	}
	return list
}

// stream writes commits as git fast-import reads them.
func stream(to io.Writer, list []commit) error {
	w := bufio.NewWriter(to)
	span := last.Sub(first) / 1000
	for i, c := range list {
		when := first.Add(time.Duration(c.at)*span + time.Duration(i)*time.Minute).Unix()
		mail := strings.ToLower(strings.ReplaceAll(c.who, " ", ".")) + "@people.example"
		fmt.Fprintln(w, "commit refs/heads/main")
		for _, role := range []string{"author", "committer"} {
			fmt.Fprintf(w, "%s %s <%s> %d +0000\n", role, c.who, mail, when)
		}
		fmt.Fprintf(w, "data %d\n%s\n", len(c.message), c.message)
		for _, ch := range c.changes {
			data := ch.file.version(ch.times)
			fmt.Fprintf(w, "M %s inline %s\ndata %d\n", ch.file.mode, ch.file.path, len(data))
			w.Write(data)
			fmt.Fprintln(w)
		}
	}
	return w.Flush()
}
