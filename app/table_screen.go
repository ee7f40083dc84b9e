package app

import (
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"sync"

	"conclave/engine"
	"conclave/policy"
	"conclave/table"
	tableflow "conclave/table/flow"
)

// Passage is what a seat of this screen sees of a table: the story
// ("narrative"), or how the table stands. Its text is foreign.
type Passage struct{ Kind, Text string }

// narrative is the kind of a passage of the story.
const narrative = "narrative"

// ClearScreen wants what was for one person alone away before another looks.
type ClearScreen struct{}

func (Passage) isEvent()     {}
func (ClearScreen) isEvent() {}

// tableScreen is one screen at a table: it shows what its seats may see, each
// passage once, and nothing else, whoever runs the process. When several people
// share it, what is for one of them waits until the keyboard is theirs, and goes
// from the screen before it is the next one's.
type tableScreen struct {
	app   *App
	seats []string // that were named for it; none: what the whole party sees
	asker *asker
	party func() table.Roster // for names; nil before it is at a table
	keys  sync.Mutex          // the keyboard is somebody's: one is asked at a time

	mu      sync.Mutex
	seen    seen
	waiting map[string][]string // for one seat alone, by seat
	at      string              // whose private text is on the screen

	// At which table's hub it is, and how; the hub's lock guards the rest.
	where   string   // for people
	passing bool     // it is here for one command
	asked   bool     // somebody is asked something
	said    []saying // free words, each to begin a cycle
	left    bool
	ended   error // why, of the process's own
}

// seen is how much of a cycle a screen has shown.
type seen struct{ Cycle, Blocks int }

// saying is what somebody says of their own accord.
type saying struct{ who, words string }

func (a *App) newTableScreen(seats []string, k *asker) *tableScreen {
	s := &tableScreen{app: a, seats: seats, asker: k, seen: a.seen, waiting: map[string][]string{}}
	if a.wire != nil {
		s.where = fmt.Sprintf("the terminal of process %d", a.wire.conn.Peer().PID)
	}
	return s
}

// state is how much it has shown; resume goes on from what another process has
// shown on it.
func (s *tableScreen) state() seen {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.seen
}

func (s *tableScreen) resume(shown seen) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.seen = shown
}

func (s *tableScreen) shared() bool { return len(s.seats) > 1 }

// show is the table's Options.Show.
func (s *tableScreen) show(n tableflow.Notice) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if n.Again && n.Cycle == s.seen.Cycle {
		return // it has shown that, for another process
	}
	if n.Kind == narrative {
		// A cycle's passages are shown as they come; the commit shows all.
		if n.Cycle != s.seen.Cycle {
			s.seen = seen{Cycle: n.Cycle}
		}
		// Only what this screen sees is counted: how much there is for others is theirs.
		n.Blocks = slices.DeleteFunc(slices.Clone(n.Blocks), func(b table.Block) bool { return !s.sees(b) })
		from := min(s.seen.Blocks, len(n.Blocks))
		s.seen.Blocks = len(n.Blocks)
		n.Blocks = n.Blocks[from:]
		defer s.app.wire.seen(s.seen)
	}
	if !s.shared() {
		seat := table.SeatTable
		if len(s.seats) == 1 {
			seat = s.seats[0]
		}
		s.pass(n.Kind, n.For(seat))
		return
	}
	s.pass(n.Kind, n.For(table.SeatTable))
	for _, seat := range s.seats {
		if text := aloneFor(n, seat); text != "" {
			s.waiting[seat] = append(s.waiting[seat], text)
		}
	}
}

// skip takes what a narrative tells for shown.
func (s *tableScreen) skip(n tableflow.Notice) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.seen = seen{Cycle: n.Cycle}
	for _, b := range n.Blocks {
		if s.sees(b) {
			s.seen.Blocks++
		}
	}
	s.app.wire.seen(s.seen)
}

// called is how people call who sits in a seat.
func (s *tableScreen) called(seat string) string {
	if s.party == nil {
		return seat
	}
	return s.party().Called(seat)
}

// sees says whether a block is for anybody at this screen.
func (s *tableScreen) sees(b table.Block) bool {
	one := tableflow.Notice{Kind: narrative, Blocks: []table.Block{b}}
	if len(s.seats) != 1 && one.For(table.SeatTable) != "" {
		return true
	}
	return slices.ContainsFunc(s.seats, func(seat string) bool { return one.For(seat) != "" })
}

// aloneFor is what one seat sees of a notice and the party does not.
func aloneFor(n tableflow.Notice, seat string) string {
	if n.Kind != narrative {
		if n.For(table.SeatTable) == "" {
			return n.For(seat)
		}
		return ""
	}
	n.Blocks = slices.DeleteFunc(slices.Clone(n.Blocks), func(b table.Block) bool { return b.Audience.Party })
	return n.For(seat)
}

func (s *tableScreen) pass(kind, text string) {
	if text != "" {
		s.app.show(Passage{kind, text})
	}
}

// Ask implements engine.Asker. On a shared screen a question is shown right
// before its answer is read, when the one who is asked has the keyboard.
func (s *tableScreen) Ask(ctx context.Context, q engine.Question) (string, error) {
	if s.asker == nil {
		return "", fmt.Errorf("%w: %s", engine.ErrNobody, q.Text)
	}
	if q.Again && s.shared() {
		return "", nil // the keyboard is the next one's
	}
	if !s.shared() || len(s.asker.answers) > 0 || s.asker.person == nil {
		return s.asker.Ask(ctx, q)
	}
	if err := s.handOver(ctx, q.Who); err != nil {
		return "", err
	}
	answer, err := s.asker.Ask(ctx, q)
	if q.Who != "" && err == nil {
		s.clear() // the next to look may be anybody
	}
	return answer, err
}

// handOver gives the keyboard to somebody, and shows what has waited for them.
func (s *tableScreen) handOver(ctx context.Context, who string) error {
	s.mu.Lock()
	there := who == "" || who == s.at
	s.mu.Unlock()
	if there {
		return nil
	}
	s.clear()
	name := s.called(who)
	text := "This is for " + name + " alone. Press Enter, " + name + ", when nobody else looks."
	typed, err := s.asker.person.Ask(ctx, Question{Question: engine.Question{Who: who, Text: text}, Way: Enter})
	if errors.Is(err, io.EOF) {
		return errInputEnded()
	}
	if err != nil {
		return err
	}
	if strings.TrimSpace(typed) != "" {
		s.app.aside("%s", "What was typed was not taken: "+name+" had not been asked yet.")
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.at = who
	for _, text := range s.waiting[who] {
		s.pass(narrative, text)
	}
	delete(s.waiting, who)
	return nil
}

func (s *tableScreen) clear() {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.at != "" {
		s.app.show(ClearScreen{})
	}
	s.at = ""
}

// deliver shows everybody at a shared screen what has waited for them.
func (s *tableScreen) deliver(ctx context.Context) error {
	for _, seat := range s.seats {
		s.mu.Lock()
		n := len(s.waiting[seat])
		s.mu.Unlock()
		if n == 0 {
			continue
		}
		if err := s.handOver(ctx, seat); err != nil {
			return err
		}
		read := Question{Question: engine.Question{Text: "Press Enter when you have read it."}, Way: Enter}
		if _, err := orNothing(s.asker.person.Ask(ctx, read)); err != nil {
			return err
		}
		s.clear()
	}
	return nil
}

// speak is what somebody says of their own accord, and who; io.EOF when there is
// nothing more. waits says that somebody else is awaited meanwhile.
func (s *tableScreen) speak(ctx context.Context, waits bool) (who, words string, err error) {
	if s.asker == nil || !s.asker.somebody() {
		return "", "", io.EOF
	}
	question := "What do you do?"
	switch {
	case waits && s.gmIsHere():
		question = "What you say now is your next turn. (/quit leaves; the table waits)"
	case waits:
		question = "What do you do when it goes on? (/quit leaves; the table waits)"
	}
	if s.shared() {
		if len(s.asker.answers) == 0 {
			if err := s.deliver(ctx); err != nil {
				return "", "", err
			}
		}
		var names []string
		for _, seat := range s.seats {
			names = append(names, s.called(seat))
		}
		question = "What do you do? (NAME: what you say – " + strings.Join(names, ", ") + ")"
	}
	text, err := s.asker.Ask(ctx, engine.Question{Text: question})
	if errors.Is(err, engine.ErrNobody) {
		err = io.EOF
	}
	if err != nil {
		return "", "", err
	}
	text = strings.TrimSpace(text)
	switch {
	case s.shared():
		who, words = s.speaker(text)
		return who, words, nil
	case len(s.seats) == 1:
		return s.seats[0], text, nil
	}
	return table.SeatTable, text, nil
}

// speaker finds who says a line on a shared screen: "bram: I go in". A first
// name will do. A line without a name is the table's.
func (s *tableScreen) speaker(line string) (who, words string) {
	name, rest, ok := strings.Cut(line, ":")
	name = strings.ToLower(strings.TrimSpace(name))
	if !ok || name == "" {
		return table.SeatTable, line
	}
	var here table.Roster // those who sit at this screen
	if s.party != nil {
		here = s.party()
	}
	here.Characters = slices.DeleteFunc(slices.Clone(here.Characters), func(c table.Character) bool {
		return !slices.Contains(s.seats, c.Slug)
	})
	if found, err := here.Find(name); err == nil {
		return found.Slug, strings.TrimSpace(rest)
	}
	if slices.Contains(s.seats, name) {
		return name, strings.TrimSpace(rest)
	}
	return table.SeatTable, line
}

// gmIsHere says whether the game master sits at this screen.
func (s *tableScreen) gmIsHere() bool { return slices.Contains(s.seats, string(policy.GM)) }
