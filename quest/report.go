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

// MaxObservations is how many things each of the six names in a council.
const MaxObservations = 3

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

// NextSteps reads the recommended next steps from a report, whoever wrote it.
func NextSteps(report []byte) ([]string, error) {
	doc, err := frontmatter.Parse(report)
	if err != nil {
		return nil, fmt.Errorf("read %s: %w", ReportFile, err)
	}
	var steps []string
	s, _ := doc.Section(sectionNextSteps)
	for line := range strings.Lines(s.Body) {
		line = strings.TrimRight(line, " \t\r\n")
		if m := numbered.FindStringSubmatch(line); m != nil {
			steps = append(steps, strings.TrimSpace(m[2]))
		} else if m := bulleted.FindStringSubmatch(line); m != nil {
			steps = append(steps, strings.TrimSpace(m[1]))
		} else if text := strings.TrimSpace(line); text != "" && text != line && len(steps) > 0 {
			steps[len(steps)-1] += " " + text
		}
	}
	if len(steps) == 0 {
		return nil, fmt.Errorf("%s recommends no next steps to begin from", ReportFile)
	}
	return steps, nil
}
