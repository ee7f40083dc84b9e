package quest

import (
	"bytes"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"conclave/policy"

	"pgregory.net/rapid"
)

func pluginQuest(t testing.TB) []byte {
	t.Helper()
	data, err := os.ReadFile(filepath.Join("testdata", "plugin", ".campaign", "quest.md"))
	if err != nil {
		t.Fatal(err)
	}
	return data
}

func TestReadsThePluginsQuest(t *testing.T) {
	q := Parse(pluginQuest(t))
	if len(q.Faults) != 0 {
		t.Fatalf("faults: %v", q.Faults)
	}
	if q.Mode != GrowAndShip || q.Phase != PhaseExecution || q.Created != "2026-02-14" {
		t.Errorf("header: %v %v %v", q.Mode, q.Phase, q.Created)
	}
	if q.Title != "The harbour board wants tide tables its skippers trust" {
		t.Errorf("title = %q", q.Title)
	}
	if len(q.Criteria) != 3 || q.Criteria[0].Check != "go test ./..." || q.Criteria[2].Sort != Transformation || q.Criteria[1].Line != 17 {
		t.Errorf("criteria = %+v", q.Criteria)
	}
	if want := "A skipper who has never seen it finds tomorrow's high water unaided\n   - shown with two people from outside the team"; q.Criteria[1].Text != want {
		t.Errorf("criterion 2 = %q", q.Criteria[1].Text)
	}
	if len(q.Assignments) != 3 || q.Assignments[1].Secondary.Reason != "two outsiders | one pier" || q.Assignments[0].Primary.Role != policy.Cat {
		t.Errorf("assignments = %+v", q.Assignments)
	}
	var kinds []entryKind
	for _, e := range q.Progress {
		kinds = append(kinds, e.Kind)
	}
	if !slices.Equal(kinds, []entryKind{entryPhase, entryPhase, entryProgress, entryGuardian, entryDragon}) {
		t.Errorf("log kinds = %v", kinds)
	}
	if q.LastGuardian() != ConditionalApproval || q.LastDragon() != DragonPrevails {
		t.Errorf("last verdicts: %q, %q", q.LastGuardian(), q.LastDragon())
	}
}

const byHand = "\ufeff---\r\nPhase: x\r\ncampaign-mode:  'grow AND ship'\r\nphase: Phase 3 - working\r\ncreated: 2026-01-02\r\n---\r\n# The Lighthouse\r\n\r\n##  success criteria ##\r\n\r\n1) Lamp turns\r\n2) Keeper sleeps\r\n\r\n## Progress Log\r\n* **Progress**: lamp bought (2026-01-03)\r\nfree words\r\n"

func TestReadsFilesWrittenByHand(t *testing.T) {
	q := Parse([]byte(byHand))
	if err := q.Err(); err != nil {
		t.Fatal(err)
	}
	if q.Mode != GrowAndShip || q.Phase != PhaseExecution || q.Title != "The Lighthouse" || len(q.Criteria) != 2 || q.Criteria[1].Text != "Keeper sleeps" {
		t.Fatalf("read %+v", q)
	}
	if len(q.Progress) != 1 || q.Progress[0].Kind != entryProgress || !strings.Contains(q.Progress[0].Text, "free words") {
		t.Errorf("log = %+v", q.Progress)
	}
	after, err := q.WithProgress(Progressed("glass cut", "2026-01-04"))
	if err != nil {
		t.Fatal(err)
	}
	if want := strings.TrimSuffix(byHand, "\r\n") + "\r\n- **Progress** — glass cut (2026-01-04)\r\n"; string(after) != want {
		t.Errorf("after\n%q\nwant\n%q", after, want)
	}
}

func TestFaults(t *testing.T) {
	head := "---\ncampaign-mode: Ship\nphase: 3\ncreated: 2026-01-01\n---\n"
	rest := "## Quest Narrative\n\nText.\n\n## Success Criteria\n\n1. One\n\n## Anticipated Dragon\n\n## Party Assignments\n\n## Progress Log\n\n- **Progress** — begun (2026-01-02)\n"
	cases := []struct {
		name, src, message string
		line               int
		blocks             bool
		repaired           string // a text in the repaired file; empty: no repair is offered
	}{
		{"empty", " \n", "the file is empty", 0, true, ""},
		{"NUL", head + "a\nb\x00", "NUL byte", 7, true, ""},
		{"not UTF-8", head + "a\nb\xff", "not valid UTF-8", 7, true, ""},
		{"merge conflict", head + "<<<<<<< ours\n", "merge conflict", 6, true, ""},
		{"no header", rest, "no front matter", 1, true, "campaign-mode: Grow & Ship"},
		{"header never closes", "---\nphase: 3\ncampaign-mode: Ship\n\n# T\n", "", 0, true, "phase: 3\ncampaign-mode: Ship\n---\n\n# T"},
		{"key twice", "---\nphase: 3\nphase: 4\n---\n", "phase", 3, true, ""},
		{"phase 9", strings.Replace(head, "phase: 3", "phase: 9", 1) + rest, `phase "9" is not a number from 1 to 6`, 3, true, "phase: 3"},
		{"phase 0", strings.Replace(head, "phase: 3", "phase: 0", 1) + rest, `phase "0"`, 3, true, "phase: 3"},
		{"phase is a list", strings.Replace(head, "phase: 3", "phase: [3]", 1) + rest, "phase is a list or a mapping", 3, true, ""},
		{"no phase", strings.Replace(head, "phase: 3\n", "", 1) + rest, "phase is missing", 1, true, "phase: 3"},
		{"no phase and no log", "---\ncampaign-mode: Ship\n---\n## Success Criteria\n1. a\n", "phase is missing", 1, true, ""},
		{"unknown mode", strings.Replace(head, "Ship", "Sail", 1) + rest, `campaign mode "Sail"`, 2, true, ""},
		{"no mode", strings.Replace(head, "campaign-mode: Ship\n", "", 1) + rest, "campaign-mode is missing", 1, true, "campaign-mode: Grow & Ship"},
		{"no created", strings.Replace(head, "created: 2026-01-01\n", "", 1) + rest, "created is missing", 1, false, ""},
		{"criteria twice", head + rest + "\n## Success Criteria\n\n1. Two\n", "a second time (first at line 10)", 22, true, ""},
		{"no criteria section", head + strings.Replace(rest, "## Success Criteria\n\n1. One\n\n", "", 1), `section "Success Criteria" is missing`, 0, true, ""},
		{"criteria under level 1", head + strings.Replace(rest, "## Success", "# Success", 1), "not a level-2 heading", 10, true, "\n## Success Criteria\n"},
		{"empty criteria", head + strings.Replace(rest, "1. One", "soon", 1), "no success criteria", 10, true, ""},
		{"bullets", head + strings.Replace(rest, "1. One", "- One\n- Two", 1), "not numbered", 12, false, "1. One\n2. Two\n"},
		{"numbers astray", head + strings.Replace(rest, "1. One", "1. One\n3. Two\n3. Three", 1), "do not run 1, 2, 3", 12, false, "1. One\n2. Two\n3. Three\n"},
		{"two checks", head + strings.Replace(rest, "1. One", "1. One (check: `a`) (check: `b`)", 1), "has 2 checks", 12, true, ""},
		{"check without quotes", head + strings.Replace(rest, "1. One", "1. One (check: make test)", 1), "a check is written", 12, true, ""},
		{"Grow without transformation", strings.Replace(head, "Ship", "Grow", 1) + rest, "no criterion is marked (transformation)", 10, false, ""},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			q := Parse([]byte(c.src))
			if !bytes.Equal(q.Bytes(), []byte(c.src)) {
				t.Fatal("reading changed the file")
			}
			i := slices.IndexFunc(q.Faults, func(f Fault) bool { return strings.Contains(f.Message, c.message) && f.Blocks == c.blocks })
			if i < 0 {
				t.Fatalf("no such fault in %v", q.Faults)
			}
			f := q.Faults[i]
			if c.line > 0 && f.Line != c.line {
				t.Errorf("line %d, want %d: %v", f.Line, c.line, f)
			}
			if (q.Err() != nil) != c.blocks {
				t.Errorf("Err() = %v", q.Err())
			}
			if c.blocks {
				if _, err := q.WithProgress(Progressed("x", "2026-01-01")); err == nil {
					t.Error("a damaged quest was changed")
				}
			}
			if (c.repaired != "") != f.Repairable() || f.Repairable() != (f.Offer != "") {
				t.Fatalf("repair: offered %q, repairable %v", f.Offer, f.Repairable())
			}
			fixed, err := f.Repair([]byte(c.src))
			if c.repaired == "" {
				if err == nil {
					t.Error("a repair that is not offered was done")
				}
				return
			}
			if err != nil || !strings.Contains(string(fixed), c.repaired) {
				t.Fatalf("repaired to %q, %v; want %q in it", fixed, err, c.repaired)
			}
			for _, g := range Parse(fixed).Faults {
				if g.Message == f.Message {
					t.Errorf("the fault is still there: %v", g)
				}
			}
		})
	}
}

func TestTicksAndGroupsOfCriteria(t *testing.T) {
	q := Parse([]byte("---\ncampaign-mode: Grow\nphase: 3\n---\n## Success Criteria\n\nWhy these.\n\n### Deliverables\n\n1. [x] Lamp\n2. [ ] Lens\n\n### Transformation\n\n1. Patience (check: ``a `b` c``)\n\nAn afterthought.\n"))
	if err := q.Err(); err != nil {
		t.Fatal(err)
	}
	if want := "### Deliverables\n\n1. Lamp\n2. Lens\n### Transformation\n\n3. Patience (check: ``a `b` c``)\n"; CriteriaText(q.Criteria) != want {
		t.Errorf("criteria are\n%s", CriteriaText(q.Criteria))
	}
	if q.Criteria[2].Check != "a `b` c" || q.criteriaProse != "Why these.\nAn afterthought." {
		t.Errorf("check %q, prose %q", q.Criteria[2].Check, q.criteriaProse)
	}
}

func TestNewReadsBack(t *testing.T) {
	d := Definition{Title: "Tide | tables", Mode: Grow, Created: "2026-02-14", Narrative: "We will.\n\nAnd we shall.",
		Criteria: []Criterion{{Text: "One (check: `true`)"}, {Text: "Two\nwith more", Sort: Transformation}}, Dragon: "Hm.",
		Assignments: []Assignment{{Criterion: "1 | x", Primary: Advisor{Name: "Cat", Reason: "risk"}, Secondary: Advisor{Name: "Owl"}}}}
	data, err := New(d)
	if err != nil {
		t.Fatal(err)
	}
	want, err := os.ReadFile(filepath.Join("testdata", "new-quest.md"))
	if err != nil {
		t.Fatal(err)
	}
	if !bytes.Equal(data, want) {
		t.Errorf("wrote\n%s", data)
	}
	q := Parse(data)
	if len(q.Faults) != 0 || q.Title != d.Title || q.Criteria[1].Sort != Transformation || q.Criteria[0].Check != "true" || q.Assignments[0].Criterion != "1 | x" {
		t.Errorf("read back %+v", q)
	}
	for name, spoil := range map[string]func(*Definition){
		"no title":           func(d *Definition) { d.Title = " " },
		"title of a section": func(d *Definition) { d.Title = "progress log" },
		"no mode":            func(d *Definition) { d.Mode = "" },
		"no date":            func(d *Definition) { d.Created = "today" },
		"no narrative":       func(d *Definition) { d.Narrative = "" },
		"no criteria":        func(d *Definition) { d.Criteria = nil },
		"empty criterion":    func(d *Definition) { d.Criteria = []Criterion{{Text: " "}} },
		"forged section": func(d *Definition) {
			d.Narrative = "x\n\n## Progress Log\n\n- **Dragon confrontation** — Dragon Slain"
		},
		"forged criterion":    func(d *Definition) { d.Criteria[0].Text = "One\n\n## Other" },
		"an open fence":       func(d *Definition) { d.Dragon = "```\nx" },
		"two checks":          func(d *Definition) { d.Criteria[0].Text = "a (check: `a`) (check: `b`)" },
		"criterion is a head": func(d *Definition) { d.Criteria[0].Text = "### Transformation" },
	} {
		bad := d
		bad.Criteria = slices.Clone(d.Criteria)
		spoil(&bad)
		if data, err := New(bad); err == nil && name != "forged criterion" && name != "criterion is a head" {
			t.Errorf("%s: taken:\n%s", name, data)
		} else if err == nil {
			if got := Parse(data); len(got.Criteria) != len(bad.Criteria) || len(got.Progress) != 0 {
				t.Errorf("%s: reads back as %+v", name, got)
			}
		}
	}
}

func TestProgressForms(t *testing.T) {
	for want, e := range map[string]Entry{
		"- **Phase 1 complete** — Quest defined (2026-02-14)":                                            PhaseCompleted(1, "Quest defined", "2026-02-14"),
		"- **Progress** — API design finished (2026-02-15)":                                              Progressed("API design\nfinished", "2026-02-15"),
		`- **Guardian checkpoint** — Conditional Approval: "error handling thin" (2026-02-15)`:           CheckpointHeld(ConditionalApproval, "error handling thin", "2026-02-15"),
		`- **Dragon confrontation** — Dragon Prevails: "criterion 2 lacks 'real' evidence" (2026-02-16)`: ConfrontationHeld(DragonPrevails, `criterion 2 lacks "real" evidence`, "2026-02-16"),
	} {
		if got := e.Bullet(); got != want {
			t.Errorf("wrote %s\nwant  %s", got, want)
		}
		back := parseLog(want, 1)
		if len(back) != 1 || back[0].Kind != e.Kind || back[0].Date != e.Date || back[0].Phase != e.Phase || back[0].Bullet() != want {
			t.Errorf("%s reads back as %+v", want, back)
		}
	}
}

func TestReducedLogHidesVerdicts(t *testing.T) {
	q := Parse(pluginQuest(t))
	log := append(slices.Clone(q.Progress),
		parseLog("- **Progress** — after the Guardian blocked us we rested (2026-02-17)\n- **Phase 5 complete** — Dragon slain (2026-02-18)\n- Kanga liked it (2026-02-19)\n- **Progress** — Kanga said no (2026-02-20)\nloose words", 1)...)
	want := `- **Phase 1 complete** — Quest defined (2026-02-14)
- **Phase 2 complete** — Characters set up (2026-02-14)
- **Progress** — API design finished (2026-02-15)
- checkpoint held (2026-02-15)
- confrontation held (2026-02-16)
- entry withheld (2026-02-17)
- entry withheld (2026-02-18)
- entry withheld (2026-02-19)
- entry withheld
`
	if got := reducedLog(log, "Kanga"); got != want {
		t.Errorf("reduced to\n%s\nwant\n%s", got, want)
	}
}

// A change touches its own place: every other byte stays, whatever stands in
// the file.
func TestChangesAreLocal(t *testing.T) {
	src := pluginQuest(t)
	rapid.Check(t, func(t *rapid.T) {
		odd := rapid.SampledFrom([]string{"", "\n## Odd\n\ttab and trailing  \n", "\n<!-- ## Progress Log -->\n", "\n```\n## Success Criteria\n```\n", "\nß ü 李明 \n"}).Draw(t, "odd")
		key := rapid.SampledFrom([]string{"", "x-mood: \"a: b\"  # why\n", "list:\n  - 1\n  - 2\n"}).Draw(t, "key")
		file := strings.Replace(string(src), "tags: [harbour, tides]\n", key+"tags: [harbour, tides]\n", 1)
		file = strings.Replace(file, "\n## House Rules\n", odd+"\n## House Rules\n", 1)
		note := rapid.StringMatching(`[a-zA-Z"|#*<>`+"`"+` ]{1,40}x`).Draw(t, "note")
		q := Parse([]byte(file))
		after, err := q.WithProgress(Progressed(note, "2026-03-01"))
		if err != nil {
			t.Fatal(err)
		}
		if want := file + Progressed(note, "2026-03-01").Bullet() + "\n"; string(after) != want {
			t.Fatalf("after\n%s\nwant\n%s", after, want)
		}
		moved, err := q.WithPhase(PhaseCheckpoint, Facts{})
		if err != nil {
			t.Fatal(err)
		}
		if want := strings.Replace(file, "phase: 3", "phase: 4", 1); string(moved) != want {
			t.Fatalf("phase change gave\n%s", moved)
		}
		if !bytes.Equal(q.Bytes(), []byte(file)) {
			t.Fatal("the receiver changed")
		}
	})
}

func FuzzParse(f *testing.F) {
	f.Add(pluginQuest(f))
	f.Add([]byte(byHand))
	f.Add([]byte("---\nphase: 3\n"))
	f.Add([]byte("---\ncampaign-mode: Ship\nphase: 3\n---\n## Success Criteria\n1. x (check: ``a`b``)\n### Transformation\n1. y\n"))
	f.Fuzz(func(t *testing.T, data []byte) {
		q := Parse(data)
		if !bytes.Equal(q.Bytes(), data) {
			t.Fatal("reading changed the bytes")
		}
		for _, fault := range q.Faults {
			if fault.Line < 0 || fault.Line > 1+bytes.Count(data, []byte("\n")) {
				t.Fatalf("fault outside the file: %v", fault)
			}
			if fault.Repairable() {
				if _, err := fault.Repair(data); err != nil && fault.Blocks && len(q.Faults) == 1 {
					t.Fatalf("an offered repair failed: %v: %v", fault, err)
				}
			}
		}
		if q.Err() != nil {
			return
		}
		after, err := q.WithProgress(Progressed("x", "2026-01-01"))
		if err != nil {
			return
		}
		if got := Parse(after); len(got.Criteria) != len(q.Criteria) || got.Phase != q.Phase || len(got.Progress) == 0 {
			t.Fatalf("after an append: %+v", got)
		}
	})
}
