package people

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"strings"

	"conclave/engine"
	"conclave/table"
	"conclave/table/desk"
	"conclave/table/relay"
)

// sitting is a person who is asked, until there is an answer: what was typed and
// not sent is kept, whatever is wrong with a line of it.
type sitting struct {
	*personSession
	roster table.Roster
	asked  engine.Question // as it was put first
	kept   []string        // lines that are not sent
	bad    *desk.Fault     // in one of them
	notes  []string        // for the journal
	seen   string          // the preview that was shown last
	shown  []string        // by commands, to be read before the question stands again
	voice  *voice          // who finds words for theirs; nil for nobody
	voiced *voiced         // what is to be said, if they agree
}

// pickUp goes on with what the person had typed when they left.
func (s *sitting) pickUp() error {
	text, err := s.seats.unsent(s.who)
	if err != nil || blank(text) || len(s.kept) > 0 {
		return err
	}
	s.kept = strings.Split(strings.TrimSpace(text), "\n")
	s.shown = append(s.shown, "You had typed, and not sent:\n\n  "+strings.Join(s.kept, "\n  "))
	return nil
}

// ask puts the question until there is an answer that can be taken. What was typed
// and not sent when the person leaves is kept for when they come back.
func (s *sitting) ask(ctx context.Context) (string, error) {
	said, err := s.asking(ctx)
	if err == nil {
		return said, s.seats.dropUnsent(s.who)
	}
	if s.voiced != nil {
		s.kept = append(s.kept, s.voiced.own(nil))
	}
	text := strings.Join(s.kept, "\n")
	if blank(text) {
		return "", errors.Join(err, s.seats.dropUnsent(s.who))
	}
	s.seats.Tell(s.who, "What you had typed and not sent is kept; you go on with it when you come back.")
	return "", errors.Join(err, LeaveUnsent(s.seats.Campaign.Workspace, s.seats.Campaign.Name, s.who, text))
}

func (s *sitting) asking(ctx context.Context) (string, error) {
	q := s.asked
	if len(s.shown) > 0 {
		q = s.again()
		q.Title, q.Lead = s.asked.Title, strings.TrimSpace(s.asked.Lead+"\n\n"+q.Lead)
	}
	for {
		text, err := s.put(ctx, q)
		if err != nil {
			return "", s.away(nil, err)
		}
		said, sent, err := s.take(ctx, text)
		if sent || err != nil {
			return said, err
		}
		q = s.again()
	}
}

func (s *sitting) put(ctx context.Context, q engine.Question) (string, error) {
	return s.seats.Asker.Ask(ctx, q)
}

// again is the question as it stands after a command or a fault.
func (s *sitting) again() engine.Question {
	q := s.asked
	q.Title, q.Lead = "", strings.Join(s.shown, "\n\n")
	if !s.isGM() {
		q.Hint = "/help says what you can do."
	}
	s.shown = nil
	switch n := len(s.kept); {
	case s.voiced != nil:
		q.Text, q.Hint = relay.Question, relay.Hint
		if s.voiced.prose == "" {
			q.Hint = relay.OwnHint
		}
	case s.bad != nil && s.bad.Line > 0:
		q.Text = fmt.Sprintf("Type line %d again.", s.bad.Line)
		q.Hint = fmt.Sprintf("The other lines are kept. /drop %d leaves this one out, /drop throws all of them away.",
			s.bad.Line)
	case n > 0:
		q.Text = "Go on, or send it with an empty line."
		q.Hint = counted(n) + " kept; /drop throws them away."
		if s.isGM() {
			q.Hint = counted(n) + " kept; /preview shows what each player will see, /drop throws them away."
		}
		q.Live = true
	}
	return q
}

func counted(n int) string {
	if n == 1 {
		return "One line is"
	}
	return strconv.Itoa(n) + " lines are"
}

// take takes what was typed. sent says that it was an answer.
func (s *sitting) take(ctx context.Context, text string) (said string, sent bool, err error) {
	calls, words, err := s.split(text)
	if blank(words) && err == nil && len(calls) > 0 {
		return s.doAll(ctx, calls)
	}
	if blank(text) {
		if s.voiced != nil {
			return s.voiced.answer(s.notes), true, nil
		}
		if s.bad == nil && len(s.kept) > 0 {
			return s.send(ctx)
		}
		s.shown = append(s.shown, "Nothing was said.")
		return "", false, nil
	}
	if !s.isGM() {
		s.voiced = nil
		s.add(s.voice.chosen(text))
		return s.send(ctx)
	}
	s.add(words)
	if len(calls) > 0 {
		return s.doAll(ctx, calls)
	}
	return s.send(ctx)
}

func blank(text string) bool { return strings.TrimSpace(text) == "" }

// doAll does commands at once. A veto is an answer, and so are one's own words.
func (s *sitting) doAll(ctx context.Context, calls []desk.Call) (said string, sent bool, err error) {
	for _, c := range calls {
		switch c.Name {
		case "mine":
			if s.voiced != nil {
				return s.voiced.own(s.notes), true, nil
			}
			s.shown = append(s.shown, "Nothing is typed yet: /mine is for when you have read how it would be said.")
			continue
		case "options":
			s.shown = append(s.shown, s.voice.options(ctx))
			continue
		case "quit":
			return "", false, s.away(nil, ErrLeft)
		case "veto":
			return table.WithNotes(table.VetoFor(c.Rest), s.notes), true, nil
		}
		shown, err := s.do(c)
		if err != nil {
			shown = err.Error()
		}
		s.shown = append(s.shown, shown)
	}
	return "", false, nil
}

// split tells what is done at once from what is said. The lines of a game master
// that are part of a turn stay where they are.
func (s *sitting) split(text string) (calls []desk.Call, words string, err error) {
	if !s.isGM() {
		return desk.Split(text, desk.Player, s.at())
	}
	var rest []string
	for line := range strings.SplitSeq(text, "\n") {
		word, behind, ok := desk.IsCommand(line)
		c, err := desk.Find(word, behind, desk.GM, desk.Asked)
		if ok && err == nil && (!c.Turn || word == "scene" && behind == "") {
			calls = append(calls, desk.Call{Command: c, Rest: behind})
			continue
		}
		rest = append(rest, line)
	}
	return calls, strings.Join(rest, "\n"), nil
}

// add keeps words: in place of the line that was wrong, or behind the others.
func (s *sitting) add(words string) {
	lines := strings.Split(words, "\n")
	if s.bad == nil || s.bad.Line == 0 {
		s.kept = append(s.kept, lines...)
		return
	}
	at := s.bad.Line - 1
	s.kept = append(append(append([]string{}, s.kept[:at]...), lines...), s.kept[at+1:]...)
	s.bad = nil
}

// keep keeps an answer that cannot be taken as it is, and says why not.
func (s *sitting) keep(text string, err error) {
	s.kept, s.bad = strings.Split(strings.TrimSpace(text), "\n"), nil
	var f *desk.Fault
	switch {
	case !errors.As(err, &f):
		s.shown = append(s.shown, err.Error())
	case len(s.kept) == 1: // it is typed again
		s.kept = nil
		s.shown = append(s.shown, f.Err.Error())
	default:
		s.bad = f
		s.shown = append(s.shown, f.Pointed())
	}
}

// send makes an answer of what was kept, unless a line of it is wrong, or a game
// master has not seen yet that its readers will read different things.
func (s *sitting) send(ctx context.Context) (said string, sent bool, err error) {
	text := strings.Join(s.kept, "\n")
	if !s.isGM() {
		calls, words, err := s.split(text)
		if err != nil {
			s.keep(text, err)
			return "", false, nil
		}
		s.kept = nil
		if said, sent, err = s.doAll(ctx, calls); sent || err != nil || blank(words) {
			return said, sent, err
		}
		return s.speak(ctx, words)
	}
	said, err = s.seats.gmWords(text)
	if err != nil {
		s.keep(text, err)
		return "", false, nil
	}
	if p, err := s.seats.typist(s.roster).Preview(text); err == nil && p.Differs && p.Text != s.seen {
		s.seen = p.Text
		s.shown = append(s.shown, p.Text)
		return "", false, nil
	}
	return said, true, nil
}

// do does a command at once, and says what it shows.
func (s *sitting) do(c desk.Call) (string, error) {
	switch c.Name {
	case "roll":
		return s.seats.RollFor(s.who, c.Rest)
	case "notes":
		s.notes = append(s.notes, c.Rest)
		return "Kept for your journal.", nil
	case "drop":
		return s.drop(c.Rest)
	case "preview":
		return s.preview()
	}
	return s.seats.LookUp(s.who, s.at(), c)
}

func (s *sitting) drop(which string) (string, error) {
	if which == "" {
		s.kept, s.bad, s.notes, s.seen, s.voiced = nil, nil, nil, "", nil
		return "What you had typed is thrown away.", nil
	}
	n, err := strconv.Atoi(which)
	if err != nil || n < 1 || n > len(s.kept) {
		return "", fmt.Errorf("there is no line %s: %s kept", table.Clip(which, 20), counted(len(s.kept)))
	}
	gone := s.kept[n-1]
	s.kept, s.bad = append(append([]string{}, s.kept[:n-1]...), s.kept[n:]...), nil
	return fmt.Sprintf("Line %d is left out: %s", n, gone), nil
}

func (s *sitting) preview() (string, error) {
	if len(s.kept) == 0 {
		return "Nothing is typed yet.", nil
	}
	p, err := s.seats.typist(s.roster).Preview(strings.Join(s.kept, "\n"))
	s.seen = p.Text
	return p.Text, err
}
