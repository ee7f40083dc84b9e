package browser

import (
	"fmt"
	"os"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/chromedp/cdproto/cdp"
	"github.com/chromedp/cdproto/debugger"
	"github.com/chromedp/chromedp"
)

// A tab that stands still, and so does not read, while far more is told than is kept for
// anybody: the server stays small, another person's tab stays up to date, and the one
// that stood still comes to the truth by itself.
func TestSlowTab(t *testing.T) {
	w := world(t)
	session := Long(1, 40, time.Now().Add(-time.Hour))
	if err := session.Keep(w); err != nil {
		t.Fatal(err)
	}
	s := serve(t, w)
	slow, quick := enters(t, s), enters(t, s)
	atRun(t, s, slow.tab, "Question 0")
	if _, err := Eval[bool](slow.tab, fmt.Sprintf(`(async () => { %s.on('lost', () => { self.lost = true; }); return self.stayed = true })()`,
		core)); err != nil {
		t.Fatal(err)
	}
	atRun(t, s, quick.tab, "Question 0")
	appended(t, slow.tab, w, session, 1)

	stand(t, slow.tab)
	before := resident(t, s)
	// What is said to a question is told to everybody: of 16 MiB that are kept this is
	// more than twice as much, beside what lies in the buffers on the way.
	quick.floods(40, 900<<10)
	took := appended(t, quick.tab, w, session, 5)
	after := resident(t, s)
	t.Logf("beside a tab that stands: entries after %v; the server has %d MiB, before %d MiB", took, after>>20, before>>20)
	if after > before+192<<20 {
		t.Errorf("the server has grown from %d to %d MiB", before>>20, after>>20)
	}

	goOn(t, slow.tab)
	last := fmt.Sprintf("arrived-%d-", session.n-1)
	slow.wait(fmt.Sprintf(`self.stayed && self.lost && document.querySelector('main').textContent.includes(%q)`, last))
	appended(t, slow.tab, w, session, 3)
	for _, f := range slow.tab.Faults(s.Origin) {
		if !strings.HasSuffix(f, "/api/stream") { // who takes nothing is dropped in the end
			t.Error(f)
		}
	}
}

// floods has a job tell so many texts of a size: answers to a question that are refused,
// so that it is asked again.
func (p *player) floods(times, size int) {
	p.t.Helper()
	if _, err := Eval[bool](p.tab, fmt.Sprintf(`(async () => {
		const { api } = %s, text = '😀 '.repeat(%d / 5 | 0);
		const { job } = await api('/api/jobs', { body: { verb: 'TalkNewTable', args: ['flood', ''] } });
		for (let number = 1; number <= 4 + %d;)
			try {
				await api('/api/jobs/' + job + '/answer', { body: { number, text: number > 4 ? text : 'x' } });
				number++;
			} catch (err) {
				if (err.status !== 429 && err.status !== 409) throw err;
				await new Promise(r => setTimeout(r, 5)); // it answers before it is asked, or faster than a person does
			}
		await api('/api/jobs/' + job + '/stop', { method: 'POST', body: {} });
		return true;
	})()`, core, size, times)); err != nil {
		p.t.Fatal(err)
	}
}

// stand lets nothing of a tab run, as a debugger does.
func stand(t *testing.T, tab *Tab) {
	t.Helper()
	paused := chromedp.Events(tab.ctx, debugger.Paused)
	if _, err := chromedp.Call(tab.ctx, debugger.Enable, debugger.EnableParams{}); err != nil {
		t.Fatal(err)
	}
	if _, err := Eval[bool](tab, `(setTimeout(() => { debugger; }), true)`); err != nil {
		t.Fatal(err)
	}
	for _, err := range paused {
		if err != nil {
			t.Fatal(err)
		}
		return
	}
}

func goOn(t *testing.T, tab *Tab) {
	t.Helper()
	if _, err := chromedp.Call(tab.ctx, debugger.Resume, debugger.ResumeParams{}); err != nil {
		t.Fatal(err)
	}
	if _, err := chromedp.Call(tab.ctx, debugger.Disable, cdp.Empty{}); err != nil {
		t.Fatal(err)
	}
}

// resident is the memory of the server.
func resident(t *testing.T, s *Server) int {
	t.Helper()
	text, err := os.ReadFile(fmt.Sprintf("/proc/%d/statm", s.PID()))
	if err != nil {
		t.Fatal(err)
	}
	pages, err := strconv.Atoi(strings.Fields(string(text))[1])
	if err != nil {
		t.Fatal(err)
	}
	return pages * os.Getpagesize()
}
