package flow

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"path"
	"path/filepath"
	"sync"
	"sync/atomic"
	"time"

	"conclave/dice"
	"conclave/engine"
	"conclave/internal/shingle"
	"conclave/seat"
	"conclave/table"
	"conclave/table/calls"
	"conclave/table/journal"
	"conclave/table/look"
	"conclave/table/people"
	"conclave/table/rolls"
	"conclave/table/seating"
	"conclave/table/story"
)

// Options of a table. Workspace, Campaign and Cast are needed.
type Options struct {
	Workspace, Campaign string
	Cast                seating.Cast
	Asker               engine.Asker // nil: nobody is here
	// Here says whether Asker reaches the person of a seat: "gm", a character. A
	// question for anybody else is not put to it: it waits for that person. Nil:
	// nobody. Asker is called for several seats at once.
	Here func(seat string) bool
	// Apart says whether the people of these seats sit at screens of their own and
	// are asked at once; nil: they are asked one after the other.
	Apart func(seats []string) bool
	// Mine says whether all who are told of an error sit in a seat, so that it may
	// say what is that seat's alone; nil: nobody does.
	Mine func(seat string) bool
	// Voice is who finds words for what the person of a seat types, and nil where
	// nobody does, or nobody could read the words before they are said; nil: nobody
	// anywhere.
	Voice           func(character string) (*seating.Actor, error)
	Auto            bool // decide without a person where there is a way
	Caps            table.Caps
	Guard           table.GuardSettings
	GMReadsJournals bool
	// Keep makes save points of the table's own: when a scene has begun, and when
	// a session has ended.
	Keep bool
	// Account stops what would spend more, over all seats; nil for no bound.
	Account seat.Account
	// Show sees what happens, as it happens: for screens, which show each
	// seat what View gives it. It is called by one goroutine at a time.
	Show func(Notice)

	JournalWait time.Duration // for a player's own pending entries [20s]
	DrainWait   time.Duration // for journals at the end of a session [120s]
	Backoff     time.Duration // between attempts at a journal entry [1s]

	Wait     bool   // for the lock
	Purpose  string // tells others why the lock is held
	Program  string // name and version, for records
	RoomBase string
	Database string // postgres:// URL; empty means SQLite

	TestSeed *dice.Seed
	// Crash, for tests, is called around every step and every change.
	Crash func(label string)
}

// Table is an open campaign: the only writer of its files.
type Table struct {
	opts     Options
	caps     table.Caps
	campaign *table.Campaign
	watch    *table.Watch
	engine   *engine.Engine
	journals *journal.Book
	seats    *seating.Seats
	dice     *rolls.Dice
	people   *people.Seats
	slots    chan struct{} // players and journal keepers that may be asked at once

	mu    sync.Mutex
	state story.State
	given int      // the highest number that an event was given here
	unfit []string // files of party/ that are nobody's seat, as far as that was told

	showing sync.Mutex

	life       context.Context // ends when the table is closed
	end        context.CancelFunc
	background sync.WaitGroup // journals that are resumed or retried
	cut        atomic.Bool    // an interaction was cut in this process
}

// Open takes the lock of a campaign and opens it. It starts nobody.
func Open(ctx context.Context, o Options) (*Table, error) {
	if err := table.CheckSlug(o.Campaign); err != nil {
		return nil, fmt.Errorf("campaign %w", err)
	}
	o.JournalWait = cmp.Or(o.JournalWait, 20*time.Second)
	o.DrainWait = cmp.Or(o.DrainWait, 120*time.Second)
	o.Backoff = cmp.Or(o.Backoff, time.Second)
	abs, err := filepath.Abs(o.Workspace)
	if err != nil {
		return nil, err
	}
	o.Workspace = abs
	if _, err := os.Stat(filepath.Join(o.Workspace, "campaigns", o.Campaign)); err != nil {
		return nil, fmt.Errorf("open campaign %s: %w", o.Campaign, err)
	}
	t := &Table{opts: o, caps: o.Caps.WithDefaults()}
	t.slots = make(chan struct{}, t.caps.Parallel)
	t.dice = &rolls.Dice{Workspace: o.Workspace, Campaign: o.Campaign, TestSeed: o.TestSeed,
		Stood: func() *dice.Mark { return t.snapshot().Dice }}
	t.life, t.end = context.WithCancel(context.Background())
	err = dice.CheckVersion(rolls.File(o.Workspace, o.Campaign)) // before anything is changed, not at the first roll
	if err == nil {
		err = t.openEngine(ctx)
	}
	if err != nil {
		t.end()
		return nil, err
	}
	if t.campaign, err = table.OpenCampaign(o.Workspace, o.Campaign); err == nil {
		t.seat()
		_, err = t.campaign.Sweep()
	}
	if err == nil {
		if t.state, err = story.Load(o.Workspace, o.Campaign); err == nil {
			t.journals, err = openJournals(t)
		}
	}
	if err != nil {
		return nil, errors.Join(err, t.Close())
	}
	return t, nil
}

func (t *Table) openEngine(ctx context.Context) (err error) {
	o := t.opts
	t.engine, err = engine.Open(ctx, engine.Options{
		Dir: o.Workspace, Scope: look.Scope(o.Campaign), Wait: o.Wait, Purpose: o.Purpose, Asker: o.Asker,
		DatabaseURL: o.Database, CrashPoint: o.Crash,
		Flows: []engine.Flow{
			{Name: flowCycle, Version: 1, Run: t.runFirst},
			{Name: flowCycle, Version: 2, Run: t.runCycle},
			{Name: flowJournal, Version: 1, Run: t.runJournal},
			{Name: flowNote, Version: 1, Run: t.runNote},
			{Name: flowEnd, Version: 1, Run: t.runEnd},
			{Name: flowRename, Version: 1, Run: t.runRename},
			{Name: flowRestore, Version: 1, Run: t.runRestore},
			{Name: flowSave, Version: 1, Run: t.runSave},
			{Name: flowFork, Version: 1, Run: t.runFork},
		},
	})
	return err
}

// renew gives the table a new engine after an interaction was cut in this
// process: what waits in the old one ends with it, as if the process had died.
func (t *Table) renew(ctx context.Context) error {
	if !t.cut.Swap(false) {
		return nil
	}
	t.end()
	if err := t.engine.Close(); err != nil {
		return err
	}
	t.background.Wait()
	if err := t.seats.Set.LeaveAll(); err != nil {
		return err
	}
	t.life, t.end = context.WithCancel(context.Background())
	if err := t.openEngine(ctx); err != nil {
		return err
	}
	var err error
	t.journals, err = openJournals(t)
	return err
}

// noteCut remembers that an interaction was cut.
func (t *Table) noteCut(err error) error {
	var cut *engine.CutError
	if errors.As(err, &cut) {
		t.cut.Store(true)
	}
	return err
}

// Close stops what runs, leaving it open, and frees the lock.
func (t *Table) Close() error {
	t.end()
	errs := []error{t.engine.Close()}
	t.background.Wait()
	errs = append(errs, t.dice.Close())
	if t.campaign != nil {
		errs = append(errs, t.seats.Set.LeaveAll(), t.campaign.Close())
	}
	return errors.Join(errs...)
}

// The names of the flows, as they are recorded.
const (
	flowCycle   = "cycle"
	flowJournal = journal.Flow
	flowNote    = "note"
	flowEnd     = "end"
	flowRename  = "rename"
	flowRestore = "restore"
	flowSave    = "save"
	flowFork    = "fork"
)

// Campaign is the open campaign.
func (t *Table) Campaign() *table.Campaign { return t.campaign }

// Dice are those of the table.
func (t *Table) Dice() *rolls.Dice { return t.dice }

// People are those at the table.
func (t *Table) People() *people.Seats { return t.people }

// seat prepares the seats of the table.
func (t *Table) seat() {
	o, printer := t.opts, shingle.NewPrinter()
	t.watch = t.campaign.NewWatch(t.caps, printer)
	t.people = &people.Seats{Campaign: t.campaign, Caps: t.caps, Asker: o.Asker, Here: o.Here, Mine: o.Mine,
		Roster: t.roster, State: t.snapshot, Roll: t.Roll,
		Tell: func(seat, text string) { t.show(Notice{Kind: "kept", To: seat, Text: text}) },
		Played: func(r table.Roster) (map[string]string, error) {
			played, _, err := t.seats.Seating(r)
			return played, err
		}}
	t.seats = &seating.Seats{Set: seat.NewSet(o.Workspace), Workspace: o.Workspace, Campaign: o.Campaign, Files: t.campaign,
		Caps: t.caps, Cast: o.Cast, Program: o.Program, RoomBase: o.RoomBase, Account: o.Account,
		GMReadsJournals: o.GMReadsJournals, Watch: t.watch, Printer: printer, People: t.people, Crash: t.crash,
		Away: func(who string) bool {
			_, away := t.snapshot().Away[who]
			return away
		},
		Thinks: func() func() { return t.slowly(Notice{Kind: "slow", Text: "The game master thinks."}) },
		Voice:  o.Voice,
		Finds: func(who string) func() {
			return t.slowly(Notice{Kind: "slow", To: who, Text: "Words are being found for it."})
		},
	}
}

func (t *Table) crash(label string) {
	if t.opts.Crash != nil {
		t.opts.Crash(label)
	}
}

// private is a path of the table's own state, below the workspace.
func (t *Table) private(elem ...string) string {
	return path.Join(append([]string{".conclave", "tables", t.opts.Campaign}, elem...)...)
}

// file is a path of the campaign, below the workspace.
func (t *Table) file(name string) string { return path.Join("campaigns", t.opts.Campaign, name) }

// shown is a path as a person reads it, from the workspace on.
func (t *Table) shown(file string) string {
	if rel, err := filepath.Rel(t.opts.Workspace, file); err == nil {
		return filepath.ToSlash(rel)
	}
	return file
}

func (t *Table) snapshot() story.State {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.state
}

// applied notes an event that is on the disk. Replays note it again.
func (t *Table) applied(e story.Event) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if !t.state.Has(e.Seq) {
		t.state.Apply(e)
	}
}

// roster reads the party as it is now.
func (t *Table) roster() (table.Roster, error) {
	s := t.snapshot()
	return table.LoadRoster(t.campaign.Party, s.Statuses, t.caps)
}

// Party is the party as it is now; nobody, where it cannot be read.
func (t *Table) Party() table.Roster {
	r, err := t.roster()
	if err != nil {
		return table.Roster{}
	}
	return r
}

// Called is how people call who sits in a seat.
func (t *Table) Called(seat string) string { return t.Party().Called(seat) }

// Notice is something for a screen.
type Notice struct {
	Kind   string // scene, narrative, recap, waiting, pause, note, commitment, slow, left
	Cycle  int
	Blocks []table.Block // of a narrative; show each seat its own
	Past   story.Past    // of a recap, of which each seat knew its part
	Names  []string      // of waiting
	Text   string
	Others string // of a note: what seats other than the game master's read
	To     string // the one seat that it is for; "" for all of them
	Again  bool   // it was told before, with its cycle

	called func(seat string) string // how people call who sits there
}

func (t *Table) show(n Notice) {
	if t.opts.Show == nil {
		return
	}
	n.called = t.Called
	t.showing.Lock()
	defer t.showing.Unlock()
	t.opts.Show(n)
}

// runID is the id of a record.
func (t *Table) runID(interaction string, elem ...string) string {
	return calls.Run(t.opts.Campaign, interaction, elem...)
}
