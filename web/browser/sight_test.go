package browser

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"conclave/internal/sample"
)

// seen is a page of the registry in one look.
type seen struct{ address, look string }

// everywhere draws pages in looks: few in make check, some in make test, all in
// make full.
func everywhere(t *testing.T, tab *Tab, few, some int, looked ...string) []seen {
	t.Helper()
	var all []seen
	for _, address := range addresses(t, tab) {
		for _, look := range looked {
			all = append(all, seen{address, look})
		}
	}
	var drawn []seen
	for _, i := range sample.Pick(t, len(all), few, some) {
		drawn = append(drawn, all[i])
	}
	return drawn
}

// each shows what was drawn, one after the other.
func each(t *testing.T, s *Server, tab *Tab, list []seen, try func(t *testing.T)) {
	t.Helper()
	for _, one := range list {
		t.Run(strings.Trim(one.address, "/")+" "+one.look, func(t *testing.T) {
			if err := tab.See(looks[one.look]); err != nil {
				t.Fatal(err)
			}
			if err := s.Visit(tab, one.address); err != nil {
				t.Fatal(err)
			}
			try(t)
		})
	}
}

// lostWords tells what is lost of words: cut off, over one another, beside the window. A
// line that ends in an ellipsis is whole where it leads to, and what is only read
// aloud is not looked at.
const lostWords = `(() => {
	const found = [], words = [];
	const name = e => e.tagName.toLowerCase() + [...e.classList].map(c => '.' + c).join('') + ' "' + e.textContent.replace(/\s+/g, ' ').trim().slice(0, 30) + '"';
	if (document.documentElement.scrollWidth > innerWidth + 1) found.push(document.documentElement.scrollWidth + ' pixels in a window of ' + innerWidth);
	const walk = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
	const styles = new Map(), style = e => styles.get(e) ?? styles.set(e, getComputedStyle(e)).get(e);
	for (let node; (node = walk.nextNode());) {
		const e = node.parentElement;
		if (!node.data.trim() || !e.checkVisibility({ visibilityProperty: true, opacityProperty: true }) ||
			e.closest('.unseen, .skip, option, noscript, script, title, .palette')) continue;
		const range = new Range(); range.selectNodeContents(node);
		let rects = [...range.getClientRects()].filter(r => r.width > 1 && r.height > 1), scrolls = false, shown = rects.length > 0;
		const hangs = /pre/.test(style(e).whiteSpace) ? parseFloat(style(e).fontSize) : 2; // a blank at the end of a line
		for (let p = e; p && p !== document.body; p = p.parentElement) {
			const c = style(p), box = p.getBoundingClientRect();
			if (c.clipPath !== 'none' || c.textOverflow === 'ellipsis' || c.webkitLineClamp !== 'none') { shown = false; break; }
			const x = c.overflowX, y = c.overflowY, paint = /paint|strict|content/.test(c.contain);
			if (/auto|scroll/.test(x + y)) {
				scrolls = true;
				rects = rects.filter(r => r.bottom < box.bottom && r.top > box.top && r.right > box.left && r.left < box.right);
			}
			if (scrolls) continue;
			const out = rects.find(r => (x === 'hidden' || x === 'clip' || paint) && (r.left < box.left - 2 || r.right > box.right + hangs) ||
				(y === 'hidden' || y === 'clip' || paint) && (r.top < box.top - 3 || r.bottom > box.bottom + 3));
			if (out) { found.push(name(e) + ' is cut off by ' + name(p)); shown = false; break; }
		}
		if (!shown) continue;
		for (const r of rects) {
			if (r.right > innerWidth + 1 && !e.closest('.scroll, .vlist, #menu, .views, .run-acts, svg')) found.push(name(e) + ' is beside the window');
			words.push({ e, r, fixed: Boolean(e.closest('.top, #menu, #notices')) });
		}
	}
	words.sort((a, b) => a.r.top - b.r.top);
	for (let i = 0; i < words.length; i++) {
		const { e, r, fixed } = words[i];
		for (let k = i + 1; k < words.length && words[k].r.top < r.bottom - 3; k++) {
			const o = words[k];
			if (o.fixed !== fixed) continue;
			if (Math.min(r.right, o.r.right) - Math.max(r.left, o.r.left) > 3 && Math.min(r.bottom, o.r.bottom) - Math.max(r.top, o.r.top) > Math.min(r.height, o.r.height) * .4)
				found.push(name(e) + ' and ' + name(o.e) + ' are over one another');
		}
	}
	return [...new Set(found)].slice(0, 8);
})()`

// spaced is the spacing that a reader may set (WCAG 1.4.12).
const spaced = `(() => { const sheet = new CSSStyleSheet();
	sheet.replaceSync('* { line-height: 1.5 !important; letter-spacing: .12em !important; word-spacing: .16em !important } p { margin-bottom: 2em !important }');
	document.adoptedStyleSheets = [sheet];
	return new Promise(done => requestAnimationFrame(() => requestAnimationFrame(() => done(true)))); })()`

// With the spacing of a reader nothing is lost, and without it neither (WCAG 1.4.12).
func TestTextSpacing(t *testing.T) {
	s, tab := inside(t)
	each(t, s, tab, everywhere(t, tab, 3, 9, "light", "phone", "zoom 400"), func(t *testing.T) {
		for _, with := range []string{"as it is", "with more space"} {
			if with != "as it is" {
				if _, err := Eval[bool](tab, spaced); err != nil {
					t.Fatal(err)
				}
			}
			found, err := Eval[[]string](tab, lostWords)
			if err != nil || len(found) > 0 {
				t.Errorf("%s: %s %v", with, strings.Join(found, "\n\t"), err)
			}
		}
	})
}

// The measure of TestTextSpacing sees what it is for.
func TestLostWordsAreSeen(t *testing.T) {
	t.Parallel()
	bodies := map[string]string{
		"/cut":    `<div style="overflow:hidden;height:10px;width:300px"><p style="margin:0">words that are cut off</p></div>`,
		"/over":   `<p style="margin:0">words that lie</p><p style="margin:-18px 0 0">over one another</p>`,
		"/beside": `<p style="position:absolute;left:1200px;white-space:nowrap">words that are longer than there is room for them</p>`,
	}
	tab := open(t, chromium(t))
	origin := still(t, bodies)
	for path := range bodies {
		if err := tab.Go(origin + path); err != nil {
			t.Fatal(err)
		}
		if found, err := Eval[[]string](tab, lostWords); err != nil || len(found) == 0 {
			t.Errorf("%s is not seen: %v", path, err)
		}
	}
}

// In colours that the system forces nothing is lost: what is told by a coloured field
// alone keeps its colour, and what is pressed, chosen or current differs by more than
// its background.
func TestForcedColours(t *testing.T) {
	s, tab := inside(t)
	each(t, s, tab, everywhere(t, tab, 2, 6, "light"), func(t *testing.T) {
		marked, err := Eval[int](tab, `(() => { let n = 0;
			const behind = e => { for (e = e.parentElement; e; e = e.parentElement) { const c = getComputedStyle(e).backgroundColor; if (!/, 0\)$/.test(c)) return c; } return ''; };
			for (const e of document.querySelectorAll('body *')) {
				const c = getComputedStyle(e), r = e.getBoundingClientRect();
				if (e.textContent || e.childElementCount || r.width < 2 || r.height < 2 || !e.checkVisibility() || e.matches('input, textarea, canvas, progress, svg *, .vlist *')) continue;
				if (!/, 0\)$/.test(c.backgroundColor) && c.backgroundColor !== behind(e)) { e.dataset.field = '1'; n++; }
			}
			return n })()`)
		if err != nil {
			t.Fatal(err)
		}
		if err := tab.See(Look{Width: 1280, Height: 800, Forced: true}); err != nil {
			t.Fatal(err)
		}
		got, err := Eval[struct {
			Active bool
			Lost   []string
		}](tab, `(() => {
			const behind = e => { for (e = e.parentElement; e; e = e.parentElement) { const c = getComputedStyle(e).backgroundColor; if (!/, 0\)$/.test(c)) return c; } return ''; };
			const lost = [...document.querySelectorAll('[data-field]')].filter(e => { const c = getComputedStyle(e);
				return c.backgroundColor === behind(e) && parseFloat(c.borderTopWidth) === 0; }).map(e => e.outerHTML.slice(0, 100));
			const look = e => { const c = getComputedStyle(e); return [c.borderWidth, c.borderStyle, c.outlineStyle, c.outlineWidth, c.fontWeight,
				c.textDecorationLine, e.querySelector('path') && getComputedStyle(e.querySelector('path')).fill].join(); };
			for (const [attribute, off] of [['aria-pressed', 'false'], ['aria-current', null], ['aria-selected', 'false']])
				for (const e of document.querySelectorAll('[' + attribute + ']')) {
					if (!e.checkVisibility() || e.contains(document.activeElement)) continue;
					const was = e.getAttribute(attribute), now = look(e);
					if (off) e.setAttribute(attribute, was === off ? 'true' : off); else e.removeAttribute(attribute);
					if (look(e) === now) lost.push(attribute + ' is not seen of ' + e.outerHTML.slice(0, 100));
					e.setAttribute(attribute, was);
				}
			return { active: matchMedia('(forced-colors: active)').matches, lost: [...new Set(lost)].slice(0, 6) };
		})()`)
		if err != nil || !got.Active || len(got.Lost) > 0 {
			t.Errorf("forced colours %v, %d fields: %s %v", got.Active, marked, strings.Join(got.Lost, "\n\t"), err)
		}
	})
}

// Nothing moves by itself for more than five seconds, and nothing at all for who does
// not want that (WCAG 2.2.2).
func TestMotion(t *testing.T) {
	s, tab := inside(t)
	const moving = `(() => document.getAnimations().filter(a => a.effect.getComputedTiming().endTime > %s)
		.map(a => a.effect.target.outerHTML.slice(0, 100)))()`
	each(t, s, tab, everywhere(t, tab, 2, 4, "light"), func(t *testing.T) {
		if list, err := Eval[[]string](tab, fmt.Sprintf(moving, "5000")); err != nil || len(list) > 0 {
			t.Errorf("moves without an end: %v %v", list, err)
		}
		if err := tab.See(Look{Width: 1280, Height: 800, Still: true}); err != nil {
			t.Fatal(err)
		}
		if list, err := Eval[[]string](tab, fmt.Sprintf(moving, "0")); err != nil || len(list) > 0 {
			t.Errorf("moves for who wants no motion: %v %v", list, err)
		}
	})
}

// Nothing appears because a pointer is over something, but for tools that have their
// own place; and nothing listens to a pointer being there (WCAG 1.4.13).
func TestHover(t *testing.T) {
	s, tab := inside(t)
	if err := s.Visit(tab, "/runs"); err != nil {
		t.Fatal(err)
	}
	got, err := Eval[struct {
		Rules int
		Shown []string
	}](tab, `(() => {
		let rules = 0; const shown = [];
		const walk = list => { for (const r of list) {
			if (r.cssRules?.length) walk(r.cssRules);
			if (!r.selectorText?.includes(':hover')) continue;
			rules++;
			for (const p of ['display', 'visibility', 'opacity', 'content', 'position', 'height', 'max-height'])
				if (r.style.getPropertyValue(p)) shown.push(r.selectorText + ' { ' + p + ' }');
		} };
		for (const sheet of document.styleSheets) walk(sheet.cssRules);
		return { rules, shown };
	})()`)
	if err != nil || got.Rules < 5 {
		t.Fatalf("%d rules for what is under a pointer: %v", got.Rules, err)
	}
	for _, rule := range got.Shown {
		// They stand in the entry's own corner, cover nothing, and are there for the focus, too.
		if !strings.Contains(rule, ".entry:hover .entry-tools button") || !strings.Contains(rule, ".entry:focus-within") {
			t.Errorf("appears under a pointer: %s", rule)
		}
	}
}

// still serves bodies without anything else.
func still(t *testing.T, bodies map[string]string) string {
	t.Helper()
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "text/html")
		fmt.Fprint(w, `<!doctype html><link rel=icon href="data:,"><title>t</title><style>body{margin:0}</style>`, bodies[r.URL.Path])
	}))
	t.Cleanup(server.Close)
	return server.URL
}

// A state is told by a word and by a shape, not by a colour alone (WCAG 1.4.1).
func TestStatesWithoutColour(t *testing.T) {
	s, tab := inside(t)
	if err := s.Visit(tab, "/runs"); err != nil {
		t.Fatal(err)
	}
	got, err := Eval[map[string]string](tab, fmt.Sprintf(`(async () => {
		const { t } = %s, { state } = await import(new URL('who.js', document.querySelector('script[type=module]').src));
		const shapes = {};
		for (const name of Object.keys(t.states)) {
			const e = state(name);
			document.querySelector('main').append(e);
			const c = getComputedStyle(e, '::before'), empty = /, 0\)$/.test(c.backgroundColor);
			if (e.textContent.trim()) shapes[name] = [c.borderRadius, c.transform, c.borderStyle, empty].join();
			e.remove();
		}
		return shapes;
	})()`, core))
	if err != nil || len(got) < 4 {
		t.Fatalf("%d states have words: %v", len(got), err)
	}
	by := map[string]string{}
	for name, shape := range got {
		if other, ok := by[shape]; ok {
			t.Errorf("%s and %s differ by their colour alone", name, other)
		}
		by[shape] = name
	}
}

// The edge of every field stands out from what is around it (WCAG 1.4.11).
func TestFieldsAreSeen(t *testing.T) {
	s, tab := inside(t)
	each(t, s, tab, everywhere(t, tab, 2, 6, "light", "dark"), func(t *testing.T) {
		if _, err := Eval[int](tab, walker); err != nil {
			t.Fatal(err)
		}
		faint, err := Eval[[]string](tab, `[...document.querySelectorAll('input:not([type=file], [type=hidden], [type=checkbox], [type=radio]), select, textarea')]
			.filter(e => e.checkVisibility() && !e.disabled && self.contrast(getComputedStyle(e).borderTopColor, self.behind(e.parentElement)) < 3)
			.map(e => e.outerHTML.slice(0, 100))`)
		if err != nil || len(faint) > 0 {
			t.Error(strings.Join(faint, "\n"), err)
		}
	})
}

// Who types a wrong code is told so in words, at the field (WCAG 3.3.1, 3.3.3).
func TestWrongCodeIsTold(t *testing.T) {
	s, err := house()
	if err != nil {
		t.Fatal(err)
	}
	tab := open(t, chromium(t))
	if err := tab.Go(s.Origin + "/runs"); err != nil {
		t.Fatal(err)
	}
	if err := tab.Wait(`document.getElementById('code')`); err != nil {
		t.Fatal(err)
	}
	if err := tab.Write("Code from the link", "0123456789abcdef0123456789abcdef"); err != nil {
		t.Fatal(err)
	}
	if err := tab.Key("Enter"); err != nil {
		t.Fatal(err)
	}
	if err := tab.Wait(`(() => { const f = document.activeElement; return f.id === 'code' && f.getAttribute('aria-invalid') === 'true' &&
		/used|too old/.test(document.getElementById(f.getAttribute('aria-describedby')).textContent); })()`); err != nil {
		t.Error(err)
	}
}
