package offline

import (
	"fmt"
	"io/fs"
	"path"
	"regexp"
	"slices"
	"strings"
)

const simonOpening = "I work without a model: I look, I do not reason. What follows is put together from what others said, and nothing is added to it."

// simon synthesises a council or holds a debrief.
func simon(t *turn) error {
	t.say(t.opening(simonOpening))
	seats := t.seats()
	if len(seats) > 0 && !t.calledFor("debrief", "look back", "reflection", "retrospective") {
		return t.synthesise(seats)
	}
	return t.debrief()
}

// seat is what one advisor wrote.
type seat struct {
	name string // "Bear"
	seen []remark
}

// remark is one observation with its citations.
type remark struct {
	who   string
	text  string
	step  string
	paths []string
	cites []string // as written
}

var order = []string{"Bear", "Cat", "Owl", "Puppy", "Rabbit", "Wolf"}

// seats reads what the six wrote: from files, else from the message.
func (t *turn) seats() []seat {
	var out []seat
	for _, name := range order {
		for _, dir := range []string{"council/", "seats/"} {
			if text := t.read(dir + strings.ToLower(name) + ".md"); text != "" {
				out = append(out, seat{name, remarks(name, text)})
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

var seatHeading = regexp.MustCompile(`^(?:#{1,6}\s+|\*\*)[^\pL]*(?:[^(\n]*\()?(Bear|Cat|Owl|Puppy|Rabbit|Wolf)\b`)

// spoken reads a text with a heading for each advisor.
func spoken(text string) []seat {
	var out []seat
	var b strings.Builder
	name := ""
	flush := func() {
		if name != "" {
			out = append(out, seat{name, remarks(name, b.String())})
		}
		b.Reset()
	}
	for line := range strings.Lines(text) {
		if m := seatHeading.FindStringSubmatch(line); m != nil {
			flush()
			name = m[1]
			continue
		}
		b.WriteString(line)
	}
	flush()
	return out
}

var citation = regexp.MustCompile(`([\p{L}\p{N}_.@+-]+(?:/[\p{L}\p{N}_.@+()-]+)*):(\d+)`)

// remarks splits a text into its items: those of a list, else its paragraphs.
// What cites nothing is no observation.
func remarks(who, text string) []remark {
	var parts []string
	for line := range strings.Lines(text) {
		t := strings.TrimSpace(line)
		if bullet.MatchString(line) || len(parts) == 0 || t == "" {
			parts = append(parts, t)
		} else {
			parts[len(parts)-1] += "\n" + t
		}
	}
	var out []remark
	for _, p := range parts {
		r := remark{who: who}
		said, step, _ := strings.Cut(p, "\n"+stepMark)
		r.text, r.step = strings.TrimSpace(bullet.ReplaceAllString(said, "")), strings.TrimSpace(step)
		for _, m := range citation.FindAllStringSubmatch(r.text, -1) {
			if strings.ContainsFunc(m[1], func(c rune) bool { return c >= 'A' && c <= 'Z' || c >= 'a' && c <= 'z' }) {
				r.cites = append(r.cites, m[0])
				if !slices.Contains(r.paths, m[1]) {
					r.paths = append(r.paths, m[1])
				}
			}
		}
		if len(r.cites) > 0 {
			out = append(out, r)
		}
	}
	return out
}

// council is what the six have in common and what not.
type council struct {
	agreed  []string
	dissent []string
	steps   []string
}

func (t *turn) synthesise(seats []seat) error {
	err := t.look("read", map[string]any{"paths": t.seatFiles()}, func() (string, error) { return count(len(seats), "text"), nil })
	if err != nil {
		return err
	}
	c := joined(seats)
	consensus := strings.Join(c.agreed, "\n")
	if t.form != nil && len(t.before) > 0 {
		t.say("In the form that was asked for.")
	} else {
		t.say("Where they agree:\n\n"+consensus, dissentWords(c), "What to do next:\n\n"+numberedList(c.steps))
	}
	t.answerWith(fill(t.form, map[string]any{"consensus": consensus, "dissent": strings.Join(c.dissent, "\n"), "next_steps": c.steps}))
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

func dissentWords(c council) string {
	if len(c.dissent) == 0 {
		return ""
	}
	return "What only one of them sees, and what nobody should talk over:\n\n" + strings.Join(c.dissent, "\n")
}

func numberedList(list []string) string {
	var b strings.Builder
	for i, s := range list {
		fmt.Fprintf(&b, "%d. %s\n", i+1, s)
	}
	return b.String()
}

// joined finds the paths that two or more cite; what is left is each one's
// own, and is kept as that.
func joined(seats []seat) council {
	var c council
	by := map[string][]remark{}
	silent := []string{}
	for _, s := range seats {
		if len(s.seen) == 0 {
			silent = append(silent, s.name)
		}
		for _, r := range s.seen {
			for _, p := range r.paths {
				if !slices.ContainsFunc(by[p], func(x remark) bool { return x.who == r.who }) {
					by[p] = append(by[p], r)
				}
			}
		}
	}
	counts := map[string]int{}
	for p, rs := range by {
		if len(rs) > 1 {
			counts[p] = len(rs)
		}
	}
	for _, x := range ranked(counts)[:min(len(counts), 5)] {
		c.agreed = append(c.agreed, "- "+agreement(x.name, by[x.name]))
	}
	if len(c.agreed) == 0 {
		c.agreed = append(c.agreed, "- On nothing that two of them point to: each of the "+number(len(seats))+" looked at other files. That is no agreement, and I shall not call it one.")
	}
	for _, s := range seats {
		for _, r := range s.seen {
			if !slices.ContainsFunc(r.paths, func(p string) bool { return counts[p] > 0 }) {
				c.dissent = append(c.dissent, "- Only the "+s.name+": "+oneLine(r.text))
				break
			}
		}
	}
	for _, name := range silent {
		c.dissent = append(c.dissent, "- The "+name+" points to nothing in its field.")
	}
	c.steps = steps(seats, counts)
	return c
}

// agreement names who cites a path, with one citation of each.
func agreement(p string, rs []remark) string {
	var who []string
	for _, r := range rs {
		i := slices.IndexFunc(r.cites, func(c string) bool { return strings.HasPrefix(c, p+":") })
		who = append(who, "the "+r.who+" at `"+r.cites[max(0, i)]+"`")
	}
	return "`" + p + "` matters to " + strings.Join(who[:len(who)-1], ", ") + " and " + who[len(who)-1] + "."
}

const maxSteps = 5

// steps draws the next steps from what was seen: what several point to first,
// then one of each advisor. A remark that names no step is itself the step.
func steps(seats []seat, shared map[string]int) []string {
	type option struct {
		r    remark
		rank int
	}
	var all []option
	for _, s := range seats {
		for i, r := range s.seen {
			weight := 0
			for _, p := range r.paths {
				weight = max(weight, shared[p])
			}
			if r.step == "" {
				i += 10
			}
			all = append(all, option{r, i*10 - weight})
		}
	}
	slices.SortStableFunc(all, func(a, b option) int { return a.rank - b.rank })
	var out []string
	used := map[string]int{}
	for _, o := range all {
		if len(out) == maxSteps || used[o.r.who] > 0 {
			continue
		}
		used[o.r.who]++
		if o.r.step != "" {
			out = append(out, oneLine(o.r.step)+" (the "+o.r.who+", from `"+o.r.cites[0]+"`)")
		} else {
			out = append(out, "Look at `"+o.r.cites[0]+"`, where the "+o.r.who+" says: "+clip(o.r.text, 200))
		}
	}
	if len(out) == 0 {
		out = append(out, "None of them found anything to point to: put the first file into the workspace, and hold the council again.")
	}
	return out
}

// oneLine joins lines and leaves everything else, so that quotations stay
// word for word.
func oneLine(s string) string { return strings.ReplaceAll(strings.TrimSpace(s), "\n", " ") }
