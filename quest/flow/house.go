package flow

import (
	"context"
	"encoding/json"
	"fmt"
	"sync"
	"time"

	"conclave/agent"
	"conclave/engine"
	"conclave/profile"
	"conclave/seat"
)

// Scope is the engine's scope of the quest of a workspace.
const Scope = "quest"

// Options say for whom the flows run. Root and Dress are needed.
type Options struct {
	Root string // of the workspace
	// Dress puts whoever plays p.Role into the plan of a seat. An error means
	// that nobody can: the interaction stops and stays open.
	Dress func(p *seat.Plan) error
	// Listener hears what is said, as it is said; nil means nobody does.
	Listener Listener
	// Searched hears how many bytes of named work have been looked through
	// before an evaluation; nil means nobody does.
	Searched func(done, total int64)
	// Instructions returns the person's own text for a role in place of the
	// built-in one; nil, or no text, means the built-in one.
	Instructions func(role string) ([]byte, error)
	// Trust is asked for the texts of the workspace that are used; nil means that
	// all are trusted.
	Trust Trust
	// Library is where packs are found.
	Library profile.Library
	// Granted are keys and logins of the project that the person granted by
	// name. Everything that a seat does with them in its room is stamped.
	Granted []string
	// Tools are directories with programs that checks may use.
	Tools []string
	// Scripts are the files of scripted agents, by project path: what stands in
	// one stood nowhere in the project before it was said.
	Scripts []string
	// Messages are the files, by project path, that hold what the person says: a
	// message, answers. Of such a one only what does not argue stood in the project
	// before it was said.
	Messages []string
	// Account stops what would spend more, over all seats; nil for no bound.
	Account seat.Account
	// Now is the clock, in local time; nil means time.Now.
	Now func() time.Time
}

// Trust knows which texts of a workspace the person has said yes to.
type Trust interface {
	// Vouch refuses a text that the person has not said yes to.
	Vouch(name string, text []byte) error
	// Grant is told what was written on the person's word.
	Grant(name string, text []byte) error
}

// trusted trusts everything.
type trusted struct{}

func (trusted) Vouch(string, []byte) error { return nil }
func (trusted) Grant(string, []byte) error { return nil }

// Listener hears a conversation. Calls for one face come in order; in a
// council several faces speak at once.
type Listener interface {
	// Hear is called for every event of a turn that is spoken to the person.
	Hear(face profile.Face, e agent.Event)
	// Said is called with the whole text once it is durable.
	Said(face profile.Face, text string)
	// Noted is called with a line that the face added to the quest's log, and
	// its number there, once it stands in the file.
	Noted(face profile.Face, number int, text string)
}

// House runs the flows of one workspace's quest. It owns the seats that are
// open; Close leaves them.
type House struct {
	opts  Options
	seats *seat.Set // open in this process

	hush hush
	past past

	mu      sync.Mutex
	abandon string          // why what is resumed is to end
	spoken  map[string]bool // runs whose last words the person has before them
	recall  func()          // shows the last words before a question about them
}

// New makes a house. It opens nothing.
func New(o Options) *House {
	if o.Now == nil {
		o.Now = time.Now
	}
	if o.Trust == nil {
		o.Trust = trusted{}
	}
	return &House{opts: o, seats: seat.NewSet(o.Root), spoken: map[string]bool{}}
}

// Flows are what the engine must know to run this house's interactions. Old
// versions stay for as long as an interaction of theirs may be open.
func (h *House) Flows() []engine.Flow {
	return []engine.Flow{
		flowOf("consult", 1, h.consultFirst), // without the tools of the party, which take steps only when used
		flowOf("consult", 2, h.consult),
		flowOf("council", 1, h.council),
		flowOf("debrief", 1, h.debriefFirst), // of a slain Dragon alone
		flowOf("debrief", 2, h.debrief),
		flowOf("define", 1, h.defineFirst),
		flowOf("define", 2, h.define),
		flowOf("evaluate", 1, h.evaluate),
		flowOf("move", 1, h.move),
		flowOf("setup", 1, h.setupFirst),
		flowOf("setup", 2, h.setup),
	}
}

func flowOf[I any](name string, version int, run func(*engine.Run, I) (Result, error)) engine.Flow {
	return engine.Flow{Name: name, Version: version, Run: func(r *engine.Run, input json.RawMessage) (json.RawMessage, error) {
		var in I
		if err := json.Unmarshal(input, &in); err != nil {
			return nil, fmt.Errorf("read the input of %s: %w", name, err)
		}
		result, err := run(r, in)
		if err != nil {
			return nil, err
		}
		return json.Marshal(result)
	}}
}

// Abandon makes what is resumed from now on end early, for this reason; an
// empty reason takes that back.
func (h *House) Abandon(reason string) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.abandon = reason
}

func (h *House) abandoned() string {
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.abandon
}

// Asker puts the house's own word before that of the person: in an abandoned
// interaction nobody is asked any more.
func (h *House) Asker(inner engine.Asker) engine.Asker { return asker{h, inner} }

type asker struct {
	h     *House
	inner engine.Asker
}

// abandonMark begins an answer that nobody typed. It holds a character that no
// terminal and no file of answers lets through.
const abandonMark = "\x00abandoned: "

func (a asker) Ask(ctx context.Context, q engine.Question) (string, error) {
	if why := a.h.abandoned(); why != "" {
		return abandonMark + why, nil
	}
	if a.inner == nil {
		return "", fmt.Errorf("%w: %s", engine.ErrNobody, q.Text)
	}
	a.h.mu.Lock()
	recall := a.h.recall
	a.h.recall = nil
	a.h.mu.Unlock()
	if recall != nil {
		recall()
	}
	return a.inner.Ask(ctx, q)
}

// remind notes what was said last in a conversation, before the person is asked
// for an answer: in an interaction that is resumed they have not heard it here. A
// replay asks nobody, and so shows nothing.
func (h *House) remind(run string, face profile.Face, said []string) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.recall = nil
	if l := h.opts.Listener; l != nil && !h.spoken[run] && len(said) > 0 {
		h.recall = func() {
			h.heardHere(run)
			l.Said(face, said[len(said)-1])
		}
	}
}

// heardHere notes that the person hears this conversation as it is held.
func (h *House) heardHere(run string) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.spoken[run] = true
}

// Close leaves every seat that is open; their runs can be continued.
func (h *House) Close() error { return h.seats.LeaveAll() }

func (h *House) now() time.Time { return h.opts.Now().Truncate(time.Second) }

// broke says why nothing more may be spent, or nothing.
func (h *House) broke() string {
	if h.opts.Account == nil {
		return ""
	}
	if err := h.opts.Account.Afford(); err != nil {
		return err.Error()
	}
	return ""
}
