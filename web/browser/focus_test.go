package browser

import (
	"fmt"
	"strings"
	"testing"

	"github.com/chromedp/cdproto/page"
	"github.com/chromedp/chromedp"
)

// listeners notes from the beginning what takes a pointer.
const listeners = `(() => {
	const add = EventTarget.prototype.addEventListener;
	self.pressable = new Set();
	EventTarget.prototype.addEventListener = function (type, ...rest) {
		if (this instanceof Element && /^(click|dblclick|auxclick|contextmenu|mouse|pointer(down|up|move)|touch|drag|drop)/.test(type))
			self.pressable.add(this);
		return add.call(this, type, ...rest);
	};
})()`

// walker tells where the focus is and what is wrong with it there. What can be used:
// what browsers let Tab reach, and what takes a pointer; rows of a long list are
// reached one at a time and have keys of their own, headings take the focus only when
// a page opens.
const walker = `(() => {
	const usable = 'a[href], button, input:not([type=hidden]), select, textarea, summary, [tabindex], [contenteditable]';
	const name = e => e.tagName.toLowerCase() + (e.id ? '#' + e.id : '') + [...e.classList].map(c => '.' + c).join('') + ' "' +
		(e.getAttribute('aria-label') ?? e.textContent ?? '').replace(/\s+/g, ' ').trim().slice(0, 40) + '"';
	const own = e => !e.disabled && !e.matches('.vrow, h1, main') && e.checkVisibility({ visibilityProperty: true });
	const rgb = text => { const c = new OffscreenCanvas(1, 1).getContext('2d'); c.fillStyle = text; c.fillRect(0, 0, 1, 1);
		return [...c.getImageData(0, 0, 1, 1).data]; };
	const light = ([r, g, b]) => { const [x, y, z] = [r, g, b].map(v => { v /= 255; return v <= .04045 ? v / 12.92 : ((v + .055) / 1.055) ** 2.4; });
		return .2126 * x + .7152 * y + .0722 * z; };
	const contrast = (a, b) => { const [l, m] = [light(rgb(a)), light(rgb(b))]; return (Math.max(l, m) + .05) / (Math.min(l, m) + .05); };
	const behind = e => { for (; e; e = e.parentElement) { const c = getComputedStyle(e).backgroundColor; if (rgb(c)[3] === 255) return c; } return '#fff'; };
	const ring = e => [e, e.parentElement].map(x => { const c = getComputedStyle(x);
		return [c.outlineStyle === 'none' ? '' : c.outline, c.boxShadow, c.borderColor, c.backgroundColor].join(); }).join('|');
	const stops = new Set();
	let last = null, rings = new Set(); // a date has several places, each with its own mark
	Object.assign(self, { contrast, behind });
	self.expected = () => [...document.querySelectorAll(usable)].filter(e => own(e) && e.tabIndex >= 0 &&
		!(e.type === 'radio' && !e.checked));
	self.begin = back => {
		stops.clear(); last = null;
		const from = back ? self.expected().at(-1) : document.body; // from where the next step is counted
		if (!back) from.tabIndex = -1;
		from.focus();
		if (back) stops.add(last = from), rings = new Set(); else from.removeAttribute('tabindex');
		return document.title;
	};
	self.look = back => {
		const e = document.activeElement, wrong = [];
		if (last?.isConnected && last !== e && rings.size === 1 && rings.has(ring(last))) wrong.push('has no mark of the focus');
		const of = last ? name(last) : '';
		const order = last?.isConnected && last !== e ? last.compareDocumentPosition(e) : 0;
		const against = order && !(order & (back ? Node.DOCUMENT_POSITION_PRECEDING : Node.DOCUMENT_POSITION_FOLLOWING));
		if (e === document.body || against && last === self.expected().at(back ? 0 : -1)) { last = null; return { end: true, of, wrong }; }
		const here = [];
		if (e !== last) {
			stops.add(e);
			if (last?.isConnected) {
				if (against) here.push('comes after ' + name(last) + ', against the order of the document');
				const [from, to] = back ? [e, last] : [last, e];
				if (!from.contains(to) && from.closest('main') && to.closest('main')) {
					const a = from.getBoundingClientRect(), b = to.getBoundingClientRect();
					if (b.bottom <= a.top + 1 && Math.min(a.right, b.right) - Math.max(a.left, b.left) > Math.min(a.width, b.width) / 2)
						here.push('stands above ' + name(from) + ', which comes before it');
				}
			}
			const box = e.getBoundingClientRect();
			const whole = [...e.getClientRects()].find(r => r.width > 0) ?? box;
			const [left, top] = [Math.max(0, whole.left), Math.max(0, whole.top)]; // what is larger than the window fills it
			const r = { left, top, width: Math.min(innerWidth, whole.right) - left, height: Math.min(innerHeight, whole.bottom) - top };
			const points = [[.5, .5], [.5, 2 / r.height], [.5, 1 - 2 / r.height], [2 / r.width, .5], [1 - 2 / r.width, .5]]
				.map(([x, y]) => document.elementFromPoint(r.left + r.width * x, r.top + r.height * y));
			let clip = e.parentElement;
			while (clip && getComputedStyle(clip).overflowX === 'visible' && getComputedStyle(clip).overflowY === 'visible') clip = clip.parentElement;
			const free = points.filter(p => p && (e.contains(p) || p.contains(e) && (!clip || clip.contains(p)) || p.closest('label')?.contains(e)));
			const cover = points.find(p => p && !e.contains(p) && !p.contains(e));
			if (free.length === 0 || free.length < 5 && whole.height < innerHeight / 3 && whole.width < innerWidth)
				here.push('is ' + (free.length ? 'partly ' : '') + 'not in sight' + (cover ? ', behind ' + name(cover) : '') + ' ' + JSON.stringify(box));
			const c = getComputedStyle(e);
			if (c.outlineStyle !== 'none' && contrast(c.outlineColor, behind(e.parentElement)) < 3) here.push('has a mark of the focus that is hardly seen');
		}
		const title = document.querySelector('dialog[open]') ? 'a dialog opened' : document.title;
		if (e !== last) rings = new Set();
		rings.add(ring(e));
		last = e;
		return { end: false, of, wrong, name: name(e), here, title };
	};
	// What was drawn anew in the meantime was reached as what it was before.
	const another = e => {
		const was = [...stops].find(s => !s.isConnected && name(s) === name(e));
		return stops.delete(was);
	};
	self.missing = () => [
		...self.expected().filter(e => !stops.has(e) && !another(e)).map(e => 'Tab does not reach ' + name(e)),
		...[...self.pressable].filter(e => e.isConnected && e.checkVisibility() && !e.closest('dialog') &&
			![...stops].some(s => s.isConnected && (s === e || s.contains(e) || e.contains(s))) && !e.querySelector(usable))
			.map(e => 'only a pointer can use ' + name(e)),
		...[...document.querySelectorAll('main *')].filter(e => e.checkVisibility() && getComputedStyle(e).cursor === 'pointer' &&
			!e.closest(usable) && !e.closest('label') && getComputedStyle(e.parentElement).cursor !== 'pointer')
			.map(e => 'looks as if it could be pressed: ' + name(e)),
	].slice(0, 8);
	return self.expected().length;
})()`

// With Tab through every page and back with Shift and Tab: all that can be used is
// reached, in the order in which it is read; nothing traps; what has the focus is
// seen, and seen to have it; and nothing happens by that alone (WCAG 2.1.1, 2.1.2,
// 2.4.3, 2.4.7, 2.4.11, 3.2.1).
func TestKeyboard(t *testing.T) {
	s, tab := inside(t)
	if _, err := chromedp.Call(tab.ctx, page.AddScriptToEvaluateOnNewDocument,
		page.AddScriptToEvaluateOnNewDocumentParams{Source: listeners}); err != nil {
		t.Fatal(err)
	}
	drawn := everywhere(t, tab, 2, 5, "light", "dark", "phone", "zoom 200", "zoom 400")
	for i, one := range drawn {
		if one.address == "/runs" { // some of ninety rows show as much as all
			drawn[i].address += "?q=counter"
		}
	}
	each(t, s, tab, drawn, func(t *testing.T) {
		for _, unfolded := range []bool{false, true} {
			if unfolded { // what is folded has controls, too
				n, err := Eval[int](tab, `(() => { const all = [...document.querySelectorAll('main details:not(.menu, [open])')];
					for (const d of all) d.open = true; return all.length })()`)
				if err != nil {
					t.Fatal(err)
				}
				if n == 0 {
					return
				}
			}
			walk(t, tab, "Tab", false)
			walk(t, tab, "Shift+Tab", true)
			if t.Failed() {
				return
			}
		}
	})
}

// walk walks once more when something came in the midst of it: who goes backwards has
// begun before that.
func walk(t *testing.T, tab *Tab, key string, back bool) {
	t.Helper()
	var missing []string
	for range 3 {
		before := walkOnce(t, tab, key, back)
		var err error
		if missing, err = Eval[[]string](tab, `self.missing()`); err != nil {
			t.Fatal(err)
		}
		after, err := Eval[int](tab, `self.expected().length`)
		if err != nil {
			t.Fatal(err)
		}
		if len(missing) == 0 || before == after {
			break
		}
	}
	for _, m := range missing {
		t.Errorf("%s: %s", key, m)
	}
}

// walkOnce walks, and says how many things could be used when it began.
func walkOnce(t *testing.T, tab *Tab, key string, back bool) int {
	t.Helper()
	expected, err := Eval[int](tab, walker)
	if err != nil || expected < 5 {
		t.Fatalf("%d things can be used: %v", expected, err)
	}
	title, err := Eval[string](tab, fmt.Sprintf(`self.begin(%v)`, back))
	if err != nil {
		t.Fatal(err)
	}
	for step := 0; ; step++ {
		if step > 4*expected+400 {
			t.Errorf("%s: after %d steps there is no end", key, step)
			break
		}
		if err := tab.Key(key); err != nil {
			t.Fatal(err)
		}
		at, err := Eval[struct {
			End             bool
			Of, Name, Title string
			Wrong, Here     []string
		}](tab, fmt.Sprintf(`self.look(%v)`, back))
		if err != nil {
			t.Fatal(err)
		}
		for _, w := range at.Wrong {
			t.Errorf("%s: %s %s", key, at.Of, w)
		}
		for _, w := range at.Here {
			t.Errorf("%s: %s %s", key, at.Name, w)
		}
		if at.End {
			break
		}
		if at.Title != title {
			t.Errorf("%s: with the focus on %s the page is %q, and was %q", key, at.Name, at.Title, title)
			break
		}
	}
	return expected
}

// A person without a mouse: from what happens now to a run, in it from prompt to error
// to tool, to words in it, a pin, and by the palette to another page.
func TestKeyboardOnly(t *testing.T) {
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
	tabTo := func(there string) {
		t.Helper()
		for range 60 {
			if err := tab.Key("Tab"); err != nil {
				t.Fatal(err)
			}
			if ok, err := Eval[bool](tab, there); err != nil || ok {
				return
			}
		}
		t.Fatalf("sixty times Tab do not lead to %s", there)
	}
	write := func(word string) []string { return strings.Split(word, "") }
	const ready = ` && document.querySelector('main').getAttribute('aria-busy') === 'false'`

	tabTo(`document.activeElement.innerText?.trim() === 'Runs'`)
	press(`location.pathname === '/runs'`+ready, "Enter")
	press(`document.activeElement.type === 'search'`, "/")
	press(`new URLSearchParams(location.search).get('q') === 'counter' && document.querySelector('.run-row') &&
		[...document.querySelectorAll('.run-row')].some(r => r.innerText.includes('Why does the counter skip'))`, write("counter")...)
	tabTo(`document.activeElement.matches('.run-row')`)
	for range 40 {
		there, err := Eval[bool](tab, `document.activeElement.innerText.includes('Why does the counter skip')`)
		if err != nil {
			t.Fatal(err)
		}
		if there {
			break
		}
		if err := tab.Key("j"); err != nil {
			t.Fatal(err)
		}
	}
	press(`location.pathname.startsWith('/run/') && document.title.includes('Why does the counter skip')`+ready, "Enter")

	row := `document.activeElement.closest('[role=article]')`
	press(row+`?.innerText.includes('Why does the counter skip')`, "g", "g")
	press(row+`?.classList.contains('tool_use') && `+row+`.innerText.includes('Edit')`, "t")
	press(row+`?.innerText.includes('go test ./...')`, "t")
	press(row+`?.innerText.includes('--- FAIL: TestLast')`, "e")
	press(row+`?.classList.contains('user_message')`, "[")
	press(`document.activeElement.type === 'search'`, "/")
	press(`/1/.test(document.querySelector('[role=search] .num').textContent)`, write("counted")...)
	press(row+`?.innerText.includes('It counted one too few')`, "Enter")
	press(row+`.querySelector('.toggle-pin').getAttribute('aria-pressed') === 'true'`, "p")
	press(row+`.querySelector('.toggle-pin').getAttribute('aria-pressed') === 'false'`, "p")
	press(`document.activeElement.matches('.minimap')`, "Control+End") // past all entries
	press(`document.querySelector('dialog[open] [role=combobox]')`, "Control+k")
	press(`document.querySelector('[role=option][aria-selected=true]')?.innerText.includes('Figures')`, write("figures")...)
	press(`location.pathname === '/figures' && document.activeElement.tagName === 'H1'`+ready, "Enter")
	press(`document.querySelector('dialog[open]')?.innerText.includes('Ctrl')`, "?")
	press(`!document.querySelector('dialog[open]')`, "Escape")
}

// A menu that lies over the page is open only while one is in it.
func TestMenuCloses(t *testing.T) {
	s, tab := inside(t)
	if err := s.Visit(tab, "/run/"+runOf(t, tab, "Why does the counter skip").ID); err != nil {
		t.Fatal(err)
	}
	if _, err := Eval[bool](tab, `(document.querySelector('.menu summary').focus(), true)`); err != nil {
		t.Fatal(err)
	}
	const in, closed = `document.activeElement.closest('.menu-body')`, `!document.querySelector('.menu').open`
	for _, step := range []struct{ keys, wait string }{
		{"Enter Tab", in},
		{"Escape", closed + ` && document.activeElement.matches('.menu summary')`},
		{"Enter Tab", in},
		{"Shift+Tab Shift+Tab", closed},
	} {
		if err := tab.Key(strings.Fields(step.keys)...); err != nil {
			t.Fatal(err)
		}
		if err := tab.Wait(step.wait); err != nil {
			t.Fatalf("%s: %v", step.keys, err)
		}
	}
}

// What changes a value leaves the person where they are: the same page, the focus
// still on it (WCAG 3.2.2).
func TestInputLeavesThePersonAlone(t *testing.T) {
	s, tab := inside(t)
	each(t, s, tab, everywhere(t, tab, 2, 6, "light"), func(t *testing.T) {
		wrong, err := Eval[[]string](tab, `(async () => {
			const wrong = [], fields = () => [...document.querySelectorAll('main input:not([type=file]), main select, main textarea')]
				.filter(e => e.checkVisibility() && !e.disabled);
			const title = document.title, path = location.pathname;
			const settled = async () => { for (let i = 0; i < 60; i++) { await new Promise(requestAnimationFrame);
				if (i > 25 && document.querySelector('main').getAttribute('aria-busy') === 'false') return; } };
			for (let i = 0; i < Math.min(12, fields().length); i++) {
				const e = fields()[i];
				const was = e.type === 'checkbox' ? e.checked : e.value;
				e.focus();
				if (e.type === 'checkbox' || e.type === 'radio') e.click();
				else {
					if (e.tagName === 'SELECT') e.selectedIndex = Math.min(1, e.options.length - 1);
					else e.value = e.type === 'date' ? '2026-01-02' : e.type === 'number' ? '2' : 'counter';
					e.dispatchEvent(new Event('input', { bubbles: true }));
					e.dispatchEvent(new Event('change', { bubbles: true }));
				}
				await settled();
				if (document.activeElement !== e || document.title !== title || location.pathname !== path || document.querySelector('dialog[open]'))
					wrong.push((e.getAttribute('aria-label') ?? e.id) + ' leads to ' + location.pathname + ', ' + document.activeElement.outerHTML.slice(0, 60));
				if (!e.isConnected) continue;
				if (e.type === 'checkbox') e.checked === was || e.click();
				else if (e.type !== 'radio') { e.value = was; e.dispatchEvent(new Event('input', { bubbles: true })); e.dispatchEvent(new Event('change', { bubbles: true })); }
			}
			return wrong;
		})()`)
		if err != nil || len(wrong) > 0 {
			t.Error(strings.Join(wrong, "\n"), err)
		}
	})
}
