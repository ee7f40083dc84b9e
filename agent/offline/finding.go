package offline

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"conclave/quest"
)

// finding is one thing that is so, proved by the lines it cites, and what
// follows from it. Subject is the thing it is about, in the same words from
// whoever speaks of it: by that Simon knows when two mean the same.
type finding struct {
	subject string
	text    string
	cites   []cite
	step    string
	cost    string // minutes, an hour, half a day, a day
	saves   string
	weight  int
	topics  string // words under which a person might ask for it
}

// What a step costs. The words stand in the answer; Simon ranks by them.
const (
	costMinutes = "minutes"
	costHour    = "an hour"
	costHalfDay = "half a day"
	costDay     = "a day"
)

// How much a finding weighs: what is broken now before what contradicts
// itself, that before what will cost somebody a day, that before what is good to
// know.
const (
	broken       = 100
	contradicted = 80
	costly       = 60
	worthKnowing = 40
	welcome      = 30
)

// found makes a finding of a sentence; what is cited in it is remembered.
func found(subject, format string, args ...any) finding {
	f := finding{subject: subject, text: fmt.Sprintf(format, args...)}
	for _, a := range args {
		switch a := a.(type) {
		case cite:
			f.cites = append(f.cites, a)
		case places:
			f.cites = append(f.cites, a...)
		}
	}
	return f
}

func (f finding) then(step, cost, saves string) finding {
	f.step, f.cost, f.saves = step, cost, saves
	return f
}

func (f finding) weighs(n int, topics string) finding {
	f.weight, f.topics = n, topics
	return f
}

// places are several citations, read as a list.
type places []cite

func (p places) String() string {
	var all []string
	for _, c := range p {
		all = append(all, c.String())
	}
	return listed(all)
}

// listed joins words as a sentence does.
func listed(words []string) string {
	if len(words) < 2 {
		return strings.Join(words, "")
	}
	return strings.Join(words[:len(words)-1], ", ") + " and " + words[len(words)-1]
}

const (
	maxFindings = quest.MaxObservations
	maxPlaces   = 3
)

// rule looks for one kind of thing. It finds it once: where there are several,
// they are places of one finding.
type rule func(*sight) []finding

// ranked puts what fits the question first, and then what weighs most.
func rankFindings(list []finding, q query) []finding {
	slices.SortStableFunc(list, func(a, b finding) int {
		return cmp.Or(cmp.Compare(q.fit(b), q.fit(a)), cmp.Compare(b.weight, a.weight))
	})
	return list
}

func renderFindings(list []finding) string {
	var b strings.Builder
	for i, f := range list {
		fmt.Fprintf(&b, "%d. **%s**: %s", i+1, f.subject, f.text)
		if f.step != "" {
			b.WriteString("\n   " + stepMark + f.step)
		}
		if f.cost != "" {
			b.WriteString("\n   " + costMark + f.cost + "; saves: " + f.saves)
		}
		b.WriteString("\n")
	}
	return b.String()
}

// stepMark stands before what to begin with, costMark before what that costs
// and saves; Simon looks for them.
const (
	stepMark = "Begin: "
	costMark = "Costs: "
)
