package table

import (
	"fmt"
	"regexp"
	"strconv"
	"strings"

	"conclave/internal/markdown"
)

// Lint is a remark for the GM about a player's text. The text is delivered as
// it is.
type Lint struct {
	Kind string // "acts-for-other" or "unverified-roll"
	Text string
}

var (
	diceClaim = regexp.MustCompile(`(?i)\b\d{0,3}d(?:\d{1,4}|%)(?:\s*[+-]\s*\d+)?\b|\bnat(?:ural)?\s+(?:1|20)\b|\broll(?:s|ed)?\s+(?:an?\s+)?\d+\b`)
	rollID    = regexp.MustCompile(`(?i)\broll\s+#(\d+)\b`)
	sentence  = regexp.MustCompile(`[.!?\n]+`)
)

// LintResponse finds a sentence in which another member of the party acts, and
// a claim about dice without the id of a roll ("roll #12") that exists.
func LintResponse(text, self string, r Roster, rolled func(n uint64) bool) []Lint {
	var out []Lint
	for s := range splitSentences(text) {
		for _, c := range r.Characters {
			if c.Slug != self && actsIn(s, c) {
				out = append(out, Lint{"acts-for-other", fmt.Sprintf("%s: %q", c.Slug, Clip(s, 120))})
			}
		}
		if claim := diceClaim.FindString(s); claim != "" && !hasRoll(s, rolled) {
			out = append(out, Lint{"unverified-roll", fmt.Sprintf("%q", Clip(s, 120))})
		}
	}
	return out
}

func splitSentences(text string) func(func(string) bool) {
	return func(yield func(string) bool) {
		for _, s := range sentence.Split(markdown.Clean(text), -1) {
			if s = strings.TrimSpace(s); s != "" && !yield(s) {
				return
			}
		}
	}
}

// actsIn is a rule of thumb: a sentence opens with the character's name and the
// next word looks like a verb in the third person or the past.
func actsIn(s string, c Character) bool {
	first, _, _ := strings.Cut(c.Name, " ")
	for _, name := range []string{c.Name, first} {
		rest, ok := strings.CutPrefix(s, name+" ")
		if !ok {
			continue
		}
		verb, _, _ := strings.Cut(rest, " ")
		if strings.HasSuffix(verb, "s") || strings.HasSuffix(verb, "ed") {
			return true
		}
	}
	return false
}

func hasRoll(s string, rolled func(uint64) bool) bool {
	for _, m := range rollID.FindAllStringSubmatch(s, -1) {
		if n, err := strconv.ParseUint(m[1], 10, 64); err == nil && rolled != nil && rolled(n) {
			return true
		}
	}
	return false
}
