// Package talk is a talk with a seat of a table outside of play: with a character,
// whose seat has its own view as in play, or with a game master about a campaign
// that is not there yet. It takes no lock, belongs to no cycle, and writes
// nothing but its own record, which the audit reads like any other.
package talk

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"conclave/agent"
	"conclave/audit"
	"conclave/engine"
	"conclave/internal/shingle"
	"conclave/seat"
	"conclave/table"
	"conclave/table/calls"
	"conclave/table/journal"
	"conclave/table/look"
	"conclave/table/seating"
	"conclave/table/story"
)

// Options of a talk.
type Options struct {
	Workspace, Campaign string
	Cast                seating.Cast
	Account             seat.Account // stops what would spend more; nil for no bound
	Program             string       // name and version, for the record
	Database            string       // postgres:// URL; empty means SQLite
}

// Talk is one that goes on. It is not safe for concurrent use.
type Talk struct {
	Name  string // of whoever is spoken to
	seats *seating.Seats
	seat  *seating.Seat
	open  *seat.Seat
	intro string // what stands before the first words
	n     int
}

// chatInstructions stand behind those of a player.
const chatInstructions = "\n\nThis is no turn of the game: somebody sits down with your character between two sessions, " +
	"and asks. Answer in character, in a few sentences. Nothing that is said here happens, nothing is decided, no dice " +
	"fall, and no notes are kept. You know what you know at the table and nothing else; what your character keeps to " +
	"itself it may keep to itself here."

// Chat begins a talk with a character: its seat with its own view, as in play.
func Chat(ctx context.Context, o Options, character string) (*Talk, error) {
	c, err := table.OpenCampaign(o.Workspace, o.Campaign)
	if err != nil {
		return nil, err
	}
	talk, err := o.chat(ctx, c, character)
	if err != nil {
		return nil, errors.Join(err, c.Close())
	}
	return talk, nil
}

func (o Options) chat(ctx context.Context, c *table.Campaign, character string) (*Talk, error) {
	s := o.seats()
	s.Files, s.Printer = c, shingle.NewPrinter()
	s.Watch = c.NewWatch(s.Caps, s.Printer)
	state, err := story.Load(o.Workspace, o.Campaign)
	if err != nil {
		return nil, err
	}
	roster, err := table.LoadRoster(c.Party, state.Statuses, s.Caps)
	if err != nil {
		return nil, err
	}
	ch, ok := roster.Get(character)
	if !ok {
		return nil, fmt.Errorf("%q is no character of %s", table.Clip(character, 80), o.Campaign)
	}
	view, err := c.PlayerContext(ch.Slug, nil, table.ContextOptions{Caps: s.Caps,
		Recent: heardLately(state, ch.Slug), Pending: o.pendingOf(ctx, ch.Slug)})
	if err != nil {
		return nil, err
	}
	at := s.StandIn(o.run("chat", ch.Slug), ch.Slug, view)
	at.System += chatInstructions
	intro := fmt.Sprintf("Event: chat\nCampaign: %s\nCharacter: %s\n\n%s", o.Campaign, ch.Slug, view.Text())
	return begin(ctx, &Talk{Name: ch.Name, seats: s, seat: at, intro: intro})
}

// Compose begins a talk about a campaign that is not there yet, with whoever is
// to be its game master. The room holds nothing.
func Compose(ctx context.Context, o Options, system string) (*Talk, error) {
	s := o.seats()
	return begin(ctx, &Talk{Name: "the game master", seats: s, seat: s.Composer(o.run("new"), system)})
}

func begin(ctx context.Context, k *Talk) (_ *Talk, err error) {
	if k.open, err = k.seat.Open(ctx); err != nil {
		return nil, fmt.Errorf("seat %s: %w", k.seat.Name(), err)
	}
	return k, nil
}

// seats are those of a table that nobody plays at.
func (o Options) seats() *seating.Seats {
	return &seating.Seats{Set: seat.NewSet(o.Workspace), Workspace: o.Workspace, Campaign: o.Campaign, Cast: o.Cast,
		Caps: table.Caps{}.WithDefaults(), Program: o.Program, Account: o.Account}
}

// run is the id of a talk's record; in the order of their beginning.
func (o Options) run(kind string, elem ...string) string {
	return calls.Run(o.Campaign, kind+"-"+time.Now().UTC().Format("20060102t150405")+"-"+calls.ShortID(), elem...)
}

// heardLately is what a character heard since its last journal entry.
func heardLately(s story.State, who string) string {
	var parts []string
	for _, blocks := range s.Rounds {
		if text := strings.TrimSpace(table.TextFor(blocks, who)); text != "" {
			parts = append(parts, text)
		}
	}
	return strings.Join(parts, "\n\n")
}

// pendingOf is what is on its way into a character's journal, or was parked.
func (o Options) pendingOf(ctx context.Context, who string) string {
	jobs, _ := journal.Parked(o.Workspace, o.Campaign)
	peek, err := engine.Peek(ctx, engine.Options{Dir: o.Workspace, Scope: look.Scope(o.Campaign), DatabaseURL: o.Database})
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
	if err := k.seats.Afford(); err != nil && !k.open.Free() {
		return agent.Reply{}, err
	}
	k.n++
	turn := seat.Turn{ID: fmt.Sprintf("t%d", k.n), Schema: schema, Watch: watch}
	if k.intro != "" {
		turn.Parts = append(turn.Parts, audit.Part{Origin: audit.FromEngine, Text: k.intro})
		k.intro = ""
	}
	turn.Parts = append(turn.Parts, audit.Part{Origin: audit.FromPerson, Text: words})
	if err := k.seat.Note(k.open, turn.ID); err != nil {
		return agent.Reply{}, err
	}
	ctx, cancel := context.WithTimeout(ctx, k.seats.Caps.GMTimeout)
	defer cancel()
	return k.open.Take(ctx, turn)
}

// Close ends the talk and seals its record.
func (k *Talk) Close() error {
	err := errors.Join(k.seats.Close(k.seat.Run), k.seats.Set.LeaveAll())
	if k.seats.Files != nil {
		err = errors.Join(err, k.seats.Files.Close())
	}
	return err
}
