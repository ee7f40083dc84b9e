package tracer

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"

	"conclave/dice"
	"conclave/internal/atomicfile"
	"conclave/record"
	"conclave/table"
	"conclave/table/story"
)

// account is everything that must be the same however often the program died,
// each piece by its name.
type account map[string]string

// What no two sessions have in common: the numbers that dice show, hashes, the words
// that fence a quotation, names with a time in them.
var (
	fell  = regexp.MustCompile(`(Roll #[0-9]+ · [^:\n]*): [^\n"]*`)
	fence = regexp.MustCompile(`\b([0-9a-f]{16}|[0-9a-f]{64})\b`)
	made  = regexp.MustCompile(`\b(before|auto)-[0-9a-z-]+`)
	size  = regexp.MustCompile(`"(size|total)": [0-9]+`)         // of a scene, in which numbers stand; of initiative
	order = regexp.MustCompile(`(?m)^(- [a-z0-9-]+) -?[0-9]+\b`) // in the order of initiative
	stamp = regexp.MustCompile(`[0-9]{8}T[0-9]{6}[.0-9]*Z?`)
)

func plain(text string) string {
	text = fell.ReplaceAllString(text, "$1: …")
	text = fence.ReplaceAllString(text, "#")
	text = size.ReplaceAllString(text, `"$1": #`)
	text = order.ReplaceAllString(text, "$1 #")
	text = made.ReplaceAllString(text, "$1-#")
	return chance.ReplaceAllString(stamp.ReplaceAllString(text, "T"), "$1")
}

// account tells what a session came to.
func (p place) account(s standing) (account, error) {
	a := account{}
	if err := a.files(p); err != nil {
		return nil, err
	}
	a.events(s.events)
	a.turns(s.turns)
	var diced []string
	for line := range bytes.Lines(s.dice) {
		var l dice.Line
		if err := json.Unmarshal(line, &l); err != nil {
			return nil, err
		}
		diced = append(diced, fmt.Sprintf("%s epoch %d #%d %s %q %q %s", l.Event, l.Epoch, l.N, l.Who, l.Purpose, l.Input, l.Visibility))
	}
	a["dice"] = strings.Join(diced, "\n")
	for _, seat := range append([]string{"gm", table.SeatTable}, slugs(s)...) {
		text, err := story.Story(p.workspace(), campaign, "T", seat)
		if err != nil {
			return nil, err
		}
		a["story for "+seat] = plain(text)
	}
	var saves []string
	for _, save := range s.Saves {
		if !save.Own {
			saves = append(saves, fmt.Sprintf("%s of cycle %d", plain(save.Name), save.Cycle))
		}
	}
	a["saves"] = strings.Join(slices.Compact(saves), "\n")
	a["the end is kept"] = fmt.Sprint(s.endKept())
	a["status"] = fmt.Sprintf("session %d (%v), cycle %d, %d rolls, open %v, journals %v, drafts %v, problems %v",
		s.Session, s.InSession, s.Cycle, s.Rolls, s.Open, s.Journals, s.Drafts, s.Problems)
	return a, nil
}

func slugs(s standing) []string {
	var out []string
	for _, c := range s.Characters {
		out = append(out, c.Slug)
	}
	return out
}

// files are those of every campaign, and what the tables put aside.
func (a account) files(p place) error {
	for _, top := range []string{"campaigns", ".conclave/tables"} {
		err := filepath.WalkDir(p.file(top), func(file string, d fs.DirEntry, err error) error {
			if err != nil || d.IsDir() {
				if err == nil && top != "campaigns" && (d.Name() == "log" || d.Name() == "saves") {
					return fs.SkipDir
				}
				return err
			}
			rel, err := filepath.Rel(p.workspace(), file)
			if err != nil || d.Name() == table.DiceLogFile || d.Name() == "dice-seed" {
				return err
			}
			if top != "campaigns" && atomicfile.IsTemp(d.Name()) {
				return nil // half a file that nobody takes for one
			}
			data, err := os.ReadFile(file)
			a[plain(filepath.ToSlash(rel))] = plain(string(data))
			return err
		})
		if err != nil {
			return err
		}
	}
	return nil
}

// events are the log, but for times and for what the table keeps by itself: that
// is kept when there is time, and who types a restore again keeps that again.
func (a account) events(list []story.Event) {
	n := 0
	for _, e := range list {
		if e.Kind == story.EventSave && made.MatchString(e.Name) {
			continue
		}
		n++
		e.Seq, e.To, e.Run = n, 0, ""
		e.Dice = nil // as far as the process knew that wrote it
		e.Time = e.Time.Truncate(1 << 62)
		data, err := json.MarshalIndent(e, "", " ")
		if err != nil {
			panic(err) // it is plain data
		}
		a[fmt.Sprintf("event %02d %s", n, e.Kind)] = plain(string(data))
	}
}

func (a account) turns(list []turn) {
	for _, t := range list {
		last := ""
		if n := len(t.asked); n > 0 {
			last = t.asked[n-1]
		}
		a["turn "+t.String()] = plain(fmt.Sprintf("asked:\n%s\nanswered:\n%s", last, strings.Join(t.replies, "\n--- and again:\n")))
	}
}

// differences say how an account differs from the one that is wanted.
func (want account) differences(got account) []string {
	var all []string
	for _, name := range slices.Sorted(maps.Keys(want)) {
		switch text, ok := got[name]; {
		case !ok:
			all = append(all, name+" is missing")
		case text != want[name]:
			all = append(all, fmt.Sprintf("%s differs:\n%s", name, firstDifference(want[name], text)))
		}
	}
	for _, name := range slices.Sorted(maps.Keys(got)) {
		if _, ok := want[name]; !ok {
			all = append(all, name+" should not be there:\n"+got[name])
		}
	}
	return all
}

// firstDifference is where two texts part, line by line.
func firstDifference(want, got string) string {
	w, g := strings.Split(want, "\n"), strings.Split(got, "\n")
	i := 0
	for i < len(w) && i < len(g) && w[i] == g[i] {
		i++
	}
	some := func(lines []string) string {
		return strings.Join(lines[min(i, len(lines)):min(i+6, len(lines))], "\n    ")
	}
	return fmt.Sprintf("  line %d\n  want\n    %s\n  got\n    %s", i+1, some(w), some(g))
}

// proofs are what must hold by itself: no torn, unsealed or damaged record, no
// turn answered twice, dice that verify and stand in the story as they fell.
func (p place) proofs(s standing) []string {
	var bad []string
	list, err := record.List(record.Dir(p.workspace()))
	if err != nil {
		return []string{err.Error()}
	}
	for _, info := range list {
		report, err := record.Verify(info.Path)
		if err != nil || report.Sound() != nil || !report.Sealed || report.TornBytes > 0 {
			bad = append(bad, fmt.Sprintf("record %s: sealed %v, torn %d, %v, %v", info.Run, report.Sealed, report.TornBytes, report.Sound(), err))
		}
	}
	for _, t := range s.turns {
		if len(t.replies) != 1 {
			bad = append(bad, fmt.Sprintf("turn %s was answered %d times", t, len(t.replies)))
		}
		for _, text := range t.asked[1:] {
			if plain(text) != plain(t.asked[0]) {
				bad = append(bad, fmt.Sprintf("turn %s was asked again in other words:\n%s", t, firstDifference(plain(t.asked[0]), plain(text))))
			}
		}
	}
	if entries, err := os.ReadDir(p.file("campaigns/ash/tmp")); err != nil || len(entries) > 1 {
		bad = append(bad, fmt.Sprintf("tmp is not clean: %v %v", entries, err))
	}
	report, err := dice.VerifyFile(p.file("campaigns/ash/" + table.DiceLogFile))
	if err != nil || !report.OK() {
		bad = append(bad, fmt.Sprintf("dice: %+v, %v", report, err))
	}
	return append(bad, p.toldAsFallen(s)...)
}

// toldAsFallen: every number that was told is the one in the log.
func (p place) toldAsFallen(s standing) []string {
	fallen := map[string][]string{}
	for line := range bytes.Lines(s.dice) {
		var l dice.Line
		if err := json.Unmarshal(line, &l); err != nil {
			return []string{err.Error()}
		}
		for _, r := range l.Results {
			head := fmt.Sprintf("Roll #%d ", l.N)
			fallen[head] = append(fallen[head], r.Text)
		}
	}
	var bad []string
	for _, e := range s.events {
		for _, b := range e.Blocks {
			for _, told := range fell.FindAllString(b.Text, -1) {
				head := told[:strings.Index(told, "·")]
				if !slices.ContainsFunc(fallen[head], func(text string) bool { return strings.Contains(told, text) }) {
					bad = append(bad, fmt.Sprintf("cycle %d tells %q; the log has %q", e.Cycle, told, fallen[head]))
				}
			}
		}
	}
	return bad
}

// lost says what of a killed session is no longer as it was at its death: what
// is durable stays, and nobody whose answer is on the record is asked again.
func lost(dead, now standing) []string {
	var bad []string
	whole := dead.dice[:bytes.LastIndexByte(dead.dice, '\n')+1]
	if !bytes.HasPrefix(now.dice, whole) {
		bad = append(bad, fmt.Sprintf("the dice log was\n%s\nand is\n%s", whole, now.dice))
	}
	for i, e := range dead.events {
		_, was := e.File()
		if i >= len(now.events) {
			bad = append(bad, fmt.Sprintf("event %d is gone", e.Seq))
		} else if _, is := now.events[i].File(); !bytes.Equal(was, is) {
			bad = append(bad, fmt.Sprintf("event %d was\n%s\nand is\n%s", e.Seq, was, is))
		}
	}
	for _, t := range dead.turns {
		i := slices.IndexFunc(now.turns, func(o turn) bool { return o.String() == t.String() })
		switch {
		case i < 0:
			bad = append(bad, fmt.Sprintf("turn %s is gone from the records", t))
		case len(t.replies) > 0 && len(now.turns[i].asked) != len(t.asked):
			bad = append(bad, fmt.Sprintf("turn %s had been answered and was asked again", t))
		case len(now.turns[i].asked) > len(t.asked)+1:
			bad = append(bad, fmt.Sprintf("turn %s was asked %d times", t, len(now.turns[i].asked)))
		}
	}
	return bad
}
