package plugin

import (
	"encoding/json"
	"errors"
	"io/fs"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// odd is a path with everything that a shell and JSON take for a sign.
const odd = `/opt/a b'c "d" $HOME \x &;é/conclave`

func files(t *testing.T, program string) map[string][]byte {
	t.Helper()
	made, err := Files("v1.2.3", program)
	if err != nil {
		t.Fatal(err)
	}
	return made
}

// TestHooksStartThisProgram: a shell makes the very path of each hook's command,
// and every event has its command.
func TestHooksStartThisProgram(t *testing.T) {
	var hooks struct {
		Description string
		Hooks       map[string][]struct {
			Hooks []struct {
				Type, Command string
				Timeout       int
			}
		}
	}
	if err := json.Unmarshal(files(t, odd)["conclave/hooks/hooks.json"], &hooks); err != nil {
		t.Fatal(err)
	}
	found := map[string][]string{}
	for event, groups := range hooks.Hooks {
		for _, h := range groups[0].Hooks {
			out, err := exec.CommandContext(t.Context(), "/bin/sh", "-c", "printf '%s\n' "+h.Command).Output()
			words := strings.Split(string(out), "\n")
			if err != nil || h.Type != "command" || h.Timeout <= 0 || len(words) < 3 || words[0] != odd || words[1] != "hook" {
				t.Errorf("%s: %q is %q to a shell, %v", event, h.Command, words, err)
			}
			found[event] = append(found[event], words[2])
		}
	}
	if !maps.EqualFunc(found, Events, slices.Equal) {
		t.Errorf("the hooks are %v, want %v", found, Events)
	}
	for _, bad := range []string{"conclave", "/a\nb", ""} {
		if _, err := Files("1.0.0", bad); err == nil {
			t.Errorf("a program at %q was taken", bad)
		}
	}
}

// TestWords: every skill says what it is for, under the name of its directory; each
// file of JSON is one.
func TestWords(t *testing.T) {
	head := regexp.MustCompile(`^---\nname: ([a-z]+)\ndescription: (.{60,400})\n---\n\n# `)
	skills := 0
	for name, text := range files(t, odd) {
		switch {
		case strings.HasSuffix(name, ".json"):
			if !json.Valid(text) {
				t.Errorf("%s is no JSON:\n%s", name, text)
			}
		case strings.HasSuffix(name, "/SKILL.md"):
			skills++
			m := head.FindSubmatch(text)
			if m == nil || string(m[1]) != filepath.Base(filepath.Dir(name)) {
				t.Errorf("%s begins with\n%.200s", name, text)
			}
		case name != "conclave/README.md":
			t.Errorf("what is %s?", name)
		}
	}
	if skills < 18 {
		t.Errorf("there are %d skills", skills)
	}
	for version, want := range map[string]string{"v1.2.3": "1.2.3", "0.1.0-dev": "0.1.0-dev", "": "0.0.0",
		"devel": "0.0.0-devel", "v1": "0.0.0-1", "1.2.3-4-gabc (dirty)": "0.0.0-1.2.3-4-gabc-dirty"} {
		if got := plain(version); got != want {
			t.Errorf("version %q is %q, want %q", version, got, want)
		}
	}
}

// treeOf is everything below a directory.
func treeOf(t *testing.T, dir string) map[string]string {
	t.Helper()
	found := map[string]string{}
	err := filepath.WalkDir(dir, func(name string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			found[name] = "a directory"
			return err
		}
		text, err := os.ReadFile(name)
		found[name] = string(text)
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return found
}

func write(t *testing.T, dir string, made map[string][]byte) []string {
	t.Helper()
	l, err := Read(dir)
	if err != nil {
		t.Fatal(err)
	}
	var written []string
	err = l.Locked(func() (err error) {
		written, err = l.Write(made)
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return written
}

func remove(t *testing.T, dir string) []string {
	t.Helper()
	l, err := Read(dir)
	if err != nil {
		t.Fatal(err)
	}
	var changed []string
	if err := l.Locked(func() (err error) { changed, err = l.Remove(); return err }); err != nil {
		t.Fatal(err)
	}
	return changed
}

// TestNothingOfOursStays: what was written goes, byte for byte, also what an
// earlier version wrote; what is somebody else's stays.
func TestNothingOfOursStays(t *testing.T) {
	home := t.TempDir()
	mine := filepath.Join(home, "data", "other")
	if err := errors.Join(os.MkdirAll(mine, 0o755), os.WriteFile(filepath.Join(mine, "x"), []byte("x"), 0o600)); err != nil {
		t.Fatal(err)
	}
	before, dir := treeOf(t, home), filepath.Join(home, "data", "conclave", "plugin")
	old := map[string][]byte{"conclave/skills/gone/SKILL.md": []byte("old"), "conclave/README.md": []byte("older")}
	write(t, dir, old)
	made := files(t, odd)
	if n := len(write(t, dir, made)); n != len(made) {
		t.Errorf("%d of %d files were written", n, len(made))
	}
	if _, err := os.Stat(filepath.Join(dir, "market", "conclave", "skills", "gone", "SKILL.md")); err == nil {
		t.Error("a skill that is no more is still there")
	}
	if again := write(t, dir, made); len(again) > 0 {
		t.Errorf("writing again wrote %v", again)
	}
	if changed := remove(t, dir); len(changed) > 0 {
		t.Errorf("somebody has changed %v", changed)
	}
	if after := treeOf(t, home); !maps.Equal(before, after) {
		t.Errorf("before %v\nafter %v", slices.Sorted(maps.Keys(before)), slices.Sorted(maps.Keys(after)))
	}
	if changed := remove(t, dir); len(changed) > 0 || !maps.Equal(before, treeOf(t, home)) {
		t.Error("taking away what is not there did something")
	}
}

// TestWhatIsNotOursStays: a file that was there is not written over, and one that
// somebody changed is not removed.
func TestWhatIsNotOursStays(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "plugin")
	made := files(t, odd)
	write(t, dir, made)
	edited := filepath.Join(dir, "market", "conclave", "skills", "cat", "SKILL.md")
	own := filepath.Join(dir, "market", "conclave", "own.md")
	if err := errors.Join(os.WriteFile(edited, []byte("mine"), 0o600), os.WriteFile(own, []byte("own"), 0o600)); err != nil {
		t.Fatal(err)
	}
	if changed := remove(t, dir); !slices.Equal(changed, []string{edited}) {
		t.Errorf("%v is said to be changed", changed)
	}
	var left []string
	for name, text := range treeOf(t, dir) {
		if text != "a directory" {
			left = append(left, name)
		}
	}
	if slices.Sort(left); !slices.Equal(left, []string{own, edited}) {
		t.Errorf("%v stayed", left)
	}
	l, err := Read(dir)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := l.Write(made); err == nil || !strings.Contains(err.Error(), edited) {
		t.Errorf("a file of somebody else's was written over: %v", err)
	}
}

// TestCutWriting: whatever was written before it was cut is taken away.
func TestCutWriting(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "plugin")
	made := files(t, odd)
	l, err := Read(dir)
	if err != nil {
		t.Fatal(err)
	}
	for name, text := range made {
		l.Files[name] = digest(text)
	}
	if err := l.Keep(); err != nil {
		t.Fatal(err)
	}
	one := filepath.Join(dir, "market", "conclave", "README.md")
	if err := errors.Join(os.MkdirAll(filepath.Dir(one), 0o700), os.WriteFile(one, made["conclave/README.md"], 0o600)); err != nil {
		t.Fatal(err)
	}
	remove(t, dir)
	if _, err := os.Stat(one); err == nil {
		t.Error("a part of the plugin stayed")
	}
	for _, bad := range []string{`{"format":2}`, `{"format":1,"files":{"../../x":"y"}}`, `{`} {
		if err := errors.Join(os.MkdirAll(dir, 0o700), os.WriteFile(l.file(), []byte(bad), 0o600)); err != nil {
			t.Fatal(err)
		}
		if _, err := Read(dir); err == nil || !strings.Contains(err.Error(), l.file()) {
			t.Errorf("the list %s was taken: %v", bad, err)
		}
	}
}

// TestLeft: what is new is named once, without what is below it but for what has our name.
func TestLeft(t *testing.T) {
	before := Snapshot{"/h": "", "/h/s.json": "1", "/h/p": ""}
	now := Snapshot{"/h": "", "/h/s.json": "2", "/h/p": "", "/h/p/cache": "", "/h/p/cache/conclave": "", "/h/p/cache/x": "", "/k": ""}
	fresh, changed := before.Left(now)
	if !slices.Equal(fresh, []string{"/h/p/cache", "/h/p/cache/conclave", "/k"}) || !slices.Equal(changed, []string{"/h/s.json"}) {
		t.Errorf("new %v, changed %v", fresh, changed)
	}
}
