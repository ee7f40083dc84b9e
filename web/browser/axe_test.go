package browser

import (
	"maps"
	"os"
	"slices"
	"strings"
	"testing"

	"conclave/internal/clients"
	"conclave/internal/sample"
)

// Each page of the registry, in each look: no complaint of the browser, one heading,
// nothing beside the window, and nothing that axe finds.
func TestPages(t *testing.T) {
	s, tab := inside(t)
	path, err := clients.Axe()
	if err != nil {
		t.Fatal(err)
	}
	axe, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	list := addresses(t, tab)
	var frame string
	names := slices.Sorted(maps.Keys(looks))
	for i, address := range list {
		drawn := names
		switch {
		case testing.Short():
			drawn = []string{names[i%len(names)]}
		case !sample.All():
			others := slices.DeleteFunc(slices.Clone(names), func(n string) bool { return n == "light" })
			drawn = []string{"light", others[i%len(others)]}
		}
		for _, name := range drawn {
			t.Run(strings.Trim(address, "/")+" "+name, func(t *testing.T) {
				if err := tab.See(looks[name]); err != nil {
					t.Fatal(err)
				}
				if err := s.Visit(tab, address); err != nil {
					t.Fatal(err)
				}
				checkPage(t, tab)
				checkFrame(t, tab, &frame)
				checkAxe(t, tab, string(axe))
				for _, f := range tab.Faults(s.Origin) {
					t.Error(f)
				}
			})
		}
	}
}

// checkPage holds what every page keeps: a title, one main heading, landmarks, no
// error on it, and no scrolling sideways.
func checkPage(t *testing.T, tab *Tab) {
	t.Helper()
	got, err := Eval[struct {
		Title, Trouble          string
		Headings, Mains, Status int
		Wide, Window            float64
		Widest                  string
	}](tab, `(() => {
		const seen = [...document.querySelectorAll('h1')].filter(e => e.checkVisibility());
		const wide = [...document.querySelectorAll('body *')].filter(e => {
			const r = e.getBoundingClientRect();
			if (!e.checkVisibility() || r.right <= innerWidth + 1 || r.width === 0) return false;
			for (let p = e.parentElement; p && p !== document.body; p = p.parentElement)
				if (getComputedStyle(p).overflowX !== 'visible') return false;
			return true;
		});
		return {
			title: document.title, headings: seen.length, mains: document.querySelectorAll('main').length,
			status: document.querySelectorAll('[role=status]').length,
			trouble: document.querySelector('.trouble')?.innerText ?? '',
			wide: document.documentElement.scrollWidth, window: innerWidth,
			widest: wide.slice(0, 3).map(e => e.tagName + '.' + e.className).join(' '),
		};
	})()`)
	if err != nil {
		t.Fatal(err)
	}
	if got.Trouble != "" {
		t.Errorf("the page shows trouble: %s", got.Trouble)
	}
	if got.Headings != 1 || got.Mains != 1 || got.Status < 1 || !strings.Contains(got.Title, " · Conclave") {
		t.Errorf("%d main headings, %d main parts, %d places for news, the title %q", got.Headings, got.Mains, got.Status, got.Title)
	}
	if got.Wide > got.Window+1 {
		t.Errorf("%v pixels wide in a window of %v (%s)", got.Wide, got.Window, got.Widest)
	}
}

// checkFrame holds that menu and tools are the same on every page, in the same order
// (WCAG 3.2.3, 3.2.4, 3.2.6).
func checkFrame(t *testing.T, tab *Tab, before *string) {
	t.Helper()
	now, err := Eval[string](tab, `[...document.querySelectorAll('.top a, .top button')]
		.map(e => (e.getAttribute('aria-label') ?? e.textContent).trim()).join(' | ')`)
	if err != nil || *before != "" && now != *before {
		t.Errorf("around this page stands %q, around others %q: %v", now, *before, err)
	}
	*before = now
}

// checkAxe runs axe-core with every rule for WCAG 2.2 AA, its own best practices, and
// those of its experimental rules that judge what stands here.
func checkAxe(t *testing.T, tab *Tab, axe string) {
	t.Helper()
	if _, err := Eval[bool](tab, "(() => { if (!self.axe) { "+axe+"\n } return true })()"); err != nil {
		t.Fatal(err)
	}
	found, err := Eval[[]string](tab, `(async () => {
		const result = await axe.run(document, { resultTypes: ['violations'], runOnly: ['wcag2a', 'wcag2aa', 'wcag21a',
			'wcag21aa', 'wcag22aa', 'best-practice'], rules: Object.fromEntries(['css-orientation-lock',
			'label-content-name-mismatch', 'p-as-heading', 'table-fake-caption', 'td-has-header', 'target-size']
			.map(rule => [rule, { enabled: true }])) });
		if (result.passes.length < 5) throw new Error('axe looked at nothing');
		return result.violations.map(v => v.id + ': ' + v.help + ': ' +
			v.nodes.slice(0, 3).map(n => n.target.join(' ') + ' (' + (n.any[0]?.message ?? n.failureSummary) + ')').join('; '));
	})()`)
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range found {
		t.Error("axe: " + f)
	}
}
