package engine

import (
	"context"
	"fmt"
	"io/fs"
	"path"
	"slices"
)

// Op is what a Change does.
type Op string

// The kinds of changes.
const (
	// Write replaces or creates a whole file; no reader sees half of it.
	Write Op = "write"
	// Create makes a file that must not exist.
	Create Op = "create"
	// Append adds bytes to the end of a file, which may be missing.
	Append Op = "append"
	// Delete removes a file.
	Delete Op = "delete"
	// Rename moves the file at Path to To, which must not exist.
	Rename Op = "rename"
)

// Change is one change of a file.
type Change struct {
	Op   Op
	Path string // slash-separated, below the workspace
	To   string // of Rename
	Data []byte // of Write, Create, Append
	// Mode of a file that is made; 0 means 0o644. Existing files keep theirs.
	Mode fs.FileMode
	// Before is the Digest of the file that the change was planned on, or
	// Absent. When the file is another by the time of the Commit, nothing is
	// done and the error is an *EditedError. Empty means: as it is found.
	Before string
}

// EditedError says that a file is not what a change was planned on: somebody
// else has changed it. The flow plans again, and says so.
type EditedError struct {
	Path string `json:"path"`
	Op   Op     `json:"op"`
	Want string `json:"want"` // the digest planned on
	Got  string `json:"got"`  // the digest found
}

const codeEdited = "edited"

func (e *EditedError) Error() string {
	return fmt.Sprintf("%s %s: somebody else has changed it meanwhile", e.Op, e.Path)
}

// FailureCode keeps the type through the record.
func (e *EditedError) FailureCode() string { return codeEdited }

// UnfitError says that what stands at a path, or on the way to it, cannot be
// changed: a link, a directory, a device, a way out of the workspace. Nothing
// was done. A flow that can wait for a person to clear it away does so in a step
// of its own, and plans again.
type UnfitError struct {
	Path   string `json:"path"`
	Reason string `json:"reason"`
}

const codeUnfit = "unfit"

func (e *UnfitError) Error() string { return fmt.Sprintf("change %s: %s", e.Path, e.Reason) }

// FailureCode keeps the type through the record.
func (e *UnfitError) FailureCode() string { return codeUnfit }

// intent is the stored form of a change: all that is needed to do it, to see
// that it was done, and to see that it must not be done. Fields may be added;
// none may change its meaning.
type intent struct {
	Op     Op          `json:"op"`
	Path   string      `json:"path"`
	To     string      `json:"to,omitempty"`
	Data   []byte      `json:"data,omitempty"`
	Mode   fs.FileMode `json:"mode,omitempty"`
	Before string      `json:"before"`
	Length int64       `json:"length"` // before, for Append
	After  string      `json:"after"`
}

// Commit changes files, in order, each once. The intents – path, digest before,
// digest after, bytes – are durable before the first file is touched; after a
// kill, a file with the digest after is done, one with the digest before is
// changed now, and with anything else Commit returns an *EditedError: that
// change and the following ones are not done, those before it are.
//
// An error of the file system cuts the interaction; Resume tries again.
func Commit(r *Run, name string, changes []Change) error {
	intents, err := Do(r, "intend "+name, func(context.Context) ([]intent, error) {
		return r.e.plan(changes)
	})
	if err != nil {
		return err
	}
	steps := [][]intent{intents}
	if !apart(intents) {
		// After a kill, a file that is changed twice cannot say by its digest how
		// far its changes had come: each of them is a step.
		steps = slices.Collect(slices.Chunk(intents, 1))
	}
	for i, step := range steps {
		_, err := Do(r, "commit "+label(name, i), func(context.Context) (struct{}, error) {
			return struct{}{}, r.e.apply(step...)
		})
		if err != nil {
			return err
		}
	}
	return nil
}

// apart says whether each of the intents concerns files of its own.
func apart(intents []intent) bool {
	seen := map[string]bool{}
	for _, in := range intents {
		for _, p := range []string{in.Path, in.To} {
			if p != "" && seen[p] {
				return false
			}
			seen[p] = true
		}
	}
	return true
}

// plan looks at the files and says what each change will make of them. Changes
// of one file build on each other.
func (e *Engine) plan(changes []Change) ([]intent, error) {
	w := &world{root: e.root, states: map[string]state{}}
	intents := make([]intent, 0, len(changes))
	for _, c := range changes {
		in, err := w.intend(c)
		if err != nil {
			return nil, err
		}
		intents = append(intents, in)
	}
	return intents, nil
}

func (w *world) intend(c Change) (intent, error) {
	in := intent{Op: c.Op, Path: c.Path, To: c.To, Data: c.Data, Mode: c.Mode}
	if err := c.check(); err != nil {
		return in, err
	}
	now, err := w.look(c.Path)
	if err != nil {
		return in, err
	}
	in.Before, in.Length = now.digest(), now.length
	want := c.Before
	if c.Op == Create {
		want = Absent
	}
	if want != "" && want != in.Before {
		return in, &EditedError{Path: c.Path, Op: c.Op, Want: want, Got: in.Before}
	}
	next := now
	switch c.Op {
	case Write, Create:
		next = state{}.plus(c.Data)
	case Append:
		next = now.plus(c.Data)
	case Delete:
		next = state{}
	case Rename:
		if in.Before == Absent {
			return in, &EditedError{Path: c.Path, Op: c.Op, Want: "a file", Got: Absent}
		}
		to, err := w.look(c.To)
		if err != nil {
			return in, err
		}
		if d := to.digest(); d != Absent {
			return in, &EditedError{Path: c.To, Op: c.Op, Want: Absent, Got: d}
		}
		w.states[c.To] = now
		next = state{}
		in.After = in.Before
	}
	w.states[c.Path] = next
	if c.Op != Rename {
		in.After = next.digest()
	}
	return in, nil
}

func (c Change) check() error {
	if !slices.Contains([]Op{Write, Create, Append, Delete, Rename}, c.Op) {
		return fmt.Errorf("change %s: unknown kind %q", c.Path, c.Op)
	}
	paths := []string{c.Path}
	if c.Op == Rename {
		paths = append(paths, c.To)
	}
	for _, p := range paths {
		if !fs.ValidPath(p) || p == "." || path.Clean(p) != p {
			return fmt.Errorf("%s %q: not a path below the workspace", c.Op, p)
		}
	}
	return nil
}
