package flow

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"conclave/engine"
	"conclave/policy"
	"conclave/profile"
	"conclave/quest"
	"conclave/quest/judging"
)

// Define is a new quest in the making: Gandalf asks, the person agrees.
type Define struct {
	Message string     `json:"message,omitempty"` // what it is about
	Typed   []string   `json:"typed,omitempty"`   // what the person typed on the way here, in menus
	Mode    quest.Mode `json:"mode,omitempty"`    // empty: the person is asked
	Yes     bool       `json:"yes,omitempty"`     // agree to what is proposed
	Unasked bool       `json:"unasked,omitempty"` // and nobody is there to answer a question
	Archive bool       `json:"archive,omitempty"` // a quest that is under way makes room, once the new one is agreed to
	Council bool       `json:"council,omitempty"` // begin from the findings of the last council
}

// newQuest is what a quest is called before it has a name.
const newQuest = "a new quest"

// CheckDefine says why no quest can be begun here.
func (h *House) CheckDefine(in Define) error {
	_, err := h.defineOpening(in)
	return err
}

func (h *House) defineOpening(in Define) (Opening, error) {
	o, err := h.readOpening(policy.Gandalf, "define", quest.PurposeDefinition, false)
	if err != nil {
		return o, err
	}
	if in.Council {
		if o.Council, err = h.CouncilSteps(); err != nil {
			return o, err
		}
	}
	if o.Quest != nil && o.Phase != quest.PhaseDebrief && !in.Archive {
		return o, fmt.Errorf("a quest is under way (%s, phase %d): `conclave quest archive` puts it away, `conclave quest continue` goes on with it", o.Title, int(o.Phase))
	}
	o.Phase, o.Title, o.Mode = quest.PhaseDefinition, newQuest, quest.DefaultMode
	return o, nil
}

func (h *House) define(r *engine.Run, in Define) (Result, error) { return h.defineAs(r, in, true) }

// defineFirst is the first version: nothing but a line that was offered agrees.
func (h *House) defineFirst(r *engine.Run, in Define) (Result, error) {
	return h.defineAs(r, in, false)
}

func (h *House) defineAs(r *engine.Run, in Define, understand bool) (Result, error) {
	o, err := plainStep(r, "begin", func() (Opening, error) { return h.defineOpening(in) })
	if err != nil {
		return Result{}, err
	}
	d := &definition{h: h, r: r, in: in, old: o.Quest, understand: understand}
	o.Quest = nil // the old quest is over; the new one is not written yet
	d.t = h.dialogue(r, o, extras{})
	d.t.opened, d.t.lines, d.t.understand = in.Typed, true, understand
	if understand {
		d.t.ends, d.t.ending = d.settled, "empty, or your agreement, has the quest written down"
	}
	if err := d.mode(); err != nil {
		return Result{}, err
	}
	if _, err := d.t.converse(d.framing(), in.Message); err != nil {
		return Result{}, err
	}
	if err := d.agree(); err != nil {
		return Result{}, err
	}
	return d.conclude()
}

type definition struct {
	h   *House
	r   *engine.Run
	in  Define
	old []byte // the finished quest in whose place this one comes
	t   *dialogue

	// understand takes the person's own words for agreement where they agree.
	understand bool

	proposal *proposal // what Gandalf or the person wrote down
	closing  string    // the words with which the person ended the talk
	asked    int
	agreed   bool
}

// settled ends the talk at words that agree to what Gandalf has said, unless he
// has just asked something; or at words that say that the person is done. They go
// to him with the request to write it all down.
func (d *definition) settled(words string) bool {
	if len(d.t.said) == 0 {
		return false
	}
	last := strings.TrimSpace(d.t.said[len(d.t.said)-1])
	asks := strings.Contains(last[strings.LastIndexByte(last, '\n')+1:], "?")
	wish, _ := quest.Understand(words, false, d.t.o.face)
	if wish.Action != quest.ActDone && (asks || !quest.Agrees(words)) {
		return false
	}
	d.closing = words
	d.t.typed(words)
	return true
}

func (d *definition) mode() error {
	if d.in.Mode != "" {
		d.t.o.Mode = d.in.Mode
		return nil
	}
	if d.in.Yes {
		return nil // the default
	}
	options, text, hint := modes(), modeQuestion, ""
	for d.t.ended == "" {
		answer, err := d.t.ask("mode", engine.Question{
			Text: text + hint, Options: options, Default: string(quest.DefaultMode), Silent: d.understand,
		})
		if err != nil || d.t.ended != "" {
			return err
		}
		d.t.typed(answer)
		answer = numbered(options, answer)
		if d.understand {
			if answer = modeMeant(options, answer); answer == "" {
				hint = "\n(" + quest.ErrChoose.Error() + ")"
			}
		}
		if m, err := quest.ParseMode(answer); err == nil {
			d.t.o.Mode = m
			return nil
		}
	}
	return nil
}

const modeQuestion = "What is this quest for?"

func modes() []engine.Option {
	return []engine.Option{
		{Label: string(quest.Grow), Hint: "what you will learn comes first"},
		{Label: string(quest.Ship), Hint: "what you will deliver counts"},
		{Label: string(quest.GrowAndShip), Hint: "both, in equal parts"},
	}
}

// numbered is the option that an answer gives the number of, or else the answer.
func numbered(options []engine.Option, answer string) string {
	if n := strings.TrimSpace(answer); len(n) == 1 && n >= "1" && int(n[0]-'0') <= len(options) {
		return options[n[0]-'1'].Label
	}
	return answer
}

// CheckAnswer says why what was written down in advance is no answer to what is
// asked first: an answer to another question would be lost on it.
func (in Define) CheckAnswer(first string) error {
	if in.Mode != "" || in.Yes {
		return nil
	}
	if answer := modeMeant(modes(), numbered(modes(), first)); answer != "" {
		if _, err := quest.ParseMode(answer); err == nil {
			return nil
		}
	}
	return fmt.Errorf("%s (%s, %s or %s): %q is none of them; say --mode, or answer this first",
		modeQuestion, quest.Grow, quest.Ship, quest.GrowAndShip, first)
}

// modeMeant is the mode that an answer means in a person's own words; nothing and
// a plain yes mean the one that is shown as the default.
func modeMeant(options []engine.Option, answer string) string {
	if _, err := quest.ParseMode(answer); err == nil {
		return answer
	}
	if strings.TrimSpace(answer) == "" || quest.Agrees(answer) {
		return string(quest.DefaultMode)
	}
	for mode, words := range map[quest.Mode]string{
		quest.Grow: "grow growing learn learning", quest.Ship: "ship shipping deliver delivering release",
		quest.GrowAndShip: "both equal equally",
	} {
		if slices.Contains(strings.Fields(words), strings.ToLower(strings.Trim(answer, " .!"))) {
			return string(mode)
		}
	}
	var offers []quest.Offer
	for _, o := range options {
		offers = append(offers, quest.Offer{Label: o.Label})
	}
	if c, err := quest.Choose(offers, answer); err == nil && c.Offer != nil {
		return c.Offer.Label
	}
	return ""
}

func (d *definition) framing() string {
	how := "Frame it by asking: a few questions at a time, until the two of you know what done means. When you know enough, say"
	if d.in.Unasked {
		how = "They agree beforehand and answer no questions, so ask none: say"
	}
	return fmt.Sprintf("A person wants to begin a quest of the mode %s and tells you what it is about. %s in words what the "+
		"quest is, which success criteria a stranger could check, and what Dragon is to be expected. "+
		"The person decides; you propose. %s", d.t.o.Mode, how, roomGuide(d.t.o)) + fromCouncil(d.t.o)
}

// proposal is a quest on paper.
type proposal struct {
	Title     string     `json:"title"`
	Narrative string     `json:"narrative"`
	Criteria  []proposed `json:"criteria"`
	Dragon    string     `json:"dragon"`
}

type proposed struct {
	Text string `json:"text"`
	Sort string `json:"sort"`
}

const proposalSchema = `{"type":"object","additionalProperties":false,"required":["title","narrative","criteria","dragon"],"properties":{"title":{"type":"string","description":"the quest's name, a few words"},"narrative":{"type":"string","description":"what it is about and why, in the person's own terms"},"criteria":{"type":"array","description":"what done means; each one checkable by a stranger","items":{"type":"object","additionalProperties":false,"required":["text","sort"],"properties":{"text":{"type":"string"},"sort":{"type":"string","enum":["deliverable","transformation"]}}}},"dragon":{"type":"string","description":"what could defeat the quest although everybody worked hard"}}}`

// definition turns a proposal into a quest, or says what is wrong with it.
func (p *proposal) definition(mode quest.Mode, day string) (quest.Definition, error) {
	def := quest.Definition{Title: p.Title, Mode: mode, Created: day, Narrative: p.Narrative, Dragon: p.Dragon}
	for _, c := range p.Criteria {
		k := quest.Criterion{Text: c.Text}
		if c.Sort == string(quest.Transformation) {
			k.Sort = quest.Transformation
		}
		def.Criteria = append(def.Criteria, k)
		def.Assignments = append(def.Assignments, assignment(c.Text))
	}
	_, err := quest.New(def)
	return def, err
}

// assignment names two advisors for a criterion by what it says.
func assignment(text string) quest.Assignment {
	first := quest.FirstAdvisor(text)
	second := quest.NextPerspective(first.Who, text, "", nil)
	name := func(s quest.Suggestion) quest.Advisor {
		a, _ := profile.Lookup(string(s.Who))
		return quest.Advisor{Name: a.Title, Role: s.Who, Reason: s.Reason}
	}
	return quest.Assignment{Criterion: strings.Join(strings.Fields(text), " "), Primary: name(first), Secondary: name(second)}
}

// propose asks Gandalf to write the quest down; one repair, and then the
// person does it.
func (d *definition) propose() error {
	d.asked++
	ask := "Write the quest down now, in the structured form that is asked for, with what the two of you have agreed and nothing beyond it.\n\nThe form, as a JSON schema:\n" + proposalSchema
	for _, id := range []string{fmt.Sprintf("proposal %d", d.asked), fmt.Sprintf("proposal %d again", d.asked)} {
		reply, ok, err := d.t.takeTurn(id, false, []byte(proposalSchema), ask, d.closing)
		if err != nil || !ok {
			return err
		}
		p := &proposal{}
		problem := strictJSON(judging.AnswerIn(reply), p)
		if problem == nil {
			_, problem = p.definition(d.t.o.Mode, quest.Day(d.t.o.Start))
		}
		if problem == nil {
			d.proposal, d.closing = p, ""
			d.t.parts = append(d.t.parts, saidPart{Agent: d.shown()})
			return nil
		}
		ask = fmt.Sprintf("That could not be read as a quest (%v). Give it once more as one JSON object in the form that is asked for.\n\n%s", problem, proposalSchema)
	}
	return d.write(fmt.Sprintf("%s has not written a quest down. Do it yourself.", d.t.o.face(policy.Gandalf).Name()))
}

// write lets the person write the quest down.
func (d *definition) write(why string) error {
	for d.t.ended == "" {
		p := &proposal{}
		var criteria string
		for _, q := range []struct {
			name, text string
			lines      bool
			to         *string
		}{
			{"title", why + "\nThe quest's name, in a few words:", false, &p.Title},
			{"narrative", "What is it about, and why?", true, &p.Narrative},
			{"criteria", "What does done mean? One criterion a line, or separated by semicolons; mark with (transformation) " +
				"what someone becomes.", true, &criteria},
			{"dragon", "What could defeat it?", true, &p.Dragon},
		} {
			var err error
			if *q.to, err = d.t.ask(q.name, engine.Question{Text: q.text, Lines: q.lines}); err != nil || d.t.ended != "" {
				return err
			}
			d.t.typed(*q.to)
		}
		for _, text := range strings.FieldsFunc(criteria, func(r rune) bool { return r == '\n' || r == ';' }) {
			if text = strings.TrimSpace(text); text != "" {
				p.Criteria = append(p.Criteria, proposed{Text: text})
			}
		}
		_, err := p.definition(d.t.o.Mode, quest.Day(d.t.o.Start))
		if err == nil {
			d.proposal = p
			return nil
		}
		why = "That is no quest yet: " + err.Error()
	}
	return nil
}

// agree shows what is proposed until the person agrees, or stops.
func (d *definition) agree() error {
	if len(d.t.said) == 0 {
		if d.t.ended == "" {
			d.t.ended = errNothingSaid.Error()
		}
		return nil
	}
	for d.t.ended == "" {
		if d.proposal == nil {
			if err := d.propose(); err != nil || d.t.ended != "" {
				return err
			}
		}
		if d.in.Yes {
			d.agreed = true
			return nil
		}
		options := []engine.Option{{Label: "Yes, these are the criteria"}, {Label: "Write it down myself"}, {Label: "Stop here", Hint: "no quest is begun"}}
		c, err := d.t.choose("agree", d.shown()+"\n\nDo you agree? Your own words go to "+
			d.t.o.face(policy.Gandalf).Name()+" as changes.", options, "", true)
		if err != nil || d.t.ended != "" {
			return err
		}
		switch n := chosen(options, c); {
		case n == 0:
			d.agreed = true
			return nil
		case n == 1:
			d.proposal = nil
			if err := d.write("As you like."); err != nil {
				return err
			}
		case n == 2:
			d.t.ended = "stopped before a quest was agreed to"
		default:
			d.proposal = nil
			if _, ok, err := d.t.say("", c.Free); err != nil || !ok {
				return err
			}
		}
	}
	return nil
}

func (d *definition) shown() string {
	p := d.proposal
	var b strings.Builder
	fmt.Fprintf(&b, "%s (%s)\n\n%s\n\nSuccess criteria:\n", p.Title, d.t.o.Mode, strings.TrimSpace(p.Narrative))
	for i, c := range p.Criteria {
		fmt.Fprintf(&b, "  %d. %s\n", i+1, strings.TrimSpace(c.Text))
	}
	dragon := "The Dragon"
	if face := d.t.o.face(policy.Dragon); face.Skin != "" {
		dragon = face.MenuName()
	}
	if text := strings.TrimSpace(p.Dragon); text != "" {
		fmt.Fprintf(&b, "\n%s: %s", dragon, text)
	}
	return strings.TrimRight(b.String(), "\n")
}

// conclude writes quest.md, then the conversation, then moves on.
func (d *definition) conclude() (Result, error) {
	t := d.t
	if !d.agreed {
		file, err := t.file("")
		if err != nil {
			return Result{}, err
		}
		res := t.result(file)
		res.at(quest.AfterDebrief, t.o, quest.Suggestion{})
		return res, nil
	}
	day := quest.Day(t.o.Start)
	def, err := d.proposal.definition(t.o.Mode, day)
	if err != nil {
		return Result{}, err
	}
	data, err := quest.New(def)
	if err != nil {
		return Result{}, err
	}
	d.h.note(time.Now(), def.Narrative, def.Dragon)
	archived, err := d.begin(data)
	if err != nil {
		return Result{}, err
	}
	if err := d.grantChecks(data); err != nil {
		return Result{}, err
	}
	t.o.Title = def.Title
	outcome := def.Outcome(quest.Parse(data).Criteria)
	file, err := t.file(outcome)
	if err != nil {
		return Result{}, err
	}
	next, err := d.nextPhase()
	if err != nil {
		return Result{}, err
	}
	note, err := d.h.editQuest(d.r, "defined", data, func(q *quest.Quest) ([]byte, error) {
		entries := []quest.Entry{quest.PhaseCompleted(quest.PhaseDefinition, "Quest defined", day)}
		if next == quest.PhaseExecution {
			entries = append(entries, quest.PhaseSkipped(quest.PhaseSetup, "Characters as they are", day))
		}
		return q.WithPhase(next, q.Facts(), entries...)
	})
	if err != nil {
		note = fmt.Sprintf("quest.md could not be changed: %v", err)
	}
	res := t.result(file)
	res.Phase, t.o.Quest = next, data
	if d.in.Yes {
		res.Outcome = outcome // who agreed beforehand has not seen it yet
	}
	if archived != "" {
		res.note("the quest before it is kept in " + archived)
	}
	res.note(note)
	res.at(quest.AfterFraming, t.o, quest.Parse(data).FirstAdvisor())
	return res, nil
}

// grantChecks: a check that the person said, letter by letter, is trusted; one
// that Gandalf thought of is looked at first.
func (d *definition) grantChecks(data []byte) error {
	for _, c := range quest.Parse(data).Criteria {
		if c.Check == "" || !d.t.heard("`"+c.Check+"`") {
			continue
		}
		if err := d.h.opts.Trust.Grant(judging.CheckName(c), []byte(c.Check)); err != nil {
			return err
		}
	}
	return nil
}

// begin puts the new quest in its place; a finished one is archived first.
func (d *definition) begin(data []byte) (archived string, err error) {
	if d.old != nil {
		if archived, err = d.h.putAway(d.r, d.old); err != nil {
			return "", err
		}
	}
	change := engine.Change{Op: engine.Create, Path: quest.QuestFile, Data: data}
	if blank := d.t.o.Blank; blank != nil {
		change.Op, change.Before = engine.Write, engine.Digest([]byte(*blank))
	}
	err = engine.Commit(d.r, "quest", []engine.Change{change})
	if editedOf(err) != nil {
		err = errors.New("begin the quest: somebody else has put a quest.md there meanwhile; look at it first")
	}
	return archived, err
}

// nextPhase is what the mode makes of character setup, and the person's word.
func (d *definition) nextPhase() (quest.Phase, error) {
	setup := d.t.o.Mode.Setup()
	if setup == quest.SetupSkipped || d.in.Yes {
		return quest.PhaseExecution, nil
	}
	options := []engine.Option{{Label: "Dress the party first"}, {Label: "Begin as they are"}}
	fallback := options[1].Label
	if setup == quest.SetupEncouraged {
		fallback = options[0].Label
	}
	c, err := d.t.choose("setup", "The party can wear characters.", options, fallback, false)
	if err != nil {
		return 0, err
	}
	if chosen(options, c) == 0 {
		return quest.PhaseSetup, nil
	}
	return quest.PhaseExecution, nil
}

// plainStep is a step that needs no context.
func plainStep[T any](r *engine.Run, name string, fn func() (T, error)) (T, error) {
	return engine.Do(r, name, func(context.Context) (T, error) { return fn() })
}
