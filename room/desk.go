package room

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path"
	"sync"
)

// Desk is the room of somebody who runs in this process: the embedded party, a
// script, a person. It holds what a Room of the same Plan would hold, refuses
// what that would refuse, and has no directory: the granted work is copied into
// memory, a workspace is looked at where it is. Nothing can be started at it.
// Its methods are safe for concurrent use.
type Desk struct {
	files    *files
	manifest Manifest

	mu     sync.Mutex
	handed []File
	bytes  int
}

// OpenDesk makes a desk from the Grants, the Workspace and the Limits of p.
func OpenDesk(ctx context.Context, p Plan) (*Desk, error) {
	p, err := p.normal()
	if err != nil {
		return nil, err
	}
	if err := ctx.Err(); err != nil {
		return nil, fmt.Errorf("open room: %w", err)
	}
	work := newMemory(".")
	d := &Desk{files: &files{work: work}}
	if d.manifest, err = fill(work, p.Grants, nil, p.Limits); err != nil {
		return nil, fmt.Errorf("open room: %w", err)
	}
	if p.Workspace == nil {
		return d, nil
	}
	if err := d.look(work, *p.Workspace, p.Limits); err != nil {
		return nil, fmt.Errorf("open room: %w", err)
	}
	return d, nil
}

// look adds the view of a project.
func (d *Desk) look(work *memory, v View, limits Limits) error {
	if _, err := fs.Stat(work, v.Name); err == nil {
		return refuse(v.Name, "a grant already stands where the workspace is seen")
	}
	seen, m, err := surveyView(v, limits, nil)
	if err != nil {
		return err
	}
	d.manifest.Items = append(d.manifest.Items, m.Items...)
	d.manifest.LeftOut = append(d.manifest.LeftOut, m.LeftOut...)
	if _, err := work.sub(v.Name); err != nil { // for listings
		return err
	}
	if d.files.view, err = os.OpenRoot(v.Source); err != nil {
		return fmt.Errorf("workspace: %w", err)
	}
	d.files.name, d.files.rule = v.Name, v.Withheld
	for _, m := range seen.masks {
		d.files.masked = append(d.files.masked, m.Path)
	}
	d.files.seen = fmt.Sprintf("%q %s %q", v.Source, seen.sum, d.files.masked)
	return nil
}

// Manifest says what is on the desk.
func (d *Desk) Manifest() Manifest { return d.manifest }

// Files is what the desk shows: the work and the view, read-only, and no other
// way to files.
func (d *Desk) Files() fs.FS { return d.files }

// HandIn takes a file, under a slash-separated name of its own. A second one of
// the same name replaces the first.
func (d *Desk) HandIn(name string, data []byte) error {
	if err := checkName(name); err != nil {
		return fmt.Errorf("hand in: %w", err)
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	at, kept := len(d.handed), 0
	for i, f := range d.handed {
		switch {
		case f.Name == name:
			at, kept = i, len(f.Data)
		case within(f.Name, name) || within(name, f.Name):
			return fmt.Errorf("hand in %q: %q was handed in before", name, f.Name)
		}
	}
	switch {
	case len(data) > maxOutboxFile:
		return fmt.Errorf("hand in %q: it is larger than %d bytes", name, maxOutboxFile)
	case d.bytes-kept+len(data) > maxOutboxBytes || at == maxOutboxFiles:
		return fmt.Errorf("hand in %q: %w", name, errFull)
	}
	d.bytes += len(data) - kept
	f := File{Name: path.Clean(name), Data: append([]byte(nil), data...)}
	if at == len(d.handed) {
		d.handed = append(d.handed, f)
	} else {
		d.handed[at] = f
	}
	return nil
}

// TakeOutbox is what was handed in since it was last called. Nothing is ever
// left out: it was refused.
func (d *Desk) TakeOutbox() ([]File, []LeftOut, error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	files := d.handed
	d.handed, d.bytes = nil, 0
	return files, nil, nil
}

// Close clears the desk. It is idempotent.
func (d *Desk) Close() error {
	if d.files.view == nil {
		return nil
	}
	if err := d.files.view.Close(); err != nil && !errors.Is(err, fs.ErrClosed) {
		return fmt.Errorf("close room: %w", err)
	}
	return nil
}
