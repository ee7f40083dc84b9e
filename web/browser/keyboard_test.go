package browser

import (
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/chromedp/cdproto/accessibility"
	"github.com/chromedp/chromedp"
)

// The dialogs take the focus, keep it, and give it back.
func TestDialogs(t *testing.T) {
	s, tab := inside(t)
	if err := s.Visit(tab, "/runs"); err != nil {
		t.Fatal(err)
	}
	for keys, what := range map[string]string{"Control+k": "input", "?": "*"} {
		if _, err := Eval[bool](tab, `(() => { document.querySelector('#menu a').focus(); return true })()`); err != nil {
			t.Fatal(err)
		}
		if err := tab.Key(keys); err != nil {
			t.Fatal(err)
		}
		if err := tab.Wait(`document.querySelector('dialog[open]')?.contains(document.activeElement)`); err != nil {
			t.Fatalf("%s: %v", keys, err)
		}
		for range 12 {
			if err := tab.Key("Tab"); err != nil {
				t.Fatal(err)
			}
			out, err := Eval[bool](tab, `document.querySelector('main').contains(document.activeElement)`)
			if err != nil || out {
				t.Errorf("%s: Tab leaves the dialog: %v", keys, err)
			}
		}
		if err := tab.Key("Escape"); err != nil {
			t.Fatal(err)
		}
		if err := tab.Wait(`!document.querySelector('dialog[open]') &&
			document.activeElement === document.querySelector('#menu a')`); err != nil {
			t.Errorf("%s (%s): the focus does not come back: %v", keys, what, err)
		}
	}
}

// The keys that are promised: g and a letter to go, / to search, j and k in the list,
// the palette to find a page; and those of one letter can be turned off.
func TestKeys(t *testing.T) {
	s, tab := inside(t)
	if err := s.Visit(tab, "/now"); err != nil {
		t.Fatal(err)
	}
	press := func(wait string, keys ...string) {
		t.Helper()
		if err := tab.Key(keys...); err != nil {
			t.Fatal(err)
		}
		if err := tab.Wait(wait); err != nil {
			t.Fatalf("%v: %v", keys, err)
		}
	}
	ready := ` && document.querySelector('main').getAttribute('aria-busy') === 'false'`
	press(`location.pathname === '/runs'`+ready, "g", "r")
	press(`document.activeElement.type === 'search'`, "/")
	press(`document.activeElement.type !== 'search' || true`, "Escape")
	if _, err := Eval[bool](tab, `(() => { document.activeElement.blur(); return true })()`); err != nil {
		t.Fatal(err)
	}
	press(`document.activeElement.getAttribute('aria-posinset') === '1'`, "j")
	press(`document.activeElement.getAttribute('aria-posinset') === '2'`, "j")
	press(`document.activeElement.getAttribute('aria-posinset') === '1'`, "k")
	listed := helpOf(t, tab)
	press(`location.pathname.startsWith('/run/')`+ready, "o")
	press(`document.querySelector('.run-head .toggle-star[aria-pressed=true]')`, "s")
	press(`document.querySelector('.run-head .toggle-star[aria-pressed=false]')`, "s")
	maps.Copy(listed, helpOf(t, tab))
	documentedKeys(t, listed)
	press(`document.querySelector('dialog[open] [role=option]')`, "Control+k")
	press(`document.querySelector('dialog[open] [role=option]').innerText.includes('Now')`, "N", "o", "w")
	press(`location.pathname === '/now'`+ready, "Enter")
	if does := helpOf(t, tab)["/"]; does != listed["Ctrl k"] || does == listed["/"] {
		t.Errorf("without a search on the page / does %q by the help", does)
	}

	press(`document.querySelector('dialog[open] [type=checkbox]')`, "?")
	if _, err := Eval[bool](tab, `(() => { document.querySelector('dialog[open] [type=checkbox]').click(); return true })()`); err != nil {
		t.Fatal(err)
	}
	press(`!document.querySelector('dialog[open]')`, "Escape")
	if err := tab.Key("g", "r", "?"); err != nil {
		t.Fatal(err)
	}
	press(`document.querySelector('dialog[open] input') && location.pathname === '/now'`, "Control+k")
}

// helpOf is what the help says of keys where one is.
func helpOf(t *testing.T, tab *Tab) map[string]string {
	t.Helper()
	if err := tab.Key("?"); err != nil {
		t.Fatal(err)
	}
	if err := tab.Wait(`document.querySelector('dialog[open] dl.keys dt')`); err != nil {
		t.Fatal(err)
	}
	list, err := Eval[map[string]string](tab, `Object.fromEntries([...document.querySelectorAll('dialog[open] dl.keys dt')].map(dt =>
		[[...dt.querySelectorAll('kbd')].map(k => k.textContent).join(' '), dt.nextElementSibling.textContent]))`)
	if err != nil {
		t.Fatal(err)
	}
	if err := tab.Key("Escape"); err != nil {
		t.Fatal(err)
	}
	if err := tab.Wait(`!document.querySelector('dialog[open]')`); err != nil {
		t.Fatal(err)
	}
	return list
}

// documentedKeys: what docs/web.md lists the help does, and the other way round.
func documentedKeys(t *testing.T, listed map[string]string) {
	t.Helper()
	text, err := os.ReadFile(filepath.Join("..", "..", "docs", "web.md"))
	if err != nil {
		t.Fatal(err)
	}
	_, keys, _ := strings.Cut(string(text), "\n## Keys\n")
	keys, _, _ = strings.Cut(keys, "\n## ")
	known := map[string]bool{"Ctrl k": true, "?": true}
	for line := range strings.Lines(keys) {
		cells := strings.Split(line, "|")
		if len(cells) < 3 {
			continue
		}
		for _, k := range regexp.MustCompile("`([^`]+)`").FindAllStringSubmatch(cells[1], -1) {
			known[k[1]] = true
			if listed[k[1]] == "" {
				t.Errorf("the help has no %s", k[1])
			}
		}
	}
	for k := range listed {
		if !known[k] && (!strings.HasPrefix(k, "g ") || k == "g g") {
			t.Errorf("docs/web.md has no %s", k)
		}
	}
}

// The first thing that Tab reaches leads past the menu.
func TestSkipLink(t *testing.T) {
	s, tab := inside(t)
	if err := s.Visit(tab, "/runs"); err != nil {
		t.Fatal(err)
	}
	if err := tab.Key("Tab", "Enter", "Tab"); err != nil {
		t.Fatal(err)
	}
	if err := tab.Wait(`document.querySelector('main').contains(document.activeElement)`); err != nil {
		t.Error(err)
	}
}

// A long run in the tree that screen readers read: a feed of articles, each with its
// number and how many there are, around what is seen, and no more.
func TestListInAccessibilityTree(t *testing.T) {
	s, tab, run, _ := big(t, 2000)
	if err := s.Visit(tab, "/run/"+run.ID+"/1000"); err != nil {
		t.Fatal(err)
	}
	if err := tab.Wait(`document.querySelector('[role=feed] [data-n], [role=feed] [aria-posinset]')`); err != nil {
		t.Fatal(err)
	}
	tree, err := chromedp.Call(tab.ctx, accessibility.GetFullAXTree, accessibility.GetFullAXTreeParams{})
	if err != nil {
		t.Fatal(err)
	}
	count := map[string]int{}
	named := 0
	for _, n := range tree.Nodes {
		if n.Ignored || n.Role == nil {
			continue
		}
		role := strings.Trim(string(n.Role.Value), `"`)
		count[role]++
		if role == "article" && n.Name != nil && len(n.Name.Value) > 4 {
			named++
		}
	}
	if count["feed"] != 1 || count["article"] < 3 || count["article"] > 200 ||
		count["main"] != 1 || count["navigation"] < 1 || count["banner"] != 1 {
		t.Errorf("the tree has %v", count)
	}
	if named < count["article"] {
		t.Errorf("%d of %d entries have a name", named, count["article"])
	}
	order, err := Eval[string](tab, `(() => { const rows = [...document.querySelectorAll('[role=feed] [aria-posinset]')];
		const n = rows.map(r => Number(r.getAttribute('aria-posinset')));
		return n.every((v, i) => i === 0 || v > n[i - 1]) &&
			rows.every(r => r.getAttribute('aria-setsize') === rows[0].getAttribute('aria-setsize')) &&
			rows.filter(r => r.tabIndex === 0).length <= 1 ? '' : 'the order is ' + n; })()`)
	if err != nil || order != "" {
		t.Error(order, err)
	}
}

// What happens is said to those who listen, and not more than they can hear.
func TestLiveRegion(t *testing.T) {
	w, session, s, tab := living(t, 40)
	if err := s.Visit(tab, "/runs"); err != nil {
		t.Fatal(err)
	}
	if _, err := Eval[bool](tab, `(() => { const f = document.querySelector('[type=search]'); f.value = 'nothing fits this';
		f.dispatchEvent(new Event('input', { bubbles: true })); return true })()`); err != nil {
		t.Fatal(err)
	}
	if err := tab.Wait(`/\b(0|no|none|nothing)\b/i.test(document.querySelector('[role=status]').textContent)`); err != nil {
		t.Error(err)
	}
	atRun(t, s, tab, "Question 0")
	if _, err := Eval[bool](tab, `(() => { self.said = 0; new MutationObserver(() => self.said++)
		.observe(document.querySelector('[role=status]'), { childList: true, characterData: true, subtree: true });
		return true })()`); err != nil {
		t.Fatal(err)
	}
	appended(t, tab, w, session, 25)
	if said, err := Eval[int](tab, `self.said`); err != nil || said > 12 {
		t.Errorf("25 entries were announced %d times: %v", said, err)
	}
}

// What can be pressed is at least 24 pixels in both directions, or stands in a
// sentence, or has so much room around it (WCAG 2.5.8).
func TestTargets(t *testing.T) {
	s, tab := inside(t)
	for _, look := range []string{"light", "phone"} {
		if err := tab.See(looks[look]); err != nil {
			t.Fatal(err)
		}
		for _, address := range addresses(t, tab) {
			if err := s.Visit(tab, address); err != nil {
				t.Fatal(err)
			}
			small, err := Eval[[]string](tab, `(() => {
				const all = [...document.querySelectorAll('a[href], button, input:not([type=hidden]), select, textarea, summary')]
					.filter(e => e.checkVisibility() && !e.closest('.skip'));
				const box = e => (e.closest('label') ?? e).getBoundingClientRect();
				const boxes = all.map(box);
				return all.filter((e, i) => {
					const r = boxes[i];
					if (r.width === 0 || r.width >= 23.5 && r.height >= 23.5) return false;
					if (e.tagName === 'A' && getComputedStyle(e).display === 'inline' &&
						e.parentElement.textContent.trim() !== e.textContent.trim()) return false;
					const x = r.left + r.width / 2, y = r.top + r.height / 2;
					return boxes.some((o, k) => k !== i && !all[k].contains(e) && !e.contains(all[k]) &&
						Math.max(o.left - x, 0, x - o.right) < 12 && Math.max(o.top - y, 0, y - o.bottom) < 12);
				}).slice(0, 5).map(e => e.outerHTML.slice(0, 120) + ' ' + Math.round(box(e).width) + 'x' + Math.round(box(e).height));
			})()`)
			if err != nil || len(small) > 0 {
				t.Errorf("%s (%s): %s %v", address, look, strings.Join(small, "\n"), err)
			}
		}
	}
}

// On paper there are words and no buttons.
func TestPrint(t *testing.T) {
	s, tab := inside(t)
	run := runOf(t, tab, "Why does the counter skip")
	if err := s.Visit(tab, "/run/"+run.ID); err != nil {
		t.Fatal(err)
	}
	if err := tab.See(Look{Width: 800, Height: 1100, Print: true}); err != nil {
		t.Fatal(err)
	}
	got, err := Eval[struct {
		Buttons, Menu int
		Text          string
	}](tab, `({ text: document.querySelector('main').innerText,
		buttons: [...document.querySelectorAll('button')].filter(e => e.checkVisibility()).length,
		menu: [...document.querySelectorAll('#menu a')].filter(e => e.checkVisibility()).length })`)
	if err != nil || got.Menu > 0 || got.Buttons > 0 || !strings.Contains(got.Text, "It counted one too few") {
		t.Errorf("on paper: %d buttons, %d links of the menu, %q, %v", got.Buttons, got.Menu, cut(got.Text, 300), err)
	}
	if strings.Contains(got.Text, "On paper are") {
		t.Errorf("a short run is said not to be whole: %q", cut(got.Text, 300))
	}
	pdf, err := chromedp.Run(tab.ctx, chromedp.PrintToPDF())
	if err != nil || len(pdf) < 5000 {
		t.Errorf("%d bytes on paper: %v", len(pdf), err)
	}
}
