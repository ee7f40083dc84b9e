package flow

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"slices"

	"conclave/engine"
	"conclave/internal/shingle"
	"conclave/policy"
	"conclave/quest"
	"conclave/quest/judging"
	"conclave/toolbox"
)

// Evaluate puts named work before an evaluator: the Guardian at the end of a
// stage, the Dragon at the end of the quest. Neither gets free text but Expect.
type Evaluate struct {
	Role   policy.Role `json:"role"`
	Paths  []string    `json:"paths"`
	Stage  string      `json:"stage,omitempty"`  // of a checkpoint
	Expect string      `json:"expect,omitempty"` // what ready means
	// AcceptContext goes on although passages of withheld sources were found;
	// every artefact says so.
	AcceptContext bool `json:"accept_context,omitempty"`
	// Granted are keys and logins in the work that the person granted by name.
	Granted []string `json:"granted,omitempty"`
	// Words are the command's, which stand for the person's message; Typed is what
	// they typed in place of a command, in menus. The evaluator gets none of Typed.
	Words string   `json:"words"`
	Typed []string `json:"typed,omitempty"`
	// Caller is the agent that asks in the person's place; "" for the person.
	Caller string `json:"caller,omitempty"`
}

// Examined is what stands before an evaluator, looked at before it starts.
type Examined struct {
	Opening Opening          `json:"opening"`
	Files   []quest.WorkFile `json:"files"`
	Summary string           `json:"summary"`
	LeftOut []quest.LeftOut  `json:"left_out,omitempty"`
	Stamps  []string         `json:"stamps,omitempty"`
}

// checkpointFlow is how the records of a quest's checkpoints name what happened.
const checkpointFlow = "checkpoint"

// Examine looks at everything that could keep an evaluation from starting: the
// quest, its phase, the work, and passages of withheld sources anywhere in what
// the evaluator would get (*quest.LeakError). It changes nothing.
func (h *House) Examine(ctx context.Context, in Evaluate) (Examined, error) {
	flow, purpose := checkpointFlow, quest.PurposeCheckpoint
	to := quest.PhaseCheckpoint
	if in.Role == policy.Dragon {
		flow, purpose, to = "confront", quest.PurposeConfrontation, quest.PhaseConfrontation
	} else if err := errors.Join(quest.CheckStage(in.Stage), quest.CheckExpectation(in.Expect)); err != nil {
		return Examined{}, err
	}
	o, err := h.readOpening(in.Role, flow, purpose, true)
	if err != nil {
		return Examined{}, err
	}
	if _, err := phasesTo(o.quest(), to); err != nil {
		return Examined{}, err
	}
	o.Phase, o.Caller = to, in.Caller
	work, err := quest.OpenWork(h.opts.Root, in.Paths, in.Granted...)
	if err != nil {
		return Examined{}, err
	}
	defer work.Close()
	work.Searched = h.opts.Searched
	e := Examined{Opening: o, Files: work.Files, Summary: work.Summary(), LeftOut: work.LeftOut, Stamps: work.Stamps()}
	m, err := h.material()
	if err != nil {
		return e, err
	}
	m.Stage, m.Expectation = in.Stage, in.Expect
	key := make([]byte, shingle.KeySize)
	if _, err := rand.Read(key); err != nil {
		return e, err
	}
	told, err := h.ownInstructions(in.Role)
	if err != nil {
		return e, err
	}
	err = quest.Preflight(key, quest.Grant(in.Role, m), work, told...)
	var leak *quest.LeakError
	if errors.As(err, &leak) && in.AcceptContext {
		e.Stamps = append(e.Stamps, leak.Stamp())
		err = nil
	}
	return e, err
}

// phasesTo is the way from the quest's phase to an evaluation: through phase 3
// where the party returns to the quest first.
func phasesTo(q *quest.Quest, to quest.Phase) ([]quest.Phase, error) {
	if q.Phase == to {
		if to == quest.PhaseConfrontation && q.LastDragon() == quest.DragonSlain {
			return nil, quest.CheckTransition(q.Phase, quest.PhaseExecution, q.Facts())
		}
		return nil, nil
	}
	err := quest.CheckTransition(q.Phase, to, q.Facts())
	if err == nil {
		return []quest.Phase{to}, nil
	}
	if q.Phase == quest.PhaseConfrontation && to == quest.PhaseCheckpoint &&
		quest.CheckTransition(q.Phase, quest.PhaseExecution, q.Facts()) == nil {
		return []quest.Phase{quest.PhaseExecution, to}, nil
	}
	return nil, err
}

// evaluate lets the evaluator look, takes its verdict, and writes it down.
func (h *House) evaluate(r *engine.Run, in Evaluate) (Result, error) {
	e, err := engine.Do(r, "begin", func(ctx context.Context) (Examined, error) { return h.Examine(ctx, in) })
	if err != nil {
		return Result{}, err
	}
	v := h.evaluation(r, in, e)
	if in.Role == policy.Dragon {
		if err := v.check(); err != nil {
			return Result{}, err
		}
	}
	v.t = h.dialogue(r, e.Opening, v.extras())
	v.t.opened = in.Typed
	if err := v.judge(); err != nil {
		return Result{}, err
	}
	return v.conclude()
}

func (h *House) evaluation(r *engine.Run, in Evaluate, e Examined) *evaluation {
	v := &evaluation{h: h, r: r, in: in, e: e, q: e.Opening.quest()}
	v.c = &judging.Case{Role: in.Role, Quest: v.q, Stage: in.Stage, Expect: in.Expect}
	return v
}

type evaluation struct {
	h  *House
	r  *engine.Run
	in Evaluate
	e  Examined
	q  *quest.Quest
	t  *dialogue
	c  *judging.Case
}

// work opens the work and makes sure that it is still what was named.
func (v *evaluation) work() (*quest.Work, error) {
	w, err := quest.OpenWork(v.h.opts.Root, v.in.Paths, v.in.Granted...)
	if err != nil {
		return nil, &endedError{"the work is not there any more: " + err.Error()}
	}
	if !slices.Equal(w.Files, v.e.Files) {
		w.Close()
		return nil, &endedError{"the work was changed before the evaluation was done; start it again on the new work"}
	}
	return w, nil
}

// check runs the criteria's own checks, as one step.
func (v *evaluation) check() error {
	var err error
	v.c.Checks, err = engine.Do(v.r, "checks", func(ctx context.Context) ([]quest.CheckResult, error) {
		w, err := v.work()
		if err != nil {
			return nil, nil // the turn will say so
		}
		defer w.Close()
		o := v.h.opts
		k := judging.Checker{Outside: []string{o.Root}, Tools: o.Tools, Vouch: o.Trust.Vouch}
		checks, err := k.Run(ctx, v.c.Assessed(), w)
		return judging.Results(checks), engine.Halt(err)
	})
	return err
}

func (v *evaluation) extras() extras {
	x := extras{stage: v.in.Stage, expectation: v.in.Expect, work: v.work, stamps: v.e.Stamps}
	if len(v.c.Checks) > 0 {
		x.checks = v.c.ChecksText()
	}
	x.tools = []toolbox.Tool{v.c.Tool()}
	return x
}

// conclude writes the verdict into quest.md, then the conversation.
func (v *evaluation) conclude() (Result, error) {
	outcome, stampedLog := v.outcome()
	var note string
	moved := false
	if v.c.Decided() && v.t.ended == "" {
		var err error
		note, err = v.h.editQuest(v.r, "verdict", v.e.Opening.Quest, stampedLog)
		if moved = err == nil; !moved {
			note = fmt.Sprintf("the verdict stands, but quest.md could not be changed: %v", err)
		}
	}
	file, err := v.t.file(outcome)
	if err != nil {
		return Result{}, err
	}
	res := v.t.result(file)
	res.Outcome, res.Checks, res.Guardian, res.Dragon = outcome, v.c.Checks, v.c.Guardian, v.c.Dragon
	res.note(note)
	res.note(v.e.Stamps...)
	if !moved {
		res.Phase = v.q.Phase // without a verdict in its log the quest is where it was
	}
	boundary := quest.AfterNoVerdict
	switch {
	case v.t.ended != "":
		res.Outcome = quest.EndedEarly(v.t.ended)
	case v.c.Dragon != nil:
		res.Verdict, boundary = string(v.c.Dragon.Verdict), quest.AfterDragon(v.c.Dragon.Verdict)
		if moved && v.c.Dragon.Verdict == quest.DragonSlain {
			res.Phase = quest.PhaseDebrief
		}
	case v.c.Guardian != nil:
		res.Verdict, boundary = string(v.c.Guardian.Verdict), quest.AfterGuardian(v.c.Guardian.Verdict)
	}
	res.at(boundary, v.e.Opening, quest.Suggestion{})
	return res, nil
}

// outcome renders the verdict, and returns how it changes quest.md.
func (v *evaluation) outcome() (string, func(*quest.Quest) ([]byte, error)) {
	day := quest.Day(v.e.Opening.Start)
	switch {
	case v.c.Dragon != nil:
		d := *v.c.Dragon
		phases := []quest.Phase{}
		if d.Verdict == quest.DragonSlain {
			phases = append(phases, quest.PhaseDebrief)
		}
		entry := quest.ConfrontationHeld(d.Verdict, d.Summary, day)
		return d.Outcome(v.e.Opening.face(policy.Dragon), v.q.Test(v.c.Checks)), func(q *quest.Quest) ([]byte, error) {
			return moved(q, quest.PhaseConfrontation, phases, quest.Facts{Mode: q.Mode, Guardian: q.LastGuardian(), Dragon: d.Verdict}, entry)
		}
	case v.c.Guardian != nil:
		g := *v.c.Guardian
		entry := quest.CheckpointHeld(g.Verdict, g.Summary, day)
		return g.Outcome(), func(q *quest.Quest) ([]byte, error) {
			return moved(q, quest.PhaseCheckpoint, nil, quest.Facts{Mode: q.Mode, Guardian: g.Verdict}, entry)
		}
	}
	return quest.NoVerdict(v.c.Problems), nil
}

// moved is the quest in the evaluation's phase with the verdict in its log, and
// in what follows from it. A quest that somebody has moved elsewhere meanwhile
// keeps its phase; the verdict is logged all the same.
func moved(q *quest.Quest, to quest.Phase, after []quest.Phase, f quest.Facts, entry quest.Entry) ([]byte, error) {
	way, err := phasesTo(q, to)
	if err != nil {
		return q.WithProgress(entry)
	}
	data := q.Bytes()
	for _, p := range way {
		if data, err = quest.Parse(data).WithPhase(p, q.Facts()); err != nil {
			return nil, err
		}
	}
	if data, err = quest.Parse(data).WithProgress(entry); err != nil {
		return nil, err
	}
	for _, p := range after {
		if data, err = quest.Parse(data).WithPhase(p, f); err != nil {
			return nil, err
		}
	}
	return data, nil
}
