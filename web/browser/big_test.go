package browser

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"conclave/internal/sample"
)

// big is a server with one run of so many entries, and a tab in it.
func big(t testing.TB, entries int) (*Server, *Tab, Run, *Session) {
	t.Helper()
	w := world(t)
	session := Long(1, entries, time.Now().Add(-48*time.Hour))
	if err := session.Keep(w); err != nil {
		t.Fatal(err)
	}
	s := serve(t, w)
	tab := open(t, chromium(t))
	if err := s.Enter(tab); err != nil {
		t.Fatal(err)
	}
	whole := fmt.Sprintf(`(async () => (await %s.api('/api/runs?n=10')).items.some(r => r.entries >= %d))()`, core, entries)
	if err := tab.Wait(whole); err != nil {
		t.Fatal(err)
	}
	return s, tab, runOf(t, tab, "Question 0"), session
}

// A run of a hundred thousand entries, scrolled from its first to its last: what is
// seen is what is there, in order, and the document stays small.
func TestHundredThousandEntries(t *testing.T) {
	entries := sample.Count(5_000, 100_000, 100_000)
	s, tab, run, _ := big(t, entries)
	if run.Entries < entries {
		t.Fatalf("the run has %d entries of %d", run.Entries, entries)
	}
	if err := s.Visit(tab, "/run/"+run.ID); err != nil {
		t.Fatal(err)
	}
	if err := tab.Wait(`document.querySelector('[role=feed] [aria-posinset]')`); err != nil {
		t.Fatal(err)
	}
	got, err := evalFor[struct {
		Stops, First, Last, Nodes, Blank int
		Wrong                            string
		Slowest                          float64
	}](tab, fmt.Sprintf(scrolling, sample.Count(40, 150, 2000), entries), 10*time.Minute)
	if err != nil {
		t.Fatal(err)
	}
	if got.Wrong != "" || got.First != 1 || got.Last < entries {
		t.Errorf("%s: from entry %d to entry %d of %d", got.Wrong, got.First, got.Last, run.Entries)
	}
	if got.Nodes > 6000 {
		t.Errorf("%d elements in the document", got.Nodes)
	}
	t.Logf("%d stops over %d entries, at most %d elements, the slowest frame %.0f ms, %d stops were blank for a moment",
		got.Stops, got.Last, got.Nodes, got.Slowest, got.Blank)
	if err := tab.See(Look{Width: 800, Height: 1100, Print: true}); err != nil {
		t.Fatal(err)
	}
	if err := tab.Wait(`/On paper are [\d,]+ to [\d,]+ of [\d,]+ entries/.test(document.querySelector('main').innerText)`); err != nil {
		t.Errorf("on paper nothing says that it is not the whole run: %v", err)
	}
	if f := tab.Faults(s.Origin); len(f) > 0 {
		t.Error(strings.Join(f, "\n"))
	}
}

// scrolling goes through the list in so many steps.
const scrolling = `(async () => {
	const feed = document.querySelector('[role=feed]'), list = feed.parentElement, steps = %d, total = %d;
	const frame = () => new Promise(r => requestAnimationFrame(() => setTimeout(r)));
	const out = { stops: 0, first: 0, last: 0, nodes: 0, blank: 0, wrong: '', slowest: 0 };
	const rows = () => [...feed.querySelectorAll('[aria-posinset]')].filter(r => {
		const a = r.getBoundingClientRect(), b = list.getBoundingClientRect();
		return a.bottom > b.top && a.top < b.bottom;
	});
	let before = 0;
	const settled = async () => { // a busy browser tells the list of a movement a frame later
		for (let i = 0; i < 1000; i++) {
			const seen = rows(), further = before === 0 || seen.length > 0 && Number(seen[0].getAttribute('aria-posinset')) > before;
			if (seen.length > 0 && further && seen.every(r => r.innerText.trim() !== '' && !r.querySelector('.loading'))) return i;
			await frame();
		}
		out.wrong ||= 'what is seen at ' + list.scrollTop + ' is never drawn, or entry ' + before + ' never left: ' + rows().map(r => r.outerHTML.slice(0, 200)).join();
		return 0;
	};
	for (let step = 0; step <= steps; step++) {
		const began = performance.now();
		list.scrollTop = Math.round((list.scrollHeight - list.clientHeight) * step / steps);
		await frame();
		out.slowest = Math.max(out.slowest, performance.now() - began);
		if (await settled() > 0) out.blank++;
		const seen = rows(), numbers = seen.map(r => Number(r.getAttribute('aria-posinset')));
		if (step === 0) out.first = numbers[0];
		if (numbers.some((n, i) => i > 0 && n !== numbers[i - 1] + 1)) out.wrong ||= 'a gap: ' + numbers;
		const size = Math.min(...seen.map(r => Number(r.getAttribute('aria-setsize'))));
		if (size < total) out.wrong ||= 'the size is told as ' + size;
		for (let i = 1; i < seen.length; i++)
			if (seen[i].getBoundingClientRect().top < seen[i - 1].getBoundingClientRect().bottom - 2) out.wrong ||= 'entries over one another';
		before = numbers[0];
		out.last = Math.max(out.last, ...numbers);
		out.nodes = Math.max(out.nodes, document.querySelectorAll('*').length);
		out.stops++;
	}
	// Heights become known as rows are drawn: the end is where nothing comes after.
	before = 0;
	for (let i = 0; i < 50; i++) {
		const seen = rows();
		out.last = Math.max(out.last, ...seen.map(r => Number(r.getAttribute('aria-posinset'))));
		if (seen.length > 0 && out.last === Number(seen.at(-1).getAttribute('aria-setsize'))) break;
		list.scrollTop = list.scrollHeight;
		await frame();
		await settled();
	}
	return out;
})()`
