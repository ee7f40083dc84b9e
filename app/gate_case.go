package app

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"

	"conclave/gate"
	"conclave/policy"
	"conclave/quest"
	door "conclave/workspace"
)

// openCase makes a case of what was asked, and reads who judges it: from the
// workspace, or, of a change, from where it begins. Either needs the person's yes,
// but for what they vouch for by --trust-base.
func (s *gateSession) openCase(ctx context.Context) (err error) {
	if s.w, err = s.app.enterToChange(); err != nil {
		return err
	}
	if s.granted, err = s.w.granted(s.in.Grants); err != nil {
		return err
	}
	if _, err := s.cacheDir(); err != nil {
		return err
	}
	ask, err := s.question()
	if err != nil {
		return err
	}
	s.opened, err = gate.Open(ctx, ask)
	if err != nil {
		return caseError(err)
	}
	s.closers = append(s.closers, s.opened.Close)
	if s.opened.Judging != "" {
		if s.w.door, err = door.Open(s.opened.Judging); err != nil {
			return environmentError("%w", err)
		}
		s.closers = append(s.closers, s.w.door.Close)
		s.w.vouched = s.in.TrustBase
	}
	for i := range s.opened.Criteria {
		s.opened.Criteria[i].Sort = "" // every criterion is required here
	}
	return s.w.readConfig()
}

// question is what was asked, for package gate.
func (s *gateSession) question() (gate.Ask, error) {
	in := s.in
	own, err := s.app.ownConfig()
	if err != nil {
		return gate.Ask{}, err
	}
	ask := gate.Ask{
		Root: s.w.root, Role: policy.Role(in.Judge), Rule: in.Rule, N: in.Judges,
		Criteria: in.Criteria, Expect: in.Expect, Work: in.Work,
		Words: s.earlier != nil, Diff: in.Diff, Granted: s.granted, Base: own.Gate.Base, Inside: in.Remote, Governing: governing,
	}
	if !ask.Words {
		ask.Criteria = s.app.nameOf(in.Criteria, s.w.root)
	}
	if s.app.Literal && filepath.IsAbs(ask.Criteria) {
		if rel, err := filepath.Rel(s.w.root, ask.Criteria); err != nil || !filepath.IsLocal(rel) {
			return ask, usageError("%q is not in the workspace: a file from elsewhere is named on the command line",
				in.Criteria)
		}
	}
	if in.Remote && ask.Base == "" {
		ask.Base = in.Base
	}
	return ask, nil
}

// nameOf is what the person named as criteria: a file by its absolute path where
// it is named from elsewhere than the workspace's root.
func (a *App) nameOf(criteria, root string) string {
	file := a.AbsPath(criteria)
	if criteria == "" || a.Dir == root || strings.ContainsAny(criteria, "\n\x00") {
		return criteria
	}
	if _, err := os.Lstat(file); err == nil || !strings.ContainsAny(criteria, " \t") {
		return file
	}
	return criteria
}

// vouch asks whether the command of a check is trusted. Who types one with the
// criteria has said what is to be run.
func (s *gateSession) vouch(name string, command []byte) error {
	c := s.opened.Case.Criteria
	if c.Origin == gate.OfCaller && c.File == "" && s.earlier == nil && !s.in.Remote {
		if s.app.Literal {
			return usageError("a criterion with a check runs a command: say it on the command line, " +
				"or keep the criteria in a file of the workspace and say: conclave trust FILE")
		}
		return nil
	}
	err := s.w.Vouch(name, command)
	if c.File != "" && c.Origin != gate.OfQuest {
		return askedOf(err, c.File)
	}
	return err
}

// caseError is why there is no case: what was named wrongly is a matter of usage.
func caseError(err error) error {
	var work *quest.WorkError
	var touched *gate.TouchedError
	switch {
	case errors.As(err, &work):
		return usageError("%w", err)
	case errors.As(err, &touched):
		return environmentError("%w", err)
	}
	return gateError(err)
}

// inWorkspace says whether a file lies in the workspace, where a change could
// have put it.
func (s *gateSession) inWorkspace(file string) bool {
	rel, err := filepath.Rel(resolved(s.w.root), resolved(file))
	return err == nil && filepath.IsLocal(rel)
}

// resolved is a path without links, as far as it leads to something.
func resolved(file string) string {
	if real, err := filepath.EvalSymlinks(file); err == nil {
		return real
	}
	if dir := filepath.Dir(file); dir != file {
		return filepath.Join(resolved(dir), filepath.Base(file))
	}
	return file
}
