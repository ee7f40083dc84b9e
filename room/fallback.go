package room

import (
	"context"
	"errors"
	"strings"
	"sync"
)

// sealing is what this process has found out about this system.
var sealing struct {
	sync.Mutex
	tried  bool
	cannot string
}

// mustFallBack says why this system cannot give the level of a plan that may be
// built weaker then; empty when it can, or may not. It is found out by locking
// an empty room, once in a process: a view is mounted or copied according to
// the level, so that it must be known before the room is filled.
func (p Plan) mustFallBack(ctx context.Context) string {
	if p.Fallback == "" || p.Lower != "" || p.Level == p.Fallback {
		return ""
	}
	if p.test != (hooks{}) {
		cannot, _ := p.tryToLock(ctx)
		return cannot
	}
	sealing.Lock()
	defer sealing.Unlock()
	if !sealing.tried {
		sealing.cannot, sealing.tried = p.tryToLock(ctx)
	}
	return sealing.cannot
}

// tryToLock opens an empty room like p and shows its level. What else goes
// wrong than that is no answer: the room itself will say it.
func (p Plan) tryToLock(ctx context.Context) (cannot string, tried bool) {
	r, err := Open(ctx, Plan{Level: p.Level, Base: p.Base, test: p.test})
	if err == nil {
		err = r.Check(ctx)
		_ = r.Close() // the next room sweeps up
	}
	var level *levelError
	switch {
	case errors.As(err, &level):
		return level.why.Error(), true
	case err != nil:
		return "", false
	}
	return "", true
}

// Weaker says in a line for people why the room is weaker than its role
// requires, empty when it is not.
func (r *Room) Weaker() string {
	switch {
	case len(r.plan.Forwards) > 0:
		return "room " + string(Forwarded) + " to " + strings.Join(r.plan.Forwards, ", ") +
			", with a credential in it; model input: not observed"
	case r.plan.level().rank() >= r.plan.Level.rank():
		return ""
	case r.plan.cannot != "":
		return "room " + string(r.plan.level()) + ", not " + string(r.plan.Level) + ": this system cannot lock it so (" + r.plan.cannot + ")"
	}
	return "room lowered to " + string(r.plan.level()) + " by the person's word"
}
