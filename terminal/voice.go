package terminal

import (
	"slices"
	"strconv"
	"strings"
	"sync"

	"conclave/app"
	"conclave/internal/screen"
)

// voice shows a conversation to the person: as it is spoken on a terminal,
// whole where nobody watches.
type voice struct {
	mu      sync.Mutex
	speaker string         // whose words are on the screen, unfinished
	words   *screen.Writer // where they go
	block   string         // what of it was said since the last block ended
	pause   bool           // a block has ended; the next begins a paragraph
}

// saidIndent stands before every line of what somebody says but the first: what
// begins a line is the program's, a speaker's tag above all.
const saidIndent = "  "

func (v *voice) hear(out *screen.Writer, e app.Speech) {
	v.mu.Lock()
	defer v.mu.Unlock()
	tag := screen.Bold(strings.TrimSpace(e.Emoji+" "+e.Name) + ":")
	switch {
	case e.Part == app.Whole && !out.Terminal():
		out.Printf("\n%s %s\n", tag, screen.Indent(saidIndent, e.Text))
	case e.Part == app.Whole:
		if v.speaker == "" {
			v.speak(out, tag, e)
		}
		_ = v.words.Flush()
		v.speaker, v.block, v.pause = "", "", false
		out.Printf("\n")
	case !out.Terminal():
	case e.Part == app.Spoken:
		v.speak(out, tag, e)
	case v.speaker != "":
		// Some programs tell of a block's end when they are at the next one: then the
		// words that come are not its first.
		rest, ended := strings.CutPrefix(strings.TrimSpace(v.block), strings.TrimSpace(e.Text))
		if ended {
			v.block = rest
		}
		v.pause = v.pause || ended && rest == ""
	}
}

func (v *voice) speak(out *screen.Writer, tag screen.Text, e app.Speech) {
	if v.speaker == "" {
		out.Printf("\n%s ", tag)
		v.speaker, v.words = e.Name, out.Stream(saidIndent)
	} else if v.pause {
		_, _ = v.words.Write([]byte("\n\n")) // what a screen does not take is in the record
	}
	v.pause = false
	v.block += e.Text
	_, _ = v.words.Write([]byte(e.Text))
}

// printOutcome prints what an interaction came to beside what was said.
func (t *Terminal) printOutcome(res app.Outcome) {
	out := t.Stdout
	if res.EndedEarly != "" {
		out.Printf("\n%s %s\n", screen.Red("Ended early:"), screen.Indent(saidIndent, res.EndedEarly))
	}
	if res.EndedEarly == "" && res.Result.Outcome != "" {
		out.Printf("\n%s\n", screen.Emphasis(saidIndent, unsaid(res.Result)))
	}
	if len(res.Recommendations) > 0 {
		out.Printf("\nRecommended:\n")
	}
	for i, r := range res.Recommendations {
		out.Printf("  %d. %s\n", i+1, screen.Indent("     ", r))
	}
	for _, u := range res.Unverified {
		out.Printf("%s\n", screen.Prose(saidIndent, screen.Dim("not verified: "+u)))
	}
	for _, n := range res.Notes {
		out.Printf("%s\n", screen.Prose(saidIndent, screen.Dim("Note: "+n)))
	}
}

// unsaid is the outcome without what the evaluator has just said in words: its
// evidence, gaps, conditions and summary are heard once. The verdict stays.
func unsaid(res app.Result) string {
	aloud := plainWords(strings.Join(res.Said, " "))
	heard := func(text string) bool {
		text = plainWords(text)
		return text != "" && strings.Contains(aloud, text)
	}
	said := map[string]bool{}
	if res.Dragon != nil {
		for _, c := range res.Dragon.Criteria {
			said[strconv.Itoa(c.Number)] = heard(c.Evidence)
		}
	}
	var lines []string
	for line := range strings.SplitSeq(res.Outcome, "\n") {
		number, _, _ := strings.Cut(line, ". ")
		text, gap := strings.CutPrefix(line, "- ")
		if said[number] || (gap || !strings.HasPrefix(line, "**")) && heard(text) {
			continue
		}
		if line == "" && (len(lines) == 0 || lines[len(lines)-1] == "") {
			continue
		}
		lines = append(lines, line)
	}
	for i := len(lines) - 1; i >= 0; i-- { // a heading without what it headed
		alone := i+1 == len(lines) || lines[i+1] == "" && (i+2 == len(lines) || strings.HasPrefix(lines[i+2], "**"))
		if alone && strings.HasSuffix(lines[i], ":**") {
			lines = slices.Delete(lines, i, min(i+2, len(lines)))
		}
	}
	return strings.TrimSpace(strings.Join(lines, "\n"))
}

// plainWords are the words of a text, without emphasis and line breaks.
func plainWords(text string) string {
	return strings.Join(strings.Fields(strings.ReplaceAll(text, "**", "")), " ")
}

// PrintOffers lists the next steps in plain words.
func (t *Terminal) PrintOffers(o app.Offers) {
	if len(o.List) == 0 {
		return
	}
	t.Stdout.Printf("\n%s\n", screen.Bold("What next?"))
	for i, o := range o.List {
		t.Stdout.Printf("  %d. %s\n", i+1, screen.Prose("     ", strings.ReplaceAll(o.String(), "\n", " ")))
	}
}

// printStanding says where a quest stands, to whoever comes back to it.
func (t *Terminal) printStanding(s app.Standing) {
	out, q := t.Stdout, s.Quest
	out.Printf("%s\n%s, phase %d (%s)\n", screen.Bold(q.Title), string(q.Mode), int(q.Phase), q.Phase.String())
	for _, part := range []struct {
		title string
		lines []string
	}{{"Lately", s.Log}, {"Conversations", s.Conversations}} {
		if len(part.lines) == 0 {
			continue
		}
		out.Printf("\n%s\n", part.title)
		for _, line := range part.lines {
			out.Printf("  %s\n", screen.Emphasis("    ", line))
		}
	}
}

// PrintCast introduces the party.
func (t *Terminal) PrintCast(c app.Cast) {
	t.Stdout.Printf("\n%s\n", screen.Bold("Your party"))
	for _, f := range c.Faces {
		t.Stdout.Printf("  %s %s – %s\n", f.Emoji(), f.MenuName(), f.Archetype.Core)
	}
	t.Stdout.Printf("You lead; they advise, judge and look back. Nothing moves without your word.\n")
}
