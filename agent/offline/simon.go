package offline

import (
	"fmt"
	"io/fs"
	"path"
	"slices"
	"strings"

	"conclave/internal/pattern"
)

const (
	simonOpening = "I work without a model: I look, I do not reason. What follows is put together from what others " +
		"said, and nothing is added to it."
	simonJoins    = "What follows is put together from what they said, and nothing is added to it."
	debriefOffers = "I work without a model: I look into the quest's log, I do not reason. I ask, and I give you " +
		"back your own words."
)

// simon synthesises a council or holds a debrief.
func simon(t *turn) error {
	seats := t.seats()
	if len(seats) == 0 || t.calledFor("debrief", "look back", "reflection", "retrospective") {
		t.say(t.opening(debriefOffers))
		return t.debrief()
	}
	opening := simonOpening
	if slices.ContainsFunc(seats, func(s seat) bool { return s.confessed }) {
		opening = simonJoins // it was said, and once is enough
	}
	t.say(t.opening(opening))
	return t.synthesise(seats)
}

// seat is what one advisor wrote.
type seat struct {
	id        string // bear
	seen      []remark
	confessed bool // it said that there is no model
}

// remark is one finding: what it is about, what it claims, where that stands,
// and what one could begin with.
type remark struct {
	who     string
	subject string // "" where the text names none
	text    string
	step    string
	effort  string
	saves   string
	cites   []string // as written
}

// seats reads what the six wrote: from files, else from the message.
func (t *turn) seats() []seat {
	var out []seat
	for _, a := range animals() {
		for _, dir := range []string{"council/", "seats/"} {
			if text := t.read(dir + a.name + ".md"); text != "" {
				out = append(out, heardFrom(a.name, text))
				break
			}
		}
	}
	if len(out) > 0 {
		return out
	}
	texts := t.text
	for _, x := range slices.Backward(t.before) {
		if len(spoken(texts)) == 0 {
			texts = x.told
		}
	}
	return spoken(texts)
}

var noModel = pattern.New(`(?i)\b(no model|without a model)\b`)

func heardFrom(id, text string) seat { return seat{id, remarks(id, text), noModel.MatchString(text)} }

var seatHeading = pattern.New(`^(?:#{1,6}\s+|\*\*)[^\pL]*(?:[^(\n]*\()?(Bear|Cat|Owl|Puppy|Rabbit|Wolf)\b`)

// spoken reads a text with a heading for each advisor.
func spoken(text string) []seat {
	var out []seat
	var b strings.Builder
	name := ""
	flush := func() {
		if name != "" {
			out = append(out, heardFrom(name, b.String()))
		}
		b.Reset()
	}
	for line := range strings.Lines(text) {
		if m := seatHeading.FindStringSubmatch(line); m != nil {
			flush()
			name = strings.ToLower(m[1])
			continue
		}
		b.WriteString(line)
	}
	flush()
	return out
}

var (
	citation  = pattern.New(`([\p{L}\p{N}_.@+-]+(?:/[\p{L}\p{N}_.@+()-]+)*):(\d+)`)
	boldHead  = pattern.New(`^\*\*([^*\n]{1,120})\*\*:?\s+`)
	costsForm = pattern.New(`(?i)^` + costMark + `([^;\n]+?)(?:;\s*saves:\s*(.+?))?\.?$`)
)

// wherePlaced is an answer to the person's words, and no finding.
var wherePlaced = pattern.New(`^“[^”]*” stands in `)

// remarks splits a text into its items: those of a list, else its paragraphs.
// What cites nothing is no finding.
func remarks(who, text string) []remark {
	var parts [][]string
	for line := range strings.Lines(text) {
		t := strings.TrimSpace(line)
		if bullet.MatchString(line) || len(parts) == 0 || t == "" {
			parts = append(parts, []string{t})
		} else {
			parts[len(parts)-1] = append(parts[len(parts)-1], t)
		}
	}
	var out []remark
	for _, p := range parts {
		if r := remarkOf(who, p); len(r.cites) > 0 && !wherePlaced.MatchString(r.text) {
			out = append(out, r)
		}
	}
	return out
}

func remarkOf(who string, lines []string) remark {
	r := remark{who: who}
	var said []string
	for _, line := range lines {
		if step, ok := strings.CutPrefix(line, stepMark); ok {
			r.step = step
		} else if m := costsForm.FindStringSubmatch(line); m != nil {
			r.effort, r.saves = strings.TrimSpace(m[1]), strings.TrimSpace(m[2])
		} else {
			said = append(said, line)
		}
	}
	r.text = strings.TrimSpace(bullet.ReplaceAllString(strings.Join(said, " "), ""))
	if m := boldHead.FindStringSubmatch(r.text); m != nil {
		r.subject = strings.Trim(strings.TrimSpace(m[1]), ":")
		r.text = strings.TrimSpace(r.text[len(m[0]):])
	}
	for _, m := range citation.FindAllStringSubmatch(r.text, -1) {
		if strings.ContainsFunc(m[1], func(c rune) bool { return c >= 'A' && c <= 'Z' || c >= 'a' && c <= 'z' }) {
			r.cites = append(r.cites, m[0])
		}
	}
	return r
}

// council is what the six have in common and what not.
type council struct {
	agreed  []string
	dissent []string
	steps   []string
	order   string // of the steps, in words
}

func (t *turn) synthesise(seats []seat) error {
	err := t.look("read", map[string]any{"paths": t.seatFiles()}, func() (string, error) {
		return count(len(seats),
			"text"), nil
	})
	if err != nil {
		return err
	}
	c := t.joined(seats)
	consensus, dissent := strings.Join(c.agreed, "\n"), strings.Join(c.dissent, "\n")
	if t.form != nil && len(t.before) > 0 {
		t.say("In the form that was asked for.")
	} else {
		t.say(consensus)
		if dissent != "" {
			t.say("Where they differ:\n\n" + dissent)
		}
		if len(c.steps) > 1 {
			t.say("What to do next, " + c.order + ":\n\n" + numberedList(c.steps))
		} else {
			t.say("What to do next: " + c.steps[0])
		}
	}
	t.answerWith(fill(t.form, map[string]any{"consensus": consensus, "dissent": dissent, "next_steps": c.steps}))
	return nil
}

func (t *turn) seatFiles() []string {
	out := []string{}
	for _, dir := range []string{"council", "seats"} {
		if sub := t.room(dir); sub != nil {
			names, err := fs.Glob(sub, "*.md")
			if err != nil {
				continue
			}
			for _, n := range names {
				out = append(out, path.Join(dir, n))
			}
		}
	}
	return out
}

func numberedList(list []string) string {
	var b strings.Builder
	for i, s := range list {
		fmt.Fprintf(&b, "%d. %s\n", i+1, s)
	}
	return b.String()
}

// joined brings findings together that are about the same thing. Two that only
// stand in the same file are about two things.
func (t *turn) joined(seats []seat) council {
	var c council
	var all []remark
	silent := []string{}
	speaks := ""
	for _, s := range seats {
		if len(s.seen) == 0 {
			silent = append(silent, t.called(s.id))
		} else {
			speaks = t.called(s.id)
		}
		all = append(all, s.seen...)
	}
	for _, same := range alike(all) {
		if a, b := opposed(same); a != nil {
			c.dissent = append(c.dissent, fmt.Sprintf("- About %s: %s would begin: %s; %s would begin: %s.", same[0].thing(),
				t.called(a.who), strings.TrimSuffix(a.step, "."), t.called(b.who), strings.TrimSuffix(b.step, ".")))
			continue
		}
		c.agreed = append(c.agreed, "- "+t.agreement(same))
	}
	switch {
	case len(all) == 0:
		c.agreed = []string{"None of them points to anything, so there is nothing to bring together."}
	case len(silent) == len(seats)-1:
		c.agreed, silent = []string{"Only " + speaks + " points to something, so there is nothing to bring together."}, nil
	case len(c.agreed) == 0:
		c.agreed = []string{"No two of them speak of the same thing: what follows is what each saw alone."}
	}
	if len(silent) > 0 && len(all) > 0 {
		verb := map[bool]string{true: " points", false: " point"}[len(silent) == 1]
		c.agreed = append(c.agreed, "", begins(named(silent))+verb+" to nothing.")
	}
	c.steps, c.order = t.steps(seats)
	return c
}

// thing is what a finding is about, as it was written.
func (r remark) thing() string {
	if r.subject != "" {
		return r.subject
	}
	return "`" + r.cites[0] + "`"
}

// alike groups the findings of several advisors about one thing, in the order
// in which they were first spoken of. A finding that does not say what it is
// about is about the line that it cites first.
func alike(all []remark) [][]remark {
	key := func(r remark) string {
		return strings.ToLower(strings.ReplaceAll(r.thing(), "`", ""))
	}
	var out [][]remark
	done := map[string]bool{}
	for _, r := range all {
		if done[key(r)] {
			continue
		}
		done[key(r)] = true
		same := []remark{}
		for _, x := range all {
			if key(x) == key(r) && !slices.ContainsFunc(same, func(y remark) bool { return y.who == x.who }) {
				same = append(same, x)
			}
		}
		if len(same) > 1 {
			out = append(out, same)
		}
	}
	slices.SortStableFunc(out, func(a, b []remark) int { return len(b) - len(a) })
	return out
}

// agreement says who speaks of a thing, and what each says of it.
func (t *turn) agreement(same []remark) string {
	var who, said []string
	for _, r := range same {
		who = append(who, t.called(r.who))
		said = append(said, begins(t.called(r.who))+": "+strings.TrimSuffix(clip(r.text, 240), ".")+".")
	}
	how := "speak of the same thing"
	if same[0].subject == "" {
		how = "point to the same line" // and may see different things in it
	}
	return fmt.Sprintf("%s %s, %s. %s", begins(named(who)), how, same[0].thing(), strings.Join(said, " "))
}

// named joins names for a sentence.
func named(names []string) string {
	if len(names) < 2 {
		return strings.Join(names, "")
	}
	return strings.Join(names[:len(names)-1], ", ") + " and " + names[len(names)-1]
}

// opposites are steps that undo one another.
var opposites = [][2]string{
	{"add", "remove"}, {"add", "drop"}, {"add", "delete"}, {"keep", "remove"}, {"keep", "drop"}, {"keep", "delete"},
	{"pin", "unpin"},
	{"raise", "lower"}, {"split", "merge"}, {"begin", "stop"}, {"publish", "withhold"}, {"wait", "go"}, {"enable",
		"disable"},
}

// opposed finds two findings about one thing whose steps contradict each other.
func opposed(same []remark) (*remark, *remark) {
	verb := func(r remark) string {
		first, _, _ := strings.Cut(strings.ToLower(r.step), " ")
		return strings.Trim(first, ".,:")
	}
	for i := range same {
		for j := range same {
			if slices.Contains(opposites, [2]string{verb(same[i]), verb(same[j])}) {
				return &same[min(i, j)], &same[max(i, j)]
			}
		}
	}
	return nil, nil
}

const maxSteps = 5

// efforts are what a step may cost, the least first.
var efforts = []string{"minutes", "an hour", "hours", "half a day", "a day", "days", "a week"}

// option is a step that somebody has drawn from a finding of theirs.
type option struct {
	from []remark
	rank int // among the findings of its advisor
}

// steps draws the next steps from the findings: what several would begin with
// first, then what weighs most with each of them, the cheapest first. Nothing
// is a step that nobody named; two that are the same are one.
func (t *turn) steps(seats []seat) (list []string, order string) {
	var all []*option
	for _, s := range seats {
		for i, r := range s.seen {
			if r.step == "" {
				continue
			}
			at := slices.IndexFunc(all, func(o *option) bool { return sameStep(o.from[0].step, r.step) })
			if at < 0 {
				all = append(all, &option{rank: i})
				at = len(all) - 1
			}
			if o := all[at]; !slices.ContainsFunc(o.from, func(x remark) bool { return x.who == r.who }) {
				o.from, o.rank = append(o.from, r), min(o.rank, i)
			}
		}
	}
	slices.SortStableFunc(all, func(a, b *option) int {
		if d := len(b.from) - len(a.from); d != 0 {
			return d
		}
		if d := a.rank - b.rank; d != 0 {
			return d
		}
		return a.from[0].cost() - b.from[0].cost()
	})
	var out []string
	for _, o := range all[:min(len(all), maxSteps)] {
		out = append(out, t.stepWords(o))
	}
	if len(out) == 0 {
		return t.lookFirst(seats), "in the order in which they spoke"
	}
	order = "what weighs most with each of them first, and of that the cheapest"
	if len(all[0].from) > 1 {
		order = "first what several of them would begin with, then what weighs most with each, and of that the cheapest"
	}
	return out, order
}

func (r remark) cost() int {
	if i := slices.Index(efforts, strings.ToLower(r.effort)); i >= 0 {
		return i
	}
	return len(efforts)
}

func sameStep(a, b string) bool {
	plain := func(s string) string {
		return strings.ToLower(strings.Join(strings.Fields(strings.TrimRight(s, ".!")), " "))
	}
	return plain(a) == plain(b)
}

// stepWords is a step with who named it, where it comes from, and what it
// costs and saves.
func (t *turn) stepWords(o *option) string {
	var who []string
	for _, r := range o.from {
		who = append(who, t.called(r.who))
	}
	first := o.from[0]
	text := strings.TrimRight(oneLine(first.step), ".")
	plain := strings.ToLower(strings.ReplaceAll(first.subject, "`", ""))
	if !strings.Contains(strings.ToLower(text), plain) {
		text = first.subject + ": " + text // a step may speak of "it"
	}
	text += " (" + named(who) + ", from `" + first.cites[0] + "`"
	if first.effort != "" {
		text += "; costs " + first.effort
	}
	if first.saves != "" {
		text += "; saves " + first.saves
	}
	return text + ")."
}

// lookFirst is what is left when nobody named a step.
func (t *turn) lookFirst(seats []seat) []string {
	var out []string
	for _, s := range seats {
		if len(s.seen) > 0 && len(out) < maxSteps {
			r := s.seen[0]
			out = append(out, "Look at `"+r.cites[0]+"`, where "+t.called(s.id)+" says: "+clip(r.text, 200))
		}
	}
	if len(out) == 0 {
		out = append(out, "Nothing follows from what they saw. Ask one of them about what worries you: they look where "+
			"your words point.")
	}
	return out
}

// oneLine joins lines and leaves everything else, so that quotations stay
// word for word.
func oneLine(s string) string { return strings.ReplaceAll(strings.TrimSpace(s), "\n", " ") }
