package flow

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"conclave/internal/sample"
	"conclave/policy"
	"conclave/profile"
	"conclave/quest"
)

// The false-positive suite of the leak check. testdata/histories holds
// histories of quests, in the order in which things happened: files that are
// written, conversations that are held, a quest that is defined. After the last
// of them somebody wants an evaluation. Those in honest-*.txt must be let
// through; those in leaks-*.txt must be refused, and the finding must name the
// place and the source that stand in the line "finds".
//
// Nothing is made up for the test: conversations are filed in their real form,
// what stood in the project is noted as flows note it, and House.Examine is what
// every evaluation begins with.
func TestLeakHistories(t *testing.T) {
	t.Parallel()
	for kind, least := range map[string]int{"honest": 142, "leaks": 144} {
		all := histories(t, kind)
		for _, i := range sample.Pick(t, len(all), len(all)/10, len(all)/6) {
			t.Run(kind+"/"+all[i].name, func(t *testing.T) {
				t.Parallel()
				all[i].run(t)
			})
		}
		if len(all) < least {
			t.Errorf("%d histories of kind %s, want %d", len(all), kind, least)
		}
	}
}

type questHistory struct {
	name  string
	finds []string // "place source", empty: honest
	in    Evaluate
	steps []step
}

type step struct{ what, arg, text string }

func histories(t *testing.T, kind string) []*questHistory {
	files, err := filepath.Glob("testdata/histories/" + kind + "-*.txt")
	if err != nil || len(files) == 0 {
		t.Fatalf("no histories of kind %s: %v", kind, err)
	}
	var out []*questHistory
	for _, file := range files {
		data, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		var h *questHistory
		for line := range strings.Lines(string(data)) {
			if name, ok := strings.CutPrefix(line, "=== "); ok {
				h = &questHistory{name: strings.TrimSpace(name), in: Evaluate{Role: policy.Dragon, Paths: []string{"."}}}
				out = append(out, h)
			} else if head, ok := strings.CutPrefix(line, "-- "); ok && strings.HasSuffix(line, " --\n") {
				what, arg, _ := strings.Cut(strings.TrimSuffix(head, " --\n"), " ")
				h.steps = append(h.steps, step{what: what, arg: arg})
			} else if n := len(h.steps) - 1; n >= 0 {
				h.steps[n].text += line
			} else if strings.TrimSpace(line) != "" {
				h.option(t, strings.TrimSpace(line))
			}
		}
	}
	for _, h := range out {
		if (kind == "leaks") != (len(h.finds) > 0) {
			t.Errorf("%s/%s: only leaks say what they find", kind, h.name)
		}
	}
	return out
}

func (h *questHistory) option(t *testing.T, line string) {
	name, value, _ := strings.Cut(line, " ")
	switch name {
	case "finds":
		h.finds = append(h.finds, value)
	case "guardian":
		h.in.Role, h.in.Stage = policy.Guardian, "first stage"
	case "stage":
		h.in.Stage = value
	case "expect":
		h.in.Expect = value
	case "paths":
		h.in.Paths = strings.Fields(value)
	default:
		t.Fatalf("%s: %q is no option", h.name, line)
	}
}

// a quest as it is when nothing else is said.
type toldQuest struct {
	title, narrative, criteria, dragon, log string
}

func (q toldQuest) file() string {
	return "---\ncampaign-mode: Ship\nphase: 3\ncreated: 2026-02-14\n---\n\n" + q.title +
		"## Quest Narrative\n\n" + q.narrative + "\n## Success Criteria\n\n" + q.criteria +
		"\n## Anticipated Dragon\n\n" + q.dragon + "\n## Party Assignments\n\n## Progress Log\n\n- **Phase 1 complete** — Quest defined (2026-02-14)\n" + q.log
}

func (h *questHistory) run(t *testing.T) {
	dir := t.TempDir()
	own := ""
	instructions := func(string) ([]byte, error) { return []byte(own), nil }
	house := New(Options{Root: dir, Library: profile.Library{}, Instructions: instructions})
	q := toldQuest{"# The work\n\n", "Something is to be made.\n", "1. It is there\n", "Haste.\n", ""}
	talks := 0
	for _, s := range h.steps {
		switch s.what {
		case "file":
			write(t, dir, s.arg, s.text)
		case "message": // a file from which the next words are said
			write(t, dir, s.arg, s.text)
			house.opts.Messages = append(house.opts.Messages, s.arg)
		case "consult":
			talks++
			h.consult(t, house, dir, s, time.Date(2026, 2, 15, 10, talks, 0, 0, time.UTC))
		case "title":
			q.title = "# " + s.text + "\n"
		case "narrative":
			q.narrative = s.text
		case "criteria":
			q.criteria = s.text
		case "dragon":
			q.dragon = s.text
		case "log":
			q.log = s.text
		case "yes": // quest start -m … --yes: one sentence is both
			q.title, q.narrative, q.criteria = "", s.text, "1. "+s.text
		case "archive":
			old := toldQuest{"# Older\n\n", s.text, "1. It rings\n", "Rust.\n", ""}
			write(t, dir, quest.ArchiveDir+"/2025-06-01-"+s.arg+".md", old.file())
		case "report":
			write(t, dir, quest.ReportFile, "---\ncreated: 2026-02-15\ncouncil-type: standalone\n---\n# Council Report\n\n"+s.text)
		case "instructions":
			own = s.text
		default:
			t.Fatalf("%q is no step", s.what)
		}
	}
	write(t, dir, quest.QuestFile, q.file())
	_, err := house.Examine(t.Context(), h.in)
	leak, found := err.(*quest.LeakError)
	switch {
	case err != nil && !found:
		t.Fatal(err)
	case len(h.finds) == 0 && found:
		t.Errorf("an honest history is refused:\n%v", err)
	case len(h.finds) > 0 && !found:
		t.Error("the leak is not found")
	}
	for _, want := range h.finds {
		if !found {
			break
		}
		place, source, _ := strings.Cut(want, " ")
		yes := false
		for _, l := range leak.Leaks {
			yes = yes || strings.HasPrefix(l.String(), place) && strings.Contains(l.Source, source) &&
				len(l.Text) > 10 && len(l.SourceText) > 10 && strings.Contains(l.SourceAt, ":")
		}
		if !yes {
			t.Errorf("nothing at %s from %s is found:\n%v", place, source, err)
		}
	}
}

// consult holds a conversation whose words stand in the step: what it says is
// noted as a turn notes it, and filed as flows file it.
func (h *questHistory) consult(t *testing.T, house *House, dir string, s step, at time.Time) {
	c := quest.Conversation{Agent: policy.Role(s.arg), Phase: quest.PhaseExecution, Mode: quest.Ship, Start: at,
		Quest: "The work", Purpose: quest.PurposeAdvisory}
	for block := range strings.SplitSeq("\n"+s.text, "\n@") {
		who, text, ok := strings.Cut(block, "\n")
		if n := len(c.Exchange) - 1; n >= 0 && strings.Contains(who, " ") { // the head of a hunk
			c.Exchange[n].Text += "\n@" + block
			continue
		}
		if !ok {
			continue
		}
		tag := profile.UserTag
		if who != "user" {
			a, known := profile.Lookup(who)
			if !known {
				t.Fatalf("%s: nobody is called %q", h.name, who)
			}
			tag = profile.NewFace(a, nil).Tag()
		}
		c.Exchange = append(c.Exchange, quest.Message{Speaker: tag, Text: text})
	}
	for i := range c.Exchange {
		c.Exchange[i].Text = strings.TrimSpace(c.Exchange[i].Text)
	}
	house.hush.begin()
	var words []string
	for _, m := range c.Exchange {
		words = append(words, m.Text)
	}
	house.said(words...)
	data, err := c.Render()
	if err != nil {
		t.Fatal(err)
	}
	for name := range c.Names() {
		write(t, dir, quest.ConversationsDir+"/"+name, string(data))
		break
	}
}

// Work of many megabytes is not searched in silence.
func TestSearchIsHeard(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	write(t, dir, quest.QuestFile, toldQuest{"# T\n\n", "N.\n", "1. It is there\n", "D.\n", ""}.file())
	write(t, dir, "a.txt", strings.Repeat("one two three four five six seven eight nine\n", 4000))
	write(t, dir, "b.txt", "short\n")
	var heard []int64
	total := int64(0)
	house := New(Options{Root: dir, Searched: func(done, of int64) { heard, total = append(heard, done), of }})
	if _, err := house.Examine(t.Context(), Evaluate{Role: policy.Dragon, Paths: []string{"."}}); err != nil {
		t.Fatal(err)
	}
	if len(heard) < 3 || !slices.IsSorted(heard) || heard[len(heard)-1] != total || total != 4000*45+6 {
		t.Errorf("heard %v of %d", heard, total)
	}
}

// What excuses is what stood when it was said: not what was put in meanwhile,
// and not what stood when it was said again.
func TestStood(t *testing.T) {
	t.Parallel()
	const said = "the gauge of the ninth pier is read twice a day by whoever has the key"
	dir := t.TempDir()
	h := New(Options{Root: dir, Scripts: []string{"./cast.txt"}})
	write(t, dir, "cast.txt", said)
	write(t, dir, ".campaign/notes.md", said)
	h.note(time.Now(), said)
	if got := h.stood(said); len(got) != 0 {
		t.Errorf("a script or the campaign's own files excuse %v", got)
	}
	write(t, dir, "README.md", said)
	h.note(time.Now(), said)
	if got := h.stood(said); len(got) != 0 {
		t.Errorf("what was said first excuses itself later: %v", got)
	}
	h.note(time.Now().Add(-time.Hour), "He says that "+said)
	if got := h.stood("He says that " + said); len(got) != 0 {
		t.Errorf("a file that was written since excuses %v", got)
	}
	h.note(time.Now(), "She says that "+said+".")
	if got := h.stood("She says that " + said + "."); len(got) != 1 || got[0] != [2]int{14, 14 + len(said)} {
		t.Errorf("of what stood in README.md %v is noted", got)
	}
}
