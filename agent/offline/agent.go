package offline

import (
	"context"
	"fmt"
	"io/fs"
	"slices"
	"strings"
	"time"

	"conclave/agent"
	"conclave/agent/local"
	"conclave/internal/project"
	"conclave/internal/schema"
	"conclave/transcript"
)

// limits bound what a turn reads.
type limits struct {
	names    int   // of files in a tree
	files    int   // that are read in one turn
	bytes    int64 // that are read in one turn
	fileSize int64 // a longer text is counted and not read
	lockSize int64
}

var usual = limits{names: 200_000, files: 60_000, bytes: 128 << 20, fileSize: 1 << 20, lockSize: 4 << 20}

func (l limits) project() project.Limits {
	return project.Limits{Names: l.names, Files: l.files, Bytes: l.bytes, FileSize: l.fileSize, LockSize: l.lockSize}
}

// New returns the embedded party.
func New() agent.Agent {
	return &party{opts: usual, minds: minds(), shared: &surveys{}, now: time.Now}
}

// mind plans the steps of a turn.
type mind func(*turn) error

func minds() map[string]mind {
	all := map[string]mind{"gandalf": gandalf, "guardian": guardian, "dragon": dragon, "simon": simon}
	for _, a := range animals() {
		all[a.name] = a.answer
	}
	return all
}

type party struct {
	opts   limits
	minds  map[string]mind
	shared *surveys
	now    func() time.Time
}

// Adapter implements agent.Agent.
func (*party) Adapter() string { return transcript.AdapterOffline }

// Start implements agent.Agent.
func (p *party) Start(ctx context.Context, spec agent.Spec) (agent.Session, error) {
	a := local.Agent{Name: transcript.AdapterOffline, New: p.converse}
	return a.Start(ctx, spec)
}

func (p *party) converse(spec agent.Spec) (local.Conversation, error) {
	m, ok := p.minds[spec.Role]
	if !ok {
		return local.Conversation{}, fmt.Errorf("start an offline session: the embedded party has no %q; name another agent for this role", spec.Role)
	}
	s := &session{opts: p.opts, spec: spec, mind: m, shared: p.shared, now: p.now}
	if spec.Resume != "" {
		n, err := turnsIn(spec.Resume, spec.Role)
		if err != nil {
			return local.Conversation{}, err
		}
		s.heard = make([]exchange, n)
		for i := range s.heard {
			s.heard[i].lost = true
		}
	}
	return local.Conversation{
		Answer: s.answer,
		ID:     func() string { return sessionID(spec.Role, len(s.heard)) },
		Ended:  func(t *local.Turn) { s.heard = append(s.heard, exchange{told: s.told, said: t.Reply().Text}) },
	}, nil
}

type session struct {
	opts   limits
	spec   agent.Spec
	mind   mind
	shared *surveys
	now    func() time.Time
	calls  int
	heard  []exchange
	told   string // in the turn that runs
}

// answer lets the mind plan, as the turn's first step.
func (s *session) answer(lt *local.Turn) error {
	var form *schema.Schema
	if len(lt.Message.Schema) > 0 {
		var err error
		if form, err = schema.Compile(lt.Message.Schema); err != nil {
			return fmt.Errorf("answer offline: the schema of the answer: %w", err)
		}
	}
	past, text := readPast(lt.Message.Text)
	if len(past) > 0 {
		s.heard = past
	}
	s.told = text
	t := &turn{Turn: lt, session: s, form: form, text: text, before: slices.Clone(s.heard)}
	t.Then(func() error { return s.mind(t) })
	return nil
}

// room returns the files below dir, nil when the session has none there.
func (s *session) room(dir string) fs.FS {
	if s.spec.Files == nil {
		return nil
	}
	if info, err := fs.Stat(s.spec.Files, dir); err != nil || !info.IsDir() {
		return nil
	}
	sub, err := fs.Sub(s.spec.Files, dir)
	if err != nil {
		return nil
	}
	return sub
}

// read returns a file of the room, "" when it is not there. What is longer
// than the limit is not taken for a part of it.
func (s *session) read(name string) string {
	if s.spec.Files == nil {
		return ""
	}
	b, err := readLimited(s.spec.Files, name, s.opts.fileSize)
	if err != nil {
		return ""
	}
	return string(b)
}

// today is the day by the clock of this machine.
func (s *session) today() time.Time {
	y, m, d := s.now().Date()
	return time.Date(y, m, d, 0, 0, 0, 0, time.UTC)
}

// mode is the campaign's mode as the room says it; the default otherwise.
func (s *session) mode() string {
	if m := strings.TrimSpace(s.read("quest/mode.txt")); m != "" {
		return m
	}
	for _, m := range []string{modeBoth, modeGrow, modeShip} {
		if strings.Contains(s.spec.System, "of the mode "+m+".") {
			return m
		}
	}
	return modeBoth
}

const (
	modeGrow = "Grow"
	modeShip = "Ship"
	modeBoth = "Grow & Ship"
)
