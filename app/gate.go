package app

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"sync"
	"time"

	"conclave/agent"
	"conclave/gate"
	gateflow "conclave/gate/flow"
	"conclave/policy"
	"conclave/quest"
	"conclave/quest/flow"
	"conclave/receipt"
)

// Gate is a case that is put before a judge. It needs no quest, and moves none.
type Gate struct {
	Criteria string   // a file, or the words themselves; "" for the quest's own
	Work     []string // paths
	Diff     string   // BASE..HEAD, BASE...HEAD or BASE: a change in place of paths
	Judge    string   // dragon, guardian; "" is dragon
	Expect   string   // what ready means, for the Guardian
	Judges   int      // 0 is 1
	Rule     string   // all, majority; "" is all
	Grants   []string // keys and logins of the project that are let into the room, by name

	AcceptContext bool   // although forbidden context was found
	TrustBase     bool   // what stands at BASE counts as the person's own
	Cache         string // a directory; "" for the person's own
	NoCache       bool   // judge anew
	Again         string // a receipt's file, whose case is judged once more
	Sign          string // a key's file; "" for the person's usual one, if they have one
	Receipt       string // where it is written; "" for .conclave/receipts

	Remote bool   // an agent asks
	Base   string // with Remote: the commit that counts as committed
}

// GateAnswer is what came of a case.
type GateAnswer struct {
	receipt.Body
	Receipt string `json:"receipt"` // its file
	Head    string `json:"head"`    // of the gate's record
	Signed  string `json:"signed_by,omitempty"`
	Cached  bool   `json:"cached,omitempty"` // judged before, and not again
	Agrees  *bool  `json:"agrees,omitempty"` // with the receipt that it was judged again for
	// Differs are the criteria on which it does not.
	Differs []int `json:"differs,omitempty"`
	// Leaks are passages for which it was refused to judge; then there is no receipt.
	Leaks []quest.Leak `json:"leaks,omitempty"`
}

// Gate judges a case. The error is nil where it is met, the answer no where it is
// not met, and of Environment where it could not be judged. There is an answer
// beside an error with words only where Leaks were found.
func (a *App) Gate(ctx context.Context, in Gate) (*GateAnswer, error) {
	in, err := a.askedGate(in)
	if err != nil {
		return nil, err
	}
	s, err := a.openGate(ctx, in)
	if err != nil {
		return nil, err
	}
	defer s.close()
	got, err := s.judge(ctx)
	if err != nil {
		return s.refused(err), gateError(err)
	}
	return got, s.verdict(got)
}

// gateSession is a gate at work.
type gateSession struct {
	app     *App
	in      Gate
	w       *workspace
	granted []string
	budget  *budget
	opened  *gate.Opened
	earlier *receipt.Receipt // that it is judged again for
	closers []func() error

	embedded agent.Agent

	mu    sync.Mutex
	asked int64 // judges that are done
}

func (a *App) openGate(ctx context.Context, in Gate) (*gateSession, error) {
	s := &gateSession{app: a, in: in, embedded: embeddedParty()}
	for _, step := range []func(context.Context) error{s.again, s.checkAsked, s.openCase, s.askedCase, s.sameCase, s.seated} {
		if err := step(ctx); err != nil {
			s.close()
			return nil, err
		}
	}
	s.budget = s.w.questBudget()
	return s, nil
}

func (s *gateSession) close() {
	for _, c := range s.closers {
		_ = c() // of what was only read
	}
}

// checkAsked refuses what makes no sense before anything is opened.
func (s *gateSession) checkAsked(context.Context) error {
	in := &s.in
	in.Judge = cmp.Or(in.Judge, string(policy.Dragon))
	in.Rule, in.Judges = cmp.Or(in.Rule, gate.All), cmp.Or(in.Judges, 1)
	switch {
	case len(in.Work) == 0 && in.Diff == "":
		return usageError("name the work: conclave gate --criteria FILE --work PATH, or --diff BASE..HEAD")
	case in.TrustBase && in.Remote:
		return usageError("only the person can say that what stands at a commit is theirs")
	case in.TrustBase && in.Diff == "":
		return usageError("--trust-base speaks of the BASE of --diff; without it `conclave trust` is asked")
	}
	ask := gate.Ask{Role: policy.Role(in.Judge), Rule: in.Rule, N: in.Judges, Criteria: in.Criteria, Expect: in.Expect,
		Work: in.Work, Diff: in.Diff}
	if err := ask.Check(); err != nil {
		return usageError("%w", err)
	}
	return nil
}

// options are what the flow is given.
func (s *gateSession) options() (gateflow.Options, error) {
	o := gateflow.Options{
		Root: s.w.root, Program: "conclave " + s.app.Version, Case: s.opened.Case, Criteria: s.opened.Criteria,
		Work: s.opened.Work, Change: s.opened.Change, Dress: s.dress, Vouch: s.vouch, Tools: s.w.config.Tools,
		AcceptContext: s.in.AcceptContext, Account: s.budget.account(), Stream: s.app.Log.to(), Tell: s.tell,
	}
	var err error
	if o.Instructions, err = s.w.instructions(s.in.Judge); err != nil {
		return o, err
	}
	// Nothing of the quest is used, so nobody need vouch for it.
	house := flow.New(flow.Options{Root: s.w.root, Scripts: s.w.scripts()})
	o.Material, o.Quest, err = house.Material()
	return o, err
}

// judge has the case judged, unless it was before.
func (s *gateSession) judge(ctx context.Context) (*GateAnswer, error) {
	o, err := s.options()
	if err != nil {
		return nil, err
	}
	s.opened.Work.Searched = func(done, total int64) { s.app.show(Progress{"searching the work", done, total}) }
	stamps, err := o.Examine()
	if err != nil {
		return nil, err
	}
	s.opened.Work.Searched = nil
	key, err := s.cacheKey(o, stamps)
	if err != nil {
		return nil, err
	}
	if got := s.cached(key); got != nil {
		return s.answer(ctx, got, true)
	}
	if err := s.ready(); err != nil {
		return nil, err
	}
	s.sayWork()
	made, err := gateflow.Run(ctx, o)
	if err != nil {
		return nil, err
	}
	got, err := s.answer(ctx, made, false)
	if err == nil {
		s.keep(key, made)
	}
	return got, err
}

// ready says early that the checks are not trusted, or that nothing more may be
// spent.
func (s *gateSession) ready() error {
	for _, item := range checkItemsOf(s.opened.Criteria) {
		if err := s.vouch(item.Name, item.Text); err != nil {
			return err
		}
	}
	if s.spends() {
		if err := s.budget.Afford(); err != nil {
			return environmentError("%w", err)
		}
	}
	return s.w.makePrivate()
}

func (s *gateSession) sayWork() {
	s.app.aside("The work: %s", s.opened.Work.Summary())
	for _, l := range s.opened.Case.Work.LeftOut {
		s.app.aside("left out: %s (%s)", l.Path, l.Reason)
	}
}

// answer writes the receipt, and says what came of it.
func (s *gateSession) answer(ctx context.Context, r *receipt.Receipt, cached bool) (*GateAnswer, error) {
	got := &GateAnswer{Body: r.Body, Head: r.Record.Head, Cached: cached}
	var err error
	if got.Signed, err = s.sign(ctx, r); err != nil {
		return nil, err
	}
	file := s.in.Receipt
	if file == "" {
		file = filepath.Join(s.w.root, engineDir, "receipts", r.Record.Run+".json")
	}
	got.Receipt = s.app.AbsPath(file)
	if err := s.writeReceipt(got.Receipt, r); err != nil {
		return nil, err
	}
	s.compare(got)
	return got, nil
}

// verdict is the error that a decision means. Of a case that was judged again the
// question is whether the verdicts agree.
func (s *gateSession) verdict(got *GateAnswer) error {
	no := got.Decision.Outcome == gate.NotMet
	if got.Agrees != nil {
		no = !*got.Agrees
	}
	switch {
	case got.Decision.Outcome == gate.NotJudged:
		return &Error{Kind: Environment}
	case no:
		return saidNo()
	}
	return nil
}

// tell shows how far a gate is.
func (s *gateSession) tell(p gateflow.Progress) {
	s.mu.Lock()
	defer s.mu.Unlock()
	switch {
	case p.Criterion > 0:
		s.app.show(Progress{What: fmt.Sprintf("running the check of criterion %d", p.Criterion)})
	case p.Done:
		s.asked++
		s.app.show(Progress{"judging", s.asked, int64(s.in.Judges)})
	default:
		s.app.show(Progress{"judging", s.asked, int64(s.in.Judges)})
	}
}

// refused is the answer to a case that nobody was asked about because of what was
// found in it; nil for every other reason.
func (s *gateSession) refused(err error) *GateAnswer {
	var leak *quest.LeakError
	if !errors.As(err, &leak) {
		return nil
	}
	return &GateAnswer{Leaks: leak.Leaks, Body: receipt.Body{
		Program: "conclave " + s.app.Version, Made: time.Now().UTC().Truncate(time.Millisecond),
		Case: s.opened.Case, Checks: []receipt.Check{}, Judges: []receipt.Judge{},
		Decision: gate.Decision{Outcome: gate.NotJudged, Criteria: []gate.Decided{}, Families: []string{}},
	}}
}

// LeaksOf are the passages because of which no judge was asked; none for every other
// error.
func LeaksOf(err error) []quest.Leak {
	if leak := (*quest.LeakError)(nil); errors.As(err, &leak) {
		return leak.Leaks
	}
	return nil
}

// gateError is what keeps a case from being judged. It is never an answer.
func gateError(err error) error {
	var coded *Error
	var leak *quest.LeakError
	switch {
	case errors.As(err, &leak):
		return environmentError("%w\nnothing was judged; take these words out, or say --accept-context to go on with that "+
			"on the receipt", err)
	case errors.As(err, &coded):
		return err
	}
	return environmentError("%w", err)
}
