package flow

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"conclave/agent"
	"conclave/engine"
	"conclave/policy"
	"conclave/table"
	"conclave/table/desk"
	"conclave/table/gm"
	"conclave/transcript"
	"conclave/workspace"
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

// errLeft says that the person who was to answer has left. What was open stays
// open.
var errLeft = errors.New("the person has left the table")

// person is an agent whose words come from a draft that was left for it, or
// from whoever sits at the screen. It is on the record like any other.
type person struct {
	t   *Table
	who string // the seat
	run string
	// private: what is asked is between this person and the GM; nobody else
	// learns that there is a question.
	private bool
}

// here says whether the person of the seat can be asked now.
func (p *person) here() bool {
	return p.t.here(p.who)
}

// away is what is said when not.
func (p *person) away(wrong, left error) error {
	e := &AwayError{Who: p.who, Wrong: wrong, campaign: p.t.opts.Campaign, name: p.name(), left: left,
		mine: p.t.opts.Mine != nil && p.t.opts.Mine(p.who)}
	if p.private && !e.mine && (p.t.opts.Mine == nil || !p.t.opts.Mine(string(policy.GM))) {
		e.Who, e.Wrong = "", nil
	}
	return e
}

// name is how people call whoever sits here.
func (p *person) name() string {
	if p.who == string(policy.GM) {
		return "the game master"
	}
	roster, err := p.t.roster()
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
		err = s.t.answered(s.who)
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
	roster, err := s.t.roster()
	if err != nil {
		return "", err
	}
	sit := &sitting{personSession: s, roster: roster, asked: s.question(question, roster)}
	draft, ok, err := s.t.takeDraft(s.who)
	if err != nil {
		return "", err
	}
	var wrong error
	if ok {
		said, err := s.t.asSaid(s.who, draft)
		if err == nil {
			return said, nil
		}
		sit.keep(draft, err)
		wrong = err
	}
	if err := s.await(); err != nil {
		return "", err
	}
	if !s.here() {
		return "", s.away(wrong, nil)
	}
	return sit.ask(ctx)
}

func (s *personSession) isGM() bool { return s.who == string(policy.GM) }

// question is what a message asks the person: a person has seen the sheet, the
// journal and the story; an agent has not.
func (s *personSession) question(message string, roster table.Roster) engine.Question {
	q := engine.Question{ID: s.run, Who: s.who, Title: s.name(), Alone: desk.Alone(desk.KindOf(s.who), desk.Asked)}
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

func draftPath(workspace, campaign, who string) string {
	return filepath.Join(table.PrivatePath(workspace, campaign), "drafts", who+".md")
}

// LeaveDraft keeps a person's answer for the barrier; until then it can be
// written again. It takes no lock: the seat of a person is that person's. who
// must be a seat: "gm" or a slug of the roster.
func LeaveDraft(workspace, campaign, who, text string) error {
	file := draftPath(workspace, campaign, who)
	if err := os.MkdirAll(filepath.Dir(file), 0o700); err != nil {
		return err
	}
	dir, err := table.OpenDir(filepath.Dir(file))
	if err != nil {
		return err
	}
	return errors.Join(dir.Write(filepath.Base(file), []byte(text)), dir.Close())
}

// HasDraft says whether an answer of a person waits for a seat.
func HasDraft(workspace, campaign, who string) bool {
	_, err := os.Lstat(draftPath(workspace, campaign, who))
	return err == nil
}

// takeDraft reads the draft of a seat. It is removed when the answer is in the
// cycle, not before: a kill between the two must not lose a person's words.
func (t *Table) takeDraft(who string) (string, bool, error) {
	data, err := workspace.ReadOwn(draftPath(t.opts.Workspace, t.opts.Campaign, who), workspace.MaxFile)
	if errors.Is(err, fs.ErrNotExist) {
		return "", false, nil
	}
	return string(data), err == nil, err
}

// dropDraft removes the draft of a seat, if it is the one that was answered: what
// the person has left since is for the next question.
func (t *Table) dropDraft(who, answered string) error {
	text, ok, err := t.takeDraft(who)
	if err != nil || !ok {
		return err
	}
	if said, err := t.asSaid(who, text); text != answered && (err != nil || said != answered) {
		return nil
	}
	err = os.Remove(draftPath(t.opts.Workspace, t.opts.Campaign, who))
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	return err
}
