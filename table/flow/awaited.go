package flow

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"

	"conclave/table"
)

// Awaited are the people whom an open cycle waits for.
type Awaited struct {
	// Seats are theirs. While one of them is asked in secret nobody learns whose.
	Seats     []string `json:"seats,omitempty"`
	Privately bool     `json:"privately,omitempty"`
}

// askedInPrivate stands in the file of a seat whose question is nobody else's.
const askedInPrivate = "in private\n"

func awaitedDir(workspace, campaign string) string {
	return filepath.Join(table.PrivatePath(workspace, campaign), "awaited")
}

// await notes, for whoever looks from outside, that a person is asked.
func (p *person) await() error {
	dir := awaitedDir(p.t.opts.Workspace, p.t.opts.Campaign)
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return err
	}
	open, err := table.OpenDir(dir)
	if err != nil {
		return err
	}
	text := ""
	if p.private {
		text = askedInPrivate
	}
	return errors.Join(open.Write(p.who, []byte(text)), open.Close())
}

// answered notes that a seat is waited for no longer; all of them without a name.
func (t *Table) answered(who string) error {
	err := os.RemoveAll(filepath.Join(awaitedDir(t.opts.Workspace, t.opts.Campaign), who))
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	return err
}

// lookAwaited says whom the open cycle of a campaign waits for; nil for nobody.
func lookAwaited(workspace, campaign string) (*Awaited, error) {
	dir := awaitedDir(workspace, campaign)
	entries, err := os.ReadDir(dir)
	if len(entries) == 0 || errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	a := &Awaited{}
	for _, e := range entries {
		if text, err := os.ReadFile(filepath.Join(dir, e.Name())); err == nil && string(text) == askedInPrivate {
			return &Awaited{Privately: true}, nil
		}
		a.Seats = append(a.Seats, e.Name())
	}
	return a, nil
}
