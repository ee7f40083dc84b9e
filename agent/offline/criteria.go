package offline

import (
	"strings"

	"conclave/internal/pattern"
)

const criteriaFile = "quest/criteria.md"

// criterion is one item of the agreed list, as the room shows it.
type criterion struct {
	number int
	text   string // without its check and its marks
	check  string // the command, "" if none
	grow   bool   // about what somebody becomes
}

var (
	criterionRow = pattern.New(`^ {0,3}(\d{1,9})[.)][ \t]+(.*)$`)
	sortHeading  = pattern.New(`^ {0,3}#{2,6}[ \t]+(.*)$`)
	growHeading  = pattern.New(`(?i)\b(transformation(al)?|growth|personal|learning)\b`)
	sortMark     = pattern.New(`(?i)^[\s*_]*[\[(]?(transformation|deliverable)[\])]?[*_]*\s*[:–—-]\s*|` +
		`[\[(](transformation|deliverable)[\])]`)
	checkMark = pattern.New("\\(check:[ \\t]*`+[ \\t]?(.+?)[ \\t]?`+[ \\t]*\\)")
)

// readCriteria reads the numbered list. Lines below an item belong to it.
func readCriteria(text string) []criterion {
	var list []criterion
	grow := false
	for _, line := range numbered(text) {
		if m := sortHeading.FindStringSubmatch(line); m != nil {
			grow = growHeading.MatchString(m[1])
		} else if m := criterionRow.FindStringSubmatch(line); m != nil {
			list = append(list, criterion{number: atoi(m[1]), text: m[2], grow: grow})
		} else if t := strings.TrimSpace(line); t != "" && len(list) > 0 {
			list[len(list)-1].text += " " + t
		}
	}
	for i := range list {
		list[i].settle()
	}
	return list
}

// settle takes the marks out of the text.
func (c *criterion) settle() {
	if m := sortMark.FindString(c.text); m != "" {
		c.grow = strings.Contains(strings.ToLower(m), "transformation")
	}
	if m := checkMark.FindStringSubmatch(c.text); m != nil {
		c.check = m[1]
	}
	c.text = strings.Join(strings.Fields(sortMark.ReplaceAllString(checkMark.ReplaceAllString(c.text, ""), "")), " ")
}

func atoi(s string) int {
	n := 0
	for _, d := range s {
		if n < 1_000_000_000 {
			n = n*10 + int(d-'0')
		}
	}
	return n
}

// checkState is what a criterion's own check said.
type checkState int

const (
	noCheck checkState = iota
	passed
	failed
	notRun
)

// checkLine is a line of checks.md: the criterion's number, the command in
// backquotes, and then the state. What stands behind the state is the check's
// own output and proves nothing about it.
var checkLine = pattern.New("(?i)^\\s*(?:[-*|#]+\\s*)?(?:criterion\\s+)?(\\d{1,9})\\b(?:[^`\n]*?`[^\n]*`)?[^`\n]*?\\b(passed|failed|could not run)\\b")

type checkResult struct {
	state checkState
}

const checksFile = "checks.md"

func readChecks(text string) map[int]checkResult {
	out := map[int]checkResult{}
	for _, line := range numbered(text) {
		m := checkLine.FindStringSubmatch(line)
		if m == nil {
			continue
		}
		state := map[string]checkState{"passed": passed, "failed": failed, "could not run": notRun}[strings.ToLower(m[2])]
		number := atoi(m[1])
		if old, twice := out[number]; twice && old.state != state {
			state = notRun // two answers are none
		}
		out[number] = checkResult{state}
	}
	return out
}

// command is a criterion's check, as one writes it.
func (c criterion) command() string {
	if strings.Contains(c.check, "`") {
		return "`` " + c.check + " ``"
	}
	return "`" + c.check + "`"
}
