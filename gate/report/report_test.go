package report

import (
	"fmt"
	"strings"
	"time"

	"pgregory.net/rapid"

	"conclave/gate"
	"conclave/receipt"
)

// fragments are what people write who want a page, a log or a reader to do more
// than show them.
var fragments = []string{
	"plain words", " ", "\n", "\r\n", "\t", "    code?", "@all", "@org/team", "#12", "!7", "~bug", "$3", "GH-1",
	"<script>alert(1)</script>", "<!-- ", "-->", "<img src=x onerror=y>", "&lt;b&gt;", "&#64;all", "[a](javascript:b)",
	"![x](http://example.org/a.png)", "[ref]: http://example.org", "<http://example.org>", "https://example.org/?a=b",
	"www.example.org", "a@example.org", "```", "~~~", "`code`", "``", "|", "\\|", "\\", "| a | b |", "---", "===", "# head",
	"1. one", "- item", "> quote", "* * *", "**bold**", "__x__", "~~gone~~", "[^1]", "[x] ", ":smile:", "$$x$$", "{0}", "{{1}}",
	"]]>", "<![CDATA[", "\x00", "\x01", "\x1b[31m", "\u202e", "\u2028", "\ufffe", "\uffff", "\xff\xfe", "\U000E0041", "é", "日本", "](b)",
}

func hostile(most int) *rapid.Generator[string] {
	return rapid.Custom(func(t *rapid.T) string {
		return strings.Join(rapid.SliceOfN(rapid.OneOf(rapid.SampledFrom(fragments), rapid.String()), 0, most).Draw(t, "parts"), "")
	})
}

// hostileGate is a gate all of whose words are somebody else's.
func hostileGate() *rapid.Generator[Gate] {
	text := hostile(6)
	number := rapid.IntRange(-2, 9)
	return rapid.Custom(func(t *rapid.T) Gate {
		g := Gate{Receipt: text.Draw(t, "file"), Head: text.Draw(t, "head"), Signed: text.Draw(t, "signed"), Cached: rapid.Bool().Draw(t, "cached")}
		g.Program, g.Made = text.Draw(t, "program"), time.Unix(1_800_000_000, 0)
		g.Case = receipt.Case{Role: text.Draw(t, "role"), Digest: text.Draw(t, "digest"), Expect: text.Draw(t, "expect")}
		g.Case.Criteria.Origin = rapid.SampledFrom([]string{"", gate.Committed, gate.OfQuest, gate.OfCaller, "?"}).Draw(t, "origin")
		g.Case.Criteria.Commit = text.Draw(t, "commit")
		paths := rapid.SliceOfN(text, 1, 3).Draw(t, "paths")
		for _, p := range paths[:len(paths)-1] {
			g.Case.Work.Files = append(g.Case.Work.Files, receipt.File{Path: p})
		}
		g.Decision.Outcome = rapid.OneOf(rapid.SampledFrom([]string{gate.Met, gate.NotMet, gate.NotJudged}), text).Draw(t, "outcome")
		for i := range rapid.IntRange(0, 4).Draw(t, "criteria") {
			c := receipt.Criterion{Number: i + 1, Text: text.Draw(t, "text")}
			g.Case.Criteria.List = append(g.Case.Criteria.List, c)
			g.Decision.Criteria = append(g.Decision.Criteria, receipt.Decided{Number: c.Number, Why: text.Draw(t, "why"),
				Status: rapid.OneOf(rapid.SampledFrom([]string{gate.Met, gate.NotMet, gate.NotJudged}), text).Draw(t, "status")})
			g.Checks = append(g.Checks, receipt.Check{Number: number.Draw(t, "check"), Command: text.Draw(t, "command"),
				State: text.Draw(t, "state"), Note: text.Draw(t, "note")})
		}
		for i := range rapid.IntRange(0, 3).Draw(t, "judges") {
			j := receipt.Judge{Number: i + 1, Failed: text.Draw(t, "failed")}
			for range rapid.IntRange(0, 3).Draw(t, "findings") {
				j.Findings = append(j.Findings, receipt.Finding{Number: number.Draw(t, "of"), Evidence: text.Draw(t, "evidence"),
					Status: rapid.SampledFrom([]string{gate.Met, gate.NotMet, "partially met", "?"}).Draw(t, "said"),
					Citations: []receipt.Citation{{Text: text.Draw(t, "cited"), Path: rapid.SampledFrom(paths).Draw(t, "path"),
						Line: number.Draw(t, "line"), EndLine: number.Draw(t, "end"), OK: rapid.Bool().Draw(t, "ok"), Reason: text.Draw(t, "reason")}}})
			}
			g.Judges = append(g.Judges, j)
		}
		g.Decision.Families = []string{text.Draw(t, "family")}
		g.Stamps = []string{text.Draw(t, "stamp")}
		return g
	})
}

// someGate is a case that two judges of three do not hold for met.
func someGate() Gate {
	g := Gate{Receipt: ".conclave/receipts/g1.json", Head: strings.Repeat("a1", 32)}
	g.Program, g.Made = "conclave 1.2.3", time.Date(2026, 3, 3, 7, 0, 0, 0, time.UTC)
	g.Case = receipt.Case{Role: "dragon", Rule: gate.Majority, N: 3, Digest: strings.Repeat("c4", 32)}
	g.Case.Criteria = receipt.Criteria{Origin: gate.Committed, File: "criteria.md", Commit: strings.Repeat("1f", 20), List: []receipt.Criterion{
		{Number: 1, Text: "It compiles", Check: "make"}, {Number: 2, Text: "Errors reach the caller"}, {Number: 3, Text: "It is loved by all"}}}
	g.Case.Work.Files = []receipt.File{{Path: "src/a b.go"}, {Path: "src/c.go"}}
	g.Checks = []receipt.Check{{Number: 1, Command: "make", State: "passed", Level: "sealed"}}
	g.Decision = receipt.Decision{Outcome: gate.NotMet, Families: []string{"acme/one"}, Criteria: []receipt.Decided{
		{Number: 1, Status: gate.Met, Met: 3}, {Number: 2, Status: gate.NotMet, Met: 1, NotMet: 2},
		{Number: 3, Status: gate.NotJudged, Abstained: 3}}}
	at := func(path string, line int, ok bool) receipt.Citation {
		return receipt.Citation{Text: fmt.Sprintf("%s:%d", path, line), Path: path, Line: line, OK: ok, Reason: "no such line"}
	}
	for i, f := range []receipt.Finding{
		{Number: 2, Status: gate.NotMet, Evidence: "lost", Citations: []receipt.Citation{at("src/c.go", 900, false), at("src/a b.go", 7, true)}},
		{Number: 2, Status: "partially met", Evidence: "half", Citations: []receipt.Citation{at("src/a b.go", 7, true), at("src/c.go", 2, true), at("work.diff", 1, true)}},
		{Number: 2, Status: gate.Met, Evidence: "fine", Citations: []receipt.Citation{at("src/c.go", 90, true)}},
	} {
		g.Judges = append(g.Judges, receipt.Judge{Number: i + 1, Family: "acme/one", Findings: []receipt.Finding{f},
			Started: g.Made, Ended: g.Made.Add(1500 * time.Millisecond)})
	}
	return g
}
