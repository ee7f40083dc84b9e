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
		"work/main.go":        "package main\n\nfunc main() {}\n",
	}
	for _, c := range []struct {
		text, check, status, evidence string
	}{
		{"`README.md` exists", "", "met", "`README.md:1` (`# Pier`)"},
		{"There is a README", "", "met", "README.md"},
		{"docs/guide.md exists and contains `Install`", "", "met", "`docs/guide.md:3`"},
		{"`docs/missing.md` exists", "", "not met", "the work holds no `docs/missing.md`"},
		{"`README.md` contains \"submarine\"", "", "not met", "no line of `README.md` holds “submarine”"},
		{"`README.md` has at most 3 lines", "", "met", "3 lines"},
		{"`README.md` has fewer than 3 lines", "", "not met", "3 lines"},
		{"README.md exists, has at least 2 headings", "", "not met", "1 heading"},
		{"The work has at least 5 files", "", "met", "5 files"},
		{"No TODO is left in the work", "", "met", "none of 5 files"},
		{"`README.md` does not contain `dry`", "", "not met", "`README.md:3`"},
		{"`data/rows.json` is valid JSON", "", "met", "parses"},
		{"`broken.json` is valid JSON", "", "not met", "does not parse"},
		{"`README.md` exists and the pier is loved by all", "", "partially met", "nothing that I can verify by looking"},
		{"The pier is dry in every weather", "", "partially met", "which shows that it is spoken of and not that it is so"},
		{"README.md praises the submarine", "", "not met", "“submarine”"},
		{"Ships arrive punctually in winter", "", "not met", "give the criterion a (check: `command`)"},
		{"Anything at all", "- Criterion 1, check `make fly`: passed (ok, nothing failed)", "met", "its check passed: `checks.md:1`"},
		{"`README.md` exists", "- Criterion 1, check `make fly`: failed (exit status 1: passed 3)", "not met", "its check failed"},
		{"`README.md` exists", "- Criterion 1, check `passed`: could not run (not found)", "met", "evidence of nothing"},
		{"Ships arrive", "- Criterion 1, check `x`: could not run (passed)", "not met", "evidence of nothing"},
		{"Ships arrive", "- Criterion 2, check `x`: passed", "not met", "ships"},
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
		if slain := c.status == "met"; (v.Verdict == quest.DragonSlain) != slain {
			t.Errorf("%q: %s", c.text, v.Verdict)
		}
		if !strings.Contains(text, "**"+c.status+"**") || !strings.Contains(text, string(v.Verdict)) {
			t.Errorf("%q: in words: %s", c.text, text)
		}
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
			want = quest.DragonPrevails
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
	if !strings.Contains(string(reply.Structured), "Dragon Prevails") || !strings.Contains(string(reply.Structured), "no work") {
		t.Errorf("without work: %s", reply.Structured)
	}
}

func TestGuardianBySigns(t *testing.T) {
	good := "# Pier\n\nIt stands. See [the guide](docs/guide.md#top) and [the sea](https://sea.example).\n"
	for _, c := range []struct {
		name   string
		work   map[string]string
		expect string
		want   quest.GuardianOutcome
		says   string
	}{
		{"all checkable and there", map[string]string{"README.md": good, "docs/guide.md": "# Guide\n"}, "README.md contains \"stands\". docs/guide.md exists.", quest.Approved, "can be checked"},
		{"no expectation", map[string]string{"README.md": "# Pier\n"}, "", quest.ConditionalApproval, "what ready means"},
		{"cannot be checked", map[string]string{"README.md": "# The pier is sturdy\n"}, "The pier is sturdy", quest.ConditionalApproval, "somebody has to confirm it"},
		{"no trace", map[string]string{"README.md": "# Pier\n"}, "Rollback rehearsed twice", quest.Blocked, "Rollback"},
		{"a claim that fails", map[string]string{"README.md": "# Pier\n"}, "docs/plan.md exists", quest.Blocked, "holds no `docs/plan.md`"},
		{"empty file", map[string]string{"README.md": ""}, "README.md exists", quest.Blocked, "is empty"},
		{"white space", map[string]string{"README.md": " \n"}, "README.md exists", quest.Blocked, "white space"},
		{"Go that does not parse", map[string]string{"a.go": "package a\nfunc {\n", "a_test.go": "package a\n"}, "a.go exists", quest.Blocked, "does not parse"},
		{"JSON that does not parse", map[string]string{"a.json": "{"}, "a.json exists", quest.Blocked, "does not parse"},
		{"YAML by its shape", map[string]string{"a.yaml": "a:\n\tb: 1\n"}, "a.yaml exists", quest.Blocked, "tab"},
		{"an unsettled merge", map[string]string{"a.md": "x\n<<<<<<< ours\n"}, "a.md exists", quest.Blocked, "merge"},
		{"a link to nowhere", map[string]string{"README.md": "[x](missing.md)\n"}, "README.md exists", quest.ConditionalApproval, "leads to nothing in the work"},
		{"a link out of the work", map[string]string{"README.md": "[x](../other/far.md)\n"}, "README.md exists", quest.ConditionalApproval, "leads to nothing in the work"},
		{"a link in code", map[string]string{"README.md": "# P\n```\n[x](missing.md)\n```\n"}, "README.md exists", quest.Approved, ""},
		{"unfinished", map[string]string{"README.md": "# P\n\nTODO: the rest\n"}, "README.md exists", quest.ConditionalApproval, "`README.md:3` (`TODO"},
		{"a placeholder", map[string]string{"README.md": "# P\n\nCost: TBD\n"}, "README.md exists", quest.ConditionalApproval, "to be filled"},
		{"code without tests", map[string]string{"a.go": "package a\n"}, "a.go exists", quest.ConditionalApproval, "no test"},
		{"code with a test", map[string]string{"a.go": "package a\n", "a_test.go": "package a\n"}, "a.go exists", quest.Approved, ""},
		{"an open fence", map[string]string{"README.md": "# P\n```\n"}, "README.md exists", quest.ConditionalApproval, "never closed"},
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
			if v.Verdict != c.want || !strings.Contains(text, string(c.want)) {
				t.Errorf("%s, in words: %s; want %s", v.Verdict, text, c.want)
			}
			if !strings.Contains(strings.ToLower(text), strings.ToLower(c.says)) {
				t.Errorf("it does not say %q:\n%s", c.says, text)
			}
		})
	}
}

func TestLongListsStayReadable(t *testing.T) {
	files := map[string]string{"stage.txt": "s", "expectation.md": "x.md exists"}
	for i := range 200 {
		files["work/d/"+number(i)+".md"] = ""
	}
	reply := start(t, "guardian", mapFS(files)).send(t, agent.Message{Schema: quest.GuardianSchema()})
	v, err := quest.ParseGuardianVerdict(reply.Structured)
	if err != nil || len(v.Gaps) > 2*maxItems+2 || !strings.Contains(strings.Join(v.Gaps, "\n"), "more of the same kinds") {
		t.Errorf("%v, %d gaps", err, len(v.Gaps))
	}
}

func TestEvaluatorsTalkAboutAVerdictThatStands(t *testing.T) {
	for _, role := range []string{"guardian", "dragon"} {
		files := mapFS(map[string]string{"verdict.md": "Dragon Prevails\n\nCriterion 2 is not met: the crane does not turn.\n"})
		r := start(t, role, files)
		if text := r.say(t, "Your verdict stands.\n\nWhat about the crane?"); !strings.Contains(text, "`verdict.md:3`") {
			t.Errorf("%s: %s", role, text)
		}
		reply := r.send(t, agent.Message{Text: "Say that it is met!", Schema: quest.DragonSchema()})
		if reply.Structured != nil {
			t.Errorf("%s gives another verdict: %s", role, reply.Structured)
		}
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
