package offline

import (
	"context"
	"fmt"
	"regexp"
	"strings"

	"conclave/agent"
	"conclave/agent/local"
	"conclave/transcript"
)

// Keeper returns a keeper of journals. It writes down what it is handed.
func Keeper() agent.Agent {
	return &local.Agent{Name: transcript.AdapterOffline, New: func(agent.Spec) (local.Conversation, error) { return local.Words(keeper{}.Answer), nil }}
}

type keeper struct{}

// Answer writes an entry.
func (keeper) Answer(_ context.Context, m agent.Message) ([]string, error) {
	happened := section(m.Text, "What happened")
	mine := section(m.Text, "What only you saw")
	notes := section(m.Text, "Your notes")
	return one(fmt.Sprintf("### %s\n\n- What happened: %s\n- What I did: %s\n- What I learned: %s\n- How I feel: %s\n- Notes: %s\n",
		titleOf(happened), orNothing(clip(woven([]string{happened}), 400)), orNothing(clip(firstSentence(notes), 240)),
		orNothing(clip(woven([]string{mine}), 240)), orNothing(clip(rest(notes), 240)), orNothing(""))), nil
}

var spoken = regexp.MustCompile(`^[^.:\n]{1,60}: |^Roll #`)

// titleOf is the beginning of what was told, leaving out what was said.
func titleOf(happened string) string {
	for part := range strings.SplitSeq(happened, "\n\n") {
		if spoken.MatchString(part) {
			continue
		}
		if s, _, _ := strings.Cut(firstSentence(part), ","); s != "" {
			return strings.TrimSuffix(clip(s, 60), ".")
		}
	}
	return "By the river"
}

func firstSentence(s string) string {
	s = woven([]string{s})
	if i := strings.Index(s, ". "); i >= 0 {
		return s[:i+1]
	}
	return s
}

func rest(s string) string {
	s = woven([]string{s})
	return strings.TrimSpace(strings.TrimPrefix(s, firstSentence(s)))
}

func clip(s string, n int) string {
	r := []rune(strings.TrimSpace(s))
	if len(r) <= n {
		return string(r)
	}
	return strings.TrimSpace(string(r[:n])) + "…"
}

func orNothing(s string) string {
	if s == "" {
		return "(nothing)"
	}
	return s
}
