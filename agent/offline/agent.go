package offline

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"slices"
	"strings"
	"sync"

	"conclave/agent"
	"conclave/transcript"
)

// Options bound what a session reads. The zero value works.
type Options struct {
	MaxFiles    int   // files that are looked at in one turn [20000]
	MaxBytes    int64 // bytes that are read in one turn [64 MiB]
	MaxFileSize int64 // a longer text is counted and not read [1 MiB]
}

func (o Options) withDefaults() Options {
	if o.MaxFiles <= 0 {
		o.MaxFiles = 20_000
	}
	if o.MaxBytes <= 0 {
		o.MaxBytes = 64 << 20
	}
	if o.MaxFileSize <= 0 {
		o.MaxFileSize = 1 << 20
	}
	return o
}

// New returns the embedded party.
func New(o Options) agent.Agent {
	return &party{opts: o.withDefaults(), minds: minds()}
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
	opts  Options
	minds map[string]mind
}

// Adapter implements agent.Agent.
func (*party) Adapter() string { return transcript.AdapterOffline }

// Start implements agent.Agent.
func (p *party) Start(ctx context.Context, spec agent.Spec) (agent.Session, error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	if spec.Emitter == nil {
		return nil, errors.New("start an offline session: no emitter: what cannot be recorded does not happen")
	}
	m, ok := p.minds[spec.Role]
	if !ok {
		return nil, fmt.Errorf("start an offline session: the embedded party has no %q; name another agent for this role", spec.Role)
	}
	s := &session{opts: p.opts, spec: spec, mind: m, stopped: make(chan struct{})}
	if spec.Resume != "" {
		n, err := turnsIn(spec.Resume, spec.Role)
		if err != nil {
			return nil, err
		}
		s.heard = make([]exchange, n)
		for i := range s.heard {
			s.heard[i].lost = true
		}
	}
	return s, nil
}

type session struct {
	opts  Options
	spec  agent.Spec
	mind  mind
	calls int

	mu      sync.Mutex
	busy    bool
	heard   []exchange
	once    sync.Once
	stopped chan struct{}
}

// Info implements agent.Session.
func (s *session) Info() agent.Info {
	s.mu.Lock()
	defer s.mu.Unlock()
	return agent.Info{Adapter: transcript.AdapterOffline, Version: "1", SessionID: sessionID(s.spec.Role, len(s.heard)), Model: "none"}
}

// Stop implements agent.Session.
func (s *session) Stop(context.Context) error {
	s.once.Do(func() { close(s.stopped) })
	return nil
}

// Send implements agent.Session.
func (s *session) Send(ctx context.Context, m agent.Message) (agent.Turn, error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	select {
	case <-s.stopped:
		return nil, agent.ErrStopped
	default:
	}
	if s.busy {
		return nil, agent.ErrBusy
	}
	t := &turn{session: s, message: m, cancel: func() {}, interrupted: make(chan struct{})}
	t.ctx = ctx
	if s.spec.Limits.Wall > 0 {
		t.ctx, t.cancel = context.WithTimeout(ctx, s.spec.Limits.Wall)
	}
	if err := t.emit(transcript.UserMessage, map[string]any{"text": m.Text}); err != nil {
		t.cancel()
		return nil, err
	}
	past, text := readPast(m.Text)
	if len(past) > 0 {
		s.heard = past
	}
	t.text, t.before = text, slices.Clone(s.heard)
	t.then(func() error { return s.mind(t) })
	s.busy = true
	return t, nil
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
	b, err := readLimited(s.spec.Files, name, s.opts.MaxFileSize)
	if err != nil {
		return ""
	}
	return string(b)
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
