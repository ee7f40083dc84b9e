package browser

import (
	"encoding/json"
	"fmt"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"conclave/internal/sample"
)

// said is the text with the addresses of a server that must not be asked, and a word
// behind it by which it is found.
func (h hostile) said(away string, number, most int) string {
	u, err := url.Parse(away)
	if err != nil {
		panic(err) // of httptest
	}
	return cut(strings.NewReplacer("AWAYHOST", u.Host, "AWAY", away).Replace(h.text), most) + " " + marker(number)
}

func marker(number int) string { return fmt.Sprintf("found-%d", number) }

// line is a text without its ends of lines.
func line(text string) string { return strings.NewReplacer("\n", " ", "\r", " ").Replace(text) }

// fileName is what of a text can be the name of a file.
func fileName(text string, number int) string {
	return strings.NewReplacer("/", "∕", "\x00", "").Replace(cut(line(text), 120)) + marker(number) + ".md"
}

// Whatever stands in the files of a workspace that somebody else made: quest, criteria,
// log, conversations, verdicts, names and contents of files, tables with their
// characters, story, journals. All texts of a batch stand there at once.
func TestHostileWorkspace(t *testing.T) {
	elsewhere := newHostileServer(t)
	w := world(t)
	program, err := theProgram()
	if err != nil {
		t.Fatal(err)
	}
	for _, args := range [][]string{{"init", "--yes"}, {"table", "new", "weir", "--adventure"}} {
		if out, err := w.Command(program, args...).CombinedOutput(); err != nil {
			t.Fatalf("conclave %s: %v\n%s", strings.Join(args, " "), err, out)
		}
	}
	p := enters(t, serve(t, w))
	const batch = 18
	for _, b := range sample.Pick(t, (len(hostiles)+batch-1)/batch, 1, 1) {
		from, to := b*batch, min((b+1)*batch, len(hostiles))
		t.Run(fmt.Sprintf("%d-%d", from, to-1), func(t *testing.T) {
			var texts []string
			for i := from; i < to; i++ {
				texts = append(texts, hostiles[i].said(elsewhere.URL, i, 2500))
			}
			names := bring(t, w, texts, from)
			for _, address := range foreignPages(names, texts) {
				t.Run(cut(address, 60), func(t *testing.T) { checkHostile(t, p.s, p.tab, address) })
			}
			shows := []string{"/quest", "/quest/conversation/" + names[0]}
			if got, err := API[struct{ Seats []string }](p.tab, "/api/table/weir"); err != nil {
				t.Error(err)
			} else if slices.Contains(got.Seats, "bram-oatley") { // else the text is no name that a character may have
				shows = append(shows, "/table/weir?view=stands")
			}
			for _, address := range shows {
				p.visit(address)
				if shown, err := Eval[bool](p.tab, fmt.Sprintf(`document.querySelector('main').textContent.includes(%q)`, marker(from))); err != nil || !shown {
					t.Errorf("%s does not show what stands there: %v %s", address, err, p.tab.words())
				}
			}
		})
	}
	elsewhere.untouched(t)
}

// untouched holds that nobody asked it for anything.
func (h *hostileServer) untouched(t *testing.T) {
	t.Helper()
	h.mu.Lock()
	defer h.mu.Unlock()
	for _, r := range h.seen {
		t.Errorf("a server elsewhere was asked for %s", r.URL)
	}
}

// bring writes the files of a hostile clone. It gives the names of its conversations,
// then of its files.
func bring(t *testing.T, w World, texts []string, from int) (names []string) {
	t.Helper()
	put := func(path, text string) {
		t.Helper()
		if err := write(filepath.Join(w.Workspace, path), text); err != nil {
			t.Fatal(err)
		}
	}
	var criteria, log, rows, judged, known strings.Builder
	for i, text := range texts {
		one := line(text)
		fmt.Fprintf(&criteria, "%d. %s\n", i+1, one)
		fmt.Fprintf(&log, "- **Progress** — %s (2026-02-1%d)\n", one, i%10)
		fmt.Fprintf(&rows, "| %d — %s | Cat (%s) | Owl (%s) |\n", i+1, one, one, one)
		fmt.Fprintf(&judged, "%d. **met** – %s\n", i+1, one)
		fmt.Fprintf(&known, "- %s\n\n%s\n", one, text)
	}
	put(".campaign/quest.md", "---\ncampaign-mode: Grow & Ship\nphase: 3\ncreated: 2026-02-14\n---\n\n# "+line(texts[0])+
		"\n\n## Quest Narrative\n\n"+line(texts[1%len(texts)])+"\n\n## Success Criteria\n\n"+criteria.String()+
		"\n## Anticipated Dragon\n\n"+line(texts[2%len(texts)])+"\n\n## Party Assignments\n\n"+
		"| Criterion | Primary Advisor | Secondary Advisor |\n|---|---|---|\n"+rows.String()+
		"\n## Progress Log\n\n- **Phase 1 complete** — Quest defined (2026-02-14)\n"+log.String())
	talk := func(agent string, text, outcome string) string {
		return fmt.Sprintf("---\nagent: %s\nprofile-name: %s\nphase: 3\ncampaign-mode: Grow & Ship\ndate: 2026-02-15T16:00:00\n---\n"+
			"## Conversation Transcript\n### Context\nQuest: %s\nConsultation purpose: %s\n### Exchange\n**User:** %s\n\n**🐱 Cat:** %s\n\n### Outcome\n%s\n",
			agent, line(text), line(text), line(text), text, text, outcome)
	}
	for i, text := range texts {
		name := fmt.Sprintf("2026-02-15-14-%02d-cat(x%d).md", i%60, i)
		put(".campaign/conversations/"+name, talk("cat", text, text))
		names = append(names, name)
	}
	put(".campaign/conversations/2026-02-16-14-00-dragon(x).md", talk("dragon", texts[0], judged.String()))
	for i, text := range texts {
		name := fileName(text, from+i)
		if err := os.WriteFile(filepath.Join(w.Workspace, name), []byte(text), 0o600); err != nil {
			t.Fatalf("%q: %v", name, err)
		}
		names = append(names, name)
	}
	put("campaigns/weir/party-knowledge.md", "# What the party knows\n\n"+known.String())
	put("campaigns/weir/story-state.md", "# Story state\n\n"+known.String())
	put("campaigns/weir/party/bram-oatley.md", "# "+line(texts[0])+"\n\n"+known.String())
	put("campaigns/weir/party/bram-oatley-journal.md", "# Journal\n\n"+known.String())
	return names
}

// foreignPages are those on which such files are seen.
func foreignPages(names, texts []string) []string {
	list := []string{"/quest", "/table", "/table/weir", "/table/weir?as=gm", "/table/weir?as=gm&view=play", "/table/weir?view=stands",
		"/table/weir?as=bram-oatley&view=journal", "/knowledge", "/knowledge/secrets/weir?as=gm"}
	half := len(names) / 2
	for i := range half {
		if i%12 == 0 || sample.All() {
			list = append(list, "/quest/conversation/"+url.PathEscape(names[i]),
				"/quest/file?line=1&path="+url.QueryEscape(names[half+i]))
		}
	}
	return append(list, "/quest/conversation/"+url.PathEscape(names[1])+"?line=3", "/table/"+url.PathEscape(line(texts[0])))
}

// Whatever a person or an agent says to the program and the program keeps: notes of
// progress, talks, dice, words at a table, names of queries, notes of pins, cells and
// columns of SQL, names of bundles. Each is also seen while it happens.
func TestHostileWords(t *testing.T) {
	elsewhere := newHostileServer(t)
	w := begun(t)
	session := NewSession(3, time.Now().Add(-time.Minute))
	if err := session.Prompt("a run to pin").Say("said").Keep(w); err != nil {
		t.Fatal(err)
	}
	program, err := theProgram()
	if err != nil {
		t.Fatal(err)
	}
	if out, err := w.Command(program, "table", "new", "weir", "--adventure").CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	p := enters(t, serve(t, w))
	run := runOf(t, p.tab, "a run to pin")
	const together = 5 // in one text, behind each other
	for _, b := range sample.Pick(t, (len(hostiles)+together-1)/together, 1, 1) {
		t.Run(hostiles[b*together].name, func(t *testing.T) {
			p.t = t
			var text strings.Builder
			for i := b * together; i < min((b+1)*together, len(hostiles)); i++ {
				text.WriteString(hostiles[i].said(elsewhere.URL, i, 4000) + "\n\n")
			}
			p.says(text.String(), b*together, run.ID)
		})
	}
	p.t = t
	elsewhere.untouched(t)
}

// says says a text everywhere, and looks at it.
func (p *player) says(text string, number int, run string) {
	p.t.Helper()
	p.visit("/quest")
	p.calls("LogProgress", "", once, line(text))
	p.calls("Consult", "", map[string]any{"Once": true, "Who": "cat", "Message": "- " + text})
	p.calls("Checkpoint", "", map[string]any{"Once": true, "Stage": cut(line(text), 80), "Expect": line(text), "Paths": []string{"README.md", text}})
	p.calls("Gate", "", map[string]any{"Criteria": "1. " + line(text), "Work": []string{"README.md"}})
	checkUsable(p.t, p.tab)
	checkHostile(p.t, p.s, p.tab, "/quest")
	if !strings.Contains(p.body(), marker(number)) {
		p.t.Errorf("a note of progress is not shown: %s", p.tab.words())
	}
	p.visit("/table/weir?as=bram-oatley&view=dice")
	seated := map[string]any{"Table": "weir", "As": []string{"bram-oatley"}}
	p.calls("Roll", "bram-oatley", map[string]any{"Table": "weir", "As": []string{"bram-oatley"}, "Expr": "1d6", "Who": "bram-oatley", "Purpose": line(text)})
	p.calls("SayAtTable", "bram-oatley", seated, text)
	p.calls("SaveTable", "bram-oatley", seated, text)
	p.calls("ChatWithCharacter", "bram-oatley", map[string]any{"Table": "weir", "Character": "bram-oatley", "Message": text})
	checkUsable(p.t, p.tab)
	for _, view := range []string{"dice", "story", "play"} {
		checkHostile(p.t, p.s, p.tab, "/table/weir?as=bram-oatley&view="+view)
	}
	p.keepsNames(text, run)
	for _, address := range []string{"/sql", "/sql?q=" + url.QueryEscape(selectOf(text)), "/runs?star=1", "/run/" + run, "/now", "/knowledge", "/figures"} {
		checkHostile(p.t, p.s, p.tab, address)
	}
	p.bundleNamed(text)
}

var once = map[string]any{"Once": true}

// selectOf is a query whose answer has a text in a cell and as the name of a column.
func selectOf(text string) string {
	return "SELECT '" + strings.ReplaceAll(strings.ReplaceAll(cut(text, 1500), "\x00", ""), "'", "''") + `' AS "` +
		strings.ReplaceAll(strings.ReplaceAll(cut(text, 200), "\x00", ""), `"`, `""`) + `", 3 AS n`
}

func (p *player) body() string {
	text, err := Eval[string](p.tab, `document.querySelector('main').textContent`)
	if err != nil {
		p.t.Fatal(err)
	}
	return text
}

// calls calls a verb as the page does, and waits until it has come to something; what
// it asks is answered with nothing.
func (p *player) calls(verb, seat string, args ...any) {
	p.t.Helper()
	given, err := json.Marshal(args)
	if err != nil {
		p.t.Fatal(err)
	}
	_, err = Eval[bool](p.tab, fmt.Sprintf(`(async () => {
		const { api } = %s;
		let job;
		try { ({ job } = await api('/api/jobs', { body: { verb: %q, args: %s, seat: %q } })); } catch { return true; }
		for (;;) {
			const found = (await api('/api/jobs')).jobs.find(j => j.job === job);
			if (found.ended) return true;
			for (const q of found.questions) await api('/api/jobs/' + job + '/answer', { body: { number: q.number, none: true } }).catch(() => {});
			await new Promise(r => setTimeout(r, 8));
		}
	})()`, core, verb, given, seat))
	if err != nil {
		p.t.Fatalf("%s: %v", verb, err)
	}
}

// keepsNames keeps a query under a name, and pins an entry with a note.
func (p *player) keepsNames(text, run string) {
	p.t.Helper()
	name, err := json.Marshal(strings.TrimSpace(cut(line(text), 150)))
	if err != nil {
		p.t.Fatal(err)
	}
	note, err := json.Marshal(cut(text, 1500))
	if err != nil {
		p.t.Fatal(err)
	}
	_, err = Eval[bool](p.tab, fmt.Sprintf(`(async () => {
		const { api } = %s;
		await api('/api/saved', { method: 'PUT', body: { name: %s, query: %s } }).catch(() => {});
		await api('/api/marks', { method: 'PUT', body: { run: %q, pin: true, entry: 1, note: %[3]s, star: true } }).catch(() => {});
		return true })()`, core, name, note, run))
	if err != nil {
		p.t.Fatal(err)
	}
}

// bundleNamed drops in a file of a name that is no bundle.
func (p *player) bundleNamed(text string) {
	p.t.Helper()
	name, err := json.Marshal(cut(text, 200))
	if err != nil {
		p.t.Fatal(err)
	}
	p.visit("/bundles")
	_, err = Eval[bool](p.tab, fmt.Sprintf(`(() => {
		const files = new DataTransfer(), place = document.querySelector('.drop');
		files.items.add(new File([%[1]s], %[1]s));
		place.dispatchEvent(new DragEvent('drop', { dataTransfer: files, bubbles: true, cancelable: true }));
		return true })()`, name))
	if err != nil {
		p.t.Fatal(err)
	}
	p.wait(`document.querySelector('main .trouble')`)
	for _, f := range p.tab.Faults(p.s.Origin) {
		if !strings.Contains(f, "Failed to load resource") {
			p.t.Error(cut(f, 400))
		}
	}
	checkUsable(p.t, p.tab)
}
