package quest

import (
	"bytes"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"conclave/internal/shingle"
	"conclave/policy"
)

// canaries puts a word of its own into every part of a quest and everything
// around it.
func canaries(t *testing.T) Material {
	t.Helper()
	q := Parse([]byte(`---
campaign-mode: Grow & Ship
phase: 4
created: 2026-02-14
x-key: CANARYKEY
---

# CANARYTITLE

CANARYPREAMBLE

## Quest Narrative

CANARYNARRATIVE

## Success Criteria

CANARYWHY we chose these

1. CANARYCRITERION
2. CANARYGROWTH (transformation)

## Anticipated Dragon

CANARYANTICIPATED

## Party Assignments

| Criterion | Primary Advisor | Secondary Advisor |
|---|---|---|
| 1 | Cat (CANARYASSIGNMENT) | Owl |

## House Rules

CANARYHOUSE

## Progress Log

- **Progress** — CANARYPROGRESS (2026-02-15)
- **Guardian checkpoint** — Blocked: "CANARYGUARDIANLINE" (2026-02-15)
`))
	if err := q.Err(); err != nil {
		t.Fatal(err)
	}
	m := Material{Quest: q, CouncilReport: []byte("CANARYREPORT"), Stage: "CANARYSTAGE", Expectation: "CANARYEXPECT", Checks: []byte("CANARYCHECKS"), OwnVerdict: []byte("CANARYOWNVERDICT"),
		Profiles:     map[string][]byte{"cat": []byte("CANARYPROFILECAT"), "guardian": []byte("CANARYPROFILEGUARDIAN"), "dragon": []byte("CANARYPROFILEDRAGON")},
		PartyContext: []NamedText{{"CLAUDE.md", []byte("CANARYCLAUDE")}}}
	for _, agent := range []string{"cat", "council", "gandalf", "guardian", "dragon"} {
		name := "2026-02-18-14-32-" + agent + ".md"
		m.Transcripts = append(m.Transcripts, readTranscript(name, []byte("---\nagent: "+agent+"\nphase: 3\n---\n### Exchange\n\n**User:** x\n\n**Y:** CANARYTALK"+strings.ToUpper(agent)+"\n")))
	}
	m.Transcripts = append(m.Transcripts, readTranscript("2026-02-19-14-32-council.md", []byte("---\nagent: council\nphase: 6\n---\nCANARYTALKSIMON\n")))
	return m
}

func TestGrantsByCanary(t *testing.T) {
	m := canaries(t)
	all := strings.Fields("KEY TITLE PREAMBLE NARRATIVE WHY CRITERION GROWTH ANTICIPATED ASSIGNMENT HOUSE PROGRESS GUARDIANLINE REPORT STAGE EXPECT CHECKS OWNVERDICT " +
		"PROFILECAT PROFILEGUARDIAN PROFILEDRAGON CLAUDE TALKCAT TALKCOUNCIL TALKGANDALF TALKGUARDIAN TALKDRAGON TALKSIMON")
	want := map[policy.Role]string{
		policy.Dragon:   "CRITERION GROWTH CHECKS OWNVERDICT PROFILEDRAGON",
		policy.Guardian: "TITLE STAGE EXPECT OWNVERDICT PROFILEGUARDIAN",
		policy.Gandalf: "TITLE NARRATIVE CRITERION GROWTH ANTICIPATED ASSIGNMENT PROGRESS REPORT STAGE " +
			"PROFILECAT PROFILEGUARDIAN PROFILEDRAGON CLAUDE TALKCAT TALKCOUNCIL TALKGANDALF",
		policy.Cat: strings.Join(all, " "), policy.Wolf: strings.Join(all, " "), policy.Council: strings.Join(all, " "), policy.Simon: strings.Join(all, " "),
		policy.Player: "", policy.GM: "", policy.Spectator: "", "nobody": "",
	}
	for role, words := range want {
		g := Grant(role, m)
		var got []string
		for _, word := range all {
			for _, p := range g.Given {
				if bytes.Contains(p.Bytes, []byte("CANARY"+word)) && regexpWord(p.Bytes, word) {
					got = append(got, word)
					break
				}
			}
		}
		if !slices.Equal(got, strings.Fields(words)) {
			t.Errorf("%s is given\n%v\nwant\n%v", role, got, strings.Fields(words))
		}
		for _, word := range all {
			if slices.Contains(got, word) {
				continue
			}
			if !slices.ContainsFunc(g.Denied, func(p Piece) bool { return regexpWord(p.Trace, word) }) && word != "GUARDIANLINE" {
				t.Errorf("%s: %s is neither given nor traced", role, word)
			}
		}
		for _, p := range slices.Concat(g.Given, g.Denied) {
			if p.Decision != policy.Decide(role, p.Kind) || p.Decision.Reason == "" {
				t.Errorf("%s × %s: %+v", role, p.Kind, p.Decision)
			}
		}
	}
}

// regexpWord finds CANARYword and not CANARYwordmore.
func regexpWord(data []byte, word string) bool {
	return slices.ContainsFunc(bytes.FieldsFunc(data, func(r rune) bool { return r < 'A' || r > 'Z' }), func(w []byte) bool { return string(w) == "CANARY"+word })
}

func TestDragonGetsWhatTheModeAssesses(t *testing.T) {
	m := canaries(t)
	m.Quest.Mode = Ship
	p, ok := given(Grant(policy.Dragon, m), policy.SuccessCriteria)
	if !ok || strings.Contains(string(p.Bytes), "CANARYGROWTH") || string(p.Bytes) != "1. CANARYCRITERION\n" {
		t.Errorf("in mode Ship the Dragon gets %q", p.Bytes)
	}
}

func TestGandalfGetsTheReducedLog(t *testing.T) {
	g := Grant(policy.Gandalf, canaries(t))
	p, ok := given(g, policy.ProgressReduced)
	if !ok || string(p.Bytes) != "- **Progress** — CANARYPROGRESS (2026-02-15)\n- checkpoint held (2026-02-15)\n" {
		t.Errorf("Gandalf gets %q", p.Bytes)
	}
	if _, whole := given(g, policy.ProgressLog); whole {
		t.Error("and the whole log too")
	}
}

func TestDamagedQuestIsGrantedToNobody(t *testing.T) {
	q := Parse([]byte("---\nphase: 9\n---\nCANARY\n"))
	for _, role := range policy.Roles() {
		g := Grant(role, Material{Quest: q})
		if len(g.Given) != 0 || len(g.Denied) != 1 {
			t.Errorf("%s is given %d pieces of a damaged quest", role, len(g.Given))
		}
	}
}

func preflightMaterial(t *testing.T) Material {
	t.Helper()
	s, err := OpenStore(filepath.Join("testdata", "plugin"))
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	m, err := s.Material()
	if err != nil {
		t.Fatal(err)
	}
	return m
}

func TestPreflight(t *testing.T) {
	const (
		narrative = "We will replace the paper almanac by a small service, and learn to say no"
		counsel   = "say first who will miss the old one, and what they would lose with it"
		warning   = "nobody would notice until the ferry is aground on the bar"
		verdict   = "half of the error answers are only promised and never spelled out"
		expected  = "expecting every endpoint to have a written contract with its error answers"
		criterion = "answers a tide query for any of the nine piers within one second"
	)
	cases := []struct {
		name   string
		role   policy.Role
		work   string
		expect string
		where  string // empty: clean
		line   int
		source string
	}{
		{"clean work", policy.Dragon, "tides\nand piers\n", "", "", 0, ""},
		{"narrative in the work", policy.Dragon, "# Notes\n\n" + narrative + "\n", "", "out/notes.md", 3, "quest/narrative.md"},
		{"narrative re-wrapped, in capitals", policy.Guardian, strings.ToUpper(strings.ReplaceAll(narrative, " ", "\n> ")), "", "out/notes.md", 1, "quest/narrative.md"},
		{"counsel in the work", policy.Dragon, "so:\n" + counsel, "", "out/notes.md", 2, "conversations/2026-02-14-10-05-gandalf(christopher-robin).md"},
		{"an animal's words in the expectation", policy.Guardian, "x", "ready means\n" + warning, "expectation", 2, "conversations/2026-02-15-14-32-cat(eeyore).md"},
		{"narrative in the expectation", policy.Guardian, "x", narrative, "expectation", 1, "quest/narrative.md"},
		{"an earlier verdict in the work", policy.Guardian, verdict, "", "out/notes.md", 1, "conversations/2026-02-15-16-00-guardian(kanga).md"},
		{"the same expectation once more", policy.Guardian, "x", expected, "", 0, ""},
		{"a criterion in the Dragon's work", policy.Dragon, criterion, "", "", 0, ""},
		{"a criterion in the Guardian's work: it says what the work does", policy.Guardian, criterion, "", "", 0, ""},
		{"seven words", policy.Dragon, "replace the paper almanac by a small", "", "", 0, ""},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			dir := t.TempDir()
			put(t, dir, map[string]string{"out/notes.md": c.work, "out/main.go": "package main\n"})
			work, err := OpenWork(dir, []string{"out"})
			if err != nil {
				t.Fatal(err)
			}
			defer work.Close()
			m := preflightMaterial(t)
			m.Expectation, m.Stage = c.expect, "design"
			err = Preflight([]byte("0123456789abcdef"), Grant(c.role, m), work)
			if c.where == "" {
				if err != nil {
					t.Fatal(err)
				}
				return
			}
			leak, ok := err.(*LeakError)
			if !ok {
				t.Fatalf("err = %v, want a leak", err)
			}
			if l := leak.Leaks[0]; len(leak.Leaks) != 1 || l.Where != c.where || l.Line != c.line || l.Source != c.source {
				t.Errorf("found %v", leak.Leaks)
			}
			if !strings.Contains(leak.Stamp(), c.where) {
				t.Errorf("stamp %q does not name %s", leak.Stamp(), c.where)
			}
		})
	}
}

func TestPreflightOfCriteria(t *testing.T) {
	m := preflightMaterial(t)
	planted := bytes.Replace(m.Quest.Bytes(), []byte("\n3. The team"), []byte("\n3. Because we will replace the paper almanac by a small service\n4. The team"), 1)
	m.Quest = Parse(planted)
	err := Preflight([]byte("0123456789abcdef"), Grant(policy.Dragon, m), nil)
	leak, ok := err.(*LeakError)
	if !ok || leak.Leaks[0].Where != "success criteria" || leak.Leaks[0].Source != "quest/narrative.md" || leak.Leaks[0].Line != 4 {
		t.Fatalf("err = %v", err)
	}
	// Criteria are agreed in talk with Gandalf: his transcript is no evidence.
	m = preflightMaterial(t)
	m.Transcripts = append(m.Transcripts, readTranscript("2026-02-14-11-00-gandalf.md", []byte("---\nagent: gandalf\nphase: 1\n---\n### Exchange\n\n**G:** "+CriteriaText(m.Quest.Criteria))))
	if err := Preflight([]byte("0123456789abcdef"), Grant(policy.Dragon, m), nil); err != nil {
		t.Error(err)
	}
}

// A trace is the source with holes: lines and bytes are its own.
func TestTraceKeepsItsPlace(t *testing.T) {
	source := "We gave up.\n```go\nfenced(code)\n```\n> quoted line\nThen we tried `span` again.\n~~~\nx := 1\n```\n~~~\nNobody knows why we did it.\n"
	got := string(proseTrace([]byte(source), spoken, false, nil).text)
	want := "We gave up.\n     \n            \n   \n             \nThen we tried        again.\n   \n      \n   \n   \nNobody knows why we did it.\n"
	if got != want {
		t.Errorf("left %q\nwant %q", got, want)
	}
}

// What an audit looks for: the traces of what is denied, less what is given.
func TestTraces(t *testing.T) {
	dir := t.TempDir()
	put(t, dir, map[string]string{"a.md": "the turn of the year breaks nothing in here at all"})
	work, err := OpenWork(dir, []string{"a.md"})
	if err != nil {
		t.Fatal(err)
	}
	defer work.Close()
	m := preflightMaterial(t)
	m.EarlierWork = []NamedText{{"a.md", []byte("the turn of the year breaks nothing in here at all but we were very very tired then")}}
	key := []byte("0123456789abcdef")
	g := Grant(policy.Dragon, m)
	if err := Preflight(key, g, work); err != nil {
		t.Errorf("work that grew out of earlier work: %v", err)
	}
	set, err := shingle.NewSet(key)
	if err != nil {
		t.Fatal(err)
	}
	for _, p := range g.Denied {
		set.Add(p.Name, p.Trace)
	}
	for _, p := range g.Given {
		set.Subtract(p.Bytes)
	}
	var b bytes.Buffer
	if err := work.Copy(work.Files[0], &b); err != nil {
		t.Fatal(err)
	}
	set.Subtract(b.Bytes())
	for text, want := range map[string]string{
		"we will replace the paper almanac by a small service":      "quest/narrative.md",
		"at all but we were very very tired then":                   "earlier/a.md",
		"what happens at the turn of the year, and whether anyone":  "quest/anticipated-dragon.md",
		"the ferry is aground on the bar and so on and so on":       "",
		"nobody would notice until the ferry is aground on the bar": "conversations/2026-02-15-14-32-cat(eeyore).md",
		"the turn of the year breaks nothing in here":               "", // the work
		"a tide query for any of the nine piers within one second":  "", // the criteria
		"A patient pessimist who has seen most bridges from below":  "profiles/cat.md",
	} {
		hits := set.Find([]byte(text))
		if want == "" && len(hits) != 0 || want != "" && (len(hits) != 1 || hits[0].Source != want) {
			t.Errorf("%q: %+v, want %q", text, hits, want)
		}
	}
}

func TestNamesOfWorkAreSearched(t *testing.T) {
	dir := t.TempDir()
	put(t, dir, map[string]string{"we will/replace-the-paper-almanac by a small service.md": "x"})
	work, err := OpenWork(dir, []string{"."})
	if err != nil {
		t.Fatal(err)
	}
	defer work.Close()
	err = Preflight([]byte("0123456789abcdef"), Grant(policy.Dragon, preflightMaterial(t)), work)
	if leak, ok := err.(*LeakError); !ok || leak.Leaks[0].Line != 0 || !strings.Contains(err.Error(), "its name holds words from quest/narrative.md") {
		t.Errorf("err = %v", err)
	}
}

func TestStageNames(t *testing.T) {
	if err := CheckStage("design of the API"); err != nil {
		t.Error(err)
	}
	for _, name := range []string{"", " ", "a\nb", " a", strings.Repeat("a", maxStage+1)} {
		if err := CheckStage(name); err == nil {
			t.Errorf("stage %q was taken", name)
		}
	}
}

func TestExpectationLength(t *testing.T) {
	if err := CheckExpectation(strings.Repeat("ü", maxExpectation)); err != nil {
		t.Error(err)
	}
	if err := CheckExpectation(strings.Repeat("ü", maxExpectation+1)); err == nil {
		t.Error("2,001 characters were taken")
	}
}

// given returns the first given piece of a kind.
func given(g Grants, kind policy.Kind) (Piece, bool) {
	for _, p := range g.Given {
		if p.Kind == kind {
			return p, true
		}
	}
	return Piece{}, false
}
