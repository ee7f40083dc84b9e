package browser

import (
	"maps"
	"net/url"
	"regexp"
	"slices"
	"strings"
	"sync"
	"testing"

	"conclave/internal/sample"
)

// looks are the ways to look at a page.
var looks = map[string]Look{
	"light":      {Width: 1280, Height: 800},
	"dark":       {Width: 1280, Height: 800, Dark: true},
	"phone":      {Width: 390, Height: 844, Mobile: true},
	"phone dark": {Width: 390, Height: 844, Mobile: true, Dark: true},
	// A window of 1280 pixels at 200 % and at 400 %: WCAG 1.4.4 and 1.4.10.
	"zoom 200": {Width: 640, Height: 400, Scale: 2},
	"zoom 400": {Width: 320, Height: 256, Scale: 4, Still: true},
	"forced":   {Width: 1280, Height: 800, Forced: true},
}

// listed are the addresses of the house, which every test that asks finds alike.
var listed struct {
	sync.Mutex
	pages, further []string
}

// addresses are all pages of the registry, with values of the house for their
// parameters, and a draw of what else they show: other views, seats and filters.
func addresses(t *testing.T, tab *Tab) []string {
	t.Helper()
	listed.Lock()
	defer listed.Unlock()
	if len(listed.pages) == 0 {
		list(t, tab)
	}
	all := slices.Clone(listed.pages)
	for _, i := range sample.Pick(t, len(listed.further), 1, 2) {
		all = append(all, listed.further[i])
	}
	return all
}

func list(t *testing.T, tab *Tab) {
	t.Helper()
	runs, err := tab.Runs(url.Values{"q": {"counter"}})
	if err != nil || len(runs) == 0 {
		t.Fatalf("no runs about the counter: %v", err)
	}
	own, talk := runOf(t, tab, "Why does the counter skip"), conversation(t, tab)
	values := map[string]string{"id": own.ID, "run": own.ID, "a": own.ID, "b": runs[0].ID, "n": "2", "name": "weir", "table": "weir"}
	of := map[string]map[string]string{
		"/knowledge/": {"run": seatRun(t, tab), "id": seatRun(t, tab), "turn": "t1"},
		"/quest/":     {"name": talk},
	}
	queries := map[string]string{"/quest/file": "?path=README.md&line=3"}
	registered, err := tab.Registered()
	if err != nil || len(registered) < 8 {
		t.Fatalf("the registry has %d pages: %v", len(registered), err)
	}
	for _, path := range registered {
		given := maps.Clone(values)
		for prefix, more := range of {
			if strings.HasPrefix(path, prefix) {
				maps.Copy(given, more)
			}
		}
		filled, err := Fill(path, given)
		if err != nil {
			t.Error(err)
			continue
		}
		listed.pages = append(listed.pages, filled+queries[path])
	}
	listed.pages = append(listed.pages, views(t, tab, "/run/"+own.ID)...)
	listed.further = append(views(t, tab, "/table/weir"), "/search?q=counter", "/figures?by=model", "/compare/"+own.ID,
		"/table/weir?as=gm", "/knowledge/secrets/weir?as=gm", "/quest/conversation/"+talk+"?line=1", "/nowhere")
}

// views are the further views of a page, as it offers them itself.
func views(t *testing.T, tab *Tab, address string) []string {
	t.Helper()
	s, err := house()
	if err == nil {
		err = s.Visit(tab, address)
	}
	if err != nil {
		t.Fatal(err)
	}
	list, err := Eval[[]string](tab, `[...document.querySelectorAll('main nav a[href*="?"]')].map(a => a.getAttribute('href'))`)
	if err != nil || len(list) < 2 {
		t.Fatalf("%s has %d further views: %v", address, len(list), err)
	}
	return list
}

// conversation is the name of one that the quest has.
func conversation(t *testing.T, tab *Tab) string {
	t.Helper()
	got, err := API[struct {
		Conversations []struct {
			Name string `json:"name"`
		}
	}](tab, "/api/quest")
	if err != nil || len(got.Conversations) == 0 {
		t.Fatalf("the quest has no conversations: %v", err)
	}
	return got.Conversations[0].Name
}

// seatRun is a run of a seat, of which there is knowledge.
func seatRun(t *testing.T, tab *Tab) string {
	t.Helper()
	all, err := tab.Runs(url.Values{})
	if err != nil {
		t.Fatal(err)
	}
	if i := slices.IndexFunc(all, func(r Run) bool { return r.Kind == "seat" }); i >= 0 {
		return all[i].ID
	}
	return ""
}

// A hit of the search of everything leads to its entry, also in a run that nobody has
// opened yet, and its link says so by itself.
func TestHitsLeadToTheirEntry(t *testing.T) {
	s, tab := inside(t)
	if err := s.Visit(tab, "/search?q=one+too+few"); err != nil {
		t.Fatal(err)
	}
	if err := tab.Wait(`document.querySelector('.hits a')`); err != nil {
		t.Fatal(err)
	}
	link, err := Eval[string](tab, `document.querySelector('.hits a').getAttribute('href')`)
	if err != nil {
		t.Fatal(err)
	}
	if !regexp.MustCompile(`^/run/[^/]+(/\d+|\?seq=\d+&by=.*)$`).MatchString(link) {
		t.Errorf("the link is %s", link)
	}
	const there = `/^\/run\/[^/]+\/\d+$/.test(location.pathname) && location.search === '' &&
		[...document.querySelectorAll('[role=feed] [data-n]')].find(e => e.dataset.n === location.pathname.split('/').at(-1))
			?.innerText.includes('one too few')`
	if _, err := Eval[bool](tab, `(() => { document.querySelector('.hits a').click(); return true })()`); err != nil {
		t.Fatal(err)
	}
	if err := tab.Wait(there); err != nil {
		t.Error(err)
	}
	if err := s.Visit(tab, link); err != nil { // as in a tab of its own
		t.Fatal(err)
	}
	if err := tab.Wait(there); err != nil {
		t.Error(err)
	}
}
