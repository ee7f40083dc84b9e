package flow

import (
	"regexp"
	"strings"

	"conclave/internal/markdown"
	"conclave/policy"
	"conclave/quest"
	"conclave/quest/judging"
)

// CouncilResult is what a council came to, for scripts: the six, each with what
// was cited and whether it is there, and what Simon made of them.
type CouncilResult struct {
	Perspectives []Perspective `json:"perspectives"` // in the order of the report
	Consensus    string        `json:"consensus"`
	Dissent      string        `json:"dissent,omitempty"`
	NextSteps    []string      `json:"next_steps"`
	Report       string        `json:"report,omitempty"` // the file, where one was written
}

// Perspective is what one of the six said.
type Perspective struct {
	Who       policy.Role        `json:"who"`
	Name      string             `json:"name"` // the name it goes under
	Lens      string             `json:"lens"`
	Text      string             `json:"text"`     // word for word
	Findings  []Finding          `json:"findings"` // the numbered points of the text
	Citations []judging.Citation `json:"citations"`
	Run       string             `json:"run"` // of its record
}

// Finding is one numbered point of what somebody said, with the citations that
// stand in it.
type Finding struct {
	Text      string             `json:"text"`
	Citations []judging.Citation `json:"citations"`
}

// told is the council for scripts.
func (c *council) told() *CouncilResult {
	out := &CouncilResult{
		Perspectives: []Perspective{}, NextSteps: append([]string{}, c.synthesis.NextSteps...),
		Consensus: c.synthesis.Consensus, Dissent: c.synthesis.Dissent,
	}
	if c.simon.ended == "" {
		out.Report = quest.ReportFile
	}
	for i, t := range c.seats {
		face := t.o.face(t.o.Role)
		p := Perspective{Who: t.o.Role, Name: face.Name(), Lens: face.Archetype.Lens, Text: t.said[0], Run: t.o.Run,
			Findings: []Finding{}, Citations: append([]judging.Citation{}, c.cites[i]...)}
		for _, text := range numberedPoints(t.said[0]) {
			f := Finding{Text: text, Citations: []judging.Citation{}}
			for _, cite := range c.cites[i] {
				if strings.Contains(text, cite.Text) {
					f.Citations = append(f.Citations, cite)
				}
			}
			p.Findings = append(p.Findings, f)
		}
		out.Perspectives = append(out.Perspectives, p)
	}
	return out
}

var pointStart = regexp.MustCompile(`^ {0,3}\d{1,3}[.)][ \t]+`)

// numberedPoints are the points of a numbered list, as they were written: what
// is indented below a point belongs to it, and so do the lines that go on
// without a break.
func numberedPoints(text string) []string {
	var points []string
	var fence markdown.Fence
	open, blank := false, false
	for line := range strings.SplitSeq(markdown.Normalise(text), "\n") {
		code := fence.Inside(line)
		start := pointStart.FindString(line)
		indented := strings.HasPrefix(line, "  ") || strings.HasPrefix(line, "\t")
		switch {
		case !code && start != "":
			points, open, blank = append(points, line[len(start):]), true, false
		case !open:
		case strings.TrimSpace(line) == "":
			blank = true
		case blank && !indented:
			open = false
		default:
			if blank {
				points[len(points)-1] += "\n"
			}
			points[len(points)-1] += "\n" + strings.TrimSpace(line)
			blank = false
		}
	}
	return points
}
