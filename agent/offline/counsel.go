package offline

import (
	"fmt"
	"strings"

	"conclave/internal/pattern"
	"conclave/quest"
)

// readiness holds each criterion against what can be looked up in the
// workspace, and says of the rest who could tell.
func (t *turn) readiness() error {
	if len(t.before) > 0 {
		return t.counsel()
	}
	list := readCriteria(t.read(criteriaFile))
	if len(list) == 0 {
		t.say("The quest has no criteria that I could hold against anything. Agree on some first; then ask me again.")
		return nil
	}
	tree := t.room("workspace")
	var b strings.Builder
	of := map[string]int{}
	for _, c := range list {
		a, err := t.assess(c, checkResult{}, tree)
		if err != nil {
			return err
		}
		word := ""
		switch {
		case a.status == met:
			word = "it stands: " + a.evidence
		case a.status == notMet:
			word = "it does not hold yet: " + a.evidence
		case c.check != "":
			a.status, word = "check", "its check decides, and I run no commands; run it yourself first: "+c.command()
		default:
			word = "I cannot judge that: " + a.evidence
		}
		of[a.status]++
		fmt.Fprintf(&b, "%d. %s: %s.\n", c.number, clip(c.text, 120), strings.TrimSuffix(word, "."))
	}
	t.say("I have held each criterion against what can be looked up in the workspace.", b.String(), readinessWords(of,
		len(list)))
	return nil
}

// readinessWords sums the review up. Whether to go is the person's to say.
func readinessWords(of map[string]int, all int) string {
	var parts []string
	for _, p := range []struct{ status, one, more string }{
		{met, "stands", "stand"}, {notMet, "does not hold yet", "do not hold yet"},
		{"check", "is decided by its check", "are decided by their checks"},
		{notJudged, "cannot be told without reading the work", "cannot be told without reading the work"},
	} {
		switch n := of[p.status]; n {
		case 0:
		case 1:
			parts = append(parts, "1 "+p.one)
		default:
			parts = append(parts, number(n)+" "+p.more)
		}
	}
	end := " Whether you go is for you to say."
	switch {
	case of[notMet] > 0:
		end = " Close what does not hold first, or go knowing it: the choice is yours."
	case of[notJudged] > 0:
		end = " Whoever tests the work without a model will not judge those last ones; a check, " +
			"written behind the criterion as " +
			"(check: `command`), or a model in its seat would. The choice is yours."
	}
	return "Of " + criteriaCount(all) + ": " + strings.Join(parts, ", ") + "." + end
}

var criterionNumber = pattern.New(`(?i)\b(?:criterion|number|criteria)\s+(\d{1,3})\b|^\s*(\d{1,3})\s*[.!]?\s*$`)

// counsel says where the quest stands, finds out which criterion it is about,
// and asks for the next step. He knows nothing about the matter itself.
func (t *turn) counsel() error {
	words := ownWords(t.text)
	t.hearProgress()
	list := readCriteria(t.read(criteriaFile))
	if len(t.before) == 0 {
		t.say(t.standing(list))
	}
	m := criterionNumber.FindStringSubmatch(words)
	about := criterion{}
	for _, c := range list {
		if m != nil && c.number == atoi(m[1]+m[2]) {
			about = c
		}
	}
	var ask string
	switch said := len(t.before); {
	case about.number > 0 && about.check != "":
		ask = "You speak of criterion " + number(about.number) + ", “" + clip(about.text, 120) + "”. Its check says " +
			"whether it is so: " + about.command() + ". " +
			"What does it say today, and what is the smallest change that would make it say something else?"
	case about.number > 0:
		ask = "You speak of criterion " + number(about.number) + ", “" + clip(about.text, 120) + "”. What would " +
			"somebody see who looked at it today, and what is " +
			"the smallest thing that would let them see more?"
	case said == 0 && len(list) > 1:
		ask = "Which of the criteria is this about? Say its number. If it is about none of them, ask yourself whether " +
			"it belongs to this quest."
	case said == 0:
		ask = "What have you tried, and what did it show?"
	case said == 1:
		ask = "There are two ways on for anyone who is stuck: a smaller step, which costs you the satisfaction of the " +
			"whole, or somebody's help, which costs you the waiting. Which of the two have you not tried?"
	default:
		ask = "Then say in one sentence what you will do next, and how you will know that it is done. Write it down " +
			"with `conclave quest log`, if it deserves to be remembered."
	}
	s := quest.FirstAdvisor(words)
	t.say(ask, fmt.Sprintf("Whose view would help next: %s (%s).", t.called(string(s.Who)), s.Reason))
	return nil
}

// standing is what the quest's own parts say, with their places.
func (t *turn) standing(list []criterion) string {
	checks := 0
	for _, c := range list {
		if c.check != "" {
			checks++
		}
	}
	var out []string
	if len(list) > 0 {
		how := map[bool]string{true: "none of them with a check", false: number(checks) + " of them with a " +
			"check"}[checks == 0]
		out = append(out, fmt.Sprintf("The quest has %s, %s.", criteriaCount(len(list)), how))
	}
	if n, last := t.lastEntry(); n > 0 {
		out = append(out, fmt.Sprintf("Its log has %s; the last: %s.", count(n, "entry"), strings.TrimSuffix(clip(last,
			240), ".")))
	}
	return strings.Join(out, " ")
}

var progressFiles = []string{"quest/progress-log.md", "quest/progress.md"}

// lastEntry counts the entries of the log that he is shown, and gives the last.
func (t *turn) lastEntry() (n int, last string) {
	for _, name := range progressFiles {
		for _, text := range numbered(t.read(name)) {
			if bullet.MatchString(text) {
				n, last = n+1, strings.ReplaceAll(bullet.ReplaceAllString(text, ""), "**", "")
			}
		}
		if n > 0 {
			break
		}
	}
	return n, last
}
