package quest

import (
	"errors"
	"fmt"
	"regexp"
	"strings"
	"unicode"
	"unicode/utf8"
)

// The log only grows. What was logged too early is taken back by a second line
// that says so: "withdrawn: " and the words of the first. To whoever knows the
// log's four forms alone it is one more line about progress.
const withdrawnMark = "withdrawn: "

// maxReported is how many characters of a report an agent may log, and of a
// recommendation it may hand in.
const maxReported = 200

var (
	// saysVerdict finds what a line about progress must not say by itself: only
	// an evaluation makes a verdict, and only the engine moves a phase.
	saysVerdict = regexp.MustCompile(`(?i)\bdragon\s+(?:is\s+|was\s+)?(?:slain|prevails|prevailed)\b|\bconditional approval\b|` +
		`\bguardian\W+(?:\w+\W+){0,2}?(?:approve[sd]?|block(?:s|ed))\b|\b(?:approved|blocked) by the guardian\b|` +
		`\bphase\s*[0-9]+\s+(?:complete|skipped|done|over)|\bverdict\b`)
	withdrawnForm = regexp.MustCompile(`(?i)^withdrawn\s*:\s*`)
)

// ReportedProgress is the entry for something that an agent heard the person
// say was finished. The text is foreign: it becomes one plain line, and one
// that would pass for a verdict, a phase or a withdrawal is refused.
func ReportedProgress(text, day string) (Entry, error) {
	text, err := reported(text)
	switch {
	case err != nil:
		return Entry{}, err
	case saysVerdict.MatchString(text):
		return Entry{}, errors.New("verdicts and phases are not logged as progress: say what was finished, and nothing else")
	case withdrawnForm.MatchString(text):
		return Entry{}, errors.New("a line is taken back with the tool for that, not by logging that it is")
	}
	return Progressed(text, day), nil
}

// Recommendation is what an agent recommends, as one plain line.
func Recommendation(text string) (string, error) { return reported(text) }

// reported makes one plain line of an agent's words.
func reported(text string) (string, error) {
	if !utf8.ValidString(text) {
		return "", errors.New("the text is not UTF-8")
	}
	text = strings.Map(func(r rune) rune {
		switch {
		case unicode.IsSpace(r):
			return ' '
		case !unicode.IsPrint(r):
			return -1
		case r == '*' || r == '_' && strings.Contains(text, "__"):
			return -1 // bold is what a label stands in
		}
		return r
	}, text)
	text = strings.TrimLeft(oneLine(text), "-+#>|–— ")
	switch n := utf8.RuneCountInString(text); {
	case n == 0:
		return "", errors.New("the text is empty")
	case n > maxReported:
		return "", fmt.Errorf("the text has %d characters, and %d are allowed: say it in one short line", n, maxReported)
	}
	return text, nil
}

// withdrawal is the entry that takes another back.
func withdrawal(e Entry, day string) Entry { return Progressed(withdrawnMark+oneLine(e.Text), day) }

// Withdraw is the entry that takes back the entry with this number in the log,
// counted from 1. Verdicts and phases stand.
func (q *Quest) Withdraw(number int, day string) (Entry, error) {
	if number < 1 || number > len(q.Progress) {
		return Entry{}, fmt.Errorf("the log has no entry %d: they are numbered 1 to %d", number, len(q.Progress))
	}
	e := q.Progress[number-1]
	switch {
	case e.Kind != entryProgress:
		return Entry{}, fmt.Errorf("entry %d (%s) stands: only lines about progress can be withdrawn", number, e.Label)
	case withdrawnForm.MatchString(e.Text):
		return Entry{}, fmt.Errorf("entry %d is a withdrawal itself: log what is true instead", number)
	case !q.Says(e.Text):
		return Entry{}, fmt.Errorf("entry %d is withdrawn already", number)
	}
	return withdrawal(e, day), nil
}

// WithdrawReported is Withdraw by an entry's own words.
func (q *Quest) WithdrawReported(text, day string) (Entry, error) {
	want := strings.ToLower(oneLine(text))
	for i, e := range q.Progress {
		if e.Kind == entryProgress && strings.ToLower(oneLine(e.Text)) == want && q.Says(e.Text) {
			return q.Withdraw(i+1, day)
		}
	}
	return Entry{}, fmt.Errorf("no line of the log that stands says %q; give its words as they are in the log", clip(oneLine(text), 80))
}

// Says reports whether a line about progress stands in the log with that text:
// whether it was logged more often than it was withdrawn.
func (q *Quest) Says(text string) bool {
	n := 0
	text = oneLine(text)
	for _, e := range q.Progress {
		if e.Kind != entryProgress {
			continue
		}
		switch oneLine(e.Text) {
		case text:
			n++
		case withdrawnMark + text:
			n--
		}
	}
	return n > 0
}
