package session

import (
	"fmt"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"conclave/transcript"
)

// TestAccounts: what a program counted beyond its responses is counted once,
// whichever sessions have taken up its sums.
func TestAccounts(t *testing.T) {
	// a5 is a response of session a at five, which took ten tokens; b5<a is a's that
	// b has copied, a5! one that names no model; a6=20 is a's sum at six, which it
	// has counted since one, or since two with @2.
	line := regexp.MustCompile(`^(\w)(\d+)(?:=(\d+)(?:@(\d+))?)?(?:<(\w))?(!)?$`)
	type told struct {
		session, from, model string
		at, sum, since       int64
	}
	began := map[string]int64{"a": 1, "b": 100, "c": 200}
	for name, c := range map[string]struct{ told, want string }{
		"all is told":                       {"a5 a6=10", ""},
		"a compaction":                      {"a5 a6=20", "a m 10 at 6"},
		"nothing but a compaction":          {"a6=10", "a m 10 at 6"},
		"it goes on after the sum":          {"a5 a6=20 a7 a8", "a m 10 at 6"},
		"it went on, and was left again":    {"a5 a6=20 a7 a8=30", "a m 10 at 8"},
		"a fork takes it up":                {"a5 a6=20 b5<a b101 b102=30", "a m 10 at 6"},
		"a fork without what came before":   {"a5 a6=20 b101 b102=30", "a m 10 at 6"},
		"a fork has one of its own":         {"a5 a6=20 b5<a b101 b102=40", "a m 10 at 6, b m 10 at 102"},
		"both have one after it":            {"a5 a6=10 a110=30 a109 b5<a b101 b102=30", "a m 10 at 110, b m 10 at 102"},
		"two forks of one that is gone":     {"b5 b102=20 c5<b c101=20", "b m 10 at 102"},
		"two forks, one after the other":    {"a5 a6=10 b5<a b101 b102=20 c5<a c201 c202=30", "c m 10 at 202"},
		"others that began at another time": {"a5=10 b105=10@100", "a m 10 at 5, b m 10 at 105"},
		"the driver has said it":            {"a5 a5! a6=30", "a m 10 at 6"},
		"the program lost some":             {"a5 a5 a6=10", ""},
	} {
		t.Run(name, func(t *testing.T) {
			var list []told
			for _, word := range strings.Fields(c.told) {
				m := line.FindStringSubmatch(word)
				x := told{session: m[1], from: m[5], model: map[string]string{"": "m"}[m[6]], since: 1}
				for i, to := range map[int]*int64{2: &x.at, 3: &x.sum, 4: &x.since} {
					if m[i] != "" {
						*to, _ = strconv.ParseInt(m[i], 10, 64)
					}
				}
				list = append(list, x)
			}
			var a Accounts
			for _, x := range list {
				if x.sum > 0 {
					a.Sum(began[x.session], x.at, Sum{Session: x.session, Started: x.since,
						Models: []ModelSum{{Model: x.model, Usage: transcript.Usage{Input: x.sum}}}})
				}
			}
			for _, x := range list {
				if x.sum == 0 && x.from == "" {
					a.Of(x.session).Answered(x.at)
				}
			}
			for _, x := range list {
				switch {
				case x.sum > 0:
				case x.from != "":
					a.Of(x.session).Copied(x.at, x.model, transcript.Usage{Input: 10}, a.Of(x.from))
				default:
					a.Of(x.session).Spend(x.at, x.model, transcript.Usage{Input: 10})
				}
			}
			var got []string
			a.Unwritten(func(acc *Account, at int64, model string, u transcript.Usage) {
				got = append(got, fmt.Sprintf("%s %s %d at %d", acc.Session, model, u.Total(), at))
			})
			if s := strings.Join(got, ", "); s != c.want {
				t.Errorf("%q, want %q", s, c.want)
			}
		})
	}
}
