package offline

import (
	"cmp"
	"fmt"
	"strings"

	"conclave/quest"
)

// debriefQuestions are those of the mode; the person is asked one at a time.
func debriefQuestions(mode string) []string {
	switch mode {
	case modeGrow:
		return []string{
			"What can you do now that you could not do at the beginning?",
			"Where did you notice it for the first time?",
			"What was harder than you had thought, and what did you do then?",
			"What would you tell yourself on the first day?",
			"What of this do you want to keep?",
		}
	case modeShip:
		return []string{
			"What was delivered, in one sentence?",
			"What helped, and what was in the way?",
			"What will you do differently next time?",
		}
	}
	return []string{
		"What was delivered, in one sentence?",
		"What did you learn by delivering it, and where did it show?",
		"What was in the way?",
		"What will you do differently next time?",
	}
}

// defeatQuestions are for a quest that goes on after the Dragon prevailed.
func defeatQuestions(mode string) []string {
	list := []string{"What does the verdict show you that you did not know before?", "What was in the " +
		"way?", "What will you try next?"}
	if mode == modeGrow {
		list = append(list[:1:1], "What can you do now that you could not do at the beginning, although it was not "+
			"enough?", list[1], list[2])
	}
	return list
}

// reflectionQuestions are for whoever is on the way.
func reflectionQuestions() []string {
	return []string{
		"What did you set out to do, in one sentence?",
		"What do you know now that you did not know when you began?",
		"What is in the way?",
		"What is the smallest next step, and when will you take it?",
	}
}

// debrief asks and, in the end, gives back what it heard. The first message
// opens the conversation and answers nothing.
func (t *turn) debrief() error {
	list, log := debriefQuestions(t.mode()), t.log()
	switch {
	case t.calledFor("reflection"):
		list = reflectionQuestions()
	case log.verdict == string(quest.DragonPrevails):
		list = defeatQuestions(t.mode())
	}
	heard, lost := t.person()
	heard = append(heard, ownWords(t.text))
	answers := heard[1:]
	n := len(answers)
	ended := n > 0 && enough.MatchString(answers[n-1])
	switch {
	case n == 0:
		t.say(log.told(t.mode()), "I shall ask you "+count(len(list), "question")+", one at a time. "+list[0])
	case n < len(list) && !ended:
		t.say(list[n])
	case n == len(list) || ended:
		t.say(returned(list, answers, lost))
	default:
		t.say(fmt.Sprintf("Heard, and kept as you said it: “%s”. I have no further question.", clip(answers[n-1], 400)))
	}
	return nil
}

// logged is what the log of a quest says of its course, and nothing beside it.
type logged struct {
	entries, progress        int
	first, last              string // days
	checkpoints, confronted  []string
	verdict, words           string // the last of the Dragon's, and the entry
	criteria, transformation int
}

// log reads the log by the rules of a quest. A line of progress that was
// withdrawn is none, and neither is the line that withdraws it.
func (t *turn) log() logged {
	l := logged{}
	for _, c := range readCriteria(t.read(criteriaFile)) {
		l.criteria++
		if c.grow {
			l.transformation++
		}
	}
	const head = "---\nphase: 6\n---\n\n## Progress Log\n\n"
	for _, e := range quest.Parse([]byte(head + t.read("quest/progress-log.md"))).Progress {
		l.entries++
		if e.Date != "" {
			l.first, l.last = cmp.Or(l.first, e.Date), e.Date
		}
		outcome, _, _ := strings.Cut(e.Text, ":")
		switch string(e.Kind) {
		case "progress":
			l.progress++
			if strings.HasPrefix(strings.ToLower(e.Text), "withdrawn:") {
				l.progress -= 2
			}
		case "guardian":
			l.checkpoints = append(l.checkpoints, outcome)
		case "dragon":
			l.confronted, l.verdict, l.words = append(l.confronted, outcome), outcome, t.verdictOf(oneLine(e.Text))
		}
	}
	return l
}

// told is the course of the quest in figures, short where the mode is. What came to
// no verdict is not in the log.
func (l logged) told(mode string) string {
	if l.entries == 0 {
		return ""
	}
	var parts []string
	add := func(noun string, of []string) {
		if len(of) > 0 {
			parts = append(parts, count(len(of), noun)+" with a verdict ("+strings.Join(of, ", ")+")")
		}
	}
	if l.progress > 0 {
		parts = append(parts, count(l.progress, "line")+" of progress")
	}
	add("checkpoint", l.checkpoints)
	add("confrontation", l.confronted)
	text := "The log of this quest"
	if l.first != "" {
		text += map[bool]string{true: " is of " + l.first,
			false: " goes from " + l.first + " to " + l.last}[l.first == l.last]
	}
	if len(parts) > 0 {
		text += " and has " + named(parts)
	}
	text += "."
	if l.words != "" {
		text += " The last verdict: " + strings.TrimSuffix(clip(l.words, 240), ".") + "."
	}
	if mode != modeShip && l.transformation > 0 {
		text += fmt.Sprintf(" Of %s %d said what you would become.", criteriaCount(l.criteria), l.transformation)
	}
	return text
}

// returned gives the person's words back under the questions they answered.
func returned(list, answers []string, lost int) string {
	var b strings.Builder
	b.WriteString("This is what I heard.\n")
	for i, a := range answers {
		if i < len(list) && !skipped.MatchString(a) && !enough.MatchString(a) {
			fmt.Fprintf(&b, "\n%s\n\n> %s\n", list[i], strings.ReplaceAll(strings.TrimSpace(a), "\n", "\n> "))
		}
	}
	if lost > 0 {
		fmt.Fprintf(&b, "\n%s said before I was woken again did not reach me; it is in the record.\n", were(lost, "thing"))
	}
	b.WriteString("\nIt is yours. I add nothing to it.")
	return b.String()
}
