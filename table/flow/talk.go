package flow

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"conclave/agent"
	"conclave/audit"
	"conclave/engine"
	"conclave/internal/shingle"
	"conclave/policy"
	"conclave/seat"
	"conclave/table"
	"conclave/table/calls"
	"conclave/table/journal"
	"conclave/table/look"
	"conclave/table/story"
)

// Talk is a talk with a seat outside of play. It takes no lock, belongs to no
// cycle, and writes nothing but its own record, which the audit reads like any
// other. It is not safe for concurrent use.
type Talk struct {
	Name string // of whoever is spoken to
	t    *Table
	open *seat.Seat
	seat *tableSeat
	intr string // what stands before the first words
	n    int
}

// chatInstructions stand behind those of a player.
const chatInstructions = "\n\nThis is no turn of the game: somebody sits down with your character between two sessions, " +
	"and asks. Answer in character, in a few sentences. Nothing that is said here happens, nothing is decided, no dice " +
	"fall, and no notes are kept. You know what you know at the table and nothing else; what your character keeps to " +
	"itself it may keep to itself here."

// Chat begins a talk with a character: its seat with its own view, as in play.
func Chat(ctx context.Context, o Options, character string) (*Talk, error) {
	t, err := lookOnly(o)
	if err != nil {
		return nil, err
	}
	talk, err := t.chat(ctx, character)
	if err != nil {
		return nil, errors.Join(err, t.campaign.Close())
	}
	return talk, nil
}

// lookOnly is a table that nobody plays at.
func lookOnly(o Options) (*Table, error) {
	c, err := table.OpenCampaign(o.Workspace, o.Campaign)
	if err != nil {
		return nil, err
	}
	t := &Table{opts: o, caps: o.Caps.WithDefaults(), campaign: c, printer: shingle.NewPrinter(),
		seats: seat.NewSet(o.Workspace)}
	t.watch = c.NewWatch(t.caps, t.printer)
	t.seatPeople()
	t.state, err = story.Load(o.Workspace, o.Campaign)
	if err != nil {
		return nil, errors.Join(err, c.Close())
	}
	return t, nil
}

func (t *Table) chat(ctx context.Context, character string) (*Talk, error) {
	roster, err := t.roster()
	if err != nil {
		return nil, err
	}
	ch, ok := roster.Get(character)
	if !ok {
		return nil, fmt.Errorf("%q is no character of %s", table.Clip(character, 80), t.opts.Campaign)
	}
	view, err := t.campaign.PlayerContext(ch.Slug, nil, table.ContextOptions{Caps: t.caps,
		Recent: t.heardLately(ch.Slug), Pending: t.pendingOf(ctx, ch.Slug)})
	if err != nil {
		return nil, err
	}
	s := &tableSeat{t: t, run: t.runID("chat-"+talkID(), ch.Slug),
		role: policy.Player, who: ch.Slug, about: view.Sources,
		actor: func() (Actor, error) { return t.opts.Cast(policy.Player, ch.Slug, true) },
		furnish: func(p *seat.Plan) error {
			err := t.furnishPlayer(p, ch.Slug, view)
			p.System += chatInstructions
			return err
		},
	}
	intro := fmt.Sprintf("Event: chat\nCampaign: %s\nCharacter: %s\n\n%s", t.opts.Campaign, ch.Slug, view.Text())
	return t.talk(ctx, s, ch.Name, intro)
}

// Compose begins a talk about a campaign that is not there yet, with whoever is
// to be its game master. The room holds nothing.
func Compose(ctx context.Context, o Options, system string) (*Talk, error) {
	t := &Table{opts: o, caps: o.Caps.WithDefaults(), seats: seat.NewSet(o.Workspace)}
	s := &tableSeat{t: t, run: t.runID("new-" + talkID()), role: policy.GM,
		actor:   func() (Actor, error) { return o.Cast(policy.GM, "", false) },
		furnish: func(p *seat.Plan) error { p.System = system; return nil },
	}
	return t.talk(ctx, s, "the game master", "")
}

// talkID tells talks apart, in the order of their beginning.
func talkID() string { return time.Now().UTC().Format("20060102t150405") + "-" + shortID() }

func (t *Table) talk(ctx context.Context, s *tableSeat, name, intro string) (*Talk, error) {
	open, err := t.seats.Open(ctx, s.run, s.plan)
	if err != nil {
		return nil, fmt.Errorf("seat %s: %w", s.seatName(), err)
	}
	return &Talk{Name: name, t: t, open: open, seat: s, intr: intro}, nil
}

// heardLately is what a character heard since its last journal entry.
func (t *Table) heardLately(who string) string {
	var parts []string
	for _, blocks := range t.state.Rounds {
		if text := strings.TrimSpace(table.TextFor(blocks, who)); text != "" {
			parts = append(parts, text)
		}
	}
	return strings.Join(parts, "\n\n")
}

// pendingOf is what is on its way into a character's journal, or was parked.
func (t *Table) pendingOf(ctx context.Context, who string) string {
	jobs, _ := journal.Parked(t.opts.Workspace, t.opts.Campaign)
	peek, err := engine.Peek(ctx, engine.Options{Dir: t.opts.Workspace, Scope: look.Scope(t.opts.Campaign),
		DatabaseURL: t.opts.Database})
	if err == nil {
		for _, i := range peek.Open {
			if job, ok := journal.JobOf(i.Flow, i.Input); ok {
				jobs = append(jobs, job)
			}
		}
	}
	var parts []string
	for _, j := range jobs {
		if j.Character == who {
			parts = append(parts, strings.TrimSpace(string(j.Narrative)+"\n\n"+j.Private))
		}
	}
	return strings.Join(parts, "\n\n")
}

// Say says something and returns the answer. A schema asks for a structured one.
func (k *Talk) Say(ctx context.Context, words string, schema []byte, watch func(agent.Event)) (agent.Reply, error) {
	if err := k.t.afford(); err != nil && !k.open.Free() {
		return agent.Reply{}, err
	}
	k.n++
	turn := seat.Turn{ID: fmt.Sprintf("t%d", k.n), Schema: schema, Watch: watch}
	if k.intr != "" {
		turn.Parts = append(turn.Parts, audit.Part{Origin: audit.FromEngine, Text: k.intr})
		k.intr = ""
	}
	turn.Parts = append(turn.Parts, audit.Part{Origin: audit.FromPerson, Text: words})
	sources := calls.Sources{Turn: turn.ID, Role: string(k.seat.role), Character: k.seat.who, Sources: k.seat.about}
	if err := sources.Note(k.open); err != nil {
		return agent.Reply{}, err
	}
	ctx, cancel := context.WithTimeout(ctx, cmp.Or(k.seat.timeout, k.t.caps.GMTimeout))
	defer cancel()
	return k.open.Take(ctx, turn)
}

// Close ends the talk and seals its record.
func (k *Talk) Close() error {
	err := errors.Join(k.t.closeSeat(k.seat.run), k.t.seats.LeaveAll())
	if k.t.campaign != nil {
		err = errors.Join(err, k.t.campaign.Close())
	}
	return err
}
