package app

import (
	"cmp"
	"context"
	"errors"
	"strings"

	"conclave/internal/lockfile"
	"conclave/internal/screen"
	"conclave/policy"
	"conclave/table"
	"conclave/table/desk"
	tableflow "conclave/table/flow"
	"conclave/table/people"
	"conclave/table/story"
)

// AutoTurns is where a table stops that nobody watches, if nobody said where.
const AutoTurns = 100

// Playing is how long a table is played.
type Playing struct {
	Seating
	MaxTurns int  // cycles; 0 for no limit, with Auto for AutoTurns, -1 for none with it either
	End      bool // end the session after the last turn
}

// PlayTable goes on where the campaign stands. It says whether a session that
// nobody watched is still open.
func (a *App) PlayTable(ctx context.Context, in Playing) (open bool, err error) {
	if in.As, err = a.checkSeats(in.Table, in.As); err != nil {
		return false, err
	}
	k, err := a.tableAsker(in.Seating)
	if err != nil {
		return false, err
	}
	if k == nil && !in.Auto {
		return false, environmentError("nobody is here to play: use a terminal, --answers, or --auto")
	}
	if err := a.sitDown(&in); err != nil {
		return false, err
	}
	if err := a.report(in.Seating); err != nil {
		return false, err
	}
	s := a.newTableScreen(in.As, k)
	v := verb{method: "PlayTable", args: []any{in}, results: []any{&open}, repeats: true, screen: s}
	err = a.reachTable(ctx, in.Seating, v, func() error { return a.playHere(ctx, in, s, &open) })
	return open, err
}

// playHere plays in this process: the table is opened, or, for a terminal that
// came, open.
func (a *App) playHere(ctx context.Context, in Playing, s *tableScreen, open *bool) error {
	if a.at != nil {
		if in.Auto || in.MaxTurns != 0 || in.End {
			return usageError("%s is being played: --auto, --max-turns and --end are for who begins", in.Table)
		}
		if a.at.auto {
			a.aside("Agents play every seat at this table (--auto), and nobody is asked: you look on. "+
				"To play, end it there and sit down: conclave table play %s --as NAME", in.Table)
		}
		return a.at.stay(ctx, s, nil)
	}
	return a.atHub(ctx, "play", in.Seating, s, func(h *tableHub) error {
		if w, err := a.openWorkspace(); err == nil && s.state().Cycle == 0 { // else they were at it before
			w.gmIsAPerson(in)
		}
		err := h.play(ctx, in)
		if ctx.Err() != nil {
			return environmentError("interrupted. Go on with: conclave table play %s", in.Table)
		}
		*open = err == nil && in.Auto && h.table.InSession()
		return a.handedOff(in.Table, err)
	})
}

// play plays until this process's own person leaves, or the session ends.
func (h *tableHub) play(ctx context.Context, in Playing) error {
	if in.Auto && in.MaxTurns == 0 {
		in.MaxTurns = AutoTurns
	}
	p := tableflow.Play{MaxTurns: in.MaxTurns, EndAt: in.End}
	if !in.Auto {
		p.Listen = h.listen
		prompting, stop := context.WithCancel(ctx)
		h.prompts.Go(func() { h.prompt(prompting, h.own) })
		defer func() { stop(); h.prompts.Wait(); h.unsaid(h.own) }()
	}
	for {
		err := h.table.Play(ctx, p)
		if err == nil || !h.goesOn() {
			return err
		}
	}
}

// goesOn says whether what was cut can be gone on with at once: who was asked has
// left a seat that somebody else plays now.
func (h *tableHub) goesOn() bool {
	h.mu.Lock()
	defer h.mu.Unlock()
	again := h.again && !h.leaving
	h.again = false
	return again
}

// tableLine does what a slash line says that was typed between cycles, and returns
// what it shows: to that seat, and nobody else.
func (a *App) tableLine(ctx context.Context, t *tableflow.Table, seat, line string) (shown string, stop bool, err error) {
	line, more, several := strings.Cut(line, "\n")
	word, rest, _ := desk.IsCommand(line)
	if several {
		return "", false, usageError("/%s stands by itself: neither it nor what follows was taken: %s", word, more)
	}
	c, err := desk.Find(word, rest, desk.KindOf(seat), desk.Free)
	if err != nil {
		return "", false, err
	}
	switch c.Name {
	case "end":
		return "", true, t.End(ctx)
	case "quit":
		return "", true, nil
	case "again":
		kept, err := t.People().Again(seat, rest)
		if err == nil && !kept {
			err = usageError("nobody else is waited for: your answer is sealed, or you were not asked")
		}
		return "Your answer is changed, unless all have answered by now.", false, err
	case "away":
		return "You are away: an agent plays your character until you type /back.", false, t.StepAway(ctx, seat, false)
	case "back":
		digest, err := t.Digest(seat)
		if err != nil {
			return "", false, err
		}
		return cmp.Or(digest, "You play again. Nothing happened meanwhile."), false, t.StepAway(ctx, seat, true)
	case "save":
		save, err := t.Save(ctx, rest)
		return "Saved as " + save.Name + ".", false, err
	case "roll":
		shown, err := t.People().RollFor(seat, rest)
		return shown, false, err
	}
	shown, err = t.People().LookUp(seat, desk.Free, desk.Call{Command: c, Rest: rest})
	return shown, false, err
}

// ResumeTable continues what was cut, and nothing more.
func (a *App) ResumeTable(ctx context.Context, in Seating) error {
	var err error
	if in.As, err = a.checkSeats(in.Table, in.As); err != nil {
		return err
	}
	if err := a.report(in); err != nil {
		return err
	}
	k, err := a.tableAsker(in)
	if err != nil {
		return err
	}
	s := a.newTableScreen(in.As, k)
	v := verb{method: "ResumeTable", args: []any{in}, repeats: true, screen: s}
	return a.reachTable(ctx, in, v, func() error {
		if a.at != nil {
			return a.at.resume(ctx, s)
		}
		return a.atScreen(ctx, "resume", in, s, func(t *tableflow.Table) error {
			if err := t.Remind(); err != nil {
				return tableError(in.Table, err)
			}
			results, err := t.Recover(ctx)
			if err != nil {
				return a.handedOff(in.Table, err)
			}
			if n := len(results); n == 0 {
				a.noneOpen()
			} else if results[n-1].End { // the game master has said so
				return tableError(in.Table, t.Finish(ctx))
			}
			return tableError(in.Table, t.Drain(ctx))
		})
	})
}

func (a *App) noneOpen() { a.show(Remark{screen.Sprintf("no cycle was open")}) }

// resume is at the table until the cycle that is open has ended.
func (h *tableHub) resume(ctx context.Context, s *tableScreen) error {
	h.mu.Lock()
	rests := h.listening
	h.mu.Unlock()
	if rests {
		s.app.noneOpen()
		return nil
	}
	return h.stay(ctx, s, func() bool { return h.listening })
}

// SayAtTable runs one cycle with a person's words, from a seat or, without, from
// the table. While a cycle is open and waits for that seat, it keeps them there
// instead, and says for whom.
func (a *App) SayAtTable(ctx context.Context, in Seating, text string) (kept string, err error) {
	seat := table.SeatTable
	if len(in.As) > 0 {
		seat = in.As[0]
	}
	root, seat, err := a.checkSeat(in.Table, seat)
	if err != nil {
		return "", err
	}
	if len(in.As) > 0 {
		in.As = []string{seat}
	}
	st, err := a.TableStatus(ctx, in.Table)
	if err != nil {
		return "", err
	}
	at := desk.Free
	if len(st.Open) > 0 {
		at = desk.Asked
	}
	if err := desk.Left(seat, at, text); err != nil {
		return "", usageError("%w", err)
	}
	v := verb{method: "SayAtTable", args: []any{in, text}, results: []any{&kept}}
	if len(st.Open) > 0 {
		if st.Holder != nil && a.at == nil { // somebody may be asking just that
			return a.sayThere(ctx, root, seat, in, v, text)
		}
		if len(in.As) == 0 {
			return "", noError("a cycle is open: answer from a seat with --as, then conclave table resume %s", in.Table)
		}
		if a.at != nil && a.at.answer(seat, text) {
			return a.calledAt(in.Table, seat), nil
		}
		return a.calledAt(in.Table, seat), refusedHere(people.Leave(root, in.Table, seat, text))
	}
	said := story.Said(seat, desk.Plain(text))
	if seat == string(policy.GM) {
		// The game master's words are the game master's turn.
		if err := people.Leave(root, in.Table, seat, text); err != nil {
			return "", environmentError("%w", err)
		}
		said = story.Input{Kind: story.InputContinue}
	}
	return kept, a.cycle(ctx, "say", v, in, said)
}

// sayThere leaves an answer while another process has the table open: that one
// may be asking for it just now. One that does not listen finds it later.
func (a *App) sayThere(
	ctx context.Context, root, seat string, in Seating, v verb, text string,
) (kept string, err error) {
	v.results = []any{&kept}
	leave := func() error { return refusedHere(people.Leave(root, in.Table, seat, text)) }
	err = a.reachTable(ctx, in, v, func() error {
		return a.atTable(ctx, "say", in, func(*tableflow.Table) error { return leave() })
	})
	if held := (*lockfile.HeldError)(nil); errors.As(err, &held) {
		return a.calledAt(in.Table, seat), leave()
	}
	if err == nil {
		kept = cmp.Or(kept, a.calledAt(in.Table, seat))
	}
	return kept, err
}

// SignalTable asks these characters, as the game master.
func (a *App) SignalTable(ctx context.Context, in Seating, characters []string) error {
	var named []string
	for _, c := range characters {
		_, seat, err := a.checkSeat(in.Table, c)
		if err != nil {
			return err
		}
		if seat == string(policy.GM) || seat == table.SeatTable {
			return usageError("%s is no character", c)
		}
		named = append(named, seat)
	}
	in.As = []string{string(policy.GM)}
	v := verb{method: "SignalTable", args: []any{in, characters}}
	return a.cycle(ctx, "signal", v, in,
		story.Input{Kind: story.InputSignal, Who: string(policy.GM), Names: named})
}

// cycle runs one cycle.
func (a *App) cycle(ctx context.Context, name string, v verb, in Seating, said story.Input) error {
	return a.atTableAnywhere(ctx, name, in, v, func(t *tableflow.Table) error {
		r, err := t.Say(ctx, said)
		if err != nil {
			return a.handedOff(in.Table, err)
		}
		if r.End { // the game master has said so
			return tableError(in.Table, t.Finish(ctx))
		}
		return tableError(in.Table, t.Drain(ctx))
	})
}

// EndSession ends the session of a table, as /end does there, and says whether one
// was under way.
func (a *App) EndSession(ctx context.Context, in Seating) (ended bool, err error) {
	v := verb{method: "EndSession", args: []any{in}, results: []any{&ended}}
	err = a.atTableAnywhere(ctx, "end", in, v, func(t *tableflow.Table) error {
		ended = t.InSession()
		return tableAnswer(in.Table, t.Finish(ctx), noError)
	})
	return ended, err
}

// SeatChange is what becomes of characters and their people.
type SeatChange struct {
	Away, Back string   // a character whose person steps away, or comes back
	Status     []string // CHARACTER=present|dead|retired|benched|absent
}

// Seat says who plays whom.
type Seat struct{ Name, Agent, Status string }

// Seats changes what is to be changed, and says who plays whom.
func (a *App) Seats(ctx context.Context, in Seating, change SeatChange) ([]Seat, error) {
	if change.Away != "" || change.Back != "" || len(change.Status) > 0 {
		if err := a.changeSeats(ctx, in, change); err != nil {
			return nil, err
		}
	}
	w, err := a.openWorkspace()
	if err != nil {
		return nil, err
	}
	st, err := a.TableStatus(ctx, in.Table)
	if err != nil {
		return nil, err
	}
	master := w.config.For(w.tableKey(policy.GM, "")).Agent
	if vacant, err := w.gmVacant(in.Table); err != nil {
		return nil, err
	} else if vacant {
		master = "human"
	}
	seats := []Seat{{Name: string(policy.GM), Agent: master}}
	for _, c := range st.Characters {
		who := w.config.For(w.tableKey(policy.Player, c.Slug)).Agent
		if c.Away {
			who += ", away"
		}
		seats = append(seats, Seat{c.Slug, who, string(c.Status)})
	}
	return seats, nil
}

func (a *App) changeSeats(ctx context.Context, in Seating, change SeatChange) error {
	for _, called := range []*string{&change.Away, &change.Back} {
		if *called == "" {
			continue
		}
		var err error
		if _, *called, err = a.checkSeat(in.Table, *called); err != nil {
			return err
		}
	}
	for i, s := range change.Status {
		who, what, _ := strings.Cut(s, "=")
		_, seat, err := a.checkSeat(in.Table, who)
		if err != nil {
			return err
		}
		change.Status[i] = seat + "=" + what
	}
	v := verb{method: "Seats", args: []any{in, change}}
	return a.atTableAnywhere(ctx, "seats", in, v, func(t *tableflow.Table) (err error) {
		if change.Away != "" {
			err = errors.Join(err, t.StepAway(ctx, change.Away, false))
		}
		if change.Back != "" {
			digest, derr := t.Digest(change.Back)
			if digest != "" {
				a.show(Passage{"digest", digest})
			}
			err = errors.Join(err, derr, t.StepAway(ctx, change.Back, true))
		}
		for _, s := range change.Status {
			who, what, _ := strings.Cut(s, "=")
			err = errors.Join(err, t.SetStatus(ctx, who, table.Status(what)))
		}
		if err != nil {
			return usageError("%w", err)
		}
		return nil
	})
}
