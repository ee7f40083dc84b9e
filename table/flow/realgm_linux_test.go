package flow

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"conclave/audit"
	"conclave/dice"
	"conclave/internal/modelstub"
	"conclave/internal/sample"
	"conclave/policy"
	"conclave/table"
	"conclave/table/calls"
	"conclave/table/gm"
	"conclave/table/seating"
	"conclave/table/story"
)

// One cycle, told twice: in the seed's files and signal, and in calls of tools.
const (
	tellRain   = "Rain on the mill."
	tellLamp   = "The lantern gutters."
	tellKey    = "A brass key glints below the wheel, for you alone."
	tellLight  = "Tilda's light holds."
	tellSleeve = "The key is in your sleeve now, and nobody saw it."
	addState   = "Gideon may take the key.\n"
)

func tellByText() []string {
	return []string{
		tellRain + "\n[ROLL: 1d20+3 | tilda-brannock | Stealth | dc 15 | open]\n" + tellLamp + "\n[TO: gideon-harrowmoor]\n" + tellKey + "\n[/TO]\n" +
			gmContext + prompt(tilda, "QUICK_REACTION") + prompt(gideon, "SECRET_ACTION") +
			"[FILE+: story-state.md]\n" + addState + "[/FILE]\n[AWAIT_AI_PLAYERS: tilda-brannock, gideon-harrowmoor]\n",
		tellLight + "\n[TO: gideon-harrowmoor]\n" + tellSleeve + "\n[/TO]",
	}
}

// useTool is a call of a tool of the room.
func useTool(name string, input map[string]any) modelstub.Block {
	b, err := json.Marshal(input)
	if err != nil {
		panic(err)
	}
	return modelstub.Call("mcp__room__"+name, "", string(b))
}

// fileOf is the file in a file block.
func fileOf(block string) string {
	_, text, _ := strings.Cut(block, "]\n")
	return strings.TrimSuffix(text, "[/FILE]\n")
}

type args = map[string]any

func tellByTools() []modelstub.Reply {
	answer, say := modelstub.Answer, modelstub.Say
	return []modelstub.Reply{
		answer(say("I set the scene; Gideon gets a secret."), useTool("narrate", args{"text": tellRain}), useTool("write_context", args{"text": fileOf(gmContext)})),
		answer(useTool("roll", args{"expr": "1d20+3", "who": tilda, "purpose": "Stealth", "dc": 15, "visibility": "open"})),
		answer(useTool("narrate", args{"text": tellLamp}), useTool("narrate", args{"to": []string{gideon}, "text": tellKey})),
		answer(useTool("write_prompt", args{"character": tilda, "text": "---\nrequest_type: QUICK_REACTION\n---\n\n## Scene\nThe mill.\n"})),
		answer(useTool("write_prompt", args{"character": tilda, "text": fileOf(prompt(tilda, "QUICK_REACTION"))}),
			useTool("write_prompt", args{"character": gideon, "text": fileOf(prompt(gideon, "SECRET_ACTION"))}),
			useTool("update_state", args{"path": "story-state.md", "text": addState, "append": true})),
		answer(useTool("await_players", args{"names": []string{tilda, gideon}})),
		answer(say("Both are asked. Tilda surely jumps into the water.")),
		answer(useTool("narrate", args{"text": tellLight}), useTool("narrate", args{"to": []string{gideon}, "text": tellSleeve})),
		answer(say("I have told them how it ended.")),
	}
}

// gmTable is a rig with three listeners, and what could be seen of a cycle.
type gmTable struct {
	*rig
	asked   map[string]string // files of tmp/ when a player was asked
	heard   map[string]*talker
	between func() // runs while the players are asked
}

func newGMTable(t *testing.T) *gmTable {
	g := &gmTable{rig: newRig(t, nil), asked: map[string]string{}, heard: map[string]*talker{}, between: func() {}}
	g.opts.Caps.Parallel = 1
	for who, says := range map[string]string{tilda: "I hold the lantern.\n[NOTES]\nI was afraid.", gideon: "I slip the brass key into my sleeve while nobody looks at me.", sera: "I wait."} {
		k := &talker{reply: func(context.Context, string) (string, error) {
			for _, name := range g.tmp() {
				g.asked[name] = g.read("tmp/" + name)
			}
			g.between()
			return says, nil
		}}
		g.agents[who], g.heard[who] = k, k
		g.scripts["keeper of "+who] = ""
		g.heard["keeper of "+who] = g.listening("keeper of "+who, keeperScript)
	}
	return g
}

// gm puts a real program into the GM's seat.
func (g *gmTable) gm(a seating.Actor) {
	cast := g.opts.Cast
	g.opts.Cast = func(role policy.Role, character string, stepIn bool) (seating.Actor, error) {
		if role == policy.GM {
			return a, nil
		}
		return cast(role, character, stepIn)
	}
	g.opts.Caps.GMTimeout = 60 * time.Second
}

// play plays the cycle and returns all that is to be the same: files during it
// and after it, and everything that anybody was told.
func (g *gmTable) play() map[string]string {
	g.t.Helper()
	res := g.say(start)
	g.drain()
	out := map[string]string{}
	for name, text := range g.asked {
		out["asked: "+name] = text
	}
	for who, k := range g.heard {
		out["told: "+who] = k.all()
	}
	for _, seat := range []string{tilda, gideon, sera, table.SeatTable} {
		out["reads: "+seat] = story.TextOf(res.Blocks, seat, table.Roster{}.Called)
	}
	e := g.lastCommit()
	out["rolls"], out["context"] = fmt.Sprint(e.Rolls), e.Context
	for _, a := range e.Asked {
		out["answer: "+a.Character] = fmt.Sprint(a.Type, a.Outcome, a.Private, a.PromptSHA, a.Response)
	}
	root := g.path("")
	err := fs.WalkDir(os.DirFS(root), ".", func(p string, d fs.DirEntry, err error) error {
		if err == nil && !d.IsDir() {
			data := []byte(g.read(p))
			if p == table.DiceLogFile {
				data = salts.ReplaceAll(data, []byte(`"$1":""`))
			}
			out["file: "+p] = string(data)
		}
		return err
	})
	if err != nil {
		g.t.Fatal(err)
	}
	return out
}

func sameWorld(t *testing.T, got, want map[string]string) {
	t.Helper()
	for key, text := range want {
		eq(t, key, got[key], text)
	}
	for key := range got {
		if _, ok := want[key]; !ok {
			t.Errorf("there is also %s: %s", key, got[key])
		}
	}
}

// A real program as the GM. By tools, by the seed's files and signal, and by
// some of both, the campaign's files are the same to the byte, and so is what
// everybody was told.
func TestRealGM(t *testing.T) {
	t.Parallel()
	sample.Long(t)
	text := newGMTable(t)
	said := tellByText()
	text.scripts["gm"] = gmSays("session-start", said[0]) + gmSays("Event: responses", said[1])
	want := text.play()
	text.close()
	for who := range text.heard {
		secret := strings.Contains(want["told: "+who]+want["reads: "+who], "brass key")
		eq(t, who+" knows of the key", secret, strings.HasSuffix(who, gideon))
	}
	has(t, "the shared narrative", want["file: tmp/"+table.NarrativeFile], tellRain+"\n\nRoll #1 · tilda-brannock · Stealth: 1d20+3 = ")
	hasNot(t, "the shared narrative", want["file: tmp/"+table.NarrativeFile], "key")
	has(t, "the dice", want["file: "+table.DiceLogFile], `"purpose":"Stealth"`)
	eq(t, "tmp", strings.Join(text.tmp(), " "), table.NarrativeFile)
	eq(t, "gm-context.md", want["asked: gm-context.md"], fileOf(gmContext))

	programs := []string{"claude", "codex"}
	for _, i := range sample.Pick(t, len(programs), 0, 1) {
		name := programs[i]
		t.Run(name+" by tools", func(t *testing.T) {
			t.Parallel()
			g := newGMTable(t)
			stub := modelstub.New(modelstub.Script(tellByTools()...))
			t.Cleanup(stub.Close)
			g.gm(realProgram(t, name, stub))
			sameWorld(t, g.play(), want)
			eq(t, "withheld", g.lastCommit().Withheld, "I set the scene; Gideon gets a secret.\n\nBoth are asked. Tilda surely jumps into the water.\n\nI have told them how it ended.")
			g.close()
			checkOffer(t, stub.Requests()[0])
			checkToolResults(t, stub)
			checkAudit(t, g.rig)
		})
		t.Run(name+" by files and signal", func(t *testing.T) {
			t.Parallel()
			g := newGMTable(t)
			stub := modelstub.New(modelstub.Script(modelstub.Answer(modelstub.Say(said[0])), modelstub.Answer(modelstub.Say(said[1]))))
			t.Cleanup(stub.Close)
			g.gm(realProgram(t, name, stub))
			sameWorld(t, g.play(), want)
			g.close()
			checkOffer(t, stub.Requests()[0])
		})
		t.Run(name+" by both", func(t *testing.T) {
			t.Parallel()
			// Prompts by tools, and then nothing: the GM is nudged, and signals in
			// words. While the players think its program is gone.
			g := newGMTable(t)
			lost := false
			g.between = func() {
				for _, run := range g.table.seats.Set.Runs() {
					if strings.HasSuffix(run, ".gm") {
						lost = true
						if err := g.table.seats.Set.Leave(run); err != nil {
							t.Error(err)
						}
					}
				}
			}
			calls := tellByTools()
			stub := modelstub.New(modelstub.Script(calls[0], calls[1], calls[2], calls[4], modelstub.Answer(modelstub.Say("All is prepared.")),
				modelstub.Answer(modelstub.Say("[AWAIT_AI_PLAYERS: tilda-brannock, gideon-harrowmoor]")), modelstub.Answer(modelstub.Say(said[1]))))
			t.Cleanup(stub.Close)
			g.gm(realProgram(t, name, stub))
			sameWorld(t, g.play(), want)
			g.close()
			requests := stub.Requests()
			has(t, "after silence", string(requests[5].Body), "Event: nudge")
			last := string(requests[len(requests)-1].Body)
			if !lost {
				t.Error("the program was not gone")
			}
			for _, memory := range []string{"Your session was interrupted", "called narrate with", tellKey, "Roll #1", "AWAIT_AI_PLAYERS: tilda-brannock, gideon-harrowmoor"} {
				has(t, "a program that begins anew", last, memory)
			}
		})
	}
}

// checkOffer wants every tool of the tools in the first request, by name.
func checkOffer(t *testing.T, first modelstub.Request) {
	t.Helper()
	for _, tool := range gm.Tools(nil) {
		if !first.HasTool("mcp__room__" + tool.Name) {
			t.Errorf("%s is not offered: %q", tool.Name, first.Tools())
		}
	}
}

// checkToolResults wants the model to have been told what came of its calls.
func checkToolResults(t *testing.T, stub *modelstub.Server) {
	t.Helper()
	var all strings.Builder
	for _, r := range stub.Requests() {
		for _, result := range r.ToolResults() {
			all.WriteString(result.Text + "\n")
		}
	}
	for _, want := range []string{"Roll #1 · tilda-brannock · Stealth: 1d20+3 = ", "Missing required section: Just Happened", "end it"} {
		has(t, "the results of tools", all.String(), want)
	}
}

// checkAudit wants the calls on the GM's record and in the audit, by turn and
// in order, and nothing found.
func checkAudit(t *testing.T, r *rig) {
	t.Helper()
	files, err := calls.Records(r.dir, "ash")
	if err != nil {
		t.Fatal(err)
	}
	called := map[string][]string{}
	for _, file := range files {
		data, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		report, err := audit.Judge(bytes.NewReader(data))
		if err != nil {
			t.Fatal(err)
		}
		for _, f := range report.Findings {
			t.Errorf("%s: %s", filepath.Base(file), f)
		}
		for _, turn := range report.Turns {
			for _, tool := range turn.Tools {
				name := tool.Name
				if tool.Failed {
					name += "!"
				}
				called[report.Role+" "+turn.ID] = append(called[report.Role+" "+turn.ID], name)
			}
		}
	}
	eq(t, "calls of the first turn", strings.Join(called["gm t1"], " "), "narrate write_context roll narrate narrate write_prompt! write_prompt write_prompt update_state await_players")
	eq(t, "calls of the second turn", strings.Join(called["gm t2"], " "), "narrate narrate")
	eq(t, "turns with calls", len(called), 2)
	list, err := calls.List(r.dir, "ash")
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range list {
		if bad := c.Trespasses(); len(bad) > 0 {
			t.Errorf("%s was fed by %v", c.Run, bad)
		}
	}
	if !slices.ContainsFunc(list, func(c calls.Call) bool { return c.Role == string(policy.GM) && c.Turn == "t2" }) {
		t.Errorf("calls %v", list)
	}
	if report, err := dice.VerifyFile(r.path(table.DiceLogFile)); err != nil || !report.OK() || report.Rolls != 1 {
		t.Errorf("dice: %+v, %v", report, err)
	}
}
