package flow

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"slices"
	"strconv"
	"strings"

	"conclave/engine"
	"conclave/policy"
	"conclave/quest"
	"conclave/quest/judging"
	"conclave/record"
	"conclave/room"
)

// Council asks the six, each alone, and lets Simon bring them together.
type Council struct {
	Message string   `json:"message"`         // the person's words, if any
	Typed   []string `json:"typed,omitempty"` // what the person typed on the way here, in menus
	// Caller is the agent that asks in the person's place; "" for the person.
	Caller string `json:"caller,omitempty"`
}

// session is how a council began: one opening for each seat, Simon's last.
type session struct {
	Seats []Opening `json:"seats"`
	Simon Opening   `json:"simon"`
}

// CheckCouncil says why no council can be held.
func (h *House) CheckCouncil(in Council) error {
	_, err := h.councilOpening(in)
	return err
}

func (h *House) councilOpening(in Council) (session, error) {
	simon, err := h.readOpening(policy.Simon, "council", quest.PurposeCouncil, false)
	if err != nil {
		return session{}, err
	}
	simon.Caller = in.Caller
	s := session{Simon: simon}
	for _, animal := range policy.Animals() {
		seat := simon
		seat.Role, seat.Flow, seat.Run = animal, "council."+string(animal), record.NewRunID(h.opts.Now())
		s.Seats = append(s.Seats, seat)
	}
	return s, nil
}

func (h *House) council(r *engine.Run, in Council) (Result, error) {
	s, err := engine.Do(r, "begin", func(context.Context) (session, error) { return h.councilOpening(in) })
	if err != nil {
		return Result{}, err
	}
	if in.Message == "" && len(in.Typed) == 0 {
		s.Simon.Purpose += withoutWords
	}
	c := &council{h: h, r: r, s: s, typed: in.Typed}
	if err := c.hearAll(in.Message); err != nil {
		return Result{}, err
	}
	if c.simon.ended == "" {
		if err := c.synthesise(); err != nil {
			return Result{}, err
		}
	}
	return c.conclude()
}

type council struct {
	h     *House
	r     *engine.Run
	s     session
	seats []*dialogue
	cites [][]judging.Citation
	simon *dialogue
	typed []string

	synthesis synthesis
	note      string
}

// hearAll takes the six turns at once, each in a room of its own.
func (c *council) hearAll(words string) error {
	for _, o := range c.s.Seats {
		t := c.h.dialogue(c.r, o, extras{})
		t.quiet, t.turns = true, []string{"t1"}
		c.seats = append(c.seats, t)
	}
	c.simon = c.h.dialogue(c.r, c.s.Simon, extras{})
	c.simon.opened = c.typed
	results, err := engine.DoEach(c.r, "seat", len(c.seats), func(ctx context.Context, i int) (engine.TurnResult, error) {
		t := c.seats[i]
		return engine.TakeTurn(ctx, t.turn("t1", false, nil, councilFraming(t.o), words))
	})
	if err != nil {
		return err
	}
	for i, res := range results {
		t := c.seats[i]
		reply, ok, err := t.turnResult(res.Value, res.Err)
		if err != nil {
			return err
		}
		if !ok {
			c.simon.ended = t.ended
		}
		if ok && strings.TrimSpace(reply.Text) == "" {
			c.simon.ended = t.o.face(t.o.Role).Name() + " said nothing"
		}
		t.said = append(t.said, reply.Text)
		// All have spoken: they are shown in their order, not in that of haste.
		if l := c.h.opts.Listener; l != nil && ok {
			l.Said(t.o.face(t.o.Role), reply.Text)
		}
	}
	return c.verify()
}

// verify checks every citation against the project as the six saw it.
func (c *council) verify() error {
	var err error
	c.cites, err = engine.Do(c.r, "cite", func(ctx context.Context) ([][]judging.Citation, error) {
		m, err := c.h.material()
		if err != nil {
			return nil, engine.Halt(err)
		}
		m.Quest = c.s.Simon.quest()
		log, _ := c.h.history(ctx) // without one, nobody was given it either: the rooms say why
		v, err := openView(c.h.opts.Root, policy.View(policy.Bear, c.h.opts.Granted), quest.Grant(policy.Bear, m), log)
		if err != nil {
			return nil, engine.Halt(err)
		}
		defer v.close()
		var all [][]judging.Citation
		for _, t := range c.seats {
			all = append(all, v.check(t.said[0]))
		}
		return all, nil
	})
	return err
}

// councilSaid is what earlier versions asked the six for: they may have repeated
// it in conversations that are kept.
const councilSaid = "Look at the project through your lens and give three to five observations, each true of this project " +
	"and of no other, each with at least one citation `path:line`."

func councilFraming(o Opening) string {
	face := o.face(o.Role)
	text := fmt.Sprintf("A council is held. You speak as %s, and your lens is %s. Five others look at the same project through theirs; you do not hear them, and they do not hear you. ", face.Name(), face.Archetype.Lens)
	text += roomGuide(o)
	text += "\n\nLook at the project through your lens and give at most " + strconv.Itoa(quest.MaxObservations) + " observations, each true of this project and of no other, each with at least one citation `path:line`. Citations are checked; what does not check out is marked. Then say in one sentence what you would do first."
	if o.Quest != nil {
		text += fmt.Sprintf("\n\nA quest is under way: %s.", o.Title)
	}
	return text
}

// synthesis is Simon's structured answer.
type synthesis struct {
	Consensus string   `json:"consensus"`
	Dissent   string   `json:"dissent"`
	NextSteps []string `json:"next_steps"`
}

const synthesisSchema = `{"type":"object","additionalProperties":false,"required":["consensus","dissent","next_steps"],"properties":{"consensus":{"type":"string","description":"what the six agree on, with their citations"},"dissent":{"type":"string","description":"what some of them see otherwise, by name; empty if nothing"},"next_steps":{"type":"array","items":{"type":"string"},"description":"in the order to take them"}}}`

func (s *synthesis) read(answer []byte) error {
	if err := strictJSON(answer, s); err != nil {
		return err
	}
	if strings.TrimSpace(s.Consensus) == "" || len(s.NextSteps) == 0 {
		return fmt.Errorf("consensus and at least one next step are needed")
	}
	return nil
}

// synthesise lets Simon speak, and then asks him for the parts of the report.
func (c *council) synthesise() error {
	text := c.perspectives()
	for _, t := range c.seats {
		c.simon.x.grants = append(c.simon.x.grants, room.Grant{Kind: string(policy.CouncilSeats), Name: "council/" + string(t.o.Role) + ".md", Bytes: []byte(t.said[0] + "\n")})
	}
	framing := "The council has spoken. Each of the six looked alone; nobody heard the others. What each wrote is below, word for word, and in council/ as files.\n\n" + text +
		"\n\nBring them together for the person: where they agree, where they differ and who differs, what to do next. Keep dissent; add no finding of your own. Keep their citations."
	reply, ok, err := c.simon.say(framing, "")
	if err != nil || !ok {
		return err
	}
	ask := "Now give the parts of the report in the structured form that is asked for, and nothing else.\n\nThe form, as a JSON schema:\n" + synthesisSchema
	problem := c.synthesis.read(judging.Structured(reply))
	for _, id := range []string{"synthesis", "repair"} {
		if problem == nil {
			return nil
		}
		answer, ok, err := c.simon.request(id, ask, []byte(synthesisSchema))
		if err != nil || !ok {
			return err
		}
		problem = c.synthesis.read(judging.AnswerIn(answer))
		ask = fmt.Sprintf("Your answer could not be read (%v). Give it once more as one JSON object in the form that is asked for.\n\n%s", problem, synthesisSchema)
	}
	if problem != nil {
		c.synthesis = synthesis{Consensus: reply.Text}
		c.note = "Simon gave no list of next steps in the form that was asked for; the report holds what he said"
	}
	return nil
}

func (c *council) perspectives() string {
	var b strings.Builder
	for _, t := range c.seats {
		face := t.o.face(t.o.Role)
		fmt.Fprintf(&b, "### %s — %s\n\n%s\n\n", face.MenuName(), face.Archetype.Lens, t.said[0])
	}
	return strings.TrimSpace(b.String())
}

// conclude writes the report, then the transcript.
func (c *council) conclude() (Result, error) {
	var unverified []string
	for i, t := range c.seats {
		if c.simon.ended == "" && len(c.cites[i]) == 0 && !sawNothing(t.said[0]) {
			unverified = append(unverified, t.o.face(t.o.Role).Name()+" cites nothing")
		}
		for _, cite := range c.cites[i] {
			if !cite.OK {
				unverified = append(unverified, fmt.Sprintf("%s: %s (%s)", t.o.face(t.o.Role).Name(), cite.Text, cite.Reason))
			}
		}
	}
	if c.simon.ended == "" {
		if err := c.report(); err != nil {
			return Result{}, err
		}
	}
	file, err := c.file(c.outcome(unverified))
	if err != nil {
		return Result{}, err
	}
	res := c.simon.result(file)
	res.Runs = nil
	for _, o := range append(c.s.Seats, c.s.Simon) {
		res.Runs = append(res.Runs, o.Run)
	}
	res.Unverified, res.Council = unverified, c.told()
	res.note(c.note)
	at := quest.AfterCouncil
	if c.s.Simon.Quest == nil && !c.found() {
		at = quest.AfterStandalone // there is nothing that a quest could begin from
	}
	res.at(at, c.s.Simon, quest.Suggestion{})
	return res, nil
}

// found says that there is a report, and that somebody found something.
func (c *council) found() bool {
	if c.simon.ended != "" {
		return false
	}
	for i, t := range c.seats {
		if len(c.cites[i]) > 0 || !sawNothing(t.said[0]) {
			return true
		}
	}
	return false
}

func (c *council) report() error {
	report := quest.Report{Created: quest.Day(c.s.Simon.Start), Type: quest.Standalone,
		Consensus: c.synthesis.Consensus, Dissent: c.synthesis.Dissent, NextSteps: c.synthesis.NextSteps}
	if c.s.Simon.Quest != nil {
		report.Type = quest.QuestInformed
	}
	for i, t := range c.seats {
		report.Perspectives = append(report.Perspectives, quest.Perspective{Face: t.o.face(t.o.Role), Text: marked(t.said[0], c.cites[i])})
	}
	data, err := report.Render()
	if err != nil {
		return err
	}
	return engine.Commit(c.r, "report", []engine.Change{{Op: engine.Write, Path: quest.ReportFile, Data: data}})
}

// file ends the records and writes the transcript. Simon's record leads; in a
// council that ended before he spoke, the last of the six that has one does.
func (c *council) file(outcome string) (string, error) {
	all := append(append([]Opening{}, c.s.Seats...), c.s.Simon)
	runs, err := engine.Do(c.r, "seal seats", func(context.Context) ([]string, error) {
		var runs []string
		for _, o := range all {
			if c.h.seats.Begun(o.Run) {
				runs = append(runs, o.Run)
			}
		}
		for i, t := range c.seats {
			if len(runs) == 0 || !slices.Contains(runs[:len(runs)-1], t.o.Run) {
				continue
			}
			f := c.s.Seats[i].filed(t.turns, "")
			f.Lead = runs[len(runs)-1]
			if err := c.h.seal(t.o.Run, sealReason(c.simon.ended), f); err != nil {
				return nil, engine.Halt(err)
			}
		}
		return runs, nil
	})
	if err != nil || len(runs) == 0 {
		return "", err
	}
	lead := *c.simon
	lead.o.Run = runs[len(runs)-1]
	speaker := c.s.Simon.face(policy.Simon).Tag()
	for _, t := range c.seats {
		if t.o.Run == lead.o.Run {
			speaker, lead.turns = t.o.face(t.o.Role).Tag(), t.turns
		}
	}
	return lead.fileWith(outcome, func(f *conversationEvent) { f.Runs, f.Speaker = runs, speaker })
}

func (c *council) outcome(unverified []string) string {
	var b strings.Builder
	// A text that begins with a list stays one: nothing stands before its mark.
	fmt.Fprintf(&b, "**Consensus:**\n\n%s\n", strings.TrimSpace(c.synthesis.Consensus))
	if d := strings.TrimSpace(c.synthesis.Dissent); d != "" {
		fmt.Fprintf(&b, "\n**Dissent:**\n\n%s\n", d)
	}
	if len(c.synthesis.NextSteps) > 0 {
		b.WriteString("\n**Recommended next steps:**\n\n")
		for i, s := range c.synthesis.NextSteps {
			fmt.Fprintf(&b, "%d. %s\n", i+1, strings.Join(strings.Fields(s), " "))
		}
	}
	if len(unverified) > 0 {
		b.WriteString("\n**Not verified:**\n\n")
		for _, u := range unverified {
			fmt.Fprintf(&b, "- %s\n", u)
		}
	}
	return strings.TrimSpace(b.String())
}

// strictJSON reads one JSON object and nothing around it but a fence.
func strictJSON(answer []byte, v any) error {
	text := strings.TrimSpace(string(answer))
	if rest, ok := strings.CutPrefix(text, "```"); ok {
		_, rest, _ = strings.Cut(rest, "\n")
		text = strings.TrimSpace(strings.TrimSuffix(strings.TrimSpace(rest), "```"))
	}
	if !strings.HasPrefix(text, "{") {
		return fmt.Errorf("the answer is not a JSON object")
	}
	return json.Unmarshal([]byte(text), v)
}

// CouncilSteps are the next steps that the last council recommended, from its
// report.
func (h *House) CouncilSteps() ([]string, error) {
	store, err := quest.OpenStore(h.opts.Root)
	if err != nil {
		return nil, err
	}
	defer store.Close()
	data, err := store.Read(quest.ReportFile)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, errors.New("there is no council's report to begin from: `conclave council` holds one")
	}
	if err != nil {
		return nil, err
	}
	return quest.NextSteps(data)
}

// fromCouncil tells Gandalf what a council found, where a quest begins from it.
func fromCouncil(o Opening) string {
	if o.Council == nil {
		return ""
	}
	var b strings.Builder
	b.WriteString("\nThe quest is to begin from the findings of a council: its report is council-report.md in your " +
		"working directory. Say that you have it. Its next steps may become success criteria; the person chooses which:")
	for i, s := range o.Council {
		fmt.Fprintf(&b, "\n%d. %s", i+1, strings.Join(strings.Fields(s), " "))
	}
	return b.String()
}
