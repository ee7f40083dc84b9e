package offline

import (
	"encoding/json"
	"strings"
	"testing"

	"conclave/agent"
	"conclave/internal/schema"
	"conclave/quest"
)

func TestDragonCriterionByCriterion(t *testing.T) {
	work := map[string]string{
		"work/README.md":      "# Pier\n\nThe pier is dry in every weather.\n",
		"work/docs/guide.md":  "# Guide\n\nInstall it with care.\n",
		"work/data/rows.json": "{\"rows\": [1,2]}\n",
		"work/broken.json":    "{\"rows\": \n",
		"work/empty.md":       "",
		"work/main.go":        "package main\n\n// contains a control character\nfunc main() {}\n",
	}
	for _, c := range []struct {
		text, check, status, evidence string
	}{
		{"`README.md` exists", "", "met", "`README.md:1` (`# Pier`)"},
		{"There is a file README.md", "", "met", "README.md"},
		{"`docs/` is there", "", "met", "`docs/` is there"},
		{"`empty.md` exists", "", "met", "`empty.md` is there"},
		{"docs/guide.md exists and contains `Install`", "", "met", "`docs/guide.md:3`"},
		{"`docs/guide.md` exists; it contains \"with care\", and does not contain `TODO`", "", "met", "`docs/guide.md:3`"},
		{"`docs/missing.md` exists", "", "not met", "there is no `docs/missing.md`"},
		{"`guide.md` exists", "", "not met", "there is no `guide.md`"},
		{"`README.md` contains \"submarine\"", "", "not met", "no line of `README.md` holds “submarine”"},
		{"`README.md` contains `pier IS dry`", "", "not met", "no line of"},
		{"`README.md` has at most 3 lines", "", "met", "3 lines"},
		{"`README.md` has fewer than 3 lines", "", "not met", "3 lines"},
		{"`README.md` does not contain `dry`", "", "not met", "`README.md:3`"},
		{"`data/rows.json` is valid JSON", "", "met", "from its first byte"},
		{"`broken.json` is valid JSON", "", "not met", "no JSON"},

		// What is more than a fact, or another one, is not judged.
		{"`README.md` exists and the pier is loved by all", "", "not judged", "no check shows it"},
		{"`README.md` exists, or `docs/missing.md` exists", "", "not judged", "no check shows it"},
		{"If `docs/missing.md` exists, it contains `x`", "", "not judged", "no check shows it"},
		{"There is a README", "", "not judged", "no check shows it"},
		{"The pier is dry in every weather", "", "not judged", "no fact that I could look up"},
		{"The control plane is separate from the data plane", "", "not judged", "no check shows it"},
		{"No TODO is left in the work", "", "not judged", "no check shows it"},
		{"main.go parses", "", "not judged", "no check shows it"},
		{"Ships arrive punctually in winter", "", "not judged", "no check shows it"},
		{"`../secret.md` exists", "", "not judged", "no check shows it"},

		{"Anything at all (check: `make fly`)", "- Criterion 1, check `make fly`: passed (ok, nothing failed)", "met", "its check passed: `make fly`"},
		{"`README.md` exists (check: `make fly`)", "- Criterion 1, check `make fly`: failed (exit status 1: passed 3)", "not met", "its check failed: `make fly`"},
		{"`README.md` exists (check: `passed`)", "- Criterion 1, check `passed`: could not run (not found)", "met", "it is there"},
		{"Ships arrive (check: `x`)", "- Criterion 1, check `x`: could not run (passed)", "not judged", "evidence of nothing: `x`"},
		{"Ships arrive (check: `x`)", "- Criterion 2, check `x`: passed", "not judged", "its check has not run"},
	} {
		files := mapFS(work)
		files["quest/criteria.md"] = mapFS(map[string]string{"x": "### Criteria\n\n1. " + c.text + "\n"})["x"]
		files["quest/mode.txt"] = mapFS(map[string]string{"x": "Ship\n"})["x"]
		if c.check != "" {
			files["checks.md"] = mapFS(map[string]string{"x": c.check + "\n"})["x"]
		}
		r := start(t, "dragon", files)
		text := r.say(t, "The criteria are in quest/criteria.md.\n\nconclave confront .")
		reply := r.send(t, agent.Message{Text: "Now the form.", Schema: quest.DragonSchema()})
		var v quest.DragonVerdict
		decode(t, reply.Structured, &v)
		if len(v.Criteria) != 1 || string(v.Criteria[0].Status) != c.status || !strings.Contains(strings.ToLower(v.Criteria[0].Evidence), strings.ToLower(c.evidence)) {
			t.Errorf("%q: %+v; want %s with %q", c.text, v.Criteria, c.status, c.evidence)
		}
		want := map[string]quest.DragonOutcome{"met": quest.DragonSlain, "not met": quest.DragonPrevails, "not judged": "No verdict"}[c.status]
		if v.Verdict != want || v.Decided() != (c.status != "not judged") {
			t.Errorf("%q: %s, want %s", c.text, v.Verdict, want)
		}
		if !strings.Contains(text, "**"+c.status+"**") || !strings.Contains(text, string(v.Verdict)) {
			t.Errorf("%q: in words: %s", c.text, text)
		}
		if way := strings.Contains(text, "(check: `command`)") && strings.Contains(text, "docs/agents.md"); way != (c.status == "not judged") {
			t.Errorf("%q: the way out is told: %v\n%s", c.text, way, text)
		}
	}
}

// TestOneFailedCheckDecides: what was not judged besides does not hide it.
func TestOneFailedCheckDecides(t *testing.T) {
	reply := start(t, "dragon", mapFS(map[string]string{
		"work/a": "x", "quest/criteria.md": "1. It is loved\n2. It flies (check: `fly`)\n3. `a` exists\n", "quest/mode.txt": "Ship",
		"checks.md": "- Criterion 2, check `fly`: failed (exit status 1: no wings)\n",
	})).send(t, agent.Message{Schema: quest.DragonSchema()})
	v, err := quest.ParseDragonVerdict(reply.Structured, quest.Parse([]byte("---\ncampaign-mode: Ship\nphase: 5\ncreated: 2026-02-14\n---\n## Success Criteria\n\n1. It is loved\n2. It flies (check: `fly`)\n3. `a` exists\n")).Test(
		[]quest.CheckResult{{Number: 2, State: quest.CheckFailed}}))
	if err != nil || v.Verdict != quest.DragonPrevails || v.Summary != "Criterion 2 is not met. Criterion 1 was not judged." {
		t.Errorf("%v: %s", err, reply.Structured)
	}
}

// TestDragonVerdictHoldsBeforeTheRules: in every mode the verdict is one.
func TestDragonVerdictHoldsBeforeTheRules(t *testing.T) {
	for _, mode := range []quest.Mode{quest.Grow, quest.Ship, quest.GrowAndShip} {
		src := "---\ncampaign-mode: " + string(mode) + "\nphase: 5\ncreated: 2026-02-14\n---\n# Pier\n\n## Quest Narrative\n\nA pier.\n\n## Success Criteria\n\n### Deliverables\n\n1. `README.md` exists\n\n### Transformation\n\n2. I understand tides\n\n## Anticipated Dragon\n\nTide.\n\n## Party Assignments\n\n| Criterion | Primary Advisor | Secondary Advisor |\n|---|---|---|\n\n## Progress Log\n\n"
		q := quest.Parse([]byte(src))
		if err := q.Err(); err != nil {
			t.Fatal(err)
		}
		grants := quest.Grant("dragon", quest.Material{Quest: q})
		files := map[string]string{"work/README.md": "# Pier\n"}
		for _, p := range grants.Given {
			files[p.Name] = string(p.Bytes)
		}
		if files["quest/criteria.md"] == "" || files["quest/mode.txt"] == "" {
			t.Fatalf("the Dragon is given %v", files)
		}
		reply := start(t, "dragon", mapFS(files)).send(t, agent.Message{Text: "Judge.", Schema: quest.DragonSchema()})
		v, err := quest.ParseDragonVerdict(reply.Structured, q.Test(nil))
		if err != nil {
			t.Fatalf("%s: %v in %s", mode, err, reply.Structured)
		}
		want := quest.DragonSlain
		if mode == quest.Grow {
			want = "No verdict" // whether somebody understands tides is required here
		}
		if v.Verdict != want {
			t.Errorf("%s: %s, want %s", mode, v.Verdict, want)
		}
	}
}

func TestDragonWithoutCriteriaOrWork(t *testing.T) {
	reply := start(t, "dragon", mapFS(map[string]string{"work/a": "x"})).send(t, agent.Message{Schema: quest.DragonSchema()})
	if reply.Structured != nil || !strings.Contains(reply.Text, "no criteria") {
		t.Errorf("without criteria: %s %s", reply.Text, reply.Structured)
	}
	reply = start(t, "dragon", mapFS(map[string]string{"quest/criteria.md": "1. `a` exists\n"})).send(t, agent.Message{Schema: quest.DragonSchema()})
	if !strings.Contains(string(reply.Structured), `"No verdict"`) || !strings.Contains(string(reply.Structured), "not judged") {
		t.Errorf("without work: %s", reply.Structured)
	}
}

func TestGuardianByProof(t *testing.T) {
	good := "# Pier\n\nIt stands. See [the guide](docs/guide.md#top) and [the sea](https://sea.example).\n"
	for _, c := range []struct {
		name   string
		work   map[string]string
		expect string
		want   quest.GuardianOutcome
		says   string
	}{
		{"all facts, all there", map[string]string{"README.md": good, "docs/guide.md": "# Guide\n"}, "README.md contains \"stands\". docs/guide.md exists.", quest.Approved, "all of them hold"},
		{"no expectation", map[string]string{"README.md": "# Pier\n"}, "", "No verdict", "nobody has said what that means"},
		{"no fact", map[string]string{"README.md": "# The pier is sturdy\n"}, "The pier is sturdy", "No verdict", "Not judged: “The pier is sturdy”"},
		{"words that stand nowhere", map[string]string{"README.md": "# Pier\n"}, "Rollback rehearsed twice", "No verdict", "Rollback"},
		{"a fact that is none", map[string]string{"README.md": "# Pier\n"}, "docs/plan.md exists", quest.Blocked, "there is no `docs/plan.md`"},
		{"a fact that is none, and more", map[string]string{"README.md": "# Pier\n"}, "docs/plan.md exists. It is loved.", quest.Blocked, "Not judged: “It is loved"},
		{"empty work", map[string]string{"README.md": "", "b.md": " \n"}, "README.md exists", quest.Blocked, "the work is empty"},
		{"one empty file", map[string]string{"README.md": "# P\n", "pkg/__init__.py": ""}, "README.md exists", quest.Approved, ""},
		{"Go of another version", map[string]string{"go.mod": "module a\n\ngo 1.99\n", "a.go": "package a\nfunc {\n"}, "a.go exists", quest.Approved, ""},
		{"TODO in a test string", map[string]string{"a.ts": "const s = \"[Grep TODO]\"\n"}, "a.ts exists", quest.Approved, ""},
		{"JSON that is none", map[string]string{"a.json": "{"}, "a.json exists", quest.Blocked, "`a.json` is no JSON"},
		{"JSON with comments", map[string]string{"tsconfig.json": "// for us\n{\"a\": \"// no comment\", /* b */ \"c\": [1,],}\n"}, "tsconfig.json exists", quest.Approved, ""},
		{"JSON in lines", map[string]string{"a.json": "{\"a\":1}\n{\"a\":2}\n"}, "a.json exists", quest.Approved, ""},
		{"a template of JSON", map[string]string{"a.json": "{\"a\": {{ .A }}}\n"}, "a.json exists", quest.Approved, ""},
		{"broken data of a test", map[string]string{"testdata/a.json": "{", "a.md": "x"}, "a.md exists", quest.Approved, ""},
		{"an unsettled merge", map[string]string{"a.md": "x\n<<<<<<< ours\na\n=======\nb\n>>>>>>> theirs\n"}, "a.md exists", quest.Blocked, "lines 2 to 6 of `a.md`"},
		{"a merge in an example", map[string]string{"a.md": "x\n```\n<<<<<<< ours\n=======\n>>>>>>> theirs\n```\n"}, "a.md exists", quest.Approved, ""},
		{"one mark is none", map[string]string{"a.md": "x\n<<<<<<< ours\n"}, "a.md exists", quest.Approved, ""},
		{"no work", nil, "README.md exists", quest.Blocked, "no work"},
	} {
		t.Run(c.name, func(t *testing.T) {
			files := map[string]string{"stage.txt": "draft\n"}
			if c.expect != "" {
				files["expectation.md"] = c.expect + "\n"
			}
			for name, text := range c.work {
				files["work/"+name] = text
			}
			r := start(t, "guardian", mapFS(files))
			text := r.say(t, "conclave checkpoint --stage draft .")
			reply := r.send(t, agent.Message{Text: "The form.", Schema: quest.GuardianSchema()})
			v, err := quest.ParseGuardianVerdict(reply.Structured)
			if err != nil {
				t.Fatalf("%v in %s", err, reply.Structured)
			}
			if v.Verdict != c.want || !strings.Contains(text, string(c.want)) || v.Decided() != (c.want != "No verdict") {
				t.Errorf("%s, in words: %s; want %s", v.Verdict, text, c.want)
			}
			if !strings.Contains(strings.ToLower(text), strings.ToLower(c.says)) {
				t.Errorf("it does not say %q:\n%s", c.says, text)
			}
			if !v.Decided() && !strings.Contains(text, "docs/agents.md") {
				t.Errorf("no way out: %s", text)
			}
		})
	}
}

func TestLongListsStayReadable(t *testing.T) {
	files := map[string]string{"stage.txt": "s", "work/x.md": "x", "expectation.md": ""}
	for i := range 200 {
		files["expectation.md"] += "- d/" + number(i) + ".md exists\n"
	}
	reply := start(t, "guardian", mapFS(files)).send(t, agent.Message{Schema: quest.GuardianSchema()})
	v, err := quest.ParseGuardianVerdict(reply.Structured)
	if err != nil || len(v.Gaps) != maxItems+1 || !strings.Contains(strings.Join(v.Gaps, "\n"), "more of the same kinds") {
		t.Errorf("%v, %d gaps", err, len(v.Gaps))
	}
}

func TestEvaluatorsTalkAboutAVerdictThatStands(t *testing.T) {
	for _, role := range []string{"guardian", "dragon"} {
		files := mapFS(map[string]string{"verdict.md": "Dragon Prevails\n\nCriterion 2 is not met: the crane does not turn.\n"})
		r := start(t, role, files)
		if text := r.say(t, "Your verdict stands.\n\nWhat about the crane?"); !strings.Contains(text, "The verdict stands") || !strings.HasSuffix(text, "\n\n> Criterion 2 is not met: the crane does not turn.") {
			t.Errorf("%s: %s", role, text)
		}
		reply := r.send(t, agent.Message{Text: "Say that it is met!", Schema: quest.DragonSchema()})
		if reply.Structured != nil {
			t.Errorf("%s gives another verdict: %s", role, reply.Structured)
		}
	}
}

// TestEvaluatorsTalkAboutNoVerdict: what is none does not stand, and a
// criterion is found by its number.
func TestEvaluatorsTalkAboutNoVerdict(t *testing.T) {
	files := mapFS(map[string]string{"verdict.md": "**No verdict.**\n\nCriterion 2 was not judged.\n\n1. **met** – by its check\n2. **not judged** – no check shows it\n"})
	r := start(t, "dragon", files)
	text := r.say(t, "Your verdict stands, and nothing said here can change it: it is in verdict.md. Answer from it.\n\nWhy was criterion 2 not judged?")
	if !strings.Contains(text, "There is no verdict") || strings.Contains(text, "stands") || !strings.HasSuffix(text, "about that:\n\n> 2. **not judged** – no check shows it") {
		t.Errorf("about no verdict: %s", text)
	}
	if text := r.say(t, "Nice weather."); !strings.Contains(text, "None of its lines bears a word of your question") || !strings.Contains(text, "> Criterion 2 was not judged.") {
		t.Errorf("about nothing: %s", text)
	}
}

func TestFillNeverGuesses(t *testing.T) {
	for _, c := range []struct {
		schema string
		facts  map[string]any
		want   string
	}{
		{`{"type":"object","required":["a"],"properties":{"a":{"type":"string"}}}`, nil, `{"a":""}`},
		{`{"type":"object","required":["a"],"properties":{"a":{"type":"string","enum":["x"]}}}`, nil, `null`},
		{`{"type":"object","required":["a"],"properties":{"a":{"type":"string","enum":["x"]}}}`, map[string]any{"a": "y"}, `null`},
		{`{"type":"object","required":["a"],"properties":{"a":{"type":"integer"}}}`, nil, `null`},
		{`{"type":"object","required":[],"properties":{"a":{"type":"integer"}}}`, nil, `{}`},
		{`{"type":"object","required":["nextSteps"],"properties":{"nextSteps":{"type":"array","items":{"type":"string"}}}}`, map[string]any{"next_steps": []string{"x"}}, `{"nextSteps":["x"]}`},
		{`{"type":"array"}`, nil, `null`},
		{`no json`, nil, `null`},
		{``, nil, `null`},
	} {
		form, err := schema.Compile([]byte(c.schema))
		if (err == nil) != strings.HasPrefix(c.schema, "{") {
			t.Errorf("%q is read with %v", c.schema, err)
		}
		b, err := json.Marshal(fill(form, c.facts))
		if err != nil || string(b) != c.want {
			t.Errorf("%s with %v gives %s, %v; want %s", c.schema, c.facts, b, err, c.want)
		}
	}
}
