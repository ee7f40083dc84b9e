package judge

import (
	"os"
	"slices"
	"strings"
	"testing"

	"conclave/internal/sample"
	"conclave/internal/screen"
	"conclave/room"
)

func TestMain(m *testing.M) {
	room.Init()
	code := m.Run()
	if bin != "" {
		os.RemoveAll(bin)
	}
	os.Exit(code)
}

// What may come of a way.
const (
	refused = "refused" // nobody is asked, and it is exit 2 or 3
	judged  = "judged"  // the judge is asked, and says no
	either  = "either"
	third   = "third" // nobody is asked, and it is exit 3
)

// way is one attempt, by the command.
type way struct {
	name  string
	plant func(w *world)
	args  []string // of gate; {CONV}, {WS} and {OUT} stand for paths
	want  string
	sees  string // must be in what the judge is sent
}

func (w *world) expand(args []string) []string {
	r := strings.NewReplacer("{CONV}", w.conversation(), "{WS}", w.ws(), "{OUT}", w.elsewhere(""))
	out := make([]string, len(args))
	for i, a := range args {
		out[i] = r.Replace(a)
	}
	return out
}

// TestTheJudgeIsReached shows that the ways could succeed.
func TestTheJudgeIsReached(t *testing.T) {
	w := newWorld(t)
	t.Run("words arrive that the person lets in", func(t *testing.T) {
		w.again(t)
		w.files(map[string]string{"src/why.md": reasoned + "\n"})
		out := w.run("gate", "--criteria", "criteria.md", "--work", "src", "--accept-context")
		if sent, _, _ := w.judge.heard(); out.code != 1 || !strings.Contains(sent, canary) {
			t.Errorf("exit %d, the canary did not arrive: %s", out.code, out.all())
		}
	})
	for _, line := range [][]string{{"--criteria", "criteria.md"}, {"--judge", "guardian", "--expect", "It greets."}} {
		t.Run("a judge that says yes is believed "+line[0], func(t *testing.T) {
			w.again(t)
			w.judge.says("met")
			if out := w.run(append([]string{"gate", "--work", "src"}, line...)...); out.code != 0 {
				t.Errorf("exit %d: %s", out.code, out.all())
			}
		})
	}
	t.Run("what the judge says stands on its record", func(t *testing.T) {
		w.again(t)
		w.run("gate", "--criteria", "criteria.md", "--work", "src")
		if out := w.run("search", roomWord); out.code != 0 || !strings.Contains(out.stdout, roomWord) {
			t.Errorf("the person does not find it: exit %d: %s", out.code, out.all())
		}
	})
}

// TestWays tries every way of the command.
func TestWays(t *testing.T) {
	ways := slices.Concat(arguments, names(), environment(), links, repositories, governors(), forgeries)
	t.Logf("%d ways", len(ways))
	w := newWorld(t)
	for _, i := range sample.Pick(t, len(ways), 5, 12) {
		a := ways[i]
		t.Run(a.name, func(t *testing.T) {
			w.again(t)
			if a.plant != nil {
				a.plant(w)
			}
			w.hold(t, a, w.run(append([]string{"gate"}, w.expand(a.args)...)...))
		})
	}
}

// hold holds what came of a way against what may.
func (w *world) hold(t *testing.T, a way, out output) {
	t.Helper()
	sent, files, times := w.judge.heard()
	switch {
	case a.want == refused && (times > 0 || out.code != 2 && out.code != 3):
		t.Errorf("exit %d, and the judge was asked %d times; want a refusal\n%s", out.code, times, out.all())
	case a.want == third && (times > 0 || out.code != 3):
		t.Errorf("exit %d, and the judge was asked %d times; want exit 3\n%s", out.code, times, out.all())
	case a.want == judged && (times == 0 || out.code != 1):
		t.Errorf("exit %d, and the judge was asked %d times; want its no\n%s", out.code, times, out.all())
	case out.code == 0:
		t.Errorf("exit 0: nobody said that it is met\n%s", out.all())
	}
	w.holdRoom(t, sent, files)
	if a.sees != "" && !strings.Contains(sent, a.sees) {
		t.Errorf("the judge did not see %q", a.sees)
	}
	if found := screen.Foreign([]byte(out.all())); len(found) > 0 {
		t.Errorf("something acts on the terminal: %q", out.all())
	}
	w.holdAnswer(t, "the answer", out.all())
	if marks, _ := os.ReadDir(w.marked()); len(marks) > 0 {
		t.Errorf("a planted program ran")
	}
	if list, _ := os.ReadDir(w.elsewhere("")); len(list) != 1 {
		t.Errorf("something was written elsewhere: %v", list)
	}
}

// holdRoom holds a room against what may lie in it.
func (w *world) holdRoom(t *testing.T, sent string, files []string) {
	t.Helper()
	for _, word := range []string{canary, outside, "A guest waits", "Phase 1 complete", w.dir, "STUB_KEY", "example.com"} {
		if i := strings.Index(sent, word); i >= 0 {
			t.Errorf("the judge was sent %q: %q", word, sent[max(0, i-100):min(len(sent), i+100)])
		}
	}
	for _, f := range files {
		_, inWork := strings.CutPrefix(f, "work/")
		known := slices.Contains([]string{"work.diff", "quest/criteria.md", "quest/mode.txt", "checks.md", "expectation.md"}, f)
		for _, part := range strings.Split(strings.ToLower(f), "/") {
			if slices.Contains([]string{".campaign", ".git", ".conclave", ".claude", ".codex", "claude.md", "agents.md"}, part) {
				inWork = false
			}
		}
		if !inWork && !known {
			t.Errorf("in the room lay %q", f)
		}
	}
}

// holdAnswer holds what the caller is told against what is the room's.
func (w *world) holdAnswer(t *testing.T, what, text string) {
	t.Helper()
	for _, word := range []string{roomWord, outside} {
		if i := strings.Index(text, word); i >= 0 {
			t.Errorf("%s has %q: %q", what, word, text[max(0, i-200):min(len(text), i+200)])
		}
	}
}
