package flow

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"conclave/dice"
	"conclave/engine"
	"conclave/policy"
	"conclave/seat"
	"conclave/table"
)

// gmSaid is a GM's turn as it is recorded.
type gmSaid struct {
	Text  string     `json:"text"`
	Calls []toolCall `json:"calls,omitempty"`
}

// gmTries: the same input once more, then a GM that has seen nothing but the
// pack, then the table waits.
const gmTries = 3

// hear takes one turn of the GM and everything that it asks for but the
// players.
func (c *cycle) hear(message string, about []table.Source) (output, error) {
	c.turns++
	for try := 1; ; try++ {
		text := message
		if try == gmTries {
			c.gmRun = c.t.runID(c.r.ID(), fmt.Sprintf("gm-fresh-%d", c.turns))
			if c.turns > 1 {
				text = c.Message + "\n\nYou take over in the middle of this cycle. So far in it you have said:\n\n" + c.own() + "\n\n" + message
			}
		}
		said, err := engine.Do(c.r, fmt.Sprintf("gm %d try %d", c.turns, try), func(ctx context.Context) (gmSaid, error) {
			said, err := c.gmTurn(ctx, text, about)
			if err != nil && try == gmTries {
				err = engine.Halt(fmt.Errorf("the GM gives no answer, the table waits: %w", err))
			}
			return said, err
		})
		if err == nil {
			return c.takeApart(said)
		}
		var failure *engine.Failure
		if !errors.As(err, &failure) {
			return output{}, err
		}
		c.warn = append(c.warn, fmt.Sprintf("turn %d of the GM, attempt %d: %s", c.turns, try, failure.Message))
	}
}

// own is what the GM has said in this cycle.
func (c *cycle) own() string {
	var parts []string
	for _, b := range c.blocks {
		parts = append(parts, fmt.Sprintf("(for %s) %s", b.Audience, b.Text))
	}
	return strings.Join(parts, "\n\n")
}

func (c *cycle) gmTurn(ctx context.Context, text string, about []table.Source) (gmSaid, error) {
	desk := &c.desk
	s := &tableSeat{
		t: c.t, run: c.gmRun, role: policy.GM, timeout: c.t.caps.GMTimeout, about: about, before: desk.begin,
		actor: func() (Actor, error) { return c.t.opts.Cast(policy.GM, "", false) },
		furnish: func(p *seat.Plan) error {
			p.Tools = desk.tools()
			return c.t.furnishGM(p)
		},
	}
	id := fmt.Sprintf("t%d", c.turns)
	got, err := s.take(ctx, id, text)
	if err != nil {
		return gmSaid{}, err
	}
	calls, err := toolCalls(c.t.seats, c.gmRun, id)
	if err != nil {
		return gmSaid{}, engine.Halt(err)
	}
	return gmSaid{got.Reply.Text, calls}, c.t.dropDraft(string(policy.GM))
}

// takeApart reads an output and does what needs nobody else: files, statuses,
// the scene.
func (c *cycle) takeApart(said gmSaid) (output, error) {
	tools := c.fromTools(said.Calls)
	text, after := said.Text, ""
	if tools.Signal.Found {
		text, after = text[:tools.handed], text[tools.handed:]
	}
	o := parseSpoken(tools.among(text), c.Roster, tools.quiet)
	if o.Aside != "" {
		o.Notes = append(o.Notes, fmt.Sprintf("%d characters beside narrate were told to nobody: who narrates to the party with the tool says everything with it", len(o.Aside)))
	}
	o.Files = append(tools.Files, o.Files...)
	o.Statuses = append(tools.Statuses, o.Statuses...)
	o.Faults = append(tools.Faults, o.Faults...)
	c.rolls = append(c.rolls, tools.fallen...)
	o.End = o.End || tools.End
	if tools.Scene != nil {
		o.Scene = tools.Scene
	}
	if tools.Signal.Found {
		if o.Signal.Found {
			o.Notes = append(o.Notes, "await_players was called; the signal in the text was not run")
		}
		o.Signal.Found, o.Signal.Names, o.Signal.Fault = true, tools.Signal.Names, tools.Signal.Fault
		o.Signal.After += after
		if strings.TrimSpace(after) != "" {
			o.Notes = append(o.Notes, fmt.Sprintf("%d characters after await_players were withheld from everyone: end the turn with the call", len(after)))
		}
	}
	if size := int64(len(said.Text)) + tools.size(); size > c.t.caps.Narrative {
		o.Blocks = nil
		o.Faults = append(o.Faults, fmt.Sprintf("the text has %d bytes, limit %d: nothing of it was taken; say it shorter", size, c.t.caps.Narrative))
	}
	c.tell = append(c.tell, o.Notes...)
	c.guardControls(&o)
	c.withhold(o.Aside)
	c.withhold(o.Signal.After)
	c.ended = c.ended || o.End
	for _, s := range o.Statuses {
		c.status[s.Character] = s.Status
		for i := range c.Roster.Characters {
			if c.Roster.Characters[i].Slug == s.Character {
				c.Roster.Characters[i].Status = s.Status
			}
		}
	}
	if o.Scene != nil {
		c.scene = c.newScene(*o.Scene)
	}
	o.Faults = append(o.Faults, c.keepSecrets(o.Blocks)...)
	return o, c.writeFiles(&o)
}

// withhold keeps words that nobody is told for the log.
func (c *cycle) withhold(text string) {
	text = strings.TrimSpace(markForm.ReplaceAllString(text, ""))
	if text != "" && c.withheld != "" {
		c.withheld += "\n\n"
	}
	c.withheld += text
}

// writeFiles writes what the GM wants written, if it may stand there.
func (c *cycle) writeFiles(o *output) error {
	if len(o.Files) == 0 {
		return nil
	}
	faults, err := engine.Do(c.r, fmt.Sprintf("check files %d", c.turns), func(context.Context) (map[int]string, error) {
		return c.checkFiles(o.Files), nil
	})
	if err != nil {
		return err
	}
	var changes []engine.Change
	for i, f := range o.Files {
		if fault := faults[i]; fault != "" {
			o.Faults = append(o.Faults, fault)
			continue
		}
		if class := table.Classify(f.Path); class.Kind == table.KindSheet {
			c.sent(f.Text, class.Character)
		} else if class.Kind == table.KindPartyKnowledge || class.Kind == table.KindWorldPrimer {
			c.sent(f.Text, c.everybody()...)
		}
		changes = append(changes, c.fileChange(f))
	}
	err = c.t.commit(c.r, fmt.Sprintf("files %d", c.turns), changes)
	var edited *engine.EditedError
	if errors.As(err, &edited) {
		c.warn = append(c.warn, edited.Error()+": left as it is")
		return nil
	}
	return err
}

// fileChange also keeps the books about files of tmp/.
func (c *cycle) fileChange(f fileWrite) engine.Change {
	ch := engine.Change{Op: engine.Write, Path: c.t.file(f.Path), Data: []byte(f.Text)}
	if f.Append {
		ch.Op = engine.Append
	}
	name, tmp := strings.CutPrefix(f.Path, "tmp/")
	if !tmp {
		return ch
	}
	ch.Op = engine.Write // in tmp/ nothing is added to
	c.known[name] = table.Hash(ch.Data)
	if name == table.GMContextFile {
		text, warning, _ := table.CheckGMContext(ch.Data, c.t.caps)
		ch.Data = text
		c.known[name], c.context = table.Hash(text), string(text)
		if warning != "" {
			c.tell = append(c.tell, warning)
		}
	} else if slug := table.Classify(f.Path).Character; slug != "" {
		c.prompt[slug] = true
	}
	return ch
}

// checkFiles says what may not be written, by number.
func (c *cycle) checkFiles(files []fileWrite) map[int]string {
	faults := map[int]string{}
	for i, f := range files {
		if faults[i] = c.guardFile(f); faults[i] != "" {
			continue
		}
		delete(faults, i)
		limit := c.t.caps.PartyKnowledge
		switch table.Classify(f.Path).Kind {
		case table.KindGMContext:
			if _, _, err := table.CheckGMContext([]byte(f.Text), c.t.caps); err != nil {
				faults[i] = err.Error() + ": nothing was written"
			}
			continue
		case table.KindPrompt:
			continue // judged at the signal
		case table.KindSheet:
			limit = c.t.caps.Sheet
		case table.KindPartyKnowledge, table.KindWorldPrimer:
			if leaks := c.publicLeaks(f.Text); len(leaks) > 0 {
				faults[i] = fmt.Sprintf("%s was not written: everybody reads it, and it says %s", f.Path, leaks[0])
				continue
			}
		}
		if int64(len(f.Text)) > limit {
			faults[i] = (&table.CapError{What: f.Path, Size: int64(len(f.Text)), Limit: limit}).Error() + ": nothing was written"
		}
	}
	return faults
}

// publicLeaks are the secrets that a text for everybody gives away.
func (c *cycle) publicLeaks(text string) []table.Leak {
	kept, _, err := c.t.watch.From("")
	if err != nil {
		return []table.Leak{{Path: "campaign", Words: err.Error()}}
	}
	block, _ := c.t.opts.Guard.Sort(table.Guard(kept).Check(text))
	return block
}

// roll lets the dice fall that an output asks for, and puts them into the
// narrative. The lines are for the GM.
func (c *cycle) roll(o output) ([]string, error) {
	if len(o.Rolls) == 0 {
		return nil, nil
	}
	lines, err := engine.Do(c.r, fmt.Sprintf("dice %d", c.turns), func(context.Context) ([]dice.Line, error) {
		var out []dice.Line
		for i, req := range o.Rolls {
			line, err := c.t.rollDice(req, fmt.Sprintf("%s t%d %d", c.r.ID(), c.turns, i), c.number())
			if err != nil {
				return nil, engine.Halt(err)
			}
			out = append(out, line)
			c.t.crash(fmt.Sprintf("rolled %d", line.N))
		}
		return out, nil
	})
	if err != nil {
		return nil, err
	}
	var told []string
	for _, l := range lines {
		c.rolls = append(c.rolls, l.N)
		told = append(told, l.Told(dice.Viewer{GM: true}))
	}
	c.fill(lines)
	return told, nil
}

// number is the cycle's number, with the sub-cycle's.
func (c *cycle) number() string {
	if c.sub == 0 {
		return fmt.Sprint(c.Cycle)
	}
	return fmt.Sprintf("%d.%d", c.Cycle, c.sub)
}

func (t *Table) rollDice(req rollRequest, id, cycle string) (dice.Line, error) {
	log, err := t.diceLog()
	if err != nil {
		return dice.Line{}, err
	}
	line, err := log.Roll(dice.Request{ID: id, Cycle: cycle, Who: req.Who, Purpose: req.Purpose, Visibility: req.Visibility,
		Expr: req.Expr, DC: req.DC, HideDC: req.HideDC, Advantage: req.Adv, Disadvantage: req.Dis})
	var void *dice.VoidError
	if errors.As(err, &void) {
		return dice.Line{Event: dice.EventVoid, N: void.N, ID: id, Who: req.Who, Purpose: req.Purpose, Input: req.Expr, Note: void.Err.Error()}, nil
	}
	return line, err
}

// fill puts rolls into the blocks in which they were asked for. Each reader
// sees of them what is theirs to see.
func (c *cycle) fill(lines []dice.Line) {
	byMark := slices.Clone(lines)
	var private []table.Block
	for i := range c.blocks {
		c.blocks[i].Text = strings.TrimSpace(markForm.ReplaceAllStringFunc(c.blocks[i].Text, func(string) string {
			if len(byMark) == 0 {
				return ""
			}
			l := byMark[0]
			byMark = byMark[1:]
			if l.Visibility == dice.Private && l.Who != string(policy.GM) {
				private = append(private, table.Block{Audience: table.Audience{Names: []string{l.Who}}, Text: l.Told(dice.Viewer{Name: l.Who})})
			}
			return l.Told(dice.Viewer{})
		}))
	}
	for _, l := range byMark { // in no block: it stood alone
		c.blocks = append(c.blocks, table.Block{Audience: table.Audience{Party: true}, Text: l.Told(dice.Viewer{})})
	}
	c.blocks = append(c.blocks, private...)
}
