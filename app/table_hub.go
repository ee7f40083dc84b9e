package app

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"reflect"
	"slices"
	"strings"
	"sync"

	"conclave/engine"
	"conclave/policy"
	"conclave/table"
	tableflow "conclave/table/flow"
	"conclave/table/people"
	"conclave/table/seating"
)

// tableHub is a table that is open in this process, and the screens at it: its
// own, which is the first, and those of terminals that have joined. It shows each
// of them what its seats may see, puts each question to the screen where the
// person sits who is asked, and hears whoever speaks.
//
// A screen is asked one thing at a time. Free words ("What do you do?") are asked
// for on every screen at once; whoever speaks first begins the cycle, and what
// another one typed meanwhile begins the next. Nothing that a person has typed is
// dropped: it is said now, or next, or they are told that it was not.
type tableHub struct {
	app            *App
	root, campaign string
	human          func(seat string) bool // whose seat the configuration gives to a person
	// stays: a question for somebody who is not here waits for them. Somebody
	// sits before this process and can leave.
	stays bool
	auto  bool // nobody is asked
	table *tableflow.Table
	own   *tableScreen // of this process

	mu        sync.Mutex
	told      tableflow.Notice // the newest of the story, for who comes later
	scene     tableflow.Notice // and the scene that began last
	changed   chan struct{}    // closed, and made anew, whenever something below has changed
	screens   []*tableScreen
	asks      map[string]*pending // by seat
	jobs      []*tableJob
	listening bool // no cycle is under way
	thinking  bool // a game master who is a person, and nobody else, is asked
	missing   int  // questions to people who are not here
	again     bool // a seat was left in the middle, and somebody else can play it
	leaving   bool // this process ends, and answers nothing any more
	over      error

	naming sync.Mutex
	names  table.Roster

	prompts sync.WaitGroup
	life    context.Context
	end     context.CancelFunc
}

// tableJob is something to be done when no cycle is under way.
type tableJob struct {
	screen *tableScreen
	do     func(*tableflow.Table) error
	done   chan error
}

func newTableHub(a *App, root, campaign string, own *tableScreen) *tableHub {
	h := &tableHub{app: a, root: root, campaign: campaign, changed: make(chan struct{}),
		asks: map[string]*pending{}}
	h.life, h.end = context.WithCancel(context.Background())
	own.where = fmt.Sprintf("the terminal of process %d, which holds the table", os.Getpid())
	own.party = h.party
	h.own, h.screens = own, []*tableScreen{own}
	return h
}

// called is how people call who sits in a seat.
func (h *tableHub) called(seat string) string { return h.party().Called(seat) }

// callAll is called for all who sit at a screen.
func (h *tableHub) callAll(seats []string) string {
	party, names := h.party(), make([]string, len(seats))
	for i, seat := range seats {
		names[i] = party.Called(seat)
	}
	all := strings.Join(names, " and ")
	return strings.ToUpper(all[:1]) + all[1:]
}

// party is the party of the table, as it was last seen; nobody, before it is open.
func (h *tableHub) party() table.Roster {
	h.naming.Lock()
	defer h.naming.Unlock()
	if h.table == nil {
		return table.Roster{}
	}
	if now := h.table.Party(); len(now.Characters) > 0 {
		h.names = now
	}
	return h.names
}

// change does something to the hub and lets everybody look again.
func (h *tableHub) change(do func()) {
	h.mu.Lock()
	defer h.mu.Unlock()
	do()
	close(h.changed)
	h.changed = make(chan struct{})
}

// await waits until something holds, or ctx ends.
func (h *tableHub) await(ctx context.Context, holds func() bool) error {
	for {
		h.mu.Lock()
		yes, changed := holds(), h.changed
		h.mu.Unlock()
		if yes {
			return nil
		}
		select {
		case <-changed:
		case <-ctx.Done():
			return context.Cause(ctx)
		}
	}
}

// at is the screen where somebody sits in a seat; nil for none. Who only looks in
// for one command gives way to who stays.
func (h *tableHub) at(seat string) *tableScreen {
	var found *tableScreen
	for _, s := range h.screens {
		if !s.left && slices.Contains(s.seats, seat) && (found == nil || found.passing) {
			found = s
		}
	}
	return found
}

// sits says whether somebody here sits in a seat.
func (h *tableHub) sits(seat string) bool {
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.at(seat) != nil
}

// alone is the table's Options.Mine: who hears of an error sits at one of the
// screens, nobody knows at which.
func (h *tableHub) alone(seat string) bool {
	h.mu.Lock()
	defer h.mu.Unlock()
	return !slices.ContainsFunc(h.screens, func(s *tableScreen) bool { return !s.left && !slices.Contains(s.seats, seat) })
}

// reaches is the table's Options.Here.
func (h *tableHub) reaches(seat string) bool {
	h.mu.Lock()
	defer h.mu.Unlock()
	s := h.at(seat)
	return h.stays || s != nil && s.asker != nil
}

// apart is the table's Options.Apart: all of them are here, each at a screen of
// their own.
func (h *tableHub) apart(seats []string) bool {
	h.mu.Lock()
	defer h.mu.Unlock()
	asked := map[*tableScreen]bool{}
	for _, seat := range seats {
		s := h.at(seat)
		if s == nil || asked[s] {
			return false
		}
		asked[s] = true
	}
	return true
}

// voice is the table's Options.Voice: words are found for who sits at a keyboard and
// can read them before they are said.
func (h *tableHub) voice(w *workspace) func(string) (*seating.Actor, error) {
	return func(seat string) (*seating.Actor, error) {
		h.mu.Lock()
		s := h.at(seat)
		reads := s != nil && s.asker.types()
		h.mu.Unlock()
		if !reads {
			return nil, nil
		}
		return w.tableVoice(seat)
	}
}

// show is the table's Options.Show.
func (h *tableHub) show(n tableflow.Notice) {
	h.mu.Lock()
	list := slices.Clone(h.screens)
	switch n.Kind {
	case narrative:
		h.told = n
	case "scene":
		h.scene = n
	case "left": // this process's person has; the others may go on
		list = []*tableScreen{h.own}
	}
	thought := h.thinking && (n.Kind == narrative || n.Kind == "waiting" || n.Kind == "pause")
	h.mu.Unlock()
	if thought {
		h.change(func() { h.thinking = false })
	}
	for _, s := range list {
		s.show(n)
	}
}

// tell tells every screen but one something that is no part of the story.
func (h *tableHub) tell(but *tableScreen, text string) {
	h.mu.Lock()
	list := slices.Clone(h.screens)
	h.mu.Unlock()
	for _, s := range list {
		if s != but {
			s.app.aside("%s", text)
		}
	}
}

// Ask implements engine.Asker.
func (h *tableHub) Ask(ctx context.Context, q engine.Question) (string, error) {
	asking, stop := context.WithCancelCause(ctx)
	defer stop(nil)
	p := &pending{stop: stop}
	h.change(func() { h.asks[q.Who] = p })
	defer h.change(func() { delete(h.asks, q.Who) })
	text, err := h.ask(asking, q)
	h.mu.Lock()
	defer h.mu.Unlock()
	if p.said != nil {
		return *p.said, nil
	}
	return text, err
}

// pending is a question that somebody is asked. It can be answered by a command
// as well.
type pending struct {
	stop context.CancelCauseFunc
	said *string
}

// answer answers what a seat is asked just now, if it is asked something.
func (h *tableHub) answer(seat, text string) bool {
	h.mu.Lock()
	defer h.mu.Unlock()
	p := h.asks[seat]
	if p == nil || p.said != nil || seat == "" {
		return false
	}
	p.said = &text
	p.stop(errElsewhere)
	return true
}

// errElsewhere: a question was answered by a command.
var errElsewhere = errors.New("it was answered from another terminal")

func (h *tableHub) ask(ctx context.Context, q engine.Question) (string, error) {
	typed := "" // by a guest who left in the middle
	for {
		if q.Again && !h.sits(q.Who) {
			return "", nil // the answer that is there stands
		}
		s, err := h.seated(ctx, q.Who)
		if err != nil {
			return "", err
		}
		text, err := h.askAt(ctx, s, withTyped(q, typed))
		if errors.Is(context.Cause(ctx), errElsewhere) {
			s.app.aside("%s", "That was answered from another terminal.")
			return "", err
		}
		if s == h.own {
			if leaves(text) {
				h.leave()
			}
			return text, err
		}
		switch {
		case err == nil && leaves(text):
			more := strings.TrimSpace(strings.TrimSuffix(strings.TrimSpace(text), quitLine))
			if typed = strings.TrimSpace(typed + "\n" + more); more != "" {
				s.app.aside("%s", "What you had typed and not sent is kept; you go on with it when you come back.")
				if err := people.LeaveUnsent(h.root, h.campaign, q.Who, typed); err != nil {
					return "", err
				}
			}
			h.part(s) // the question stays
		case errors.Is(err, errGone), errors.Is(err, engine.ErrNobody):
			h.part(s)
		case err == nil && typed != "":
			return typed + "\n" + text, nil
		default:
			return text, err
		}
	}
}

// withTyped is a question to somebody who comes back to it.
func withTyped(q engine.Question, typed string) engine.Question {
	if typed != "" {
		q.Lead = strings.TrimSpace(q.Lead + "\n\nYou had typed, and not sent:\n\n  " +
			strings.ReplaceAll(typed, "\n", "\n  "))
		q.Text = "Go on, or send it with an empty line."
	}
	return q
}

// quitLine is the line with which somebody leaves, after whatever they had typed.
const quitLine = "/quit"

func leaves(text string) bool {
	text = strings.TrimSpace(text)
	return text == quitLine || strings.HasSuffix(text, "\n"+quitLine)
}

// seated waits until who is asked sits at a screen that asks nobody else.
func (h *tableHub) seated(ctx context.Context, who string) (*tableScreen, error) {
	var s *tableScreen
	waits := false
	defer func() {
		if waits {
			h.change(func() { h.missing-- })
		}
	}()
	for {
		h.mu.Lock()
		if s = h.at(who); who == "" {
			if s = h.at(string(policy.GM)); s == nil {
				s = h.own
			}
		}
		leaving, changed := h.leaving, h.changed
		take := s != nil && !s.asked && !leaving
		if take {
			s.asked = true
			close(h.changed)
			h.changed = make(chan struct{})
		}
		h.mu.Unlock()
		switch {
		case take:
			return s, nil
		case leaving, s == nil && !h.stays:
			return nil, fmt.Errorf("%w: the table is left", engine.ErrNobody)
		case s == nil && !h.human(who):
			h.change(func() { h.again = true })
			return nil, fmt.Errorf("%w: %s has left", engine.ErrNobody, h.called(who))
		case s == nil && !waits:
			waits = true
			h.sayMissing(who)
			h.change(func() { h.missing++ })
			continue
		}
		select {
		case <-changed:
		case <-ctx.Done():
			return nil, context.Cause(ctx)
		}
	}
}

// sayMissing says that somebody is awaited: who, to the game master alone, for a
// question may be nobody else's business.
func (h *tableHub) sayMissing(who string) {
	h.mu.Lock()
	list := slices.Clone(h.screens)
	h.mu.Unlock()
	for _, s := range list {
		name := "NAME"
		if s.gmIsHere() {
			name = who
		}
		s.app.aside("%s", "The table waits for somebody who is not here. In another terminal: conclave table play "+
			h.campaign+" --as "+name)
	}
}

func (h *tableHub) askAt(ctx context.Context, s *tableScreen, q engine.Question) (string, error) {
	asking, stop := context.WithCancelCause(ctx)
	defer stop(nil)
	watch := context.AfterFunc(h.life, func() { stop(engine.ErrNobody) })
	defer watch()
	defer h.change(func() { s.asked = false })
	if q.Who == string(policy.GM) { // until something comes of it, however often they are asked
		h.change(func() { h.thinking = true })
	}
	s.keys.Lock() // whoever was asked for free words is not any more
	defer s.keys.Unlock()
	text, err := s.Ask(asking, q)
	if err == nil && h.life.Err() != nil && q.Who != "" && !leaves(text) && text != "" {
		// Typed while the table was being left: it is there when it goes on.
		return "", errors.Join(context.Cause(asking), people.Leave(h.root, h.campaign, q.Who, text))
	}
	return text, err
}

// leave ends what waits for people: the one who holds the table goes.
func (h *tableHub) leave() { h.change(func() { h.leaving = true }); h.end() }

// join lets a screen sit down.
func (h *tableHub) join(s *tableScreen) error {
	var err error
	h.change(func() {
		if h.leaving || h.over != nil {
			err = errOver
			return
		}
		for _, seat := range s.seats {
			if at := h.at(seat); at != nil && !at.passing && !s.passing && seat != table.SeatTable {
				err = noError("%s sits already, at %s: one seat is one person's", h.called(seat), at.where)
				return
			}
		}
		s.party = h.party
		h.screens = append(h.screens, s)
	})
	if err == nil && !s.passing && len(s.seats) > 0 {
		h.tell(s, h.callAll(s.seats)+" came to the table.")
	}
	return err
}

// part takes a screen away. What was asked there waits, or is somebody else's.
func (h *tableHub) part(s *tableScreen) {
	had := false
	h.change(func() {
		had = !s.left
		s.left = true
		h.screens = slices.DeleteFunc(h.screens, func(o *tableScreen) bool { return o == s && o != h.own })
	})
	if had && !s.passing && len(s.seats) > 0 && s != h.own && !h.leaves() {
		h.tell(s, h.callAll(s.seats)+" left the table.")
	}
}

// leaves says whether this process ends: then the others do not leave the table,
// they go on with it.
func (h *tableHub) leaves() bool {
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.leaving
}

// do has something done at the table for a screen that came for it.
func (h *tableHub) do(ctx context.Context, s *tableScreen, do func(*tableflow.Table) error) error {
	s.passing = true
	if err := h.join(s); err != nil {
		return err
	}
	defer h.part(s)
	job := &tableJob{s, do, make(chan error, 1)}
	later := false
	h.change(func() {
		later = !h.listening
		h.jobs = append(h.jobs, job)
	})
	if later {
		s.app.aside("%s", "A round is under way at the table: this is done when it is over.")
	}
	err := h.await(ctx, func() bool { return h.over != nil || !slices.Contains(h.jobs, job) })
	if err != nil {
		h.change(func() { h.jobs = slices.DeleteFunc(h.jobs, func(j *tableJob) bool { return j == job }) })
	}
	select {
	case err := <-job.done:
		return err
	default:
	}
	h.mu.Lock()
	begun := !slices.Contains(h.jobs, job) && err == nil
	h.mu.Unlock()
	if begun {
		return <-job.done
	}
	return cmp.Or(err, errOver)
}

// stay keeps a screen at the table until it leaves, or until the table is left.
func (h *tableHub) stay(ctx context.Context, s *tableScreen, until func() bool) error {
	if err := h.join(s); err != nil {
		return err
	}
	defer h.part(s)
	h.remind(s)
	at, end := context.WithCancel(ctx)
	prompting := make(chan struct{})
	go func() {
		defer close(prompting)
		h.prompt(at, s)
	}()
	_ = h.await(ctx, func() bool { return s.left || h.over != nil || until != nil && until() })
	end()
	<-prompting
	h.unsaid(s)
	h.mu.Lock()
	defer h.mu.Unlock()
	if errors.Is(h.over, errOver) {
		return errOver // it is theirs to go on, also if they were too slow to say a word
	}
	return nil
}

// remind shows a screen that joins where the story stands, and what was told since.
// Who was at the table before it was this process's has read it.
func (h *tableHub) remind(s *tableScreen) {
	h.mu.Lock()
	told, scene := h.told, h.scene
	h.mu.Unlock()
	if h.table != nil && s.state().Cycle == 0 {
		recap, last, err := h.table.Recap()
		if err != nil {
			s.app.note("%v", err)
		}
		for _, n := range recap {
			s.show(n)
		}
		if told.Cycle == last { // that is what they have just read
			s.skip(told)
			return
		}
	}
	if scene.Cycle == told.Cycle && s.state().Cycle != told.Cycle && !scene.Again {
		s.show(scene)
	}
	s.show(told)
}

// unsaid tells somebody who leaves what of their words was not said.
func (h *tableHub) unsaid(s *tableScreen) {
	h.mu.Lock()
	said := s.said
	s.said = nil
	h.mu.Unlock()
	for _, w := range said {
		if w.words != "" {
			s.app.aside("%s", "This was not said: "+w.words)
		}
	}
}

// admit lets verbs of this table run here.
func (h *tableHub) admit(a *App, args []reflect.Value) error {
	for _, arg := range args {
		in, ok := arg.Interface().(interface{ atTable() string })
		if ok && in.atTable() == h.campaign {
			a.at = h
			return nil
		}
	}
	return usageError("that is nothing for the table %s", h.campaign)
}

// close lets everybody go: ended says that the session is over, and nobody is to
// go on with it elsewhere.
func (h *tableHub) close(ended bool) {
	h.leave()
	h.change(func() {
		if h.over = errOver; ended {
			h.over = io.EOF
		}
	})
	h.prompts.Wait()
}
