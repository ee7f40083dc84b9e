package offline

import (
	"fmt"
	"slices"
	"strings"

	"conclave/internal/pattern"
	"conclave/quest"
)

const gandalfOpening = "There is no model behind me, and I will not pretend there is: I ask, I look, and I give " +
	"you back your own words. The thinking stays where it belongs, with you."

// gandalf frames, reviews or counsels, as he was called.
func gandalf(t *turn) error {
	t.say(t.opening(gandalfOpening))
	switch {
	case t.calledFor("character setup"):
		return t.cannotInvent()
	case t.calledFor("readiness", "face the dragon"):
		return t.readiness()
	case t.calledFor("counsel") || t.read(criteriaFile) != "" && !t.calledFor("definition", "begin a quest"):
		return t.counsel()
	}
	return t.frame()
}

type question struct {
	about part
	text  string
}

// questions are those of the mode, in the order in which they are asked; each
// only if nothing that was said has answered it.
func (t *turn) questions(mode string) []question {
	done := question{partDone, "What will be there when it is done, that a stranger could check who was not there? " +
		"One thing a line. Where a command can show it, add (check: `command`)."}
	grow := question{partGrow, "What will you be able to do then that you cannot do today, and where would one see " +
		"it? One thing a line."}
	why := question{partWhy, "Who needs this, and by when?"}
	dragon := question{partDragon, "What would make it fail although everybody worked hard? That is " + t.called("dragon") + " you expect."}
	idea := question{partIdea, "What is this quest about?"}
	switch mode {
	case modeShip:
		idea.text = "What will you deliver?"
		return []question{idea, done, why, dragon}
	case modeGrow:
		idea.text = "What do you want to learn, or to become?"
		grow.text = "What will you learn; who will you be when it is done? Say what you will be able to do then that " +
			"you cannot do today, one thing a line."
		done.text = "What will you make on the way that shows it to somebody who was not there? One thing a line."
		why.text = "Why does it matter to you, and why now?"
		return []question{idea, grow, done, why, dragon}
	}
	return []question{idea, done, grow, why, dragon}
}

// missing is the first question that nothing has answered.
func (d *draft) missing(list []question) question {
	for _, q := range list {
		if !d.settled[q.about] {
			return q
		}
	}
	return question{}
}

// frame asks for what is missing, one thing after the other, and then shows
// what he heard.
func (t *turn) frame() error {
	list := t.questions(t.framedMode())
	heard, lost := t.person()
	d := &draft{steps: t.councilSteps()}
	for _, words := range heard {
		d.hear(words, d.missing(list).about)
	}
	if t.form != nil {
		d.complete()
		return t.handIn(d, lost)
	}
	asked := d.missing(list)
	d.hear(ownWords(t.text), asked.about)
	next := d.missing(list)
	if lost > 0 && lost == len(t.before) {
		t.say(fmt.Sprintf("%s said before I was woken again and did not reach me; say it once more if it belongs "+
			"here.", begins(were(lost, "thing"))))
	}
	if len(d.odd) > 0 {
		t.say("I cannot tell where “" + clip(strings.Join(d.odd, " "), 160) + "” belongs, and I will not guess.")
	}
	switch {
	case strings.Contains(t.text, unasked):
		d.complete()
		t.say(t.shown(d))
	case next.about == partDone && len(d.steps) > 0:
		t.say(d.taken(len(heard) == 0), "I have read the report of the council. It ends with these "+
			"steps:\n\n"+numberedList(d.steps)+
			"\nWhich of them are to be criteria of this quest? Say their numbers, or “all”; or say in your own words what "+
			"will be there when it is done.")
	case next.about != partNone:
		if next == asked && len(heard) > 0 && len(d.odd) == 0 {
			t.say("That is taken in. One thing is still open.")
		}
		t.say(d.taken(len(heard) == 0), next.text)
	case len(d.odd) > 0:
		t.say(t.howToChange())
	case asked.about == partNone && quest.Agrees(ownWords(t.text)):
		t.say("Then it stands as I have shown it.")
	default:
		d.complete()
		t.say(t.shown(d), t.howToChange())
	}
	return nil
}

// unasked is what the engine says where nobody is there to be asked.
const unasked = "answer no questions"

// taken says, once, what the first message was understood as.
func (d *draft) taken(first bool) string {
	if !first || len(d.idea) == 0 {
		return ""
	}
	text := "So it is about this: “" + clip(d.idea[0], 160) + "”"
	var also []string
	if n := len(d.criteria); n > 0 {
		also = append(also, criteriaCount(n))
	}
	if len(d.why) > 0 {
		also = append(also, "why it is wanted")
	}
	if len(d.dragon) > 0 {
		also = append(also, "what could defeat it")
	}
	if len(also) > 0 {
		text += " I also heard " + named(also) + "."
	}
	return text
}

// howToChange is told in full once.
func (t *turn) howToChange() string {
	if slices.ContainsFunc(t.before, func(x exchange) bool {
		return strings.Contains(x.said, "To change it, say "+
			"`add: …`")
	}) {
		return "Change it again in the same way, or say that it is right."
	}
	return "To change it, say `add: …`, `drop 2`, `2: other words`, `name: …`, `why: …` or `dragon: …`, which take " +
		"the place of what stands there; `also why: …` adds to it. When it is right, say so. It is your quest; nothing " +
		"is written before you agree."
}

// stepOrigin is what stands behind a step: who named it, and from where.
var stepOrigin = pattern.New(`\s+\([^()]*\bfrom \x60[^()\x60]+\x60[^()]*\)\.?$`)

// councilSteps are the steps of a council that the quest is begun from; none
// when it is not.
func (t *turn) councilSteps() []string {
	from := strings.Contains(t.text, fromCouncil)
	for _, x := range t.before {
		from = from || strings.Contains(x.told, fromCouncil)
	}
	if !from {
		return nil
	}
	list, err := quest.NextSteps([]byte(t.read("council-report.md")))
	if err != nil {
		return nil
	}
	var out []string
	for _, s := range list {
		out = append(out, strings.TrimRight(stepOrigin.ReplaceAllString(s, ""), ". "))
	}
	return out
}

// fromCouncil is what the engine says of a quest that is begun from a council.
const fromCouncil = "from the findings of a council"

// framedMode is the mode that the message names, else that of the room.
func (t *turn) framedMode() string {
	for _, x := range append([]exchange{{told: t.text}}, t.before...) {
		for _, m := range []string{modeBoth, modeGrow, modeShip} {
			if strings.Contains(x.told, "quest of the mode "+m) {
				return m
			}
		}
	}
	return t.mode()
}

// person is what the person said so far, without the engine's requests. Lost
// counts what was said before the session was resumed and not handed over.
func (t *turn) person() (heard []string, lost int) {
	for _, x := range t.before {
		switch {
		case x.lost:
			lost++
			heard = append(heard, "")
		case strings.Contains(x.told, `"type":"object"`):
		default:
			heard = append(heard, ownWords(x.told))
		}
	}
	return heard, lost
}

func (t *turn) shown(d *draft) string {
	var b strings.Builder
	whose := "in your words and no others"
	if slices.ContainsFunc(d.criteria, func(c string) bool { return slices.Contains(d.steps, c) }) {
		whose = "in your words, and in the council's where you took them"
	}
	b.WriteString("This is what I heard, " + whose + ".\n\n")
	fmt.Fprintf(&b, "**%s**\n\n%s\n\n", d.named(), d.narrative())
	for i, c := range d.criteria {
		fmt.Fprintf(&b, "%d. %s\n", i+1, c)
	}
	if len(d.dragon) > 0 {
		b.WriteString("\n" + begins(t.called("dragon")) + " you expect: " + strings.Join(d.dragon, " ") + "\n")
	}
	var bare []string
	for i, c := range d.criteria {
		if !checkMark.MatchString(c) && !strings.Contains(c, growTag) && !provable(c) {
			bare = append(bare, number(i+1))
		}
	}
	if len(bare) > 0 {
		fmt.Fprintf(&b, "\nNo command shows %s yet. Whoever judges without a model will say “not judged” there; a "+
			"(check: `command`) behind the words would decide it.\n", named(bare))
	}
	return b.String()
}

// handIn gives the draft in the form that is asked for.
func (t *turn) handIn(d *draft, lost int) error {
	if d.named() == "" || len(d.criteria) == 0 || lost > 0 {
		t.say("I cannot write a quest down from what I heard: I have too few of your own words, and I add none of mine.")
		return nil
	}
	var criteria []map[string]any
	for _, c := range d.criteria {
		criteria = append(criteria, map[string]any{"text": strings.TrimSpace(strings.ReplaceAll(c, growTag, "")),
			"sort": sortOf(c)})
	}
	dragon := strings.Join(d.dragon, " ")
	t.say("Written down as you said it: " + d.named() + ", with " + criteriaCount(len(criteria)) + ".")
	t.answerWith(fill(t.form, map[string]any{"title": d.named(), "narrative": d.narrative(), "criteria": criteria,
		"dragon": dragon, "anticipated_dragon": dragon}))
	return nil
}

func criteriaCount(n int) string {
	if n == 1 {
		return "1 criterion"
	}
	return number(n) + " criteria"
}
