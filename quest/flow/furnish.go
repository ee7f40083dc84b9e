package flow

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"

	"conclave/policy"
	"conclave/quest"
	"conclave/room"
	"conclave/seat"
)

// Furnishing is what a role's room holds and what is kept from it.
type Furnishing struct {
	Plan   room.Plan
	Denied []seat.Denied
	Grants quest.Grants
}

// Furnish plans the room of a role of a quest: the sections, conversations and
// profiles that its isolation profile grants; for the party a view of the
// workspace and its history; for an evaluator the named work and no more.
func Furnish(ctx context.Context, root string, role policy.Role, m quest.Material, work *quest.Work) (Furnishing, error) {
	f := Furnishing{Grants: quest.Grant(role, m)}
	f.Plan = room.Plan{Role: string(role), Level: room.Level(policy.Required(role)), Outside: []string{root}}
	for _, p := range f.Grants.Given {
		f.Plan.Grants = append(f.Plan.Grants, room.Grant{Kind: string(p.Kind), Name: p.Name, Bytes: p.Bytes})
	}
	for _, p := range f.Grants.Denied {
		f.Denied = append(f.Denied, seat.Denied{Kind: string(p.Kind), Name: p.Name, Reason: p.Decision.Reason, Text: p.Trace})
	}
	if policy.Decide(role, policy.Workspace).Allow {
		f.Plan.Workspace = &room.View{Source: root, Withheld: policy.View(role, nil)}
	}
	if policy.Decide(role, policy.History).Allow {
		if log := history(ctx, root); len(log) > 0 {
			f.Plan.Grants = append(f.Plan.Grants, room.Grant{Kind: string(policy.History), Name: "history.txt", Bytes: log})
		}
	}
	if work == nil {
		return f, nil
	}
	return f, f.addWork(role, work)
}

// addWork copies the named work, file by file, as it was when it was listed.
func (f *Furnishing) addWork(role policy.Role, work *quest.Work) error {
	kind := policy.FinalWork
	if role == policy.Guardian {
		kind = policy.StageWork
	}
	if d := policy.Decide(role, kind); !d.Allow {
		return fmt.Errorf("%s is given no work: %s", role, d.Reason)
	}
	for _, file := range work.Files {
		var b bytes.Buffer
		if err := work.Copy(file, &b); err != nil {
			return err
		}
		f.Plan.Grants = append(f.Plan.Grants, room.Grant{Kind: string(kind), Name: "work/" + file.Path, Bytes: b.Bytes()})
	}
	return nil
}

// maxHistory bounds the log that is handed over.
const maxHistory = 1 << 20

// history is the project's log as text: who, when, what, which files; no
// patches. A project without one has none; that is no error.
func history(ctx context.Context, root string) []byte {
	if _, err := os.Lstat(filepath.Join(root, ".git")); err != nil {
		return nil
	}
	git, err := exec.LookPath("git")
	if err != nil {
		return nil
	}
	cmd := exec.CommandContext(ctx, git, "-c", "core.fsmonitor=false", "-c", "core.hooksPath=/dev/null", "-c", "log.showSignature=false",
		"-C", root, "log", "--no-patch", "--name-status", "--no-textconv", "--no-ext-diff", "--date=short", "--max-count=500",
		"--format=%h %ad %an%n    %s")
	cmd.Env = []string{"PATH=" + os.Getenv("PATH"), "HOME=/nonexistent", "GIT_CONFIG_NOSYSTEM=1", "GIT_CONFIG_GLOBAL=/dev/null", "LC_ALL=C.UTF-8"}
	out, err := cmd.StdoutPipe()
	if err != nil || cmd.Start() != nil {
		return nil
	}
	log, readErr := io.ReadAll(io.LimitReader(out, maxHistory))
	_, _ = io.Copy(io.Discard, out)
	if err := errors.Join(readErr, cmd.Wait()); err != nil {
		return nil
	}
	return log
}
