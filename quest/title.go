package quest

import (
	"regexp"
	"slices"
	"strings"

	"conclave/policy"
)

// title is the first level-1 heading, else the narrative's first sentence.
func (q *Quest) title() string {
	if t, ok := q.doc.Title(); ok && t != "" && !isSectionName(t) {
		return oneLine(t)
	}
	if s := firstSentence(WithoutMarks(q.Narrative)); s != "" {
		return shorten(s, 60)
	}
	return untitled
}

// titleFor is the title as a role is given it. The beginning of the narrative,
// which is what a quest is called that was given no other name, is no name to
// whom the narrative is withheld.
func (q *Quest) titleFor(role policy.Role) string {
	if policy.Decide(role, policy.QuestNarrative).Allow {
		return q.Title
	}
	title := strings.ToLower(strings.TrimRight(q.Title, "…. "))
	for _, text := range []string{q.Narrative, WithoutMarks(q.Narrative)} {
		if title != "" && strings.HasPrefix(strings.ToLower(oneLine(text)), title) {
			return untitled
		}
	}
	return q.Title
}

// sortMarks and checkMark are what stands in a criterion beside its words; a check
// may have been cut.
var (
	sortMarks = regexp.MustCompile(`(?i)[\[(](?:transformation|deliverable)[\])]`)
	checkMark = regexp.MustCompile("(?is)[ \\t]*\\(check:(?:[^`)]|`[^`]*`)*(?:\\)|`|$)")
)

// WithoutMarks is a text without the marks of criteria: (transformation),
// (deliverable) and (check: …). They are no part of a name.
func WithoutMarks(text string) string {
	return strings.TrimSpace(sortMarks.ReplaceAllString(checkMark.ReplaceAllString(text, ""), ""))
}

const untitled = "Untitled quest"

func isSectionName(s string) bool {
	return slices.ContainsFunc(sectionNames(), func(name string) bool { return sameName(s, name) })
}

func firstSentence(text string) string {
	text = oneLine(text)
	for i, r := range text {
		if r != '.' && r != '!' && r != '?' {
			continue
		}
		if rest := text[i+1:]; rest == "" || strings.HasPrefix(rest, " ") {
			return strings.TrimRight(text[:i], " .!?")
		}
	}
	return text
}

// oneLine joins a text's lines with single spaces.
func oneLine(s string) string { return strings.Join(strings.Fields(s), " ") }

// shorten cuts a text at a word's end.
func shorten(s string, n int) string {
	r := []rune(s)
	if len(r) <= n {
		return s
	}
	cut := string(r[:n-1])
	if i := strings.LastIndexByte(cut, ' '); i > n/2 {
		cut = cut[:i]
	}
	return strings.TrimRight(cut, " ,;:–—-") + "…"
}
