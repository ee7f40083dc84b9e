package offline

import (
	"fmt"
	"regexp"
	"strings"
)

const gandalfOpening = "There is no model behind me, and I will not pretend there is: I ask, I look, and I give you back your own words. The thinking stays where it belongs, with you."

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

// part is what a question is about.
type part int

const (
	partIdea part = iota
	partDone
	partGrow
	partWhy
	partDragon
)

type question struct {
	about part
	text  string
}

// questions are those of the mode, in the order in which they are asked. The
// first is what the person came with.
func questions(mode string) []question {
	done := question{partDone, "What will be there when it is done, that a stranger could check who was not there? One thing a line. Where a command can show it, add (check: `command`)."}
	grow := question{partGrow, "What will you be able to do then that you cannot do today, and where would one see it? One thing a line."}
	why := question{partWhy, "Who needs this, and why now?"}
	dragon := question{partDragon, "What would make it fail although everybody worked hard? That is the Dragon you expect."}
	idea := question{partIdea, "What is this quest about?"}
	switch mode {
	case modeShip:
		return []question{idea, done, why, dragon}
	case modeGrow:
		grow.text = "What will you learn; who will you be when it is done? Say what you will be able to do then that you cannot do today, one thing a line."
		done.text = "What will you make on the way that shows it to somebody who was not there? One thing a line."
		why.text = "Why does it matter to you, and why now?"
		return []question{idea, grow, done, why, dragon}
	}
	return []question{idea, done, grow, why, dragon}
}

// draft is a quest in the person's own words.
type draft struct {
	title     string
	narrative []string
	criteria  []string
	dragon    string
	odd       string // words that he could not place
}

const growTag = "(transformation)"

// frame asks one question after the other, and then shows what he heard.
func (t *turn) frame() error {
	mode := t.framedMode()
	list := questions(mode)
	heard, lost := t.person()
	if t.form == nil {
		heard = append(heard, ownWords(t.text))
	}
	d := drafted(list, heard)
	if t.form != nil {
		return t.handIn(d, lost)
	}
	answered := len(heard)
	switch last := heard[len(heard)-1]; {
	case answered < len(list) && !enough.MatchString(last):
		text := list[answered].text
		if answered == 1 {
			text = fmt.Sprintf("So it is about this: “%s” I shall ask you %s, one at a time.\n\n%s", clip(last, 160), count(len(list)-1, "question"), text)
		}
		t.say(text)
	case d.odd != "" && answered > len(list):
		t.say("I cannot tell where “" + clip(d.odd, 120) + "” belongs, and I will not guess. " + howToChange)
	default:
		t.say(d.shown(lost), howToChange)
	}
	return nil
}

const howToChange = "To change it, say `add: …`, `drop 2`, `2: other words`, `name: …`, `why: …` or `dragon: …`; when it is right, say so. It is your quest; nothing is written before you agree."

var enough = regexp.MustCompile(`(?i)^\s*(done|enough|that'?s (all|it)|draft|stop|no more)\s*[.!]?\s*$`)

// framedMode is the mode that the message names, else that of the room.
func (t *turn) framedMode() string {
	for _, x := range append([]exchange{{told: t.text}}, t.before...) {
		for _, m := range []string{modeBoth, modeGrow, modeShip} {
			if strings.Contains(x.told, "quest of the mode "+m+" and") {
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

var (
	skipped   = regexp.MustCompile(`(?i)^\s*(skip|none|nothing|no|-|–|n/a)?\s*[.!]?\s*$`)
	addForm   = regexp.MustCompile(`(?is)^\s*add\s*:?\s+(.+)$`)
	dropForm  = regexp.MustCompile(`(?i)^\s*(?:drop|remove|delete)\s+(?:criterion\s+)?(\d+)\s*[.!]?\s*$`)
	setForm   = regexp.MustCompile(`(?is)^\s*(?:criterion\s+)?(\d+)\s*:\s*(.+)$`)
	fieldForm = regexp.MustCompile(`(?is)^\s*(name|title|why|dragon)\s*:\s*(.+)$`)
	agreed    = regexp.MustCompile(`(?i)^\s*(yes|good|right|fine|ok(ay)?|agreed|it is right|that is right)\b`)
	learning  = regexp.MustCompile(`(?i)\b(learn|understand|become|be able to|master)\b`)
)

// drafted sorts what was said by the questions it answers.
func drafted(list []question, heard []string) draft {
	var d draft
	for i, words := range heard {
		if skipped.MatchString(words) || enough.MatchString(words) {
			continue
		}
		if i >= len(list) {
			d.change(words)
			continue
		}
		switch list[i].about {
		case partIdea:
			d.title = strings.TrimRight(clip(firstSentence(words), 60), ".!? ")
			d.narrative = append(d.narrative, words)
		case partWhy:
			d.narrative = append(d.narrative, words)
		case partDone:
			d.criteria = append(d.criteria, items(words)...)
		case partGrow:
			for _, s := range items(words) {
				d.criteria = append(d.criteria, marked(s))
			}
		case partDragon:
			d.dragon = words
		}
	}
	if len(d.criteria) == 0 && len(d.narrative) > 0 {
		d.fromIdea()
	}
	return d
}

// fromIdea takes criteria from what the person came with, when nothing else
// was said: what follows the first sentence, or else the sentence itself.
func (d *draft) fromIdea() {
	all := items(d.narrative[0])
	if len(all) > 1 {
		all = all[1:]
	}
	for _, s := range all {
		if learning.MatchString(s) {
			s = marked(s)
		}
		d.criteria = append(d.criteria, s)
	}
}

func marked(s string) string {
	if strings.Contains(s, growTag) {
		return s
	}
	return s + " " + growTag
}

// items are the lines or sentences of an answer, as they were written.
func items(words string) []string {
	var out []string
	for line := range strings.Lines(words) {
		line = strings.TrimSpace(bullet.ReplaceAllString(line, ""))
		if strings.Contains(line, "`") { // a command may hold what looks like an end
			if line != "" {
				out = append(out, line)
			}
			continue
		}
		for _, s := range splitSentence.Split(line, -1) {
			if s = strings.TrimRight(strings.TrimSpace(s), "."); s != "" {
				out = append(out, s)
			}
		}
	}
	return out
}

func firstSentence(s string) string {
	s, _, _ = strings.Cut(strings.TrimSpace(s), "\n")
	return splitSentence.Split(s, 2)[0]
}

// change works an amendment in.
func (d *draft) change(words string) {
	d.odd = ""
	if m := addForm.FindStringSubmatch(words); m != nil {
		d.criteria = append(d.criteria, items(m[1])...)
	} else if m := dropForm.FindStringSubmatch(words); m != nil {
		if n := atoi(m[1]); n >= 1 && n <= len(d.criteria) {
			d.criteria = append(d.criteria[:n-1:n-1], d.criteria[n:]...)
		} else {
			d.odd = words
		}
	} else if m := setForm.FindStringSubmatch(words); m != nil && atoi(m[1]) >= 1 && atoi(m[1]) <= len(d.criteria) {
		d.criteria[atoi(m[1])-1] = strings.TrimSpace(m[2])
	} else if m := fieldForm.FindStringSubmatch(words); m != nil {
		switch strings.ToLower(m[1]) {
		case "why":
			d.narrative = append(d.narrative, m[2])
		case "dragon":
			d.dragon = m[2]
		default:
			d.title = clip(m[2], 80)
		}
	} else if !agreed.MatchString(words) {
		d.odd = words
	}
}

func (d draft) shown(lost int) string {
	var b strings.Builder
	b.WriteString("This is what I heard, in your words and no others.\n\n")
	if lost > 0 {
		fmt.Fprintf(&b, "%s said before I was woken again did not reach me; say it once more if it belongs here.\n\n", were(lost, "thing"))
	}
	fmt.Fprintf(&b, "**%s**\n\n%s\n\n", d.title, strings.Join(d.narrative, "\n\n"))
	for i, c := range d.criteria {
		fmt.Fprintf(&b, "%d. %s\n", i+1, c)
	}
	if d.dragon != "" {
		b.WriteString("\nThe Dragon you expect: " + d.dragon + "\n")
	}
	var bare []string
	for i, c := range d.criteria {
		if !checkMark.MatchString(c) && !strings.Contains(c, growTag) {
			bare = append(bare, number(i+1))
		}
	}
	if len(bare) > 0 {
		fmt.Fprintf(&b, "\nNo command shows %s yet. A Dragon without a model believes only what it can check.\n", strings.Join(bare, ", "))
	}
	return b.String()
}

// handIn gives the draft in the form that is asked for.
func (t *turn) handIn(d draft, lost int) error {
	if d.title == "" || len(d.criteria) == 0 || lost > 0 {
		t.say("I cannot write a quest down from what I heard: I have too few of your own words, and I add none of mine.")
		return nil
	}
	var criteria []map[string]any
	for _, c := range d.criteria {
		sort := sortOf(c)
		criteria = append(criteria, map[string]any{"text": strings.TrimSpace(strings.ReplaceAll(c, growTag, "")), "sort": sort})
	}
	t.say("Written down as you said it: " + d.title + ", with " + criteriaCount(len(criteria)) + ".")
	t.answerWith(fill(t.form, map[string]any{"title": d.title, "narrative": strings.Join(d.narrative, "\n\n"), "criteria": criteria, "dragon": d.dragon, "anticipated_dragon": d.dragon}))
	return nil
}

func criteriaCount(n int) string {
	if n == 1 {
		return "1 criterion"
	}
	return number(n) + " criteria"
}
