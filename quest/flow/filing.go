package flow

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"conclave/engine"
	"conclave/policy"
	"conclave/profile"
	"conclave/quest"
	"conclave/record"
)

// file ends the conversation: what makes it up goes on the record, the record
// is sealed, and the file is made from the record. It returns the file's name,
// empty when nobody said anything.
func (t *dialogue) file(outcome string) (string, error) { return t.fileWith(outcome, nil) }

// fileWith is file with a word about other records that belong to it.
func (t *dialogue) fileWith(outcome string, also func(*conversationEvent)) (string, error) {
	if t.ended != "" {
		outcome = strings.TrimSpace(quest.EndedEarly(t.ended) + "\n\n" + t.advice())
	}
	outcome = quest.Stamped(outcome, t.x.stamps...)
	f := t.o.filed(t.turns, outcome)
	f.Opened = t.opened
	if slices.ContainsFunc(t.parts, func(p saidPart) bool { return p.Turn == "" }) {
		f.Said = t.parts
	}
	sealed, err := engine.Do(t.r, "seal", func(context.Context) (bool, error) {
		if !t.h.seats.Begun(t.o.Run) {
			return false, nil
		}
		f.File = t.h.freeName(f)
		if also != nil {
			also(&f)
		}
		return true, engine.Halt(t.h.seal(t.o.Run, sealReason(t.ended), f))
	})
	if err != nil || !sealed {
		return "", err
	}
	return t.h.write(t.r, t.o.Run)
}

func sealReason(ended string) string {
	if ended != "" {
		return "ended early"
	}
	return "done"
}

func (o Opening) filed(turns []string, outcome string) conversationEvent {
	face := o.face(o.Role)
	c := quest.Conversation{}.With(face)
	return conversationEvent{
		Agent: string(c.Agent), Skin: c.Skin, FilePart: c.FilePart, Phase: int(o.Phase), Mode: string(o.Mode),
		Start: o.Start.Format(time.RFC3339), Quest: o.Title, Purpose: o.Purpose, Speaker: face.Tag(),
		Turns: slices.Clone(turns), Outcome: outcome, Unfinished: true, Caller: o.Caller,
	}
}

// freeName is the first of a conversation's names that is free now.
func (h *House) freeName(f conversationEvent) string {
	c, err := f.conversation()
	if err != nil {
		return ""
	}
	for name := range c.Names() {
		if _, err := os.Lstat(filepath.Join(h.opts.Root, filepath.FromSlash(quest.ConversationsDir), name)); errors.Is(err, fs.ErrNotExist) {
			return name
		}
	}
	return ""
}

// conversation is the conversation without its exchange.
func (f conversationEvent) conversation() (quest.Conversation, error) {
	start, err := time.Parse(time.RFC3339, f.Start)
	if f.Caller != "" {
		f.Purpose += quest.ByCaller
	}
	return quest.Conversation{
		Agent: policy.Role(f.Agent), Skin: f.Skin, FilePart: f.FilePart, Phase: quest.Phase(f.Phase), Mode: quest.Mode(f.Mode),
		Start: start, Quest: f.Quest, Purpose: f.Purpose, Outcome: f.Outcome,
	}, err
}

// write makes the conversation file of a sealed run and creates it under the
// first free of its names. Nothing is ever overwritten.
func (h *House) write(r *engine.Run, run string) (string, error) {
	type derived struct {
		Filed conversationEvent
		Data  []byte
	}
	d, err := engine.Do(r, "derive", func(context.Context) (derived, error) {
		c, filed, err := fromRecords(record.Dir(h.opts.Root), run)
		if err != nil || len(c.Exchange) == 0 {
			return derived{}, err
		}
		data, err := c.Render()
		return derived{filed, data}, err
	})
	if err != nil || len(d.Data) == 0 {
		return "", err
	}
	return h.create(r, d.Filed, d.Data)
}

func (h *House) create(r *engine.Run, f conversationEvent, data []byte) (string, error) {
	c, err := f.conversation()
	if err != nil {
		return "", err
	}
	taken := f.File != ""
	for name := range c.Names() {
		if taken = taken && name != f.File; taken {
			continue // it was not free when the record was sealed
		}
		err := engine.Commit(r, "file "+name, []engine.Change{{Op: engine.Create, Path: quest.ConversationsDir + "/" + name, Data: data}})
		if editedOf(err) == nil {
			return name, err
		}
	}
	return "", fmt.Errorf("write conversation: every name for a conversation with %s of the minute %s is taken",
		c.Agent, c.Start.Format("2006-01-02 15:04"))
}

func recordPath(dir, run string) string { return filepath.Join(dir, run+record.Extension) }

// fromRecords makes a conversation from the record of its run, and for a
// council from those of the six. It is what files are written from and what
// they are proved with.
func fromRecords(dir, run string) (quest.Conversation, conversationEvent, error) {
	lead, err := readRecord(recordPath(dir, run))
	if err != nil {
		return quest.Conversation{}, conversationEvent{}, err
	}
	if lead.filed == nil {
		return quest.Conversation{}, conversationEvent{}, fmt.Errorf("record %s says of no conversation: it was cut short, or is no quest's", run)
	}
	c, err := lead.filed.conversation()
	if err != nil {
		return c, *lead.filed, err
	}
	for _, words := range lead.filed.Opened {
		c.Exchange = append(c.Exchange, quest.Message{Speaker: profile.UserTag, Text: words})
	}
	runs := lead.filed.Runs
	if len(runs) == 0 {
		runs = []string{run}
	}
	for i, name := range runs {
		rec := lead
		if name != run {
			if rec, err = readRecord(recordPath(dir, name)); err != nil {
				return c, *lead.filed, err
			}
			if rec.filed == nil || rec.filed.Lead != run {
				return c, *lead.filed, fmt.Errorf("record %s does not belong to the council of %s", name, run)
			}
		}
		c.Exchange = append(c.Exchange, rec.exchange(i == 0)...)
	}
	return c, *lead.filed, nil
}

// exchange is what was said in a record's turns and beside them. In a council the
// person's words, the same for all, stand once.
func (rec *recorded) exchange(person bool) []quest.Message {
	parts := rec.filed.Said
	if len(parts) == 0 {
		for _, id := range rec.filed.Turns {
			parts = append(parts, saidPart{Turn: id})
		}
	}
	var out []quest.Message
	say := func(speaker, text string) {
		if text != "" {
			out = append(out, quest.Message{Speaker: speaker, Text: text})
		}
	}
	for _, p := range parts {
		if person {
			say(profile.UserTag, p.Person)
		}
		say(rec.filed.Speaker, p.Agent)
		if p.Turn == "" {
			continue
		}
		turn := rec.Turn(p.Turn)
		if person {
			say(profile.UserTag, turn.Words())
		}
		text := turn.Reply.Text
		if !turn.Finished && rec.filed.Unfinished {
			heard := turn.Heard
			if half := strings.TrimSpace(turn.Half); half != "" {
				heard = append(slices.Clone(heard), half)
			}
			text = strings.Join(heard, "\n\n")
		}
		say(rec.filed.Speaker, text)
	}
	return out
}
