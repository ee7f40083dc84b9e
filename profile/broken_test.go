package profile

import (
	"archive/tar"
	"archive/zip"
	"bytes"
	"compress/gzip"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"conclave/internal/sample"
)

// goodPack is a small faultless pack, every line of which is known:
// 1 --- / 2 archetype / 3 skin-name / 4 theme / 5 emoji / 6 --- / 8 concept / 12 voice.
func goodPack() map[string]string {
	skins := map[string]string{"bear": "The Whale", "cat": "The Moray", "owl": "The Tide", "puppy": "The Dolphin", "rabbit": "The Crab", "wolf": "The Shoal",
		"gandalf": "The Lighthouse", "guardian": "The Harbour Master", "dragon": "The Kraken"}
	pack := map[string]string{}
	for id, skin := range skins {
		a, _ := Lookup(id)
		pack[id+".md"] = fmt.Sprintf("---\narchetype: %s\nskin-name: %q\ntheme: \"Deep Sea\"\nemoji: \"%s\"\n---\n\n## Character Concept\n\n%s of the deep, at home with %s.\n\n## Tone and Voice\n\nSpeaks like the sea in %s weather.\n",
			id, skin, a.emoji, skin, strings.SplitN(a.Core, ",", 2)[0], id)
	}
	return pack
}

// broken is one fault: how to make it, and what must be said about it.
type broken struct {
	name       string
	file       string // of the faulty profile, or what the archive is called
	old, new   string // edit of that file; old "" replaces it, new "" with old "" removes it
	also       map[string]string
	archive    func(pack map[string]string) []byte
	line       int
	rule       string
	in         string // file of the fault, if it is not the edited one
	reasonWord string
}

const header = "---\narchetype: cat\nskin-name: \"The Moray\"\ntheme: \"Deep Sea\"\nemoji: \"🐱\"\n---\n"

func brokenProfiles() []broken {
	return []broken{
		{name: "no front matter", file: "cat.md", old: header, new: "Hello.\n", line: 1, rule: "front-matter-missing", reasonWord: "no front matter"},
		{name: "front matter never closes", file: "cat.md", old: "emoji: \"🐱\"\n---", new: "emoji: \"🐱\"", line: 1, rule: "front-matter", reasonWord: "never closes"},
		{name: "not YAML", file: "cat.md", old: `theme: "Deep Sea"`, new: `theme: "Deep Sea`, line: 4, rule: "front-matter", reasonWord: "not YAML"},
		{name: "key twice", file: "cat.md", old: "emoji:", new: "skin-name: x\nemoji:", line: 5, rule: "front-matter", reasonWord: "second time"},
		{name: "alias bomb", file: "cat.md", old: `theme: "Deep Sea"`, new: "theme: &a [x]\nx: [*a, *a]", line: 4, rule: "front-matter", reasonWord: "anchor"},
		{name: "huge scalar", file: "cat.md", old: `"Deep Sea"`, new: `"` + strings.Repeat("x", 9000) + `"`, line: 4, rule: "front-matter", reasonWord: "9000 bytes"},
		{name: "deep nesting", file: "cat.md", old: "emoji:", new: "x: " + strings.Repeat("[", 20) + strings.Repeat("]", 20) + "\nemoji:", line: 5, rule: "front-matter", reasonWord: "levels"},
		{name: "control character", file: "cat.md", old: "The Moray", new: "The\x01Moray", line: 3, rule: "front-matter", reasonWord: "U+0001"},
		{name: "not UTF-8", file: "cat.md", old: "## Tone", new: "## To\xffne", line: 12, rule: "profile-encoding", reasonWord: "UTF-8"},
		{name: "too long", file: "cat.md", old: "of the deep", new: strings.Repeat("deep ", 30000), line: 1, rule: "profile-size", reasonWord: "too long"},
		{name: "a list for a name", file: "cat.md", old: `"The Moray"`, new: "[The, Moray]", line: 3, rule: "key-type", reasonWord: "skin-name"},
		{name: "archetype missing", file: "cat.md", old: "archetype: cat\n", new: "", line: 1, rule: "archetype-missing", reasonWord: "missing"},
		{name: "archetype unknown", file: "cat.md", old: "archetype: cat", new: "archetype: lynx", line: 2, rule: "archetype-unknown", reasonWord: "lynx"},
		{name: "archetype not the file's", file: "cat.md", old: "archetype: cat", new: "archetype: owl", line: 2, rule: "archetype-file", reasonWord: "cat.md"},
		{name: "archetype said twice", file: "cat.md", old: "emoji:", new: "animal: owl\nemoji:", line: 5, rule: "archetype-twice", reasonWord: "owl"},
		{name: "skin name missing", file: "cat.md", old: "skin-name: \"The Moray\"\n", new: "", line: 1, rule: "skin-name-missing", reasonWord: "missing"},
		{name: "skin name empty", file: "cat.md", old: `"The Moray"`, new: `""`, line: 3, rule: "skin-name-missing", reasonWord: "empty"},
		{name: "skin name is a path", file: "cat.md", old: "The Moray", new: "../../../etc/passwd", line: 3, rule: "skin-name-character", reasonWord: `'/'`},
		{name: "skin name is a Windows path", file: "cat.md", old: `"The Moray"`, new: `'C\Moray'`, line: 3, rule: "skin-name-character", reasonWord: `'\\'`},
		{name: "skin name has a line break", file: "cat.md", old: "The Moray", new: `The\nMoray`, line: 3, rule: "skin-name-line-break", reasonWord: "line break"},
		{name: "skin name has a paragraph separator", file: "cat.md", old: "The Moray", new: `The\u2029Moray`, line: 3, rule: "skin-name-line-break", reasonWord: "line break"},
		{name: "skin name forges a speaker tag", file: "cat.md", old: "The Moray", new: "Moray:** yes **User", line: 3, rule: "skin-name-character", reasonWord: "speaker tags"},
		{name: "skin name turns the text round", file: "cat.md", old: "The Moray", new: `The \u202eyaroM`, line: 3, rule: "skin-name-control", reasonWord: "U+202E"},
		{name: "skin name too long", file: "cat.md", old: "The Moray", new: strings.Repeat("M", 65), line: 3, rule: "skin-name-length", reasonWord: "65"},
		{name: "skin name hidden", file: "cat.md", old: "The Moray", new: ".Moray", line: 3, rule: "skin-name-dot", reasonWord: "dot"},
		{name: "skin name with brackets", file: "cat.md", old: "The Moray", new: "Moray (Eel)", line: 3, rule: "skin-name-character", reasonWord: `'('`},
		{name: "skin name ends in a space", file: "cat.md", old: "The Moray", new: "The Moray ", line: 3, rule: "skin-name-space", reasonWord: "space"},
		{name: "theme missing", file: "cat.md", old: "theme: \"Deep Sea\"\n", new: "", line: 1, rule: "theme-missing", reasonWord: "missing"},
		{name: "theme of dots", file: "cat.md", old: `"Deep Sea"`, new: `"– –"`, line: 4, rule: "theme-missing", reasonWord: "letter"},
		{name: "two emoji", file: "cat.md", old: "🐱", new: "🐱🐙", line: 5, rule: "emoji-count", reasonWord: "2 characters"},
		{name: "a letter for an emoji", file: "cat.md", old: "🐱", new: "C", line: 5, rule: "emoji-kind", reasonWord: "not an emoji"},
		{name: "an empty emoji", file: "cat.md", old: "🐱", new: "", line: 5, rule: "emoji-count", reasonWord: "empty"},
		{name: "concept missing", file: "cat.md", old: "## Character Concept", new: "## Concept", line: 1, rule: "concept-missing", reasonWord: "Character Concept"},
		{name: "concept only in a fence", file: "cat.md", old: "## Character Concept", new: "```\n## Character Concept\n```", line: 1, rule: "concept-missing", reasonWord: "Character Concept"},
		{name: "voice missing", file: "cat.md", old: "## Tone and Voice", new: "### Tone and Voice", line: 1, rule: "voice-missing", reasonWord: "Tone and Voice"},
		{name: "voice empty", file: "cat.md", old: "Speaks like the sea in cat weather.", new: "<!-- later -->", line: 12, rule: "voice-empty", reasonWord: "empty"},
		{name: "one section under two names", file: "cat.md", old: "## Tone", new: "## Voice and Manner\n\nDry.\n\n## Tone", line: 16, rule: "section-twice", reasonWord: "line 12"},
		{name: "modifiers on an NPC", file: "guardian.md", old: "## Tone", new: "## Behavioural Tweaks\n\n- Softer.\n\n## Tone", line: 12, rule: "modifiers-npc", reasonWord: "only animals"},
		{name: "Name disagrees", file: "dragon.md", old: "## Tone", new: "## Name\n\nThe Squid\n\n## Tone", line: 12, rule: "name-differs", reasonWord: "The Squid"},
		{name: "cat ignores risk", file: "cat.md", old: "Speaks like the sea", new: "Speaks.\nHe ignores the\nrisks", line: 15, rule: "core-negated", reasonWord: "ignores the risks"},
		{name: "cat does not assess risk", file: "cat.md", old: "Speaks like the sea", new: "Does not assess risk", line: 14, rule: "core-negated", reasonWord: "does not assess risk"},
		{name: "guardian never blocks", file: "guardian.md", old: "Speaks like the sea", new: "Never blocks anyone", line: 14, rule: "core-negated", reasonWord: "never blocks"},
		{name: "guardian always approves", file: "guardian.md", old: "Speaks like the sea", new: "Always approves", line: 14, rule: "core-negated", reasonWord: "always approves"},
		{name: "gandalf rescues", file: "gandalf.md", old: "Speaks like the sea", new: "Solves it for the party", line: 14, rule: "core-negated", reasonWord: "solves it for the party"},
		{name: "dragon moves the goalposts", file: "dragon.md", old: "Speaks like the sea", new: "Moves the goalposts", line: 14, rule: "core-negated", reasonWord: "goalposts"},
	}
}

func brokenPacks() []broken {
	return []broken{
		{name: "eight of nine", file: "owl.md", line: 1, rule: "pack-incomplete", reasonWord: "owl"},
		{name: "a tenth", also: map[string]string{"simon.md": "x"}, in: "simon.md", line: 1, rule: "pack-stray", reasonWord: "no pack"},
		{name: "a stranger", also: map[string]string{"lynx.md": "x"}, in: "lynx.md", line: 1, rule: "pack-stray", reasonWord: "none of the nine"},
		{name: "another theme", file: "owl.md", old: "Deep Sea", new: "High Seas", line: 4, rule: "pack-theme", reasonWord: "High Seas"},
		{name: "another way to write the theme", file: "owl.md", old: "Deep Sea", new: "DEEP SEA!", line: 4, rule: "pack-theme",
			reasonWord: "written like"},
		{name: "one name twice", file: "owl.md", old: "The Tide", new: "the moray", line: 3, rule: "pack-skin-alike", reasonWord: "of cat"},
		{name: "a name alike", file: "wolf.md", old: "The Shoal", new: "Moray", line: 3, rule: "pack-skin-alike", reasonWord: "of cat"},
		{name: "old format", file: "owl.md", old: "skin-name:", new: "profile-name:", line: 1, rule: "pack-legacy", reasonWord: "1.0"},
		{name: "copied text", file: "wolf.md", old: "Speaks like the sea in wolf weather.", new: longText, also: map[string]string{"bear.md": strings.Replace(goodPack()["bear.md"], "Speaks like the sea in bear weather.", longText, 1)}, line: 1, rule: "pack-text-alike", reasonWord: "of bear"},
	}
}

const longText = "Counts the waves on the sand before breakfast, writes them in a small book bound in sealskin, reads the book aloud to the gulls at noon and asks which of them would like to sign it."

func brokenArchives() []broken {
	return []broken{
		{name: "zip that escapes", file: "deep-sea.zip", archive: zipOf("../../evil.md", "x", 0), line: 1, rule: "archive-escape", reasonWord: "../../evil.md"},
		{name: "zip with an absolute path", file: "deep-sea.zip", archive: zipOf("/etc/cron.d/evil", "x", 0), line: 1, rule: "archive-escape", reasonWord: "leads out"},
		{name: "zip with backslashes", file: "deep-sea.zip", archive: zipOf(`..\evil.md`, "x", 0), line: 1, rule: "archive-escape", reasonWord: "leads out"},
		{name: "zip with a drive", file: "deep-sea.zip", archive: zipOf(`C:evil.md`, "x", 0), line: 1, rule: "archive-escape", reasonWord: "leads out"},
		{name: "zip with a link", file: "deep-sea.zip", archive: zipOf("deep-sea/link.md", "/etc/passwd", fs.ModeSymlink|0o777), line: 1, rule: "archive-link", reasonWord: "link"},
		{name: "zip with a device", file: "deep-sea.zip", archive: zipOf("deep-sea/dev", "", fs.ModeDevice|0o666), line: 1, rule: "archive-special", reasonWord: "plain file"},
		{name: "zip with a bomb", file: "deep-sea.zip", archive: zipOf("deep-sea/bomb", strings.Repeat("\x00", 3<<20), 0), line: 1, rule: "archive-size", reasonWord: "bomb"},
		{name: "zip with one file twice", file: "deep-sea.zip", archive: zipOf("deep-sea/Bear.md", "x", 0), line: 1, rule: "archive-duplicate", reasonWord: "bear.md"},
		{name: "zip with two directories", file: "deep-sea.zip", archive: zipOf("other/bear.md", "x", 0), line: 1, rule: "archive-shape", reasonWord: "more than one"},
		{name: "zip with a thousand files", file: "deep-sea.zip", archive: manyFiles, line: 1, rule: "archive-count", reasonWord: "100"},
		{name: "zip cut short", file: "deep-sea.zip", archive: cut(zipOf("", "", 0)), line: 1, rule: "archive-broken", reasonWord: "cannot be read"},
		{name: "tar that escapes", file: "deep-sea.tar.gz", archive: tarOf(tar.Header{Typeflag: tar.TypeReg, Name: "deep-sea/../../evil.md"}), line: 1, rule: "archive-escape", reasonWord: "leads out"},
		{name: "tar with a symbolic link", file: "deep-sea.tar.gz", archive: tarOf(tar.Header{Typeflag: tar.TypeSymlink, Name: "deep-sea/x.md", Linkname: "/etc/passwd"}), line: 1, rule: "archive-link", reasonWord: "link"},
		{name: "tar with a hard link", file: "deep-sea.tgz", archive: tarOf(tar.Header{Typeflag: tar.TypeLink, Name: "deep-sea/x.md", Linkname: "bear.md"}), line: 1, rule: "archive-link", reasonWord: "link"},
		{name: "tar with a pipe", file: "deep-sea.tar.gz", archive: tarOf(tar.Header{Typeflag: tar.TypeFifo, Name: "deep-sea/x.md"}), line: 1, rule: "archive-special", reasonWord: "plain file"},
		{name: "tar cut short", file: "deep-sea.tar.gz", archive: cut(tarOf(tar.Header{})), line: 1, rule: "archive-broken", reasonWord: "cannot be read"},
		{name: "a fault inside a zip", file: "deep-sea.zip", archive: func(pack map[string]string) []byte {
			pack["cat.md"] = strings.Replace(pack["cat.md"], "The Moray", "a/b", 1)
			return zipOf("", "", 0)(pack)
		}, in: "deep-sea.zip!/deep-sea/cat.md", line: 3, rule: "skin-name-character", reasonWord: "'/'"},
	}
}

// TestBroken: each case has one fault, and that one is found: file, line, rule,
// reason, and nothing else.
func TestBroken(t *testing.T) {
	cases := slices.Concat(brokenProfiles(), brokenPacks(), brokenArchives())
	if len(cases) < 40 {
		t.Fatalf("only %d cases", len(cases))
	}
	for _, i := range sample.Pick(t, len(cases), 12, len(cases)) {
		c := cases[i]
		t.Run(c.name, func(t *testing.T) {
			p, want := c.load(t)
			if len(p.Faults) != 1 {
				t.Fatalf("%d faults, want one: %v", len(p.Faults), p.Faults)
			}
			f := p.Faults[0]
			if f.File != want || f.Line != c.line || f.Rule != c.rule || !strings.Contains(f.Message, c.reasonWord) {
				t.Errorf("got  %s\nwant %s:%d: %s with %q", f, want, c.line, c.rule, c.reasonWord)
			}
			if f.Fix == "" {
				t.Error("the fault does not say what to do")
			}
			if _, err := (Project{Dir: t.TempDir()}).Install(p, nil, true); err == nil {
				t.Error("a faulty pack was installed")
			}
		})
	}
}

func TestGoodPack(t *testing.T) {
	for name, c := range map[string]broken{
		"directory": {file: "x.md", also: map[string]string{"README.md": "a companion", "LICENSE.md": "another", "logo.png": "\xff"}},
		"zip":       {file: "deep-sea.zip", archive: zipOf("__MACOSX/._bear.md", "x", 0)},
		"tar":       {file: "anything.tar.gz", archive: tarOf(tar.Header{})},
		"zip of nine files": {file: "deep-sea.zip", archive: func(pack map[string]string) []byte {
			data, _ := packFlat(pack)
			return data
		}},
	} {
		t.Run(name, func(t *testing.T) {
			p, _ := c.load(t)
			if len(p.Faults) > 0 || len(p.Profiles) != 9 || p.Name != "deep-sea" || p.Theme != "Deep Sea" {
				t.Errorf("%s %q, %d profiles, faults %v", p.Name, p.Theme, len(p.Profiles), p.Faults)
			}
		})
	}
}

func TestBrokenDirectories(t *testing.T) {
	pack := goodPack()
	dir := filepath.Join(t.TempDir(), "Deep Sea")
	writeFiles(t, dir, pack)
	if p, err := Load(dir); err != nil || len(p.Faults) == 0 || p.Faults[0].Rule != "pack-name" {
		t.Errorf("directory with a space: %v %+v", err, p)
	}
	dir = filepath.Join(t.TempDir(), "deep-sea")
	writeFiles(t, dir, pack)
	secret := filepath.Join(t.TempDir(), "secret")
	writeFiles(t, secret, map[string]string{"s.md": pack["cat.md"]})
	if err := os.Remove(filepath.Join(dir, "cat.md")); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink(filepath.Join(secret, "s.md"), filepath.Join(dir, "cat.md")); err != nil {
		t.Fatal(err)
	}
	if p, err := Load(dir); err != nil || len(p.Faults) != 1 || p.Faults[0].Rule != "pack-link" {
		t.Errorf("directory with a link: %v %+v", err, p)
	}
	if _, err := Load(filepath.Join(dir, "bear.md")); err == nil {
		t.Error("a single file was taken for a pack")
	}
	if _, err := Load(filepath.Join(dir, "nothing")); err == nil {
		t.Error("nothing was taken for a pack")
	}
}

// load makes the broken thing on disk and reads it.
func (c broken) load(t *testing.T) (*Pack, string) {
	t.Helper()
	pack := goodPack()
	dir := filepath.Join(t.TempDir(), "deep-sea")
	if c.archive != nil {
		name := filepath.Join(filepath.Dir(dir), c.file)
		if err := os.WriteFile(name, c.archive(pack), 0o644); err != nil {
			t.Fatal(err)
		}
		p, err := Load(name)
		if err != nil {
			t.Fatal(err)
		}
		want := name
		if c.in != "" {
			want = filepath.Join(filepath.Dir(name), c.in)
		}
		return p, filepath.ToSlash(want)
	}
	switch text, ok := pack[c.file]; {
	case c.old != "":
		if pack[c.file] = strings.Replace(text, c.old, c.new, 1); pack[c.file] == text {
			t.Fatalf("%q is not in %s", c.old, c.file)
		}
	case ok:
		delete(pack, c.file)
	}
	maps.Copy(pack, c.also)
	writeFiles(t, dir, pack)
	p, err := Load(dir)
	if err != nil {
		t.Fatal(err)
	}
	want := c.file
	if c.in != "" {
		want = c.in
	}
	return p, filepath.ToSlash(filepath.Join(dir, want))
}

func writeFiles(t *testing.T, dir string, files map[string]string) {
	t.Helper()
	if err := os.MkdirAll(dir, 0o755); err != nil {
		t.Fatal(err)
	}
	for name, text := range files {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
}

// zipOf packs the good pack and one more entry.
func zipOf(name, content string, mode fs.FileMode) func(map[string]string) []byte {
	return func(pack map[string]string) []byte {
		var b bytes.Buffer
		w := zip.NewWriter(&b)
		for _, file := range slices.Sorted(maps.Keys(pack)) {
			f, _ := w.Create("deep-sea/" + file)
			_, _ = io.WriteString(f, pack[file])
		}
		if name != "" {
			h := &zip.FileHeader{Name: name, Method: zip.Deflate}
			h.SetMode(mode | 0o644)
			f, _ := w.CreateHeader(h)
			_, _ = io.WriteString(f, content)
		}
		w.Close()
		return b.Bytes()
	}
}

func packFlat(pack map[string]string) ([]byte, error) {
	var b bytes.Buffer
	w := zip.NewWriter(&b)
	for name, text := range pack {
		f, err := w.Create(name)
		if err != nil {
			return nil, err
		}
		if _, err := io.WriteString(f, text); err != nil {
			return nil, err
		}
	}
	err := w.Close()
	return b.Bytes(), err
}

func manyFiles(map[string]string) []byte {
	pack := map[string]string{}
	for i := range 1000 {
		pack[fmt.Sprintf("f%04d", i)] = ""
	}
	return zipOf("", "", 0)(pack)
}

func tarOf(more tar.Header) func(map[string]string) []byte {
	return func(pack map[string]string) []byte {
		var b bytes.Buffer
		gz := gzip.NewWriter(&b)
		w := tar.NewWriter(gz)
		for name, text := range pack {
			_ = w.WriteHeader(&tar.Header{Typeflag: tar.TypeReg, Name: "deep-sea/" + name, Mode: 0o644, Size: int64(len(text))})
			_, _ = io.WriteString(w, text)
		}
		if more.Name != "" {
			_ = w.WriteHeader(&more)
		}
		w.Close()
		gz.Close()
		return b.Bytes()
	}
}

func cut(make func(map[string]string) []byte) func(map[string]string) []byte {
	return func(pack map[string]string) []byte {
		data := make(pack)
		return data[:len(data)/2]
	}
}
