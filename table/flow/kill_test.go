package flow

import (
	"context"
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"conclave/audit"
	"conclave/dice"
	"conclave/engine"
	"conclave/engine/enginetest"
	"conclave/internal/jsontext"
	"conclave/internal/sample"
	"conclave/record"
	"conclave/table"
	"conclave/table/look"
	"conclave/table/story"
)

// killScripts are a session of two cycles: a roll, a veto and a secret action
// in the first, a second one while the journals of the first are written.
func killScripts(r *rig) {
	r.scripts["gm"] = gmSays("Event: session-start", "Water drips in the mill.\n[ROLL: 1d20+2 | tilda-brannock | Perception | dc 12 | open]\n[ROLL: 1d20 | gm | the thing below | sealed]") +
		gmSays("Event: rolls", "She hears it.\n"+gmContext+prompt(tilda, "QUICK_REACTION")+prompt(gideon, "SECRET_ACTION")+"[AWAIT_AI_PLAYERS: tilda-brannock, gideon-harrowmoor]") +
		gmSays("tilda-brannock vetoed", prompt(tilda, "FULL_CONTEXT")+"[AWAIT_AI_PLAYERS: tilda-brannock]") +
		gmSays("Sub-cycle: 2", "Tilda calls the name.\n[TO: gideon-harrowmoor]\nThe key is in your sleeve now.\n[/TO]\n[FILE+: story-state.md]\nGideon has the key.\n[/FILE]") +
		gmSays("Event: continue", prompt(sera, "QUICK_REACTION")+"Dawn comes.\n[AWAIT_AI_PLAYERS: seraphine-dawnwhisper]") +
		gmSays("Cycle: 2", "Seraphine prays. The end.\n[END_SESSION]")
	r.scripts[tilda] = "turn on QUICK_REACTION\n  veto The sea took my brother.\nturn on FULL_CONTEXT\n  expect You vetoed\n  say Finn! Is it you?\n  say [NOTES]\n  say It had his voice.\n"
	r.scripts[gideon] = "turn\n  say I slip the brass key into my sleeve while nobody looks at me.\n  say [NOTES]\n  say The key is mine.\n"
	r.scripts[sera] = "turn\n  say I kneel and pray for the drowned.\n"
}

// prepareAsh lays out the campaign that is killed.
func prepareAsh(dir string) error {
	for name, text := range baseFiles {
		if err := writeFile(filepath.Join(dir, "campaigns", "ash", filepath.FromSlash(name)), text); err != nil {
			return err
		}
	}
	return nil
}

func killRig(dir string, crash func(string)) *rig {
	r := &rig{t: nil, dir: dir, scripts: map[string]string{"keeper": keeperScript}, people: map[string]bool{}}
	killScripts(r)
	r.opts = Options{Workspace: dir, Campaign: "ash", Cast: r.cast, Auto: true, TestSeed: testSeed(), Crash: crash}
	return r
}

// playAll plays the session from wherever it stands.
func playAll(ctx context.Context, o Options) error {
	t, err := Open(ctx, o)
	if err != nil {
		return err
	}
	defer t.Close()
	if _, err := t.Recover(ctx); err != nil {
		return err
	}
	for {
		s := t.snapshot()
		switch {
		case s.Cycle == 2 && !s.InSession:
			return t.Drain(ctx)
		case s.Cycle == 2:
			err = t.End(ctx)
		case s.Cycle == 1:
			_, err = t.Say(ctx, story.Input{Kind: story.InputContinue})
		default:
			_, err = t.Say(ctx, start)
		}
		if err != nil {
			return err
		}
	}
}

var salts = regexp.MustCompile(`"(salt|prev|hash|id)":"[^"]*"`)

// The session is killed at every step, every change of a file and every moment
// of a turn, and continued: the same files, nobody asked twice, no die thrown
// twice, one narrative, one entry for each character and cycle.
func TestKillEverywhere(t *testing.T) {
	t.Parallel()
	labels := enginetest.KillEverywhere(t, enginetest.Program{
		Scopes:  []string{look.Scope("ash")},
		Prepare: prepareAsh,
		Run: func(ctx context.Context, dir string, crash func(string)) error {
			return playAll(ctx, killRig(dir, crash).opts)
		},
		Check: checkSession,
		Few:   1,
		Some:  6,
		Normalise: func(path string, data []byte) []byte {
			if strings.HasSuffix(path, "dice-log.jsonl") {
				return salts.ReplaceAll(data, []byte(`"$1":""`))
			}
			return data
		},
	})
	t.Logf("%d points", len(labels))
	for _, kind := range []string{"asking", "answered", "rolled", "cleaned", "after entry", "removed notes", "sealed", "tidied", "before create", "staged"} {
		found := false
		for _, l := range labels {
			found = found || strings.HasPrefix(l, kind)
		}
		if !found {
			t.Errorf("no point of kind %q was met", kind)
		}
	}
}

func checkSession(t *testing.T, dir string) {
	t.Helper()
	r := &rig{t: t, dir: dir}
	eqs(t, "tmp", r.tmp(), "narrative-for-journal.md")
	for _, who := range []string{tilda, gideon, sera} {
		if n := strings.Count(r.read("party/"+who+"-journal.md"), "### "); n != 2 {
			t.Errorf("%s has %d entries, want 2", who, n)
		}
	}
	commits := 0
	for _, e := range r.events() {
		if e.Kind == story.EventCommit {
			commits++
		}
	}
	eq(t, "commits", commits, 2)
	report, err := dice.VerifyFile(r.path("dice-log.jsonl"))
	if err != nil || !report.OK() || report.Rolls != 2 || len(report.Epochs) != 1 {
		t.Errorf("dice: %+v, %v", report, err)
	}
	st, err := engine.Peek(t.Context(), engine.Options{Dir: dir, Scope: look.Scope("ash")})
	if err != nil || len(st.Open) != 0 || st.Holder != nil {
		t.Errorf("in the end: %+v, %v", st, err)
	}
	checkRecords(t, dir)
}

// checkRecords: no turn was answered twice, and every record is whole and
// sealed.
func checkRecords(t *testing.T, dir string) {
	t.Helper()
	list, err := record.List(record.Dir(dir))
	if err != nil || len(list) == 0 {
		t.Fatalf("records: %v, %v", list, err)
	}
	for _, info := range list {
		rec, err := record.Open(info.Path)
		if err != nil {
			t.Fatal(err)
		}
		replies := map[string]int{}
		for rec.Next() {
			f := rec.Frame()
			if f.Kind != record.KindLog {
				continue
			}
			if name, _ := jsontext.String(jsontext.Get(f.Payload, "event")); name == audit.EventReply {
				var reply audit.Reply
				if err := json.Unmarshal(jsontext.Get(f.Payload, "context"), &reply); err != nil {
					t.Fatal(err)
				}
				replies[reply.Turn]++
			}
		}
		if err := rec.Err(); err != nil {
			t.Errorf("%s: %v", info.Run, err)
		}
		rec.Close()
		for turn, n := range replies {
			if n != 1 {
				t.Errorf("%s: turn %s was answered %d times", info.Run, turn, n)
			}
		}
		if _, _, err := record.Resume(info.Path); err == nil {
			t.Errorf("%s is not sealed", info.Run)
		}
	}
}

// saveAll saves, plays on, goes back and forks, from wherever it stands, as
// somebody does who types a command again after a crash.
func saveAll(ctx context.Context, dir string, crash func(string)) error {
	r := killRig(dir, crash)
	r.scripts["gm"] = "always\n  say The mill stands.\n  say [FILE+: story-state.md]\n  say One more day.\n  say [/FILE]\n"
	t, err := Open(ctx, r.opts)
	if err != nil {
		return err
	}
	defer t.Close()
	if _, err := t.Recover(ctx); err != nil {
		return err
	}
	happened := func(kind string) bool {
		events, readErr := story.ReadLog(dir, "ash")
		err = errors.Join(err, readErr)
		return slices.ContainsFunc(events, func(e story.Event) bool { return e.Kind == kind })
	}
	saves, err := story.Saves(dir, "ash")
	if err != nil {
		return err
	}
	if t.snapshot().Cycle == 0 {
		if _, err := t.Say(ctx, start); err != nil {
			return err
		}
	}
	if len(saves) == 0 {
		if _, err := t.Save(ctx, "mark"); err != nil {
			return err
		}
	}
	if t.snapshot().Cycle == 1 {
		if _, err := t.Say(ctx, story.Input{Kind: story.InputContinue}); err != nil {
			return err
		}
	}
	if !happened(story.EventRestore) {
		if _, err := t.Restore(ctx, "mark"); err != nil {
			return err
		}
	}
	if _, e := os.Stat(filepath.Join(dir, "campaigns", "other")); e != nil {
		return errors.Join(err, t.Fork(ctx, "other", "mark"))
	}
	return err
}

// What has the name of a save point or of a forked campaign is whole, whenever
// its maker died, and the next attempt makes what is missing.
func TestKilledSaves(t *testing.T) {
	t.Parallel()
	sample.Long(t)
	labels := enginetest.KillEverywhere(t, enginetest.Program{
		Scopes:  []string{look.Scope("ash")},
		Prepare: prepareAsh,
		Run:     saveAll,
		Few:     1,
		Some:    6,
		Normalise: func(path string, data []byte) []byte {
			if strings.HasSuffix(path, "dice-log.jsonl") {
				return nil // a restore that is done twice turns the page twice
			}
			return data
		},
		Check: func(t *testing.T, dir string) {
			for _, c := range []string{"ash", "other"} {
				problems, _, err := look.Validate(dir, c, table.Caps{}, true)
				report, dErr := dice.VerifyFile(filepath.Join(dir, "campaigns", c, table.DiceLogFile))
				if err != nil || dErr != nil || len(problems) > 0 || !report.OK() {
					t.Errorf("%s: %v, %v, %v, %+v", c, problems, err, dErr, report)
				}
			}
			saves, err := story.Saves(dir, "ash")
			if err != nil || len(saves) < 2 {
				t.Errorf("save points: %v, %v", saves, err)
			}
		},
	})
	for _, kind := range []string{"made mark", "named mark", "made other", "named other", "staged"} {
		if !slices.ContainsFunc(labels, func(l string) bool { return strings.HasPrefix(l, kind) }) {
			t.Errorf("no point of kind %q was met", kind)
		}
	}
}
