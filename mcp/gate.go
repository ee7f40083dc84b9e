package mcp

import (
	"context"
	"fmt"
	"strings"

	"conclave/app"
)

type gateIn struct {
	Criteria string   `json:"criteria,omitempty" jsonschema:"a file that was committed before; none for the quest's"`
	Work     []string `json:"work,omitempty" jsonschema:"paths to be judged; with diff, what of the commit is"`
	Diff     string   `json:"diff,omitempty" jsonschema:"judge a commit and what it changes: BASE..HEAD, or BASE"`
	Judge    string   `json:"judge,omitempty" jsonschema:"dragon (by criteria) or guardian (by expect)"`
	Expect   string   `json:"expect,omitempty" jsonschema:"what ready means, for the guardian"`
	Judges   int      `json:"judges,omitempty" jsonschema:"how many are asked, an odd number; 1 if not said"`
	Rule     string   `json:"rule,omitempty" jsonschema:"all or majority"`
}

type gateCriterion struct {
	Number    int      `json:"number"`
	Text      string   `json:"text,omitempty"`
	Status    string   `json:"status" jsonschema:"met, not met or not judged"`
	Met       int      `json:"met" jsonschema:"votes"`
	NotMet    int      `json:"not_met"`
	Abstained int      `json:"abstained"`
	Why       string   `json:"why,omitempty"`
	Evidence  []string `json:"evidence,omitempty" jsonschema:"of each judge"`
	Unfounded []string `json:"unfounded,omitempty" jsonschema:"citations that do not check out"`
}

type gateOut struct {
	answer
	Outcome   string          `json:"outcome,omitempty" jsonschema:"met, not met or not judged; only met is a yes"`
	Origin    string          `json:"criteria_origin,omitempty" jsonschema:"committed, quest or caller: who wrote them"`
	File      string          `json:"criteria_file,omitempty"`
	Commit    string          `json:"criteria_commit,omitempty"`
	Criteria  []gateCriterion `json:"criteria,omitempty"`
	Summaries []string        `json:"summaries,omitempty" jsonschema:"of each judge"`
	Checks    []check         `json:"checks,omitempty"`
	Failed    []string        `json:"failed,omitempty" jsonschema:"why a judge gave no verdict"`
	Level     string          `json:"level,omitempty" jsonschema:"how strongly the rooms were shown to be shut"`
	Repeats   bool            `json:"repeats,omitempty" jsonschema:"the judges are not independent of each other"`
	Stamps    []string        `json:"stamps,omitempty"`
	Receipt   string          `json:"receipt,omitempty" jsonschema:"its file: conclave audit receipt FILE checks it"`
	Head      string          `json:"head,omitempty" jsonschema:"of the gate's record: it shows a changed receipt"`
	Signed    string          `json:"signed_by,omitempty"`
	Cached    bool            `json:"cached,omitempty" jsonschema:"judged before, and not again"`
}

func (s *Server) addGate() {
	add(s, "gate", "Have work judged before it is done",
		"A judge in a fresh sealed room judges the work you name by criteria that were there before you: a file that was "+
			"committed before this server started, or the quest's. It sees the criteria and the work and nothing else; "+
			"no phase of the quest moves. Met is exit 0, not met 1, could not be judged 3. You get the verdict with its "+
			"evidence and the file of a receipt that a stranger can check.", atWork, judgeCase)
}

func judgeCase(ctx context.Context, a *app.App, in gateIn, out *gateOut) (string, error) {
	got, err := a.Gate(ctx, app.Gate{
		Criteria: in.Criteria, Work: in.Work, Diff: in.Diff, Judge: in.Judge, Expect: in.Expect,
		Judges: in.Judges, Rule: in.Rule,
	})
	if got == nil || len(got.Leaks) > 0 {
		return "", err
	}
	c, d := got.Case.Criteria, got.Decision
	*out = gateOut{
		Outcome: d.Outcome, Origin: c.Origin, File: c.File, Commit: c.Commit, Stamps: got.Stamps, Receipt: got.Receipt,
		Head: got.Head, Signed: got.Signed, Cached: got.Cached, Repeats: len(got.Judges) > 1 && !d.Independent,
	}
	if got.Case.Role == "guardian" {
		out.Origin = "caller"
	}
	for _, k := range got.Checks {
		out.Checks = append(out.Checks, check{k.Number, k.State})
	}
	for _, j := range got.Judges {
		if j.Summary != "" {
			out.Summaries = append(out.Summaries, j.Summary)
		}
		if j.Failed != "" {
			out.Failed = append(out.Failed, fmt.Sprintf("judge %d: %s", j.Number, j.Failed))
		}
		out.Level = j.Enforced.Level
	}
	out.decided(got)
	return out.text(), err
}

// decided tells what came of each criterion, with the evidence for it.
func (out *gateOut) decided(got *app.GateAnswer) {
	for _, d := range got.Decision.Criteria {
		x := gateCriterion{Number: d.Number, Status: d.Status, Why: d.Why}
		x.Met, x.NotMet, x.Abstained = d.Met, d.NotMet, d.Abstained
		for _, c := range got.Case.Criteria.List {
			if c.Number == d.Number {
				x.Text = c.Text
			}
		}
		for _, j := range got.Judges {
			for _, f := range j.Findings {
				if f.Number != d.Number {
					continue
				}
				x.Evidence = append(x.Evidence, f.Status+": "+f.Evidence)
				for _, cite := range f.Citations {
					if !cite.OK {
						x.Unfounded = append(x.Unfounded, cite.Text)
					}
				}
			}
		}
		out.Criteria = append(out.Criteria, x)
	}
}

// text begins with the verdict and who wrote the criteria.
func (out *gateOut) text() string {
	whose := "the caller's own"
	switch out.Origin {
	case "quest":
		whose = "the quest's"
	case "committed":
		whose = "committed at " + out.Commit[:min(len(out.Commit), 12)] + " (" + out.File + ")"
	}
	var b strings.Builder
	fmt.Fprintf(&b, "%s – criteria: %s\n", strings.ToUpper(out.Outcome), whose)
	for _, c := range out.Criteria {
		fmt.Fprintf(&b, "%d. %s (%d met, %d not met, %d abstained): %s\n", c.Number, c.Status, c.Met, c.NotMet, c.Abstained,
			strings.Join(c.Evidence, "; "))
	}
	for _, f := range out.Failed {
		fmt.Fprintln(&b, f)
	}
	if out.Cached {
		b.WriteString("judged before, and not again\n")
	}
	fmt.Fprintf(&b, "receipt: %s\nhead: %s", out.Receipt, out.Head)
	return b.String()
}
