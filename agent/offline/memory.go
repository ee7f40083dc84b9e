package offline

import (
	"fmt"
	"strconv"
	"strings"
)

// exchange is one message and its answer. A lost one took place before the
// session was resumed, and its words were not handed over.
type exchange struct {
	told, said string
	lost       bool
}

const idPrefix = "offline-"

func sessionID(role string, turns int) string { return idPrefix + role + "-" + strconv.Itoa(turns) }

func turnsIn(id, role string) (int, error) {
	n, ok := strings.CutPrefix(id, idPrefix+role+"-")
	turns, err := strconv.Atoi(n)
	if !ok || err != nil || turns < 0 || turns > 1_000_000 {
		return 0, fmt.Errorf("resume: %q is no id of an offline session of %s", id, role)
	}
	return turns, nil
}

const (
	pastMark = "Your session was interrupted and begins anew."
	toldMark = "\n--- you were told:\n"
	saidMark = "\n--- you said:\n"
	// calledMark begins what is told of a call between the two.
	calledMark = "\n--- you called "
)

// readPast takes the conversation so far from the front of a message. What
// this package says never holds two blank lines in a row, so that the end of
// the last answer can be told.
func readPast(text string) (past []exchange, message string) {
	if !strings.HasPrefix(text, pastMark) {
		return nil, text
	}
	parts := strings.Split(text, toldMark)
	for i, part := range parts[1:] {
		told, said, ok := strings.Cut(part, saidMark)
		told, _, _ = strings.Cut(told, calledMark)
		if !ok {
			return nil, text
		}
		if i == len(parts)-2 {
			said, message, _ = strings.Cut(said, "\n\n\n")
		}
		past = append(past, exchange{told: strings.TrimRight(told, "\n"), said: strings.TrimRight(said, "\n")})
	}
	if len(past) == 0 {
		return nil, text
	}
	return past, message
}

// tidy trims a block and keeps two blank lines from standing in a row.
func tidy(s string) string {
	s = strings.TrimSpace(s)
	for strings.Contains(s, "\n\n\n") {
		s = strings.ReplaceAll(s, "\n\n\n", "\n\n")
	}
	return s
}
