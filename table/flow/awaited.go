package flow

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"

	"conclave/engine"
	"conclave/policy"
	"conclave/table"
	"conclave/table/desk"
	"conclave/table/story"
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

// lastWords takes what people have left since they answered: until all have, each
// may change an answer, and from then on none (I6). One that cannot stand changes
// nothing.
func (c *cycle) lastWords(list []frozen, answers []answer) error {
	var people []int
	for i, f := range list {
		if c.Persons[f.Character] && answers[i].Outcome != story.OutcomeError {
			people = append(people, i)
		}
	}
	if c.first || len(people) == 0 {
		return nil
	}
	step := fmt.Sprintf("last words %d", c.turns)
	later, err := engine.Do(c.r, step, func(context.Context) (map[string]string, error) {
		said := map[string]string{}
		for _, i := range people {
			who := list[i].Character
			text, ok, err := c.t.takeDraft(who)
			if err != nil {
				return nil, engine.Halt(err)
			}
			if words, err := c.t.asSaid(who, text); ok && err == nil {
				said[who] = words
			}
		}
		return said, nil
	})
	if err != nil {
		return err
	}
	for _, i := range people {
		f := list[i]
		text, ok := later[f.Character]
		if !ok {
			continue
		}
		a := answers[i]
		a.Discarded = ""
		if reason, _ := c.judge(&a, table.SplitTurn(text), f); reason != "" {
			continue
		}
		answers[i] = a
		c.Warn = append(c.Warn, f.Character+" changed its answer before all had answered")
		if err := c.t.dropDraft(f.Character, text); err != nil {
			return err
		}
	}
	return nil
}

// Again changes what a person has answered in the cycle that is open, as long as
// another player is waited for. It says whether that is so.
func (t *Table) Again(seat, text string) (bool, error) {
	entries, err := os.ReadDir(awaitedDir(t.opts.Workspace, t.opts.Campaign))
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return false, err
	}
	others := slices.ContainsFunc(entries, func(e fs.DirEntry) bool {
		return e.Name() != seat && e.Name() != string(policy.GM)
	})
	if !others {
		return false, nil
	}
	if err := desk.Left(seat, desk.Asked, text); err != nil {
		return false, err
	}
	return true, LeaveDraft(t.opts.Workspace, t.opts.Campaign, seat, text)
}
