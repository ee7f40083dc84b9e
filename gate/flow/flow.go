package flow

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"os"
	"slices"
	"strconv"
	"sync"
	"time"

	"conclave/gate"
	"conclave/internal/shingle"
	"conclave/policy"
	"conclave/quest"
	"conclave/quest/judging"
	"conclave/receipt"
	"conclave/record"
	"conclave/seat"
	"conclave/transcript"
)

// atOnce is how many judges are asked at the same time.
const atOnce = 3

// Options say what is judged, and by whom. All but those of which it is said are
// needed.
type Options struct {
	Root    string // of the workspace, which holds the records
	Program string // name and version of this program

	Case     gate.Case         // with its digest
	Criteria []quest.Criterion // of the case, as they are judged; none for the Guardian
	Work     *quest.Work
	Change   []byte // what was changed to come to the work; nil where nobody asks

	// Material is what may be here of a quest. Nothing of it is given.
	Material quest.Material
	// Quest is how records name that quest.
	Quest string
	// Instructions is the text that is in place of the built-in one; nil for none.
	Instructions []byte
	// Dress puts the n-th judge into the plan of its seat, and says which kind of
	// provider its model has, if any.
	Dress func(n int, p *seat.Plan) (provider string, err error)
	// Vouch refuses the command of a check that the person has not said yes to.
	Vouch func(name string, command []byte) error
	Tools []string // directories with programs that checks may use
	// AcceptContext goes on although passages of withheld sources were found; the
	// receipt says so.
	AcceptContext bool
	Stamps        []string     // that the receipt says besides
	Account       seat.Account // that the judges share; nil for no bound

	Stream *transcript.Stream // of what is recorded; nil for none
	Tell   func(Progress)     // how far it is; nil for nobody
	Now    func() time.Time   // the clock; nil means time.Now
}

// Progress says that a step of a gate begins.
type Progress struct {
	Criterion int // whose check is run, or
	Judge     int // who is asked, or, with Done,
	Done      bool
}

// role is whose seat the judges have.
func (o *Options) role() policy.Role { return policy.Role(o.Case.Role) }

// Examine searches everything that the judges would get for the party's
// reasoning. It returns what must stand on the receipt; a *quest.LeakError is a
// refusal to judge.
func (o *Options) Examine() ([]string, error) {
	stamps := slices.Concat(o.Stamps, o.Work.Stamps())
	key := make([]byte, shingle.KeySize)
	if _, err := rand.Read(key); err != nil {
		return nil, err
	}
	var told []quest.NamedText
	if len(o.Instructions) > 0 {
		told = append(told, quest.NamedText{Name: ".campaign/instructions/" + o.Case.Role + ".md", Data: o.Instructions})
	}
	err := quest.Preflight(key, o.grants(nil), o.Work, told...)
	var leak *quest.LeakError
	if errors.As(err, &leak) && o.AcceptContext {
		return append(stamps, leak.Stamp()), nil
	}
	return stamps, err
}

// grants are what a judge is given and what not.
func (o *Options) grants(checks []byte) quest.Grants {
	m := o.Material
	m.Profiles = nil // nobody wears a character before a gate
	m.Stage, m.Expectation, m.Checks = "", o.Case.Expect, checks
	m.Asked = &quest.Asked{Criteria: o.Criteria, Change: o.Change, Agreed: o.Case.Criteria.Origin == gate.OfQuest}
	return quest.Grant(o.role(), m)
}

// Run judges the case and makes its receipt, signed by nobody. An error says that
// there is none: nothing was decided.
func Run(ctx context.Context, o Options) (*receipt.Receipt, error) {
	if o.Now == nil {
		o.Now = time.Now
	}
	stamps, err := o.Examine()
	if err != nil {
		return nil, err
	}
	g := &run{Options: o, id: record.NewRunID(o.Now()), seats: seat.NewSet(o.Root)}
	g.body = receipt.Body{Program: o.Program, Case: o.Case, Stamps: stamps,
		Checks: []receipt.Check{}, Judges: []receipt.Judge{}}
	if err := g.open(); err != nil {
		return nil, err
	}
	if err := g.judge(ctx); err != nil {
		return nil, errors.Join(err, g.seats.LeaveAll(), g.abandon(ctx))
	}
	return g.close()
}

// run is a gate at work.
type run struct {
	Options
	id    string
	seats *seat.Set
	body  receipt.Body

	mu      sync.Mutex // judges speak at the same time
	writer  *record.Writer
	emitter *transcript.Emitter

	checks []quest.CheckResult
}

func (g *run) judge(ctx context.Context) error {
	if err := g.note(eventCase, "case", g.Case); err != nil {
		return err
	}
	if err := g.runChecks(ctx); err != nil {
		return err
	}
	if err := g.ask(ctx); err != nil {
		return err
	}
	return g.decide()
}

// runChecks runs the criteria's own checks, once for all judges.
func (g *run) runChecks(ctx context.Context) error {
	k := judging.Checker{Outside: []string{g.Root}, Tools: g.Tools, Vouch: g.Vouch,
		Begins: func(n int) { g.tell(Progress{Criterion: n}) }}
	checks, err := k.Run(ctx, g.Criteria, g.Work)
	if err != nil {
		return err
	}
	g.checks = judging.Results(checks)
	for _, c := range checks {
		i := slices.IndexFunc(g.Criteria, func(k quest.Criterion) bool { return k.Number == c.Number })
		one := receipt.Check{Number: c.Number, Command: g.Criteria[i].Check, State: string(c.State), Note: c.Note,
			Level: string(c.Level)}
		g.body.Checks = append(g.body.Checks, one)
		if err := g.note(eventCheck, "check", one); err != nil {
			return err
		}
	}
	return nil
}

// ask asks the judges, a few at the same time.
func (g *run) ask(ctx context.Context) error {
	judges := make([]receipt.Judge, g.Case.N)
	errs := make([]error, g.Case.N)
	places := make(chan struct{}, atOnce)
	var all sync.WaitGroup
	for i := range judges {
		places <- struct{}{}
		all.Go(func() {
			defer func() { <-places }()
			if errs[i] = ctx.Err(); errs[i] != nil {
				return
			}
			g.tell(Progress{Judge: i + 1})
			judges[i], errs[i] = g.askOne(ctx, i+1)
			g.tell(Progress{Judge: i + 1, Done: true})
		})
	}
	all.Wait()
	if err := errors.Join(append(errs, ctx.Err())...); err != nil {
		return err
	}
	g.body.Judges = judges
	for _, j := range judges {
		told := judged{Number: j.Number, Run: j.Run, Head: j.Head, Family: j.Family, Verdict: j.Verdict, Failed: j.Failed}
		for _, f := range j.Findings {
			told.Votes = append(told.Votes, vote{f.Number, gate.Vote(f.Status)})
		}
		if err := g.note(eventJudged, "judge", told); err != nil {
			return err
		}
	}
	return nil
}

// decide counts the votes.
func (g *run) decide() error {
	var err error
	if g.body.Decision, err = g.body.Decide(); err != nil {
		return err
	}
	return g.note(eventDecided, "decision", g.body.Decision)
}

// tell says how far it is.
func (g *run) tell(p Progress) {
	if g.Tell != nil {
		g.Tell(p)
	}
}

// close binds the body to the record, seals it and makes the receipt.
func (g *run) close() (*receipt.Receipt, error) {
	g.body.Made = g.Now().UTC().Truncate(time.Millisecond)
	bound, err := g.body.Bind(g.id)
	if err == nil {
		err = g.note(receipt.Event, "receipt", bound)
	}
	if err != nil {
		return nil, errors.Join(err, g.writer.Close())
	}
	if _, err := g.writer.Seal("done"); err != nil {
		return nil, errors.Join(err, g.writer.Close())
	}
	if err := g.writer.Close(); err != nil {
		return nil, err
	}
	path, err := record.Path(g.Root, g.id)
	if err != nil {
		return nil, err
	}
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	return receipt.Of(g.body, f)
}

// abandon seals the record of a gate that came to nothing.
func (g *run) abandon(ctx context.Context) error {
	reason := "failed"
	if ctx.Err() != nil {
		reason = "stopped"
	}
	_, err := g.writer.Seal(reason)
	return errors.Join(err, g.writer.Close())
}

// number is how a judge is named in its record's header.
func number(n, of int) string { return fmt.Sprintf("%s of %s", strconv.Itoa(n), strconv.Itoa(of)) }
