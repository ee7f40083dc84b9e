package offline

import (
	"strings"

	"conclave/internal/pattern"
)

const verdictFile = "verdict.md"

var (
	noVerdictMark = pattern.New(`(?i)^\**No verdict\b`)
	verdictRow    = pattern.New(`^\s*(\d{1,3})\.\s`)
)

// discuss answers about a verdict that stands: with its own lines, and nothing
// that could change it. A criterion that is named by its number is meant.
func (t *turn) discuss() error {
	text, words := t.read(verdictFile), ownWords(t.text)
	asked := searchWords(words)
	number := criterionNumber.FindStringSubmatch(words)
	var rows []string
	err := t.look("search", map[string]any{"path": verdictFile, "words": asked}, func() (string, error) {
		for _, line := range numbered(text) {
			if m := verdictRow.FindStringSubmatch(line); number != nil && m != nil && atoi(m[1]) == atoi(number[1]+number[2]) {
				rows = append([]string{line}, rows...)
				continue
			}
			for _, w := range asked {
				if number == nil && wholeWord(strings.ToLower(w))(line) && quote(line) != "" {
					rows = append(rows, line)
					break
				}
			}
		}
		return count(len(rows), "line"), nil
	})
	if err != nil {
		return err
	}
	stands := "The verdict stands, and nothing said here can change it."
	if noVerdictMark.MatchString(strings.TrimSpace(text)) {
		stands = "There is no verdict, and nothing said here can make one."
	}
	about := " It says about that:\n\n"
	if len(rows) == 0 {
		rows, about = strings.Split(strings.TrimSpace(text), "\n"), " None of its lines bears a word of your question; this is how it begins:\n\n"
	}
	var said []string
	for _, row := range rows {
		if row = strings.TrimSpace(row); row != "" && len(said) < 5 {
			said = append(said, "> "+row)
		}
	}
	t.say(stands + about + strings.Join(said, "\n>\n"))
	return nil
}
