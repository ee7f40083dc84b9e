package offline

import (
	"fmt"
	"strings"
)

const verdictFile = "verdict.md"

// discuss answers about a verdict that stands: with its own lines, and nothing
// that could change it.
func (t *turn) discuss() error {
	text := t.read(verdictFile)
	words := searchWords(ownWords(t.text))
	var rows []string
	err := t.look("search", map[string]any{"path": verdictFile, "words": words}, func() (string, error) {
		for n, line := range numbered(text) {
			for _, w := range words {
				if wholeWord(strings.ToLower(w))(line) && quote(line) != "" {
					rows = append(rows, cite{path: verdictFile, line: n, quote: quote(line)}.String())
					break
				}
			}
		}
		return count(len(rows), "line"), nil
	})
	if err != nil {
		return err
	}
	if len(rows) == 0 {
		first := prose(text)
		t.say(fmt.Sprintf("The verdict stands as it is written. None of its lines bears a word of your question; it begins: %s.",
			cite{path: verdictFile, line: max(1, first.line), quote: quote(first.text)}))
		return nil
	}
	t.say("The verdict stands, and nothing said here can change it. What it says about that:\n\n- " + strings.Join(rows[:min(len(rows), 5)], "\n- "))
	return nil
}
