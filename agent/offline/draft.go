package offline

import (
	"slices"
	"strings"

	"conclave/internal/pattern"
	"conclave/quest"
)

// part is what a passage of a person's words is about.
type part int

const (
	partNone part = iota
	partIdea
	partDone
	partGrow
	partWhy
	partDragon
	partTitle
)

// draft is a quest in the person's own words.
type draft struct {
	title    string
	idea     []string
	why      []string // for whom, why, by when
	criteria []string
	dragon   []string
	settled  map[part]bool // asked for and answered, or passed over
	odd      []string      // words that he could not place
	steps    []string      // of a council, on offer until he has asked for done
}

const growTag = "(transformation)"

var (
	skipped = pattern.New(`(?i)^\s*(skip( (it|that|this))?|pass|none|nothing|no|nope|-|–|n/a|` +
		`i do(n'?t| not) know( yet)?|no idea|not sure( yet)?)?\s*[.!]?\s*$`)
	enough = pattern.New(`(?i)^\s*(done|enough|that'?s (all|it)|draft|stop|no more|` +
		`show (me )?the draft)\s*[.!]?\s*$`)
	addForm = pattern.New(`(?is)^\s*(?:please )?(?:also|add)` +
		`(?: (?:a |another |the )?criteri(?:on|a))?(?:\s*(:)\s*|\s+)(.+)$`)
	dropForm = pattern.New(`(?i)^\s*(?:please )?(?:drop|remove|delete|strike)\s+` +
		`(?:criteri(?:on|a)\s+|numbers?\s+)?(\d+(?:\s*(?:,|and|&)\s*\d+)*)\s*[.!]?\s*$`)
	noDragon = pattern.New(`(?i)^\s*(?:drop|remove|delete|strike)\s+(?:the\s+)?dragon\s*[.!]?\s*$`)
	setForm  = pattern.New(`(?is)^\s*(?:(?:criterion|number)\s+)?(\d{1,3})\s*:\s*(.+)$`)
	toForm   = pattern.New(`(?is)^\s*(?:please )?(?:change|replace|make)\s+` +
		`(?:criterion\s+|number\s+)?(\d{1,3})\s+(?:to|with|by|into)\s*:?\s+(.+)$`)
	pointForm = pattern.New(`^\s*(\d{1,3})[.)]\s+(\S.*)$`)
	numberRow = pattern.New(`\d+`)
	learning  = pattern.New(`(?i)^(?:i (?:want to|will|shall) )?(?:learn|understand|become|be able to|` +
		`master)\b|\bi (?:learn|understand|can)\b`)
)

// toldWith are headings without which what stands below them says too little.
const toldWith = `who|for|for whom|who needs (?:it|this)|when|by when|deadline`

var saysLittle = pattern.New(`(?i)^[*_]*(?:also |add )?(` + toldWith + `)[*_]*\s*:`)

// headings are what a passage can be headed or begun with: a line of its own,
// or words before a colon.
var headings = []struct {
	about part
	words string
}{
	{partTitle, `title|name|the quest's name`},
	{partIdea, `quest|idea|goal|objective|about|what|what it is|summary|narrative`},
	{partDone, `done|done means|done is|done when|definition of done|goals|objectives|requirements|` +
		`success(?: means| criteria| looks like)?|(?:acceptance )?criteria|deliverables?`},
	{partGrow, `transformation|learning|to learn|what i (?:want to|will) learn|growth`},
	{partWhy, `why|because|reason|background|motivation|context|` + toldWith},
	{partDragon, `dragon|the dragon|risks?|the risks?|danger|what could (?:go wrong|defeat it)|could go wrong`},
}

// cues begin a sentence that says by itself what it is about.
var cues = []struct {
	about part
	form  *pattern.Pattern
	keeps bool // the cue is part of what is said
}{
	{partDone, pattern.New(`(?i)^(?:it is |it's |we are |i am )?done (?:means|is|when)(?: that)?\s*:?\s+`), false},
	{partDone, pattern.New(`(?i)^success (?:means|is when|looks like)(?: that)?\s*:?\s+`), false},
	{partDragon, pattern.New(`(?i)^(?:the|a|our|my|one) (?:biggest |main |greatest |real )?` +
		`(?:risk|dragon|danger)\b`), true},
	{partDragon, pattern.New(`(?i)^(?:what )?could go wrong\b|^it could (?:fail|go wrong)\b|^i(?: am|` +
		`'m) (?:afraid|worried)\b`), true},
	{partWhy, pattern.New(`(?i)^(?:because|so that|in order to|it matters|we need it|i need it)\b`), true},
}

var headingForms = func() map[part]*pattern.Pattern {
	out := map[part]*pattern.Pattern{}
	for _, h := range headings {
		out[h.about] = pattern.New(`(?i)^(#{1,6}\s+)?[*_]*(also |add )?(?:` + h.words +
			`)[*_]*(?:\s*(:)[*_]*\s*(.*)|\s*)$`)
	}
	return out
}()

// heading reads a line that heads what follows. Without a colon it has to look
// like a heading, or stand above a list.
func heading(line string, aboveList bool) (about part, more bool, rest string) {
	for _, h := range headings {
		m := headingForms[h.about].FindStringSubmatch(line)
		if m == nil || m[1] == "" && m[3] == "" && !strings.HasPrefix(line, "*") && !aboveList {
			continue
		}
		rest = strings.TrimSpace(m[4])
		if label := saysLittle.FindStringSubmatch(line); label != nil && rest != "" {
			rest = label[1] + ": " + rest
		}
		return h.about, m[2] != "", rest
	}
	return partNone, false, ""
}

// hear takes a message into the draft. Asked is the question that was put
// before it: what says by itself where it belongs goes there, and only the
// rest is taken for the answer. What answers nothing is odd.
func (d *draft) hear(words string, asked part) {
	d.odd = nil
	switch {
	case skipped.MatchString(words):
		if asked != partIdea { // without one there is no quest
			d.settle(asked)
		}
		return
	case enough.MatchString(words), quest.Agrees(words): // with what there is
		for _, p := range []part{partDone, partGrow, partWhy, partDragon} {
			d.settle(p)
		}
		return
	case asked == partDone && d.take(words):
		return
	}
	p := passage{d: d, asked: asked, replaced: map[part]bool{}, headed: map[part]bool{},
		alone: !strings.Contains(strings.TrimSpace(words), "\n")}
	lines := strings.Split(words, "\n")
	for i, line := range lines {
		p.line(strings.TrimRight(line, "\r"), aboveList(lines[i+1:]))
	}
	p.end()
}

// aboveList says whether the next line that holds something is an item.
func aboveList(lines []string) bool {
	for _, line := range lines {
		if strings.TrimSpace(line) != "" {
			return bullet.MatchString(line)
		}
	}
	return false
}

// passage goes through a message line by line.
type passage struct {
	d        *draft
	asked    part
	alone    bool // it is one line
	section  part // under a heading
	more     bool // which adds, and does not replace
	inline   bool // which has its text beside it, and ends with the paragraph
	replaced map[part]bool
	headed   map[part]bool // said in so many words to be about it
	fenced   bool
	loose    []string // what says nothing about where it belongs
}

func (p *passage) line(line string, aboveList bool) {
	text := strings.TrimSpace(line)
	if strings.HasPrefix(text, "```") {
		p.fenced = !p.fenced
	}
	if p.fenced || strings.HasPrefix(text, "```") {
		p.loose = append(p.loose, line)
		return
	}
	if about, more, rest := heading(text, aboveList); about != partNone {
		p.section, p.more, p.inline, text = about, more, rest != "", rest
	} else if p.d.change(text, p.asked, p.alone) {
		p.section = partNone
		return
	}
	item := strings.TrimSpace(bullet.ReplaceAllString(text, ""))
	listed := item != text
	if p.inline && (text == "" || listed && p.section != partDone && p.section != partGrow) {
		p.section, p.inline = partNone, false
	}
	switch {
	case text == "":
	case p.section != partNone && (listed || !p.leaves(item)):
		if p.inline && !listed {
			p.split(p.section, item)
			return
		}
		p.put(p.section, item)
	case strings.HasPrefix(text, "# "):
		p.put(partTitle, strings.TrimSpace(text[2:]))
	case listed && p.asked != partWhy && p.asked != partDragon:
		p.put(p.listed(item), item)
	default:
		p.prose(item)
	}
}

// leaves says whether a line below a heading is about something else, which
// ends what stands below it.
func (p *passage) leaves(line string) bool {
	if about, _ := cued(line); about == partNone || about == p.section {
		return false
	}
	p.section, p.inline = partNone, false
	return true
}

// listed is what an item of a list is: a criterion, of the sort that was asked
// for.
func (p *passage) listed(item string) part {
	if about, _ := cued(item); about != partNone {
		return about
	}
	if p.asked == partGrow {
		return partGrow
	}
	return partDone
}

func cued(sentence string) (part, string) {
	for _, c := range cues {
		if at := c.form.FindStringIndex(sentence); at != nil {
			if c.keeps {
				return c.about, sentence
			}
			return c.about, sentence[at[1]:]
		}
	}
	return partNone, sentence
}

// prose places sentences that say what they are about.
func (p *passage) prose(text string) {
	var rest []string
	for _, s := range sentencesOf(text) {
		about, said := cued(s)
		if head, _, tail := heading(s, false); about == partNone && tail != "" {
			about, said = head, tail // "Risk: …" in the middle of a line
		}
		if about == partNone {
			rest = append(rest, s)
			continue
		}
		p.headed[about] = true
		p.split(about, said)
	}
	if len(rest) == 0 {
		return
	}
	left := strings.Join(rest, " ")
	if len(p.d.idea) > 0 && !p.headed[p.asked] && (p.asked == partDone || p.asked == partGrow) {
		p.split(p.asked, left)
		return
	}
	p.loose = append(p.loose, left)
}

// split files running text, in which several criteria may stand side by side.
func (p *passage) split(about part, text string) {
	if about != partDone && about != partGrow {
		p.put(about, text)
		return
	}
	for _, s := range items(text) {
		p.put(about, s)
	}
}

// put files a text. A heading replaces what stood there before this message,
// unless it adds.
func (p *passage) put(about part, text string) {
	if _, said := cued(text); about == partDone {
		text = said
	}
	if p.section == about {
		p.headed[about] = true
		if !p.more && !p.replaced[about] {
			p.d.clear(about)
		}
	}
	p.replaced[about] = true
	p.d.add(about, text)
}

// end takes what is left for what the person came with, or for the answer to
// the question. Where the answer was headed as such, the rest is none.
func (p *passage) end() {
	if len(p.loose) == 0 {
		return
	}
	text := strings.Join(p.loose, "\n")
	switch {
	case len(p.d.idea) == 0:
		p.d.add(partIdea, text)
	case p.asked == partNone || p.headed[p.asked]:
		p.d.odd = append(p.d.odd, p.loose...)
	default:
		p.d.add(p.asked, text)
	}
}

func (d *draft) settle(p part) {
	if d.settled == nil {
		d.settled = map[part]bool{}
	}
	d.settled[p] = true
}

func (d *draft) clear(p part) {
	switch p {
	case partIdea:
		d.idea = nil
	case partWhy:
		d.why = nil
	case partDragon:
		d.dragon = nil
	case partDone:
		d.criteria = slices.DeleteFunc(d.criteria, func(c string) bool { return !strings.Contains(c, growTag) })
	case partGrow:
		d.criteria = slices.DeleteFunc(d.criteria, func(c string) bool { return strings.Contains(c, growTag) })
	}
}

func (d *draft) add(p part, text string) {
	d.settle(p)
	text = strings.TrimSpace(text)
	switch p {
	case partTitle:
		d.title = strings.TrimRight(clip(quest.WithoutMarks(text), 80), ". ")
	case partIdea:
		d.idea = append(d.idea, text)
	case partWhy:
		d.why = append(d.why, text)
	case partDragon:
		d.dragon = append(d.dragon, text)
	case partGrow:
		d.criterion(marked(strings.TrimRight(text, ".")))
	case partDone:
		d.criterion(strings.TrimRight(text, "."))
	}
}

func (d *draft) criterion(text string) {
	if text != "" && !slices.Contains(d.criteria, text) {
		d.criteria = append(d.criteria, text)
	}
}

func marked(s string) string {
	if strings.Contains(s, growTag) {
		return s
	}
	return s + " " + growTag
}

// change works an amendment in, if the line names what it changes. Alone says
// that the line is the whole message: only then a number before it can mean a
// criterion that is there, and not an item of a list.
func (d *draft) change(line string, asked part, alone bool) bool {
	if m := dropForm.FindStringSubmatch(line); m != nil {
		d.drop(line, numberRow.FindAllString(m[1], -1))
		return true
	}
	if noDragon.MatchString(line) {
		d.dragon = nil
		return true
	}
	for _, form := range []*pattern.Pattern{setForm, toForm, pointForm} {
		m := form.FindStringSubmatch(line)
		if m == nil || form == pointForm && (!alone || asked != partNone) {
			continue
		}
		switch n := atoi(m[1]); {
		case n >= 1 && n <= len(d.criteria):
			d.reword(n-1, strings.TrimSpace(m[2]))
		case form == setForm && asked != partNone:
			d.add(partDone, m[2]) // an item of a list
		case form == pointForm:
			return false
		default:
			d.odd = append(d.odd, line)
		}
		return true
	}
	if m := addForm.FindStringSubmatch(line); m != nil && len(d.idea) > 0 && (m[1] != "" || asked == partNone) {
		for _, s := range items(m[2]) {
			d.add(partDone, s)
		}
		return true
	}
	return false
}

// reword replaces a criterion, which stays of its sort unless it says so.
func (d *draft) reword(i int, text string) {
	if strings.Contains(d.criteria[i], growTag) && !strings.Contains(text, "(deliverable)") {
		text = marked(text)
	}
	d.criteria[i] = text
}

func (d *draft) drop(words string, numbers []string) {
	var gone []int
	for _, s := range numbers {
		if n := atoi(s); n >= 1 && n <= len(d.criteria) {
			gone = append(gone, n-1)
		} else {
			d.odd = []string{words}
			return
		}
	}
	var kept []string
	for i, c := range d.criteria {
		if !slices.Contains(gone, i) {
			kept = append(kept, c)
		}
	}
	d.criteria = kept
}

var takeForm = pattern.New(`(?i)^\s*(?:take |steps? |numbers? )*` +
	`(all(?: of them)?|\d+(?:\s*(?:,|and|&)\s*\d+)*)\s*[.!]?\s*$`)

// take makes criteria of the council's steps that the person names.
func (d *draft) take(words string) bool {
	m := takeForm.FindStringSubmatch(words)
	if m == nil || len(d.steps) == 0 {
		return false
	}
	for i, s := range d.steps {
		if strings.HasPrefix(strings.ToLower(m[1]), "all") ||
			slices.Contains(numberRow.FindAllString(m[1], -1), number(i+1)) {
			d.add(partDone, s)
		}
	}
	if len(d.criteria) == 0 {
		d.odd = []string{words}
	}
	return true
}

// named is the quest's name: what the person called it, or how they began.
func (d *draft) named() string {
	if d.title != "" {
		return d.title
	}
	for _, text := range d.idea {
		if text = quest.WithoutMarks(text); text != "" {
			return strings.TrimRight(clip(firstSentence(text), 60), ".!? ")
		}
	}
	return ""
}

func (d *draft) narrative() string {
	return strings.Join(append(slices.Clone(d.idea), d.why...), "\n\n")
}

// complete takes criteria from what the person came with, when nothing else
// was said: what follows the first sentence, or else the sentence itself.
func (d *draft) complete() {
	if len(d.criteria) > 0 || len(d.idea) == 0 {
		return
	}
	all := items(d.idea[0])
	if len(all) > 1 {
		all = all[1:]
	}
	for _, s := range all {
		if learning.MatchString(s) {
			s = marked(s)
		}
		d.criterion(s)
	}
}

// items are the lines or sentences of an answer, as they were written.
func items(words string) []string {
	var out []string
	for line := range strings.Lines(words) {
		line = strings.TrimSpace(bullet.ReplaceAllString(line, ""))
		if strings.Contains(line, "`") { // a command may hold what looks like an end
			out = append(out, line)
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

// sentencesOf splits a line; one with a command in it is one.
func sentencesOf(line string) []string {
	if strings.Contains(line, "`") {
		return []string{line}
	}
	return statements(line)
}

func firstLineOf(s string) string {
	s, _, _ = strings.Cut(strings.TrimSpace(s), "\n")
	return s
}

func firstSentence(s string) string { return splitSentence.Split(firstLineOf(s), 2)[0] }
