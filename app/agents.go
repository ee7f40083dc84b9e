package app

import (
	"cmp"
	"context"
	"errors"
	"slices"
	"strings"
	"time"

	"conclave/audit"
	"conclave/config"
	"conclave/policy"
	"conclave/record"
	"conclave/room"
	"conclave/seat"
)

// Played says who plays a seat, by the configuration.
type Played struct {
	Seat     string `json:"seat"`
	Agent    string `json:"agent"`
	Program  string `json:"program,omitempty"` // of one that speaks the Agent Client Protocol
	Provider string `json:"provider,omitempty"`
	Model    string `json:"model,omitempty"`
	// Login says that it is played with the person's own, at a price that nobody
	// tells.
	Login bool   `json:"login,omitempty"`
	Level string `json:"level"` // of its room; "in this process" for who needs none
	// Input and Output are what a million tokens cost in US dollars; nil where no
	// price is known, or nothing is paid.
	Input  *float64 `json:"input_usd,omitempty"`
	Output *float64 `json:"output_usd,omitempty"`
	// Keyless says that nobody is paid: a model of the person's own.
	Keyless bool `json:"keyless,omitempty"`
	// Limits of one sitting, nil for none.
	Turns  int     `json:"turns,omitempty"`
	USD    float64 `json:"usd,omitempty"`
	Tokens int64   `json:"tokens,omitempty"`
	// Missing says why it could not play now; "" when it could.
	Missing string `json:"missing,omitempty"`
}

// Agents says who plays whom. It asks nobody and starts nothing.
func (a *App) Agents() ([]Played, error) {
	w, err := a.openWorkspace()
	if err != nil {
		return nil, err
	}
	var list []Played
	for _, seat := range w.config.Seats() {
		list = append(list, w.played(seat))
	}
	return list, nil
}

func (w *workspace) played(seat string) Played {
	c := w.config.For(seat)
	p := Played{Seat: seat, Agent: c.Agent, Program: c.Program, Model: c.Model, Login: c.Login, Turns: c.Turns,
		USD: c.USD, Tokens: c.Tokens}
	actor, err := w.actor(c, seat, embeddedParty())
	switch {
	case c.Agent == "human":
		p.Level = "a person"
		return p
	case err != nil:
		p.Missing = err.Error()
	case actor.inProcess:
		p.Level = "in this process"
	}
	if p.Level == "" {
		role, _, _ := strings.Cut(seat, ".")
		p.Level = string(policy.Required(policy.Role(role)))
		if lower := w.config.Lower[role]; lower != "" {
			p.Level = lower + " (lowered)"
		}
	}
	if c.Login {
		if policyRole(seat).MayLogIn() {
			p.Level = string(room.Forwarded)
		}
		return p
	}
	if p.Provider = c.ProviderName(); p.Provider != "" {
		p.Keyless = w.config.Providers[p.Provider].Keyless()
		if price, ok := w.config.PriceList().Of(c.Model); ok {
			p.Input, p.Output = &price.Input, &price.Output
		}
	}
	return p
}

// Trial is one small turn of whoever plays a seat: what was said, in which room,
// and what it cost.
type Trial struct {
	Played Played `json:"played"`
	Answer string `json:"answer"`
	// Walls is the level of the room, Probes how many pairs of probes showed it;
	// none for who runs in this process.
	Walls   string `json:"walls,omitempty"`
	Probes  int    `json:"probes"`
	Program string `json:"program,omitempty"`
	Version string `json:"version,omitempty"`
	Model   string `json:"model,omitempty"` // as it calls itself
	// ModelInput says whether what the model was sent is on the record.
	ModelInput string   `json:"model_input"`
	Calls      int      `json:"model_calls"` // 0 where they are not observed either
	Tokens     int64    `json:"tokens"`
	USD        *float64 `json:"usd,omitempty"` // nil where no price is known
	// Estimated: an answer was cut, and what it took was never told.
	Estimated bool     `json:"estimated,omitempty"`
	Seconds   float64  `json:"seconds"`
	Stamps    []string `json:"stamps,omitempty"`
	Run       string   `json:"run"`
	Record    string   `json:"record"`
}

// trialPrompt is what is asked in a trial: an answer that costs little, and shows
// what the one who gives it sees.
const trialPrompt = "This is a trial, and nothing else is asked of you. In one or two short sentences: " +
	"say that you are here, and name the files that you can see, if there are any."

// TryAgent asks whoever plays a seat one small thing, in a room with the walls of
// that seat and nothing in it, and says what came of it.
func (a *App) TryAgent(ctx context.Context, name string) (Trial, error) {
	w, err := a.openWorkspace()
	if err != nil {
		return Trial{}, err
	}
	key, err := a.seatOf(w.config, name)
	if err != nil {
		return Trial{}, err
	}
	t := Trial{Played: w.played(key), Run: record.NewRunID(time.Now())}
	switch t.Played.Agent {
	case "offline":
		return t, noError("%s is played by the embedded party: it has no program, no model and no key to try. "+
			"Name an agent for it first (conclave doctor proposes one)", key)
	case "human", "scripted":
		return t, noError("%s is played by %s: there is nothing to try", key,
			map[string]string{"human": "a person", "scripted": "a script"}[t.Played.Agent])
	}
	actor, err := w.cast(key, nil)
	if err != nil {
		return t, err
	}
	if err := w.makePrivate(); err != nil {
		return t, err
	}
	role, _, _ := strings.Cut(key, ".")
	plan := seat.Plan{
		Run: t.Run, Role: role, PromptName: "agents.try",
		Attributes: map[string]string{"flow": "try", "quest": "none"}, Account: w.questBudget().account(),
		System: "You take a seat in a room whose walls are being tried. Answer what is asked, in a sentence or two.",
		Room: room.Plan{Level: room.Level(policy.Required(policy.Role(role))),
			Fallback: room.Level(policy.Fallback(policy.Role(role))), Outside: []string{w.root}},
	}
	actor.dress(&plan, w)
	err = w.take(ctx, plan, &t)
	return t, err
}

// take takes the one turn of a trial.
func (w *workspace) take(ctx context.Context, plan seat.Plan, t *Trial) (err error) {
	t.Record, err = record.Path(w.root, plan.Run)
	if err != nil {
		return environmentError("%w", err)
	}
	w.app.aside("Asking %s …", t.Played.Seat)
	open, err := seat.Open(ctx, plan)
	if err != nil {
		return environmentError("%w", err)
	}
	reason := "done"
	reply, err := open.Take(ctx, seat.Turn{
		ID: "trial", Parts: []audit.Part{{Origin: audit.FromEngine, Text: trialPrompt}},
	})
	if err != nil {
		reason = "failed"
	}
	closing, cancel := context.WithTimeout(context.WithoutCancel(ctx), 10*time.Second)
	defer cancel()
	_, closed := open.Close(closing, reason)
	t.Answer = reply.Text
	walls := open.Enforcement()
	t.Walls, t.Probes = string(walls.Level), len(walls.Probes)
	if receipts := open.History().Receipts(); len(receipts) > 0 {
		t.receive(receipts[len(receipts)-1])
	}
	spent, spentErr := seat.Spent(t.Record, w.config.PriceList())
	t.Tokens = spent.Tokens
	if t.Played.Input != nil {
		t.USD = &spent.USD
	}
	if err = errors.Join(err, closed, spentErr); err != nil {
		return environmentError("%s: %w", t.Played.Seat, err)
	}
	return nil
}

// receive takes over what a receipt says.
func (t *Trial) receive(r audit.Receipt) {
	t.Program, t.Version, t.Model, t.ModelInput = cmp.Or(r.Program, r.Adapter), r.Version, r.Model, r.ModelInput
	t.Calls, t.Estimated, t.Seconds, t.Stamps = r.Calls, r.Estimated, r.Ended.Sub(r.Started).Seconds(), r.Stamps
}

// seatOf is the seat that a name means: one that the configuration can name, or
// a member of the cast by the name that it wears.
func (a *App) seatOf(c config.Config, name string) (string, error) {
	if slices.Contains(c.Seats(), name) {
		return name, nil
	}
	if base, character, dotted := strings.Cut(name, "."); dotted && character != "" && slices.Contains(c.Seats(), base) {
		return name, nil
	}
	role, err := a.roleOf(name)
	return string(role), err
}
