package flow

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"strings"

	"conclave/engine"
	"conclave/seat"
	"conclave/table"
	"conclave/table/gm"
	"conclave/table/rolls"
	"conclave/table/seating"
	"conclave/table/story"
	"conclave/table/told"
)

// frozen is a prompt as it was at the signal. Later edits do not count.
type frozen struct {
	Character string            `json:"character"`
	Data      []byte            `json:"data,omitempty"`
	Hash      string            `json:"hash,omitempty"`
	Type      table.RequestType `json:"type,omitempty"`
	Error     []byte            `json:"error,omitempty"` // the error form, in place of a response
	Leaks     []string          `json:"leaks,omitempty"`
	Warnings  []string          `json:"warnings,omitempty"`
}

// answer is what a request came to.
type answer struct {
	story.Asked
	File  []byte `json:"file"` // the response file
	Text  string `json:"text,omitempty"`
	Notes string `json:"notes,omitempty"`
	Long  bool   `json:"long,omitempty"`
	// Rolled are the dice of the player's own.
	Rolled  []rolls.Fell `json:"rolled,omitempty"`
	Calls   int          `json:"calls,omitempty"`   // attempts at an answer
	Laid    string       `json:"laid,omitempty"`    // hash of the file in tmp/ that is the answer
	Remarks []string     `json:"remarks,omitempty"` // of the engine
}

// freeze reads the prompts at the signal.
func (c *cycle) freeze(names []string) ([]frozen, error) {
	if err := c.t.campaign.Tmp.Probe(); err != nil {
		return nil, engine.Halt(err)
	}
	var out []frozen
	for _, n := range names {
		f, err := c.freezeOne(n)
		if err != nil {
			return nil, engine.Halt(err)
		}
		if err := c.clearLaid(n); err != nil {
			return nil, engine.Halt(err)
		}
		out = append(out, f)
	}
	c.tell(c.telling.Blocks())
	if n := c.waiting(out); n.Kind != "" {
		c.t.show(n)
	}
	return out, nil
}

// waiting is what screens show while players think: who is asked. When one of the
// requests is private nobody learns who is. It is empty when nobody is asked.
func (c *cycle) waiting(list []frozen) (n Notice) {
	for _, f := range list {
		switch {
		case len(f.Leaks) > 0 && !c.rewrites[f.Character]:
			return Notice{} // the GM writes it again first
		case len(f.Error) > 0 || len(f.Leaks) > 0:
		case n.Kind == "pause" || c.telling.Private(f.Character, f.Type):
			n = Notice{Kind: "pause", Cycle: c.Cycle, Text: "The table pauses."}
		default:
			n.Kind, n.Cycle, n.Names = "waiting", c.Cycle, append(n.Names, c.Roster.NameOf(f.Character))
		}
	}
	return n
}

func (c *cycle) freezeOne(name string) (frozen, error) {
	f := frozen{Character: name}
	data, err := c.t.campaign.Tmp.Read(table.PromptFile(name), c.t.caps.Prompt)
	var tooBig *table.CapError
	var unsafe *table.UnsafeError
	switch {
	case errors.Is(err, fs.ErrNotExist), errors.As(err, &unsafe):
		f.Error = table.PromptNotFound(c.t.opts.Campaign, name)
		return f, nil
	case errors.As(err, &tooBig):
		note := fmt.Sprintf("Unreadable prompt: %d bytes, limit %d", tooBig.Size, tooBig.Limit)
		bad := &table.MalformedPrompt{Notes: []string{note}}
		f.Error = bad.File()
		return f, nil
	case err != nil:
		return f, err
	}
	f.Hash = table.Hash(data)
	p, err := table.ParsePrompt(data, c.t.caps)
	var bad *table.MalformedPrompt
	if errors.As(err, &bad) {
		f.Error = bad.File()
		return f, nil
	}
	if err != nil {
		return f, err
	}
	f.Type, f.Data = p.Type, p.Bytes()
	return f, c.guard(&f)
}

// guard looks for what the character may not know.
func (c *cycle) guard(f *frozen) error {
	kept, skipped, err := c.t.watch.From(f.Character)
	if err != nil {
		return err
	}
	for _, s := range skipped {
		f.Warnings = append(f.Warnings, "not guarded: "+s)
	}
	ctx, err := c.t.campaign.PlayerContext(f.Character, nil, table.ContextOptions{
		Caps: c.t.caps, Recent: table.TextFor(c.telling.Blocks(), f.Character)})
	if err != nil {
		return err
	}
	var allowed []string
	for _, p := range ctx.Parts {
		allowed = append(allowed, p.Text)
	}
	block, warn := c.t.opts.Guard.Sort(table.Guard(kept).Check(string(f.Data), allowed...))
	for _, l := range block {
		f.Leaks = append(f.Leaks, l.String())
	}
	for _, owner := range c.telling.Owners(string(f.Data), []string{f.Character}) {
		f.Leaks = append(f.Leaks, "what "+owner+" said in secret")
	}
	if string(f.Data) != table.ForEveryone(string(f.Data)) {
		f.Leaks = append(f.Leaks, "it has tags or comments: what stands behind one is yours alone, and no part of a prompt")
	}
	for _, l := range warn {
		f.Warnings = append(f.Warnings, "the prompt of "+f.Character+" has "+l.String())
	}
	return nil
}

// askPlayers asks the agents, all at once, then the people, one after the other
// (their answers can change until they have all been given), and writes the
// answers when the last is in.
func (c *cycle) askPlayers(list []frozen) error {
	for _, f := range list {
		for _, w := range f.Warnings {
			c.Remark(w)
		}
		delete(c.prompt, f.Character)
		sent := string(f.Data)
		if len(f.Leaks) > 0 {
			sent = "" // it is withheld
		}
		c.telling.Ask(f.Character, f.Type, sent)
	}
	if _, ok := c.known[table.GMContextFile]; !ok {
		c.Warn = append(c.Warn, "the GM signalled without tmp/gm-context.md")
		c.Tell = append(c.Tell, "there was no tmp/gm-context.md: write one before the signal")
	}
	answers := make([]answer, len(list))
	for _, people := range []bool{false, true} {
		var group []int
		var seats []string
		for i, f := range list {
			if c.Persons[f.Character] == people {
				group, seats = append(group, i), append(seats, f.Character)
			}
		}
		ask := engine.DoEach[answer]
		if people && (c.t.opts.Apart == nil || !c.t.opts.Apart(seats)) { // two may sit at one screen
			ask = engine.DoInTurn[answer]
		}
		step := fmt.Sprintf("players %d %v", c.turns, people)
		results, err := ask(c.r, step, len(group), func(ctx context.Context, i int) (answer, error) {
			return c.askPlayer(ctx, list[group[i]])
		})
		if err != nil {
			return err
		}
		for i, r := range results {
			if r.Err != nil {
				return r.Err
			}
			answers[group[i]] = r.Value
		}
	}
	if err := c.lastWords(list, answers); err != nil {
		return err
	}
	c.telling.Learn(heard(answers))
	if err := c.playersDice(answers); err != nil {
		return err
	}
	return c.barrier(answers)
}

// heard are the answers as far as they are somebody's words.
func heard(answers []answer) []gm.Answer {
	out := make([]gm.Answer, len(answers))
	for i, a := range answers {
		out[i] = gm.Answer{Who: a.Character, Private: a.Private, Text: a.Text, Beside: []string{a.Notes, a.Discarded}}
		for _, f := range a.Rolled {
			if !f.Asked {
				out[i].Beside = append(out[i].Beside, f.Purpose)
			}
		}
	}
	return out
}

// askPlayer asks one player, with one further attempt when the answer cannot
// stand. What is wrong with the prompt is answered by the engine, before any
// model is asked. It is one step: should the process die within it, the turns
// that were answered are on the seat's record.
func (c *cycle) askPlayer(ctx context.Context, f frozen) (answer, error) {
	a := answer{Asked: story.Asked{Character: f.Character, Sub: c.sub, Type: f.Type,
		Private: c.telling.Private(f.Character, f.Type), PromptSHA: f.Hash}}
	if len(f.Error) > 0 {
		return a.failed(f.Error), nil
	}
	if len(f.Leaks) > 0 {
		const why = "the prompt was withheld: it says what the character may not know"
		return a.failed(table.NoResponse(f.Character, why)), nil
	}
	select {
	case c.t.slots <- struct{}{}:
		defer func() { <-c.t.slots }()
	case <-ctx.Done():
		return a, ctx.Err()
	}
	tools := c.playerDice(f)
	s, text, err := c.seatPlayer(ctx, f, tools)
	if err != nil {
		return a, engine.Halt(err)
	}
	if c.Persons[f.Character] {
		if err := c.draftLaid(&a); err != nil {
			return a, engine.Halt(err)
		}
	}
	reason := ""
	for try := 1; try <= 1+c.t.caps.Retries; try++ {
		turn := playerTurn(try)
		past, err := c.attempts(ctx, f.Character, s.Run, turn)
		if err != nil {
			return a, engine.Halt(err)
		}
		if a.Calls += past.Attempts; !past.Finished {
			if (try > 1 || past.Attempts > 0) && c.spare.Add(-1) < 0 {
				a.Remarks = append(a.Remarks,
					fmt.Sprintf("%s was not asked again: %d calls are spent", f.Character, c.t.caps.Calls))
				reason = cmp.Or(reason, table.ReasonCrashed)
				break
			}
			a.Calls++
		}
		took, err := s.Ask(ctx, turn, text)
		if err != nil {
			if reason = engine.CodeOf(err); reason == "" {
				return a, err
			}
			if why, _, err := c.hearPlayer(&a, f, s.Run, turn, tools); err != nil {
				return a, engine.Halt(err)
			} else if why == "" { // it had written its answer before
				reason = ""
			}
			if reason != "" && !seating.Again(err) {
				a.Remarks = append(a.Remarks, told.NotAsked(f.Character, err.Error()))
				break
			}
			if reason == table.ReasonTimeout || reason == "" {
				break
			}
			continue
		}
		if err := c.t.people.Drop(f.Character, took.Reply.Text); err != nil {
			return a, engine.Halt(err)
		}
		var retry string
		if reason, retry, err = c.hearPlayer(&a, f, s.Run, turn, tools); err != nil {
			return a, engine.Halt(err)
		}
		if reason == "" {
			break
		}
		text = "Event: retry\n\n" + retry + "\n"
	}
	if reason != "" {
		if reason, err = c.takeLaid(&a, f, reason); err != nil {
			return a, engine.Halt(err)
		}
	}
	if reason != "" {
		file := table.NoResponse(f.Character, reason)
		if a.Discarded != "" {
			file = table.RefusedVeto(f.Character, reason, a.Discarded)
		}
		a = a.failed(file)
	}
	if a.Outcome == story.OutcomeAnswer {
		rest, err := tools.Rest()
		if err != nil {
			return a, engine.Halt(err)
		}
		a.addRolls(rest)
	}
	if c.Persons[f.Character] && a.Outcome != story.OutcomeError && !c.first {
		return a, nil // lastWords seals it: until then they may answer differently
	}
	return a, engine.Halt(c.t.seats.Close(s.Run))
}

func playerTurn(try int) string { return fmt.Sprintf("t%d", try) }

func (c *cycle) playerRun(who string) string { return c.t.runID(c.r.ID(), fmt.Sprint(c.sub), who) }

// attempts are those at a turn of a player that the record knows of. A person who
// is asked again when the table goes on costs nothing.
func (c *cycle) attempts(ctx context.Context, who, run, turn string) (engine.Found, error) {
	past, err := (&seat.EngineTurn{Set: c.t.seats.Set, Run: run, Turn: seat.Turn{ID: turn}}).Find(ctx)
	if c.Persons[who] {
		past.Attempts = 0
		if past.Finished {
			past.Attempts = 1
		}
	}
	return past, err
}

// leaveSpare counts how many further attempts the calls of the cycle leave to a
// sub-cycle, beside one for each who is asked. What a process had asked that died
// was asked.
func (c *cycle) leaveSpare(list []frozen) error {
	spare := c.t.caps.Calls - c.calls
	for _, f := range list {
		begun := 0
		for try := 1; try <= 1+c.t.caps.Retries; try++ {
			past, err := c.attempts(c.r.Context(), f.Character, c.playerRun(f.Character), playerTurn(try))
			if err != nil {
				return engine.Halt(err)
			}
			begun += past.Attempts
		}
		spare -= max(begun, 1)
	}
	c.spare.Store(int64(spare))
	return nil
}

// hearPlayer takes what a player said, wrote and rolled in a turn for its answer,
// as judge does.
func (c *cycle) hearPlayer(a *answer, f frozen, run, turn string, tools *rolls.Player) (reason, retry string, err error) {
	got, err := c.t.seats.Turn(run, turn)
	if err != nil {
		return "", "", err
	}
	fell, lost := tools.Fallen(got.Calls)
	a.addRolls(fell)
	for _, l := range lost {
		a.Remarks = append(a.Remarks, lostRoll(l.Line))
	}
	said, remarks := table.PlayerTurn(c.t.opts.Campaign, f.Character, got.Text, got.Files)
	a.Remarks = append(a.Remarks, remarks...)
	reason, retry = c.judge(a, said, f)
	return reason, retry, nil
}

// judge takes a turn for the answer, or says why it cannot stand and what to tell
// the player. The reason of a veto is kept even then.
func (c *cycle) judge(a *answer, said table.Turn, f frozen) (reason, retry string) {
	r := table.ParseResponse(said.Response, f.Type, c.t.caps)
	switch r.Kind {
	case table.Empty:
		return table.ReasonEmpty, table.RetryEmpty
	case table.TooLong:
		return table.ReasonTooLong, table.RetryTooLong
	case table.Veto:
		if why := table.VetoRefused(f.Type, c.vetoes[f.Character]); why != "" {
			a.Discarded = r.Reason
			return why, table.RetryVeto
		}
	}
	*a = a.accepted(r, said.Notes)
	return "", ""
}

func (a answer) failed(file []byte) answer {
	a.Outcome, a.File, a.Response = story.OutcomeError, file, string(file)
	return a
}

func (a answer) accepted(r table.Response, notes string) answer {
	a.Outcome, a.File, a.Text, a.Notes, a.Long = story.OutcomeAnswer, r.File(), r.Text, notes, r.Long
	if r.Kind == table.Veto {
		a.Outcome, a.Text = story.OutcomeVeto, r.Reason
	}
	a.Response = string(a.File)
	return a
}

// seatPlayer prepares a player's seat, in a room that holds its part and no
// more, and the message to it.
func (c *cycle) seatPlayer(ctx context.Context, f frozen, tools *rolls.Player) (*seating.Seat, string, error) {
	view, err := c.t.playerView(ctx, c, f)
	if err != nil {
		return nil, "", err
	}
	s := c.t.seats.Player(c.playerRun(f.Character), f.Character, view)
	s.Private, s.Before, s.Tools = c.telling.Private(f.Character, f.Type), tools.Begin, tools.Tools()
	return s, c.playerMessage(f, view), nil
}

func (c *cycle) playerMessage(f frozen, view table.SeatContext) string {
	s := fmt.Sprintf("Campaign: %s\nCharacter: %s\nScene: %s\nRequest: %s\n",
		c.t.opts.Campaign, f.Character, c.sceneNow().Grown(" ").Title, f.Type)
	if strings.HasPrefix(c.Played[f.Character], "agent, while") {
		s += "Note: the person who plays this character is away: make no choice that cannot be taken back.\n"
	}
	return s + "\n" + view.Text()
}

// playerView gathers what a player may have. What it heard in this cycle and
// what is not yet in its journal is told.
func (t *Table) playerView(ctx context.Context, c *cycle, f frozen) (table.SeatContext, error) {
	opt := table.ContextOptions{Caps: t.caps, Recent: c.lately(f.Character), Fight: c.combat.Text(false)}
	pending := t.journals.Await(ctx, f.Character, t.opts.JournalWait)
	opt.Pending = strings.Join(pending, "\n\n")
	return t.campaign.PlayerContext(f.Character, f.Data, opt)
}

// lately is what a character heard since its last journal entry: in the rounds
// that wait for one, and in this cycle; and its own veto, if it made one.
func (c *cycle) lately(who string) string {
	parts := c.telling.Heard(who)
	if a, ok := c.latest[who]; ok && a.Outcome == story.OutcomeVeto {
		parts = append(parts, "You vetoed the last request: "+a.Text)
	}
	return strings.Join(parts, "\n\n")
}
