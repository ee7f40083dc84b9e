package browser

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// player plays on the page as somebody does who hears it: by roles and names.
type player struct {
	t   *testing.T
	tab *Tab
	s   *Server
}

func (p player) press(role, name string) {
	p.t.Helper()
	if err := p.tab.Press(role, name); err != nil {
		p.t.Fatal(err)
	}
}

func (p player) write(name, words string) {
	p.t.Helper()
	if err := p.tab.Write(name, words); err != nil {
		p.t.Fatal(err)
	}
}

func (p player) wait(expression string) {
	p.t.Helper()
	if err := p.tab.Wait(expression); err != nil {
		p.t.Fatal(err)
	}
}

// over waits until the newest job of a verb has ended, and answers on the way what it
// asks: with words, in order, then that there is nothing more; else the first button.
func (p player) over(verb string, answers []string) {
	p.t.Helper()
	for number := 0; ; number++ {
		state := fmt.Sprintf(`(() => { const job = document.querySelector('article[data-verb=%q]'); if (!job) return '';
			if (job.querySelector('.state.idle')) return 'over';
			const form = job.querySelector('form.question'); return form ? 'asked ' + (form.querySelector('textarea, input') ? 'words' :
				[...form.querySelectorAll('button')].map(b => b.innerText.split('\n')[0]).join('|')) : ''; })()`, verb)
		p.wait(state + ` !== ''`)
		now, err := Eval[string](p.tab, state)
		if err != nil {
			p.t.Fatal(err)
		}
		switch {
		case now == "over":
			return
		case now == "":
			continue
		case number > 40:
			p.t.Fatalf("%s asks without an end: %s", verb, p.tab.words())
		}
		p.answer(strings.TrimPrefix(now, "asked "), &answers)
	}
}

// answer gives the next of the answers, or says that there is nothing more.
func (p player) answer(kind string, answers *[]string) {
	p.t.Helper()
	asked, err := Eval[string](p.tab, `document.querySelector('form.question .asked').innerText`)
	if err != nil {
		p.t.Fatal(err)
	}
	gone := `document.querySelector('form.question .asked')?.innerText !== ` + fmt.Sprintf("%q", asked) +
		` || !document.querySelector('form.question')`
	before, err := Eval[int](p.tab, `(self.forms ??= new WeakMap(), self.formCount ??= 0,
		self.forms.get(document.querySelector('form.question')) ??
		(self.forms.set(document.querySelector('form.question'), ++self.formCount), self.formCount))`)
	if err != nil {
		p.t.Fatal(err)
	}
	switch {
	case kind == "words" && len(*answers) > 0 && (*answers)[0] != "":
		p.write("Your answer", (*answers)[0])
		p.press("button", "Send")
		*answers = (*answers)[1:]
	case kind == "words" && len(*answers) > 0:
		p.press("button", "Send")
		*answers = (*answers)[1:]
	case kind == "words":
		p.press("button", "I have nothing more to say")
	default:
		p.press("button", strings.Split(kind, "|")[0])
	}
	p.wait(fmt.Sprintf(`(%s) || self.forms.get(document.querySelector('form.question')) !== %d`, gone, before))
}

// A quest from its first word to the Dragon, played on the page with the embedded
// party: begun, consulted about, noted, judged by the Guardian, the Dragon faced, and
// looked back upon; loaded anew in the middle of a talk, and one talk stopped.
func TestQuestFromStartToDragon(t *testing.T) {
	w := world(t)
	for name, text := range project {
		if err := write(filepath.Join(w.Workspace, name), text); err != nil {
			t.Fatal(err)
		}
	}
	s := serve(t, w)
	tab := open(t, chromium(t))
	if err := s.Enter(tab); err != nil {
		t.Fatal(err)
	}
	p := player{t, tab, s}
	p.press("link", "Quest")
	p.wait(`document.querySelector('h1')?.innerText === 'No quest yet'`)
	p.begin()

	p.press("button", "Consult somebody")
	p.write("What do you say?", "Where could it break?")
	p.press("button", "Talk")
	p.wait(`document.querySelector('article[data-verb=Consult] .speech, article[data-verb=Consult] form.question')`)
	if err := tab.Do(reload); err != nil {
		t.Fatal(err)
	}
	if err := tab.Ready(); err != nil {
		t.Fatal(err)
	}
	p.over("Consult", nil)

	p.press("button", "Note progress")
	p.write("What was done?", "The counter counts.")
	p.press("button", "Note it")
	p.over("LogProgress", nil)
	p.wait(`document.querySelector('main').innerText.includes('The counter counts.')`)

	p.press("button", "Face the Dragon")
	p.write("The work", "README.md\nmain.go")
	if err := tab.Key("Enter"); err != nil {
		t.Fatal(err)
	}
	if _, err := Eval[bool](tab, `(() => { document.querySelector('form.action').requestSubmit(); return true })()`); err != nil {
		t.Fatal(err)
	}
	p.over("Confront", nil)
	p.wait(`/Criterion|criterion/.test(document.querySelector('article[data-verb=Confront]').innerText)`)

	if f := tab.Faults(s.Origin); len(f) > 0 {
		t.Error(strings.Join(f, "\n"))
	}
	quest, err := os.ReadFile(filepath.Join(w.Workspace, ".campaign", "quest.md"))
	if err != nil || !strings.Contains(string(quest), "README.md") {
		t.Errorf("quest.md after the quest: %v\n%s", err, quest)
	}
	program, err := theProgram()
	if err != nil {
		t.Fatal(err)
	}
	for _, args := range [][]string{{"transcript", "verify"}, {"audit"}} {
		if out, err := w.Command(program, args...).CombinedOutput(); err != nil {
			t.Errorf("conclave %s: %v\n%s", strings.Join(args, " "), err, out)
		}
	}
}

// begin begins a quest.
func (p player) begin() {
	p.t.Helper()
	p.press("button", "Begin a quest")
	p.write("What is it about?", "Publish the counter.")
	if _, err := Eval[bool](p.tab, `(() => { const s = [...document.querySelectorAll('form.action select')].find(s => s.name === 'mode');
		s.value = 'ship'; s.dispatchEvent(new Event('change', { bubbles: true }));
		document.querySelector('form.action').requestSubmit(); return true })()`); err != nil {
		p.t.Fatal(err)
	}
	p.over("StartQuest", []string{"There is a file README.md; a manual of forty pages is printed", "Everybody who counts.",
		"Nobody reads it.", "", "Yes"})
	p.wait(`document.querySelector('ol.criteria li') && document.querySelector('h1').innerText !== 'No quest yet'`)
}

// A talk that is stopped is settled as Ctrl-C does, and the page goes on.
func TestStopAJob(t *testing.T) {
	w := world(t)
	if err := write(filepath.Join(w.Workspace, "README.md"), project["README.md"]); err != nil {
		t.Fatal(err)
	}
	s := serve(t, w)
	tab := open(t, chromium(t))
	if err := s.Enter(tab); err != nil {
		t.Fatal(err)
	}
	p := player{t, tab, s}
	if err := s.Visit(tab, "/quest"); err != nil {
		t.Fatal(err)
	}
	p.press("button", "Begin a quest")
	p.write("What is it about?", "Something that is given up.")
	if _, err := Eval[bool](tab, `(() => { document.querySelector('form.action').requestSubmit(); return true })()`); err != nil {
		t.Fatal(err)
	}
	p.wait(`document.querySelector('article[data-verb=StartQuest] form.question')`)
	p.press("button", "Stop")
	p.wait(`document.querySelector('article[data-verb=StartQuest] .state.idle') && !document.querySelector('form.question')`)
	if f := tab.Faults(s.Origin); len(f) > 0 {
		t.Error(strings.Join(f, "\n"))
	}
}
