package browser

import (
	"bytes"
	"fmt"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"conclave/internal/sample"
)

// broken are bytes that are no text; they cannot stand in a table of Go.
var broken = map[string]string{
	"BROKEN-BYTES":     "\xff\xfe\xc3\x28\xed\xa0\x80\xf8\x88\x80\x80\x80<img src=x onerror=canary(1)>",
	"BROKEN-SURROGATE": `\ud800<script>canary(2)</script>\udfff`,
}

func init() {
	for name := range broken {
		hostiles = append(hostiles, hostile{strings.ToLower(name), "text " + name + " text"})
	}
}

// plant writes a session in which a text stands in every place: what was said,
// thought, called, given and answered, names of tools, members, files, models,
// branches, directories.
func (h hostile) plant(w World, number int, away string) error {
	u, err := url.Parse(away)
	if err != nil {
		return err
	}
	text := strings.NewReplacer("AWAYHOST", u.Host, "AWAY", away).Replace(h.text)
	name := cut(text, 300)
	s := NewSession(number, time.Now().Add(-time.Duration(number)*time.Minute))
	s.Dir, s.Branch, s.Model = "/home/ada/"+cut(text, 100), name, name
	s.Prompt(text).Think(text).
		Call(name, map[string]any{"command": text, "file_path": name, name: text, "nested": map[string]any{name: []any{text, name}}}, text, true).
		Call("Bash", map[string]any{"command": text, "description": name}, text, false).
		Call("Edit", map[string]any{"file_path": name, "old_string": text, "new_string": text + "\nmore"}, text, false).
		Call("Write", map[string]any{"file_path": name, "content": text}, text, false).
		Call("Read", map[string]any{"file_path": name}, text, false).
		Call("TodoWrite", map[string]any{"todos": []any{map[string]any{"content": text, "status": name, "activeForm": name}}}, text, false).
		Call("Task", map[string]any{"description": name, "prompt": text, "subagent_type": name}, text, false).
		Say(text)
	lines := s.Lines()
	for mark, with := range broken {
		lines = bytes.ReplaceAll(lines, []byte(mark), []byte(with))
	}
	dir := filepath.Join(w.Home, ".claude", "projects", strings.NewReplacer("/", "-", "\x00", "-").Replace("-"+cut(text, 100)))
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return err
	}
	return os.WriteFile(filepath.Join(dir, s.ID+".jsonl"), lines, 0o600)
}

// cut is the beginning of a text that fits into a name.
func cut(text string, n int) string {
	if len(text) <= n {
		return text
	}
	for n > 0 && !utf8.RuneStart(text[n]) {
		n--
	}
	return text[:n]
}

// Whatever stands in a transcript: nothing of it runs, no request leaves, the policy
// has nothing to report, and the page can be used.
func TestHostileTranscripts(t *testing.T) {
	elsewhere := newHostileServer(t)
	w := world(t)
	for i, h := range hostiles {
		if err := h.plant(w, 0x100+i, elsewhere.URL); err != nil {
			t.Fatal(err)
		}
	}
	s := serve(t, w)
	tab := open(t, chromium(t))
	if err := s.Enter(tab); err != nil {
		t.Fatal(err)
	}
	taken := fmt.Sprintf(`(async () => (await %s.api('/api/runs?n=1')).total >= %d)()`, core, len(hostiles))
	if err := tab.Wait(taken); err != nil {
		t.Fatal(err)
	}
	runs, err := tab.Runs(url.Values{})
	if err != nil {
		t.Fatal(err)
	}
	for i, h := range hostiles {
		id := NewSession(0x100+i, time.Time{}).ID
		if !slices.ContainsFunc(runs, func(r Run) bool { return strings.Contains(r.ID, id) }) {
			t.Errorf("the session %q (%s) is no run", h.name, id)
		}
	}
	for _, i := range sample.Pick(t, len(hostiles), 6, 20) {
		h := hostiles[i]
		t.Run(h.name, func(t *testing.T) {
			checkHostile(t, s, tab, "/run/"+NewSession(0x100+i, time.Time{}).ID)
		})
	}
	for _, address := range []string{"/runs", "/now", "/runs?q=canary", "/runs?q=" + url.QueryEscape(`<img src=x onerror=canary(1)>`),
		"/run/" + url.PathEscape(`<script>canary(1)</script>`), "/" + url.PathEscape(`<img src=x onerror=canary(1)>`), "/figures"} {
		t.Run(address, func(t *testing.T) { checkHostile(t, s, tab, address) })
	}
	elsewhere.mu.Lock()
	defer elsewhere.mu.Unlock()
	for _, r := range elsewhere.seen {
		t.Errorf("a server elsewhere was asked for %s", r.URL)
	}
}

// checkHostile opens a page with hostile text, unfolds it, goes through it, and looks
// whether it is still a page.
func checkHostile(t *testing.T, s *Server, tab *Tab, address string) {
	t.Helper()
	if err := s.Visit(tab, address); err != nil {
		t.Fatal(err)
	}
	_, err := Eval[bool](tab, `(async () => {
		for (let round = 0; round < 3; round++) {
			const shut = [...document.querySelectorAll('main details:not([open]) > summary, main [aria-expanded=false]')].slice(0, 60);
			for (const e of shut) e.click();
			await new Promise(r => requestAnimationFrame(() => setTimeout(r)));
			const list = document.querySelector('[role=feed], [role=list]')?.parentElement;
			if (list) list.scrollTop += list.clientHeight;
			await new Promise(r => requestAnimationFrame(() => setTimeout(r)));
		}
		return true;
	})()`)
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range tab.Faults(s.Origin) {
		// What was asked for in vain by an address of ours is said in the console.
		if !strings.Contains(f, "Failed to load resource") {
			t.Error(cut(f, 400))
		}
	}
	checkUsable(t, tab)
}

// checkUsable holds that the frame of the page is where it was, nothing lies over it,
// it answers to keys, and no text steers the eye.
func checkUsable(t *testing.T, tab *Tab) {
	t.Helper()
	wrong, err := Eval[string](tab, `(() => {
		const top = document.elementFromPoint(40, 20);
		if (!top?.closest('header')) return 'something lies over the head of the page: ' + top?.outerHTML.slice(0, 200);
		if (document.querySelectorAll('script').length > 3) return 'there are more scripts than before';
		if (document.querySelector('main :is(iframe, object, embed, form[action], base, style, link, meta, video, audio)'))
			return 'foreign elements';
		for (const a of document.querySelectorAll('main a[href]'))
			if (!/^(\/(?!\/)|#|https?:|blob:)/.test(a.getAttribute('href'))) return 'a link to ' + a.getAttribute('href');
			else if (/^https?:/.test(a.getAttribute('href')) && (!/noreferrer/.test(a.rel) || a.target !== '_blank'))
				return 'a link that tells where it comes from: ' + a.href;
		if (/native code/.test(document.querySelector('main').textContent)) return 'a function stands there as text';
		const hidden = /[\u202a-\u202e\u2066-\u2069\u200e\u200f\u061c\u200b\u2060\ufeff\u{e0001}-\u{e007f}\x00-\x08\x0e-\x1f\x7f-\x9f]/u;
		const walk = document.createTreeWalker(document.querySelector('main'), NodeFilter.SHOW_TEXT);
		for (let n = walk.nextNode(); n; n = walk.nextNode()) {
			const found = hidden.exec(n.data);
			// Flags of regions are drawn by tags.
			if (found && !/\u{1f3f4}/u.test(n.data)) return 'U+' + found[0].codePointAt(0).toString(16) + ' in ' + n.data.slice(0, 80);
		}
		return '';
	})()`)
	if err != nil {
		t.Fatal(err)
	}
	if wrong != "" {
		t.Error(wrong)
	}
	if err := tab.Key("Escape", "Control+k"); err != nil {
		t.Fatal(err)
	}
	if err := tab.Wait(`document.querySelector('dialog[open] input') === document.activeElement`); err != nil {
		t.Errorf("the palette does not open: %v", err)
	}
	if err := tab.Key("Escape"); err != nil {
		t.Fatal(err)
	}
}

// A message of many megabytes is shown in part, at once, and the whole on demand does
// not end the page.
func TestHostileSize(t *testing.T) {
	size := sample.Count(1<<20, 5<<20, 50<<20)
	w := world(t)
	session := NewSession(7, time.Now().Add(-time.Minute))
	session.Prompt("a great message").Say(strings.Repeat("<b>0123456789 </b>\n", size/19)).Prompt("after it").Say("the end")
	if err := session.Keep(w); err != nil {
		t.Fatal(err)
	}
	s := serve(t, w)
	tab := open(t, chromium(t))
	if err := s.Enter(tab); err != nil {
		t.Fatal(err)
	}
	run := runOf(t, tab, "a great message")
	began := time.Now()
	checkHostile(t, s, tab, "/run/"+run.ID)
	t.Logf("%d MB: %v", size>>20, time.Since(began))
	nodes, err := Eval[int](tab, `document.querySelectorAll('*').length`)
	if err != nil || nodes > 20000 {
		t.Errorf("%d elements for one message: %v", nodes, err)
	}
}
