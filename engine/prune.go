package engine

import (
	"context"
	"fmt"

	"github.com/dbos-inc/dbos-transact-golang/dbos"
)

// Prune forgets all but the newest keep of the interactions that have ended.
// One whose parent, child or branch is open is kept: a resumed parent replays
// from their results. It returns how many were forgotten. Their ids can then
// be used again.
func (e *Engine) Prune(ctx context.Context, keep int) (int, error) {
	s, err := e.current()
	if err != nil {
		return 0, err
	}
	rows, err := s.query(ctx, `ORDER BY created_at DESC, workflow_uuid DESC`)
	if err != nil {
		return 0, fmt.Errorf("prune: %w", err)
	}
	open := openRoots(rows)
	var old []string
	for _, row := range rows {
		if row.Parent != "" || row.branch() || open[row.ID] {
			continue // goes with its root
		}
		if keep--; keep < 0 {
			old = append(old, row.ID)
		}
	}
	gone := withDescendants(rows, old)
	if len(gone) == 0 {
		return 0, nil
	}
	if err := dbos.DeleteWorkflows(s.ctx, gone); err != nil {
		return 0, fmt.Errorf("prune: %w", err)
	}
	return len(old), nil
}

// above is the parent of each row.
func above(rows []row) map[string]string {
	up := map[string]string{}
	for _, row := range rows {
		if up[row.ID] = row.within; row.within == "" {
			up[row.ID] = row.Parent
		}
	}
	return up
}

// openRoots are the roots of trees in which something is open.
func openRoots(rows []row) map[string]bool {
	up, open := above(rows), map[string]bool{}
	for _, row := range rows {
		if !row.ended() {
			open[rootOf(up, row.ID)] = true
		}
	}
	return open
}

// withDescendants are ids and all that is below them.
func withDescendants(rows []row, ids []string) []string {
	up, in := above(rows), map[string]bool{}
	for _, id := range ids {
		in[id] = true
	}
	var all []string
	for _, row := range rows {
		if in[rootOf(up, row.ID)] {
			all = append(all, row.ID)
		}
	}
	return all
}

func rootOf(up map[string]string, id string) string {
	for up[id] != "" {
		id = up[id]
	}
	return id
}
