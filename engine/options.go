package engine

import (
	"errors"
	"fmt"
	"log/slog"
	"path/filepath"
	"regexp"
)

// Options say which engine to open.
type Options struct {
	// Dir is the root of the workspace. All that the engine stores lies in its
	// .conclave directory, and Commit changes files below Dir only.
	Dir string
	// Scope names what is locked and stored together: "quest",
	// "table-ashfall". Lower case letters, digits, '-', '_' and '.'.
	Scope string
	// DatabaseURL is a postgres:// URL; empty means SQLite in the workspace.
	// A schema of its own holds this scope of this workspace.
	DatabaseURL string
	// Wait makes Open wait for the lock until its context ends.
	Wait bool
	// Purpose tells others why the lock is held: "conclave consult cat".
	Purpose string
	// Flows are what can be started, spawned and resumed.
	Flows []Flow
	// Asker answers the questions of flows. Without one, a question stops the
	// interaction and leaves it open.
	Asker Asker
	// Log takes what the library has to say; nil means nobody listens.
	Log slog.Handler
	// CrashPoint, for tests, is called around every durable step and every
	// change of a file with a label; enginetest kills the process in it. It may
	// be called by several goroutines at once.
	CrashPoint func(label string)
}

var scopeForm = regexp.MustCompile(`^[a-z0-9][a-z0-9._-]{0,99}$`)

func (o *Options) check() error {
	if o.Dir == "" {
		return errors.New("open engine: no directory given")
	}
	if !scopeForm.MatchString(o.Scope) {
		return fmt.Errorf("open engine: scope %q: use lower case letters, digits, '-', '_' and '.'", o.Scope)
	}
	abs, err := filepath.Abs(o.Dir)
	if err != nil {
		return fmt.Errorf("open engine: %w", err)
	}
	o.Dir = abs
	return nil
}

// The places within a workspace.
const (
	stateDir  = ".conclave"
	engineDir = stateDir + "/engine"
	locksDir  = stateDir + "/locks"
	tempDir   = stateDir + "/tmp"
)

func (o *Options) database() string {
	return filepath.Join(o.Dir, filepath.FromSlash(engineDir), o.Scope+".db")
}

func (o *Options) lock() string {
	return filepath.Join(o.Dir, filepath.FromSlash(locksDir), o.Scope+".lock")
}

// Socket is where the holder of a scope's lock can be reached.
func Socket(dir, scope string) string {
	return filepath.Join(dir, filepath.FromSlash(locksDir), scope+".sock")
}
