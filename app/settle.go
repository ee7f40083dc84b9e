package app

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"conclave/engine"
	"conclave/internal/lockfile"
	"conclave/internal/newer"
	"conclave/quest"
	"conclave/room"
	tableflow "conclave/table/flow"
)

// settle ends what was interrupted: it is written down as ended early, unless
// the person wants to go on with it.
func (c *questSession) settle(ctx context.Context) error {
	open, err := c.engine.Pending(ctx)
	if err != nil {
		return environmentError("%w", err)
	}
	for _, i := range open {
		name, _, _ := strings.Cut(i.Flow, "/")
		if c.app.Person != nil {
			goOn, err := c.asker.yes(ctx, fmt.Sprintf("An interaction was interrupted (%s, begun %s). Go on with it?",
				name, i.Started.Local().Format("2 January 15:04")), true)
			if err != nil {
				return environmentError("%w", err)
			}
			if goOn {
				if _, err := c.resume(ctx, i.ID); err != nil {
					return err
				}
				continue
			}
		}
		c.house.Abandon("it was interrupted and not continued")
		_, err := c.engine.Resume(ctx, i.ID)
		c.house.Abandon("")
		if errors.As(err, new(*engine.CutError)) || errors.As(err, new(*newer.Error)) {
			return questError(err)
		}
		c.app.aside("An interrupted interaction (%s) was ended and written down.", name)
	}
	return nil
}

// questError gives an error of a quest its kind and the way out.
func questError(err error) error {
	var (
		coded  *Error
		cut    *engine.CutError
		held   *lockfile.HeldError
		leak   *quest.LeakError
		work   *quest.WorkError
		broken *quest.DamagedError
	)
	switch {
	case err == nil:
		return nil
	case errors.As(err, &cut):
		return ErrorOf(KindOf(cut.Err), "%w\nnothing is lost: `conclave quest continue` goes on from here", cut.Err)
	case errors.As(err, &coded):
		return err
	case errors.As(err, &held):
		return environmentError("%w; wait for it, or say --wait", err)
	case errors.As(err, &leak):
		return noError("%w\nnothing was started; take these words out, or say --accept-context to go on with that "+
			"on the verdict", err)
	case errors.As(err, &work):
		return usageError("%w", err)
	case errors.As(err, &broken):
		return noError("%w\n`conclave quest status` offers repairs", err)
	case errors.Is(err, quest.ErrNoQuest), errors.Is(err, room.ErrLevel):
		return environmentError("%w", err)
	}
	return noError("%w", err)
}

// tableError gives an error of a table its kind and the way out.
func tableError(name string, err error) error {
	var held *lockfile.HeldError
	var cut *engine.CutError
	switch {
	case err == nil:
		return nil
	case errors.As(err, &held):
		return environmentError("the table is in use: %w (--wait waits for it)", err)
	case errors.As(err, &cut):
		return environmentError("the table waits: %w\ncontinue with: conclave table resume %s", err, name)
	case errors.Is(err, tableflow.ErrOpen):
		return noError("%w: conclave table resume %s", err, name)
	}
	return environmentError("%w", err)
}
