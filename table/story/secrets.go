package story

import (
	"slices"
	"strings"
	"time"

	"conclave/policy"
	"conclave/table"
)

// Way is the way of one secret through a campaign: whose it is, since when, and
// who has known it from which cycle on. A seat that is not in Known was never
// told it in these words; whether somebody was told in other words no log shows.
type Way struct {
	Who     string    `json:"who"`  // whose words they are: a character's, or the game master's
	Kind    string    `json:"kind"` // waySaid, wayTold
	Text    string    `json:"text"`
	Session int       `json:"session"`
	Cycle   int       `json:"cycle"`
	Time    time.Time `json:"time"`
	Known   []knows   `json:"known"`
}

// What a secret is: what a character said to the game master alone, or what the
// game master told to some alone.
const (
	waySaid = "said"
	wayTold = "told"
)

// knows is one seat that knows a secret.
type knows struct {
	Seat  string `json:"seat"`
	Cycle int    `json:"cycle"`           // from which on
	How   string `json:"how"`             // knowsOwn, knowsTold, knowsRepeated
	Words string `json:"words,omitempty"` // that were repeated
}

// How somebody knows.
const (
	knowsOwn      = "own"      // it said so itself
	knowsTold     = "told"     // it was said to it
	knowsRepeated = "repeated" // words of it were told to it later
)

// maxWays is how many secrets are followed: the newest.
const maxWays = 200

// Ways follows the secrets of a campaign through what stands of its log, oldest
// first. Left says how many older ones were not followed.
func Ways(root, campaign string, seats []string) (ways []Way, left int, err error) {
	var cycles []Event
	if err := each(root, campaign, func(e Event) {
		if e.Kind == EventCommit {
			cycles = append(cycles, e)
		}
	}); err != nil {
		return nil, 0, err
	}
	for _, e := range cycles {
		ways = append(ways, waysOf(e)...)
	}
	if left = len(ways) - maxWays; left > 0 {
		ways = ways[left:]
	}
	for i := range ways {
		for _, seat := range seats {
			ways[i].follow(seat, cycles)
		}
	}
	return ways, max(left, 0), nil
}

// waysOf are the secrets of a cycle, with those who knew them from its end on.
func waysOf(e Event) []Way {
	var out []Way
	at := Way{Session: e.Session, Cycle: e.Cycle, Time: e.Time}
	for _, s := range secretsOf(e.Asked) {
		w := at
		w.Who, w.Kind, w.Text = s.Who, waySaid, strings.TrimSpace(s.Text)
		w.Known = []knows{
			{Seat: s.Who, Cycle: e.Cycle, How: knowsOwn}, {Seat: string(policy.GM), Cycle: e.Cycle, How: knowsTold},
		}
		out = append(out, w)
	}
	for _, b := range e.Blocks {
		if b.Audience.Party {
			continue
		}
		w := at
		w.Who, w.Kind, w.Text = string(policy.GM), wayTold, strings.TrimSpace(b.Text)
		w.Known = []knows{{Seat: string(policy.GM), Cycle: e.Cycle, How: knowsOwn}}
		for _, name := range b.Audience.Names {
			w.Known = append(w.Known, knows{Seat: name, Cycle: e.Cycle, How: knowsTold})
		}
		out = append(out, w)
	}
	return out
}

// KnownTo says whether a seat knows the secret by now.
func (w Way) KnownTo(seat string) bool {
	return slices.ContainsFunc(w.Known, func(k knows) bool { return k.Seat == seat })
}

// As is the secret as a seat knows it: whether the game master and it itself know,
// and who else does where the whole party was told.
func (w Way) As(seat string) Way {
	if seat != string(policy.GM) && !w.KnownTo(table.SeatTable) {
		w.Known = slices.DeleteFunc(slices.Clone(w.Known), func(k knows) bool {
			return k.Seat != seat && k.Seat != string(policy.GM)
		})
	}
	return w
}

// follow looks for the first cycle in which a seat was told words of a secret
// that it did not know. What it had heard before the secret was one is no news.
func (w *Way) follow(seat string, cycles []Event) {
	if w.KnownTo(seat) {
		return
	}
	var had, later []string
	var at []Event
	for _, e := range cycles {
		text := table.TextFor(e.Blocks, seat)
		if e.Cycle < w.Cycle {
			had = append(had, text)
			continue
		}
		later, at = append(later, text), append(at, e)
	}
	if table.Repeats(w.Text, strings.Join(later, "\n\n"), true, had...) == "" {
		return
	}
	for i, text := range later {
		if words := table.Repeats(w.Text, text, true, had...); words != "" {
			w.Known = append(w.Known, knows{Seat: seat, Cycle: at[i].Cycle, How: knowsRepeated, Words: words})
			return
		}
	}
}
