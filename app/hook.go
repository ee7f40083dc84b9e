package app

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"time"

	"conclave/collect"
	"conclave/internal/jsontext"
	"conclave/internal/proc"
	"conclave/session/claude"
	door "conclave/workspace"
)

// maxHook bounds what is read of a hook's input: a tool's answer can be large.
const maxHook = 256 << 20

// hookInput is what a client says to a hook, and what of it is asked for here.
type hookInput struct {
	text           []byte
	event, session string
	file, agent    string
	again          bool // it was told "not yet" already
}

func (a *App) readHook() (h hookInput, err error) {
	if h.text, err = io.ReadAll(io.LimitReader(a.Stdin, maxHook)); err != nil {
		return h, fmt.Errorf("read the hook's input: %w", err)
	}
	if err := jsontext.Check(h.text); err != nil {
		return h, fmt.Errorf("read the hook's input: %w", err)
	}
	get := func(key string) string {
		s, _ := jsontext.String(jsontext.Get(h.text, key))
		return s
	}
	h.event, h.session = get("hook_event_name"), get("session_id")
	h.file, h.agent = get("transcript_path"), get("agent_transcript_path")
	h.again = string(jsontext.Get(h.text, "stop_hook_active")) == "true"
	return h, nil
}

// NoteHook takes what Claude Code gives to a hook, and notes the session files
// that it names for Watch.
func (a *App) NoteHook() error {
	h, err := a.readHook()
	if err != nil {
		return err
	}
	root, err := a.rootToChange()
	if err != nil {
		return err
	}
	_, err = collect.Note(root, h.text)
	return err
}

// RecordHook takes what a client gives to a hook, notes the session files that it
// names, and has them put on the record by a process of its own, which nobody
// waits for. A session in a workspace is recorded there, any other among the
// person's own.
func (a *App) RecordHook(ctx context.Context) error {
	h, err := a.readHook()
	if err != nil {
		return err
	}
	if err := a.keepBase(ctx, h); err != nil {
		return err
	}
	if !anyFile(h.file, h.agent) {
		return nil // at the start there is none yet; some clients keep none
	}
	root, err := a.sessionRoot()
	if err != nil {
		return err
	}
	if err := a.makePrivate(root); err != nil {
		return err
	}
	if _, err := collect.Note(root, h.text); err != nil {
		return err
	}
	self, err := os.Executable()
	if err != nil {
		return fmt.Errorf("find this program: %w", err)
	}
	cmd := exec.Command(self, "--root", root, "hook", "collect", h.file)
	cmd.Dir = root
	proc.Detach(cmd)
	if err := cmd.Start(); err != nil {
		return fmt.Errorf("start the recording: %w", err)
	}
	return cmd.Process.Release()
}

func anyFile(names ...string) bool {
	for _, name := range names {
		if info, err := os.Stat(name); err == nil && info.Mode().IsRegular() {
			return true
		}
	}
	return false
}

// sessionRoot is where sessions are recorded that are held here.
func (a *App) sessionRoot() (string, error) {
	root, err := a.findRoot()
	if err == nil && door.Begun(root) {
		return root, nil
	}
	if err != nil {
		return "", err
	}
	data := a.userDataDir()
	if data == "" {
		return "", environmentError("HOME is not set: nobody knows where your sessions are recorded")
	}
	own := filepath.Join(data, "conclave", "sessions")
	return own, os.MkdirAll(own, 0o700)
}

// collectWait is how long a process waits for another that reads.
const collectWait = 10 * time.Minute

// CollectNoted puts what hooks have told on the record, with what a session keeps
// beside its file, if nobody else does.
func (a *App) CollectNoted(ctx context.Context, file string) error {
	root, err := a.rootToChange()
	if err != nil {
		return err
	}
	ctx, cancel := context.WithTimeout(ctx, collectWait)
	defer cancel()
	beside := a.unfold(ctx, []string{filepath.Dir(claude.Kind.Subagents(file))})
	f := DefaultFollow()
	f.Once = true
	_, err = a.collect(ctx, collect.Options{Workspace: root, Hooks: true, Queue: true, Roots: beside}, f)
	if errors.Is(err, collect.ErrOthers) || Said(err) {
		return nil
	}
	return err
}
