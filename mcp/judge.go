package mcp

import (
	"context"
	"fmt"
	"strings"

	"conclave/app"
)

type checkpointIn struct {
	Stage  string   `json:"stage" jsonschema:"the name of the stage that is over"`
	Expect string   `json:"expect,omitempty" jsonschema:"what ready means, in a sentence; no argument for the work"`
	Work   []string `json:"work" jsonschema:"files and directories of the workspace to be judged"`
}

type confrontIn struct {
	Work []string `json:"work" jsonschema:"files and directories of the workspace to be judged"`
}

type finding struct {
	Number   int    `json:"number" jsonschema:"of the criterion"`
	Status   string `json:"status"`
	Evidence string `json:"evidence,omitempty"`
}

type check struct {
	Number int    `json:"number" jsonschema:"of the criterion"`
	State  string `json:"state" jsonschema:"passed, failed or could not run"`
}

// place is where words were found that the judge must not read.
type place struct {
	Where  string `json:"where"`
	Line   int    `json:"line,omitempty" jsonschema:"0: the name itself"`
	End    int    `json:"end_line,omitempty"`
	Source string `json:"source" jsonschema:"whose words they are"`
}

type verdictOut struct {
	answer
	Verdict    string    `json:"verdict,omitempty" jsonschema:"nothing where none was given"`
	Summary    string    `json:"summary,omitempty"`
	Findings   []finding `json:"findings,omitempty"`
	Gaps       []string  `json:"gaps,omitempty" jsonschema:"what is missing, or could not be judged"`
	Conditions []string  `json:"conditions,omitempty"`
	Checks     []check   `json:"checks,omitempty"`
	Leaks      []place   `json:"leaks,omitempty" jsonschema:"nothing was judged: these words tell what to think"`
	EndedEarly string    `json:"ended_early,omitempty"`
	Notes      []string  `json:"notes,omitempty"`
	Phase      int       `json:"phase,omitempty"`
	Next       []offer   `json:"next,omitempty"`
}

func (s *Server) addJudges() {
	const refusal = " The judge sees that and nothing you said; words of the party's reasoning in the work are " +
		"found before it starts, and then nothing is judged."
	add(s, "checkpoint", "Have a stage judged",
		"The Guardian judges the work of a stage of the quest: approved, conditional, or blocked with what is "+
			"missing."+refusal, atWork, checkpoint)
	add(s, "confront", "Have the work judged",
		"The Dragon judges the finished work by the quest's success criteria, each met or not, with evidence; checks "+
			"in the criteria are run first."+refusal, atWork, confront)
}

func checkpoint(ctx context.Context, a *app.App, in checkpointIn, out *verdictOut) (string, error) {
	res, err := a.Checkpoint(ctx, app.Evaluation{
		Talk: app.Talk{Once: true}, Paths: in.Work, Stage: in.Stage, Expect: in.Expect,
	})
	return out.of(res), err
}

func confront(ctx context.Context, a *app.App, in confrontIn, out *verdictOut) (string, error) {
	res, err := a.Confront(ctx, app.Evaluation{Talk: app.Talk{Once: true}, Paths: in.Work})
	return out.of(res), err
}

// of takes the verdict out of what an evaluation came to, and nothing else.
func (out *verdictOut) of(res *app.Result) string {
	if res == nil {
		return ""
	}
	out.Verdict, out.EndedEarly, out.Notes = res.Verdict, res.EndedEarly, res.Notes
	out.Phase, out.Next = int(res.Phase), offersOf(res)
	var b strings.Builder
	fmt.Fprintln(&b, orNone(res.Verdict))
	if g := res.Guardian; g != nil {
		out.Summary, out.Gaps, out.Conditions = g.Summary, g.Gaps, g.Conditions
	}
	if d := res.Dragon; d != nil {
		out.Summary = d.Summary
		for _, f := range d.Criteria {
			out.Findings = append(out.Findings, finding{f.Number, string(f.Status), f.Evidence})
		}
	}
	for _, c := range res.Checks {
		out.Checks = append(out.Checks, check{c.Number, string(c.State)})
	}
	for _, l := range res.Leaks {
		out.Leaks = append(out.Leaks, place{l.Where, l.Line, l.EndLine, l.Source})
	}
	if out.Summary != "" {
		fmt.Fprintln(&b, out.Summary)
	}
	for _, f := range out.Findings {
		fmt.Fprintf(&b, "%d. %s: %s\n", f.Number, f.Status, f.Evidence)
	}
	for _, g := range out.Gaps {
		fmt.Fprintf(&b, "missing: %s\n", g)
	}
	for _, c := range out.Conditions {
		fmt.Fprintf(&b, "on condition: %s\n", c)
	}
	return strings.TrimSpace(b.String())
}

func orNone(verdict string) string {
	if verdict == "" {
		return "No verdict."
	}
	return verdict
}
