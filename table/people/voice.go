package people

import (
	"context"
	"fmt"

	"conclave/table"
	"conclave/table/desk"
	"conclave/table/relay"
)

// Voice is who finds words for what a person types, in a seat beside theirs.
type Voice interface {
	// Find tells it what is wanted, with what the person typed, if that is about
	// it, and returns what it answers.
	Find(ctx context.Context, asked, typed string) (string, error)
	// Close ends it, also one that a process which died had begun.
	Close() error
}

// voice is a Voice at one question; the nil one is nobody's.
type voice struct {
	Voice
	caps    table.Caps
	offered []string
	calls   int
}

// maxVoiced bounds how often words are found for one question. After that the
// person's own stand.
const maxVoiced = 12

func (s *personSession) voiceFor(asked string) *voice {
	if s.lent == nil || s.isGM() {
		return nil
	}
	v := s.lent(asked)
	if v == nil {
		return nil
	}
	return &voice{Voice: v, caps: s.seats.Caps}
}

func (v *voice) ask(ctx context.Context, asked, typed string) (string, error) {
	if v.calls++; v.calls > maxVoiced {
		return "", fmt.Errorf("words were found %d times for this", maxVoiced)
	}
	return v.Find(ctx, asked, typed)
}

// put is how the character says what its person typed.
func (v *voice) put(ctx context.Context, typed string) (string, error) {
	answer, err := v.ask(ctx, relay.Words, typed)
	if err != nil {
		return "", err
	}
	return relay.Take(answer, v.caps)
}

// options is what the character might do, for its person to read.
func (v *voice) options(ctx context.Context) string {
	answer, err := v.ask(ctx, relay.Ideas, "")
	if err != nil {
		return "Nothing came to mind: " + err.Error()
	}
	if v.offered = relay.Options(answer); len(v.offered) == 0 {
		return "Nothing came to mind."
	}
	return relay.Shown(v.offered)
}

// chosen is what was typed, or the option that it is the number of.
func (v *voice) chosen(typed string) string {
	if v == nil {
		return typed
	}
	return relay.Chosen(v.offered, typed)
}

func (v *voice) close() error {
	if v == nil {
		return nil
	}
	return v.Close()
}

// voiced is what a person typed, without what it says for the journal, and how
// their character would say it; no prose where no words were found.
type voiced struct {
	typed, prose string
	notes        string
}

// answer is what is said when the person agrees. What they typed themselves is for
// the journal, as all that a person says is.
func (v voiced) answer(notes []string) string {
	if v.notes != "" {
		notes = append([]string{v.notes}, notes...)
	}
	if v.prose == "" {
		return table.WithNotes(v.typed, notes)
	}
	return table.WithNotes(v.prose, append([]string{v.typed}, notes...))
}

// own is the same in the person's own words.
func (v voiced) own(notes []string) string {
	v.prose = ""
	return v.answer(notes)
}

// at is the kind of question that a person is asked.
func (s *sitting) at() desk.At {
	if s.voice != nil {
		return desk.Asked | desk.Voiced
	}
	return desk.Asked
}

// speak makes an answer of a player's words; where somebody finds words for them,
// the person reads those first.
func (s *sitting) speak(ctx context.Context, words string) (said string, sent bool, err error) {
	turn := table.SplitTurn(words)
	if s.voice == nil || table.ParseResponse(turn.Response, table.FullContext, s.seats.Caps).Kind != table.Answer {
		return table.WithNotes(words, s.notes), true, nil
	}
	prose, err := s.voice.put(ctx, turn.Response)
	if ctx.Err() != nil {
		s.add(words)
		return "", false, s.away(nil, context.Cause(ctx))
	}
	s.voiced = &voiced{turn.Response, prose, turn.Notes}
	if err != nil {
		s.shown = append(s.shown, "No other words were found: "+err.Error())
		return "", false, nil
	}
	s.shown = append(append(s.shown, prose), relay.Remarks(prose, s.who, s.roster)...)
	return "", false, nil
}
