package flow

import (
	"context"
	"errors"
	"sync"

	"conclave/internal/git"
	"conclave/policy"
	"conclave/quest"
	"conclave/quest/judging"
	"conclave/room"
	"conclave/seat"
)

// Furnishing is what a role's room holds and what is kept from it.
type Furnishing struct {
	Plan   room.Plan
	Denied []seat.Denied
	Grants quest.Grants
	// LeftOut is what of the named work does not go in.
	LeftOut []quest.LeftOut
	// Stamps say what the room holds by the person's word alone.
	Stamps []string
}

// Room plans the room that a role of the quest would get now, with that work:
// the very one that the flows open, but for what comes out of a conversation.
func (h *House) Room(ctx context.Context, role policy.Role, paths []string) (Furnishing, error) {
	m, err := h.material()
	if err != nil {
		return Furnishing{}, err
	}
	var work *quest.Work
	if len(paths) > 0 {
		if work, err = quest.OpenWork(h.opts.Root, paths, h.opts.Granted...); err != nil {
			return Furnishing{}, err
		}
		defer work.Close()
	}
	return h.planRoom(ctx, role, m, work)
}

// planRoom plans the room of a role of a quest: the sections, conversations and
// profiles that its isolation profile grants; for the party a view of the
// workspace and its history; for an evaluator the named work and no more.
func (h *House) planRoom(
	ctx context.Context, role policy.Role, m quest.Material, work *quest.Work,
) (Furnishing, error) {
	root, granted := h.opts.Root, h.opts.Granted
	f := Furnishing{Grants: quest.Grant(role, m)}
	f.Plan = room.Plan{Role: string(role), Level: room.Level(policy.Required(role)), Fallback: room.Level(policy.Fallback(role)),
		Outside: []string{root}}
	for _, p := range f.Grants.Given {
		f.Plan.Grants = append(f.Plan.Grants, room.Grant{Kind: string(p.Kind), Name: p.Name, Bytes: p.Bytes})
	}
	for _, p := range f.Grants.Denied {
		f.Denied = append(f.Denied, seat.Denied{Kind: string(p.Kind), Name: p.Name, Reason: p.Decision.Reason, Text: p.Trace})
	}
	if policy.Decide(role, policy.Workspace).Allow {
		f.Plan.Workspace = &room.View{Source: root, Withheld: policy.View(role, granted), Absent: policy.Absent()}
		for _, g := range granted {
			f.Stamps = append(f.Stamps, quest.GrantedStamp(g))
		}
	}
	if policy.Decide(role, policy.History).Allow {
		f.addHistory(h.history(ctx))
	}
	if work == nil {
		return f, nil
	}
	return f, f.addWork(role, work)
}

// addWork copies the named work, file by file, as it was when it was listed.
func (f *Furnishing) addWork(role policy.Role, work *quest.Work) error {
	grants, err := judging.WorkGrants(role, work)
	if err != nil {
		return err
	}
	f.Stamps, f.LeftOut = append(f.Stamps, work.Stamps()...), work.LeftOut
	f.Plan.Grants = append(f.Plan.Grants, grants...)
	return nil
}

// addHistory grants the project's log. Where it could not be read, that is said
// among what the role does not see: the room's list and its record hold it.
func (f *Furnishing) addHistory(log []byte, err error) {
	if err != nil {
		piece := quest.Piece{Kind: policy.History, Name: historyName,
			Decision: policy.Decision{Reason: "it could not be read: " + err.Error(), Source: "this machine"}}
		f.Grants.Denied = append(f.Grants.Denied, piece)
		f.Denied = append(f.Denied, seat.Denied{Kind: string(piece.Kind), Name: piece.Name, Reason: piece.Decision.Reason})
	}
	if len(log) > 0 {
		f.Plan.Grants = append(f.Plan.Grants, room.Grant{Kind: string(policy.History), Name: historyName, Bytes: log})
	}
}

const (
	historyName = "history.txt"
	maxHistory  = 1 << 20 // of the log that is handed over
)

// past is the project's log as it was at a commit.
type past struct {
	mu     sync.Mutex
	commit string
	log    []byte
}

// history is the project's log as text: who, when, what, which files; no
// patches. A project without one has none; that is no error. The log of a commit
// is read once: the seven of a council are given the same.
func (h *House) history(ctx context.Context) ([]byte, error) {
	repo, err := git.Open(ctx, h.opts.Root)
	if errors.Is(err, git.ErrNone) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	defer repo.Close()
	h.past.mu.Lock()
	defer h.past.mu.Unlock()
	if commit := repo.Commit(); commit == "" || commit != h.past.commit {
		log, err := repo.History(ctx, maxHistory)
		if err != nil {
			return nil, err
		}
		h.past.commit, h.past.log = commit, log
	}
	return h.past.log, nil
}
