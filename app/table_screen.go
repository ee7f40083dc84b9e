package app

import (
	"context"
	"errors"
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

	mu            sync.Mutex
	blocks, cycle int                 // shown of the newest cycle
	waiting       map[string][]string // for one seat alone, by seat
	at            string              // whose private text is on the screen
}

func (a *App) newTableScreen(seats []string, k *asker) *tableScreen {
	return &tableScreen{app: a, seats: seats, asker: k, waiting: map[string][]string{}}
}

func (s *tableScreen) shared() bool { return len(s.seats) > 1 }

// show is the table's Options.Show.
func (s *tableScreen) show(n tableflow.Notice) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if n.Kind == narrative {
		// A cycle's passages are shown as they come; the commit shows all.
		if n.Cycle != s.cycle {
			s.cycle, s.blocks = n.Cycle, 0
		}
		from := min(s.blocks, len(n.Blocks))
		s.blocks = len(n.Blocks)
		n.Blocks = n.Blocks[from:]
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
	if !s.shared() || len(s.asker.answers) > 0 || s.asker.person == nil {
		return s.asker.Ask(ctx, q)
	}
	if err := s.handOver(ctx, q.Who); err != nil {
		return "", err
	}
	answer, err := s.asker.Ask(ctx, q)
	s.mu.Lock()
	defer s.mu.Unlock()
	if q.Who != "" && err == nil {
		s.clear() // the next to look may be anybody
	}
	return answer, err
}

// handOver gives the keyboard to somebody, and shows what has waited for them.
func (s *tableScreen) handOver(ctx context.Context, who string) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if who == "" || who == s.at {
		return nil
	}
	s.clear()
	text := "This is for " + who + " alone. " + who + ": press Enter when nobody else looks."
	typed, err := s.asker.person.Ask(ctx, Question{Question: engine.Question{Who: who, Text: text}, Way: Enter})
	if errors.Is(err, io.EOF) {
		return errInputEnded()
	}
	if err != nil {
		return err
	}
	if strings.TrimSpace(typed) != "" {
		s.app.aside("%s", "What was typed was not taken: "+who+" had not been asked yet.")
	}
	s.at = who
	for _, text := range s.waiting[who] {
		s.pass(narrative, text)
	}
	delete(s.waiting, who)
	return nil
}

func (s *tableScreen) clear() {
	if s.at != "" {
		s.app.show(ClearScreen{})
	}
	s.at = ""
}

// deliver shows everybody at a shared screen what has waited for them.
func (s *tableScreen) deliver(ctx context.Context) error {
	for _, seat := range s.seats {
		if len(s.waiting[seat]) == 0 {
			continue
		}
		if err := s.handOver(ctx, seat); err != nil {
			return err
		}
		read := Question{Question: engine.Question{Text: "Press Enter when you have read it."}, Way: Enter}
		if _, err := orNothing(s.asker.person.Ask(ctx, read)); err != nil {
			return err
		}
		s.mu.Lock()
		s.clear()
		s.mu.Unlock()
	}
	return nil
}

// listen is the next words of whoever speaks; io.EOF when there are none left.
func (s *tableScreen) listen(ctx context.Context) (string, error) {
	if !s.asker.somebody() {
		return "", io.EOF
	}
	question := "What do you do?"
	if s.shared() {
		if len(s.asker.answers) == 0 {
			if err := s.deliver(ctx); err != nil {
				return "", err
			}
		}
		question = "What do you do? (NAME: what you say – " + strings.Join(s.seats, ", ") + ")"
	}
	text, err := s.asker.Ask(ctx, engine.Question{Text: question})
	if errors.Is(err, engine.ErrNobody) {
		err = io.EOF
	}
	return text, err
}

// speaker finds who says a line on a shared screen: "bram: I go in". A first
// name will do. A line without a name is the table's.
func (s *tableScreen) speaker(line string) (who, words string) {
	name, rest, ok := strings.Cut(line, ":")
	name = strings.ToLower(strings.TrimSpace(name))
	if !ok || name == "" {
		return table.SeatTable, line
	}
	var match []string
	for _, seat := range s.seats {
		if seat == name {
			return seat, strings.TrimSpace(rest)
		}
		if strings.HasPrefix(seat, name+"-") {
			match = append(match, seat)
		}
	}
	if len(match) == 1 {
		return match[0], strings.TrimSpace(rest)
	}
	return table.SeatTable, line
}

// gmIsHere says whether the game master sits at this screen.
func (s *tableScreen) gmIsHere() bool { return slices.Contains(s.seats, string(policy.GM)) }
