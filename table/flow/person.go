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
	"slices"
	"strings"

	"conclave/agent"
	"conclave/engine"
	"conclave/policy"
	"conclave/table"
	"conclave/table/gm"
	"conclave/transcript"
	"conclave/workspace"
)

// errAway: a person is to answer and is not here. The cycle stays open.
var errAway = errors.New("a person is to answer")

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
	return p.t.opts.Asker != nil && slices.Contains(p.t.opts.Here, p.who)
}

// away is what is said when not. It is said to whoever is here instead: what
// the person had left, and that a secret is asked for, is no business of theirs.
func (p *person) away(wrong error) error {
	campaign, who := p.t.opts.Campaign, p.who
	mine := slices.Contains(p.t.opts.Here, who)
	if p.private && !mine && !slices.Contains(p.t.opts.Here, string(policy.GM)) {
		return fmt.Errorf("%w, at another terminal: `conclave table resume %s --as NAME` there", errAway, campaign)
	}
	how := fmt.Sprintf("Answer with `conclave table say %s --as %s TEXT`, "+
		"then `conclave table resume %[1]s --as %[2]s`", campaign, who)
	switch {
	case wrong != nil && mine:
		return fmt.Errorf("%w: %s: %w. %s", errAway, who, wrong, how)
	case wrong != nil:
		return fmt.Errorf("%w: %s, and what was left there cannot be read. %s", errAway, who, how)
	case !mine:
		return fmt.Errorf("%w: %s, at another terminal or later at this one. %s", errAway, who, how)
	}
	return fmt.Errorf("%w: %s. %s", errAway, who, how)
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
	q := engine.Question{ID: s.run, Who: s.who, Text: "— " + s.who + " —\n" + gist(question)}
	if s.isGM() {
		q.Lines = true
		q.Text = "— game master —\n" + gm.Gist(question) + "\n(An empty line ends your turn; /help says what you can do.)"
	}
	var wrong error // with the draft
	draft, ok, err := s.t.takeDraft(s.who)
	if err != nil {
		return "", err
	}
	if ok {
		said, err := s.words(draft)
		if err == nil {
			return said, nil
		}
		q.Text, wrong = err.Error(), err
	}
	if !s.here() {
		return "", s.away(wrong)
	}
	return s.ask(ctx, q)
}

// ask puts the question until there is an answer that can be taken.
func (s *personSession) ask(ctx context.Context, q engine.Question) (string, error) {
	s.t.asking.Lock()
	defer s.t.asking.Unlock()
	for {
		text, err := s.t.opts.Asker.Ask(ctx, q)
		if err != nil {
			return "", fmt.Errorf("%w: %s: %w", errAway, s.who, err)
		}
		switch line := strings.TrimSpace(text); {
		case line == "/quit":
			return "", fmt.Errorf("%w: %s: %w", errAway, s.who, errLeft)
		case line == "/help" && s.isGM():
			q.Text = gm.Help
			continue
		case line == "" && s.isGM():
			q.Text = "Nothing was said. What happens? (/help, or /quit)"
			continue
		}
		said, err := s.words(text)
		if err == nil {
			return said, nil
		}
		q.Text = err.Error()
	}
}

func (s *personSession) isGM() bool { return s.who == string(policy.GM) }

// words are what the person typed as the table takes it.
func (s *personSession) words(text string) (string, error) {
	if s.isGM() {
		return s.t.gmWords(text)
	}
	return text, nil
}

// gist is what a person needs to read of a message: a person has seen the
// sheet, the journal and the story; an agent has not.
func gist(message string) string {
	_, asked, ok := strings.Cut(message, "# The game master asks\n\n")
	if !ok {
		return message
	}
	p, err := table.ParsePrompt([]byte(asked), table.Caps{})
	if err != nil {
		return asked
	}
	return p.Gist()
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

func (t *Table) dropDraft(who string) error {
	err := os.Remove(draftPath(t.opts.Workspace, t.opts.Campaign, who))
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	return err
}
