package model

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	mrand "math/rand/v2"
	"net"
	"net/http"
	"slices"
	"strings"
	"sync"
	"time"

	"conclave/agent"
	"conclave/agent/local"
	"conclave/agent/structured"
	"conclave/gateway"
	"conclave/internal/price"
	"conclave/transcript"
)

// Config says what kind of server answers.
type Config struct {
	Kind gateway.Kind
	// Provider is what the person calls that server, and KeyEnv the variable
	// that its key comes from; for errors.
	Provider, KeyEnv string
	// Prices are the person's own; a model without a price costs nothing that
	// is known.
	Prices price.List
	// Tell takes what the person must know now; nil for nobody.
	Tell func(string)
}

// New returns an agent that asks a model of this kind.
func New(c Config) agent.Agent {
	return &maker{Config: c, wait: (*local.Turn).Wait, jitter: mrand.Float64, longest: mostStream}
}

type maker struct {
	Config
	wait   func(*local.Turn, time.Duration) error
	jitter func() float64 // from 0 to 1
	// longest bounds an answer, in bytes of its stream.
	longest int64
}

// Adapter implements agent.Agent.
func (*maker) Adapter() string { return transcript.AdapterModel }

// Start implements agent.Agent.
func (m *maker) Start(ctx context.Context, spec agent.Spec) (agent.Session, error) {
	a := local.Agent{Name: transcript.AdapterModel, New: m.converse}
	return a.Start(ctx, spec)
}

// session is one conversation with a model.
type session struct {
	*maker
	spec   agent.Spec
	api    api
	client *http.Client
	id     string
	tools  []agent.ToolOffer
	// without are parts of a request that this server does not take.
	without map[string]bool
	// most bounds the tokens of one answer, for the API that wants to be told.
	most    int
	talk    []message
	note    string // what the next message begins with
	past    int    // turns that come from the record, until that was said
	exact   bool   // as they were
	running *turn

	mu    sync.Mutex
	named string // the model, by its provider
}

// mostOutput is what every model of the last years can say in one answer; one
// that cannot tells its own bound.
const mostOutput = 8192

func (m *maker) converse(spec agent.Spec) (local.Conversation, error) {
	speaks, ok := apis[m.Kind]
	switch {
	case !ok:
		return local.Conversation{}, fmt.Errorf("start a model's session: no API is called %q", m.Kind)
	case spec.Model.Name == "":
		return local.Conversation{}, errors.New("start a model's session: say which model")
	case spec.Model.Dial == nil:
		return local.Conversation{}, errors.New("start a model's session: there is no gateway, " +
			"and a model is asked through one alone")
	}
	s := &session{
		maker: m, spec: spec, api: speaks, id: spec.Resume, tools: append(reading(spec), spec.Tools.Offers...),
		without: map[string]bool{}, most: mostOutput,
		client: &http.Client{
			Transport: &http.Transport{
				DialContext: func(ctx context.Context, _, _ string) (net.Conn, error) { return spec.Model.Dial(ctx) },
				Proxy:       nil, DisableCompression: true, MaxIdleConnsPerHost: 1,
			},
			CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
		},
	}
	if s.id == "" || spec.Fork {
		s.id = "model-" + strings.ToLower(rand.Text()[:12])
	}
	s.talk, s.note, s.exact = remembered(speaks, spec.Past)
	s.past = len(spec.Past)
	return local.Conversation{
		Answer: s.answer,
		ID:     func() string { return s.id },
		Model:  s.model,
		Close:  s.client.CloseIdleConnections,
		Cut:    func(*local.Turn) error { return s.running.cut() },
		Ended:  func(*local.Turn) { s.keep() },
	}, nil
}

// model is the name that the provider gives to who answers, or the one that was
// asked for.
func (s *session) model() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.named != "" {
		return s.named
	}
	return s.spec.Model.Name
}

func (s *session) name(model string) {
	if model == "" {
		return
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.named = model
}

// answer begins a turn.
func (s *session) answer(lt *local.Turn) error {
	form, err := structured.Of(lt.Message)
	if err != nil {
		return fmt.Errorf("ask the model: %w", err)
	}
	for _, img := range lt.Message.Images {
		if !strings.HasPrefix(img.Type, "image/") || len(img.Data) == 0 {
			return fmt.Errorf("ask the model: an attachment of type %q is no image", img.Type)
		}
	}
	t := &turn{Turn: lt, session: s, form: form, talk: slices.Clone(s.talk)}
	t.from = len(t.talk)
	t.talk = append(t.talk, message{user: &told{text: s.note + lt.Message.Text, images: lt.Message.Images}})
	if s.past > 0 {
		t.Then(t.admitPast)
	}
	t.Then(t.ask)
	s.running = t
	return nil
}

// admitPast says once that the session goes on from its record.
func (t *turn) admitPast() error {
	turns, text := t.past, "the conversation was put together again from the record, as it was"
	if !t.exact {
		text = "the conversation was put together again from the record; of some turns only what was told and said, and " +
			"the calls of the room's tools: what was read in files is not repeated"
	}
	t.past = 0
	return t.Emit(transcript.SystemEvent, map[string]any{"subtype": "resumed", "turns": turns, "text": text}, nil)
}

// keep makes the turn that has ended in order part of the conversation. One that
// has not is asked again, and is not remembered.
func (s *session) keep() { s.talk, s.note = settled(s.running.talk), "" }
