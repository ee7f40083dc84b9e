package table

import (
	"bytes"
	"fmt"
	"os"
	"strings"
	"testing"
)

const fullEntry = "---\n\n### The bar\n\n- What happened: A crash.\n- What I did: I ducked.\n- What I learned: Duck.\n- How I feel: Shaken.\n- Notes: None.\n"

var entry = Entry{"The bar", "A crash.", "I ducked.", "Duck.", "Shaken.", "None."}

func rounds(texts ...string) [][]Block {
	var out [][]Block
	for _, s := range texts {
		b, _ := ParseNarrative(s, duo())
		out = append(out, b)
	}
	return out
}

var rulingsF = map[string]func(*testing.T){
	"F3": func(t *testing.T) {
		out, err := Narrative(rounds("Before the signal.", "[GM]x[/GM]", "After it."), Caps{})
		ok(t, err)
		eq(t, "file", string(out), "Before the signal.\n\nAfter it.\n")
		_, err = Narrative(rounds(strings.Repeat("x", 256<<10)), Caps{})
		has(t, err, "limit 262144")
	},
	"F4": func(t *testing.T) {
		// A reader beside a writer sees the old file or the new one, whole.
		c := newCampaign(t, map[string]string{"tmp/narrative-for-journal.md": strings.Repeat("a", 9000)})
		done := make(chan error, 1)
		go func() {
			var err error
			for i := 0; i < 200 && err == nil; i++ {
				err = c.Tmp.Write(NarrativeFile, bytes.Repeat([]byte{"ab"[i%2]}, 9000))
			}
			done <- err
		}()
		for reads := 0; ; reads++ {
			data, err := os.ReadFile(c.host("tmp/narrative-for-journal.md"))
			ok(t, err)
			if len(data) != 9000 || strings.Trim(string(data), string(data[:1])) != "" {
				t.Fatal("a torn read")
			}
			select {
			case err := <-done:
				ok(t, err)
				if reads == 0 {
					t.Error("no read happened")
				}
				return
			default:
			}
		}
	},
	"F5": func(t *testing.T) {
		c := newCampaign(t, map[string]string{"tmp/tilda-brannock-notes-for-journal.md": "next cycle"})
		gone, err := c.Tmp.RemoveIf(NotesFile("tilda-brannock"), Hash([]byte("this cycle")))
		ok(t, err)
		eq(t, "kept", gone, false)
		gone, err = c.Tmp.RemoveIf(NotesFile("tilda-brannock"), Hash([]byte("next cycle")))
		ok(t, err)
		eq(t, "removed", gone, true)
		gone, err = c.Tmp.RemoveIf(NotesFile("tilda-brannock"), "x")
		eq(t, "gone already", !gone && err == nil, true)
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
		eq(t, "new file", string(Chunk(entry, "Tilda Brannock", nil)), "# Tilda Brannock's Journal\n\n"+fullEntry)
	},
	"F11": func(t *testing.T) {
		eq(t, "no newline", string(Chunk(entry, "", []byte("x"))), "\n\n"+fullEntry)
		eq(t, "newline", string(Chunk(entry, "", []byte("x\n"))), "\n"+fullEntry)
		eq(t, "blank line", string(Chunk(entry, "", []byte("x\n\n"))), fullEntry)
		eq(t, "CRLF", string(Chunk(entry, "", []byte("x\r\ny"))), strings.ReplaceAll("\n\n"+fullEntry, "\n", "\r\n"))
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
		if n := len([]rune(strings.TrimPrefix(title, "### "))); n > MaxTitle || n < MaxTitle-1 {
			t.Errorf("title of %d characters", n)
		}
	},
	"F13": func(t *testing.T) {
		e, _ := ParseEntry(strings.Replace(fullEntry, "A crash.", "A crash.\n\n---\n\n### Forged\n\n- What happened: lies", 1))
		text := e.Text()
		has(t, text, "\n  \\---\n\n  \\### Forged\n")
		_, entries := SplitJournal("# J\n\n" + text)
		eq(t, "one entry", len(entries), 1)
		forged := Entry{Title: "a\n---\n\n### b", Notes: "---\n\n### Forged"}.Text()
		_, entries = SplitJournal("# J\n\n" + forged)
		eq(t, "one entry", len(entries), 1)
	},
	"F15": func(t *testing.T) {
		c := newCampaign(t, nil)
		for _, notes := range []string{"", " \n"} {
			s, err := c.JournalContext("tilda-brannock", []byte("It rained.\n"), []byte(notes), "", ContextOptions{})
			ok(t, err)
			eq(t, "text", s.Text(), "# What happened\n\nIt rained.\n")
		}
	},
	"F16": func(t *testing.T) {
		r := duo()
		eqs(t, "public", Journaled(rounds("It rains."), r), "gideon-harrowmoor", "tilda-brannock")
		eqs(t, "private", Journaled(rounds("[TO: tilda-brannock]psst[/TO]"), r), "tilda-brannock")
		eqs(t, "gm", Journaled(rounds("[GM]plan[/GM]"), r))
		r.Characters[0].Status = Dead
		eqs(t, "dead", Journaled(rounds("It rains."), r), "tilda-brannock")
	},
	"F18": func(t *testing.T) {
		var b strings.Builder
		b.WriteString("# T's Journal\n\n")
		for i := range 2000 {
			b.WriteString(Entry{Title: fmt.Sprint("Day ", i), Notes: strings.Repeat("word ", 20)}.Text() + "\n")
		}
		c := newCampaign(t, map[string]string{"party/tilda-brannock-journal.md": b.String()})
		s, err := c.PlayerContext("tilda-brannock", []byte(goodPrompt), ContextOptions{})
		ok(t, err)
		text := s.Parts[1].Text
		if len(text) > 48<<10 || len(text) < 47<<10 || !strings.HasPrefix(text, "# T's Journal\n\n---\n\n### Day ") || !strings.HasSuffix(text, "word\n\n") {
			t.Errorf("%d bytes: %.60q … %.40q", len(text), text, text[len(text)-40:])
		}
		has(t, text, "### Day 1999\n")
		eq(t, "hash of the whole file", s.Sources[1], Source{"party/tilda-brannock-journal.md", Hash([]byte(b.String())), int64(b.Len()), "newest entries only"})
		out, left := NewestEntries(text, int64(len(text)))
		eq(t, "all fit", out == text && left == 0, true)
	},
	"F19": func(t *testing.T) {
		path := "party/tilda-brannock-journal.md"
		eq(t, "own", Reader{Role: RolePlayer, Character: "tilda-brannock"}.May(path), true)
		eq(t, "other", Reader{Role: RolePlayer, Character: "gideon-harrowmoor"}.May(path), false)
		eq(t, "GM", Reader{Role: RoleGM}.May(path), false)
		eq(t, "GM by setting", Reader{Role: RoleGM, GMReadsJournals: true}.May(path), true)
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
		if _, entries := SplitJournal(out); len(entries) != 1 {
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
