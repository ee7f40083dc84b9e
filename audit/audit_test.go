package audit_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"io"
	"log/slog"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"conclave/agent/scripted"
	"conclave/audit"
	"conclave/internal/shingle"
	"conclave/record"
	"conclave/room"
	"conclave/seat"
	"conclave/transcript"
)

func TestMain(m *testing.M) {
	room.Init()
	os.Exit(m.Run())
}

const (
	narrative = "The party struggled mightily for weeks before it found the answer at last, in a drawer nobody had opened."
	criteria  = "1. The answer is written down where a stranger finds it within a minute of looking for it.\n"
)

type run struct {
	kind   string // of what is given
	script string
	say    string
	event  func(s *seat.Seat) error // something more for the record
}

// judge plays a run with a Dragon and judges its record.
func judge(t *testing.T, r run) *audit.Report {
	t.Helper()
	_, report := play(t, r)
	return report
}

func play(t *testing.T, r run) (string, *audit.Report) {
	t.Helper()
	if r.kind == "" {
		r.kind = "success-criteria"
	}
	script, err := scripted.Parse([]byte(r.script))
	if err != nil {
		t.Fatal(err)
	}
	ws := t.TempDir()
	s, err := seat.Open(t.Context(), seat.Plan{
		Workspace: ws, Run: "run-1", Role: "dragon", PromptName: "quest.confront", Agent: &scripted.Agent{Script: script}, InProcess: true,
		Room: room.Plan{Base: filepath.Join(t.TempDir(), "rooms"), Grants: []room.Grant{{Kind: r.kind, Name: "criteria.md", Bytes: []byte(criteria)}}},
		Denied: []seat.Denied{
			{Kind: "quest-narrative", Name: "the narrative", Reason: "judge the work", Text: []byte(narrative)},
			{Kind: "quest-narrative", Name: "a word", Reason: "judge the work", Text: []byte("Too short to be looked for.")},
		},
	})
	if err != nil {
		t.Fatal(err)
	}
	if r.say == "" {
		r.say = "Judge the work."
	}
	_, turnErr := s.Take(t.Context(), seat.Turn{ID: "t1", Parts: []audit.Part{{Origin: audit.FromPerson, Text: r.say}}})
	if turnErr != nil {
		t.Fatal(turnErr)
	}
	if r.event != nil {
		if err := r.event(s); err != nil {
			t.Fatal(err)
		}
	}
	if _, err := s.Close(context.Background(), "done"); err != nil {
		t.Fatal(err)
	}
	path, err := record.Path(ws, "run-1")
	if err != nil {
		t.Fatal(err)
	}
	return path, judgeFile(t, path)
}

func judgeFile(t *testing.T, path string) *audit.Report {
	t.Helper()
	f, err := os.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	report, err := audit.Judge(f)
	if err != nil {
		t.Fatal(err)
	}
	return report
}

func TestACleanRun(t *testing.T) {
	r := judge(t, run{script: "turn\n read criteria.md\n say It stands."})
	if !r.Clean() || !r.Sound || !r.Sealed {
		t.Fatalf("findings = %v", r.Findings)
	}
	turn := r.Turns[0]
	if len(r.Turns) != 1 || turn.Level != "in-process" || !turn.Receipt || !turn.Answered || turn.Denied != 2 || turn.Sought != 1 || turn.Searched < 3 ||
		len(turn.Given) != 1 || turn.Model != audit.InputNone {
		t.Errorf("turn = %+v", turn)
	}
	if len(r.Unseen) == 0 {
		t.Error("it does not say what it cannot see")
	}
}

// The calls of the room's tools are in the report, those that were refused too.
func TestToolsAreNamed(t *testing.T) {
	r := judge(t, run{script: "turn\n tool submit {\"a\":1}\n say It stands."})
	want := audit.Tool{Name: "submit", SHA256: "015abd7f5cc57a2dd94b7590f04ad8084273905ee33ec5cebeae62276a97f862", Bytes: 7, Failed: true}
	if tools := r.Turns[0].Tools; len(tools) != 1 || tools[0] != want {
		t.Errorf("tools = %+v", tools)
	}
}

func found(t *testing.T, r *audit.Report, rule, what string) {
	t.Helper()
	for _, f := range r.Findings {
		if f.Rule == rule && strings.Contains(f.What, what) {
			return
		}
	}
	t.Errorf("no finding %s with %q among %v", rule, what, r.Findings)
}

func TestFindings(t *testing.T) {
	quiet := "turn\n say So."
	t.Run("denied words in the message", func(t *testing.T) {
		r := judge(t, run{script: quiet, say: "Mind that the party STRUGGLED mightily, for weeks,\nbefore it found the answer."})
		found(t, r, audit.RuleFound, "the narrative stands in the message (person)")
	})
	t.Run("denied words in a tool's result", func(t *testing.T) {
		r := judge(t, run{script: "turn\n tool Bash {\"command\":\"cat /home/ada/quest.md\"}\n result " + narrative + "\n say So."})
		found(t, r, audit.RuleFound, "an entry of type tool_result")
		if got := r.Turns[0].Declared; len(got) != 1 || got[0] != "/home/ada/quest.md" {
			t.Errorf("declared = %q", got)
		}
	})
	t.Run("denied words in JSON in JSON", func(t *testing.T) {
		inner, _ := json.Marshal(map[string]string{"text": strings.ReplaceAll(narrative, " ", "\n")})
		r := judge(t, run{script: "turn\n tool T {}\n result " + string(inner) + "\n say So."})
		found(t, r, audit.RuleFound, "tool_result")
	})
	t.Run("a kind that the role must not have", func(t *testing.T) {
		r := judge(t, run{kind: "progress-log", script: quiet})
		found(t, r, audit.RuleGiven, "criteria.md (progress-log) is in the room of dragon")
	})
	t.Run("an unlocked room", func(t *testing.T) {
		r := judge(t, run{script: quiet, event: func(s *seat.Seat) error {
			return s.Event(audit.EventReceipt, "receipt", audit.Receipt{Turn: "t1", Role: "dragon", Enforced: audit.Enforcement{Level: "fenced"}})
		}})
		found(t, r, audit.RuleEnforced, `the room was "fenced", dragon needs sealed`)
	})
	t.Run("a level without probes", func(t *testing.T) {
		r := judge(t, run{script: quiet, event: func(s *seat.Seat) error {
			return s.Event(audit.EventReceipt, "receipt", audit.Receipt{Turn: "t1", Role: "dragon", Enforced: audit.Enforcement{Level: "sealed"}})
		}})
		found(t, r, audit.RuleEnforced, "without a probe")
	})
	t.Run("a probe that shows nothing", func(t *testing.T) {
		r := judge(t, run{script: quiet, event: func(s *seat.Seat) error {
			return s.Event(audit.EventReceipt, "receipt", audit.Receipt{Turn: "t1", Role: "dragon", Enforced: audit.Enforcement{Level: "sealed",
				Probes: []audit.Probe{{Name: "read", Control: "ok", Restricted: "EACCES"}, {Name: "tcp", Control: "refused", Restricted: "refused"}}}})
		}})
		found(t, r, audit.RuleEnforced, `the probe "tcp" shows nothing`)
	})
	t.Run("lowered by the person's word is a gap, not a finding", func(t *testing.T) {
		r := judge(t, run{script: quiet, event: func(s *seat.Seat) error {
			return s.Event(audit.EventReceipt, "receipt", audit.Receipt{Turn: "t1", Role: "dragon", Stamps: []string{"room lowered to fenced"}, Enforced: audit.Enforcement{Level: "fenced"}})
		}})
		if !r.Clean() || len(r.Gaps) == 0 {
			t.Errorf("findings %v, gaps %v", r.Findings, r.Gaps)
		}
	})
	t.Run("a fallback is a gap where the role has one", func(t *testing.T) {
		receipt := func(role, level string) func(*seat.Seat) error {
			return func(s *seat.Seat) error {
				return s.Event(audit.EventReceipt, "receipt", audit.Receipt{Turn: "t1", Role: role, Enforced: audit.Enforcement{Level: level,
					Fallback: "no namespaces", Probes: []audit.Probe{{Name: "read", Control: "ok", Restricted: "EACCES"}}}})
			}
		}
		if r := judge(t, run{script: quiet, event: receipt("cat", "fenced")}); !r.Clean() {
			t.Errorf("findings %v, gaps %v", r.Findings, r.Gaps)
		}
		found(t, judge(t, run{script: quiet, event: receipt("cat", "advisory")}), audit.RuleEnforced, `the room was "advisory", cat needs`)
		found(t, judge(t, run{script: quiet, event: receipt("dragon", "fenced")}), audit.RuleEnforced, `the room was "fenced", dragon needs sealed`)
	})
	t.Run("a turn without a receipt", func(t *testing.T) {
		r := judge(t, run{script: quiet, event: func(s *seat.Seat) error {
			return s.Event(audit.EventMessage, "message", audit.Message{Turn: "t2", Attempt: 1, Parts: []audit.Part{{Origin: audit.FromEngine, Text: "x"}}})
		}})
		found(t, r, audit.RuleReceipt, "no receipt")
	})
}

func TestACanaryIsFound(t *testing.T) {
	path := filepath.Join(t.TempDir(), "x.record")
	w, err := record.Create(path, record.Header{Run: "x"})
	if err != nil {
		t.Fatal(err)
	}
	e, err := transcript.NewEmitter(transcript.Options{PromptName: "p", Adapter: transcript.AdapterClaude, Store: w})
	if err != nil {
		t.Fatal(err)
	}
	for _, step := range []func() error{
		func() error {
			return e.Event(slog.LevelInfo, audit.EventRoom, "", audit.Room{Role: "dragon", Key: bytes.Repeat([]byte{1}, 16), Canaries: []string{"canary-77"}})
		},
		func() error {
			return e.Event(slog.LevelInfo, audit.EventMessage, "", audit.Message{Turn: "t", Attempt: 1})
		},
		func() error {
			return w.AppendBlob("gateway.request/a-1", []byte(`{"messages":[{"content":"my env: X=can`))
		},
		func() error { return w.AppendBlob("gateway.request/a-1", []byte(`ary-77 and so on"}]}`)) },
		func() error { _, err := e.Emit(transcript.Item{Type: transcript.UserMessage}); return err },
		func() error {
			return e.Event(slog.LevelInfo, audit.EventReceipt, "", audit.Receipt{Turn: "t", Role: "dragon", InProcess: true, ModelInput: audit.InputNotObserved})
		},
		func() error { _, err := w.Seal("done"); return err },
		w.Close,
	} {
		if err := step(); err != nil {
			t.Fatal(err)
		}
	}
	r := judgeFile(t, path)
	found(t, r, audit.RuleCanary, "what the model was sent")
	if len(r.Gaps) != 1 || !strings.Contains(r.Gaps[0], "not observed") {
		t.Errorf("gaps = %v", r.Gaps)
	}
}

// A room that led to a vendor unseen is a gap for a role that may have it, and a
// finding for a judge, or where somebody claims more.
func TestForwardedReceipt(t *testing.T) {
	probes := []audit.Probe{{Name: "p", Control: "ok", Restricted: "denied", Where: "witness"}}
	const level = "sealed but for a forwarder"
	for _, c := range []struct {
		name, role, level, input, want string
	}{
		{"a role that may", "cat", level, audit.InputNotObserved, ""},
		{"a judge", "dragon", level, audit.InputNotObserved, "dragon needs sealed"},
		{"called sealed", "cat", "sealed", audit.InputNotObserved, "the level sealed is claimed, and the room led to vendor.example unseen"},
		{"called observed", "cat", level, audit.InputObserved, `said to be "observed"`},
	} {
		t.Run(c.name, func(t *testing.T) {
			path := filepath.Join(t.TempDir(), "r.record")
			w, err := record.Create(path, record.Header{Run: "r", Attributes: map[string]string{"role": c.role, "prompt_name": "p", "adapter": "claude"}})
			if err != nil {
				t.Fatal(err)
			}
			e, err := transcript.NewEmitter(transcript.Options{PromptName: "p", Adapter: transcript.AdapterClaude, Store: w})
			if err != nil {
				t.Fatal(err)
			}
			receipt := audit.Receipt{Turn: "t", Role: c.role, ModelInput: c.input, Credential: audit.CredentialInRoom,
				Enforced: audit.Enforcement{Level: c.level, Required: "sealed", Probes: probes, Forwards: []string{"vendor.example"}}}
			_, emitted := e.Emit(transcript.Item{Type: transcript.UserMessage})
			err = errors.Join(e.Event(slog.LevelInfo, audit.EventRoom, "", audit.Room{Role: c.role, Key: bytes.Repeat([]byte{1}, 16)}),
				e.Event(slog.LevelInfo, audit.EventMessage, "", audit.Message{Turn: "t", Attempt: 1}), emitted,
				e.Event(slog.LevelInfo, audit.EventReply, "", audit.Reply{Turn: "t", Attempt: 1}),
				e.Event(slog.LevelInfo, audit.EventReceipt, "", receipt))
			if _, sealing := w.Seal("done"); errors.Join(err, sealing, w.Close()) != nil {
				t.Fatal(err, sealing)
			}
			r := judgeFile(t, path)
			var findings []string
			for _, f := range r.Findings {
				if f.Rule == audit.RuleEnforced || f.Rule == audit.RuleReceipt {
					findings = append(findings, f.What)
				}
			}
			all := strings.Join(findings, "\n")
			if (c.want == "") != (all == "") || !strings.Contains(all, c.want) {
				t.Errorf("found %q, want %q", all, c.want)
			}
			if r.Turns[0].Level != c.level+" to vendor.example" || !strings.Contains(strings.Join(r.Gaps, "\n"), "the credential was in the room") {
				t.Errorf("%+v", r)
			}
		})
	}
}

// What is hidden by escapes is found; but not by the fingerprints of a version
// that did not look there when it left out what the role was given.
func TestReadings(t *testing.T) {
	printer := shingle.NewPrinter()
	print := printer.Print([]byte("the party struggled mightily for weeks before it found the answer"))
	for _, readings := range []int{0, 2} {
		path := filepath.Join(t.TempDir(), "x.record")
		w, err := record.Create(path, record.Header{Run: "x"})
		if err != nil {
			t.Fatal(err)
		}
		e, err := transcript.NewEmitter(transcript.Options{PromptName: "p", Adapter: transcript.AdapterClaude, Store: w})
		if err != nil {
			t.Fatal(err)
		}
		var blob bytes.Buffer
		digests := printer.Digests([]shingle.Print{print}, nil)[0]
		for _, d := range digests {
			blob.Write(d[:])
		}
		room := audit.Room{Role: "dragon", Key: printer.Key(), Readings: readings,
			Denied: []audit.Source{{Name: "log", Size: 60, Windows: len(digests)}}}
		hidden := `the party\nstruggled\nmightily\nfor weeks\nbefore it\nfound the\nanswer`
		err = errors.Join(
			e.Event(slog.LevelInfo, audit.EventRoom, "", room), w.AppendBlob(audit.FingerprintChannel, blob.Bytes()),
			e.Event(slog.LevelInfo, audit.EventMessage, "", audit.Message{Turn: "t", Attempt: 1, Parts: []audit.Part{{Origin: audit.FromPerson, Text: hidden}}}),
			w.Close())
		if err != nil {
			t.Fatal(err)
		}
		r := judgeFile(t, path)
		if yes := slices.ContainsFunc(r.Findings, func(f audit.Finding) bool { return f.Rule == audit.RuleFound }); yes != (readings == 2) {
			t.Errorf("%d readings: %v", readings, r.Findings)
		}
	}
}

func TestChainSealAndWithheldCopies(t *testing.T) {
	path, r := play(t, run{script: "turn\n say So.", say: "Mind that the party struggled mightily for weeks before it found the answer."})
	if r.Clean() {
		t.Fatal("the planted words were not found")
	}
	data, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	changed := bytes.Clone(data)
	changed[len(changed)/2] ^= 1
	if r, err := audit.Judge(bytes.NewReader(changed)); err != nil {
		t.Fatal(err)
	} else {
		found(t, r, audit.RuleChain, "")
	}
	if r, err := audit.Judge(bytes.NewReader(data[:len(data)-1])); err != nil {
		t.Fatal(err)
	} else {
		found(t, r, audit.RuleSeal, "")
	}
	withheld, err := audit.Judge(bytes.NewReader(without(t, data, "struggled")))
	if err != nil {
		t.Fatal(err)
	}
	if !withheld.Sound || withheld.Head != r.Head || len(withheld.Gaps) == 0 {
		t.Errorf("a copy with payloads withheld: sound %v, gaps %v", withheld.Sound, withheld.Gaps)
	}
}

// without is a copy of a record whose payloads that hold a word are withheld.
func without(t *testing.T, data []byte, word string) []byte {
	t.Helper()
	var stripped, copied bytes.Buffer
	s, err := record.NewStripper(&stripped)
	if err != nil {
		t.Fatal(err)
	}
	r := record.NewReader(bytes.NewReader(data))
	for r.Next() {
		if err := s.Add(r.Frame(), record.Kept{Withheld: bytes.Contains(r.Frame().Payload, []byte(word))}); err != nil {
			t.Fatal(err)
		}
	}
	if _, _, err := s.Close(); err != nil || r.Err() != nil {
		t.Fatal(err, r.Err())
	}
	if err := record.Restore(&copied, &stripped, func() ([]byte, error) { return nil, io.EOF }); err != nil {
		t.Fatal(err)
	}
	return copied.Bytes()
}

// A record that was cut anywhere says of what is left only what is left: never that
// it was another program's session.
func TestCutAnywhere(t *testing.T) {
	dir := t.TempDir()
	for name, c := range map[string]struct {
		attributes map[string]string
		says, not  string
	}{
		"own":       {map[string]string{"adapter": "model"}, "a run of Conclave's own", "another program"},
		"collected": {map[string]string{"adapter": "offline", "collected": "/a/session.jsonl"}, "another program", "Conclave's own"},
	} {
		path := filepath.Join(dir, name+record.Extension)
		w, err := record.Create(path, record.Header{Run: name, Attributes: c.attributes})
		if err != nil {
			t.Fatal(err)
		}
		if err := w.Close(); err != nil {
			t.Fatal(err)
		}
		whole, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		for n := range len(whole) + 1 {
			r, err := audit.Judge(bytes.NewReader(whole[:n]))
			if err != nil {
				t.Fatalf("%s, %d bytes: %v", name, n, err)
			}
			says := strings.Join(r.Gaps, "\n")
			want := c.says
			if n == 0 || r.Run == "" {
				want = "its head was never written"
			}
			if !strings.Contains(says, want) || strings.Contains(says, c.not) {
				t.Errorf("%s, %d of %d bytes: %q", name, n, len(whole), says)
			}
		}
	}
}
