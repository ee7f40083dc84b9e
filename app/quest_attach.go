package app

import (
	"context"
	"reflect"

	"conclave/quest/flow"
)

// A quest has one interaction at a time, and who holds its lock has it. What
// another terminal can have done meanwhile is a line in the quest's log, which is
// in nobody's way; everything else is refused there by the lock, with who holds it.

// atQuest says that a verb is for the quest.
func (Talk) atQuest() bool { return true }

// admit lets verbs of the quest run here.
func (c *questSession) admit(a *App, args []reflect.Value) error {
	for _, arg := range args {
		if in, ok := arg.Interface().(interface{ atQuest() bool }); ok && in.atQuest() {
			a.quest = c
			return nil
		}
	}
	return usageError("that is nothing for the quest")
}

// noteFor writes a line into the log for another terminal, beside what is under way.
func (c *questSession) noteFor(ctx context.Context, a *App, in flow.Move) (*flow.Result, error) {
	if err := c.house.CheckMove(in); err != nil {
		return nil, questError(err)
	}
	a.wire.begun()
	res, err := c.beside(ctx, "move", in)
	res.Offers = nil // the next step is chosen where the quest is
	return &res, err
}
