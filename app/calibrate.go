package app

import (
	"cmp"
	"context"
	"errors"
	"path"

	"conclave/audit"
	"conclave/gate"
	"conclave/gate/calibrate"
	gateflow "conclave/gate/flow"
	"conclave/policy"
	"conclave/quest"
	"conclave/receipt"
	"conclave/transcript"
)

// Calibrate tries the judge with cases whose answers are known.
type Calibrate struct {
	Only       string // the name of a case, or a pattern; "" for all
	Persuasion bool   // works that want another verdict, too
	Judges     int    // 0 is 1
	Rule       string // all, majority; "" is all
}

// Calibration is what came of it.
type Calibration = calibrate.Report

// Calibrate puts the cases before whoever would judge a gate here. The answer is
// no where something was judged wrongly, or a persuasion flipped a verdict.
func (a *App) Calibrate(ctx context.Context, in Calibrate) (*Calibration, error) {
	s, err := a.openPanel(ctx, Gate{Judges: in.Judges, Rule: in.Rule})
	if err != nil {
		return nil, err
	}
	defer s.close()
	o := calibrate.Options{Only: in.Only, Persuasion: in.Persuasion}
	o.Tell = func(name string, done, total int) { a.show(Progress{"judging " + name, int64(done), int64(total)}) }
	got, err := calibrate.Run(ctx, o, s.try)
	switch {
	case errors.Is(err, calibrate.ErrNoCase), errors.Is(err, path.ErrBadPattern):
		return nil, usageError("%w", err)
	case err != nil:
		return nil, gateError(err)
	case !got.Clean():
		return got, saidNo()
	}
	return got, nil
}

// openPanel seats the judges of this workspace before anything is judged.
func (a *App) openPanel(ctx context.Context, in Gate) (s *gateSession, err error) {
	s = &gateSession{app: a, in: in, embedded: embeddedParty()}
	s.in.Judge, s.in.Rule, s.in.Judges = string(policy.Dragon), cmp.Or(in.Rule, gate.All), cmp.Or(in.Judges, 1)
	if err := gate.CheckPanel(s.in.Rule, s.in.Judges); err != nil {
		return nil, usageError("%w", err)
	}
	if s.w, err = a.enterToChange(); err != nil {
		return nil, err
	}
	if err := s.w.readConfig(); err != nil {
		return nil, err
	}
	if err := s.seated(ctx); err != nil {
		return nil, err
	}
	s.budget = s.w.questBudget()
	return s, s.w.makePrivate()
}

// try judges one of the program's own cases: its checks are vouched for by the
// program, and nothing of a quest has to do with it.
func (s *gateSession) try(ctx context.Context, t calibrate.Trial) (v calibrate.Verdict, err error) {
	opened, err := gate.Open(ctx, gate.Ask{Root: t.Dir, Role: policy.Dragon, Rule: s.in.Rule, N: s.in.Judges,
		Criteria: t.Criteria, Work: t.Work})
	if err != nil {
		return v, err
	}
	defer func() { err = errors.Join(err, opened.Close()) }()
	o := gateflow.Options{
		Root: s.w.root, Program: "conclave " + s.app.Version, Case: opened.Case, Criteria: opened.Criteria, Work: opened.Work,
		Dress: s.dress, Vouch: func(string, []byte) error { return nil }, Account: s.budget.account(), Stream: s.app.Log.to(),
	}
	if o.Instructions, err = s.w.instructions(s.in.Judge); err != nil {
		return v, err
	}
	made, err := gateflow.Run(ctx, o)
	var leak *quest.LeakError
	switch {
	case errors.As(err, &leak):
		return calibrate.Verdict{Refused: leak.Error()}, nil
	case err != nil:
		return v, err
	}
	return calibrated(&made.Body), nil
}

func calibrated(b *receipt.Body) calibrate.Verdict {
	v := calibrate.Verdict{Status: map[int]string{}, Families: b.Decision.Families}
	for _, d := range b.Decision.Criteria {
		v.Status[d.Number] = d.Status
	}
	for _, j := range b.Judges {
		v.Usage = audit.Usage(transcript.Usage(v.Usage).Add(transcript.Usage(j.Usage)))
	}
	return v
}
