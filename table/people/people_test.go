package people

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"conclave/table"
	"conclave/table/desk"
	"conclave/table/gm"
	"conclave/table/story"
)

const (
	tilda  = "tilda-brannock"
	gideon = "gideon-harrowmoor"
)

// newSeats are the seats of a table of two at which nothing has happened.
func newSeats(t *testing.T) *Seats {
	t.Helper()
	dir := t.TempDir()
	for name, text := range map[string]string{
		"party/" + tilda + ".md":  "# Tilda Brannock\n\nA sailor.\n",
		"party/" + gideon + ".md": "# Gideon Harrowmoor\n\nA thief.\n",
	} {
		file := filepath.Join(dir, "campaigns", "ash", name)
		if err := errors.Join(os.MkdirAll(filepath.Dir(file), 0o755), os.WriteFile(file, []byte(text), 0o644)); err != nil {
			t.Fatal(err)
		}
	}
	c, err := table.OpenCampaign(dir, "ash")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = c.Close() })
	caps := table.Caps{}.WithDefaults()
	return &Seats{Campaign: c, Caps: caps, State: func() story.State { return story.State{} },
		Roster: func() (table.Roster, error) { return table.LoadRoster(c.Party, nil, caps) }}
}

// TestPromptsOfAPerson: a prompt tells what the party was told, and to nobody
// what was told to another.
func TestPromptsOfAPerson(t *testing.T) {
	t.Parallel()
	seats := newSeats(t)
	said, err := seats.Said("gm", "/tell gideon: The key is false.\n[GM]\nThe key is false.\n[/GM]\n[FILE+: story-state.md]\nThe key is false.\n[/FILE]\n"+
		"[TO: gideon-harrowmoor]\nThe key is false.\n[/TO]\nA door opens.\n/roll 1d6\n/secret all: Now?")
	if err != nil {
		t.Fatal(err)
	}
	roster, err := seats.Roster()
	if err != nil {
		t.Fatal(err)
	}
	o := gm.Reader{Roster: roster, Caps: seats.Caps}.Read(gm.Turn{Text: said})
	if len(o.Faults) > 0 || len(o.Signal.Names) < 2 {
		t.Fatalf("%+v", o)
	}
	prompts := 0
	for _, f := range o.Files {
		if !strings.HasSuffix(f.Path, "-prompt.md") {
			continue
		}
		prompts++
		happened := "A door opens."
		if strings.Contains(f.Path, gideon) {
			happened = "The key is false.\n\nThe key is false.\n\nA door opens."
		}
		p, err := table.ParsePrompt([]byte(f.Text), table.Caps{})
		if err != nil || p.Type != table.SecretAction || p.Section("Just Happened") != happened || p.Section("Request") != "Now?" {
			t.Errorf("%s: %+v, %v", f.Path, p, err)
		}
	}
	if prompts != len(o.Signal.Names) {
		t.Errorf("%d prompts for %v", prompts, o.Signal.Names)
	}
	for _, wrong := range []string{"/ask tilda: a\n/ask tilda: b", "/ask : a", "/roll", "/ask tilda, odo: x"} {
		if said, err := seats.Said("gm", wrong); err == nil {
			t.Errorf("%q became %q", wrong, said)
		}
	}
}

// T7: first names in every command that names a character.
func TestFirstNames(t *testing.T) {
	t.Parallel()
	seats := newSeats(t)
	for typed, want := range map[string]string{
		"/roll 1d20 | tilda | listening | dc 12": "[ROLL: 1d20 | tilda-brannock | listening | dc 12]",
		"/status Gideon dead":                    "[STATUS: gideon-harrowmoor dead]",
		"/status tilda brannock absent":          "[STATUS: tilda-brannock absent]",
		"/tell tilda, gideon: Hush.":             "[TO: tilda-brannock, gideon-harrowmoor]",
		"/ask tilda gideon: Now?":                "[AWAIT_AI_PLAYERS: tilda-brannock, gideon-harrowmoor]",
		"/ask Tilda Brannock: Now?":              "[AWAIT_AI_PLAYERS: tilda-brannock]",
	} {
		said, err := seats.Said("gm", typed)
		if err != nil {
			t.Errorf("%s: %v", typed, err)
		}
		if !strings.Contains(said, want) {
			t.Errorf("%s became %q", typed, said)
		}
	}
	for _, wrong := range []string{"/roll 1d20 | odo |", "/roll 4d6x", "/status odo dead", "/status tilda sleepy", "/tell odo: x"} {
		f := (*desk.Fault)(nil)
		if _, err := seats.Said("gm", wrong); !errors.As(err, &f) || f.Line != 1 {
			t.Errorf("%s: %v", wrong, err)
		}
	}
}

// A draft that a person left after the question was answered is for the next one.
func TestALaterDraftIsKept(t *testing.T) {
	t.Parallel()
	seats := newSeats(t)
	for _, x := range []struct {
		who, draft, answered string
		gone                 bool
	}{
		{tilda, "I wait.", "I wait.", true}, {tilda, "/veto No.", "[VETO - need more input]\n\nNo.", true}, {tilda, "I run.", "I wait.", false},
		{"gm", "/end", "[END_SESSION]\n", true}, {"gm", "It rains.", "[END_SESSION]\n", false},
	} {
		if err := Leave(seats.Campaign.Workspace, "ash", x.who, x.draft); err != nil {
			t.Fatal(err)
		}
		if err := seats.Drop(x.who, x.answered); err != nil {
			t.Fatal(err)
		}
		if HasLeft(seats.Campaign.Workspace, "ash", x.who) == x.gone {
			t.Errorf("%s: %q after %q was answered: gone is %v", x.who, x.draft, x.answered, !x.gone)
		}
	}
}

// TestWhatAPersonIsAsked: a person reads the game master's words, not the file.
func TestWhatAPersonIsAsked(t *testing.T) {
	t.Parallel()
	lead, request, hint := gist("Character: tilda\n\n# Your character\n\nA spy.\n\n# The game master asks\n\n---\nrequest_type: SECRET_ACTION\n---\n\n## Scene\nA bar.\n\n## Just Happened\nA crash.\n\n## Combat State\nRound 2\n\n## Request\nReact.\n")
	if lead != "A bar.\n\nA crash.\n\nCombat State: Round 2" || request != "React." ||
		hint != "Nobody but the game master will know." {
		t.Errorf("%q, %q, %q", lead, request, hint)
	}
	if _, request, _ = gist("Event: retry\n\nToo long."); request != "Too long." {
		t.Errorf("a message without a prompt became %q", request)
	}
}
