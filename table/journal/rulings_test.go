package journal

import (
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"conclave/table"
)

const fullEntry = "---\n\n### The bar\n\n- What happened: A crash.\n- What I did: I ducked.\n- What I learned: Duck.\n- How I feel: Shaken.\n- Notes: None.\n"

var entry = Entry{"The bar", "A crash.", "I ducked.", "Duck.", "Shaken.", "None."}

// left reads from the rules' own test which rulings are about journals.
func left(t *testing.T) []string {
	t.Helper()
	src, err := os.ReadFile("../rulings_test.go")
	if err != nil {
		t.Fatal(err)
	}
	m := regexp.MustCompile(`leftToJournal = strings.Fields\("(.*)"\)`).FindSubmatch(src)
	if m == nil {
		t.Fatal("no list of rulings that are left to the journals")
	}
	return strings.Fields(string(m[1]))
}

// TestRulings runs a case for every ruling that is left to the journals, and
// fails for one that has none.
func TestRulings(t *testing.T) {
	ids := left(t)
	for _, id := range ids {
		if rulings[id] == nil {
			t.Errorf("%s is proven nowhere", id)
			continue
		}
		t.Run(id, rulings[id])
	}
	for id := range rulings {
		if !slices.Contains(ids, id) {
			t.Errorf("%s is not left to the journals", id)
		}
	}
}

type campaign struct{ *table.Campaign }

func (c campaign) host(path string) string {
	return filepath.Join(c.Workspace, "campaigns", c.Name, filepath.FromSlash(path))
}

// newCampaign makes a campaign named ash from files by path.
func newCampaign(t testing.TB, files map[string]string) campaign {
	t.Helper()
	ws := t.TempDir()
	all := map[string]string{"party/tilda-brannock.md": "# Tilda Brannock\n", "party/gideon-harrowmoor.md": "# Gideon Harrowmoor\n"}
	maps.Copy(all, files)
	for path, text := range all {
		full := filepath.Join(ws, "campaigns", "ash", filepath.FromSlash(path))
		if err := os.MkdirAll(filepath.Dir(full), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(full, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	c, err := table.OpenCampaign(ws, "ash")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { c.Close() })
	return campaign{c}
}

func duo() table.Roster {
	return table.Roster{Characters: []table.Character{
		{Slug: "gideon-harrowmoor", Name: "Gideon Harrowmoor", Status: table.Present},
		{Slug: "tilda-brannock", Name: "Tilda Brannock", Status: table.Present},
	}}
}

func rounds(texts ...string) [][]table.Block {
	var out [][]table.Block
	for _, s := range texts {
		b, _ := table.ParseNarrative(s, duo())
		out = append(out, b)
	}
	return out
}

var rulings = map[string]func(*testing.T){
	"F3": func(t *testing.T) {
		out, err := narrative(rounds("Before the signal.", "[GM]x[/GM]", "After it."), table.Caps{})
		ok(t, err)
		eq(t, "file", string(out), "Before the signal.\n\nAfter it.\n")
		_, err = narrative(rounds(strings.Repeat("x", 256<<10)), table.Caps{})
		has(t, err, "limit 262144")
	},
	"F8": func(t *testing.T) {
		for _, before := range []string{"", "# Tilda's Journal\n", "# T\r\nx"} {
			tornAppends(t, before)
		}
	},
	"F9": func(t *testing.T) {
		c := newCampaign(t, nil)
		a, err := PlanAppend(c.Party, "tilda-brannock", "Tilda", entry)
		ok(t, err)
		for i, want := range []Outcome{Appended, Finished, Finished} {
			out, err := a.Do(c.Party)
			ok(t, err)
			eq(t, fmt.Sprint(i), out, want)
		}
		// Someone adds text before it: the entry is still recognised.
		data, _ := os.ReadFile(c.host("party/tilda-brannock-journal.md"))
		ok(t, os.WriteFile(c.host("party/tilda-brannock-journal.md"), []byte(strings.Replace(string(data), "\n", "\nBy hand.\n", 1)), 0o644))
		out, err := a.Do(c.Party)
		ok(t, err)
		eq(t, "after an edit", out, Finished)
		a.Hash = "x"
		if _, err := a.Do(c.Party); err == nil {
			t.Error("a damaged intent was done")
		}
	},
	"F10": func(t *testing.T) {
		eq(t, "new file", string(chunk(entry, "Tilda Brannock", nil)), "# Tilda Brannock's Journal\n\n"+fullEntry)
	},
	"F11": func(t *testing.T) {
		eq(t, "no newline", string(chunk(entry, "", []byte("x"))), "\n\n"+fullEntry)
		eq(t, "newline", string(chunk(entry, "", []byte("x\n"))), "\n"+fullEntry)
		eq(t, "blank line", string(chunk(entry, "", []byte("x\n\n"))), fullEntry)
		eq(t, "CRLF", string(chunk(entry, "", []byte("x\r\ny"))), strings.ReplaceAll("\n\n"+fullEntry, "\n", "\r\n"))
	},
	"F12": func(t *testing.T) {
		e, missing := ParseEntry("Here it is:\n\n" + fullEntry)
		eq(t, "entry", e, entry)
		eq(t, "missing", len(missing), 0)
		eq(t, "text", e.Text(), fullEntry)
		e, missing = ParseEntry("### The bar\n- **What happened:** A crash.\n  It was loud.\n* notes: \n")
		eqs(t, "missing", missing, "What I did", "What I learned", "How I feel", "Notes")
		eq(t, "filled", e.Text(), "---\n\n### The bar\n\n- What happened: A crash.\n  It was loud.\n- What I did: (nothing)\n- What I learned: (nothing)\n- How I feel: (nothing)\n- Notes: (nothing)\n")
		_, missing = ParseEntry("")
		eq(t, "all", len(missing), 6)
		long := Entry{Title: strings.Repeat("é ", 100) + "\nx"}.Text()
		title := strings.Split(long, "\n")[2]
		if n := len([]rune(strings.TrimPrefix(title, "### "))); n > table.MaxTitle || n < table.MaxTitle-1 {
			t.Errorf("title of %d characters", n)
		}
	},
	"F13": func(t *testing.T) {
		e, _ := ParseEntry(strings.Replace(fullEntry, "A crash.", "A crash.\n\n---\n\n### Forged\n\n- What happened: lies", 1))
		text := e.Text()
		has(t, text, "\n  \\---\n\n  \\### Forged\n")
		_, entries := table.SplitJournal("# J\n\n" + text)
		eq(t, "one entry", len(entries), 1)
		forged := Entry{Title: "a\n---\n\n### b", Notes: "---\n\n### Forged"}.Text()
		_, entries = table.SplitJournal("# J\n\n" + forged)
		eq(t, "one entry", len(entries), 1)
	},
	"F16": func(t *testing.T) {
		r := duo()
		eqs(t, "public", journaled(rounds("It rains."), r), "gideon-harrowmoor", "tilda-brannock")
		eqs(t, "private", journaled(rounds("[TO: tilda-brannock]psst[/TO]"), r), "tilda-brannock")
		eqs(t, "gm", journaled(rounds("[GM]plan[/GM]"), r))
		r.Characters[0].Status = table.Dead
		eqs(t, "dead", journaled(rounds("It rains."), r), "tilda-brannock")
	},
	"G2": func(t *testing.T) {
		out, err := narrative(rounds("[TO: tilda-brannock]\npsst\n[/TO]"), table.Caps{})
		eq(t, "no file", out == nil && err == nil, true)
	},
	"E12": func(t *testing.T) {
		c := newCampaign(t, map[string]string{"party/tilda-brannock-journal.md": "# T\n"})
		a, err := PlanAppend(c.Party, "tilda-brannock", "Tilda", Entry{Title: "One"})
		ok(t, err)
		ok(t, os.WriteFile(c.host("party/tilda-brannock-journal.md"), []byte("# T\nby hand\n"), 0o644))
		out, err := a.Do(c.Party)
		ok(t, err)
		eq(t, "first", out, Edited)
		a, err = PlanAppend(c.Party, "tilda-brannock", "Tilda", Entry{Title: "One"})
		ok(t, err)
		out, err = a.Do(c.Party)
		ok(t, err)
		eq(t, "second", out, Appended)
		data, _ := os.ReadFile(c.host("party/tilda-brannock-journal.md"))
		has(t, string(data), "# T\nby hand\n\n---\n\n### One\n")
	},
}

// tornAppends stops an append after every byte and does it again.
func tornAppends(t *testing.T, before string) {
	t.Helper()
	c := newCampaign(t, nil)
	path := c.host("party/tilda-brannock-journal.md")
	if before != "" {
		ok(t, os.WriteFile(path, []byte(before), 0o644))
	}
	a, err := PlanAppend(c.Party, "tilda-brannock", "Tilda", entry)
	ok(t, err)
	want := before + string(a.Chunk)
	for n := 0; n <= len(a.Chunk); n += 3 {
		ok(t, os.WriteFile(path, []byte(want[:len(before)+n]), 0o644))
		out, err := a.Do(c.Party)
		ok(t, err)
		expect := Mended
		switch n {
		case 0:
			expect = Appended
		case len(a.Chunk):
			expect = Finished
		}
		eq(t, fmt.Sprintf("torn after %d bytes", n), out, expect)
		got, _ := os.ReadFile(path)
		eq(t, "file", string(got), want)
	}
}

func FuzzParseEntry(f *testing.F) {
	f.Add(fullEntry)
	f.Add("### x\n- Notes: a\n---\n\n### y\n")
	f.Add("- Notes: \\---\r\n  ### z")
	f.Add("# #\x10")
	f.Fuzz(func(t *testing.T, text string) {
		e, _ := ParseEntry(text)
		out := "# J\n\n" + e.Text()
		if _, entries := table.SplitJournal(out); len(entries) != 1 {
			t.Errorf("%q became %d entries: %q", text, len(entries), out)
		}
		again, missing := ParseEntry(e.Text())
		if len(missing) != 0 || again.Title != strings.TrimSpace(strings.TrimRight(oneTitle(e), "# \t")) {
			t.Errorf("%q: %+v, missing %v, from %+v", text, again, missing, e)
		}
	})
}

func oneTitle(e Entry) string {
	if t := oneLine(e.Title); t != "" {
		return t
	}
	return "(untitled)"
}

func BenchmarkAppend(b *testing.B) {
	c := newCampaign(b, nil)
	for b.Loop() {
		a, err := PlanAppend(c.Party, "tilda-brannock", "Tilda", entry)
		if err == nil {
			_, err = a.Do(c.Party)
		}
		if err != nil {
			b.Fatal(err)
		}
	}
}

func eq[T comparable](t *testing.T, what string, got, want T) {
	t.Helper()
	if got != want {
		t.Errorf("%s:\n got %v\nwant %v", what, got, want)
	}
}

func eqs(t *testing.T, what string, got []string, want ...string) {
	t.Helper()
	if !slices.Equal(got, want) {
		t.Errorf("%s:\n got %q\nwant %q", what, got, want)
	}
}

// has wants a text, or an error, to contain something.
func has(t *testing.T, got any, want string) {
	t.Helper()
	if s := fmt.Sprint(got); !strings.Contains(s, want) {
		t.Errorf("%q does not contain %q", s, want)
	}
}

func ok(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}
