package app

import (
	"context"
	"errors"

	"conclave/gate"
	"conclave/internal/git"
	"conclave/policy"
)

// askedGate is what a caller asks of a gate, without what is the person's to say.
func (a *App) askedGate(in Gate) (Gate, error) {
	if a.Remote == nil {
		return in, nil
	}
	if len(in.Grants) > 0 || in.AcceptContext || in.TrustBase || in.Cache != "" || in.Again != "" || in.Sign != "" ||
		in.Receipt != "" {
		return in, personsOwn("to grant something, to vouch for something or to choose a key or a file")
	}
	root, err := a.findRoot()
	if err != nil {
		return in, err
	}
	in.Remote, in.Base = true, a.Remote.Base
	return in, a.askedWork(root, in.Work)
}

// askedCase refuses a caller criteria of its own, unless the person's own file
// allows them, and a change whose beginning it could have made itself.
func (s *gateSession) askedCase(ctx context.Context) error {
	if s.app.Remote == nil {
		return nil
	}
	own, err := s.app.ownConfig()
	if err != nil {
		return err
	}
	base := own.Gate.Base
	if base == "" {
		base = s.in.Base
	}
	if s.in.Diff != "" && !within(ctx, s.w.root, s.opened.Commit, base) {
		return environmentError("%.12s is no commit that this server knew when it started: what stands there could be "+
			"the caller's own\nname a BASE from before, or start the server again", s.opened.Commit)
	}
	c := s.opened.Case
	its := c.Criteria.Origin == gate.OfCaller || c.Role == string(policy.Guardian)
	if its && !own.MCP.CallerCriteria {
		return environmentError("criteria of the caller's own do not count here: name a file that was committed before this "+
			"server started, or none for the quest's\nthe person can allow it, in %s: mcp: {caller_criteria: true}",
			s.app.userConfigFile())
	}
	return nil
}

// within says whether a commit is another, or one before it.
func within(ctx context.Context, root, commit, of string) bool {
	if of == "" {
		return false
	}
	repo, err := git.Open(ctx, root)
	if err != nil {
		return false
	}
	defer repo.Close()
	objects, err := repo.Objects(ctx)
	if err != nil {
		return false
	}
	r, err := objects.Range(ctx, commit+"..."+of)
	return errors.Join(err, objects.Close()) == nil && r.Base == commit
}
