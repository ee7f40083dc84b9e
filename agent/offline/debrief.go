package offline

import (
	"fmt"
	"strings"
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
	list := debriefQuestions(t.mode())
	if t.calledFor("reflection") {
		list = reflectionQuestions()
	}
	heard, lost := t.person()
	heard = append(heard, ownWords(t.text))
	answers := heard[1:]
	n := len(answers)
	ended := n > 0 && enough.MatchString(answers[n-1])
	switch {
	case n == 0:
		t.say(t.verdictLine(), "I shall ask you "+count(len(list), "question")+". "+list[0])
	case n < len(list) && !ended:
		t.say(list[n])
	case n == len(list) || ended:
		t.say(returned(list, answers, lost))
	default:
		t.say(fmt.Sprintf("Heard, and kept as you said it: “%s”. I have no further question.", clip(answers[n-1], 400)))
	}
	return nil
}

// verdictLine says what the log knows of the end.
func (t *turn) verdictLine() string {
	var at cite
	for n, line := range numbered(t.read("quest/progress-log.md")) {
		if strings.Contains(line, "Dragon Slain") || strings.Contains(line, "Dragon Prevails") {
			at = cite{path: "quest/progress-log.md", line: n, quote: quote(line)}
		}
	}
	if at.quote == "" {
		return ""
	}
	return "The last verdict in the log: " + at.String() + "."
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
