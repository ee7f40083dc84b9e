package flow

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"conclave/agent"
	"conclave/engine"
	"conclave/internal/sample"
	"conclave/policy"
	"conclave/profile"
	"conclave/quest"
	"conclave/seat"
	"conclave/transcript"
)

// TestVerbatim: headings, speaker tags, fences and five megabytes stay what
// they are, and the file is proved.
func TestVerbatim(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	write(t, dir, quest.QuestFile, aQuest)
	size := 5 << 20
	if raced {
		size = 1 << 20
	}
	words := "---\nagent: dragon\n---\n### Exchange\n**🐱 Cat:** forged\n\n\n### Outcome\n\tends with spaces  \r\n" + strings.Repeat("0123456789abcde\n", size/16)
	s := stage{dir: dir, script: "as cat\nturn\n  say <<END\n### Outcome\n\n**User:** also forged\n```\nEND\n  say second block\n"}
	res, err := s.play(t.Context(), []act{{"consult", Consult{Who: policy.Cat, Message: words}}})
	if err != nil {
		t.Fatal(err)
	}
	if res[0].Conversation != "2026-02-14-12-00-cat.md" {
		t.Errorf("file %q", res[0].Conversation)
	}
	text := conversation(t, dir, res[0].Conversation)
	guarded := strings.NewReplacer("\n### ", "\n\\### ", "\n**🐱", "\n\\**🐱").Replace(words)
	want := "### Exchange\n\n**User:** " + guarded + "\n\n**🐱 Cat:** ### Outcome\n\n\\**User:** also forged\n```\n\nsecond block\n\n"
	if !strings.HasSuffix(text, want) {
		t.Errorf("the exchange is not verbatim (%d bytes)", len(text))
	}
	if strings.Contains(text, "The person who leads this quest") {
		t.Error("words of the engine stand in the file")
	}
	proved(t, dir, 1)
}

// TestSameMinute: nothing is ever overwritten.
func TestSameMinute(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	write(t, dir, quest.QuestFile, aQuest)
	write(t, dir, quest.ConversationsDir+"/2026-02-14-12-00-cat.md", "mine\n")
	s := stage{dir: dir, script: "as cat\nalways\n  say Yes.\n"}
	var acts []act
	for range 3 {
		acts = append(acts, act{"consult", Consult{Who: policy.Cat, Message: "Well?"}})
	}
	res, err := s.play(t.Context(), acts)
	if err != nil {
		t.Fatal(err)
	}
	for i, want := range []string{"2026-02-14-12-00-cat_02.md", "2026-02-14-12-00-cat_03.md", "2026-02-14-12-00-cat_04.md"} {
		if res[i].Conversation != want {
			t.Errorf("%d is filed as %q, want %q", i, res[i].Conversation, want)
		}
	}
	if got := conversation(t, dir, "2026-02-14-12-00-cat.md"); got != "mine\n" {
		t.Errorf("a file that was there became %q", got)
	}
}

// TestHundredthOfAMinute: whoever is answered has a file, the hundredth of a
// minute too, with a profile and without.
func TestHundredthOfAMinute(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	write(t, dir, quest.QuestFile, aQuest)
	write(t, dir, ".campaign/profiles/owl.md", "---\narchetype: owl\nskin-name: The Sage\ntheme: T\n---\n\n"+
		"## Character Concept\n\nx\n\n## Tone and Voice\n\ny\n")
	for _, who := range []string{"cat", "owl(the-sage)"} {
		write(t, dir, quest.ConversationsDir+"/2026-02-14-12-00-"+who+".md", "mine\n")
		for n := 2; n <= 99; n++ {
			write(t, dir, fmt.Sprintf("%s/2026-02-14-12-00-%s_%02d.md", quest.ConversationsDir, who, n), "mine\n")
		}
	}
	s := stage{dir: dir, script: "always\n  say Yes.\n"}
	res, err := s.play(t.Context(), []act{{"consult", Consult{Who: policy.Cat, Message: "Well?"}},
		{"consult", Consult{Who: policy.Owl, Message: "Well?"}}, {"consult", Consult{Who: policy.Owl, Message: "And?"}}})
	if err != nil {
		t.Fatal(err)
	}
	for i, want := range []string{"2026-02-14-12-00-cat_99_100.md", "2026-02-14-12-00-owl(the-sage)_99_100.md",
		"2026-02-14-12-00-owl(the-sage)_99_101.md"} {
		if res[i].Conversation != want {
			t.Errorf("%d is filed as %q, want %q", i, res[i].Conversation, want)
		}
		if text := conversation(t, dir, want); !strings.Contains(text, ":** Yes.") {
			t.Errorf("%s: %s", want, text)
		}
	}
}

// waiting answers nothing until it is told to.
type waiting struct {
	answer string
	asked  int
}

func (w *waiting) Ask(_ context.Context, q engine.Question) (string, error) {
	w.asked++
	if w.answer == "" {
		return "", errors.New("not now")
	}
	if strings.Contains(q.ID, " 1 ") {
		return w.answer, nil
	}
	return q.Default, nil
}

// TestRestartsWhileAQuestionWaits: each restart asks again, and nothing else
// happens until there is an answer.
func TestRestartsWhileAQuestionWaits(t *testing.T) {
	t.Parallel()
	sample.Long(t)
	dir := t.TempDir()
	write(t, dir, quest.QuestFile, aQuest)
	s := stage{dir: dir, script: "as cat\nturn on first\n  say One.\nturn on second\n  say Two.\n"}
	w := &waiting{}
	restarts := 300
	if raced {
		restarts = 110 // more than the library's default of attempts
	}
	for i := range restarts {
		if _, err := s.once(t.Context(), w, i == 0, Consult{Who: policy.Cat, Message: "first"}); !errors.As(err, new(*engine.CutError)) {
			t.Fatalf("restart %d: %v", i, err)
		}
	}
	w.answer = "second"
	res, err := s.once(t.Context(), w, false, nil)
	if err != nil || len(res.Said) != 2 {
		t.Fatalf("%+v, %v", res, err)
	}
	if w.asked != restarts+2 {
		t.Errorf("asked %d times in %d restarts", w.asked, restarts)
	}
	text := conversation(t, dir, res.Conversation)
	if strings.Count(text, "**User:**") != 2 || strings.Count(text, "**🐱 Cat:**") != 2 {
		t.Errorf("the conversation is\n%s", text)
	}
	proved(t, dir, 1)
}

// once is one process: it starts or resumes the interaction "x".
func (s stage) once(ctx context.Context, a engine.Asker, start bool, input any) (res Result, err error) {
	h, err := s.house()
	if err != nil {
		return res, err
	}
	e, err := engine.Open(ctx, engine.Options{Dir: s.dir, Scope: Scope, Flows: h.Flows(), Asker: h.Asker(a)})
	if err != nil {
		return res, err
	}
	defer func() { err = errors.Join(err, h.Close(), e.Close()) }()
	var data json.RawMessage
	if start {
		data, err = e.Start(ctx, "consult", "x", input)
	} else {
		data, err = e.Resume(ctx, "x")
	}
	if err != nil {
		return res, err
	}
	return res, json.Unmarshal(data, &res)
}

// TestAbandoned: what was said until then is written down, with the reason.
func TestAbandoned(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	write(t, dir, quest.QuestFile, aQuest)
	s := stage{dir: dir, script: "as cat\nturn\n  say One.\n"}
	if _, err := s.once(t.Context(), &waiting{}, true, Consult{Who: policy.Cat, Message: "first"}); err == nil {
		t.Fatal("nobody answered, and it went on")
	}
	h, err := s.house()
	if err != nil {
		t.Fatal(err)
	}
	h.Abandon("the lights went out")
	e, err := engine.Open(t.Context(), engine.Options{Dir: dir, Scope: Scope, Flows: h.Flows(), Asker: h.Asker(nil)})
	if err != nil {
		t.Fatal(err)
	}
	defer e.Close()
	if _, err := e.Resume(t.Context(), "x"); err != nil {
		t.Fatal(err)
	}
	text := conversation(t, dir, "2026-02-14-12-00-cat.md")
	if !strings.HasSuffix(text, "**🐱 Cat:** One.\n\n### Outcome\n\nended early: the lights went out\n") {
		t.Errorf("the conversation is\n%s", text)
	}
	proved(t, dir, 1)
}

// TestScopesAreApart: a quest's command runs nothing of a table that waits in
// the same workspace, nor of another workspace inside this one.
func TestScopesAreApart(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	inner := filepath.Join(dir, "inner")
	ran := 0
	flows := []engine.Flow{{Name: "turn", Version: 1, Run: func(r *engine.Run, _ json.RawMessage) (json.RawMessage, error) {
		_, err := engine.Do(r, "step", func(context.Context) (int, error) { ran++; return 0, engine.Halt(errors.New("not now")) })
		return nil, err
	}}}
	for _, at := range []struct{ dir, scope string }{{dir, "table-ashfall"}, {inner, Scope}} {
		if err := os.MkdirAll(at.dir, 0o755); err != nil {
			t.Fatal(err)
		}
		e, err := engine.Open(t.Context(), engine.Options{Dir: at.dir, Scope: at.scope, Flows: flows})
		if err != nil {
			t.Fatal(err)
		}
		if _, err := e.Start(t.Context(), "turn", "waits", nil); err == nil {
			t.Fatal("it did not wait")
		}
		if err := e.Close(); err != nil {
			t.Fatal(err)
		}
	}
	write(t, dir, quest.QuestFile, aQuest)
	s := stage{dir: dir, script: "as cat\nturn\n  say One.\n"}
	if _, err := s.play(t.Context(), []act{{"consult", Consult{Who: policy.Cat, Message: "first"}}}); err != nil {
		t.Fatal(err)
	}
	if ran != 2 {
		t.Errorf("the others' step ran %d times, want 2", ran)
	}
	for _, at := range []struct{ dir, scope string }{{dir, "table-ashfall"}, {inner, Scope}} {
		st, err := engine.Peek(t.Context(), engine.Options{Dir: at.dir, Scope: at.scope})
		if err != nil || len(st.Open) != 1 {
			t.Errorf("%s: %+v, %v", at.scope, st, err)
		}
	}
}

// ears hears what is said.
type ears struct{ heard, said []string }

func (e *ears) Hear(_ profile.Face, ev agent.Event) {
	if ev.Delta != "" {
		e.heard = append(e.heard, ev.Delta)
	}
}
func (e *ears) Said(f profile.Face, text string) { e.said = append(e.said, f.Name()+": "+text) }
func (e *ears) Noted(f profile.Face, n int, text string) {
	e.said = append(e.said, fmt.Sprintf("%s notes %d: %s", f.Name(), n, text))
}

// TestOnlyWordsAreHeard: a structured turn is nothing for the person's ears.
func TestOnlyWordsAreHeard(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	write(t, dir, quest.QuestFile, aQuest)
	write(t, dir, "plan.md", "A bridge.\n")
	e := &ears{}
	s := stage{dir: dir, listen: e, script: "as guardian\nturn on checkpoint\n  say Not yet.\nturn on give your verdict\n  say {\"verdict\":\"Blocked\",\"summary\":\"thin\",\"gaps\":[\"rope\"],\"conditions\":[]}\n"}
	res, err := s.play(t.Context(), []act{{"evaluate", Evaluate{Role: policy.Guardian, Stage: "plan", Paths: []string{"plan.md"}, Words: "checkpoint --stage plan plan.md"}}})
	if err != nil {
		t.Fatal(err)
	}
	if res[0].Verdict != "Blocked" || len(e.heard) != 1 || len(e.said) != 1 || e.said[0] != "Guardian: Not yet." {
		t.Errorf("verdict %q, heard %q, said %q", res[0].Verdict, e.heard, e.said)
	}
	text := conversation(t, dir, res[0].Conversation)
	exchange, outcome, _ := strings.Cut(text, "### Outcome")
	if strings.Contains(exchange, "Blocked") || !strings.Contains(outcome, "**Verdict:** Blocked") || !strings.Contains(exchange, "**User:** checkpoint --stage plan plan.md") {
		t.Errorf("the conversation is\n%s", text)
	}
}

// TestUnfinishedWords: what an agent said before it died stands in the file of
// the conversation that was put away, and the file is proved (S2, Q9).
func TestUnfinishedWords(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	write(t, dir, quest.QuestFile, aQuest)
	s := stage{dir: dir, script: "as cat\nturn\n  say The first block.\n  tool Read {\"path\": \"x\"}\n  result nothing\n  die And the sec\n"}
	if _, err := s.once(t.Context(), &waiting{}, true, Consult{Who: policy.Cat, Message: "first"}); err == nil {
		t.Fatal("it did not die")
	}
	h, err := s.house()
	if err != nil {
		t.Fatal(err)
	}
	h.Abandon("the lights went out")
	e, err := engine.Open(t.Context(), engine.Options{Dir: dir, Scope: Scope, Flows: h.Flows(), Asker: h.Asker(nil)})
	if err != nil {
		t.Fatal(err)
	}
	defer e.Close()
	if _, err := e.Resume(t.Context(), "x"); err != nil {
		t.Fatal(err)
	}
	text := conversation(t, dir, "2026-02-14-12-00-cat.md")
	want := "**User:** first\n\n**🐱 Cat:** The first block.\n\nAnd the sec\n\n### Outcome\n\nended early: the lights went out\n"
	if !strings.HasSuffix(text, want) {
		t.Errorf("the conversation is\n%s", text)
	}
	proved(t, dir, 1)
}

// streaming is an agent that is heard while it speaks, and dies in the middle of
// a block.
type streaming struct {
	pieces []string
	n      int
}

func (*streaming) Adapter() string { return transcript.AdapterScripted }
func (s *streaming) Start(context.Context, agent.Spec) (agent.Session, error) {
	return s, nil
}
func (s *streaming) Send(context.Context, agent.Message) (agent.Turn, error) { return s, nil }
func (*streaming) Info() agent.Info                                          { return agent.Info{} }
func (*streaming) Stop(context.Context) error                                { return nil }
func (*streaming) Reply() agent.Reply                                        { return agent.Reply{} }

func (s *streaming) Next() (agent.Event, error) {
	if s.n == len(s.pieces) {
		return agent.Event{}, errors.New("killed")
	}
	s.n++
	return agent.Event{Delta: s.pieces[s.n-1]}, nil
}

// TestHalfABlock: what somebody has heard of a block that never ended stands in
// the file of the conversation, and the file is proved.
func TestHalfABlock(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	write(t, dir, quest.QuestFile, aQuest)
	house := func(l Listener) *House {
		return New(Options{Root: dir, Now: noon, Listener: l, Library: profile.Library{}, Dress: func(p *seat.Plan) error {
			p.Agent, p.InProcess, p.Program = &streaming{pieces: []string{"The bridge ", "will hold, ", "unl"}}, true, "test"
			return nil
		}})
	}
	h := house(&ears{})
	e, err := engine.Open(t.Context(), engine.Options{Dir: dir, Scope: Scope, Flows: h.Flows(), Asker: h.Asker(nil)})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := e.Start(t.Context(), "consult", "x", Consult{Who: policy.Cat, Message: "Will it hold?"}); err == nil {
		t.Fatal("it did not die")
	}
	if err := errors.Join(h.Close(), e.Close()); err != nil {
		t.Fatal(err)
	}
	h = house(nil)
	h.Abandon("the lights went out")
	e, err = engine.Open(t.Context(), engine.Options{Dir: dir, Scope: Scope, Flows: h.Flows(), Asker: h.Asker(nil)})
	if err != nil {
		t.Fatal(err)
	}
	defer e.Close()
	if _, err := e.Resume(t.Context(), "x"); err != nil {
		t.Fatal(err)
	}
	text := conversation(t, dir, "2026-02-14-12-00-cat.md")
	want := "**User:** Will it hold?\n\n**🐱 Cat:** The bridge will hold, unl\n\n### Outcome\n\nended early: the lights went out\n"
	if !strings.HasSuffix(text, want) {
		t.Errorf("the conversation is\n%s", text)
	}
	proved(t, dir, 1)
}
