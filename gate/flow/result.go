package flow

import (
	"bytes"
	"cmp"
	"path"
	"slices"
	"strings"

	"conclave/audit"
	"conclave/policy"
	"conclave/quest"
	"conclave/quest/judging"
	"conclave/receipt"
	"conclave/seat"
	"conclave/transcript"
)

// result puts on the receipt what a judge said, or why it said nothing that
// counts. An audit that found something has said so before.
func result(j *receipt.Judge, c *judging.Case, err error, lines func(string) int) {
	if err != nil {
		j.Failed = cmp.Or(j.Failed, err.Error())
	}
	if j.Failed != "" {
		return
	}
	if c.Role == policy.Guardian {
		v := c.Guardian
		j.Verdict, j.Summary = string(v.Verdict), v.Summary
		evidence := v.Outcome()
		j.Findings = []receipt.Finding{{Number: 1, Status: string(v.Verdict), Evidence: evidence,
			Citations: citations(evidence, lines)}}
		return
	}
	v := c.Dragon
	j.Verdict, j.Summary = string(v.Verdict), v.Summary
	for _, f := range v.Criteria {
		j.Findings = append(j.Findings, receipt.Finding{Number: f.Number, Status: string(f.Status), Evidence: f.Evidence,
			Citations: citations(f.Evidence, lines)})
	}
	slices.SortFunc(j.Findings, func(a, b receipt.Finding) int { return cmp.Compare(a.Number, b.Number) })
}

// citations looks up what evidence points to. Paths are those of the work.
func citations(text string, lines func(string) int) []receipt.Citation {
	var out []receipt.Citation
	for _, c := range judging.Citations(text, lines) {
		if c.OK && (c.Line < 1 || c.EndLine != 0 && c.EndLine < c.Line) {
			c.OK, c.Reason = false, "its lines run backwards"
		}
		out = append(out, receipt.Citation{Text: c.Text, Path: inWork(c.Path), Line: c.Line, EndLine: c.EndLine,
			OK: c.OK, Reason: c.Reason})
	}
	return out
}

// inWork is a path of the work as it stands in the project.
func inWork(name string) string { return strings.TrimPrefix(path.Clean(name), judging.WorkDir+"/") }

// lines says how many lines a file has that was in the room: one of the work,
// with or without the directory that it lay in, or the change.
func (g *run) lines() func(string) int {
	known := map[string]int{}
	return func(name string) int {
		if name == quest.ChangeFile && g.Change != nil {
			return judging.CountLines(g.Change)
		}
		rel := inWork(name)
		if n, ok := known[rel]; ok {
			return n
		}
		n := -1
		for _, f := range g.Work.Files {
			if f.Path != rel && f.Path != name {
				continue
			}
			var b bytes.Buffer
			if g.Work.Copy(f, &b) == nil {
				n = judging.CountLines(b.Bytes())
			}
		}
		known[rel] = n
		return n
	}
}

// counted says how many sources of each kind were kept from a judge.
func counted(list []seat.Denied) []receipt.Denied {
	var out []receipt.Denied
	for _, d := range list {
		i := slices.IndexFunc(out, func(o receipt.Denied) bool { return o.Kind == d.Kind })
		if i < 0 {
			out = append(out, receipt.Denied{Kind: d.Kind})
			i = len(out) - 1
		}
		out[i].Count++
	}
	slices.SortFunc(out, func(a, b receipt.Denied) int { return cmp.Compare(a.Kind, b.Kind) })
	return out
}

// plus adds up what two turns consumed.
func plus(a, b audit.Usage) audit.Usage {
	return audit.Usage(transcript.Usage(a).Add(transcript.Usage(b)))
}
