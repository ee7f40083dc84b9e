package people

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strings"

	"conclave/agent"
	"conclave/engine"
	"conclave/policy"
	"conclave/table"
	"conclave/table/desk"
	"conclave/table/gm"
	"conclave/transcript"
)

// AwayError: a person is to answer and is not here, or has left. The cycle stays
// open. Its words are for whoever is here instead: what the person had left, and
// that a secret is asked for, is no business of theirs.
type AwayError struct {
	Who      string // the seat; "" where nobody may know
	Wrong    error  // with what was left for the seat
	campaign string
	name     string // of whoever sits there
	mine     bool   // the seat is one of this screen's
	left     error  // why it is not answered although it was asked
}

func (e *AwayError) Error() string {
	way := fmt.Sprintf("`conclave table play %s --as %s`, or `conclave table say %[1]s --as %[2]s TEXT` and then resume",
		e.campaign, e.Who)
	switch {
	case e.Who == "":
		return fmt.Sprintf("somebody is to answer, at another terminal: `conclave table play %s --as NAME` there", e.campaign)
	case e.left != nil:
		return fmt.Sprintf("%s is to answer: %s", e.name, e.left)
	case e.Wrong != nil && e.mine:
		return fmt.Sprintf("%s is to answer, and what was left cannot be taken: %s\n%s", e.name, e.Wrong, way)
	case e.Wrong != nil:
		return fmt.Sprintf("%s is to answer, and what was left there cannot be taken: %s", e.name, way)
	}
	return fmt.Sprintf("%s is to answer: %s", e.name, way)
}

func (e *AwayError) Unwrap() error { return e.left }

// ErrLeft says that the person who was to answer has left. What was open stays
// open.
var ErrLeft = errors.New("the person has left the table")

// person is an agent whose words come from a draft that was left for it, or
// from whoever sits at the screen. It is on the record like any other.
type person struct {
	seats   *Seats
	who     string // the seat
	run     string
	private bool
	said    string // already
	lent    func(asked string) Voice
}

// away is what is said when not.
func (p *person) away(wrong, left error) error {
	e := &AwayError{Who: p.who, Wrong: wrong, campaign: p.seats.Campaign.Name, name: p.name(), left: left,
		mine: p.seats.mine(p.who)}
	if p.private && !e.mine && !p.seats.mine(string(policy.GM)) {
		e.Who, e.Wrong = "", nil
	}
	return e
}

// name is how people call whoever sits here.
func (p *person) name() string {
	if p.who == string(policy.GM) {
		return "the game master"
	}
	roster, err := p.seats.Roster()
	if err != nil {
		return p.who
	}
	return roster.NameOf(p.who)
}

// Adapter implements agent.Agent.
func (p *person) Adapter() string { return transcript.AdapterHuman }

// Start implements agent.Agent.
func (p *person) Start(_ context.Context, spec agent.Spec) (agent.Session, error) {
	return &personSession{p, spec}, nil
}

type personSession struct {
	*person
	spec agent.Spec
}

// Info implements agent.Session.
func (s *personSession) Info() agent.Info {
	return agent.Info{Adapter: transcript.AdapterHuman, Version: "1", SessionID: "person", Model: "none"}
}

// Stop implements agent.Session.
func (s *personSession) Stop(context.Context) error { return nil }

// Send implements agent.Session.
func (s *personSession) Send(ctx context.Context, m agent.Message) (agent.Turn, error) {
	asked, err := s.emit(transcript.UserMessage, m.Text)
	if err != nil {
		return nil, err
	}
	text, err := s.answer(ctx, m.Text)
	if err == nil {
		err = s.seats.Answered(s.who)
	}
	if err != nil {
		return nil, err
	}
	said, err := s.emit(transcript.AssistantMessage, text)
	if err != nil {
		return nil, err
	}
	return &personTurn{events: []agent.Event{asked, said}, reply: agent.Reply{Text: text}}, nil
}

func (s *personSession) emit(kind transcript.Type, text string) (agent.Event, error) {
	detail, err := json.Marshal(map[string]any{"text": text})
	if err != nil {
		return agent.Event{}, err
	}
	entry, err := s.spec.Emitter.Emit(transcript.Item{Type: kind, Detail: detail})
	return agent.Event{Entry: &entry}, err
}

// answer is what was left for the seat, or what the person says now.
func (s *personSession) answer(ctx context.Context, question string) (string, error) {
	if s.said != "" {
		return s.said, nil
	}
	roster, err := s.seats.Roster()
	if err != nil {
		return "", err
	}
	sit := &sitting{personSession: s, roster: roster}
	draft, ok, err := s.seats.Draft(s.who)
	if err != nil {
		return "", err
	}
	var wrong error
	if ok {
		said, err := s.seats.Said(s.who, draft)
		if err == nil {
			return said, nil
		}
		sit.keep(draft, err)
		wrong = err
	}
	if err := s.await(); err != nil {
		return "", err
	}
	if !s.seats.here(s.who) {
		return "", s.away(wrong, nil)
	}
	sit.voice = s.voiceFor(question)
	sit.asked = s.question(question, roster, sit.at())
	if err := sit.pickUp(); err != nil {
		return "", err
	}
	said, err := sit.ask(ctx)
	if err != nil {
		return "", err
	}
	return said, sit.voice.close()
}

func (s *personSession) isGM() bool { return s.who == string(policy.GM) }

// question is what a message asks the person: a person has seen the sheet, the
// journal and the story; an agent has not.
func (s *personSession) question(message string, roster table.Roster, at desk.At) engine.Question {
	q := engine.Question{ID: s.run, Who: s.who, Title: s.name(), Alone: desk.Alone(desk.KindOf(s.who), at)}
	if s.isGM() {
		q.Title, q.Lead, q.Text, q.Lines = "Game master", gm.Gist(message, roster), "What happens?", true
		q.Hint = "An empty line ends your turn; /help says what you can do."
		return q
	}
	q.Lead, q.Text, q.Hint = gist(message)
	q.Hint = strings.TrimSpace(q.Hint + " \\ at the end of a line goes on in the next; /help says what else you can do.")
	return q
}

// gist is what a player reads of a message.
func gist(message string) (lead, request, hint string) {
	_, asked, ok := strings.Cut(message, "# The game master asks\n\n")
	if !ok {
		_, after, ok := strings.Cut(message, "\n\n")
		if strings.HasPrefix(message, "Event: ") && ok {
			message = after
		}
		return "", strings.TrimSpace(message), ""
	}
	p, err := table.ParsePrompt([]byte(asked), table.Caps{})
	if err != nil {
		return "", asked, ""
	}
	return p.Asked()
}

type personTurn struct {
	events []agent.Event
	reply  agent.Reply
}

// Next implements agent.Turn.
func (t *personTurn) Next() (agent.Event, error) {
	if len(t.events) == 0 {
		return agent.Event{}, io.EOF
	}
	e := t.events[0]
	t.events = t.events[1:]
	return e, nil
}

// Reply implements agent.Turn.
func (t *personTurn) Reply() agent.Reply { return t.reply }
