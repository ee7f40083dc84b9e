package app

import (
	"cmp"
	"strings"

	"conclave/policy"
	"conclave/table"
	"conclave/table/look"
	"conclave/table/told"
)

// report tells the seats of a screen what is amiss at a table before it is
// played: what is so now, and what has happened since they last sat there.
func (a *App) report(in Seating) error {
	if a.at != nil {
		return nil // it was told in the terminal that came
	}
	w, err := a.openWorkspace()
	if err != nil {
		return err
	}
	if err := w.makePrivate(); err != nil {
		return err
	}
	things, err := look.Told(w.root, in.Table)
	if err != nil {
		return tableError(in.Table, err)
	}
	screen := cmp.Or(strings.Join(in.As, "+"), table.SeatTable)
	if things, err = look.News(w.root, in.Table, screen, things); err != nil {
		return tableError(in.Table, err)
	}
	gm, err := w.tableCast(in.Table, in.sits, in.Auto)(policy.GM, "", false)
	if err != nil {
		return err
	}
	lines := told.Report(things, in.As, !gm.Person, in.Table)
	for i, line := range lines {
		if i == 0 {
			a.aside("Before you play:")
		}
		a.aside("- %s", line)
	}
	return nil
}
