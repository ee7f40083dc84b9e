package quest

import (
	"fmt"
	"regexp"
	"strings"

	"conclave/frontmatter"
	"conclave/policy"
	"conclave/profile"
)

// ReportFile is the council's report in the workspace. The next council
// overwrites it; the transcript of each stays.
const ReportFile = ".campaign/council-report.md"

// CouncilType says whether a council knew of a quest.
type CouncilType string

// The types.
const (
	Standalone    CouncilType = "standalone"
	QuestInformed CouncilType = "quest-informed"
)

// Perspective is one animal's part of a report.
type Perspective struct {
	Face profile.Face
	Text string
}

// Report is a council's report.
type Report struct {
	Created      string // a date
	Type         CouncilType
	Perspectives []Perspective
	Consensus    string
	Dissent      string // what the consensus does not cover; empty: none
	NextSteps    []string
}

const (
	sectionPerspectives = "Animal Perspectives"
	sectionConsensus    = "Consensus"
	sectionNextSteps    = "Recommended Next Steps"
	headingDissent      = "Dissent"
)

// Render is council-report.md. Headings inside what an animal said are set
// lower, so that the report keeps its own; the verbatim text is in the
// transcript.
func (r Report) Render() ([]byte, error) {
	if r.Type != Standalone && r.Type != QuestInformed {
		return nil, fmt.Errorf("write council report: council-type %q is neither standalone nor quest-informed", r.Type)
	}
	var doc frontmatter.Document
	for _, kv := range [][2]string{{"created", r.Created}, {"council-type", string(r.Type)}} {
		if err := doc.Set(kv[0], kv[1]); err != nil {
			return nil, fmt.Errorf("write council report: write %s: %w", kv[0], err)
		}
	}
	var b strings.Builder
	b.Write(doc.Bytes())
	b.WriteString("\n# Council Report\n\n## " + sectionPerspectives + "\n")
	for _, p := range inOrderOfCouncil(r.Perspectives) {
		fmt.Fprintf(&b, "\n### %s — %s\n\n%s\n", p.Face.MenuName(), p.Face.Archetype.Lens, lowered(p.Text, 3))
	}
	fmt.Fprintf(&b, "\n## %s\n\n%s\n", sectionConsensus, lowered(r.Consensus, 3))
	if strings.TrimSpace(r.Dissent) != "" {
		fmt.Fprintf(&b, "\n### %s\n\n%s\n", headingDissent, lowered(r.Dissent, 3))
	}
	b.WriteString("\n## " + sectionNextSteps + "\n\n")
	for i, s := range r.NextSteps {
		fmt.Fprintf(&b, "%d. %s\n", i+1, oneLine(s))
	}
	return []byte(b.String()), nil
}

func inOrderOfCouncil(list []Perspective) []Perspective {
	var out []Perspective
	for _, animal := range policy.Animals() {
		for _, p := range list {
			if policy.Role(p.Face.Archetype.ID) == animal {
				out = append(out, p)
			}
		}
	}
	return out
}

var atx = regexp.MustCompile(`^( {0,3})(#{1,6})([ \t].*|)$`)

// lowered sets headings outside fenced code below a level.
func lowered(text string, below int) string {
	lines := strings.Split(strings.TrimSpace(text), "\n")
	fence := ""
	for i, line := range lines {
		trimmed := strings.TrimSpace(line)
		if mark := fenceMark(trimmed); mark != "" {
			if fence == "" {
				fence = mark
			} else if strings.HasPrefix(mark, fence) && strings.Trim(trimmed, mark[:1]) == "" {
				fence = ""
			}
			continue
		}
		if m := atx.FindStringSubmatch(line); fence == "" && m != nil && len(m[2]) <= below {
			lines[i] = m[1] + strings.Repeat("#", min(len(m[2])+below, 6)) + m[3]
		}
	}
	if fence != "" {
		lines = append(lines, fence) // an open fence would swallow what follows
	}
	return strings.Join(lines, "\n")
}

// ReadReport reads a council's report by whoever wrote it, tolerantly: what is
// not there stays empty. Faces are undressed but for the skin in the heading.
func ReadReport(data []byte) (Report, []Fault) {
	doc, err := frontmatter.Parse(data)
	if err != nil {
		return Report{}, []Fault{{File: ReportFile, Message: err.Error()}}
	}
	var r Report
	var faults []Fault
	r.Created, _ = doc.Get("created")
	kind, _ := doc.Get("council-type")
	if r.Type = CouncilType(strings.ToLower(kind)); r.Type != Standalone && r.Type != QuestInformed {
		faults = append(faults, Fault{File: ReportFile, Line: 1, Message: fmt.Sprintf("council-type %q is neither standalone nor quest-informed", clip(kind, 40))})
	}
	if s, ok := doc.Section(sectionPerspectives); ok {
		for _, sub := range s.Sections() {
			face, ok := faceIn(sub.Name)
			if !ok {
				faults = append(faults, Fault{File: ReportFile, Line: sub.Line, Message: fmt.Sprintf("%q names no animal", clip(sub.Name, 60))})
				continue
			}
			r.Perspectives = append(r.Perspectives, Perspective{Face: face, Text: strings.TrimSpace(sub.Body)})
		}
	} else {
		faults = append(faults, Fault{File: ReportFile, Message: "section \"" + sectionPerspectives + "\" is missing"})
	}
	if s, ok := doc.Section(sectionConsensus); ok {
		r.Consensus = strings.TrimSpace(s.Body)
		if d, ok := s.Section(headingDissent); ok {
			r.Dissent = strings.TrimSpace(d.Body)
			before, _, _ := strings.Cut(s.Body, "### "+d.Name)
			r.Consensus = strings.TrimSpace(before)
		}
	}
	if s, ok := doc.Section(sectionNextSteps); ok {
		r.NextSteps = listItems(s.Body)
	}
	return r, faults
}

// faceIn reads "Bear — Vision & Direction" and "The Paladin (Bear) — …".
func faceIn(heading string) (profile.Face, bool) {
	name, _, _ := strings.Cut(heading, " — ")
	name = strings.TrimSpace(name)
	skin := ""
	if m := cellForm.FindStringSubmatch(name); m != nil && m[1] != "" {
		skin, name = m[1], m[2]
	}
	role := animalIn(name)
	a, ok := profile.Lookup(string(role))
	if role == "" || !ok {
		return profile.Face{}, false
	}
	return profile.Face{Archetype: a, Skin: skin}, true
}

// listItems reads a list's items, one line each.
func listItems(body string) []string {
	var out []string
	for line := range strings.Lines(body) {
		line = strings.TrimRight(line, "\r\n")
		if m := numbered.FindStringSubmatch(line); m != nil {
			out = append(out, strings.TrimSpace(m[2]))
		} else if m := bulleted.FindStringSubmatch(line); m != nil {
			out = append(out, strings.TrimSpace(m[1]))
		} else if text := strings.TrimSpace(line); text != "" && len(out) > 0 {
			out[len(out)-1] += " " + text
		}
	}
	return out
}
