package flow

import (
	"context"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"

	"conclave/internal/sample"
	"conclave/table"
	"conclave/table/gm"
	"conclave/table/story"
)

// said in secret, each by one of them.
var inSecret = map[string][]string{
	tilda:  {"I slip the copper whistle under the miller's doormat", "Beneath the altar cloth I scratch the word VENGE-41", "I whisper the drowned heir's name into the chimney", "I count nineteen bootprints behind the tannery"},
	gideon: {"I pocket the RING of Saint Orla while the reeve snores", "With borrowed wax I copy the granary key's teeth", "I swap the sacrament wine for vinegar and lamp oil", "I loosen the saddle girth on Osk's mare"},
	sera:   {"I burn the bishop's unopened letter over a candle", "Seven grains of foxglove go into the sexton's porridge", "I bury my grandmother's locket near the crooked gatepost", "I hum the harbour signal at the shutters"},
}

// W7: a passage with the secrets of two is told to neither, one with the secret
// of one to that one alone, however it is dressed up and wherever it stands.
func TestSecretsOfTwo(t *testing.T) {
	t.Parallel()
	a, b := inSecret[gideon][0], inSecret[sera][0]
	for name, c := range map[string]struct {
		says  string
		reads string // the only character that may read it
	}{
		"both":          {a + ". " + b + ".", ""},
		"one":           {"And then: " + a + "!", gideon},
		"a fragment":    {"Somebody does pocket the RING.", gideon},
		"other case":    {strings.ToUpper(b), sera},
		"emphasis":      {"I **poc**ket   *the*\n\nring… OF “saint” Orla", gideon},
		"invisible":     {"po\u200bcket the ri\u00adng of", gideon},
		"a name":        {"Who was Orla?", gideon},
		"scattered":     {"The bishop's candle is out; a letter is gone.", sera},
		"to another":    {"[TO: tilda-brannock]\n" + a + "\n[/TO]", ""},
		"to both":       {"[TO: gideon-harrowmoor, seraphine-dawnwhisper]\n" + a + "\n[/TO]", gideon},
		"two narrated":  {"I burn the [GM]x[/GM]\n[TO: tilda-brannock]bishop's unopened[/TO] letter over a candle", sera},
		"a title":       {"[SCENE: Pocket the RING of Saint Orla | at night]\nDawn.", "all"},
		"a purpose":     {"[ROLL: 1d20 | gm | burn the bishop's unopened letter | open]\nDawn.", "all"},
		"everybody's":   {"[FILE+: party-knowledge.md]\n" + a + "\n[/FILE]\nDawn.", "all"},
		"another sheet": {"[FILE+: party/tilda-brannock.md]\n" + b + "\n[/FILE]\nDawn.", "all"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := newSecretTable(t, map[string]string{gideon: a, sera: b})
			s.publicly = true
			s.say = func(event string) string {
				if event != "responses" {
					return "Dawn."
				}
				return c.says
			}
			res := s.rig.say(start)
			s.rig.drain()
			if c.reads != "all" {
				for _, who := range []string{tilda, gideon, sera, table.SeatTable} {
					if got := strings.TrimSpace(story.TextOf(res.Blocks, who, table.Roster{}.Called)) != ""; got != (who == c.reads) && name != "two narrated" {
						t.Errorf("%s reads %q", who, story.TextOf(res.Blocks, who, table.Roster{}.Called))
					}
				}
			}
			if told := strings.Join(res.Warnings, "\n") + s.gm.all(); !strings.Contains(told, "in secret") {
				t.Error("nobody told the GM")
			}
			s.check(t)
		})
	}
}

// In a cycle in which two act in secret, what is marked for nobody is nobody's,
// and the GM is asked to mark it.
func TestUnmarkedOutcomeOfTwo(t *testing.T) {
	t.Parallel()
	s := newSecretTable(t, map[string]string{gideon: inSecret[gideon][0], sera: inSecret[sera][0]})
	s.say = func(event string) string {
		if event == "repair" {
			return "[TO: gideon-harrowmoor]\nIt fits.\n[/TO]\nDawn."
		}
		return "It works."
	}
	res := s.rig.say(start)
	eq(t, "tilda", story.TextOf(res.Blocks, tilda, table.Roster{}.Called), "Dawn.")
	eq(t, "gideon", story.TextOf(res.Blocks, gideon, table.Roster{}.Called), "It fits.\n\nDawn.")
	eq(t, "sera", story.TextOf(res.Blocks, sera, table.Roster{}.Called), "Dawn.")
}

// secretTable is a rig whose characters act in secret, or not, and whose GM says
// what a test wants. It keeps everything that anybody was given.
type secretTable struct {
	mu       sync.Mutex // of said: players are asked at once
	rig      *rig
	gm       *talker
	said     map[string][]string // in secret, by character
	older    map[string]int      // how many of those were said in earlier cycles
	say      func(event string) string
	talkers  map[string]*talker
	publicly bool // who does not act in secret is asked as well
}

func newSecretTable(t *testing.T, acts map[string]string) *secretTable {
	s := &secretTable{rig: newRig(t, nil), said: map[string][]string{}, talkers: map[string]*talker{}}
	master := &talker{}
	s.gm, s.older = master, map[string]int{}
	master.reply = func(_ context.Context, message string) (string, error) {
		event, _, _ := strings.Cut(strings.TrimPrefix(message, "Event: "), "\n")
		if event != "session-start" && event != "continue" {
			return s.say(event), nil
		}
		out, names := gmContext, []string{}
		for _, who := range []string{tilda, gideon, sera} {
			if _, acts := acts[who]; acts {
				names = append(names, who)
				out += prompt(who, "SECRET_ACTION")
			} else if s.publicly {
				names = append(names, who)
				out += prompt(who, "QUICK_REACTION")
			}
		}
		return out + gm.FormatSignal(names), nil
	}
	s.rig.agents["gm"] = master
	for _, who := range []string{tilda, gideon, sera} {
		player, keeper := &talker{}, &talker{reply: says("### A moment\n- What happened: a\n- What I did: b\n- What I learned: c\n- How I feel: d\n- Notes: e\n")}
		player.reply = func(_ context.Context, message string) (string, error) {
			if strings.Contains(message, "Request: SECRET_ACTION") {
				s.mu.Lock()
				defer s.mu.Unlock()
				for _, words := range []string{acts[who], inSecret[who][3]} { // the GM may ask for more by itself
					if words != "" && !slices.Contains(s.said[who], words) {
						s.said[who] = append(s.said[who], words)
						return words, nil
					}
				}
			}
			return "I look around.", nil
		}
		s.rig.agents[who], s.rig.agents["keeper of "+who] = player, keeper
		s.rig.scripts["keeper of "+who] = ""
		s.talkers[who], s.talkers["keeper of "+who] = player, keeper
	}
	return s
}

// given is everything that a character, its keeper, its screen and its exports
// hold, and what is in the files that it reads.
func (s *secretTable) given(t *testing.T, who string) string {
	t.Helper()
	var parts []string
	for key, k := range s.talkers {
		if strings.HasSuffix(key, who) {
			parts = append(parts, k.all())
		}
	}
	for _, n := range s.rig.notices {
		parts = append(parts, n.For(who))
	}
	log, err := story.PlayLog(s.rig.dir, "ash", "Ash", who)
	if err != nil {
		t.Fatal(err)
	}
	dir := filepath.Join(t.TempDir(), "edition")
	files, err := story.PlayerEdition(s.rig.dir, "ash", "Ash", who, dir)
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range files {
		data, err := os.ReadFile(filepath.Join(dir, f))
		if err != nil {
			t.Fatal(err)
		}
		parts = append(parts, string(data))
	}
	for _, pattern := range []string{"scenes/*", "tmp/narrative*"} {
		found, _ := filepath.Glob(s.rig.path(pattern))
		for _, f := range found {
			data, _ := os.ReadFile(f)
			parts = append(parts, filepath.Base(f), string(data))
		}
	}
	return strings.Join(append(parts, log), "\n")
}

// check looks for three words in a row of another's secret in what each was given.
func (s *secretTable) check(t *testing.T) {
	t.Helper()
	for _, who := range []string{tilda, gideon, sera, table.SeatTable} {
		has := letters(s.given(t, who))
		for owner, list := range s.said {
			for n, secret := range list {
				w := strings.Fields(secret)
				for i := 0; owner != who && i+3 <= len(w); i++ {
					run := strings.Join(w[i:i+3], " ")
					if tells(w[i:i+3], n < s.older[owner]) && strings.Contains(has, letters(run)) {
						t.Errorf("%s holds %q of %s", who, run, owner)
					}
				}
			}
		}
	}
}

// tells says whether three words give something away: one long word, or two of an
// older secret.
func tells(run []string, older bool) bool {
	long := 0
	for _, w := range run {
		if len(letters(w)) >= 6 {
			long++
		}
	}
	return long >= 2 || long == 1 && !older
}

func letters(text string) string {
	return strings.Map(func(r rune) rune {
		if r >= 'a' && r <= 'z' || r >= '0' && r <= '9' {
			return r
		}
		return -1
	}, strings.ToLower(text))
}

// Whatever a GM repeats of whatever was said in secret, wherever, in whatever
// dress: nothing that another player gets holds it.
func TestSecretsProperty(t *testing.T) {
	t.Parallel()
	for seed := range sample.Count(2, 6, 300) {
		t.Run(fmt.Sprint(seed), func(t *testing.T) {
			t.Parallel()
			r := rand.New(rand.NewPCG(uint64(seed), 7))
			acts := map[string]string{}
			s := newSecretTable(t, acts)
			s.publicly = r.IntN(2) == 0
			s.say = func(string) string { return blab(r, s.said) }
			for n := range 3 {
				clear(acts)
				for _, who := range []string{tilda, gideon, sera} {
					if r.IntN(3) > 0 || len(acts) == 0 {
						acts[who] = inSecret[who][n]
					}
				}
				in := start
				if s.rig.table != nil {
					in = story.Input{Kind: story.InputContinue}
				}
				s.rig.say(in)
				s.rig.drain()
				if r.IntN(3) == 0 { // go on in another process
					s.rig.close()
				}
				s.check(t)
				for who, list := range s.said {
					s.older[who] = len(list)
				}
			}
		})
	}
}

// blab is a turn of a GM that cannot keep its mouth shut.
func blab(r *rand.Rand, said map[string][]string) string {
	var b strings.Builder
	for range 1 + r.IntN(4) {
		who := []string{tilda, gideon, sera}[r.IntN(3)]
		part := "It is quiet."
		if n := len(said[who]); n > 0 {
			w := strings.Fields(said[who][n-1]) // older ones may be told in fragments
			from := r.IntN(len(w) - 2)
			part = dress(r, strings.Join(w[from:from+3+r.IntN(len(w)-from-2)], " "))
		}
		other := []string{tilda, gideon, sera}[r.IntN(3)]
		flat := strings.Join(strings.Fields(strings.NewReplacer("|", "", "[", "", "]", "").Replace(part)), " ")
		switch r.IntN(8) {
		case 0:
			fmt.Fprintf(&b, "[TO: %s]\n%s\n[/TO]\n", other, part)
		case 1:
			fmt.Fprintf(&b, "[SCENE: %s | here]\n", flat)
		case 2:
			fmt.Fprintf(&b, "[ROLL: 1d20 | %s | %s | %s]\n", other, flat, []string{"open", "sealed", "private"}[r.IntN(3)])
		case 3:
			fmt.Fprintf(&b, "[FILE+: %s]\n%s\n[/FILE]\n", []string{"party-knowledge.md", "world-primer.md", "party/" + other + ".md"}[r.IntN(3)], part)
		case 4:
			p := prompt(other, []string{"QUICK_REACTION", "SECRET_ACTION"}[r.IntN(2)])
			fmt.Fprintf(&b, "%s%s\n", strings.Replace(p, "A splash below.", part, 1), gm.FormatSignal([]string{other}))
		case 5:
			fmt.Fprintf(&b, "[GM]\n%s\n[/GM]\n", part)
		default:
			b.WriteString(part + "\n\n")
		}
	}
	return b.String()
}

// dress makes the same words look otherwise.
func dress(r *rand.Rand, text string) string {
	switch r.IntN(6) {
	case 0:
		return strings.ToUpper(text)
	case 1:
		return strings.ReplaceAll(text, " ", "\n")
	case 2:
		return "“" + strings.ReplaceAll(text, " ", " *~* ") + "”"
	case 3:
		return "**" + strings.ReplaceAll(text, "e", "e**") + "**"
	case 4:
		return "They say: " + text + ", they say."
	}
	return text
}
