package quest

import (
	"encoding/json"
	"errors"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"conclave/profile"
)

var three = []Criterion{{Number: 1, Text: "a"}, {Number: 2, Text: "b", Sort: Deliverable}, {Number: 3, Text: "c", Sort: Transformation}}

func dragonAnswer(verdict string, statuses ...string) string {
	var list []map[string]any
	for i, s := range statuses {
		list = append(list, map[string]any{"number": i + 1, "status": s, "evidence": "src/a.go shows it"})
	}
	data, _ := json.Marshal(map[string]any{"verdict": verdict, "summary": "it stands", "criteria": list})
	return string(data)
}

func TestDragonVerdictByMode(t *testing.T) {
	for _, c := range []struct {
		mode   Mode
		answer string
		checks []CheckResult
		want   string // empty: a verdict
	}{
		{Grow, dragonAnswer("Dragon Slain", "met", "met", "met"), nil, ""},
		{Grow, dragonAnswer("Dragon Slain", "met", "met", "partially met"), nil, "Dragon Slain, but criterion 3 is partially met; partially met is not met"},
		{Grow, dragonAnswer("Dragon Prevails", "met", "met", "not met"), nil, ""},
		{Ship, dragonAnswer("Dragon Slain", "met", "met"), nil, ""},
		{Ship, dragonAnswer("Dragon Slain", "met", "met", "not met"), nil, ""},
		{GrowAndShip, dragonAnswer("Dragon Slain", "met", "met", "not met"), nil, ""},
		{GrowAndShip, dragonAnswer("Dragon Slain", "met", "met"), nil, "criterion 3 is left out"},
		{GrowAndShip, dragonAnswer("Dragon Prevails", "met", "met", "met"), nil, "Dragon Prevails, but every criterion that mode Grow & Ship requires is met"},
		{GrowAndShip, dragonAnswer("dragon_slain", "Met", "MET", "Partially-Met"), nil, ""},
		{GrowAndShip, dragonAnswer("Dragon Slain", "met", "met", "met"), []CheckResult{{2, CheckFailed, ""}}, "criterion 2 cannot be met: its check failed"},
		{GrowAndShip, dragonAnswer("Dragon Prevails", "met", "partially met", "met"), []CheckResult{{2, CheckFailed, ""}}, ""},
		{GrowAndShip, dragonAnswer("Dragon Slain", "met", "met", "met"), []CheckResult{{2, CheckNotRun, "no go"}, {1, CheckPassed, ""}}, ""},
		{Ship, dragonAnswer("Dragon Prevails", "met"), nil, "criterion 2 is left out"},
		{Ship, dragonAnswer("No verdict", "met", "not judged"), nil, ""},
		{Ship, dragonAnswer("no_verdict", "met", "not-judged"), nil, ""},
		{Grow, dragonAnswer("No verdict", "met", "met", "not judged"), nil, ""},
		{GrowAndShip, dragonAnswer("Dragon Slain", "met", "met", "not judged"), nil, ""},
		{GrowAndShip, dragonAnswer("No verdict", "met", "met", "not judged"), nil, "No verdict, but every criterion that mode Grow & Ship requires is met"},
		{Ship, dragonAnswer("Dragon Slain", "met", "not judged"), nil, "Dragon Slain, but criterion 2 is not judged"},
		{Ship, dragonAnswer("Dragon Prevails", "met", "not judged"), nil, "no criterion is shown not to be met, and criterion 2 is not judged"},
		{Ship, dragonAnswer("Dragon Prevails", "not met", "not judged"), nil, ""},
		{Ship, dragonAnswer("No verdict", "not met", "not judged"), nil, "criterion 1 is not met, which decides it"},
		{Ship, dragonAnswer("No verdict", "met", "not judged"), []CheckResult{{2, CheckFailed, ""}}, "criterion 2 cannot be not judged: its check failed"},
		{Ship, dragonAnswer("Dragon Slain", "met", "met", "met", "met"), nil, "there is no criterion 4; they are 1 to 3"},
		{Ship, `{"verdict":"Dragon Slain","summary":"s","criteria":[{"number":1,"status":"met","evidence":"e"},{"number":1,"status":"met","evidence":"e"},{"number":2,"status":"met","evidence":"e"}]}`, nil, "criterion 1 stands here a second time"},
		{Ship, `{"verdict":"Dragon Slain","summary":"s","criteria":[{"number":1,"status":"met","evidence":" "},{"number":2,"status":"met","evidence":"e"}]}`, nil, "criterion 1 has no evidence"},
		{Ship, dragonAnswer("Dragon Slain", "met", "mostly met"), nil, `status "mostly met" is not one of`},
		{Ship, dragonAnswer("Dragon sleeps", "met", "met"), nil, `verdict: "Dragon sleeps" is not one of`},
	} {
		test := verdictTest{Mode: c.mode, Criteria: three, Checks: c.checks}
		v, err := ParseDragonVerdict([]byte(c.answer), test)
		if c.want == "" {
			if err != nil {
				t.Errorf("%s %s: %v", c.mode, c.answer, err)
			}
			continue
		}
		var ve *VerdictError
		if !errors.As(err, &ve) || !strings.Contains(err.Error(), c.want) || v.Verdict != "" {
			t.Errorf("%s %s: %v, want %q", c.mode, c.answer, err, c.want)
		}
	}
}

func TestGuardianVerdict(t *testing.T) {
	for answer, want := range map[string]string{
		`{"verdict":"Approved","summary":"good","gaps":[],"conditions":[]}`:                           "",
		"```json\n{\"verdict\":\"approved\",\"summary\":\"good\",\"gaps\":[],\"conditions\":[]}\n```": "",
		`{"verdict":"Blocked","summary":"thin","gaps":["errors"],"conditions":[]}`:                    "",
		`{"verdict":"Conditional Approval","summary":"ok","gaps":["x"],"conditions":["fix x"]}`:       "",
		`{"verdict":"Blocked","summary":"no","gaps":[],"conditions":[]}`:                              "a Blocked verdict names at least one gap",
		`{"verdict":"no verdict","summary":"unread","gaps":["the plan"],"conditions":[]}`:             "",
		`{"verdict":"No verdict","summary":"unread","gaps":[],"conditions":[]}`:                       "at least one thing that could not be judged",
		`{"verdict":"No verdict","summary":"unread","gaps":["a"],"conditions":["b"]}`:                 "without a verdict there are none",
		`{"verdict":"Blocked","summary":"no","gaps":["a"],"conditions":["b"]}`:                        "conditions: a Blocked verdict has none",
		`{"verdict":"Conditional Approval","summary":"ok","gaps":[],"conditions":[]}`:                 "names at least one condition",
		`{"verdict":"Approved","summary":"ok","gaps":["x"],"conditions":[]}`:                          "contradicts itself",
		`{"verdict":"Approved","summary":" ","gaps":[],"conditions":[]}`:                              "summary: is empty",
		`{"verdict":"Maybe","summary":"s","gaps":[],"conditions":[]}`:                                 `"Maybe" is not one of`,
		`{"verdict":"Blocked","summary":"s","gaps":[""],"conditions":[]}`:                             "gaps[0]: is empty",
		``:                                     "the answer is empty",
		`I approve.`:                           "not a JSON object",
		`Here: {"verdict":"Approved"}`:         "not a JSON object",
		`[]`:                                   "not a JSON object",
		`{"verdict":`:                          "the JSON ends too early",
		`{"verdict":"Approved",}`:              "the JSON is broken at byte",
		`{"verdict":1}`:                        "verdict: is a JSON number, want a string",
		`{"verdict":"Approved","gaps":"none"}`: "gaps: is a JSON string, want a list",
		`{"verdict":"Approved","mood":"x"}`:    `unknown field "mood"`,
		`{"verdict":"Approved","summary":"s","gaps":[],"conditions":[]} and more`:            "something follows the JSON object",
		`{"verdict":"Blocked","verdict":"Approved","summary":"s","gaps":[],"conditions":[]}`: "verdict: stands twice",
		`{"verdict":"Blocked","summary":"s","gaps":[],"conditions":[],"Verdict":"Approved"}`: "Verdict: stands twice",
	} {
		_, err := ParseGuardianVerdict([]byte(answer))
		if want == "" && err != nil || want != "" && (err == nil || !strings.Contains(err.Error(), want)) {
			t.Errorf("%s: %v, want %q", answer, err, want)
		}
	}
}

// The Dragon is slain exactly when every required criterion is met.
func TestSlainMeansMet(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		mode := rapid.SampledFrom(allModes).Draw(t, "mode")
		var criteria []Criterion
		var statuses []string
		slain := true
		for i := range rapid.IntRange(1, 6).Draw(t, "n") {
			c := Criterion{Number: i + 1, Text: "x", Sort: rapid.SampledFrom([]Sort{"", Deliverable, Transformation}).Draw(t, "sort")}
			s := rapid.SampledFrom([]string{"met", "met", "partially met", "not met"}).Draw(t, "status")
			criteria, statuses = append(criteria, c), append(statuses, s)
			if s != "met" && (c.Sort != Transformation || mode == Grow) {
				slain = false
			}
		}
		test := verdictTest{Mode: mode, Criteria: criteria}
		_, errSlain := ParseDragonVerdict([]byte(dragonAnswer("Dragon Slain", statuses...)), test)
		_, errPrevails := ParseDragonVerdict([]byte(dragonAnswer("Dragon Prevails", statuses...)), test)
		if (errSlain == nil) != slain || (errPrevails == nil) == slain {
			t.Fatalf("mode %s, %v: slain %v, prevails %v, want slain = %v", mode, statuses, errSlain, errPrevails, slain)
		}
	})
}

func TestSchemasAreStrict(t *testing.T) {
	for name, schema := range map[string][]byte{"guardian": GuardianSchema(), "dragon": DragonSchema()} {
		var v any
		if err := json.Unmarshal(schema, &v); err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		objects := 0
		var walk func(any)
		walk = func(v any) {
			switch v := v.(type) {
			case []any:
				for _, e := range v {
					walk(e)
				}
			case map[string]any:
				if props, ok := v["properties"].(map[string]any); ok {
					objects++
					if required, _ := v["required"].([]any); len(required) != len(props) || v["additionalProperties"] != false {
						t.Errorf("%s: an object is not strict: %v", name, v)
					}
				}
				for _, e := range v {
					walk(e)
				}
			}
		}
		walk(v)
		if objects == 0 {
			t.Errorf("%s has no object", name)
		}
	}
}

func TestOutcomes(t *testing.T) {
	test := verdictTest{Mode: GrowAndShip, Criteria: three, Checks: []CheckResult{{1, CheckPassed, ""}, {2, CheckNotRun, "go is\nnot found"}}}
	v, err := ParseDragonVerdict([]byte(dragonAnswer("Dragon Slain", "met", "met", "not met")), test)
	if err != nil {
		t.Fatal(err)
	}
	want := "**Verdict:** Dragon Slain\n\nit stands\n\n1. **met** – src/a.go shows it (check passed)\n2. **met** – src/a.go shows it (check could not run: go is not found)\n3. **not met** – src/a.go shows it *(noted, not required)*"
	if got := v.Outcome(profile.Face{}, test); got != want {
		t.Errorf("dragon:\n%s", got)
	}
	g := GuardianVerdict{Verdict: Blocked, Summary: "thin", Gaps: []string{"a", "b\nc"}}
	if got, want := g.Outcome(), "**Verdict:** Blocked\n\nthin\n\n**Gaps:**\n\n- a\n- b c"; got != want {
		t.Errorf("guardian:\n%s", got)
	}
	v, err = ParseDragonVerdict([]byte(dragonAnswer("No verdict", "met", "not judged", "not judged")), test)
	if err != nil {
		t.Fatal(err)
	}
	if got := v.Outcome(profile.Face{}, test); !strings.HasPrefix(got, "**No verdict.**\n\nit stands\n\n1. **met**") || !strings.Contains(got, "\n2. **not judged** – ") {
		t.Errorf("no verdict:\n%s", got)
	}
	g = GuardianVerdict{Verdict: guardianUndecided, Summary: "unread", Gaps: []string{"the plan"}}
	if got, want := g.Outcome(), "**No verdict.**\n\nunread\n\n**Not judged:**\n\n- the plan"; got != want {
		t.Errorf("no verdict of a guardian:\n%s", got)
	}
	if got, want := Stamped(EndedEarly("the budget\nwas spent"), "room: advisory", ""), "ended early: the budget was spent\n\n> **Note:** room: advisory"; got != want {
		t.Errorf("stamped: %q", got)
	}
	if EndedEarly("") != "ended early: unknown" || !strings.Contains(NoVerdict([]string{"summary: is empty"}), "summary: is empty") {
		t.Error("no verdict or an early end without its reason")
	}
}

func FuzzParseVerdict(f *testing.F) {
	f.Add([]byte(dragonAnswer("Dragon Slain", "met", "met", "met")))
	f.Add([]byte("```json\n{}\n```"))
	f.Add([]byte(`{"verdict":{"a":[1,{"a":2,"a":3}]}}`))
	test := verdictTest{Mode: Grow, Criteria: three}
	f.Fuzz(func(t *testing.T, data []byte) {
		v, err := ParseDragonVerdict(data, test)
		if err != nil {
			var ve *VerdictError
			if !errors.As(err, &ve) || len(ve.Problems) == 0 {
				t.Fatalf("an error that says nothing: %v", err)
			}
			return
		}
		again, err := json.Marshal(v)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := ParseDragonVerdict(again, test); err != nil {
			t.Fatalf("a verdict does not read back: %v", err)
		}
	})
}
