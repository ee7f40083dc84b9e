package browser

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"conclave/internal/sample"
)

// arrival watches for words on the page from now on, and tells when they came, in
// milliseconds of the clock that this process has too.
const arrival = `(() => { self.arrival = new Promise(done => {
	const main = document.querySelector('main'), look = () => {
		if (!main.textContent.includes(%q)) return;
		watch.disconnect();
		done(performance.timeOrigin + performance.now());
	};
	const watch = new MutationObserver(look);
	watch.observe(main, { subtree: true, childList: true, characterData: true });
}); return true })()`

// appended appends entries to a session one by one, and tells how long each took to
// be on the page that shows it.
func appended(t testing.TB, tab *Tab, w World, s *Session, times int) []time.Duration {
	t.Helper()
	var took []time.Duration
	for i := range times {
		words := fmt.Sprintf("arrived-%d-%d", s.n, i)
		if _, err := Eval[bool](tab, fmt.Sprintf(arrival, words)); err != nil {
			t.Fatal(err)
		}
		s.Say("The next of them: " + words)
		began := time.Now()
		if err := s.Keep(w); err != nil {
			t.Fatal(err)
		}
		came, err := Eval[float64](tab, `self.arrival`)
		if err != nil {
			t.Fatalf("entry %d did not come: %v; the page says: %s", i, err, tab.words())
		}
		took = append(took, time.Duration(came*1e6)-time.Duration(began.UnixNano()))
	}
	slices.Sort(took)
	return took
}

// atRun opens a run by words of its title, at its end.
func atRun(t testing.TB, s *Server, tab *Tab, words string) Run {
	t.Helper()
	run := runOf(t, tab, words)
	if err := s.Visit(tab, "/run/"+run.ID); err != nil {
		t.Fatal(err)
	}
	toEnd(t, tab)
	return run
}

func toEnd(t testing.TB, tab *Tab) {
	t.Helper()
	const end = `(() => { const list = document.querySelector('[role=feed]').parentElement; list.scrollTop = list.scrollHeight;
		const rows = [...list.querySelectorAll('[aria-posinset]')];
		return rows.length > 0 && rows.at(-1).getAttribute('aria-posinset') === rows.at(-1).getAttribute('aria-setsize'); })()`
	if err := tab.Wait(end); err != nil {
		t.Fatal(err)
	}
}

// living is a world with one session of so many entries, served, and a tab inside.
func living(t *testing.T, entries int) (World, *Session, *Server, *Tab) {
	t.Helper()
	w := world(t)
	session := Long(1, entries, time.Now().Add(-time.Hour))
	if err := session.Keep(w); err != nil {
		t.Fatal(err)
	}
	s := serve(t, w)
	tab := open(t, chromium(t))
	if err := s.Enter(tab); err != nil {
		t.Fatal(err)
	}
	return w, session, s, tab
}

// An entry that is appended to a session file is on the open page; also in a second
// tab while one does not read, and after the page was loaded anew.
func TestLiveUpdate(t *testing.T) {
	w, session, s, tab := living(t, 40)
	atRun(t, s, tab, "Question 0")
	took := appended(t, tab, w, session, sample.Count(5, 30, 100))
	t.Logf("on the page: half after %v, 95 of 100 after %v, the last %v", took[len(took)/2], took[len(took)*95/100], took[len(took)-1])

	if err := tab.Do(reload); err != nil {
		t.Fatal(err)
	}
	if err := tab.Ready(); err != nil {
		t.Fatal(err)
	}
	toEnd(t, tab)
	took = appended(t, tab, w, session, 3)
	t.Logf("after loading anew: %v", took)
	if f := tab.Faults(s.Origin); len(f) > 0 {
		t.Error(strings.Join(f, "\n"))
	}
}

// A run on which the focus rests is read before it is opened, once; and read again
// where something has happened in it since. What is appended while it is being opened
// is on the page, too.
func TestRunReadAhead(t *testing.T) {
	w, session, s, tab := living(t, 40)
	const reads = `performance.getEntriesByType('resource')
		.filter(e => e.responseEnd && /api.run.[^?]*([?]piece|.*part=look)/.test(e.name)).length`
	say := func(words string) {
		session.Say(words)
		if err := session.Keep(w); err != nil {
			t.Fatal(err)
		}
	}
	rests := func() {
		if err := s.Visit(tab, "/runs"); err != nil {
			t.Fatal(err)
		}
		if _, err := Eval[bool](tab, `(() => { document.querySelector('[data-run]').focus(); return true })()`); err != nil {
			t.Fatal(err)
		}
		if err := tab.Wait(reads + ` === 2`); err != nil {
			t.Fatal("nothing was read ahead:", err)
		}
	}
	opens := func(words string, asked int) {
		t.Helper()
		if err := tab.Wait(`document.querySelector('.view-talk [role=feed]')`); err != nil {
			t.Fatal(err)
		}
		toEnd(t, tab)
		if err := tab.Wait(fmt.Sprintf(`document.querySelector('main').textContent.includes(%q)`, words)); err != nil {
			t.Fatal(err)
		}
		if n, err := Eval[int](tab, reads); err != nil || asked > 0 && n != asked {
			t.Errorf("it was asked %d times, not %d: %v", n, asked, err)
		}
	}
	const click = `(() => { document.querySelector('[data-run] a[href]').click(); return true })()`
	say("before it was read")
	rests()
	if _, err := Eval[bool](tab, click); err != nil {
		t.Fatal(err)
	}
	opens("before it was read", 2)

	rests()
	say("after it was read")
	if err := tab.Wait(`document.querySelector('[data-run]').textContent.includes('after it was read')`); err != nil {
		t.Fatal(err)
	}
	if _, err := Eval[bool](tab, click); err != nil {
		t.Fatal(err)
	}
	opens("after it was read", 0) // how often depends on when the row was drawn anew

	for n := range sample.Count(2, 6, 40) {
		if err := s.Visit(tab, "/runs"); err != nil {
			t.Fatal(err)
		}
		if _, err := Eval[bool](tab, click); err != nil {
			t.Fatal(err)
		}
		words := fmt.Sprintf("while it was opened, %d", n)
		say(words)
		opens(words, 0)
	}
}

// Who reads further up is not moved by what comes at the end.
func TestLiveUpdateLeavesTheReaderAlone(t *testing.T) {
	w, session, s, tab := living(t, 400)
	run := runOf(t, tab, "Question 0")
	if err := s.Visit(tab, "/run/"+run.ID+"/100"); err != nil {
		t.Fatal(err)
	}
	const seen = `(() => { const list = document.querySelector('[role=feed]').parentElement, top = list.getBoundingClientRect().top;
		const row = [...list.querySelectorAll('[aria-posinset]')].find(r => r.getBoundingClientRect().bottom > top + 4);
		return row ? row.getAttribute('aria-posinset') + ' ' + Math.round(row.getBoundingClientRect().top - top) : ''; })()`
	if err := tab.Wait(seen + ` !== '' && !document.querySelector('[role=feed] .loading')`); err != nil {
		t.Fatal(err)
	}
	before, err := Eval[string](tab, seen)
	if err != nil {
		t.Fatal(err)
	}
	size := func() int {
		n, _ := Eval[int](tab, `Number(document.querySelector('[role=feed] [aria-setsize]').getAttribute('aria-setsize'))`)
		return n
	}
	was := size()
	for i := range 5 {
		session.Say(fmt.Sprint("One more ", i))
		if err := session.Keep(w); err != nil {
			t.Fatal(err)
		}
	}
	const grown = `Number(document.querySelector('[role=feed] [aria-setsize]').getAttribute('aria-setsize')) >= %d`
	if err := tab.Wait(fmt.Sprintf(grown, was+5)); err != nil {
		t.Fatal(err)
	}
	if after, err := Eval[string](tab, seen); err != nil || after != before {
		t.Errorf("the reader was at %s and is at %s: %v", before, after, err)
	}
}

// A run that begins while the person goes through the list takes nothing from under
// their hands: neither the focus nor the place.
func TestNewRunLeavesTheListAlone(t *testing.T) {
	w := world(t)
	for i := range 30 {
		if err := Long(i+1, 7, time.Now().Add(-time.Hour)).Keep(w); err != nil {
			t.Fatal(err)
		}
	}
	s := serve(t, w)
	tab := open(t, chromium(t))
	if err := s.Enter(tab); err != nil {
		t.Fatal(err)
	}
	if err := tab.Wait(`(async () => (await ` + core + `.api('/api/runs?n=1')).total >= 30)()`); err != nil {
		t.Fatal(err)
	}
	if err := s.Visit(tab, "/runs"); err != nil {
		t.Fatal(err)
	}
	const focused = `document.activeElement.getAttribute('aria-posinset')`
	for i := range 4 {
		// The person comes into the list just when a new run is told of: what was asked for
		// before must not take the focus when its answer comes.
		if err := Long(100+i, 7, time.Now()).Keep(w); err != nil {
			t.Fatal(err)
		}
		if err := tab.Wait(fmt.Sprintf(`(async () => (await %s.api('/api/runs?n=1')).total >= %d)()`, core, 31+i)); err != nil {
			t.Fatal(err)
		}
		if _, err := Eval[bool](tab, `(() => { document.activeElement.blur(); return true })()`); err != nil {
			t.Fatal(err)
		}
		if err := tab.Key("j"); err != nil {
			t.Fatal(err)
		}
		if err := tab.Wait(focused + ` !== null`); err != nil {
			t.Fatal(err)
		}
		at, err := Eval[string](tab, `document.activeElement.dataset.run`)
		if err != nil {
			t.Fatal(err)
		}
		stays, err := Eval[bool](tab, fmt.Sprintf(`new Promise(done => { const end = performance.now() + 700, look = () => {
			if (document.activeElement.dataset.run !== %q) done(false);
			else if (performance.now() > end) done(true);
			else requestAnimationFrame(look);
		}; look(); })`, at))
		if err != nil || !stays {
			t.Errorf("round %d: the focus is gone from %s: %v", i, at, err)
		}
	}
}

// Ten tabs of one person hold one stream together, and all of them are up to date and
// answer.
func TestTenTabs(t *testing.T) {
	w := world(t)
	session := Long(1, 40, time.Now().Add(-time.Hour))
	if err := session.Keep(w); err != nil {
		t.Fatal(err)
	}
	s := serve(t, w)
	person := open(t, chromium(t)) // an empty tab, whose storage all others share
	var tabs []*Tab
	for i := range 10 {
		tab, err := person.Beside()
		if err != nil {
			t.Fatal(err)
		}
		defer tab.Close()
		tabs = append(tabs, tab)
		enter := func() error { return s.Visit(tab, "/runs") }
		if i == 0 {
			enter = func() error { return s.Enter(tab) }
		}
		if err := enter(); err != nil {
			t.Fatal(err)
		}
		atRun(t, s, tab, "Question 0")
	}
	for i, tab := range tabs {
		if _, err := Eval[bool](tab, fmt.Sprintf(arrival, "for all of them")); err != nil {
			t.Fatalf("tab %d: %v", i, err)
		}
	}
	session.Say("This is for all of them.")
	if err := session.Keep(w); err != nil {
		t.Fatal(err)
	}
	streams := 0
	for i, tab := range tabs {
		if _, err := Eval[float64](tab, `self.arrival`); err != nil {
			t.Errorf("tab %d was told nothing: %v", i, err)
		}
		if _, err := API[any](tab, "/api/runs?n=1"); err != nil {
			t.Errorf("tab %d gets no answer: %v", i, err)
		}
		for _, asked := range tab.Asked() {
			if strings.HasSuffix(asked, "/api/stream") {
				streams++
			}
		}
	}
	// The first tab was loaded twice, by its link and for the run.
	if streams > 2 {
		t.Errorf("ten tabs opened %d streams", streams)
	}
	// The one that holds it goes: another takes over.
	tabs[0].Close()
	if _, err := Eval[bool](tabs[9], fmt.Sprintf(arrival, "after the first went")); err != nil {
		t.Fatal(err)
	}
	session.Say("This comes after the first went.")
	if err := session.Keep(w); err != nil {
		t.Fatal(err)
	}
	if _, err := Eval[float64](tabs[9], `self.arrival`); err != nil {
		t.Errorf("nobody took over: %v", err)
	}
}
