package scripted

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"reflect"
	"strings"
	"testing"
	"testing/fstest"

	"conclave/agent"
	"conclave/agent/agenttest"
	"conclave/transcript"
)

func TestConformance(t *testing.T) {
	agenttest.Run(t, agenttest.Subject{
		Survives: true,
		New: func(t *testing.T, answers ...agenttest.Answer) (agent.Agent, agent.Spec) {
			script := &Script{}
			for _, a := range answers {
				turn := ScriptTurn{}
				if a.Thinks != "" {
					turn.Steps = append(turn.Steps, Step{Verb: "think", Text: a.Thinks})
				}
				for _, text := range a.Says {
					turn.Steps = append(turn.Steps, Step{Verb: "say", Text: text})
				}
				if a.Hangs {
					turn.Steps = append(turn.Steps, Step{Verb: "stall"})
				}
				script.Turns = append(script.Turns, turn)
			}
			// Through text, so that the suite tests the parser too.
			parsed, err := Parse([]byte(script.String()))
			if err != nil {
				t.Fatalf("%v in\n%s", err, script)
			}
			return &Agent{Script: parsed}, agent.Spec{Role: "cat"}
		},
	})
}

type fixture struct {
	session agent.Session
	store   *agenttest.Store
}

func start(t *testing.T, script string, spec agent.Spec) fixture {
	t.Helper()
	parsed, err := Parse([]byte(script))
	if err != nil {
		t.Fatal(err)
	}
	store := &agenttest.Store{}
	spec.Emitter, err = transcript.NewEmitter(transcript.Options{PromptName: "p", Adapter: transcript.AdapterScripted, Store: store})
	if err != nil {
		t.Fatal(err)
	}
	s, err := (&Agent{Script: parsed}).Start(t.Context(), spec)
	if err != nil {
		t.Fatal(err)
	}
	return fixture{s, store}
}

func (f fixture) say(t *testing.T, text string) (agent.Reply, error) {
	t.Helper()
	turn, err := f.session.Send(t.Context(), agent.Message{Text: text})
	if err != nil {
		return agent.Reply{}, err
	}
	reply, _, err := agenttest.Drain(turn)
	return reply, err
}

func (f fixture) types() string {
	var out []string
	for _, e := range f.store.Entries() {
		out = append(out, string(e.Type))
	}
	return strings.Join(out, " ")
}

func TestRolesAndTurns(t *testing.T) {
	const script = `
turn
  say for anyone
as cat
turn on budget
  say the cat counts
always on again
  say and again
as owl
turn
  say the owl plans
`
	cat := start(t, script, agent.Spec{Role: "cat"})
	for _, step := range [][2]string{{"first", "for anyone"}, {"again", "and again"}, {"the budget, again", "the cat counts"}, {"again please", "and again"}} {
		if reply, err := cat.say(t, step[0]); err != nil || reply.Text != step[1] {
			t.Errorf("%q: %q, %v; want %q", step[0], reply.Text, err, step[1])
		}
	}
	if _, err := cat.say(t, "nothing left"); err == nil || !strings.Contains(err.Error(), `no turn for "cat"`) {
		t.Errorf("a message without a turn gives %v", err)
	}
	owl := start(t, script, agent.Spec{Role: "owl", Resume: "scripted-0"})
	if reply, err := owl.say(t, "resumed behind the first turn"); err != nil || reply.Text != "the owl plans" {
		t.Errorf("resumed: %q, %v", reply.Text, err)
	}
	if id := owl.session.Info().SessionID; id != "scripted-0.3" {
		t.Errorf("session id = %q, want scripted-0.3", id)
	}
}

type echo struct{}

func (echo) CallTool(_ context.Context, name string, input json.RawMessage) (string, error) {
	if name == "roll" {
		return "rolled " + string(input), nil
	}
	return "", errors.New("unknown tool")
}

func TestSteps(t *testing.T) {
	handed := map[string]string{}
	handIn := func(name string, data []byte) error {
		if !fs.ValidPath(name) {
			return errors.New("not a name")
		}
		handed[name] = string(data)
		return nil
	}
	f := start(t, `turn
  expect dragon
  think Hm.
  tool Read {"path": "a"}
  result made up
  tool roll {"expr": "1d20"}
  tool fly {}
  read notes.md
  read ../secret
  write verdict.md <<END
Slain.
END
  write ../../escape.md no
  answer {"verdict": "slain"}
  usage 10 20
  say Done.
`, agent.Spec{Role: "dragon", Tools: agent.Tools{Caller: echo{}}, HandIn: handIn,
		Files: fstest.MapFS{"notes.md": {Data: []byte("the notes")}}})
	reply, err := f.say(t, "the dragon's work")
	if err != nil {
		t.Fatal(err)
	}
	if reply.Text != "Done." || string(reply.Structured) != `{"verdict":"slain"}` || reply.Usage != (transcript.Usage{Input: 10, Output: 20}) {
		t.Errorf("reply = %+v", reply)
	}
	want := "user_message thinking" + strings.Repeat(" tool_use tool_result", 7) + " system_event token_usage assistant_message"
	if got := f.types(); got != want {
		t.Errorf("entries:\n%s\nwant\n%s", got, want)
	}
	var results []string
	for _, e := range f.store.Entries() {
		if e.Type == transcript.ToolResult {
			var d struct {
				Content string
				IsError bool `json:"is_error"`
			}
			if err := json.Unmarshal(e.Detail, &d); err != nil {
				t.Fatal(err)
			}
			results = append(results, fmt.Sprintf("%v %.30s", d.IsError, d.Content))
		}
	}
	wantResults := []string{"false made up", `false rolled {"expr":"1d20"}`, "true unknown tool", "false the notes", "true open ../secret: invalid argu"}
	if len(results) != 7 || !reflect.DeepEqual(results[:4], wantResults[:4]) || !strings.HasPrefix(results[4], "true") || !strings.HasPrefix(results[6], "true") {
		t.Errorf("results = %q", results)
	}
	if !reflect.DeepEqual(handed, map[string]string{"verdict.md": "Slain."}) {
		t.Errorf("handed in: %q", handed)
	}
	f.store.Check(t)
}

func TestBadEnds(t *testing.T) {
	for _, c := range []struct{ name, script, want, types string }{
		{"expect", "turn\n expect cats", `does not contain "cats"`, "user_message error"},
		{"error", "turn\n say so\n error overloaded", "overloaded", "user_message assistant_message error"},
		{"die", "turn\n die half a sen", "died in the middle", "user_message assistant_message error"},
	} {
		t.Run(c.name, func(t *testing.T) {
			f := start(t, c.script, agent.Spec{})
			if _, err := f.say(t, "dogs"); err == nil || !strings.Contains(err.Error(), c.want) {
				t.Errorf("error = %v, want %q", err, c.want)
			}
			if got := f.types(); got != c.types {
				t.Errorf("entries = %s, want %s", got, c.types)
			}
			_, err := f.session.Send(t.Context(), agent.Message{Text: "alive?"})
			if dead := errors.Is(err, agent.ErrStopped); dead != (c.name == "die") {
				t.Errorf("the next message gives %v", err)
			}
		})
	}
}

func TestVetoAndPartialReply(t *testing.T) {
	f := start(t, "turn\n veto My oath is at stake.", agent.Spec{})
	reply, err := f.say(t, "quick!")
	if err != nil || reply.Text != "[VETO - need more input]\n\nMy oath is at stake." {
		t.Errorf("veto = %q, %v", reply.Text, err)
	}
	f = start(t, "turn\n die half a sen", agent.Spec{})
	turn, err := f.session.Send(t.Context(), agent.Message{})
	if err != nil {
		t.Fatal(err)
	}
	for err == nil {
		_, err = turn.Next()
	}
	if errors.Is(err, io.EOF) || turn.Reply().Text != "half a sen" {
		t.Errorf("%v, %q: what was said before death is kept", err, turn.Reply().Text)
	}
}

func TestParseErrorsNameTheLine(t *testing.T) {
	for _, c := range []struct {
		script string
		line   int
		want   string
	}{
		{"say hello", 1, "before the first turn"},
		{"turn\n\n# x\n  jump", 4, `"jump"`},
		{"turn\n result x", 2, "right below its tool"},
		{"turn\n tool", 2, "wants a name"},
		{"turn\n tool T {", 2, "tool:"},
		{"turn\n answer nope", 2, "answer:"},
		{"turn\n wait soon", 2, "wait:"},
		{"turn\n wait -1s", 2, "wait:"},
		{"turn\n usage 1", 2, "two numbers"},
		{"turn\n usage 1 -2", 2, "no number of tokens"},
		{"turn\n stall now", 2, "takes no text"},
		{"turn when x", 1, "on TEXT"},
		{"as", 1, "one role"},
		{"as a b", 1, "one role"},
		{"turn\n say <<\n", 2, "one word"},
		{"turn\n say <<END\nnever", 3, "not ended"},
	} {
		_, err := Parse([]byte(c.script))
		var at *syntaxError
		if !errors.As(err, &at) || at.line != c.line || !strings.Contains(at.reason, c.want) {
			t.Errorf("Parse(%q) = %v; want line %d and %q", c.script, err, c.line, c.want)
		}
	}
}

// FuzzScript: no input makes the parser panic, and a script that it accepts
// reads the same after it was printed.
func FuzzScript(f *testing.F) {
	f.Add("as cat\nturn on <<E\n x\nE\n  say <<END\na\n\nEND2\nEND\n  tool T {\"a\": [1]}\n  result \n  stall\nalways\n  usage 01 2\n  wait 1h\n")
	f.Add("turn\n say <<END\nEND\r\nend\n say  spaced \u0085\n write a/b <<X\n\nX\n answer 1\n die\n")
	f.Add("turn\n say <<<\n<\n")
	f.Fuzz(func(t *testing.T, src string) {
		first, err := Parse([]byte(src))
		if err != nil {
			return
		}
		second, err := Parse([]byte(first.String()))
		if err != nil {
			t.Fatalf("%v in what was printed:\n%s", err, first)
		}
		if !reflect.DeepEqual(first, second) {
			t.Fatalf("%#v\nbecame\n%#v\nthrough\n%s", first, second, first)
		}
	})
}

// String prints the script so that Parse reads the same.
func (s *Script) String() string {
	var b strings.Builder
	role := ""
	for _, t := range s.Turns {
		if t.Role != role {
			role = t.Role
			fmt.Fprintf(&b, "as %s\n", role)
		}
		verb := "turn"
		if t.Always {
			verb = "always"
		}
		b.WriteString(verb)
		if t.On != "" {
			b.WriteString(" on")
			printText(&b, t.On)
		}
		b.WriteByte('\n')
		for _, step := range t.Steps {
			b.WriteString(step.String())
		}
	}
	return b.String()
}
