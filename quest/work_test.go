package quest

import (
	"bytes"
	"crypto/sha256"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"
)

func project(t testing.TB) string {
	t.Helper()
	dir := t.TempDir()
	put(t, dir, map[string]string{
		"main.go": "package main\n", "src/a.go": "a", "src/deep/b.go": "bb", "src/deep/b_test.go": "ccc", "src2/x.go": "x", "docs/[1].md": "one", "docs/1.md": "1",
		"CLAUDE.md": "context", "src/AGENTS.md": "context", ".campaign/quest.md": "secret", "src/.campaign/quest.md": "old secret", ".conclave/records/1": "r",
		".git/config": "g", "sub/.git": "gitdir: x", "sub/ok.txt": "ok", ".env": "KEY=1", ".claude/settings.json": "{}", "campaigns/x/story-state.md": "s", "empty/none.txt": "",
		"name\nwith newline.txt": "n", "conclave.yaml": "y",
	})
	return dir
}

func paths(w *Work) []string {
	var out []string
	for _, f := range w.Files {
		out = append(out, f.Path)
	}
	return out
}

func TestWorkNames(t *testing.T) {
	dir := project(t)
	for _, c := range []struct {
		names []string
		want  []string
	}{
		{[]string{"src"}, []string{"src/a.go", "src/deep/b.go", "src/deep/b_test.go"}},
		{[]string{"src/"}, []string{"src/a.go", "src/deep/b.go", "src/deep/b_test.go"}},
		{[]string{"./src/../src/a.go", "src/a.go"}, []string{"src/a.go"}},
		{[]string{filepath.Join(dir, "src", "a.go")}, []string{"src/a.go"}},
		{[]string{"src/*.go"}, []string{"src/a.go"}},
		{[]string{"**/*.go"}, []string{"main.go", "src/a.go", "src/deep/b.go", "src/deep/b_test.go", "src2/x.go"}},
		{[]string{"src/**"}, []string{"src/a.go", "src/deep/b.go", "src/deep/b_test.go"}},
		{[]string{"src?/x.go"}, []string{"src2/x.go"}},
		{[]string{"docs/[1].md"}, []string{"docs/[1].md"}}, // a name that exists is no glob
		{[]string{"docs/[0-9].md"}, []string{"docs/1.md"}},
		{[]string{"docs/[!a].md"}, []string{"docs/1.md"}},
		{[]string{"CLAUDE.md"}, []string{"CLAUDE.md"}},
		{[]string{".claude/settings.json"}, []string{".claude/settings.json"}},
		{[]string{"campaigns"}, []string{"campaigns/x/story-state.md"}},
		{[]string{"sub"}, []string{"sub/ok.txt"}},
		{[]string{"name\nwith newline.txt"}, []string{"name\nwith newline.txt"}},
		{[]string{"."}, []string{"docs/1.md", "docs/[1].md", "empty/none.txt", "main.go", "name\nwith newline.txt", "src/a.go", "src/deep/b.go", "src/deep/b_test.go", "src2/x.go", "sub/ok.txt"}},
	} {
		w, err := OpenWork(dir, c.names)
		if err != nil {
			t.Errorf("%q: %v", c.names, err)
			continue
		}
		if got := paths(w); !slices.Equal(got, c.want) {
			t.Errorf("%q names %q, want %q", c.names, got, c.want)
		}
		for _, f := range w.Files {
			var b bytes.Buffer
			if err := w.Copy(f, &b); err != nil || fmt.Sprintf("%x", sha256.Sum256(b.Bytes())) != f.SHA256 || int64(b.Len()) != f.Size {
				t.Errorf("copy %s: %v", f.Path, err)
			}
		}
		w.Close()
	}
}

func TestWorkLeavesOutWithReasons(t *testing.T) {
	w, err := OpenWork(project(t), []string{"."})
	if err != nil {
		t.Fatal(err)
	}
	defer w.Close()
	got := map[string]string{}
	for _, l := range w.LeftOut {
		got[l.Path] = l.Reason
	}
	for _, p := range []string{"CLAUDE.md", "src/AGENTS.md", ".campaign", "src/.campaign", ".conclave", ".git", "sub/.git", ".env", ".claude", "campaigns", "conclave.yaml"} {
		if got[p] == "" {
			t.Errorf("%s is not listed as left out", p)
		}
	}
	if len(got) != 11 || w.Summary() != "10 files, 27 bytes, 11 left out" {
		t.Errorf("left out %v; %s", got, w.Summary())
	}
}

func TestWorkRefusals(t *testing.T) {
	dir := project(t)
	put(t, filepath.Dir(dir), map[string]string{"outside.txt": "o"})
	for link, target := range map[string]string{
		"link-out": "../outside.txt", "link-abs": "/etc/passwd", "src2/up": "../main.go", "src2/secret": "../.campaign/quest.md", "way": ".campaign", "round": "round", "nowhere": "missing", "srclink": "src",
	} {
		if err := os.Symlink(target, filepath.Join(dir, link)); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.Link(filepath.Join(dir, ".campaign/quest.md"), filepath.Join(dir, "docs/hard.md")); err != nil {
		t.Fatal(err)
	}
	before := snapshot(t, dir)
	for _, c := range []struct {
		names []string
		want  string
	}{
		{nil, "no work was named"},
		{[]string{""}, "not a path"},
		{[]string{"a\x00b"}, "not a path"},
		{[]string{"missing.go"}, "there is no such file or directory"},
		{[]string{"*.rs"}, "it matches nothing"},
		{[]string{"x[a.go"}, "no plain set"},
		{[]string{".."}, "outside the workspace"},
		{[]string{"../outside.txt"}, "outside the workspace"},
		{[]string{"src/../../outside.txt"}, "outside the workspace"},
		{[]string{filepath.Dir(dir)}, "outside the workspace"},
		{[]string{dir + "2/x"}, "outside the workspace"},
		{[]string{"/etc/passwd"}, "outside the workspace"},
		{[]string{".campaign"}, "the campaign's own files never go in"},
		{[]string{".CAMPAIGN/quest.md"}, "the campaign's own files never go in"},
		{[]string{"src/.campaign/quest.md"}, "the campaign's own files never go in"},
		{[]string{".git/config"}, ".git holds old versions"},
		{[]string{".conclave"}, "engine files never go in"},
		{[]string{".env"}, "keys and logins go in only if you grant them by name"},
		{[]string{"way/quest.md"}, "goes through a link"},
		{[]string{"srclink/a.go"}, "goes through a link"},
		{[]string{"link-out"}, "leaves the workspace"},
		{[]string{"link-abs"}, "absolute path"},
		{[]string{"srclink"}, "leaves the named work"},
		{[]string{"round"}, "round in circles"},
		{[]string{"nowhere"}, "leads nowhere"},
		{[]string{"src2"}, `"src2/secret": a link that leaves the named work`},
		{[]string{"src2"}, `"src2/up": a link that leaves the named work`},
		{[]string{"docs"}, `another name of ".campaign/quest.md"`},
		{[]string{"empty"}, "the named work is empty"},
		{[]string{"src", "missing.go"}, "missing.go"},
	} {
		w, err := OpenWork(dir, c.names)
		var we *WorkError
		if !errors.As(err, &we) || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%q: %v, want %q", c.names, err, c.want)
		}
		if w != nil {
			t.Errorf("%q: refused and yet %v", c.names, paths(w))
			w.Close()
		}
	}
	if snapshot(t, dir) != before {
		t.Error("naming work changed the workspace")
	}
}

func TestWorkLimits(t *testing.T) {
	dir := project(t)
	if _, err := openWork(dir, []string{"src"}, workLimits{2, usualWork.bytes}, nil, asNamed); err == nil || !strings.Contains(err.Error(), "more than 2 files") {
		t.Errorf("3 files of 2: %v", err)
	}
	if _, err := openWork(dir, []string{"src"}, workLimits{usualWork.files, 5}, nil, asNamed); err == nil || !strings.Contains(err.Error(), "the limit is 5") {
		t.Errorf("6 bytes of 5: %v", err)
	}
	// Two gigabytes are refused by their size, unread.
	f, err := os.Create(filepath.Join(dir, "huge.bin"))
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	if err := f.Truncate(2 << 30); err != nil {
		t.Fatal(err)
	}
	if _, err := OpenWork(dir, []string{"huge.bin"}); err == nil || !strings.Contains(err.Error(), "2147483648 bytes and more, the limit is 268435456") {
		t.Errorf("2 GB: %v", err)
	}
}

func TestWorkFollowsLinksInsideIt(t *testing.T) {
	dir := project(t)
	for link, target := range map[string]string{"src/same": "deep/b.go", "src/round-the-corner": "../src/a.go", "src/dir": "deep", "src/campaign": ".campaign/quest.md"} {
		if err := os.Symlink(target, filepath.Join(dir, link)); err != nil {
			t.Fatal(err)
		}
	}
	w, err := OpenWork(dir, []string{"src"})
	if err != nil {
		t.Fatal(err)
	}
	defer w.Close()
	if got, want := paths(w), []string{"src/a.go", "src/deep/b.go", "src/deep/b_test.go", "src/round-the-corner", "src/same"}; !slices.Equal(got, want) {
		t.Errorf("files %q, want %q", got, want)
	}
	var b bytes.Buffer
	if err := w.Copy(w.Files[4], &b); err != nil || b.String() != "bb" {
		t.Errorf("the link's copy is %q, %v", b.String(), err)
	}
}

func TestCopyNoticesChanges(t *testing.T) {
	dir := project(t)
	w, err := OpenWork(dir, []string{"src/a.go", "main.go"})
	if err != nil {
		t.Fatal(err)
	}
	defer w.Close()
	put(t, dir, map[string]string{"src/a.go": "b"})
	var b bytes.Buffer
	if err := w.Copy(w.Files[1], &b); !errors.Is(err, errChanged) {
		t.Errorf("a changed file was copied: %v", err)
	}
	os.Remove(filepath.Join(dir, "main.go"))
	if err := os.Symlink(".campaign/quest.md", filepath.Join(dir, "main.go")); err != nil {
		t.Fatal(err)
	}
	if err := w.Copy(w.Files[0], &b); !errors.Is(err, errChanged) {
		t.Errorf("a file that became a link was copied: %v", err)
	}
}

// However a path is spelt, nothing of the campaign, the engine or .git is ever
// listed, and nothing outside the workspace.
func TestNoSpellingReachesSecrets(t *testing.T) {
	dir := project(t)
	if runtime.GOOS != "windows" {
		if err := os.Symlink(".campaign", filepath.Join(dir, "way")); err != nil {
			t.Fatal(err)
		}
	}
	rapid.Check(t, func(t *rapid.T) {
		segment := rapid.SampledFrom([]string{"src", "..", ".", ".campaign", ".CAMPAIGN", ".git", ".conclave", "way", "quest.md", "*", "**", "", "deep", "\u200b", "a.go", "?campaign", ".campaig[n]"})
		name := strings.Join(rapid.SliceOfN(segment, 1, 5).Draw(t, "segments"), "/")
		w, err := OpenWork(dir, []string{name})
		if err != nil {
			return
		}
		defer w.Close()
		for _, f := range w.Files {
			if (&collector{root: w.root}).refusal(f.Path) != "" || strings.HasPrefix(f.Path, "way") {
				t.Fatalf("%q lists %q", name, f.Path)
			}
		}
	})
}

// Keys and logins in named work stay outside, under any name, and are listed as
// such; one that the person granted by name goes in, and only that one.
func TestWorkWithholdsCredentials(t *testing.T) {
	dir := t.TempDir()
	put(t, dir, map[string]string{"a.go": "package a\n", ".env": "KEY=1\n", ".aws/config": "x\n", ".aws/credentials": "y\n",
		"tls/ca.pem": "-----BEGIN CERTIFICATE-----\n", "tls/key.pem": "-----BEGIN RSA PRIVATE KEY-----\n", ".env.example": "KEY=\n"})
	if runtime.GOOS != "windows" {
		if err := errors.Join(os.Symlink(".env", filepath.Join(dir, "soft")), os.Link(filepath.Join(dir, ".env"), filepath.Join(dir, "hard"))); err != nil {
			t.Fatal(err)
		}
	}
	for granted, want := range map[string]string{
		"":            ".env.example a.go tls/ca.pem",
		".aws/config": ".aws/config .env.example a.go tls/ca.pem",
		"tls/key.pem": ".env.example a.go tls/ca.pem tls/key.pem",
	} {
		w, err := OpenWork(dir, []string{"."}, granted)
		if err != nil {
			t.Fatal(err)
		}
		if got := strings.Join(paths(w), " "); got != want {
			t.Errorf("granted %q: %q", granted, got)
		}
		stamps := strings.Join(w.Stamps(), "\n")
		for _, name := range []string{".env", "tls/key.pem"} {
			if name != granted && !strings.Contains(stamps, "withheld from the work: "+name+":") || name == granted && !strings.Contains(stamps, GrantedStamp(name)) {
				t.Errorf("granted %q, nothing about %s: %s", granted, name, stamps)
			}
		}
		w.Close()
	}
}
