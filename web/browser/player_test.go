package browser

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"
)

// player plays on the page as somebody does who hears it: by roles and names.
type player struct {
	t    *testing.T
	tab  *Tab
	s    *Server
	did  map[string]bool // names that were pressed, and verbs that came to their end
	over []string        // the jobs that have ended
}

func newPlayer(t *testing.T, s *Server, tab *Tab) *player {
	return &player{t: t, tab: tab, s: s, did: map[string]bool{}}
}

// enters is a player who has come in by a link.
func enters(t *testing.T, s *Server) *player {
	t.Helper()
	tab := open(t, chromium(t))
	if err := s.Enter(tab); err != nil {
		t.Fatal(err)
	}
	return newPlayer(t, s, tab)
}

func (p *player) press(role, name string) {
	p.t.Helper()
	if err := p.tab.Press(role, name); err != nil {
		p.t.Fatal(err)
	}
	p.did[name] = true
}

func (p *player) write(name, words string) {
	p.t.Helper()
	if err := p.tab.Write(name, words); err != nil {
		p.t.Fatal(err)
	}
}

// counts writes a number.
func (p *player) counts(name, number string) {
	p.t.Helper()
	if err := p.tab.WriteIn("spinbutton", name, number); err != nil {
		p.t.Fatal(err)
	}
}

// choose takes one of a list by its value.
func (p *player) choose(name, value string) {
	p.t.Helper()
	p.wait(fmt.Sprintf(`(() => { const list = [...document.querySelectorAll('main select')].find(s => s.labels[0]?.innerText === %q);
		if (!list) return false;
		list.value = %[2]q; list.dispatchEvent(new Event('change', { bubbles: true })); return list.value === %[2]q })()`, name, value))
}

func (p *player) wait(expression string) {
	p.t.Helper()
	if err := p.tab.Wait(expression); err != nil {
		p.t.Fatal(err)
	}
}

// reads waits until the page says something.
func (p *player) reads(words string) {
	p.t.Helper()
	p.wait(fmt.Sprintf(`document.querySelector('main').innerText.includes(%q)`, words))
}

func (p *player) visit(address string) {
	p.t.Helper()
	if err := p.s.Visit(p.tab, address); err != nil {
		p.t.Fatal(err)
	}
}

func (p *player) reload() {
	p.t.Helper()
	if err := p.tab.Do(reload); err != nil {
		p.t.Fatal(err)
	}
	if err := p.tab.Ready(); err != nil {
		p.t.Fatal(err)
	}
}

// job is an expression for the job of a verb that has not been seen to end.
func (p *player) job(verb string) string {
	seen, err := json.Marshal(append([]string{}, p.over...))
	if err != nil {
		p.t.Fatal(err)
	}
	return fmt.Sprintf(`[...document.querySelectorAll('article[data-verb=%q]')].find(job => !%s.includes(job.dataset.job))`, verb, seen)
}

// ends waits until a job of a verb has ended, and answers on the way what it asks: with
// words, in order, then that there is nothing more; else the first button. It gives what
// stands there in the end.
func (p *player) ends(verb string, answers ...string) string {
	p.t.Helper()
	text := p.comesTo(verb, answers)
	if failed, err := Eval[bool](p.tab, fmt.Sprintf(`Boolean(document.querySelector('article[data-job=%q] .trouble'))`,
		p.over[len(p.over)-1])); err != nil || failed {
		p.t.Fatalf("%s did not work (%v): %s", verb, err, text)
	}
	return text
}

// comesTo is ends, also where it did not work.
func (p *player) comesTo(verb string, answers []string) string {
	p.t.Helper()
	job := p.job(verb)
	state := fmt.Sprintf(`(() => { const job = %s; if (!job) return '';
		if (job.querySelector('.state.idle')) return 'over ' + job.dataset.job;
		const form = job.querySelector('form.question'); return form ? 'asked ' + (form.querySelector('textarea, input') ? 'words' :
			[...form.querySelectorAll('button')].map(b => b.innerText.split('\n')[0]).join('|')) : ''; })()`, job)
	for number := 0; ; number++ {
		p.wait(state + ` !== ''`)
		now, err := Eval[string](p.tab, state)
		if err != nil {
			p.t.Fatal(err)
		}
		kind, rest, _ := strings.Cut(now, " ")
		switch {
		case kind == "over":
			p.over = append(p.over, rest)
			p.did[verb] = true
			text, err := Eval[string](p.tab, fmt.Sprintf(`document.querySelector('article[data-job=%q]').innerText`, rest))
			if err != nil {
				p.t.Fatal(err)
			}
			return text
		case kind == "":
			continue
		case number > 60:
			p.t.Fatalf("%s asks without an end: %s", verb, p.tab.words())
		}
		p.answer(rest, &answers)
	}
}

// asked waits until a job of a verb asks something.
func (p *player) asked(verb string) {
	p.t.Helper()
	p.wait(fmt.Sprintf(`%s?.querySelector('form.question')`, p.job(verb)))
}

// stops stops the job of a verb, and waits until it is settled.
func (p *player) stops(verb string) {
	p.t.Helper()
	p.press("button", "Stop")
	p.wait(fmt.Sprintf(`%s?.querySelector('.state.idle') && !document.querySelector('form.question')`, p.job(verb)))
	p.comesTo(verb, nil)
}

// answer gives the next of the answers, or says that there is nothing more.
func (p *player) answer(kind string, answers *[]string) {
	p.t.Helper()
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
	p.wait(fmt.Sprintf(`self.forms.get(document.querySelector('form.question')) !== %d`, before))
}

// clean holds that the browser had nothing to complain of.
func (p *player) clean() {
	p.t.Helper()
	if f := p.tab.Faults(p.s.Origin); len(f) > 0 {
		p.t.Error(strings.Join(f, "\n"))
	}
}

// drove holds that the acts which are counted for a test were done in it.
func (p *player) drove() {
	p.t.Helper()
	acts := driven[p.t.Name()]
	if len(acts) == 0 {
		p.t.Errorf("no acts are counted for %s", p.t.Name())
	}
	for _, act := range acts {
		if !p.did[act] {
			p.t.Errorf("%s is counted for this test, and was not done in it", act)
		}
	}
	for act := range p.did {
		if !slices.Contains(acts, act) && verbForm(act) {
			p.t.Errorf("%s was done here, and is not counted for this test", act)
		}
	}
}
