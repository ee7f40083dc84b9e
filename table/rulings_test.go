package table

import (
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// allRulings are the ids of the rulings on the seed, in order: letter and count.
var allRulings = func() []string {
	var out []string
	for _, g := range []struct {
		letter string
		n      int
		extra  string // an id that stands between two numbers
	}{
		{"A", 12, "A11b"}, {"B", 20, ""}, {"C", 16, "C15b"}, {"D", 12, ""}, {"E", 16, ""},
		{"F", 19, ""}, {"G", 10, ""}, {"H", 6, ""}, {"I", 6, ""},
	} {
		for i := 1; i <= g.n; i++ {
			id := fmt.Sprintf("%s%d", g.letter, i)
			out = append(out, id)
			if strings.TrimSuffix(g.extra, "b") == id {
				out = append(out, g.extra)
			}
		}
	}
	return out
}()

// leftToFlow are the rulings, or the parts of rulings, about what happens when:
// the flow's own test must have a case for each. An id may be here and have a
// case below as well; then the case proves the rule and the flow its use.
var leftToFlow = map[string]string{
	"A12": "a rename moves seats and pending jobs in the same step",
	"B14": "the engine writes the error file before any model call; two repairs, then the operator is asked",
	"B16": "an unsent prompt is told to the GM and deleted at commit",
	"B17": "the bytes read at the signal are the prompt; later edits are ignored and warned of",
	"B18": "a blocked leak gives the GM one rewrite turn",
	"B19": "FULL_CONTEXT without a veto runs without a warning",
	"B20": "prompts reach each backend as plain data; canaries",
	"C4":  "one retry, then the error form",
	"C5":  "the follow-up of a vetoed secret stays private: the cycle carries the flag",
	"C6":  "a veto to COMBAT_ACTION runs a sub-cycle",
	"C7":  "one retry for an empty answer",
	"C9":  "time-outs, crashes and refusals become the error form; the GM is resumed",
	"C10": "one shorten retry",
	"C13": "a late response never enters the cycle",
	"C14": "answers are sealed until the barrier",
	"C15": "notes of a broken prompt are discarded",
	"D2":  "the GM is told that text after the signal was withheld",
	"D6":  "a human's character is routed to the human's seat",
	"D7":  "the GM may change a status",
	"D8":  "prompts without a signal: one nudge",
	"D9":  "a signal without gm-context.md runs with a warning",
	"D10": "the others run when one prompt is missing",
	"D11": "caps on sub-cycles and calls",
	"D12": "a tool call is preferred; the engine writes the text form",
	"E1":  "the engine deletes at the commit point",
	"E2":  "the commit point",
	"E3":  "crash after responses",
	"E4":  "crash after commit",
	"E5":  "crash while players run",
	"E6":  "the start report names what was set aside",
	"E7":  "continuity across GM processes",
	"E9":  "sub-cycles preserve answers",
	"E10": "one engine per campaign",
	"E11": "cycles are serial",
	"E12": "sheets are read again at the next prompt",
	"E13": "no model call when tmp/ is not writable",
	"E14": "order by cycle number",
	"E15": "a GM that hangs",
	"F1":  "every commit with narrative triggers journals",
	"F2":  "human-only exchanges are buffered",
	"F4":  "the payload is a snapshot",
	"F6":  "per character in order, bounded pool",
	"F7":  "wait for one's own pending entries",
	"F9":  "a job is cycle and character",
	"F12": "one repair for missing bullets",
	"F14": "retry, then park",
	"F17": "drain at the end of a session",
	"G2":  "a cycle of secret actions triggers no other journal",
	"G3":  "a neutral word while a private request runs",
	"G4":  "a seat's view is the player's filter",
	"G8":  "audit of every call's sources",
	"G9":  "agents with file tools of their own",
	"I1":  "a human player's files are the same",
	"I2":  "a human GM by commands",
	"I3":  "no time-out for people",
	"I4":  "a person leaves in mid-cycle",
	"I6":  "an answer can be edited until the barrier",
}

// leftToJournal and leftToGM are those that the packages journal and gm prove, or
// a part of.
var (
	leftToJournal = strings.Fields("E12 F3 F8 F9 F10 F11 F12 F13 F16 G2")
	leftToGM      = strings.Fields("A10 A11 C12 D1 D2 D3 D4 D5 D7 D12 E8 G2 I2 I5")
)

func rulingCases() map[string]func(*testing.T) {
	out := map[string]func(*testing.T){}
	for _, m := range []map[string]func(*testing.T){rulingsA, rulingsB, rulingsC, rulingsD, rulingsE, rulingsF, rulingsG, rulingsH, rulingsI} {
		maps.Copy(out, m)
	}
	return out
}

// TestRulings runs a case for every ruling and fails for one that has none.
func TestRulings(t *testing.T) {
	if len(allRulings) != 119 {
		t.Fatalf("%d ids, expected 119", len(allRulings))
	}
	rulings := rulingCases()
	for _, id := range allRulings {
		run, here := rulings[id]
		why, flow := leftToFlow[id]
		switch {
		case here:
			t.Run(id, run)
		case !flow && !slices.Contains(slices.Concat(leftToJournal, leftToGM), id):
			t.Errorf("%s is proven nowhere", id)
		}
		t.Logf("%-4s here=%-5v flow=%s", id, here, why)
	}
	for id := range rulings {
		if !slices.Contains(allRulings, id) {
			t.Errorf("%s is no ruling", id)
		}
	}
	for _, id := range slices.Concat(slices.Collect(maps.Keys(leftToFlow)), leftToJournal, leftToGM) {
		if !slices.Contains(allRulings, id) {
			t.Errorf("%s is no ruling", id)
		}
	}
}

const goodPrompt = "---\nrequest_type: QUICK_REACTION\n---\n\n## Scene\nA bar.\n\n## Just Happened\nA crash.\n\n## Request\nReact.\n"

// newCampaign makes a campaign named ash from files by path.
func newCampaign(t *testing.T, files map[string]string) *Campaign {
	t.Helper()
	ws := t.TempDir()
	base := map[string]string{
		"party/tilda-brannock.md":    "# Tilda Brannock\n\nBond: the sea.\n",
		"party/gideon-harrowmoor.md": "# Gideon Harrowmoor\n",
	}
	maps.Copy(base, files)
	for path, text := range base {
		full := filepath.Join(ws, "campaigns", "ash", filepath.FromSlash(path))
		if err := os.MkdirAll(filepath.Dir(full), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(full, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	c, err := OpenCampaign(ws, "ash")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { c.Close() })
	return c
}

func (c *Campaign) host(path string) string {
	return filepath.Join(c.Workspace, "campaigns", c.Name, filepath.FromSlash(path))
}

func party(names ...string) Roster {
	var r Roster
	for _, n := range names {
		r.Characters = append(r.Characters, Character{Slug: n, Name: nameOf(n), Status: Present})
	}
	return r
}

func duo() Roster { return party("gideon-harrowmoor", "tilda-brannock") }

func load(t *testing.T, c *Campaign) Roster {
	t.Helper()
	r, err := LoadRoster(c.Party, nil, Caps{})
	if err != nil {
		t.Fatal(err)
	}
	return r
}

// eq compares and shows both sides.
func eq[T comparable](t *testing.T, what string, got, want T) {
	t.Helper()
	if got != want {
		t.Errorf("%s:\n got %v\nwant %v", what, got, want)
	}
}

func eqs(t *testing.T, what string, got []string, want ...string) {
	t.Helper()
	if !slices.Equal(got, want) {
		t.Errorf("%s:\n got %q\nwant %q", what, got, want)
	}
}

// has wants a text, or an error, to contain something.
func has(t *testing.T, got any, want string) {
	t.Helper()
	if s := fmt.Sprint(got); !strings.Contains(s, want) {
		t.Errorf("%q does not contain %q", s, want)
	}
}

func ok(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}
