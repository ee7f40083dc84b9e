package table

import (
	"fmt"
	"math/rand/v2"
	"os"
	"reflect"
	"slices"
	"strings"
	"testing"

	"conclave/internal/sample"
	"conclave/internal/shingle"
)

// found says whether an audit would recognise a text by a print, less what was
// granted.
func found(t *testing.T, p *shingle.Printer, print shingle.Print, text string, granted ...string) bool {
	t.Helper()
	set, err := shingle.NewSet(p.Key())
	ok(t, err)
	var given [][]byte
	for _, g := range granted {
		given = append(given, []byte(g))
	}
	set.AddDigests("it", p.Digests([]shingle.Print{print}, given)[0])
	return len(set.Find([]byte(text))) > 0
}

// Two keepers are told the same narrative under the same heading. What one of
// them wrote down first must not accuse the other.
func TestPrintOfAJournal(t *testing.T) {
	narrative := "The rain thins as the river road comes out of the trees, and there is the weir."
	journal := "# Gideon's Journal\n\n---\n\n### The rain\n\n- What happened: " + narrative + "\n- What I did: I held my tongue about the letter in my coat all evening long.\n"
	c := newCampaign(t, map[string]string{"party/gideon-harrowmoor-journal.md": journal, "story-state.md": journal})
	printer := shingle.NewPrinter()
	kept, _, err := c.NewWatch(Caps{}, printer).From("tilda-brannock")
	ok(t, err)
	for _, k := range kept {
		got := found(t, printer, k.Print, "# What happened\n"+narrative, narrative)
		switch k.Path {
		case "party/gideon-harrowmoor-journal.md":
			eq(t, "the shared narrative accuses", got, false)
			eq(t, "his own words", found(t, printer, k.Print, "I held my tongue about the letter in my coat.", narrative), true)
		case "story-state.md":
			eq(t, "another kind of text keeps its labels", got, true)
		}
	}
}

// What a watch knows of files that grow, change and go is what one knows that
// sees them for the first time.
func TestWatchFollows(t *testing.T) {
	c := newCampaign(t, map[string]string{"story-state.md": "The miller drowned the heir in the race.", "beats/1.md": "A bell tolls under the lake at midnight."})
	printer := shingle.NewPrinter()
	w := c.NewWatch(Caps{}, printer)
	journal := c.host("party/gideon-harrowmoor-journal.md")
	rng := rand.New(rand.NewPCG(1, 2))
	var text strings.Builder
	check := func(when string) {
		t.Helper()
		got, _, err := w.From("tilda-brannock")
		ok(t, err)
		want, _, err := c.NewWatch(Caps{}, printer).From("tilda-brannock")
		ok(t, err)
		if !reflect.DeepEqual(got, want) {
			t.Fatalf("%s: the watch knows something else", when)
		}
	}
	check("at first")
	for i := range sample.Count(12, 60, 60) {
		fmt.Fprintf(&text, "\n---\n\n### Day %d\n\n- What happened:", i)
		for range 100 + rng.IntN(60) {
			fmt.Fprintf(&text, " w%d", rng.IntN(5000))
		}
		text.WriteString("\n")
		ok(t, os.WriteFile(journal, []byte(text.String()), 0o644))
		check(fmt.Sprintf("entry %d", i))
	}
	edited := strings.Replace(text.String(), "### Day 3\n", "### Day X\n", 1) // no longer than before
	ok(t, os.WriteFile(journal+".new", []byte(edited), 0o644))
	ok(t, os.Rename(journal+".new", journal))
	check("edited")
	ok(t, os.Remove(c.host("beats/1.md")))
	check("removed")
}

// A journal of years: its print has a bound, and what was copied out of it is
// recognised all the same.
func TestPrintOfALongJournal(t *testing.T) {
	sample.Long(t)
	rng := rand.New(rand.NewPCG(3, 4))
	var entries []string
	for i := range 1000 {
		var b strings.Builder
		fmt.Fprintf(&b, "### Day %d\n\n", i)
		for range 120 {
			fmt.Fprintf(&b, "w%d ", rng.IntN(9000))
		}
		entries = append(entries, b.String())
	}
	c := newCampaign(t, map[string]string{})
	journal := c.host("party/gideon-harrowmoor-journal.md")
	printer := shingle.NewPrinter()
	w := c.NewWatch(Caps{}, printer)
	var kept []*Kept
	for n := 100; n <= len(entries); n += 100 { // it grows
		ok(t, os.WriteFile(journal, []byte(strings.Join(entries[:n], "\n\n")), 0o644))
		var err error
		kept, _, err = w.From("tilda-brannock")
		ok(t, err)
	}
	i := slices.IndexFunc(kept, func(k *Kept) bool { return strings.HasSuffix(k.Path, "journal.md") })
	print := kept[i].Print
	digests := printer.Digests([]shingle.Print{print}, nil)[0]
	if len(digests) > maxWindows || len(digests) < maxWindows/4 || print.Rate < 2 {
		t.Errorf("%d windows, one in %d", len(digests), print.Rate)
	}
	set, err := shingle.NewSet(printer.Key())
	ok(t, err)
	set.AddDigests("it", digests)
	last := len(entries) - 1
	if len(set.Find([]byte(entries[last]))) == 0 || len(set.Find([]byte(entries[last-1]))) == 0 {
		t.Error("the newest entries were not recognised")
	}
	missed := 0
	for pages := range slices.Chunk(entries, 5) {
		if len(set.Find([]byte(strings.Join(pages, "\n\n")))) == 0 {
			missed++
		}
	}
	if missed > 2 {
		t.Errorf("%d of %d copied pages were not recognised", missed, len(entries)/5)
	}
	leaks := Guard(kept).Check("He wrote: " + entries[500][12:200])
	if len(leaks) == 0 || leaks[0].Path != "party/gideon-harrowmoor-journal.md" {
		t.Errorf("the guard found %v", leaks)
	}
}
