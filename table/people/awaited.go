package people

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

const awaitedDir = "awaited" // in the table's own state

// AwaitedPath is a directory that changes with whom a campaign waits for.
func AwaitedPath(workspace, campaign string) string {
	return filepath.Join(table.PrivatePath(workspace, campaign), awaitedDir)
}

// await notes, for whoever looks from outside, that a person is asked.
func (p *person) await() error {
	open, err := table.OwnDir(p.seats.Campaign.Workspace, p.seats.Campaign.Name, awaitedDir)
	if err != nil {
		return err
	}
	text := ""
	if p.private {
		text = askedInPrivate
	}
	return errors.Join(open.Write(p.who, []byte(text)), open.Close())
}

// Answered notes that a seat is waited for no longer; all of them without a name.
func (s *Seats) Answered(who string) error {
	err := os.RemoveAll(filepath.Join(AwaitedPath(s.Campaign.Workspace, s.Campaign.Name), who))
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	return err
}

// LookAwaited says whom the open cycle of a campaign waits for; nil for nobody.
func LookAwaited(workspace, campaign string) (*Awaited, error) {
	dir := AwaitedPath(workspace, campaign)
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
