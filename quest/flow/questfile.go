package flow

import (
	"context"
	"errors"
	"fmt"

	"conclave/engine"
	"conclave/quest"
)

// maxReplans bounds how often a change is planned anew while somebody else
// keeps changing the file.
const maxReplans = 20

// editQuest changes quest.md as edit says, planned on the text before. When
// somebody has changed the file meanwhile the change is planned again on the
// new text, and the note says so.
func (h *House) editQuest(r *engine.Run, name string, before []byte, edit func(*quest.Quest) ([]byte, error)) (note string, err error) {
	for n := 1; n <= maxReplans; n++ {
		data, err := edit(quest.Parse(before))
		if err != nil {
			return note, err
		}
		err = engine.Commit(r, fmt.Sprintf("%s %d", name, n), []engine.Change{{
			Op: engine.Write, Path: quest.QuestFile, Data: data, Before: engine.Digest(before)}})
		if editedOf(err) == nil {
			return note, err
		}
		note = "quest.md was changed by someone else meanwhile; the change was made on the new text"
		if before, err = h.readQuest(r, fmt.Sprintf("read again for %s %d", name, n)); err != nil {
			return note, err
		}
	}
	return note, fmt.Errorf("change quest.md: somebody else keeps changing it; try again when they are done")
}

func (h *House) readQuest(r *engine.Run, step string) ([]byte, error) {
	return engine.Do(r, step, func(context.Context) ([]byte, error) {
		store, err := quest.OpenStore(h.opts.Root)
		if err != nil {
			return nil, engine.Halt(err)
		}
		defer store.Close()
		return store.Read(quest.QuestFile)
	})
}

func editedOf(err error) *engine.EditedError {
	var edited *engine.EditedError
	errors.As(err, &edited)
	return edited
}
