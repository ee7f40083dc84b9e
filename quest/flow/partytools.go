package flow

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"

	"conclave/agent"
	"conclave/engine"
	"conclave/policy"
	"conclave/quest"
	"conclave/seat"
	"conclave/toolbox"
)

// The tools of the party. A call changes nothing: it says whether it would be
// taken. Once the turn has ended, what was called for stands on the record, and
// one durable step takes it from there, so that a killed turn logs nothing and
// a finished one logs it once.
const (
	toolProgress  = "log_progress"
	toolWithdraw  = "withdraw_progress"
	toolRecommend = "recommend"
)

// maxNotes bounds what an agent notes in one turn.
const maxNotes = 5

const noteSchema = `{"type":"object","additionalProperties":false,"required":["text"],"properties":` +
	`{"text":{"type":"string","description":"one short line"}}}`

// notedLine is the input of each of these tools.
type notedLine struct {
	Text string `json:"text"`
}

// notes are what an agent noted in one turn, in order.
type notes struct {
	Log       []note   `json:"log,omitempty"`
	Recommend []string `json:"recommend,omitempty"`
}

// note is a line for the quest's log.
type note struct {
	Text     string `json:"text"`
	Withdraw bool   `json:"withdraw,omitempty"`
}

// mayNote tells whether a member of the party has these tools: those who advise.
// Evaluators judge, Simon looks back, and without a quest there is no log.
func (o Opening) mayNote() bool {
	return o.Role == policy.Gandalf || slices.Contains(policy.Animals(), o.Role)
}

// partyTools are those of the conversation's seat.
func (t *dialogue) partyTools() []toolbox.Tool {
	if !t.o.mayNote() {
		return nil
	}
	tools := []toolbox.Tool{{
		Name:        toolRecommend,
		Description: "Hand in one specific recommendation of yours: it will stand in the outcome of this conversation.",
		Handle: t.noting(toolRecommend, func(text string) error {
			_, err := quest.Recommendation(text)
			return err
		}, "It will stand in the outcome."),
	}}
	if t.o.Quest == nil {
		return withForm(tools)
	}
	return withForm(append(tools, toolbox.Tool{
		Name: toolProgress,
		Description: "Note in the quest's log that something is finished, when the person says that it is. " +
			"What was finished, in one line; no opinion, no verdict.",
		Handle: t.noting(toolProgress, t.loggable, "It will stand in the log, and the person is shown it."),
	}, toolbox.Tool{
		Name: toolWithdraw,
		Description: "Take back a line of the quest's log about progress, when the person says that it is not so. " +
			"Give its words as they stand in the log.",
		Handle: t.noting(toolWithdraw, t.withdrawable, "A second line will take it back, and the person is shown it."),
	}))
}

func withForm(tools []toolbox.Tool) []toolbox.Tool {
	for i := range tools {
		tools[i].Schema = json.RawMessage(noteSchema)
	}
	return tools
}

// noting answers a call: what could not be taken later is refused now.
func (t *dialogue) noting(
	tool string, check func(text string) error, told string,
) func(context.Context, json.RawMessage) (string, error) {
	return func(_ context.Context, input json.RawMessage) (string, error) {
		var in notedLine
		if err := json.Unmarshal(input, &in); err != nil {
			return "", err
		}
		past, err := t.h.seats.History(t.o.Run)
		if err != nil {
			return "", err
		}
		n := 0
		for _, c := range past.Turn(t.turns[len(t.turns)-1]).Calls {
			if c.Tool == tool && c.Ended && !c.Failed {
				n++
			}
		}
		if n >= maxNotes {
			return "", fmt.Errorf("%d are enough for one answer: tell the person the rest in words", maxNotes)
		}
		if err := check(in.Text); err != nil {
			return "", err
		}
		return told, nil
	}
}

// loggable looks whether a line could be logged, and is not in the log yet.
func (t *dialogue) loggable(text string) error {
	e, err := quest.ReportedProgress(text, "")
	if err != nil {
		return err
	}
	q, err := t.questNow()
	if err == nil && q.Says(e.Text) {
		err = errors.New("the log says so already")
	}
	return err
}

// withdrawable looks whether the log has such a line.
func (t *dialogue) withdrawable(text string) error {
	q, err := t.questNow()
	if err == nil {
		_, err = q.WithdrawReported(text, "")
	}
	return err
}

// questNow is the quest as it stands in its file.
func (t *dialogue) questNow() (*quest.Quest, error) {
	store, err := quest.OpenStore(t.h.opts.Root)
	if err != nil {
		return nil, err
	}
	defer store.Close()
	return store.Quest()
}

// toolsGuide tells a seat of its tools.
func toolsGuide(o Opening) string {
	if !o.mayNote() {
		return ""
	}
	text := " You may have tools besides. When you recommend something specific, hand it in with " + toolRecommend +
		", in one line, besides saying it."
	if o.Quest != nil {
		text += " When the person says that a piece of the work is finished, note it with " + toolProgress +
			"; when they say that what the log holds is not so, take it back with " + toolWithdraw +
			". Note what they report and never what you think of it."
	}
	return text
}

// keepNotes takes what was noted in a turn from the record and does it. A turn
// in which no such tool was used takes no step.
func (t *dialogue) keepNotes(id string, reply agent.Reply) error {
	used := slices.ContainsFunc(reply.Uses, func(u agent.ToolUse) bool {
		_, name, prefixed := strings.Cut(u.Name, "__room__") // how programs name a tool of the room's server
		if !prefixed {
			name = u.Name
		}
		return slices.Contains([]string{toolProgress, toolWithdraw, toolRecommend}, name)
	})
	if !used {
		return nil
	}
	noted, err := engine.Do(t.r, "notes "+id, func(context.Context) (notes, error) {
		past, err := t.h.seats.History(t.o.Run)
		if err != nil {
			return notes{}, engine.Halt(err)
		}
		return notesIn(past.Turn(id).Calls), nil
	})
	if err != nil {
		return err
	}
	for _, text := range noted.Recommend {
		if text, err := quest.Recommendation(text); err == nil && !slices.Contains(t.recommended, text) {
			t.recommended = append(t.recommended, text)
		}
	}
	if len(noted.Log) == 0 || t.o.Quest == nil {
		return nil
	}
	return t.logNotes(id, noted.Log)
}

// notesIn reads the calls of a turn that were taken.
func notesIn(calls []seat.Call) (n notes) {
	for _, c := range calls {
		var in notedLine
		if !c.Ended || c.Failed || json.Unmarshal([]byte(c.Input), &in) != nil {
			continue
		}
		switch c.Tool {
		case toolRecommend:
			n.Recommend = append(n.Recommend, in.Text)
		case toolProgress, toolWithdraw:
			n.Log = append(n.Log, note{Text: in.Text, Withdraw: c.Tool == toolWithdraw})
		}
	}
	return n
}

// logged is a line that was added to the log.
type logged struct {
	Number int    `json:"number"` // in the log, from 1
	Text   string `json:"text"`
}

var errNothingToLog = errors.New("nothing of it is to be logged any more")

// logNotes adds the lines to the quest's log. A quest that cannot be changed
// does not end the conversation: the person is told.
func (t *dialogue) logNotes(id string, list []note) error {
	before := t.quest
	if before == nil {
		before = t.o.Quest
	}
	var added []logged
	_, err := t.h.editQuest(t.r, "log "+id, before, func(q *quest.Quest) (data []byte, err error) {
		if data, added, err = withNotes(q, list, quest.Day(t.o.Start)); err == nil {
			t.quest = data
		}
		return data, err
	})
	if errors.Is(err, errNothingToLog) {
		return nil
	}
	if err != nil {
		t.quest = nil
		t.notes = append(t.notes, fmt.Sprintf("what %s noted could not be logged: %v", t.o.face(t.o.Role).Name(), err))
		return nil
	}
	t.logged = append(t.logged, added...)
	_, err = plainStep(t.r, "show log "+id, func() (int, error) {
		if l := t.h.opts.Listener; l != nil {
			for _, e := range added {
				l.Noted(t.o.face(t.o.Role), e.Number, e.Text)
			}
		}
		return len(added), nil
	})
	return err
}

// withNotes is the quest with the lines in its log. A withdrawal of what is not
// there any more, and a line that was logged already, are left out.
func withNotes(q *quest.Quest, list []note, day string) (data []byte, added []logged, err error) {
	for _, n := range list {
		e, err := quest.ReportedProgress(n.Text, day)
		if n.Withdraw {
			e, err = q.WithdrawReported(n.Text, day)
		}
		if err != nil || !n.Withdraw && q.Says(e.Text) {
			continue
		}
		if data, err = q.WithProgress(e); err != nil {
			return nil, nil, err
		}
		q = quest.Parse(data)
		added = append(added, logged{len(q.Progress), e.Text})
	}
	if len(added) == 0 {
		return nil, nil, errNothingToLog
	}
	return data, added, nil
}

// advice is the outcome of a conversation in which something was recommended.
func (t *dialogue) advice() string { return quest.Recommended(t.recommended) }
