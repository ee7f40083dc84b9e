package flow

import (
	"context"
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"conclave/audit"
	"conclave/engine/enginetest"
	"conclave/internal/jsontext"
	"conclave/internal/sample"
	"conclave/policy"
	"conclave/quest"
	"conclave/record"
)

const campaignScript = `
as gandalf
turn on begin a quest
  say Who waits on the other side?
turn on Bakers
  say Then bridge it.
turn on structured form
  answer {"title":"Cross the river","narrative":"A village waits for bread.","criteria":[{"text":"A bridge stands","sort":"deliverable"}],"dragon":"The flood."}
as cat
turn on flood
  say The flood comes in spring (plan.md:1).
turn on when
  tool log_progress {"text":"Bread baked"}
  tool recommend {"text":"Wait for April"}
  say In March.
turn on A council is held
  say plan.md:1 is thin.
as guardian
turn
  say Not yet.
  tool submit_verdict {"verdict":"Conditional Approval","summary":"one rope is thin","gaps":[],"conditions":["a second rope"]}
as dragon
turn on confront
  say I have looked.
turn on give your verdict
  answer {"verdict":"maybe"}
turn on could not be read
  answer {"verdict":"Dragon Slain","summary":"it stands","criteria":[{"number":1,"status":"met","evidence":"plan.md:1"}]}
as simon
turn on The council has spoken
  say They agree.
turn on parts of the report
  answer {"consensus":"Build it.","dissent":"","next_steps":["Begin"]}
turn on look back
  say Well done.
turn on Bakers
  say Thank them.
as bear
turn
  say plan.md:1 leads across.
as owl
turn
  say plan.md:1 is first.
as puppy
turn
  say plan.md:1 is fun.
as rabbit
turn
  say plan.md:1 needs rope.
as wolf
turn
  say plan.md:1 binds us.
`

func campaignActs() []act {
	return []act{
		{"define", Define{Message: "I want to bring bread.", Mode: quest.GrowAndShip}},
		{"consult", Consult{Who: policy.Cat, Message: "What of the flood?"}},
		{"evaluate", Evaluate{Role: policy.Guardian, Stage: "plan", Paths: []string{"plan.md"}, Words: "checkpoint --stage plan plan.md"}},
		{"evaluate", Evaluate{Role: policy.Dragon, Paths: []string{"plan.md"}, Words: "confront plan.md"}},
		{"debrief", Debrief{}},
	}
}

// answering gives the answers of the campaign: the first message asked for in
// an interaction is answered, the second ends it.
func campaignStage(dir string, crash func(string)) stage {
	return stage{dir: dir, script: campaignScript, crash: crash, answers: map[string]string{
		"1 message": "Bakers. And when does it come?", "agree": "Yes", "setup": "Begin",
	}}
}

func survives(t *testing.T, acts []act, files int) {
	labels := enginetest.KillEverywhere(t, enginetest.Program{
		Scopes: []string{Scope},
		Prepare: func(dir string) error {
			return os.WriteFile(filepath.Join(dir, "plan.md"), []byte("A bridge.\n"), 0o644)
		},
		Run: func(ctx context.Context, dir string, crash func(string)) error {
			_, err := campaignStage(dir, crash).play(ctx, acts)
			return err
		},
		Check: func(t *testing.T, dir string) { checkKilled(t, dir, files) },
	})
	t.Logf("%d points", len(labels))
}

// checkKilled: conversations are proved, records judge clean, and no reply that
// was durable was asked for again.
func checkKilled(t *testing.T, dir string, files int) {
	t.Helper()
	proved(t, dir, files)
	if text, err := os.ReadFile(filepath.Join(dir, filepath.FromSlash(quest.QuestFile))); err == nil {
		if n := strings.Count(string(text), "**Progress** — Bread baked"); n != 1 {
			t.Errorf("what an advisor noted stands %d times in the log", n)
		}
	}
	list, err := record.List(record.Dir(dir))
	if err != nil || len(list) == 0 {
		t.Fatalf("%d records, %v", len(list), err)
	}
	for _, info := range list {
		f, err := os.Open(info.Path)
		if err != nil {
			t.Fatal(err)
		}
		report, err := audit.Judge(f)
		if err != nil || !report.Clean() {
			t.Errorf("%s: %v %+v", info.Run, err, report.Findings)
		}
		if err := askedOnce(f); err != "" {
			t.Errorf("%s: %s", info.Run, err)
		}
		f.Close()
	}
}

// askedOnce finds a message that was sent after its reply was there.
func askedOnce(f *os.File) string {
	r := record.NewReader(f)
	answered := map[string]bool{}
	for r.Next() {
		if r.Frame().Kind != record.KindLog {
			continue
		}
		line := r.Frame().Payload
		event, _ := jsontext.String(jsontext.Get(line, "event"))
		var turn struct{ Turn string }
		if event != audit.EventMessage && event != audit.EventReply {
			continue
		}
		if err := json.Unmarshal(jsontext.Get(line, "context"), &turn); err != nil {
			return err.Error()
		}
		if answered[turn.Turn] {
			return "turn " + turn.Turn + " was asked again after its reply"
		}
		answered[turn.Turn] = event == audit.EventReply
	}
	return ""
}

func TestKilledCampaign(t *testing.T) {
	t.Parallel()
	survives(t, campaignActs(), 5)
}

func TestKilledCouncil(t *testing.T) {
	t.Parallel()
	sample.Long(t)
	survives(t, []act{{"council", Council{Message: "council"}}}, 1)
}
